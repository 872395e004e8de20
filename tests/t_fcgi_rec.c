/* SPDX-License-Identifier: ISC */
#include "fcgi_rec.h"

#include "fcgi_words.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

#define PARAMS_MAX 64u

/*
 * What a reader told of what it was fed, as text:
 *
 *	begun:1 keep, params:A=1,B=2, body:abc (pieces joined), whole, aborted,
 *	answer:TYPE/ID:hex of the content, close (refused), too-large, broken
 */
struct told {
	struct idem_fcgi_reader reader;
	struct idem_buf text;
	bool in_body;
};

static void
tell_params(struct told *t)
{
	struct idem_bytes left = idem_buf_bytes(&t->reader.params);
	struct idem_fcgi_pair pair;
	char comma = ':';

	idem_buf_text(&t->text, " params");
	while (idem_fcgi_pair_next(&left, &pair) > 0) {
		idem_buf_printf(&t->text, "%c%.*s=%.*s", comma,
		    (int)pair.name.len, (const char *)pair.name.at,
		    (int)pair.value.len, (const char *)pair.value.at);
		comma = ',';
	}
}

static void
tell_answer(struct told *t)
{
	const uint8_t *at = t->reader.answer.at;
	size_t content_len = (size_t)at[4] << 8 | at[5];
	char hex[2 * 128 + 1];

	if (t->reader.answer.len != 8 + content_len + at[6] ||
	    t->reader.answer.len % 8 != 0 || content_len > 128)
		bail_out("an answer is not one padded record");
	idem_hex(at + 8, content_len, hex);
	idem_buf_printf(&t->text, " answer:%u/%u:%s", at[1],
	    (unsigned)at[2] << 8 | at[3], hex);
	if (t->reader.refused)
		idem_buf_text(&t->text, " close");
}

static void
tell_body(struct told *t, struct idem_bytes body)
{
	if (!t->in_body)
		idem_buf_text(&t->text, " body:");
	idem_buf_append(&t->text, body.at, body.len);
}

static void
tell(struct told *t, enum idem_fcgi_item item, struct idem_bytes body)
{
	switch (item) {
	case IDEM_FCGI_MORE:
		return;
	case IDEM_FCGI_BEGUN:
		idem_buf_printf(&t->text, " begun:%u%s", t->reader.id,
		    t->reader.keep ? " keep" : "");
		break;
	case IDEM_FCGI_PARAMS_WHOLE:
		tell_params(t);
		break;
	case IDEM_FCGI_BODY:
		tell_body(t, body);
		break;
	case IDEM_FCGI_BODY_WHOLE:
		idem_buf_text(&t->text, " whole");
		break;
	case IDEM_FCGI_ABORTED:
		idem_buf_text(&t->text, " aborted");
		break;
	case IDEM_FCGI_ANSWER:
		tell_answer(t);
		break;
	case IDEM_FCGI_TOO_LARGE:
		idem_buf_text(&t->text, " too-large");
		break;
	case IDEM_FCGI_BROKEN:
		idem_buf_text(&t->text, " broken");
		break;
	}
	t->in_body = item == IDEM_FCGI_BODY;
}

/* One read's bytes, which are gone afterwards; false once it is over. */
static bool
feed(struct told *t, const uint8_t *at, size_t len)
{
	struct idem_bytes left = { NULL, len }, body = { 0 };
	enum idem_fcgi_item item;
	uint8_t *copy = malloc(len);

	if (len > 0)
		memcpy(copy, at, len);
	left.at = copy;
	do {
		item = idem_fcgi_read(&t->reader, &left, &body);
		tell(t, item, body);
	} while (item != IDEM_FCGI_MORE && item != IDEM_FCGI_BROKEN &&
	    item != IDEM_FCGI_TOO_LARGE);
	free(copy);
	return item == IDEM_FCGI_MORE;
}

static const char *
text(struct told *t)
{
	idem_buf_u8(&t->text, 0);
	return t->text.len > 1 ? (const char *)t->text.at + 1 : "";
}

static void
told_free(struct told *t)
{
	idem_fcgi_reader_free(&t->reader);
	idem_buf_free(&t->text);
}

/*
 * Feed one stretch between two ENDED, in pieces of `step` bytes, or cut in two
 * at `cut` if step is 0.
 */
static bool
feed_in_pieces(struct told *t, const struct idem_buf *in, size_t step,
    size_t cut)
{
	size_t from, len;

	for (from = 0; from < in->len; from += len) {
		len = step > 0 ? step : from == 0 && cut > 0 ? cut : in->len;
		if (len > in->len - from)
			len = in->len - from;
		if (!feed(t, in->at + from, len))
			return false;
	}
	return true;
}

