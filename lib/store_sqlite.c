/* SPDX-License-Identifier: ISC */
#include "store_sqlite.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* --- outstanding calls ---------------------------------------------------- */

static void
add(struct idem_sqlite *s, struct idem_sqlite_work *w)
{
	w->older = s->newest;
	w->newer = NULL;
	if (s->newest != NULL)
		s->newest->newer = w;
	s->newest = w;
	if (w->call.deadline_ms < s->due_ms)
		s->due_ms = w->call.deadline_ms;
}

static void
take_out(struct idem_sqlite *s, struct idem_sqlite_work *w)
{
	if (w->newer != NULL)
		w->newer->older = w->older;
	else
		s->newest = w->older;
	if (w->older != NULL)
		w->older->newer = w->newer;
}

static void
tell(const struct idem_sqlite_work *w)
{
	w->call.done(w->call.arg, &w->done.result);
}

/* Answer in the place of the committer, who may still have it. */
static void
tell_failed(const struct idem_store_call *call, enum idem_class class,
    const char *error)
{
	struct idem_store_result result;

	idem_store_fail(&result, call->op, class, error);
	call->done(call->arg, &result);
}

/* --- the port ------------------------------------------------------------- */

static void
sqlite_start(struct idem_store *base, const struct idem_store_call *call)
{
	struct idem_sqlite *s = (struct idem_sqlite *)base;
	struct idem_sqlite_work *w = calloc(1, sizeof *w);

	if (w == NULL) {
		idem_store_refuse(&s->refused, call);
		return;
	}
	idem_store_call_copy(&w->call, call);
	add(s, w);
	pthread_mutex_lock(&s->mutex);
	idem_sqlite_push(&s->queue, w);
	pthread_cond_signal(&s->woken);
	pthread_mutex_unlock(&s->mutex);
}

static int
sqlite_fd(struct idem_store *base)
{
	return ((const struct idem_sqlite *)base)->event;
}

static int64_t
sqlite_due_ms(struct idem_store *base)
{
	const struct idem_sqlite *s = (const struct idem_sqlite *)base;
	bool now = s->refused.n > 0 || (s->read_only && s->newest != NULL);

	return now ? 0 : s->due_ms;
}

static void
tell_ended(struct idem_sqlite *s)
{
	struct idem_sqlite_queue ended;
	struct idem_sqlite_work *w;

	pthread_mutex_lock(&s->mutex);
	ended = s->ended;
	s->ended = (struct idem_sqlite_queue){ 0 };
	pthread_mutex_unlock(&s->mutex);
	while ((w = idem_sqlite_pop(&ended)) != NULL) {
		take_out(s, w);
		tell(w);
		idem_sqlite_work_free(w);
	}
}

/* Out of the outstanding ones into a list by `older`. */
static struct idem_sqlite_work *
take_late(struct idem_sqlite *s)
{
	struct idem_sqlite_work *w = s->newest, *older, *late = NULL;
	int64_t now_ms = idem_boot_ms(s->clock);

	s->due_ms = INT64_MAX;
	for (; w != NULL; w = older) {
		older = w->older;
		if (w->call.deadline_ms < now_ms) {
			take_out(s, w);
			w->older = late;
			late = w;
		} else if (w->call.deadline_ms < s->due_ms) {
			s->due_ms = w->call.deadline_ms;
		}
	}
	return late;
}

/*
 * What has not begun is withdrawn.  Once it is marked as answered, w is the
 * committer's to free.
 */
static void
tell_late(struct idem_sqlite *s, struct idem_sqlite_work *w)
{
	struct idem_store_call call = w->call;
	bool ended, under_way;

	pthread_mutex_lock(&s->mutex);
	ended = w->ended;
	under_way = w->under_way;
	if (ended)
		add(s, w);	/* in this moment: the next poll tells */
	else
		w->answered = true;
	pthread_mutex_unlock(&s->mutex);
	if (ended)
		return;
	if (under_way)
		tell_failed(&call, IDEM_CLASS_MAYBE,
		    "the disk has not answered in time");
	else
		tell_failed(&call, IDEM_CLASS_REFUSED,
		    "the ledger was busy for all the time there was");
}

