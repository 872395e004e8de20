/* SPDX-License-Identifier: ISC */
#include "keeper_run.h"

#include "clock.h"
#include "label.h"

#include <errno.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/wait.h>

#define READ_A_TURN (1024u * 1024u)	/* of all pipes, about */
#define READ_LEAST 4096u
#define READS_AT_END (KEEPER_PIPE_SIZE / KEEPER_READ_MAX + 1)

static size_t
read_size(const struct keeper *k)
{
	size_t size = READ_A_TURN / (k->collecting + 1);

	if (size > KEEPER_READ_MAX)
		return KEEPER_READ_MAX;
	return size > READ_LEAST ? size : READ_LEAST;
}

/* True: there was something. */
static bool
collect(struct keeper_run *r, size_t size, bool closed)
{
	bool some = keeper_spool_read(&r->spool, r->keeper->loop, size,
	    closed);

	if (r->spool.pipe.fd < 0)
		r->keeper->collecting--;
	return some;
}

static void
finish(struct keeper_run *r)
{
	struct idem_trailer trailer = {
		.status = r->end.status, .limit = r->end.limit
	};

	if (r->spool.pipe.fd >= 0)
		r->keeper->collecting--;
	IDEM_LABEL_NOTE("trailer.begin", r->note.file);
	keeper_spool_end(&r->spool, r->keeper->loop, &trailer,
	    idem_boot_ms(&idem_clock_real), &r->end);
	IDEM_LABEL_NOTE("trailer.written", r->note.file);
	keeper_run_over(r);
}

/* From now on again its pipe must be idle for so long. */
static void
idle_again(struct keeper_run *r, int64_t now_ms)
{
	r->idle_ms = now_ms + KEEPER_IDLE_MS;
	loop_timer(r->keeper->loop, &r->timer,
	    r->idle_ms < r->until_ms ? r->idle_ms : r->until_ms);
}

static void
pipe_ready(struct watch *w, uint32_t events)
{
	struct keeper_run *r = (struct keeper_run *)((char *)w -
	    offsetof(struct keeper_run, spool.pipe));
	struct keeper *k = r->keeper;
	bool some = collect(r, read_size(k), (events & EPOLLHUP) != 0);

	if (r->pid != 0)
		return;
	if (r->spool.pipe.fd < 0)
		finish(r);
	else if (some)
		idle_again(r, loop_now(k->loop));
}

/* A child that it left behind holds the pipe. */
void
keeper_out_idle_due(struct keeper_run *r, int64_t now_ms)
{
	/* We may have been held up: that is not its silence. */
	bool some = collect(r, KEEPER_READ_MAX, false);

	if (r->spool.pipe.fd >= 0) {
		if (some && now_ms < r->until_ms) {
			idle_again(r, now_ms);
			return;
		}
		r->end.held = !some && now_ms >= r->idle_ms;
		r->end.limit = !r->end.held;
	}
	finish(r);
}

void
keeper_out_reaped(struct keeper_run *r)
{
	unsigned i;

	for (i = 0; i < READS_AT_END && r->spool.pipe.fd >= 0; i++)
		if (!collect(r, KEEPER_READ_MAX, false))
			break;
	/* Stopped, nothing more that counts can come. */
	if (r->spool.pipe.fd < 0 || r->stopped || WIFSIGNALED(r->end.status))
		finish(r);
	else
		idle_again(r, loop_now(r->keeper->loop));
}

int
keeper_out_open(struct keeper_run *r, const struct idem_owner *owner,
    int *write_end)
{
	r->spool.pipe.ready = pipe_ready;
	if (keeper_spool_open(&r->spool, r->keeper->loop, r->note.file,
	    owner, write_end) != 0)
		return -1;
	r->keeper->collecting++;
	r->spooled = true;
	return 0;
}

void
keeper_out_drop(struct keeper_run *r)
{
	if (r->spool.pipe.fd >= 0)
		r->keeper->collecting--;
	keeper_spool_free(&r->spool, r->keeper->loop);
}
