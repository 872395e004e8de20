/* SPDX-License-Identifier: ISC */
#include "conn_rig.h"

#include "tap.h"

#include <stdint.h>
#include <sys/socket.h>

/* Requests that do not come in whole, deadlines, and the end of it all. */

static void
park(struct call *call)
{
	conn_park(call->conn);
}

/* --- aborts --------------------------------------------------------------- */

static void
test_abort(bool keep, size_t records, bool parked)
{
	struct conn_rig rig;
	struct peer p;
	struct idem_buf whole = { 0 };
	size_t ends[8], from;
	bool late;

	conn_rig_open(&rig);
	rig.on_whole = parked ? park : NULL;
	peer_open(&rig, &p, OVER_UNIX);
	request_write(&whole, &(struct request){ .keep = keep,
	    .body = hello() });
	record_ends(&whole, ends, LENGTH(ends));
	from = records == 0 ? 0 : ends[records - 1];
	idem_buf_append(&p.to_send, whole.at, from);
	settle(&rig, &p, 1);
	record_write(&p.to_send, IDEM_FCGI_ABORT_REQUEST, 1, "");
	settle(&rig, &p, 1);
	is_int(p.ends, records > 0,
	    "ABORT after %zu records (%s) ends the request if there is one",
	    records, keep ? "kept" : "not kept");
	is_int(rig.closed, rig.begun, "the user is told if he knew of it");
	ok(rig.calls == NULL && p.out.len == 0, "and nothing is left of it");
	/* What of it was on its way follows. */
	late = keep && records > 0;
	if (late)
		idem_buf_append(&p.to_send, whole.at + from,
		    whole.len - from);
	if (keep) {
		rig.on_whole = echo;
		p.ends = 0;
		peer_request(&p, &(struct request){ .body = hello() });
		ok(until(&rig, &p, 1, &p.ends, 1) && out_is(&p, answer_hello),
		    "the next request of the connection is served");
	} else if (records > 0) {
		ok(until_true(&rig, &p, 1, &p.eof), "we shut");
	}
	idem_buf_free(&whole);
	peer_close(&p);
	conn_rig_close(&rig);
}

static void
test_aborts(void)
{
	size_t records;

	for (records = 0; records <= 5; records++) {
		test_abort(true, records, false);
		test_abort(false, records, false);
	}
	test_abort(true, 5, true);
	test_abort(false, 5, true);
}

static void
test_abort_late(void)
{
	struct conn_rig rig;
	struct peer p;

	conn_rig_open(&rig);
	peer_open(&rig, &p, OVER_UNIX);
	peer_request(&p, &(struct request){ .keep = true, .body = hello() });
	record_write(&p.to_send, IDEM_FCGI_ABORT_REQUEST, 1, "");
	peer_request(&p, &(struct request){ .keep = true, .body = hello() });
	ok(until(&rig, &p, 1, &p.ends, 2) && rig.closed == 0,
	    "an ABORT that crosses the answer changes nothing");
	peer_close(&p);
	conn_rig_close(&rig);
}

/* --- broken peers --------------------------------------------------------- */

static const struct {
	const char *what;
	uint8_t bytes[32];
	size_t len;
	size_t after;	/* so many records of a good request */
} broken[] = {
	{ "HTTP", "GET / HTTP/1.1\r\n\r\n", 18, 0 },
	{ "version 0", { 0, 1, 0, 1, 0, 8, 0, 0 }, 8, 0 },
	{ "version 2 within the body", { 2, 5, 0, 1, 0, 0, 0, 0 }, 8, 4 },
	{ "version 255 after the body", { 255, 5, 0, 1, 0, 0, 0, 0 }, 8, 5 },
	{ "BEGIN of 4 bytes", { 1, 1, 0, 1, 0, 4, 0, 0, 0, 1, 0, 0 }, 12, 0 },
	{ "params cut within a pair",
	  { 1, 4, 0, 1, 0, 2, 0, 0, 9, 9, 1, 4, 0, 1, 0, 0, 0, 0 }, 18, 1 },
	{ "STDIN before the end of PARAMS",
	  { 1, 5, 0, 1, 0, 1, 0, 0, 'x' }, 9, 2 },
	{ "PARAMS after their end", { 1, 4, 0, 1, 0, 1, 0, 0, 'x' }, 9, 3 },
};

