/* SPDX-License-Identifier: ISC */
#include "fcgi_rec.h"

#include "fcgi_words.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a reader made of a request, in numbers. */
struct seen {
	enum idem_fcgi_item last;
	size_t params_len, pairs, body_len, answers;
	bool body_right;	/* each byte is the low bits of its place */
};

static size_t
count_pairs(struct idem_bytes left)
{
	struct idem_fcgi_pair pair;
	size_t n = 0;

	while (idem_fcgi_pair_next(&left, &pair) > 0)
		n++;
	return n;
}

static bool
is_ramp(struct idem_bytes bytes, size_t from)
{
	const uint8_t *at = bytes.at;
	size_t i;

	for (i = 0; i < bytes.len; i++)
		if (at[i] != (uint8_t)(from + i))
			return false;
	return true;
}

static void
ramp(uint8_t *at, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		at[i] = (uint8_t)i;
}

static struct seen
see(struct idem_fcgi_reader *r, struct idem_bytes left)
{
	struct seen seen = { .body_right = true };
	struct idem_bytes body;

	for (;;) {
		seen.last = idem_fcgi_read(r, &left, &body);
		if (seen.last == IDEM_FCGI_PARAMS_WHOLE) {
			seen.params_len = r->params.len;
			seen.pairs = count_pairs(idem_buf_bytes(&r->params));
		} else if (seen.last == IDEM_FCGI_BODY) {
			seen.body_right = seen.body_right &&
			    is_ramp(body, seen.body_len);
			seen.body_len += body.len;
		} else if (seen.last == IDEM_FCGI_ANSWER) {
			seen.answers++;
		} else if (seen.last != IDEM_FCGI_BEGUN) {
			return seen;
		}
	}
}

static struct seen
see_new(const struct idem_buf *in, size_t params_max)
{
	struct idem_fcgi_reader r = { .params_max = params_max };
	struct seen seen = see(&r, idem_buf_bytes(in));

	idem_fcgi_reader_free(&r);
	return seen;
}

static void
check_padding(void)
{
	struct idem_buf in = { 0 };
	unsigned padding, wrong = 0;
	struct seen seen;
	char words[160];

	for (padding = 0; padding < 256; padding++) {
		idem_buf_clear(&in);
		snprintf(words, sizeof words, "BEGIN/1+%u PARAMS/1:A=1+%u "
		    "PARAMS/1+%u STDIN/1+%u", padding, padding, padding,
		    padding);
		fcgi_words(&in, words);
		seen = see_new(&in, 64);
		wrong += seen.last != IDEM_FCGI_BODY_WHOLE ||
		    seen.params_len != 4;
	}
	is_int(wrong, 0, "every padding from 0 to 255 is passed over [F3]");
	idem_buf_free(&in);
}

/* A stream of n pairs of 7 bytes: two lengths, "N", "1234". */
static void
seven_bytes_each(struct idem_buf *stream, size_t n)
{
	while (n-- > 0)
		idem_fcgi_pair_write(stream, idem_bytes_text("N"),
		    idem_bytes_text("1234"));
}

/* A request whose PARAMS stand in records of `each` bytes, padded by 255. */
static void
in_records(struct idem_buf *in, struct idem_bytes stream, size_t each)
{
	static const uint8_t padding[255];
	uint8_t header[8];
	size_t from, len;

	fcgi_words(in, "BEGIN/1");
	for (from = 0; from < stream.len; from += len) {
		len = stream.len - from < each ? stream.len - from : each;
		idem_fcgi_header(header, IDEM_FCGI_PARAMS, 1, (uint16_t)len,
		    sizeof padding);
		idem_buf_append(in, header, sizeof header);
		idem_buf_append(in, (const uint8_t *)stream.at + from, len);
		idem_buf_append(in, padding, sizeof padding);
	}
	fcgi_words(in, "PARAMS/1 STDIN/1");
}

static void
check_many_records(void)
{
	static const size_t each[] = { 1, 3, 50, 6999, 7000, 65535 };
	struct idem_buf stream = { 0 }, in = { 0 };
	struct seen seen;
	size_t i;

	seven_bytes_each(&stream, 1000);
	for (i = 0; i < sizeof each / sizeof *each; i++) {
		idem_buf_clear(&in);
		in_records(&in, idem_buf_bytes(&stream), each[i]);
		seen = see_new(&in, 7000);
		ok(seen.last == IDEM_FCGI_BODY_WHOLE && seen.pairs == 1000,
		    "1000 parameters in records of %zu bytes are all seen",
		    each[i]);
	}
	idem_buf_free(&stream);
	idem_buf_free(&in);
}

