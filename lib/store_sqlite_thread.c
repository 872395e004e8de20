/* SPDX-License-Identifier: ISC */
#include "store_sqlite.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/*
 *	queue -- look --> ended                       (no lock, no write)
 *	            \--> writes -- lock, begin, apply all, commit --> ended
 *
 * While the lock is another's, what arrives is looked up all the same.
 */
#define GROUP_MAX 64
#define GROUP_BYTES (8u * 1024u * 1024u)	/* of answers in one commit */
#define NS_A_SECOND 1000000000
#define PAUSE_FIRST_US 50
#define PAUSE_LAST_US 500
#define PAUSE_YIELD_US 250	/* after our turn, if another wants one */
#define PAUSE_SWEPT_US 1500	/* then: longer than anybody waits to try */
#define WAL_PAGES 1000		/* 4 MB: what a checkpoint moves at a time */
#define SWEPT_PAGES 250		/* after a sweep */

/* --- queues --------------------------------------------------------------- */

void
idem_sqlite_push(struct idem_sqlite_queue *q, struct idem_sqlite_work *w)
{
	w->next = NULL;
	if (q->first == NULL)
		q->first = w;
	else
		q->last->next = w;
	q->last = w;
}

struct idem_sqlite_work *
idem_sqlite_pop(struct idem_sqlite_queue *q)
{
	struct idem_sqlite_work *w = q->first;

	if (w != NULL)
		q->first = w->next;
	return w;
}

void
idem_sqlite_work_free(struct idem_sqlite_work *w)
{
	idem_sqlite_done_free(&w->done);
	idem_store_call_free(&w->call);
	free(w);
}

/* --- looking -------------------------------------------------------------- */

/* What stands in the way of every call, or NULL. */
static const char *
trouble(const struct idem_sqlite *s)
{
	return s->broken[0] != '\0' ? s->broken :
	    idem_sqlite_file_moved(&s->file);
}

static bool
overdue(const struct idem_sqlite *s, const struct idem_sqlite_work *w)
{
	return idem_boot_ms(s->clock) > w->call.deadline_ms;
}

static void
wake_lobby(struct idem_sqlite *s)
{
	const uint64_t one = 1;
	ssize_t n;

	/* Full means that it is readable already. */
	do
		n = write(s->event, &one, sizeof one);
	while (n < 0 && errno == EINTR);
}

static void
deliver(struct idem_sqlite *s, struct idem_sqlite_queue *from)
{
	struct idem_sqlite_work *w;
	bool wake;

	pthread_mutex_lock(&s->mutex);
	wake = s->ended.first == NULL;
	while ((w = idem_sqlite_pop(from)) != NULL)
		if (w->answered) {
			idem_sqlite_work_free(w);
		} else {
			w->ended = true;
			idem_sqlite_push(&s->ended, w);
		}
	wake = wake && s->ended.first != NULL;
	pthread_mutex_unlock(&s->mutex);
	if (wake)
		wake_lobby(s);
}

/* The others nearly always have something to write. */
static bool
looks_first(enum idem_store_op op)
{
	return op == IDEM_STORE_CLAIM || op == IDEM_STORE_LIST ||
	    op == IDEM_STORE_SWEEP;
}

static void
look_at(struct idem_sqlite *s, struct idem_sqlite_work *w)
{
	struct idem_moment at = idem_sqlite_moment(s);
	uint64_t purges = idem_sqlite_purges(&s->file);
	int rc;

	rc = idem_sqlite_apply(&s->db, &w->call, &at, true, &w->done);
	w->done.result.purges = purges;
	if (rc != SQLITE_OK)
		idem_sqlite_fail_rc(s, w, rc);
}

/*
 * Each look is a transaction of its own, so that the purge count read before
 * it is older than what it sees.
 */
static void
look(struct idem_sqlite *s, struct idem_sqlite_queue *looks)
{
	const char *why = trouble(s);
	struct idem_sqlite_queue ended = { 0 };
	struct idem_sqlite_work *w;

	while ((w = idem_sqlite_pop(looks)) != NULL) {
		if (why != NULL)
			idem_sqlite_fail(w, IDEM_CLASS_CONFIG, why);
		else if (overdue(s, w))
			idem_sqlite_fail(w, IDEM_CLASS_REFUSED,
			    "its time was over");
		else if (looks_first(w->call.op))
			look_at(s, w);
		else
			w->done.writes = true;
		if (!w->done.writes) {
			idem_sqlite_push(&ended, w);
		} else if (s->read_only) {
			idem_sqlite_fail(w, IDEM_CLASS_CONFIG,
			    "the ledger was opened only to look");
			idem_sqlite_push(&ended, w);
		} else {
			idem_sqlite_push(&s->writes, w);
		}
	}
	deliver(s, &ended);
}

void
idem_sqlite_look(struct idem_sqlite *s)
{
	struct idem_sqlite_queue looks = s->queue;

	s->queue = (struct idem_sqlite_queue){ 0 };
	look(s, &looks);
}

/* --- writing -------------------------------------------------------------- */

static size_t
answer_len(const struct idem_sqlite_work *w)
{
	return w->call.answer != NULL ? w->call.answer->len : 0;
}

static size_t
take_group(struct idem_sqlite *s, struct idem_sqlite_work **works)
{
	size_t n = 0, bytes = 0;

	while (n < GROUP_MAX && s->writes.first != NULL &&
	    (n == 0 || bytes + answer_len(s->writes.first) <= GROUP_BYTES)) {
		works[n] = idem_sqlite_pop(&s->writes);
		bytes += answer_len(works[n++]);
	}
	return n;
}

static int64_t
monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * NS_A_SECOND + now.tv_nsec;
}