static void
test_broken(void)
{
	struct conn_rig rig;
	struct peer p;
	struct idem_buf whole = { 0 };
	size_t ends[8], i;

	request_write(&whole, &(struct request){ .keep = true,
	    .body = hello() });
	record_ends(&whole, ends, LENGTH(ends));
	for (i = 0; i < LENGTH(broken); i++) {
		conn_rig_open(&rig);
		rig.on_whole = NULL;
		peer_open(&rig, &p, OVER_UNIX);
		if (broken[i].after > 0)
			idem_buf_append(&p.to_send, whole.at,
			    ends[broken[i].after - 1]);
		idem_buf_append(&p.to_send, broken[i].bytes, broken[i].len);
		settle(&rig, &p, 1);
		ok(rig.logged == 1 && (p.eof || p.reset) &&
		    rig.all.count == 0,
		    "%s: logged once and closed (%s)", broken[i].what,
		    rig.log_text);
		is_int(rig.closed, rig.begun, "and told who knew of it");
		peer_close(&p);
		conn_rig_close(&rig);
	}
	idem_buf_free(&whole);
}

/* What no program could be told is refused with an answer. */
static void
test_unreadable(void)
{
	static const uint8_t params[] = {
		1, 4, 0, 1, 0, 4, 0, 0, 1, 1, 'A', 0,
		1, 4, 0, 1, 0, 0, 0, 0,
		1, 5, 0, 1, 0, 5, 0, 0, 'h', 'e', 'l', 'l', 'o',
		1, 5, 0, 1, 0, 0, 0, 0
	};
	struct conn_rig rig;
	struct peer p;

	conn_rig_open(&rig);
	peer_open(&rig, &p, OVER_UNIX);
	idem_fcgi_begin_write(&p.to_send, 1, IDEM_FCGI_RESPONDER, true);
	idem_buf_append(&p.to_send, params, sizeof params);
	peer_request(&p, &(struct request){ .keep = true, .body = hello() });
	ok(until(&rig, &p, 1, &p.ends, 2) && rig.unreadable == 1 &&
	    rig.begun == 1 && rig.whole == 1, "a parameter with a NUL is "
	    "answered 400, and the next request on its connection served "
	    "[cgi:C48 R24]");
	peer_close(&p);
	conn_rig_close(&rig);
}

static void
take_for_whole(struct call *call)
{
	conn_body_whole(call->conn);
	conn_write(call->conn, idem_bytes_text("Status: 200\r\n\r\n"));
	conn_end(call->conn, 0);
}

/* A front that never sends its body's end, or sends it after our answer. */
static void
test_endless(bool keep, bool late)
{
	struct conn_rig rig;
	struct peer p;
	struct idem_buf whole = { 0 };
	size_t ends[8], n;

	conn_rig_open(&rig);
	rig.on_begun = take_for_whole;
	peer_open(&rig, &p, OVER_UNIX);
	request_write(&whole, &(struct request){ .keep = keep });
	n = record_ends(&whole, ends, LENGTH(ends));
	idem_buf_append(&p.to_send, whole.at, ends[n - 2]);
	ok(until(&rig, &p, 1, &p.ends, 1) && rig.whole == 0 && !p.reset,
	    "a body may be taken for whole before its end%s",
	    keep ? ", on a kept connection" : "");
	if (late)
		idem_buf_append(&p.to_send, whole.at + ends[n - 2],
		    whole.len - ends[n - 2]);
	if (keep) {
		peer_request(&p, &(struct request){ .keep = true });
		ok(until(&rig, &p, 1, &p.ends, 2) && rig.begun == 2,
		    "%s end is passed over, and the next request served",
		    late ? "its late" : "its missing");
	} else {
		settle(&rig, &p, 1);
		ok(!p.reset, "its late end resets nothing");
	}
	peer_close(&p);
	conn_rig_close(&rig);
	idem_buf_free(&whole);
}

/* --- peers that go -------------------------------------------------------- */

static void
test_gone(enum socket_kind kind, bool half)
{
	struct conn_rig rig;
	struct peer p;
	struct idem_buf whole = { 0 };
	size_t len, files, odd = 0;

	conn_rig_open(&rig);
	rig.on_whole = NULL;
	request_write(&whole, &(struct request){ .body = hello() });
	files = open_files();
	for (len = 0; len <= whole.len; len++) {
		peer_open(&rig, &p, kind);
		idem_buf_append(&p.to_send, whole.at, len);
		settle_carried(&rig, &p, 1);
		if (half)
			(void)shutdown(p.fd, SHUT_WR);
		else
			peer_close(&p);
		odd += until_open(&rig, NULL, 0, 0) != 0 ||
		    rig.closed != rig.begun;
		peer_close(&p);
	}
	is_int((long long)odd, 0, "a %s peer that %s after any byte is told "
	    "once, if begun, and closed", kind_text[kind],
	    half ? "shuts its side" : "closes");
	is_int((long long)open_files(), (long long)files,
	    "no descriptor is lost");
	is_int((long long)rig.all.reading, 0, "and no byte counted for ever");
	idem_buf_free(&whole);
	conn_rig_close(&rig);
}

