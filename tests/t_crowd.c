/* SPDX-License-Identifier: ISC */
#include "rig_watch.h"
#include "tap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/*
 * Ten thousand duplicates of one order, submitted while it runs, over two
 * workers that accept from one socket.  All wait, and all are answered as soon
 * as it is over, which it is when they have all come.  The clients here only
 * gather bytes and look at them when all is done: what is measured should be
 * the daemon.
 *
 * The goals are those that make bench prints; what the suite insists on is
 * wider, for it also runs under sanitizers: the processor time in which all are
 * answered, and as much more of it as they needed to come.  What a busy machine
 * makes of that is no more than that nobody waits as long as he may.
 */
#define CROWD 10000u
#define CROWD_LEAST 100u
#define WORKERS 2u
#define GOAL_OWN_MS 60
#define GOAL_OTHER_MS 100
#define BOUND_MS 1500		/* of processor time */
#define PROMPT_MS 60000		/* of real time */
#define MAY_WAIT "wait:300s"
#define GOAL_SIZE 512
#define LIMIT_MS 290000
#define ANSWER_MAX 1024
#define SPARE_FDS 200u		/* for all that is not the crowd */
#define EVENTS 256
#define ID 1

struct one {
	int fd;			/* -1: its connection has ended */
	uint16_t len;
	int64_t at_ns;		/* wall clock, of the last byte */
	uint8_t at[ANSWER_MAX];
};

struct worker {
	pid_t lobby;
	long cpu_ms[3];	/* before they come, when all have, at the end */
	long before_kb, height_kb, threads_before, threads;
	uint32_t waited;	/* answered after waiting, by the log */
	int64_t last_ms;	/* after the run's end, by the log */
	bool ran;
};

struct crowd {
	struct rig *rig;
	struct one *ones;
	size_t count, open;
	int epoll;
	struct idem_buf request;
	struct worker worker[WORKERS];
	int64_t come_ms;	/* what it took them to come */
};

/* --- the lobbies ---------------------------------------------------------- */

static void
look_at_cpu(struct crowd *c, int when)
{
	struct timespec t;
	struct worker *w;
	clockid_t clock;

	for (w = c->worker; w < c->worker + WORKERS; w++) {
		if (clock_getcpuclockid(w->lobby, &clock) != 0 ||
		    clock_gettime(clock, &t) == -1)
			bail_out("a lobby has no clock");
		w->cpu_ms[when] = (long)t.tv_sec * 1000 + t.tv_nsec / 1000000;
	}
}

static void
look_before(struct crowd *c)
{
	struct worker *w;

	for (w = c->worker; w < c->worker + WORKERS; w++) {
		w->before_kb = rig_watch_memory_kb(w->lobby);
		w->threads_before = rig_watch_threads(w->lobby);
	}
}

static void
look_at_height(struct crowd *c)
{
	struct worker *w;

	for (w = c->worker; w < c->worker + WORKERS; w++) {
		w->height_kb = rig_watch_memory_kb(w->lobby);
		w->threads = rig_watch_threads(w->lobby);
	}
}

/* --- the crowd ------------------------------------------------------------ */

static int64_t
wall_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* A unix socket's queue may be full for a moment. */
static int
connect_one(struct crowd *c)
{
	const struct timespec moment = { 0, 1000000 };
	int64_t until_ms = rig_now_ms() + LIMIT_MS;
	int fd;

	do {
		fd = rig_connect(c->rig);
		if (fd != -1)
			return fd;
		nanosleep(&moment, NULL);
	} while (errno == EAGAIN && rig_now_ms() < until_ms);
	return -1;
}

static void
gather(struct crowd *c)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct one *one;

	for (one = c->ones; one < c->ones + c->count; one++) {
		one->fd = connect_one(c);
		event.data.u32 = (uint32_t)(one - c->ones);
		if (one->fd == -1 || rig_send(one->fd,
		    idem_buf_bytes(&c->request), 0, LIMIT_MS) == -1 ||
		    epoll_ctl(c->epoll, EPOLL_CTL_ADD, one->fd, &event) == -1)
			bail_out("client %zu: %s", (size_t)(one - c->ones),
			    strerror(errno));
		c->open++;
	}
}

