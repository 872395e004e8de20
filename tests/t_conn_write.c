/* SPDX-License-Identifier: ISC */
#include "conn_rig.h"

#include "tap.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

/* Answers: how they are written, to peers that take them or do not. */

#define RECORD_MAX 65528u
/* Bytes that tell if one is missing, twice there, or elsewhere. */
static struct idem_blob *
pattern(size_t len)
{
	struct idem_blob *blob = idem_blob_room(len);
	uint32_t chance = 7;
	size_t i;

	if (blob == NULL)
		bail_out("no memory");
	for (i = 0; i < len; i++) {
		chance = chance * 1664525u + 1013904223u;
		blob->at[i] = (uint8_t)(chance >> 24);
	}
	return blob;
}

static int
file_of(const struct idem_blob *blob)
{
	int fd = memfd_create("answer", MFD_CLOEXEC);

	if (fd == -1 || write(fd, blob->at, blob->len) != (ssize_t)blob->len)
		bail_out("no file");
	return fd;
}

static bool
same(const struct idem_buf *got, const struct idem_blob *want, size_t from)
{
	return got->len == want->len - from &&
	    (got->len == 0 || memcmp(got->at, want->at + from, got->len) == 0);
}

/* A request on its own connection, and its call. */
static struct call *
asked(struct conn_rig *rig, struct peer *p, enum socket_kind kind, bool keep)
{
	int whole = rig->whole + 1;

	rig->on_whole = NULL;
	peer_open(rig, p, kind);
	peer_request(p, &(struct request){ .keep = keep });
	if (!until(rig, p, 1, &rig->whole, whole))
		bail_out("a plain request does not arrive");
	return rig->calls;
}

/* --- every size, each way ------------------------------------------------- */

static const size_t sizes[] = {
	0, 1, 7, 8, 9, 16383, 16384, 16385, 31592, 65527, 65528, 65529, 65535,
	65536, 65537, 131056, 131057, 1000001, 10000000
};

enum way { AS_COPY, AS_BLOB, AS_FILE, AS_BLOB_LATER };

static const char *const way_text[] = {
	"a copy", "a blob", "a file", "a blob's end"
};

static void
answer(struct call *call, enum way way, struct idem_blob *blob)
{
	switch (way) {
	case AS_COPY:
		conn_write(call->conn, idem_blob_bytes(blob));
		break;
	case AS_BLOB:
		conn_write_blob(call->conn, blob, 0, blob->len);
		break;
	case AS_FILE:
		conn_write_file(call->conn, file_of(blob), blob->len);
		break;
	case AS_BLOB_LATER:
		if (blob->len > 0)
			conn_write_blob(call->conn, blob, 1, blob->len - 1);
		break;
	}
	call_end(call);
}

/* STDOUT in as few records as there can be, padding in the last only. */
static bool
well_framed(const struct idem_buf *raw, size_t len)
{
	size_t at = 0, content, padding;

	while (at + IDEM_FCGI_HEADER_LEN <= raw->len && raw->at[at + 1] ==
	    IDEM_FCGI_STDOUT) {
		content = (size_t)raw->at[at + 4] << 8 | raw->at[at + 5];
		padding = raw->at[at + 6];
		if (content != (len < RECORD_MAX ? len : RECORD_MAX) ||
		    (content + padding) % 8 != 0 || padding > 7)
			return false;
		len -= content;
		at += IDEM_FCGI_HEADER_LEN + content + padding;
		if (content == 0)
			return at + IDEM_FCGI_HEADER_LEN + 8 == raw->len;
	}
	return false;
}

