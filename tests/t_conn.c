/* SPDX-License-Identifier: ISC */
#include "conn_rig.h"

#include "tap.h"

#include <malloc.h>
#include <string.h>

/* Requests that come in whole, in whatever pieces and however many. */

static void
get_values(struct idem_buf *to)
{
	struct idem_buf pairs = { 0 };

	idem_fcgi_pair_write(&pairs, idem_bytes_text("FCGI_MAX_CONNS"),
	    idem_bytes_text(""));
	idem_fcgi_stream_write(to, IDEM_FCGI_GET_VALUES, 0,
	    idem_buf_bytes(&pairs));
	idem_buf_free(&pairs);
}

static void
test_bytes(enum socket_kind kind)
{
	struct conn_rig rig;
	struct peer p;

	conn_rig_open(&rig);
	peer_open(&rig, &p, kind);
	p.piece = 1;
	peer_request(&p, &(struct request){ .body = hello() });
	until_true(&rig, &p, 1, &p.eof);
	ok(out_is(&p, answer_hello) && p.ends == 1,
	    "a request that comes byte by byte over %s is answered [F5]",
	    kind_text[kind]);
	is(rig.params_text, "KEY=value", "its parameters are whole");
	is_int((long long)rig.all.count, 0, "and its connection is closed");
	peer_close(&p);
	conn_rig_close(&rig);
}

/* KEY and one value: 8 bytes more than the value. */
static const struct {
	size_t over, piece;
	int begun;
	const char *answer, *what;
} sizes[] = {
	{ 0, 0, 1, "Status: 200 OK\r\n\r\n", "params of the limit are taken" },
	{ 0, 999, 1, "Status: 200 OK\r\n\r\n", "also in small pieces" },
	{ 1, 0, 0, "Status: 431 Too Large\r\n\r\n",
	  "params of one byte more get their 431" },
	{ 1, 999, 0, "Status: 431 Too Large\r\n\r\n", "also in small pieces" },
	{ 3000000, 0, 0, "Status: 431 Too Large\r\n\r\n",
	  "and so do very long ones, which are read to their end" },
};

static void
test_sizes(enum socket_kind kind)
{
	struct conn_rig rig;
	struct peer p;
	size_t i;

	for (i = 0; i < LENGTH(sizes); i++) {
		conn_rig_open(&rig);
		peer_open(&rig, &p, kind);
		p.piece = sizes[i].piece;
		peer_request(&p, &(struct request){ .keep = true, .value_len =
		    rig.all.limits.params_max - 8 + sizes[i].over });
		until(&rig, &p, 1, &p.ends, 1);
		ok(out_is(&p, sizes[i].answer) &&
		    rig.begun == sizes[i].begun &&
		    rig.too_large == !sizes[i].begun,
		    "over %s %s", kind_text[kind], sizes[i].what);
		is_int((long long)rig.all.reading, 0,
		    "and nothing is left of them");
		if (!sizes[i].begun) {
			until_true(&rig, &p, 1, &p.eof);
			settle_carried(&rig, &p, 1);
			is_int((long long)p.sent, (long long)p.to_send.len,
			    "our side is shut, and yet all is read");
		}
		peer_close(&p);
		conn_rig_close(&rig);
	}
}

static void
test_kept(enum socket_kind kind)
{
	struct conn_rig rig;
	struct peer p;
	int i, good = 0;

	conn_rig_open(&rig);
	peer_open(&rig, &p, kind);
	for (i = 1; i <= 100; i++) {
		p.out.len = 0;
		peer_request(&p, &(struct request){ .keep = true,
		    .body = hello() });
		record_write(&p.to_send, IDEM_FCGI_GET_VALUES, 0, "");
		good += until(&rig, &p, 1, &p.ends, i) &&
		    out_is(&p, answer_hello);
	}
	is_int(good, 100, "a kept %s connection takes request after request "
	    "[F7]",
	    kind_text[kind]);
	is_int((long long)rig.all.count, 1, "and stays");
	p.out.len = 0;
	peer_request(&p, &(struct request){ .body = hello() });
	ok(until_true(&rig, &p, 1, &p.eof) && out_is(&p, answer_hello),
	    "until one comes without KEEP_CONN [F7]");
	peer_close(&p);
	conn_rig_close(&rig);
}

static void
test_ahead(size_t piece)
{
	struct conn_rig rig;
	struct peer p;
	int i;

	conn_rig_open(&rig);
	peer_open(&rig, &p, OVER_UNIX);
	p.piece = piece;
	for (i = 0; i < 5000; i++) {
		peer_request(&p, &(struct request){ .keep = true,
		    .body = hello() });
		if (i % 3 == 0)
			record_write(&p.to_send, 77, 0, "what is this?");
	}
	ok(until(&rig, &p, 1, &p.ends, 5000),
	    "of 5,000 requests sent ahead %s each is answered",
	    piece == 0 ? "at once" : "in odd pieces");
	is_int((long long)p.out.len,
	    5000 * (long long)strlen(answer_hello),
	    "in turn and fully");
	peer_close(&p);
	conn_rig_close(&rig);
}