static void
hear(struct crowd *c, struct one *one)
{
	size_t room = sizeof one->at - one->len;
	ssize_t n = read(one->fd, one->at + one->len, room);

	if (n > 0) {
		one->len = (uint16_t)(one->len + n);
		one->at_ns = wall_ns();
		return;
	}
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	close(one->fd);
	one->fd = -1;
	c->open--;
}

static void
hear_all(struct crowd *c)
{
	int64_t until_ms = rig_now_ms() + LIMIT_MS;
	struct epoll_event events[EVENTS];
	int i, n;

	while (c->open > 0 && rig_now_ms() < until_ms) {
		n = epoll_wait(c->epoll, events, EVENTS, 100);
		for (i = 0; i < n; i++)
			hear(c, &c->ones[events[i].data.u32]);
	}
}

/* --- what they have heard ------------------------------------------------- */

/* STDOUT of an answer that is whole; NULL of one that is not. */
static struct idem_buf *
out_of(const struct one *one)
{
	struct idem_fcgi_client_reader reader = { .id = ID };
	struct idem_bytes left = { one->at, one->len }, bytes;
	enum idem_fcgi_told told;
	static struct idem_buf out;

	idem_buf_clear(&out);
	do {
		told = idem_fcgi_client_read(&reader, &left, &bytes);
		if (told == IDEM_FCGI_TOLD_STDOUT)
			idem_buf_append(&out, bytes.at, bytes.len);
	} while (told == IDEM_FCGI_TOLD_STDOUT);
	return told == IDEM_FCGI_TOLD_END ? &out : NULL;
}

static size_t
not_as(const struct crowd *c, const struct rig_answer *sample)
{
	struct idem_buf *out;
	size_t others = 0, i;

	for (i = 0; i < c->count; i++) {
		out = out_of(&c->ones[i]);
		if (out != NULL && idem_bytes_equal(idem_buf_bytes(out),
		    idem_buf_bytes(&sample->out)))
			continue;
		if (others++ < 3)
			note("client %zu: %.*s", i,
			    out == NULL ? 7 : (int)out->len,
			    out == NULL ? "nothing" : (char *)out->at);
	}
	return others;
}

static bool
same_answer(const struct rig_answer *a, const struct rig_answer *b)
{
	static const char *const fields[] = {
		"Content-Type", "Content-Length", "X-Run"
	};
	size_t i;

	for (i = 0; i < sizeof fields / sizeof *fields; i++)
		if (strcmp(rig_field(a, fields[i]), rig_field(b, fields[i])))
			return false;
	return a->status == b->status && idem_bytes_equal(a->body, b->body);
}

/* The program wrote into its answer when it was. */
static int64_t
ended_ns(const struct rig_answer *leader)
{
	long long s = 0, ns = 0;
	char text[512];
	const char *at;

	snprintf(text, sizeof text, "%.*s", (int)leader->body.len,
	    leader->body.len > 0 ? (const char *)leader->body.at : "");
	at = strstr(text, " at ");
	if (at == NULL || sscanf(at, " at %lld.%lld", &s, &ns) != 2)
		bail_out("the program does not say when it was");
	return s * 1000000000 + ns;
}

/* --- the log -------------------------------------------------------------- */

/* Milliseconds between the time of day of a line and the run's end. */
static int64_t
after_end(const char *line, int64_t end_ns)
{
	const int64_t day_ms = 24 * 3600 * 1000;
	int hour, minute, second, ms;
	int64_t at_ms;

	if (sscanf(line, "%*d-%*d-%*dT%d:%d:%d.%d", &hour, &minute, &second,
	    &ms) != 4)
		return 0;
	at_ms = ((hour * 60 + minute) * 60 + second) * 1000 + ms;
	at_ms -= end_ns / 1000000 % day_ms;
	return at_ms < -day_ms / 2 ? at_ms + day_ms : at_ms;
}