static void
test_half_uploads(void)
{
	struct conn_rig rig;
	struct peer p;
	size_t files;
	int i;

	conn_rig_open(&rig);
	files = open_files();
	for (i = 1; i <= 1000; i++) {
		peer_open(&rig, &p, OVER_UNIX);
		peer_request(&p, &(struct request){ .body = hello(),
		    .cut_body = true });
		until(&rig, &p, 1, &rig.begun, i);
		(void)shutdown(p.fd, SHUT_WR);
		until(&rig, &p, 1, &rig.closed, i);
		peer_close(&p);
	}
	ok(rig.closed == 1000 && rig.whole == 0 &&
	    open_files() == files && rig.all.count == 0,
	    "1,000 uploads shut in their middle leave nothing behind "
	    "[cgi:C78]");
	conn_rig_close(&rig);
}

/* --- deadlines ------------------------------------------------------------ */

static const struct {
	const char *what;
	size_t len;		/* of a request, sent once; SIZE_MAX: whole */
	int64_t stays_ms;	/* still there; 0: for ever */
	int64_t step_ms;	/* if not 0, a byte comes each so often */
	int closed;
} deadlines[] = {
	{ "a silent one may be silent", 0, 0, 0, 0 },
	{ "half a header has 30 s", 3, 29999, 0, 0 },
	{ "half the params have 30 s", 30, 29999, 0, 0 },
	{ "params that drip in have 30 s too", 3, 29999, 5000, 0 },
	{ "half a body has 60 s", 60, 59999, 0, 1 },
	{ "a waiting request has no limit", SIZE_MAX, 0, 0, 0 },
};

static void
test_deadlines(void)
{
	struct conn_rig rig;
	struct peer p;
	struct idem_buf whole = { 0 };
	int64_t stays_ms, step_ms;
	size_t i, len;

	request_write(&whole, &(struct request){ .body = hello() });
	for (i = 0; i < LENGTH(deadlines); i++) {
		conn_rig_open(&rig);
		rig.on_whole = NULL;
		peer_open(&rig, &p, OVER_UNIX);
		len = deadlines[i].len;
		idem_buf_append(&p.to_send, whole.at,
		    len > whole.len ? whole.len : len);
		settle(&rig, &p, 1);
		stays_ms = deadlines[i].stays_ms;
		step_ms = deadlines[i].step_ms;
		while (step_ms > 0 && stays_ms > step_ms) {
			idem_buf_append(&p.to_send, whole.at + len++, 1);
			pass(&rig, step_ms);
			settle(&rig, &p, 1);
			stays_ms -= step_ms;
		}
		pass(&rig, stays_ms == 0 ? 86400000 : stays_ms);
		is_int((long long)rig.all.count, 1, "%s",
		    deadlines[i].what);
		pass(&rig, 1);
		is_int((long long)rig.all.count, stays_ms == 0,
		    "and no longer");
		is_int(rig.closed, deadlines[i].closed,
		    "the user is told if he knew");
		peer_close(&p);
		conn_rig_close(&rig);
	}
	idem_buf_free(&whole);
}

static void
drip_body(struct conn_rig *rig, struct peer *p)
{
	int i;

	for (i = 0; i < 100; i++) {
		idem_fcgi_stream_write(&p->to_send, IDEM_FCGI_STDIN, 1,
		    idem_bytes_text("x"));
		settle(rig, p, 1);
		pass(rig, 50000);
	}
}