static void
test_sizes(enum socket_kind kind, enum way way)
{
	struct conn_rig rig;
	struct peer p;
	struct idem_blob *blob;
	size_t i, files = open_files(), from, bad = 0, framed = 0;

	conn_rig_open(&rig);
	for (i = 0; i < LENGTH(sizes); i++) {
		blob = pattern(sizes[i]);
		from = way == AS_BLOB_LATER && blob->len > 0;
		answer(asked(&rig, &p, kind, false), way, blob);
		p.keep_raw = true;
		until_true(&rig, &p, 1, &p.eof);
		bad += p.ends != 1 || !same(&p.out, blob, from);
		framed += well_framed(&p.raw, blob->len - from);
		is_int(blob->refs, 1, "%s of %zu bytes is let go",
		    way_text[way], sizes[i]);
		peer_close(&p);
		idem_blob_drop(blob);
	}
	conn_rig_close(&rig);
	is_int((long long)bad, 0, "%s of any size arrives over %s [cgi:C66]",
	    way_text[way], kind_text[kind]);
	is_int((long long)framed, LENGTH(sizes),
	    "in the fewest records, padded at the end only [F3]");
	is_int((long long)open_files(), (long long)files,
	    "no descriptor is lost");
}

static size_t
stream_ends(const struct idem_buf *raw, enum idem_fcgi_type type)
{
	size_t ends[64], at = 0, found = 0, i, n;

	n = record_ends(raw, ends, LENGTH(ends));
	for (i = 0; i < n; at = ends[i++])
		found += raw->at[at + 1] == type && raw->at[at + 4] == 0 &&
		    raw->at[at + 5] == 0;
	return found;
}

/* A peer that takes a few bytes at a time: every cut of a record occurs. */
static void
test_sips(enum way way)
{
	struct conn_rig rig;
	struct peer p;
	struct idem_blob *blob = pattern(300000);
	struct call *call;
	size_t from;
	int small = 1;

	conn_rig_open(&rig);
	call = asked(&rig, &p, OVER_UNIX, false);
	p.keep_raw = true;
	(void)setsockopt(p.fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
	conn_write(call->conn, hello());
	conn_write_err(call->conn, idem_bytes_text("what"));
	conn_write_err(call->conn, idem_bytes_text(" now"));
	answer(call, way, blob);
	until_true(&rig, &p, 1, &p.eof);
	from = way == AS_BLOB_LATER;
	ok(p.out.len == 300005 - from && memcmp(p.out.at, "hello", 5) == 0 &&
	    memcmp(p.out.at + 5, blob->at + from, 300000 - from) == 0,
	    "%s taken in sips is whole", way_text[way]);
	ok(idem_bytes_is(idem_buf_bytes(&p.err), "what now"),
	    "and so is what went to STDERR before");
	is_int((long long)stream_ends(&p.raw, IDEM_FCGI_STDERR), 1,
	    "whose stream is ended too");
	peer_close(&p);
	idem_blob_drop(blob);
	conn_rig_close(&rig);
}

/* --- few writes ----------------------------------------------------------- */

/* In a socket of packets, each sendmsg of ours is one. */
static void
test_one_write(void)
{
	struct conn_rig rig;
	struct idem_buf request = { 0 };
	struct idem_blob *blob = pattern(40000);
	static uint8_t room[100000];
	int fds[2], i;

	conn_rig_open(&rig);
	rig.on_whole = NULL;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) == -1)
		bail_out("no socket pair");
	(void)conn_open(&rig.all, fds[1]);
	request_write(&request, &(struct request){ .keep = true });
	for (i = 0; i < 3; i++) {
		(void)send(fds[0], request.at, request.len, 0);
		until(&rig, NULL, 0, &rig.whole, i + 1);
		conn_write(rig.calls->conn, idem_bytes_text("Status: 200\r\n"));
		conn_write(rig.calls->conn, idem_bytes_text("\r\n"));
		if (i == 1)
			conn_write_blob(rig.calls->conn, blob, 0, blob->len);
		if (i == 2)
			conn_write_file(rig.calls->conn, file_of(blob), 40000);
		call_end(rig.calls);
		ok(recv(fds[0], room, sizeof room, MSG_DONTWAIT) ==
		    (i == 0 ? 48 : 40056), "head, %s and end go in one write",
		    (const char *[]){ "nothing", "a blob", "a file" }[i]);
		ok(recv(fds[0], room, sizeof room, MSG_DONTWAIT) == -1,
		    "and there is no other");
	}
	(void)close(fds[0]);
	idem_buf_free(&request);
	idem_blob_drop(blob);
	conn_rig_close(&rig);
}