static void
read_line(struct crowd *c, const char *line, int64_t end_ns)
{
	const char *who = strstr(line, " idemd[");
	struct worker *w;
	unsigned number;
	int64_t ms;

	if (who == NULL || sscanf(who, " idemd[%u]", &number) != 1 ||
	    number >= WORKERS || strstr(line, " ms=") == NULL)
		return;
	w = &c->worker[number];
	ms = after_end(line, end_ns);
	/* A request that came meanwhile has run as well, but before. */
	if (strstr(line, " source=run ") != NULL && ms >= 0)
		w->ran = true;
	if (strstr(line, "=replayed ") == NULL)
		return;
	w->waited++;
	if (ms > w->last_ms)
		w->last_ms = ms;
}

static void
read_log(struct crowd *c, int64_t end_ns)
{
	char *log = rig_slurp(c->rig, "log"), *rest = log, *line;

	while ((line = strsep(&rest, "\n")) != NULL)
		read_line(c, line, end_ns);
	free(log);
}

/* --- what must hold ------------------------------------------------------- */

static int64_t
last_ns(const struct crowd *c)
{
	int64_t last = 0;
	size_t i;

	for (i = 0; i < c->count; i++)
		if (c->ones[i].at_ns > last)
			last = c->ones[i].at_ns;
	return last;
}

static void
check_times(struct crowd *c, int64_t end_ns)
{
	long long all_ms = (last_ns(c) - end_ns) / 1000000;
	const struct worker *w;
	long come = 0, answer = 0;

	for (w = c->worker; w < c->worker + WORKERS; w++) {
		come += w->cpu_ms[1] - w->cpu_ms[0];
		answer += w->cpu_ms[2] - w->cpu_ms[1];
		note("worker %d%s: %u waited, the last was answered %lld ms "
		    "after the run's end (goal %d)", (int)(w - c->worker),
		    w->ran ? ", the run's own" : "", w->waited,
		    (long long)w->last_ms,
		    w->ran ? GOAL_OWN_MS : GOAL_OTHER_MS);
	}
	note("the last client had its answer after %lld ms", all_ms);
	note("it took them %lld ms to come", (long long)c->come_ms);
	note("the lobbies' processor time: %ld ms to take them, %ld ms to "
	    "answer", come, answer);
	ok(answer <= come + BOUND_MS, "answering takes no more than %d ms of "
	    "processor time, and as much as they took to come", BOUND_MS);
	ok(all_ms <= PROMPT_MS, "and is over long before they would leave");
}

static void
check_size(const struct crowd *c)
{
	const struct worker *w;
	long more_kb = 0, threads_more = 0, size;

	for (w = c->worker; w < c->worker + WORKERS; w++) {
		note("worker %d: Pss %ld kB before, %ld kB with all of them "
		    "waiting, %ld threads", (int)(w - c->worker), w->before_kb,
		    w->height_kb, w->threads);
		more_kb += w->height_kb - w->before_kb;
		threads_more += w->threads - w->threads_before;
	}
	size = more_kb * 1024 / (long)c->count;
	note("%ld bytes a waiter (goal %d)", size, GOAL_SIZE);
	is_int(threads_more, 0, "no thread is started for a waiter");
	if (rig_watch_sanitized)
		skip("a sanitizer's memory is not ours", "a waiter is small");
	else
		ok(size <= 2 * GOAL_SIZE, "a waiter costs no more than %d "
		    "bytes", 2 * GOAL_SIZE);
}

static void
check_fresh(struct crowd *c)
{
	struct rig_answer answer = { 0 };

	rig_request(c->rig, &(struct rig_request){ .method = "POST",
	    .path = "/order", .key = "another",
	    .body = idem_bytes_text("item=coffee") }, &answer);
	note("a new request meanwhile: %lld ms", (long long)answer.ms);
	is_int(answer.status, 201, "a new request is served while all of them "
	    "wait");
	rig_answer_free(&answer);
}

static void
check_answers(struct crowd *c, const struct rig_answer *leader,
    const struct rig_answer *sample)
{
	int64_t end_ns = ended_ns(leader);

	is(rig_field(leader, "Idempotency-Status"), "stored",
	    "the first is answered by its run");
	is(rig_field(sample, "Idempotency-Status"), "replayed",
	    "who waited is given the stored answer");
	ok(same_answer(leader, sample), "which is the first one's");
	is_int((long long)not_as(c, sample), 0, "all %zu others are given the "
	    "same bytes", c->count);
	is_int(rig_lines(c->rig, "orders", "crowd"), 1, "the program ran once");
	read_log(c, end_ns);
	check_times(c, end_ns);
}

