/* SPDX-License-Identifier: ISC */
#include "ask.h"
#include "holds.h"
#include "rig_watch.h"
#include "run_note.h"
#include "tap.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/*
 * Nothing is left behind by a request: descriptors, children and memory of
 * lobby and keeper are after many of them what they were before.
 *
 * With LONG in the environment it takes more of them.
 */
#define REQUESTS 20000
#define REQUESTS_LONG 100000
#define QUESTIONS 100000
#define KEYS 32			/* of the keyed ones: all but their first are
				   replays */
#define UNKEYED_EACH 5		/* one of so many has no key, and runs */
#define WARM 1500		/* before the first look */
#define SLACK_KB 512
#define NOTES_MAX (2 * RUN_NOTES_SPARE)	/* a file and its lock each */
#define LIMIT_MS 600000
#define ANSWER_MS 60000

struct world {
	struct rig *rig;
	struct worker worker;
	long requests;
};

static void
check_same(const struct holds *before, const struct holds *after,
    const char *what)
{
	is_int(after->fds - after->notes, before->fds - before->notes,
	    "after %s the lobby has as many descriptors as before [cgi:C60]",
	    what);
	ok(after->notes - before->notes <= NOTES_MAX, "but for what it keeps "
	    "of claims that were refused: %ld, and %ld before [cgi:C60]",
	    after->notes, before->notes);
	is_int(after->keeper_fds, before->keeper_fds,
	    "and the keeper [cgi:C60]");
	is_int(after->children, before->children,
	    "and they have as many children [cgi:C60]");
	note("anonymous: lobby %ld kB before, %ld kB after; keeper %ld kB, "
	    "%ld kB",
	    before->kb, after->kb, before->keeper_kb, after->keeper_kb);
	if (rig_watch_sanitized) {
		skip("a sanitizer's memory is not ours", "memory is flat");
		return;
	}
	ok(after->kb - before->kb <= SLACK_KB &&
	    after->keeper_kb - before->keeper_kb <= SLACK_KB,
	    "and their memory is the same, give or take %d kB [cgi:C60]",
	    SLACK_KB);
}

/* --- many requests -------------------------------------------------------- */

struct mix {
	long left, asked, wrong;
	char key[32];
};

static enum rig_next
next(void *arg, int64_t now_ms, struct rig_request *request, void **user)
{
	struct mix *m = arg;

	(void)now_ms;
	(void)user;
	if (m->left == 0)
		return RIG_OVER;
	m->left--;
	m->asked++;
	snprintf(m->key, sizeof m->key, "flat-%ld", m->asked % KEYS);
	*request = (struct rig_request){
		.method = "POST", .path = "/order",
		.key = m->asked % UNKEYED_EACH == 0 ? NULL : m->key,
		.body = idem_bytes_text("item=tea")
	};
	return RIG_SEND;
}

static void
answered(void *arg, void *user, const struct rig_answer *answer)
{
	struct mix *m = arg;

	(void)user;
	m->wrong += !answer->whole || answer->status != 201;
}

static void
send_mix(struct world *w, long count)
{
	struct mix mix = { .left = count };
	struct rig_many many = { .connections_max = 8, .limit_ms = LIMIT_MS,
		.next = next, .answered = answered, .arg = &mix };

	is_int(rig_many(w->rig, &many), 0, "%ld requests, keyed and not, are "
	    "answered", count);
	is_int(mix.wrong, 0, "all of them rightly");
}

/* --- many questions ------------------------------------------------------- */

#define ASKS 50			/* at once: fewer than may wait */

static void
write_ask(struct idem_buf *out)
{
	struct idem_buf pairs = { 0 };
	const struct idem_bytes none = { 0 };
	uint8_t header[8];

	idem_fcgi_pair_write(&pairs, idem_bytes_text("FCGI_MAX_CONNS"), none);
	idem_fcgi_pair_write(&pairs, idem_bytes_text("FCGI_MPXS_CONNS"), none);
	idem_fcgi_pair_write(&pairs, idem_bytes_text("NO_SUCH_NAME"), none);
	idem_fcgi_header(header, IDEM_FCGI_GET_VALUES, 0, (uint16_t)pairs.len,
	    0);
	idem_buf_append(out, header, sizeof header);
	idem_buf_append(out, pairs.at, pairs.len);
	idem_buf_free(&pairs);
}

/* How many whole GET_VALUES_RESULTs stand there; -1: something else does. */
static long
results(struct idem_buf *in)
{
	size_t len;
	long n = 0;

	for (; in->len >= 8; n++) {
		if (in->at[1] != IDEM_FCGI_GET_VALUES_RESULT)
			return -1;
		len = 8 + ((size_t)in->at[4] << 8 | in->at[5]) + in->at[6];
		if (in->len < len)
			break;
		idem_buf_drop(in, len);
	}
	return n;
}

/* Answers to so many, or fewer if it does not go on. */
static long
hear_results(int fd, long want)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	struct idem_buf in = { 0 };
	uint8_t at[8192];
	long n = 0, more = 0;
	ssize_t got;

	while (n < want && more != -1 && poll(&ready, 1, ANSWER_MS) == 1) {
		got = recv(fd, at, sizeof at, MSG_DONTWAIT);
		if (got <= 0)
			break;
		idem_buf_append(&in, at, (size_t)got);
		more = results(&in);
		n += more > 0 ? more : 0;
	}
	idem_buf_free(&in);
	return n;
}

/* Half of them over one connection, half over a connection for each ASKS. */
static void
ask_values(struct world *w, long count)
{
	struct idem_buf out = { 0 };
	int kept = rig_connect(w->rig), fd;
	long i, heard = 0;

	for (i = 0; i < ASKS; i++)
		write_ask(&out);
	for (i = 0; i < count; i += ASKS) {
		fd = i % (2 * ASKS) == 0 ? kept : rig_connect(w->rig);
		if (fd == -1 || rig_send(fd, idem_buf_bytes(&out), 0,
		    ANSWER_MS) == -1)
			break;
		heard += hear_results(fd, ASKS);
		if (fd != kept)
			close(fd);
	}
	if (kept != -1)
		close(kept);
	idem_buf_free(&out);
	is_int(heard, count, "%ld GET_VALUES are answered [cgi:C60 F8]", count);
}

/* --- all of it ------------------------------------------------------------ */

static void
many_requests(struct world *w)
{
	struct holds before, after;

	rig_order(w->rig);
	ask_start(w->rig, (const char *[]){ "--workers", "1", "--",
	    rig_at(w->rig, "order"), NULL });
	holds_worker(w->rig, &w->worker);
	send_mix(w, WARM);
	ask_values(w, WARM - WARM % ASKS);
	before = holds_at_rest(&w->worker);
	send_mix(w, w->requests);
	after = holds_until(&w->worker, &before);
	check_same(&before, &after, "the requests");
	ask_values(w, QUESTIONS);
	after = holds_until(&w->worker, &before);
	check_same(&before, &after, "the questions");
	is_int(rig_stop(w->rig, 30000), 0, "it ends well");
}

int
main(void)
{
	struct rig rig = { 0 };
	struct world w = { .rig = &rig,
		.requests = getenv("LONG") != NULL ? REQUESTS_LONG : REQUESTS };

	rig_open(&rig);
	many_requests(&w);
	rig_end(&rig);
	return done();
}