static void
test_before_end(void)
{
	struct conn_rig rig;
	struct peer p;
	struct call *call;

	conn_rig_open(&rig);
	call = asked(&rig, &p, OVER_UNIX, true);
	conn_write(call->conn, hello());
	settle(&rig, &p, 1);
	ok(out_is(&p, "hello") && p.ends == 0,
	    "what is written without an end goes out with the turn");
	conn_write(call->conn, (struct idem_bytes){ 0 });
	settle(&rig, &p, 1);
	conn_write(call->conn, hello());
	call_end(call);
	until(&rig, &p, 1, &p.ends, 1);
	ok(out_is(&p, "hellohello"), "and nothing written ends no stream");
	peer_close(&p);
	conn_rig_close(&rig);
}

/* --- peers that do not read ----------------------------------------------- */

#define BIG (50u << 20)
#define CARRIES 5

static void
read_a_little(struct conn_rig *rig, struct peer *p)
{
	p->unread = false;
	settle(rig, p, 1);
	p->unread = true;
}

static void
test_unread(void)
{
	struct conn_rig rig;
	struct peer p[6];
	struct idem_blob *blob = idem_blob_room(BIG);
	size_t i;

	if (blob == NULL)
		bail_out("no memory");
	memset(blob->at, 'b', BIG);
	conn_rig_open(&rig);
	for (i = 0; i < 5; i++) {
		p[i].fd = -1;
		answer(asked(&rig, &p[i], i % 2 == 0 ? OVER_UNIX : OVER_TCP,
		    i == 3), AS_BLOB, blob);
		p[i].unread = true;
		settle(&rig, &p[i], 1);
	}
	is_int(blob->refs, 6, "five that never read 50 MB share one copy");
	rig.on_whole = echo;
	peer_open(&rig, &p[5], OVER_UNIX);
	peer_request(&p[5], &(struct request){ .body = hello() });
	ok(until(&rig, &p[5], 1, &p[5].ends, 1),
	    "another request is answered meanwhile");
	settle_carried(&rig, NULL, 0);
	pass(&rig, 59999);
	is_int((long long)rig.all.count, 5, "they have 60 s to take a byte");
	read_a_little(&rig, &p[0]);
	pass(&rig, 1);
	/* Those over TCP, unless the kernel has just carried a byte more. */
	for (i = 0; i < CARRIES && rig.all.count > 1 && rig.all.count <= 3;
	    i++) {
		settle_carried(&rig, NULL, 0);
		pass(&rig, 59999);
		read_a_little(&rig, &p[0]);
		pass(&rig, 1);
	}
	ok(rig.all.count <= 1, "then they are closed");
	is_int(rig.closed, 0, "and nobody is told after the end");
	p[0].unread = false;
	ok(until(&rig, p, 1, &p[0].ends, 1) && p[0].out.len == BIG,
	    "one that took some in time gets it all");
	for (i = 0; i < 6; i++)
		peer_close(&p[i]);
	settle(&rig, NULL, 0);
	is_int(blob->refs, 1, "and the blob is let go");
	idem_blob_drop(blob);
	conn_rig_close(&rig);
}