/* --- life ----------------------------------------------------------------- */

static size_t
how_many(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == -1)
		return CROWD_LEAST;
	if (limit.rlim_cur >= CROWD + SPARE_FDS)
		return CROWD;
	skip("too few descriptors may be open here", "%u clients wait (%lu "
	    "descriptors)", CROWD, (unsigned long)limit.rlim_cur);
	return limit.rlim_cur > CROWD_LEAST + SPARE_FDS ?
	    limit.rlim_cur - SPARE_FDS : CROWD_LEAST;
}

static int
submit(struct crowd *c)
{
	int fd = connect_one(c);

	if (fd == -1 || rig_send(fd, idem_buf_bytes(&c->request), 0,
	    LIMIT_MS) == -1)
		bail_out("no connection: %s", strerror(errno));
	return fd;
}

/* The sample is one of the crowd whose answer is read field by field. */
static void
play(struct crowd *c)
{
	const struct idem_bytes nothing = { 0 };
	struct rig_answer leader = { 0 }, sample = { 0 };
	int leader_fd, sample_fd;
	int64_t began_ms;

	rig_file(c->rig, "hold", "");
	leader_fd = submit(c);
	ok(rig_await_lines(c->rig, "orders", 1, LIMIT_MS), "the program runs");
	look_before(c);
	look_at_cpu(c, 0);
	began_ms = rig_now_ms();
	sample_fd = submit(c);
	gather(c);
	ok(rig_watch_await(c->rig, SHM_KEYED, c->count + 2, LIMIT_MS),
	    "all come in");
	c->come_ms = rig_now_ms() - began_ms;
	look_at_height(c);
	look_at_cpu(c, 1);
	check_fresh(c);
	is_int(rig_lines(c->rig, "orders", NULL), 2, "which is all that has "
	    "been started");
	unlink(rig_at(c->rig, "hold"));
	hear_all(c);
	look_at_cpu(c, 2);
	is_int((long long)c->open, 0, "all are answered");
	rig_receive(leader_fd, ID, nothing, LIMIT_MS, &leader);
	rig_receive(sample_fd, ID, nothing, LIMIT_MS, &sample);
	check_answers(c, &leader, &sample);
	check_size(c);
	rig_answer_free(&leader);
	rig_answer_free(&sample);
	close(leader_fd);
	close(sample_fd);
}

static void
begin(struct crowd *c)
{
	pid_t lobby[WORKERS];
	size_t i;

	c->count = how_many() - 1;	/* the sample is one more */
	c->ones = calloc(c->count, sizeof *c->ones);
	c->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (c->ones == NULL || c->epoll == -1)
		bail_out("no means");
	rig_request_write(&c->request, ID, &(struct rig_request){
	    .method = "POST", .path = "/order", .query = "hold=1",
	    .key = "crowd", .body = idem_bytes_text("item=tea") });
	rig_order(c->rig);
	if (rig_start(c->rig, (const char *[]){ "--workers", "2",
	    "--in-progress", MAY_WAIT, "--", rig_at(c->rig, "order"),
	    NULL }) == -1)
		bail_out("idemd does not start");
	rig_watch_lobbies(c->rig, lobby, WORKERS);
	for (i = 0; i < WORKERS; i++)
		c->worker[i].lobby = lobby[i];
}

int
main(void)
{
	static struct crowd crowd;
	struct rig rig = { 0 };
	size_t i;

	crowd.rig = &rig;
	rig_open(&rig);
	begin(&crowd);
	play(&crowd);
	for (i = 0; i < crowd.count; i++)
		if (crowd.ones[i].fd != -1)
			close(crowd.ones[i].fd);
	close(crowd.epoll);
	idem_buf_free(&crowd.request);
	free(crowd.ones);
	is_int(rig_stop(&rig, 30000), 0, "idemd ends with status 0 on SIGTERM");
	rig_end(&rig);
	return done();
}