/* --- while the user is at it ---------------------------------------------- */

static void
park(struct call *call)
{
	conn_park(call->conn);
}

static void
test_held_back(void)
{
	struct conn_rig rig;
	struct peer p;
	int i;

	conn_rig_open(&rig);
	rig.on_whole = park;
	peer_open(&rig, &p, OVER_UNIX);
	for (i = 0; i < 50000; i++)
		peer_request(&p, &(struct request){ .keep = true });
	settle(&rig, &p, 1);
	is_int(rig.begun, 1,
	    "while one waits, the next of its connection does not begin");
	ok(p.sent < 1000000 && p.to_send.len > 2000000,
	    "and of what is sent ahead no more than a bound is read");
	rig.on_whole = echo;
	echo(rig.calls);
	ok(until(&rig, &p, 1, &p.ends, 50000),
	    "after its answer they all are served");
	rig.on_whole = park;
	peer_request(&p, &(struct request){ .keep = true });
	for (i = 0; i < 50000; i++)
		peer_request(&p, &(struct request){ .keep = true });
	until(&rig, &p, 1, &rig.begun, 50001);
	settle(&rig, &p, 1);
	peer_close(&p);
	settle(&rig, &p, 1);
	is_int(rig.closed, 1, "a peer that goes meanwhile is noticed");
	conn_rig_close(&rig);
}

static size_t
answers_of(const struct peer *p, enum idem_fcgi_type type)
{
	size_t at = 0, n = 0;

	while (at + IDEM_FCGI_HEADER_LEN <= p->raw.len) {
		n += p->raw.at[at + 1] == type;
		at += IDEM_FCGI_HEADER_LEN + ((size_t)p->raw.at[at + 4] << 8 |
		    p->raw.at[at + 5]) + p->raw.at[at + 6];
	}
	return n;
}

static void
test_management(void)
{
	struct conn_rig rig;
	struct peer p;

	conn_rig_open(&rig);
	rig.on_whole = park;
	peer_open(&rig, &p, OVER_UNIX);
	p.keep_raw = true;
	get_values(&p.to_send);
	settle(&rig, &p, 1);
	is_int((long long)answers_of(&p, IDEM_FCGI_GET_VALUES_RESULT), 1,
	    "GET_VALUES is answered before any request [cgi:C50 F8]");
	record_write(&p.to_send, 99, 0, "new");
	record_write(&p.to_send, IDEM_FCGI_ABORT_REQUEST, 1, "");
	record_write(&p.to_send, IDEM_FCGI_STDIN, 9, "late");
	peer_request(&p, &(struct request){ .keep = true, .body = hello() });
	until(&rig, &p, 1, &rig.whole, 1);
	settle(&rig, &p, 1);
	is_int((long long)answers_of(&p, IDEM_FCGI_UNKNOWN_TYPE), 1,
	    "an unknown management type is told so, other ids passed over");
	get_values(&p.to_send);
	settle(&rig, &p, 1);
	is_int((long long)answers_of(&p, IDEM_FCGI_GET_VALUES_RESULT), 2,
	    "GET_VALUES is answered while a request waits [cgi:C50 F8]");
	echo(rig.calls);
	ok(until(&rig, &p, 1, &p.ends, 1) && out_is(&p, answer_hello),
	    "and the request's answer is not disturbed");

	p.unread = true;
	while (p.to_send.len < 30000000)
		get_values(&p.to_send);
	until(&rig, &p, 1, &rig.logged, 1);
	is(rig.log_text, "asks, and does not read the answers",
	    "who asks for ever and never reads is closed");
	is_int((long long)rig.all.count, 0, "at once");
	peer_close(&p);
	conn_rig_close(&rig);
}

static void
test_multiplexed(void)
{
	struct conn_rig rig;
	struct peer p;

	conn_rig_open(&rig);
	peer_open(&rig, &p, OVER_UNIX);
	p.keep_raw = true;
	peer_request(&p, &(struct request){ .keep = true, .body = hello(),
	    .cut_body = true });
	peer_request(&p, &(struct request){ .id = 2, .body = hello() });
	settle(&rig, &p, 1);
	is_int((long long)answers_of(&p, IDEM_FCGI_END_REQUEST), 1,
	    "a second request within the body of one is refused at once [F11]");
	idem_fcgi_stream_end(&p.to_send, IDEM_FCGI_STDIN, 1);
	ok(until(&rig, &p, 1, &p.ends, 1) && out_is(&p, answer_hello),
	    "and the first one is answered");
	peer_close(&p);
	conn_rig_close(&rig);
}