static size_t
play(struct told *t, const char *words, size_t step, size_t cut)
{
	struct idem_buf in = { 0 };
	size_t longest = 0;
	const char *end;
	char part[1024];
	bool going = true;

	t->reader.params_max = PARAMS_MAX;
	for (; going && words != NULL; words = end) {
		end = strstr(words, "ENDED");
		memcpy(part, words, strlen(words) + 1);
		if (end != NULL) {
			part[end - words] = '\0';
			end += strlen("ENDED");
		}
		idem_buf_clear(&in);
		fcgi_words(&in, part);
		going = feed_in_pieces(t, &in, step, cut);
		if (in.len > longest)
			longest = in.len;
		if (end != NULL)
			idem_fcgi_ended(&t->reader);
	}
	idem_buf_free(&in);
	return longest;
}

#define REQUEST "BEGIN/1 PARAMS/1:A=1 PARAMS/1 "
#define TOLD "begun:1 keep params:A=1"
#define CANT_MPX ":0000000001000000"
#define UNKNOWN_ROLE ":0000000003000000"

/* ENDED: the application has sent END_REQUEST once all before is read. */
static const struct {
	const char *what, *words, *told;
} rows[] = {
	{ "a request with a body is told in order",
	  "BEGIN/1 PARAMS/1:A=1,B=2 PARAMS/1 STDIN/1:hello STDIN/1",
	  "begun:1 keep params:A=1,B=2 body:hello whole" },
	{ "a request without a body is whole at the empty STDIN",
	  REQUEST "STDIN/1", TOLD " whole" },
	{ "a request without KEEP_CONN says so",
	  "CLOSING/7 PARAMS/7 STDIN/7", "begun:7 params whole" },
	{ "the largest id is an id",
	  "BEGIN/65535 PARAMS/65535 STDIN/65535",
	  "begun:65535 keep params whole" },
	{ "padding of every record is passed over, of empty ones too [F3]",
	  "BEGIN/1+255 PARAMS/1:A=1+1 PARAMS/1+9 STDIN/1:he+255 "
	  "STDIN/1:llo+3 STDIN/1+7",
	  TOLD " body:hello whole" },
	{ "pairs may be cut by records anywhere [cgi:C72 F5]",
	  "BEGIN/1 TYPE4/1:\001 TYPE4/1:\003 TYPE4/1:AB TYPE4/1:CD "
	  "PARAMS/1 STDIN/1",
	  "begun:1 keep params:A=BCD whole" },
	{ "a body in records of one byte arrives whole [cgi:C62 F5]",
	  REQUEST "STDIN/1:a STDIN/1:b+9 STDIN/1:c STDIN/1:d STDIN/1",
	  TOLD " body:abcd whole" },
	{ "a BEGIN_REQUEST longer than it has to be is one",
	  "RAW:0101000100200000 RAW:0001010000000000ffffffffffffffff"
	  "ffffffffffffffffffffffffffffffff PARAMS/1 STDIN/1",
	  "begun:1 keep params whole" },
	{ "reserved bytes and unknown flags are ignored",
	  "RAW:01010001000800ff RAW:0001fe0102030405 PARAMS/1 STDIN/1",
	  "begun:1 params whole" },

	{ "a second request after the first has ended is served",
	  REQUEST "STDIN/1 ENDED BEGIN/2 PARAMS/2:B=2 PARAMS/2 STDIN/2",
	  TOLD " whole begun:2 keep params:B=2 whole" },
	{ "the same id may be used again once its request has ended",
	  REQUEST "STDIN/1 ENDED " REQUEST "STDIN/1:x STDIN/1",
	  TOLD " whole " TOLD " body:x whole" },
	{ "late STDIN of an ended request is ignored and the next is served "
	    "[cgi:C68]",
	  REQUEST "STDIN/1:a ENDED STDIN/1:b STDIN/1 "
	  "BEGIN/2 PARAMS/2 STDIN/2",
	  TOLD " body:a begun:2 keep params whole" },
	{ "late PARAMS and ABORT of an ended request are ignored",
	  "BEGIN/1 PARAMS/1:A=1 ENDED PARAMS/1:B=2 PARAMS/1 ABORT/1 "
	  "BEGIN/1 PARAMS/1 STDIN/1",
	  "begun:1 keep begun:1 keep params whole" },
	{ "a request that ended within a record leaves the rest unread",
	  REQUEST "RAW:0105000100040000 RAW:6162 ENDED RAW:6364 "
	  "BEGIN/2 PARAMS/2 STDIN/2",
	  TOLD " body:ab begun:2 keep params whole" },
	{ "one that ended within its PARAMS leaves the rest unread",
	  "BEGIN/1 RAW:0104000100040000 RAW:0101 ENDED RAW:4131 "
	  "BEGIN/2 PARAMS/2:B=2 PARAMS/2 STDIN/2",
	  "begun:1 keep begun:2 keep params:B=2 whole" },

	{ "a second BEGIN is told that connections are not multiplexed [F11]",
	  "BEGIN/1 PARAMS/1:A=1 BEGIN/2 PARAMS/2:B=2 PARAMS/1 PARAMS/2 "
	  "STDIN/2:no STDIN/2 STDIN/1:yes STDIN/1",
	  "begun:1 keep answer:3/2" CANT_MPX " params:A=1 body:yes whole" },
	{ "a second BEGIN after the body is told the same",
	  REQUEST "STDIN/1 CLOSING/3 ABORT/3",
	  TOLD " whole answer:3/3" CANT_MPX },
	{ "a second BEGIN for the request under way is broken",
	  "BEGIN/1 BEGIN/1", "begun:1 keep broken" },
	{ "an authorizer is refused, its records are ignored [F19]",
	  "AUTHORIZER/1 PARAMS/1:A=1 PARAMS/1 STDIN/1 "
	  "BEGIN/2 PARAMS/2 STDIN/2",
	  "answer:3/1" UNKNOWN_ROLE " begun:2 keep params whole" },
	{ "a filter without KEEP_CONN is refused and the connection's last "
	    "[F19]",
	  "FILTER/1 PARAMS/1", "answer:3/1" UNKNOWN_ROLE " close" },
	{ "a role nobody knows is refused [F10]",
	  "RAW:0101000900080000 RAW:0100010000000000",
	  "answer:3/9" UNKNOWN_ROLE },

	{ "GET_VALUES alone is answered [cgi:C50 F8]",
	  "VALUES:FCGI_MPXS_CONNS",
	  "answer:10/0:0f01464347495f4d5058535f434f4e4e5330" },
	{ "each known value is told once, unknown ones are left out "
	    "[cgi:C50 F8]",
	  "VALUES:FCGI_MAX_REQS,X,FCGI_MAX_CONNS=9,FCGI_MAX_REQS,,"
	  "FCGI_MAX_REQS,fcgi_max_reqs+5",
	  "answer:10/0:0e05464347495f4d41585f434f4e4e53313030303"
	  "00d05464347495f4d41585f524551533130303030" },
	{ "GET_VALUES of nothing we know is answered with nothing",
	  "VALUES:PHP_VALUE VALUES", "answer:10/0: answer:10/0:" },
	{ "GET_VALUES within a request is answered and changes nothing "
	    "[cgi:C50 F8]",
	  "BEGIN/1 VALUES:A PARAMS/1:A=1 VALUES:A PARAMS/1 VALUES:A "
	  "STDIN/1:ab VALUES:A STDIN/1",
	  "begun:1 keep answer:10/0: answer:10/0: params:A=1 answer:10/0: "
	  "body:ab answer:10/0: whole" },
	{ "GET_VALUES cut within a pair is broken",
	  "TYPE9/0:\005", "broken" },
	{ "GET_VALUES with lengths beyond the record is broken",
	  "RAW:0109000000080000 RAW:ffffffffffffffff", "broken" },
	{ "an unknown management type is named and its content passed over "
	    "[F9]",
	  "TYPE99:some+3 TYPE0 BEGIN/1",
	  "answer:11/0:6300000000000000 answer:11/0:0000000000000000 "
	  "begun:1 keep" },
	{ "a request's record with the id of management is one unknown",
	  "BEGIN PARAMS:A=1 STDIN:x ABORT",
	  "answer:11/0:0100000000000000 answer:11/0:0400000000000000 "
	  "answer:11/0:0500000000000000 answer:11/0:0200000000000000" },

	{ "an abort before the end of PARAMS is told",
	  "BEGIN/1 ABORT/1 ENDED BEGIN/1 PARAMS/1:A=1 ABORT/1",
	  "begun:1 keep aborted begun:1 keep aborted" },
	{ "an abort within the body is told",
	  REQUEST "ABORT/1 STDIN/1:ab ABORT/1+8",
	  TOLD " aborted body:ab aborted" },
	{ "an abort while running is told",
	  REQUEST "STDIN/1 ABORT/1:why", TOLD " whole aborted" },
	{ "an abort of an unknown id is ignored [cgi:C70]",
	  "ABORT/1 BEGIN/1 ABORT/2 PARAMS/1 ABORT/2 STDIN/1",
	  "begun:1 keep params whole" },

	{ "records of inactive ids are ignored [F4]",
	  "PARAMS/5:A=1 STDIN/5:x PARAMS/5 DATA/5 BEGIN/1 PARAMS/5:B=2 "
	  "PARAMS/5 PARAMS/1 STDIN/5:no STDIN/5 STDIN/1:y STDIN/1",
	  "begun:1 keep params body:y whole" },
	{ "a filter's data and what only we send are ignored",
	  "BEGIN/1 DATA/1:x PARAMS/1 DATA/1 STDOUT/1:x END/1 TYPE200/1:x "
	  "STDIN/1",
	  "begun:1 keep params whole" },
	{ "STDIN after its end is ignored",
	  REQUEST "STDIN/1:a STDIN/1 STDIN/1:b STDIN/1",
	  TOLD " body:a whole" },

	{ "version 0 is broken [cgi:C72]", "RAW:00", "broken" },
	{ "version 2 in mid-stream is broken [cgi:C72]",
	  REQUEST "RAW:0205000100000000", TOLD " broken" },
	{ "version 255 after padding is broken [cgi:C72]",
	  "BEGIN/1+3 RAW:ff", "begun:1 keep broken" },
	{ "an HTTP request is broken", "RAW:474554202f", "broken" },
	{ "a BEGIN_REQUEST shorter than 8 is broken",
	  "RAW:0101000100070000", "broken" },
	{ "STDIN before the end of PARAMS is broken",
	  "BEGIN/1 PARAMS/1:A=1 STDIN/1:x", "begun:1 keep broken" },
	{ "the end of STDIN before the end of PARAMS is broken",
	  "BEGIN/1 STDIN/1", "begun:1 keep broken" },
	{ "PARAMS after their end are broken",
	  REQUEST "PARAMS/1:B=2", TOLD " broken" },
	{ "PARAMS after the body are broken",
	  REQUEST "STDIN/1 PARAMS/1", TOLD " whole broken" },
	{ "PARAMS cut after a name's length are broken",
	  "BEGIN/1 TYPE4/1:\001 PARAMS/1", "begun:1 keep broken" },
	{ "PARAMS cut within a long length are broken",
	  "BEGIN/1 RAW:0104000100030000 RAW:800000 PARAMS/1",
	  "begun:1 keep broken" },
	{ "PARAMS cut within a value are broken",
	  "BEGIN/1 PARAMS/1:A=1 TYPE4/1:\001\002AB PARAMS/1",
	  "begun:1 keep broken" },
	{ "lengths of 0x7fffffff are broken",
	  "BEGIN/1 RAW:0104000100080000 RAW:ffffffffffffffff PARAMS/1",
	  "begun:1 keep broken" },
	{ "lengths of 0x40000000 are broken",
	  "BEGIN/1 RAW:0104000100080000 RAW:c0000000c0000000 PARAMS/1",
	  "begun:1 keep broken" },
	{ "lengths that add up to more than 32 bits are broken",
	  "BEGIN/1 RAW:01040001000a0000 RAW:fffffffeffffffff4141 PARAMS/1",
	  "begun:1 keep broken" },
	{ "a stream that ends after a pair but not with its end says no more",
	  "BEGIN/1 PARAMS/1:A=1", "begun:1 keep" },
};

static void
check_cuts(const char *words, const char *want, const char *what)
{
	size_t cut, longest = 1, differ = 0;
	struct told t;

	for (cut = 1; cut < longest || cut == 1; cut++) {
		t = (struct told){ 0 };
		longest = play(&t, words, 0, cut);
		differ += strcmp(text(&t), want) != 0;
		told_free(&t);
	}
	is_int((long long)differ, 0, "%s, cut in two anywhere", what);
}

static void
check_rows(void)
{
	struct told t;
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		t = (struct told){ 0 };
		play(&t, rows[i].words, SIZE_MAX, 0);
		is(text(&t), rows[i].told, "%s", rows[i].what);
		told_free(&t);
		t = (struct told){ 0 };
		play(&t, rows[i].words, 1, 0);
		is(text(&t), rows[i].told, "%s, byte by byte",
		    rows[i].what);
		told_free(&t);
		check_cuts(rows[i].words, rows[i].told, rows[i].what);
	}
}

int
main(void)
{
	check_rows();
	return done();
}
