/* SPDX-License-Identifier: ISC */
#include "conn_rig.h"

#include "tap.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

/*
 * Peers and a user that do whatever they like, in any order.  What must hold:
 * nothing is touched after it is freed (the sanitizers see to that), each
 * request is told of once, and in the end nothing is left.
 *
 * t_conn_chaos [SEED [ROUNDS]]
 */
#define ROUNDS 40
#define STEPS 400
#define PEERS 6
#define LATE 20000		/* ms at least */

static uint32_t chance;
static struct idem_blob *blob;
static int ended;	/* calls that the user ended or cut */

static uint32_t
roll(uint32_t sides)
{
	chance = chance * 1664525u + 1013904223u;
	return (uint32_t)((uint64_t)(chance >> 8) * sides >> 24);
}

/* --- the user ------------------------------------------------------------- */

static void
write_something(struct call *call)
{
	size_t from = roll((uint32_t)blob->len);
	int fd;

	switch (roll(4)) {
	case 0:
		conn_write(call->conn, (struct idem_bytes){ blob->at, from });
		break;
	case 1:
		conn_write_blob(call->conn, blob, from, blob->len - from);
		break;
	case 2:
		conn_write_err(call->conn, idem_bytes_text("oh"));
		break;
	default:
		fd = memfd_create("answer", MFD_CLOEXEC);
		if (ftruncate(fd, (off_t)from) == -1)
			bail_out("no file");
		conn_write_file(call->conn, fd, from + (roll(20) == 0));
		break;
	}
}

static void
use(struct call *call)
{
	switch (roll(9)) {
	case 0:
	case 1:
	case 2:
		write_something(call);
		break;
	case 3:
	case 4:
		ended++;
		call_end(call);
		break;
	case 5:
		conn_park(call->conn);
		break;
	case 6:
		conn_discard_body(call->conn);
		break;
	case 7:
		if (roll(8) > 0)
			break;
		ended++;
		call_cut(call);
		break;
	default:
		write_something(call);
		ended++;
		call_end(call);
		break;
	}
}

/* This one, or any other. */
static void
use_any(struct call *call)
{
	uint32_t n = roll(PEERS);

	for (call = call->rig->calls; call->next != NULL && n > 0; n--)
		call = call->next;
	use(call);
}

/* --- peers ---------------------------------------------------------------- */

static void
send_request(struct peer *p)
{
	struct idem_bytes body = { blob->at, roll(2) == 0 ? 0 :
	    roll((uint32_t)blob->len) };

	peer_request(p, &(struct request){ .keep = roll(5) > 0,
	    .id = (uint16_t)(1 + roll(2)), .body = body,
	    .cut_body = roll(6) == 0,
	    .value_len = roll(8) == 0 ? roll(5000) : 0 });
}

static void
send_garbage(struct peer *p)
{
	uint8_t bytes[16];
	size_t i;

	for (i = 0; i < sizeof bytes; i++)
		bytes[i] = (uint8_t)roll(i < 4 ? 12 : 256);
	bytes[0] = (uint8_t)(roll(4) > 0);
	idem_buf_append(&p->to_send, bytes, sizeof bytes);
}

static void
send_record(struct peer *p, enum idem_fcgi_type type, uint16_t id)
{
	idem_fcgi_stream_end(&p->to_send, type, id);
}

static void
peer_acts(struct conn_rig *rig, struct peer *p)
{
	if (p->fd == -1) {
		peer_open(rig, p, roll(2) == 0 ? OVER_UNIX : OVER_TCP);
		p->piece = roll(3) == 0 ? 1 + roll(300) : 0;
		return;
	}
	switch (roll(12)) {
	case 0:
	case 1:
	case 2:
	case 3:
		send_request(p);
		break;
	case 4:
		send_record(p, IDEM_FCGI_ABORT_REQUEST,
		    (uint16_t)(1 + roll(2)));
		break;
	case 5:
		send_record(p, IDEM_FCGI_GET_VALUES, 0);
		break;
	case 6:
		send_record(p, IDEM_FCGI_STDIN, (uint16_t)(1 + roll(2)));
		break;
	case 7:
		if (roll(8) == 0)
			send_garbage(p);
		break;
	case 8:
		if (roll(12) == 0)
			(void)shutdown(p->fd, SHUT_WR);
		break;
	case 9:
		if (roll(12) == 0)
			peer_close(p);
		break;
	default:
		p->unread = !p->unread;
		break;
	}
	if (p->eof || p->reset || p->to_send.len > 4000000)
		peer_close(p);
}

static void
act(struct conn_rig *rig, struct peer *peers)
{
	switch (roll(8)) {
	case 0:
	case 1:
	case 2:
		peer_acts(rig, &peers[roll(PEERS)]);
		break;
	case 3:
	case 4:
		if (rig->calls != NULL)
			use_any(rig->calls);
		break;
	case 5:
		rig->now_ms += roll(9) == 0 ? roll(40000) : roll(100);
		break;
	default:
		settle(rig, peers, PEERS);
		break;
	}
	if (roll(2000) == 0)
		conns_close_idle(&rig->all);
}

static int
round_of(uint32_t seed)
{
	struct conn_rig rig;
	struct peer peers[PEERS];
	size_t i, files = open_files();
	int left;

	chance = seed;
	ended = 0;
	conn_rig_open(&rig);
	rig.all.limits.params_max = 4000;
	rig.all.limits.reading_max = 12000;
	rig.on_begun = rig.on_whole = rig.on_drained = use_any;
	for (i = 0; i < PEERS; i++)
		peers[i] = (struct peer){ .fd = -1 };
	for (i = 0; i < STEPS; i++)
		act(&rig, peers);
	left = 0;
	if (roll(2) == 0) {
		for (i = 0; i < PEERS; i++)
			peer_close(&peers[i]);
		/* What lingers or is unwritten ends by its deadlines; but that
		   a TCP peer has closed may take a while to be carried. */
		rig.on_begun = rig.on_whole = rig.on_drained = NULL;
		for (i = 0; i < 4 || (rig.all.count != 0 && i < LATE); i++) {
			settle(&rig, NULL, 0);
			if (i < 4 || i % 1000 == 0)
				pass(&rig, 100000);
			poll(NULL, 0, i < 4 ? 0 : 1);
		}
		left = rig.begun != rig.closed + ended || rig.calls != NULL ||
		    rig.all.count != 0 || rig.all.reading != 0;
	}
	conn_rig_close(&rig);
	for (i = 0; i < PEERS; i++)
		peer_close(&peers[i]);
	return left || blob->refs != 1 || open_files() != files;
}

int
main(int argc, char **argv)
{
	uint32_t seed = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1;
	uint32_t rounds = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) :
	    ROUNDS;
	uint32_t i;
	int bad = 0;

	note("seed %u", seed);
	blob = idem_blob_room(150000);
	if (blob == NULL)
		bail_out("no memory");
	memset(blob->at, 'b', blob->len);
	for (i = 0; i < rounds && bad == 0; i++) {
		if (round_of(seed + i) == 0)
			continue;
		bad++;
		note("something is left: t_conn_chaos %u 1", seed + i);
	}
	is_int(bad, 0, "whatever peers and user do, nothing is left of it");
	idem_blob_drop(blob);
	return done();
}