static void
test_unread_open(void)
{
	struct conn_rig rig;
	struct peer p;
	struct idem_blob *blob = pattern(5000000);
	struct call *call;

	conn_rig_open(&rig);
	call = asked(&rig, &p, OVER_UNIX, true);
	p.unread = true;
	conn_write_blob(call->conn, blob, 0, blob->len);
	settle(&rig, &p, 1);
	pass(&rig, 60000);
	ok(rig.closed == 1 && rig.all.count == 0,
	    "a user still writing is told of the write deadline");
	peer_close(&p);

	call = asked(&rig, &p, OVER_UNIX, true);
	p.unread = true;
	conn_write_blob(call->conn, blob, 0, blob->len);
	settle(&rig, &p, 1);
	peer_close(&p);
	settle(&rig, NULL, 0);
	ok(rig.closed == 2 && rig.all.count == 0,
	    "and of a peer that closes before it has taken all");

	call = asked(&rig, &p, OVER_UNIX, true);
	answer(call, AS_BLOB, blob);
	peer_close(&p);
	settle(&rig, NULL, 0);
	ok(rig.closed == 2 && rig.all.count == 0 && blob->refs == 1,
	    "but not after the end");

	call = asked(&rig, &p, OVER_UNIX, false);
	(void)shutdown(p.fd, SHUT_WR);
	answer(call, AS_BLOB, blob);
	until_true(&rig, &p, 1, &p.eof);
	ok(p.ends == 1 && same(&p.out, blob, 0),
	    "one that shuts its side after the end still gets the answer");
	peer_close(&p);
	idem_blob_drop(blob);
	conn_rig_close(&rig);
}

#define FEED (10u << 20)

static size_t fed, most;

static void
feed(struct call *call)
{
	static const uint8_t piece[30000];

	while (fed < FEED && conn_queued(call->conn) <= CONN_LOW) {
		conn_write(call->conn,
		    (struct idem_bytes){ piece, sizeof piece });
		fed += sizeof piece;
		if (conn_queued(call->conn) > most)
			most = conn_queued(call->conn);
	}
	if (fed >= FEED)
		call_end(call);
}

static void
test_drained(void)
{
	struct conn_rig rig;
	struct peer p;

	fed = most = 0;
	conn_rig_open(&rig);
	rig.on_drained = feed;
	feed(asked(&rig, &p, OVER_UNIX, false));
	p.unread = true;
	settle(&rig, &p, 1);
	ok(fed < FEED / 2, "a user is not asked for more than is taken");
	p.unread = false;
	until_true(&rig, &p, 1, &p.eof);
	ok(p.ends == 1 && p.out.len == fed,
	    "a user that goes on when drained gets 10 MB over");
	ok(most < CONN_LOW + 30001 && rig.drained > 10,
	    "and never more than a little was queued");
	peer_close(&p);
	conn_rig_close(&rig);
}

/* --- answers that cannot be finished -------------------------------------- */

static void
test_cut(enum socket_kind kind, bool keep)
{
	struct conn_rig rig;
	struct peer p;
	struct call *call;

	conn_rig_open(&rig);
	call = asked(&rig, &p, kind, keep);
	conn_write(call->conn, hello());
	call_cut(call);
	until_true(&rig, &p, 1, &p.eof);
	ok(p.ends == 0 && out_is(&p, "hello"),
	    "an answer that is cut has no end");
	is_int(rig.closed, 0, "and nobody is told");
	is_int((long long)rig.all.count, 0, "and the connection is closed");
	peer_close(&p);
	conn_rig_close(&rig);
}

static void
test_cut_within(void)
{
	struct conn_rig rig;
	struct peer p;

	conn_rig_open(&rig);
	rig.on_begun = call_cut;
	peer_open(&rig, &p, OVER_UNIX);
	peer_request(&p, &(struct request){ .keep = true, .body = hello() });
	until(&rig, &p, 1, &rig.begun, 1);
	settle(&rig, &p, 1);
	ok(rig.all.count == 0 && rig.whole == 0 && rig.body_len == 0 &&
	    rig.closed == 0, "after a cut in begun nothing more is told");
	peer_close(&p);
	conn_rig_close(&rig);
}

