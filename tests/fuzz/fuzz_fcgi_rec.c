/* SPDX-License-Identifier: ISC */
#include "fcgi_rec.h"
#include "front.h"
#include "fuzz.h"

#include <string.h>

/*
 * Whatever the pieces, a reader tells the same; and what it calls whole,
 * libfcgi decodes to the same parameters.
 */
#define PARAMS_MAX 1024u	/* small, so that inputs reach it */

struct told {
	struct idem_fcgi_reader reader;
	struct idem_buf items;	/* each item's number, then its bytes */
	enum idem_fcgi_item last;
};

static bool
can_be_told(const struct idem_fcgi_pair *pair)
{
	const void *name = pair->name.at, *value = pair->value.at;

	return pair->name.len > 0 &&
	    memchr(name, '=', pair->name.len) == NULL &&
	    memchr(name, '\0', pair->name.len) == NULL &&
	    (pair->value.len == 0 ||
	    memchr(value, '\0', pair->value.len) == NULL);
}

static bool
all_can_be_told(struct idem_bytes left)
{
	struct idem_fcgi_pair pair;

	while (idem_fcgi_pair_next(&left, &pair) > 0)
		if (!can_be_told(&pair))
			return false;
	return true;
}

static bool
is_param(const char *param, const struct idem_fcgi_pair *pair)
{
	return strlen(param) == pair->name.len + 1 + pair->value.len &&
	    memcmp(param, pair->name.at, pair->name.len) == 0 &&
	    param[pair->name.len] == '=' && (pair->value.len == 0 ||
	    memcmp(param + pair->name.len + 1, pair->value.at,
	    pair->value.len) == 0);
}

static void
compare_with_libfcgi(const struct idem_fcgi_reader *r)
{
	struct idem_bytes stream = idem_buf_bytes(&r->params), left = stream;
	struct idem_fcgi_pair pair;
	struct idem_params params, ours;
	struct front front;
	size_t i = 0;
	int got;

	fuzz_must(front_init(&front) == 0);
	got = (int)front_decode(&front, r->id, stream, &params);
	fuzz_must((got == 0) == all_can_be_told(stream));
	while (got == 0 && idem_fcgi_pair_next(&left, &pair) > 0) {
		fuzz_must(i < params.len && is_param(params.at[i], &pair));
		i++;
	}
	fuzz_must(i == params.len);
	fuzz_must((int)idem_params_read(stream, &ours) == got);
	fuzz_must(idem_params_equal(&ours, &params));
	fuzz_must(got != 0 || front_agrees(&front, &ours));
	idem_params_free(&ours);
	idem_params_free(&params);
	front_free(&front);
}

/* Pieces of a body are joined: only their cutting differs. */
static void
note(struct told *t, enum idem_fcgi_item item, struct idem_bytes body)
{
	if (item != IDEM_FCGI_BODY || t->last != IDEM_FCGI_BODY)
		idem_buf_u8(&t->items, (uint8_t)item);
	if (item == IDEM_FCGI_BEGUN)
		idem_buf_u16(&t->items, t->reader.id);
	if (item == IDEM_FCGI_BODY)
		idem_buf_append(&t->items, body.at, body.len);
	if (item == IDEM_FCGI_PARAMS_WHOLE)
		idem_buf_append(&t->items, t->reader.params.at,
		    t->reader.params.len);
	if (item == IDEM_FCGI_ANSWER)
		idem_buf_append(&t->items, t->reader.answer.at,
		    t->reader.answer.len);
	t->last = item;
}

/* False if it is over. */
static bool
take(void *arg, struct idem_bytes left)
{
	struct told *t = arg;
	struct idem_bytes body = { 0 };
	enum idem_fcgi_item item;

	while ((item = idem_fcgi_read(&t->reader, &left, &body)) !=
	    IDEM_FCGI_MORE) {
		note(t, item, body);
		fuzz_must(t->reader.params.len <= PARAMS_MAX);
		if (item == IDEM_FCGI_PARAMS_WHOLE)
			compare_with_libfcgi(&t->reader);
		if (item == IDEM_FCGI_BODY_WHOLE ||
		    (item == IDEM_FCGI_ABORTED && t->reader.id % 2 == 0))
			idem_fcgi_ended(&t->reader);
		if (item == IDEM_FCGI_BROKEN || item == IDEM_FCGI_TOO_LARGE)
			return false;
	}
	fuzz_must(left.len == 0);
	return true;
}

int
LLVMFuzzerTestOneInput(const uint8_t *at, size_t len)
{
	struct told whole = { .reader.params_max = PARAMS_MAX };
	struct told pieces = { .reader.params_max = PARAMS_MAX };
	struct idem_bytes in = { at, len };

	fuzz_feed(take, &whole, in, true);
	fuzz_feed(take, &pieces, in, false);
	fuzz_must(idem_bytes_equal(idem_buf_bytes(&whole.items),
	    idem_buf_bytes(&pieces.items)));
	idem_fcgi_reader_free(&whole.reader);
	idem_fcgi_reader_free(&pieces.reader);
	idem_buf_free(&whole.items);
	idem_buf_free(&pieces.items);
	return 0;
}