static void
sqlite_poll(struct idem_store *base)
{
	struct idem_sqlite *s = (struct idem_sqlite *)base;
	struct idem_sqlite_work *late, *next;
	uint64_t n;
	ssize_t got;

	do
		got = read(s->event, &n, sizeof n);
	while (got < 0 && errno == EINTR);
	if (s->read_only)
		idem_sqlite_look(s);
	tell_ended(s);
	if (s->due_ms < idem_boot_ms(s->clock))
		for (late = take_late(s); late != NULL; late = next) {
			next = late->older;
			tell_late(s, late);
		}
	idem_store_tell_refused(&s->refused);
}

static uint64_t
sqlite_purges(struct idem_store *base)
{
	return idem_sqlite_purges(&((const struct idem_sqlite *)base)->file);
}

static bool
sqlite_pressed(struct idem_store *base)
{
	return atomic_load(&((struct idem_sqlite *)base)->pressed);
}

static bool
sqlite_history(struct idem_store *base, struct idem_history *history)
{
	*history = ((const struct idem_sqlite *)base)->db.history;
	return true;
}

/* What never began; those that are answered were kept for the thread. */
static void
tell_queued(struct idem_sqlite_queue *q)
{
	struct idem_sqlite_work *w;

	while ((w = idem_sqlite_pop(q)) != NULL) {
		if (!w->answered)
			tell_failed(&w->call, IDEM_CLASS_REFUSED,
			    "the store was closed");
		idem_sqlite_work_free(w);
	}
}

static void
release(struct idem_sqlite *s)
{
	idem_sqlite_db_close(&s->db);
	idem_sqlite_file_close(&s->file);
	if (s->event >= 0)
		close(s->event);
	pthread_cond_destroy(&s->woken);
	pthread_mutex_destroy(&s->mutex);
	free(s);
}

static void
sqlite_close(struct idem_store *base)
{
	struct idem_sqlite *s = (struct idem_sqlite *)base;

	if (!s->read_only) {
		pthread_mutex_lock(&s->mutex);
		s->stop = true;
		pthread_cond_signal(&s->woken);
		pthread_mutex_unlock(&s->mutex);
		pthread_join(s->thread, NULL);
	}
	tell_ended(s);
	tell_queued(&s->writes);
	tell_queued(&s->queue);
	idem_store_tell_refused(&s->refused);
	release(s);
}

/* --- opening -------------------------------------------------------------- */

static struct idem_sqlite *
new(const struct idem_sqlite_options *options)
{
	struct idem_sqlite *s = calloc(1, sizeof *s);
	pthread_condattr_t attr;

	if (s == NULL)
		return NULL;
	s->clock = options->clock;
	s->boot = options->boot;
	s->read_only = options->read_only;
	s->reserve = options->reserve;
	s->file.lock = -1;
	s->due_ms = INT64_MAX;
	s->dice = (uint32_t)getpid();
	pthread_mutex_init(&s->mutex, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&s->woken, &attr);
	pthread_condattr_destroy(&attr);
	s->event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	return s;
}

/* Signals are for the thread that has handlers for them. */
static int
start_thread(struct idem_sqlite *s)
{
	sigset_t all, before;
	int failed;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	failed = pthread_create(&s->thread, NULL, idem_sqlite_committer, s);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = failed;
	return failed == 0 ? 0 : -1;
}

struct idem_store *
idem_store_sqlite(const struct idem_sqlite_options *options, char *error,
    size_t error_size)
{
	static const struct idem_store_ops ops = {
		.name = "sqlite",
		.start = sqlite_start,
		.fd = sqlite_fd,
		.due_ms = sqlite_due_ms,
		.poll = sqlite_poll,
		.purges = sqlite_purges,
		.pressed = sqlite_pressed,
		.history = sqlite_history,
		.close = sqlite_close,
	};
	struct idem_sqlite *s = new(options);
	const char *moved;

	if (s == NULL || s->event < 0) {
		snprintf(error, error_size, "the ledger: %s", strerror(errno));
		goto failed;
	}
	s->base.ops = &ops;
	if (idem_sqlite_file_open(&s->file, options->path, options->read_only,
	    error, error_size) != 0 ||
	    idem_sqlite_db_open(&s->db, &s->file, options->read_only, error,
	    error_size) != 0)
		goto failed;
	moved = idem_sqlite_file_moved(&s->file);
	if (moved != NULL) {
		snprintf(error, error_size, "%s: %s", options->path, moved);
		goto failed;
	}
	idem_sqlite_room(s);
	if (!options->read_only && start_thread(s) != 0) {
		snprintf(error, error_size, "the ledger's thread: %s",
		    strerror(errno));
		goto failed;
	}
	return &s->base;
failed:
	if (s != NULL)
		release(s);
	return NULL;
}
