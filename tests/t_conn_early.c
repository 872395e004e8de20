/* SPDX-License-Identifier: ISC */
#include "conn_rig.h"

#include "tap.h"

#include <stdint.h>

/* Answers before the request is whole, and what follows of its body. */

#define UPLOAD 10000000u

/* A peer that reads nothing before all its 10 MB are written. */
static void
test_early(enum socket_kind kind, bool keep)
{
	struct conn_rig rig;
	struct peer p;
	static const uint8_t body[UPLOAD];

	conn_rig_open(&rig);
	rig.on_begun = refuse;
	peer_open(&rig, &p, kind);
	p.unread = true;
	peer_request(&p, &(struct request){ .keep = keep,
	    .body = { body, sizeof body } });
	while (p.sent < p.to_send.len)
		settle(&rig, &p, 1);
	p.unread = false;
	until(&rig, &p, 1, &p.ends, 1);
	ok(out_is(&p, "Status: 422 No\r\n\r\n") && rig.body_len == 0 &&
	    rig.whole == 0,
	    "a 422 reaches a peer over %s that first writes 10 MB",
	    kind_text[kind]);
	if (keep) {
		rig.on_begun = NULL;
		p.out.len = 0;
		peer_request(&p, &(struct request){ .body = hello() });
		ok(until(&rig, &p, 1, &p.ends, 2) &&
		    out_is(&p, "Status: 200 OK\r\n\r\nhello"),
		    "then the next request of the connection is served");
	}
	ok(until_true(&rig, &p, 1, &p.eof), "and then we close");
	is_int((long long)until_open(&rig, &p, 1, 0), 0, "at once, for all was "
	    "read");
	peer_close(&p);
	conn_rig_close(&rig);
}

/* A request without a body, refused when its PARAMS are whole. */
static void
test_early_empty(void)
{
	struct conn_rig rig;
	struct peer p;

	conn_rig_open(&rig);
	rig.on_begun = refuse;
	peer_open(&rig, &p, OVER_UNIX);
	peer_request(&p, &(struct request){ .keep = false });
	until(&rig, &p, 1, &p.ends, 1);
	is_int((long long)rig.all.count, 0,
	    "an early answer to a request that came whole lingers for nothing");
	peer_close(&p);
	conn_rig_close(&rig);
}

static void
test_linger(bool keep)
{
	struct conn_rig rig;
	struct peer p;
	int i;

	conn_rig_open(&rig);
	rig.on_begun = refuse;
	peer_open(&rig, &p, OVER_UNIX);
	peer_request(&p, &(struct request){ .keep = keep, .body = hello(),
	    .cut_body = true });
	until(&rig, &p, 1, &p.ends, 1);
	for (i = 0; i < 10; i++) {
		pass(&rig, 4999);
		idem_fcgi_stream_write(&p.to_send, IDEM_FCGI_STDIN, 1,
		    hello());
		settle(&rig, &p, 1);
	}
	is_int((long long)rig.all.count, 1,
	    "after an early answer (%s) a body may go on",
	    keep ? "kept" : "not kept");
	is_int(p.eof, !keep, "to a side that is shut if it is not kept");
	pass(&rig, 4999);
	is_int((long long)rig.all.count, 1, "and pause");
	pass(&rig, 1);
	is_int((long long)rig.all.count, 0, "but not for 5 s");
	peer_close(&p);

	peer_open(&rig, &p, OVER_UNIX);
	peer_request(&p, &(struct request){ .keep = keep, .body = hello(),
	    .cut_body = true });
	until(&rig, &p, 1, &p.ends, 1);
	for (i = 0; i < 20 && rig.all.count > 0; i++) {
		pass(&rig, 4000);
		idem_fcgi_stream_write(&p.to_send, IDEM_FCGI_STDIN, 1,
		    hello());
		settle(&rig, &p, 1);
	}
	is_int(i, 15, "and not for longer than a minute in all");
	peer_close(&p);
	conn_rig_close(&rig);
}