static void
check_limit(void)
{
	static const size_t each[] = { 1, 50, 65535 };
	struct idem_buf stream = { 0 }, in = { 0 };
	struct seen seen;
	size_t i;

	seven_bytes_each(&stream, 1000);
	for (i = 0; i < sizeof each / sizeof *each; i++) {
		idem_buf_clear(&in);
		in_records(&in, idem_buf_bytes(&stream), each[i]);
		seen = see_new(&in, 7000);
		is_int(seen.last, IDEM_FCGI_BODY_WHOLE,
		    "parameters of the limit pass, in records of %zu", each[i]);
		seen = see_new(&in, 6999);
		is_int(seen.last, IDEM_FCGI_TOO_LARGE,
		    "one byte beyond it is too large, in records of %zu",
		    each[i]);
	}
	idem_buf_free(&stream);
	idem_buf_free(&in);
}

static void
check_after_too_large(void)
{
	struct idem_fcgi_reader r = { .params_max = 8 };
	struct idem_buf in = { 0 };

	fcgi_words(&in, "BEGIN/3 PARAMS/3:A=1 RAW:0104000300050000");
	is_int(see(&r, idem_buf_bytes(&in)).last, IDEM_FCGI_TOO_LARGE,
	    "a header that promises too much is enough");
	is_int(r.id, 3, "the request that is too large can be answered");
	ok(r.params.at == NULL, "nothing is held of what is too large");
	idem_fcgi_ended(&r);
	idem_buf_clear(&in);
	fcgi_words(&in, "RAW:0505050505 BEGIN/4");
	is_int(see(&r, idem_buf_bytes(&in)).last, IDEM_FCGI_BROKEN,
	    "after it the connection is of no more use");
	ok(r.wrong != NULL, "and the log is told why");
	idem_fcgi_reader_free(&r);
	idem_buf_drop(&in, 5);
	is_int(see(&r, idem_buf_bytes(&in)).last, IDEM_FCGI_MORE,
	    "a reader that was freed is a fresh one");
	idem_fcgi_reader_free(&r);
	idem_buf_free(&in);
}

/* One peer's cleverness costs no memory (golang/go 81548). */
static void
check_many_begins(void)
{
	struct idem_fcgi_reader r = { .params_max = 8 };
	struct idem_buf in = { 0 };
	struct seen seen;
	unsigned id;

	for (id = 1; id <= 65535; id++)
		idem_fcgi_begin_write(&in, (uint16_t)id, IDEM_FCGI_RESPONDER,
		    true);
	seen = see(&r, idem_buf_bytes(&in));
	is_int((long long)seen.answers, 65534,
	    "of 65535 requests at once all but the first are refused "
	    "[cgi:C69]");
	ok(r.id == 1 && r.answer.size + r.params.size + r.small.size <= 256,
	    "and nothing of them is held [cgi:C69]");
	idem_fcgi_reader_free(&r);
	idem_buf_free(&in);
}

static void
check_large_values(void)
{
	struct idem_fcgi_reader r = { .params_max = 8 };
	struct idem_buf in = { 0 }, pairs = { 0 };
	size_t i;

	for (i = 0; i < 65535 / 17; i++)
		idem_fcgi_pair_write(&pairs, idem_bytes_text("FCGI_MPXS_CONNS"),
		    (struct idem_bytes){ 0 });
	idem_fcgi_stream_write(&in, IDEM_FCGI_GET_VALUES, 0,
	    idem_buf_bytes(&pairs));
	is_int((long long)see(&r, idem_buf_bytes(&in)).answers, 1,
	    "GET_VALUES with 3855 repeats is answered");
	is_int((long long)r.answer.len, 8 + 18 + 6, "with one value");
	ok(r.small.at == NULL, "and its content is given back");
	idem_fcgi_reader_free(&r);
	idem_buf_free(&in);
	idem_buf_free(&pairs);
}