/* Role 2 is not ours. */
static void
test_role(bool keep)
{
	struct conn_rig rig;
	struct peer p;

	conn_rig_open(&rig);
	peer_open(&rig, &p, OVER_TCP);
	idem_fcgi_begin_write(&p.to_send, 1, IDEM_FCGI_AUTHORIZER, keep);
	ok(until(&rig, &p, 1, &p.ends, 1) &&
	    p.reader.status == IDEM_FCGI_UNKNOWN_ROLE,
	    "a role that is not ours is refused [F10 F19]");
	idem_fcgi_stream_end(&p.to_send, IDEM_FCGI_PARAMS, 1);
	if (keep) {
		p.ends = 0;
		peer_request(&p, &(struct request){ .body = hello() });
		until(&rig, &p, 1, &p.ends, 1);
		ok(out_is(&p, answer_hello), "and a kept connection goes on");
	} else {
		ok(until_true(&rig, &p, 1, &p.eof), "and then we shut");
	}
	peer_close(&p);
	conn_rig_close(&rig);
}

/* --- many ----------------------------------------------------------------- */

#define CROWD 200

static void
test_crowd(enum socket_kind kind)
{
	static struct peer p[CROWD];
	struct conn_rig rig;
	size_t i, good = 0;

	conn_rig_open(&rig);
	for (i = 0; i < CROWD; i++) {
		peer_open(&rig, &p[i], kind);
		p[i].piece = i % 7;
		if (i % 4 == 0)		/* silent */
			continue;
		peer_request(&p[i], &(struct request){ .keep = i % 3 == 0,
		    .body = hello() });
		if (i % 4 == 1)		/* half-sent */
			p[i].to_send.len /= 2;
	}
	for (i = 0; i < CROWD; i++)
		if (i % 4 > 1)
			good += until(&rig, p, CROWD, &p[i].ends, 1) &&
			    out_is(&p[i], answer_hello);
	is_int((long long)good, CROWD / 2,
	    "of 200 %s connections, half silent or stuck, the others are "
	    "served [cgi:C56]", kind_text[kind]);
	for (i = 0; i < CROWD; i++)
		peer_close(&p[i]);
	is_int((long long)until_open(&rig, NULL, 0, 0), 0,
	    "and all are closed at last");
	conn_rig_close(&rig);
}

#define PARKED 1000

static void
test_memory(void)
{
	static struct peer p[PARKED];
	struct conn_rig rig;
	size_t i, before, each;

	ok(conn_size() <= 200, "a connection is %zu bytes, at most 200",
	    conn_size());
	conn_rig_open(&rig);
	rig.on_whole = park;
	for (i = 0; i < PARKED; i++)
		peer_open(&rig, &p[i], OVER_UNIX);
	settle(&rig, NULL, 0);
	before = mallinfo2().uordblks;
	for (i = 0; i < PARKED; i++) {
		peer_request(&p[i], &(struct request){ .keep = true });
		until(&rig, &p[i], 1, &rig.whole, (int)i + 1);
		idem_buf_free(&p[i].to_send);
		p[i].sent = 0;
	}
	/* What the user keeps: the call and its parameters. */
	each = (mallinfo2().uordblks - before) / PARKED;
	note("a parked request takes %zu bytes more than a silent one; the "
	    "test's own of them: %zu", each, malloc_usable_size(rig.calls) +
	    malloc_usable_size(rig.calls->params.at) + 2 * sizeof(size_t));
	ok(each <= malloc_usable_size(rig.calls) +
	    malloc_usable_size(rig.calls->params.at) + 2 * sizeof(size_t) + 8,
	    "a parked request takes no more than that");
	while (rig.calls != NULL)
		echo(rig.calls);
	for (i = 0; i < PARKED; i++)
		if (!until(&rig, &p[i], 1, &p[i].ends, 1))
			break;
	is_int((long long)i, PARKED, "1,000 parked requests are answered");
	for (i = 0; i < PARKED; i++)
		peer_close(&p[i]);
	conn_rig_close(&rig);
}

int
main(void)
{
	enum socket_kind kind;

	for (kind = OVER_UNIX; kind <= OVER_TCP; kind++) {
		test_bytes(kind);
		test_sizes(kind);
		test_kept(kind);
		test_crowd(kind);
	}
	test_ahead(0);
	test_ahead(777);
	test_held_back();
	test_management();
	test_multiplexed();
	test_role(true);
	test_role(false);
	test_memory();
	return done();
}