/* END_REQUEST ends a request for both (3.3): its body may stay away. */
static void
test_next_instead_of_body(void)
{
	struct conn_rig rig;
	struct peer p;

	conn_rig_open(&rig);
	rig.on_begun = refuse;
	peer_open(&rig, &p, OVER_UNIX);
	peer_request(&p, &(struct request){ .keep = true, .body = hello(),
	    .cut_body = true });
	until(&rig, &p, 1, &p.ends, 1);
	rig.on_begun = NULL;
	p.out.len = 0;
	idem_fcgi_stream_write(&p.to_send, IDEM_FCGI_STDIN, 1, hello());
	peer_request(&p, &(struct request){ .keep = true, .body = hello() });
	ok(until(&rig, &p, 1, &p.ends, 2) &&
	    out_is(&p, "Status: 200 OK\r\n\r\nhello"),
	    "a front may send the next request instead of the body's rest");
	pass(&rig, 86400000);
	is_int((long long)rig.all.count, 1, "and the connection stays");
	peer_close(&p);
	conn_rig_close(&rig);
}

/* It ends while the header of a record of its body is half there. */
static void
test_end_within_header(void)
{
	struct conn_rig rig;
	struct peer p;
	struct idem_buf rest = { 0 };

	conn_rig_open(&rig);
	peer_open(&rig, &p, OVER_UNIX);
	peer_request(&p, &(struct request){ .keep = true,
	    .cut_body = true });
	idem_fcgi_stream_write(&rest, IDEM_FCGI_STDIN, 1, hello());
	idem_fcgi_stream_end(&rest, IDEM_FCGI_STDIN, 1);
	idem_buf_append(&p.to_send, rest.at, 3);
	until(&rig, &p, 1, &rig.begun, 1);
	settle(&rig, &p, 1);
	refuse(rig.calls);
	settle(&rig, &p, 1);
	idem_buf_append(&p.to_send, rest.at + 3, rest.len - 3);
	p.out.len = 0;
	peer_request(&p, &(struct request){ .body = hello() });
	ok(until(&rig, &p, 1, &p.ends, 2) &&
	    out_is(&p, "Status: 200 OK\r\n\r\nhello"),
	    "an answer within a record's header puts nothing out of step");
	idem_buf_free(&rest);
	peer_close(&p);
	conn_rig_close(&rig);
}

/* What a peer may send for nothing. */
static void
test_thrown(void)
{
	static const uint8_t zeroes[1u << 20];
	struct conn_rig rig;
	struct peer p;
	size_t sent = 0;

	conn_rig_open(&rig);
	rig.on_begun = refuse;
	peer_open(&rig, &p, OVER_UNIX);
	peer_request(&p, &(struct request){ .cut_body = true });
	until(&rig, &p, 1, &p.ends, 1);
	while (rig.all.count > 0 && sent < 100u << 20) {
		idem_buf_clear(&p.to_send);
		p.sent = 0;
		idem_fcgi_stream_write(&p.to_send, IDEM_FCGI_STDIN, 1,
		    (struct idem_bytes){ zeroes, sizeof zeroes });
		while (rig.all.count > 0 && p.sent < p.to_send.len)
			settle(&rig, &p, 1);
		sent += sizeof zeroes;
	}
	is_int((long long)(sent >> 20), 64,
	    "after an early answer 64 MB of a body are read, no more");
	peer_close(&p);
	conn_rig_close(&rig);
}

int
main(void)
{
	enum socket_kind kind;

	for (kind = OVER_UNIX; kind <= OVER_TCP; kind++) {
		test_early(kind, true);
		test_early(kind, false);
	}
	test_early_empty();
	test_linger(true);
	test_linger(false);
	test_next_instead_of_body();
	test_end_within_header();
	test_thrown();
	return done();
}