static void
check_busy(void)
{
	struct idem_fcgi_reader r = { .params_max = 8 };
	struct idem_buf in = { 0 };
	struct idem_bytes left;

	ok(!idem_fcgi_reader_busy(&r), "a fresh reader is not busy");
	fcgi_words(&in, "ABORT/9:late+3");
	left = (struct idem_bytes){ in.at, 1 };
	see(&r, left);
	ok(idem_fcgi_reader_busy(&r), "one byte of a header makes it busy");
	left = (struct idem_bytes){ in.at + 1, in.len - 2 };
	see(&r, left);
	ok(idem_fcgi_reader_busy(&r), "a missing byte of padding does");
	left = (struct idem_bytes){ in.at + in.len - 1, 1 };
	see(&r, left);
	ok(!idem_fcgi_reader_busy(&r), "between records it is not busy");
	idem_buf_clear(&in);
	fcgi_words(&in, "BEGIN/1 PARAMS/1 STDIN/1");
	see(&r, idem_buf_bytes(&in));
	ok(idem_fcgi_reader_busy(&r), "a request under way makes it busy");
	idem_fcgi_ended(&r);
	ok(!idem_fcgi_reader_busy(&r), "once it has ended, no more");
	idem_fcgi_reader_free(&r);
	idem_buf_free(&in);
}

/* --- writing -------------------------------------------------------------- */

static void
check_stream_write(void)
{
	static const size_t sizes[] = {
		0, 1, 7, 8, 9, 31592, 65534, 65535, 65536, 131070, 131071
	};
	uint8_t *bytes = malloc(131071);
	struct idem_buf out = { 0 };
	struct seen seen;
	size_t i;

	ramp(bytes, 131071);
	for (i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		idem_buf_clear(&out);
		idem_fcgi_begin_write(&out, 258, IDEM_FCGI_RESPONDER, true);
		idem_fcgi_stream_end(&out, IDEM_FCGI_PARAMS, 258);
		idem_fcgi_stream_write(&out, IDEM_FCGI_STDIN, 258,
		    (struct idem_bytes){ bytes, sizes[i] });
		idem_fcgi_stream_end(&out, IDEM_FCGI_STDIN, 258);
		seen = see_new(&out, 0);
		ok(seen.last == IDEM_FCGI_BODY_WHOLE && seen.body_right &&
		    seen.body_len == sizes[i] && out.len % 8 == 0,
		    "a stream of %zu bytes is written in padded records",
		    sizes[i]);
	}
	idem_buf_free(&out);
	free(bytes);
}

static void
check_pairs(void)
{
	static const size_t sizes[] = { 0, 1, 127, 128, 255, 65536, 20000000 };
	char *text = calloc(1, 20000000);
	struct idem_buf out = { 0 };
	struct idem_fcgi_pair pair;
	struct idem_bytes left;
	size_t i;

	for (i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		idem_buf_clear(&out);
		idem_fcgi_pair_write(&out,
		    (struct idem_bytes){ text, sizes[i] },
		    (struct idem_bytes){ text, sizes[i] / 2 });
		left = idem_buf_bytes(&out);
		ok(idem_fcgi_pair_next(&left, &pair) == 1 &&
		    pair.name.len == sizes[i] &&
		    pair.value.len == sizes[i] / 2 &&
		    idem_fcgi_pair_next(&left, &pair) == 0,
		    "a pair with a name of %zu bytes is read as written [F6]",
		    sizes[i]);
	}
	idem_buf_clear(&out);
	idem_fcgi_pair_write(&out, (struct idem_bytes){ text, 0x80000000 },
	    (struct idem_bytes){ 0 });
	ok(!idem_buf_ok(&out), "a name of 2 GiB has no form, is not written");
	idem_buf_free(&out);
	free(text);
}

static void
check_written_bytes(void)
{
	static const char want[] =
	    "0101000100080000" "0001010000000000"
	    "0104000100040400" "01014131" "00000000"
	    "0104000100000000" "0105000100000000"
	    "0103ffff00080000" "0102030402000000";
	struct idem_buf out = { 0 };
	char hex[sizeof want];

	idem_fcgi_clean_copy(&out, 1, (struct idem_bytes){ "\1\1A1", 4 });
	idem_fcgi_end_write(&out, 65535, 0x01020304, IDEM_FCGI_OVERLOADED);
	if (out.len == sizeof want / 2)
		idem_hex(out.at, out.len, hex);
	else
		snprintf(hex, sizeof hex, "of another length");
	is(hex, want, "records are written as the specification draws them");
	idem_buf_free(&out);
}

int
main(void)
{
	check_padding();
	check_many_records();
	check_limit();
	check_after_too_large();
	check_many_begins();
	check_large_values();
	check_busy();
	check_stream_write();
	check_pairs();
	check_written_bytes();
	return done();
}