static void
test_short_file(void)
{
	struct conn_rig rig;
	struct peer p;
	struct idem_blob *blob = pattern(200000);
	struct call *call;

	conn_rig_open(&rig);
	call = asked(&rig, &p, OVER_UNIX, true);
	conn_write_file(call->conn, file_of(blob), blob->len + 1);
	until_true(&rig, &p, 1, &p.eof);
	ok(p.ends == 0 && rig.closed == 1,
	    "a file that is shorter than was said cuts the answer");
	peer_close(&p);

	call = asked(&rig, &p, OVER_UNIX, true);
	conn_write_file(call->conn, file_of(blob), blob->len + 1);
	call_end(call);
	until_true(&rig, &p, 1, &p.eof);
	ok(p.ends == 0 && rig.closed == 1, "also after its end was given");
	peer_close(&p);
	idem_blob_drop(blob);
	conn_rig_close(&rig);
}

static void
test_abort_within(bool keep)
{
	struct conn_rig rig;
	struct peer p;
	struct idem_blob *blob = pattern(5000000);
	struct call *call;
	uint8_t abort_record[IDEM_FCGI_HEADER_LEN];

	conn_rig_open(&rig);
	call = asked(&rig, &p, OVER_UNIX, keep);
	p.unread = true;
	conn_write_blob(call->conn, blob, 0, blob->len);
	settle(&rig, &p, 1);
	idem_fcgi_header(abort_record, IDEM_FCGI_ABORT_REQUEST, 1, 0, 0);
	idem_buf_append(&p.to_send, abort_record, sizeof abort_record);
	settle(&rig, &p, 1);
	ok(rig.closed == 1 && p.ends == 0,
	    "an ABORT while the answer is written is told");
	p.unread = false;
	until(&rig, &p, 1, &p.ends, 1);
	ok(p.out.len < 1000000 && p.out.len % RECORD_MAX == 0 &&
	    memcmp(p.out.at, blob->at, p.out.len) == 0,
	    "the record begun is ended, the rest not sent, END_REQUEST is");
	if (keep) {
		rig.on_whole = echo;
		p.out.len = 0;
		peer_request(&p, &(struct request){ .body = hello() });
		ok(until(&rig, &p, 1, &p.ends, 2) &&
		    out_is(&p, "Status: 200 OK\r\n\r\nhello"),
		    "the next request is served");
	}
	ok(until_true(&rig, &p, 1, &p.eof), "at last we close");
	is_int(blob->refs, 1, "and the blob is let go");
	peer_close(&p);
	idem_blob_drop(blob);
	conn_rig_close(&rig);
}

/* --- more than one -------------------------------------------------------- */

static void
echo_all(struct call *call)
{
	struct conn_rig *rig = call->rig;

	while (rig->calls != NULL)
		echo(rig->calls);
}

static void
test_others(void)
{
	struct conn_rig rig;
	struct peer p[3];
	struct call *call;
	size_t i;

	conn_rig_open(&rig);
	(void)asked(&rig, &p[0], OVER_UNIX, true);
	call = asked(&rig, &p[1], OVER_UNIX, false);
	conn_park(call->conn);
	rig.on_whole = echo_all;
	peer_open(&rig, &p[2], OVER_UNIX);
	peer_request(&p[2], &(struct request){ .keep = true });
	for (i = 0; i < 3; i++)
		ok(until(&rig, p, 3, &p[i].ends, 1) &&
		    out_is(&p[i], "Status: 200 OK\r\n\r\n"),
		    "a call may answer the requests of other connections");
	settle(&rig, p, 3);
	is_int((long long)rig.all.count, 2, "one of which is closed by it");
	for (i = 0; i < 3; i++)
		peer_close(&p[i]);
	conn_rig_close(&rig);
}

int
main(void)
{
	enum socket_kind kind;
	enum way way;

	for (way = AS_COPY; way <= AS_BLOB_LATER; way++) {
		for (kind = OVER_UNIX; kind <= OVER_TCP; kind++)
			test_sizes(kind, way);
		test_sips(way);
	}
	for (kind = OVER_UNIX; kind <= OVER_TCP; kind++) {
		test_cut(kind, true);
		test_cut(kind, false);
	}
	test_one_write();
	test_before_end();
	test_unread();
	test_unread_open();
	test_drained();
	test_cut_within();
	test_short_file();
	test_abort_within(true);
	test_abort_within(false);
	test_others();
	return done();
}
