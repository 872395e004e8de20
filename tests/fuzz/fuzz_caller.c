/* SPDX-License-Identifier: ISC */
#include "caller_private.h"

#include "fuzz.h"

#include <string.h>

/*
 * What a server says is understood the same whole and in pieces, whatever it
 * is; but what comes after an answer is seen only if it comes with its end.
 * The first byte says how it is asked: HTTP or FastCGI, HEAD or not.
 */
#define BY_HTTP 1u
#define BY_HEAD 2u

struct heard {
	struct call call;
	struct call_private in;
	enum caller_told told;
};

static bool
take(void *arg, struct idem_bytes piece)
{
	struct heard *h = arg;

	h->told = (h->call.http ? caller_http_take : caller_fcgi_take)(&h->in,
	    piece);
	fuzz_must(h->told != CALLER_BROKEN || h->call.why != NULL);
	return h->told == CALLER_MORE;
}

static void
hear(struct heard *h, uint8_t how, struct idem_bytes bytes, bool whole)
{
	memset(h, 0, sizeof *h);
	h->call.http = (how & BY_HTTP) != 0;
	h->call.method = (how & BY_HEAD) != 0 ? "HEAD" : "POST";
	h->call.retry_after_s = -1;
	h->in.call = &h->call;
	fuzz_feed(take, h, bytes, whole);
	if (h->told == CALLER_MORE && h->call.http)
		h->told = caller_http_closed(&h->in);
	h->call.end = OUTCOME_CUT;
	caller_answer_read(&h->call, h->told == CALLER_WHOLE);
}

static void
check(const struct heard *h)
{
	const struct call *c = &h->call;

	fuzz_must(memchr(c->mark, '\0', sizeof c->mark) != NULL);
	fuzz_must(memchr(c->says_key, '\0', sizeof c->says_key) != NULL);
	fuzz_must(memchr(c->says_nonce, '\0', sizeof c->says_nonce) != NULL);
	fuzz_must(memchr(c->says_effect, '\0', sizeof c->says_effect) != NULL);
	fuzz_must((c->end == OUTCOME_WHOLE) == (c->digest[0] != '\0'));
	fuzz_must(c->end != OUTCOME_WHOLE || (c->length_met && c->status > 0));
	fuzz_must(c->retry_after_s >= -1 && c->status >= 0 && c->status < 1000);
}

static bool
has_more(const struct heard *h)
{
	return h->told == CALLER_BROKEN &&
	    strcmp(h->call.why, "more after it") == 0;
}

static void
compare(const struct heard *whole, const struct heard *pieces)
{
	if (has_more(whole) && pieces->told == CALLER_WHOLE)
		return;
	fuzz_must(whole->told == pieces->told);
	fuzz_must(whole->call.status == pieces->call.status);
	fuzz_must(strcmp(whole->call.mark, pieces->call.mark) == 0);
	fuzz_must(strcmp(whole->call.digest, pieces->call.digest) == 0);
	fuzz_must(idem_bytes_equal(idem_buf_bytes(&whole->call.out),
	    idem_buf_bytes(&pieces->call.out)));
}

static void
forget(struct heard *h)
{
	caller_http_free(&h->in.http);
	idem_buf_free(&h->call.out);
}

int
LLVMFuzzerTestOneInput(const uint8_t *at, size_t len)
{
	struct heard whole, pieces;
	struct idem_bytes in;

	if (len == 0)
		return 0;
	in = (struct idem_bytes){ at + 1, len - 1 };
	hear(&whole, at[0], in, true);
	hear(&pieces, at[0], in, false);
	check(&whole);
	check(&pieces);
	compare(&whole, &pieces);
	forget(&whole);
	forget(&pieces);
	return 0;
}