static void
test_slow_bodies(void)
{
	struct conn_rig rig;
	struct peer p;

	conn_rig_open(&rig);
	rig.all.limits.idle_ms = 1000;
	peer_open(&rig, &p, OVER_UNIX);
	peer_request(&p, &(struct request){ .keep = true, .cut_body = true });
	settle(&rig, &p, 1);
	drip_body(&rig, &p);
	is_int((long long)rig.body_len, 100,
	    "a body may take as long as it likes while bytes come");
	conn_discard_body(rig.calls->conn);
	pass(&rig, 9000);
	idem_fcgi_stream_write(&p.to_send, IDEM_FCGI_STDIN, 1, hello());
	idem_fcgi_stream_end(&p.to_send, IDEM_FCGI_STDIN, 1);
	ok(until(&rig, &p, 1, &rig.whole, 1) && rig.body_len == 100,
	    "of one that is not wanted only the end is told");
	until(&rig, &p, 1, &p.ends, 1);
	pass(&rig, 999);
	is_int((long long)rig.all.count, 1, "a kept one may be idle");
	pass(&rig, 1);
	is_int((long long)rig.all.count, 0, "for as long as it may");
	peer_close(&p);
	conn_rig_close(&rig);
}

static void
test_reading_max(void)
{
	struct conn_rig rig;
	struct peer p[4];
	size_t i;

	conn_rig_open(&rig);
	rig.all.limits.reading_max = 300000;
	for (i = 0; i < 4; i++) {
		peer_open(&rig, &p[i], OVER_UNIX);
		peer_request(&p[i], &(struct request){ .value_len = 100000 });
		p[i].to_send.len = 99000;
	}
	settle(&rig, p, 4);
	is_int((long long)rig.all.count, 3,
	    "unfinished params are bounded over all connections");
	is(rig.log_text, "too many unfinished PARAMS in all",
	    "and the one that breaks the bound is closed");
	for (i = 0; i < 4; i++)
		peer_close(&p[i]);
	settle(&rig, NULL, 0);
	is_int((long long)rig.all.reading, 0, "none is counted afterwards");
	conn_rig_close(&rig);
}

/* --- the end -------------------------------------------------------------- */

static void
test_closing(void)
{
	struct conn_rig rig;
	struct peer p[4];
	size_t i;

	conn_rig_open(&rig);
	rig.on_whole = NULL;
	for (i = 0; i < 4; i++)
		peer_open(&rig, &p[i], OVER_UNIX);
	peer_request(&p[1], &(struct request){ .keep = true,
	    .body = hello() });
	p[2].piece = 20;
	peer_request(&p[2], &(struct request){ .keep = true,
	    .body = hello() });
	(void)send(p[2].fd, p[2].to_send.at, p[2].sent = 20, MSG_NOSIGNAL);
	until(&rig, &p[1], 1, &rig.whole, 1);
	settle(&rig, NULL, 0);
	/* A whole one that nobody has read yet. */
	peer_request(&p[3], &(struct request){ .keep = true,
	    .body = hello() });
	(void)send(p[3].fd, p[3].to_send.at, p[3].sent = p[3].to_send.len,
	    MSG_NOSIGNAL);
	conns_close_idle(&rig.all);
	is_int((long long)rig.all.count, 3, "an idle connection is closed");
	rig.on_whole = echo;
	echo(rig.calls);
	ok(until_true(&rig, p, 4, &p[0].eof), "which its peer sees");
	for (i = 1; i < 4; i++)
		ok(until_true(&rig, p, 4, &p[i].eof) && p[i].ends == 1 &&
		    out_is(&p[i], answer_hello),
		    "a request %s is answered, and then we close",
		    (const char *[]){ "", "under way", "half sent",
		    "unread" }[i]);
	is_int((long long)rig.all.count, 0, "then none is left");
	for (i = 0; i < 4; i++)
		peer_close(&p[i]);
	conn_rig_close(&rig);
}

static void
test_free(void)
{
	struct conn_rig rig;
	struct peer p[3];
	size_t i;

	conn_rig_open(&rig);
	rig.on_whole = NULL;
	for (i = 0; i < 3; i++)
		peer_open(&rig, &p[i], OVER_UNIX);
	peer_request(&p[0], &(struct request){ .keep = true });
	settle(&rig, p, 2);
	conn_write(rig.calls->conn, hello());
	conn_rig_close(&rig);
	is_int(rig.closed, 0, "at the end all is closed and nobody told");
	for (i = 0; i < 3; i++)
		peer_close(&p[i]);
}

int
main(void)
{
	enum socket_kind kind;

	for (kind = OVER_UNIX; kind <= OVER_TCP; kind++) {
		test_gone(kind, false);
		test_gone(kind, true);
	}
	test_aborts();
	test_abort_late();
	test_broken();
	test_unreadable();
	test_endless(true, false);
	test_endless(true, true);
	test_endless(false, true);
	test_half_uploads();
	test_deadlines();
	test_slow_bodies();
	test_reading_max();
	test_closing();
	test_free();
	return done();
}