/* Somewhere between a half and one and a half, so that no two keep step. */
static void
hold_off(struct idem_sqlite *s, uint32_t us)
{
	s->dice = s->dice * 1664525u + 1013904223u;
	us = us / 2 + (s->dice >> 8) % (us + 1);
	s->retry_ns = monotonic_ns() + (int64_t)us * 1000;
}

static void
hold_off_longer(struct idem_sqlite *s)
{
	uint32_t us = s->pause_us == 0 ? PAUSE_FIRST_US : 2 * s->pause_us;

	s->pause_us = us < PAUSE_LAST_US ? us : PAUSE_LAST_US;
	hold_off(s, s->pause_us);
}

static bool
has_sweep(struct idem_sqlite_work *const *works, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (works[i]->call.op == IDEM_STORE_SWEEP)
			return true;
	return false;
}

/*
 * A sweep moves the WAL in steps so small that nobody waits long for one, and
 * not in the same turn.
 */
static void
checkpoint(struct idem_sqlite *s, bool swept)
{
	if (swept)
		s->swept = idem_sqlite_db_wal_over(&s->db, SWEPT_PAGES);
	else if (s->swept || idem_sqlite_db_wal_over(&s->db, WAL_PAGES)) {
		idem_sqlite_db_checkpoint(&s->db);
		s->swept = false;
	}
}

/* One group, if the lock is to be had. */
static void
write_group(struct idem_sqlite *s)
{
	struct idem_sqlite_work *works[GROUP_MAX];
	struct idem_sqlite_queue ended = { 0 };
	const char *why;
	bool swept;
	size_t n, i;

	if (!idem_sqlite_file_lock(&s->file)) {
		hold_off_longer(s);
		return;
	}
	s->pause_us = 0;
	n = take_group(s, works);
	swept = has_sweep(works, n);
	why = trouble(s);
	if (why == NULL && n > 0)
		idem_sqlite_carry_out(s, works, n);
	for (i = 0; i < n; i++) {
		if (why != NULL)
			idem_sqlite_fail(works[i], IDEM_CLASS_CONFIG, why);
		idem_sqlite_push(&ended, works[i]);
	}
	deliver(s, &ended);
	if (why == NULL)
		checkpoint(s, swept);
	else
		s->swept = false;
	if (idem_sqlite_file_unlock(&s->file))
		hold_off(s, swept ? PAUSE_SWEPT_US : PAUSE_YIELD_US);
}

/* --- room ----------------------------------------------------------------- */

/*
 * The file never shrinks, and what is free in it is room too: so it is enough
 * to make some, and a sweep knows when to stop.
 */
void
idem_sqlite_room(struct idem_sqlite *s)
{
	uint64_t disk = 0, file = 0;
	int64_t now_ns;

	if (s->reserve == 0)
		return;
	now_ns = monotonic_ns();
	if (now_ns < s->room_ns)
		return;
	s->room_ns = now_ns + NS_A_SECOND;
	if (idem_sqlite_file_free(&s->file, &disk) &&
	    idem_sqlite_db_free(&s->db, &file) == 0)
		atomic_store(&s->pressed, disk + file < s->reserve ||
		    disk + file - s->reserve < s->reserve);
}

/* --- the thread ----------------------------------------------------------- */

/* Under the mutex: let go of those that the lobby has answered. */
static void
drop_answered(struct idem_sqlite *s)
{
	struct idem_sqlite_queue left = { 0 };
	struct idem_sqlite_work *w;

	while ((w = idem_sqlite_pop(&s->writes)) != NULL)
		if (w->answered)
			idem_sqlite_work_free(w);
		else
			idem_sqlite_push(&left, w);
	s->writes = left;
}

/* Under the mutex: until there is something to do. */
static void
rest(struct idem_sqlite *s)
{
	struct timespec until = {
		.tv_sec = s->retry_ns / NS_A_SECOND,
		.tv_nsec = s->retry_ns % NS_A_SECOND,
	};

	drop_answered(s);
	while (!s->stop && s->queue.first == NULL &&
	    s->writes.first == NULL && !s->swept)
		pthread_cond_wait(&s->woken, &s->mutex);
	while (!s->stop && s->queue.first == NULL &&
	    monotonic_ns() < s->retry_ns)
		pthread_cond_timedwait(&s->woken, &s->mutex, &until);
}

/* What is next to be looked at; false: stop. */
static bool
take(struct idem_sqlite *s, struct idem_sqlite_queue *looks)
{
	bool go;
	int n;

	pthread_mutex_lock(&s->mutex);
	rest(s);
	for (n = 0; n < GROUP_MAX && s->queue.first != NULL; n++)
		idem_sqlite_push(looks, idem_sqlite_pop(&s->queue));
	go = !s->stop;
	pthread_mutex_unlock(&s->mutex);
	return go;
}

/* A backup of the file alone should have all in it, if it may be so. */
static void
tidy(struct idem_sqlite *s)
{
	if (trouble(s) != NULL || !idem_sqlite_file_lock(&s->file))
		return;
	idem_sqlite_db_checkpoint(&s->db);
	idem_sqlite_file_unlock(&s->file);
}

void *
idem_sqlite_committer(void *arg)
{
	struct idem_sqlite *s = arg;
	struct idem_sqlite_queue looks = { 0 };

	while (take(s, &looks)) {
		look(s, &looks);
		if ((s->writes.first != NULL || s->swept) &&
		    monotonic_ns() >= s->retry_ns)
			write_group(s);
		idem_sqlite_room(s);
	}
	/* What never began is refused by who closes. */
	while (looks.first != NULL)
		idem_sqlite_push(&s->writes, idem_sqlite_pop(&looks));
	tidy(s);
	return NULL;
}
