/* SPDX-License-Identifier: ISC */
#include "conf_private.h"

/* What a run and its duplicates may come to, and how long it all takes. */

static void
say_duplicates(struct idem_buf *b, const struct conf_route *r)
{
	const struct idem_policy *p = &r->route.policy;

	conf_say_line(b, "in progress");
	switch (p->in_progress) {
	case IDEM_WAITING:
		idem_buf_text(b, "wait ");
		conf_say_time(b, p->wait_ms);
		break;
	case IDEM_CONFLICT:
		idem_buf_text(b, "409");
		break;
	case IDEM_ACCEPTED:
		idem_buf_text(b, "202");
		break;
	}
	idem_buf_text(b, "\n");
	conf_say_line(b, "on unknown");
	switch (p->on_unknown) {
	case IDEM_BLOCK:
		idem_buf_text(b, "block");
		break;
	case IDEM_RETRY:
		idem_buf_printf(b, "retry, %u starts in all", p->attempts_max);
		break;
	case IDEM_PROBING:
		idem_buf_printf(b, "probe: %s, limit ", r->probe);
		conf_say_time(b, r->probe_limit_ms);
		break;
	}
	idem_buf_text(b, "\n");
}

static void
say_lease(struct idem_buf *b, const struct conf_route *r)
{
	idem_buf_text(b, "lease ");
	if (!r->lease_auto) {
		conf_say_time(b, r->route.policy.lease_ms);
		return;
	}
	idem_buf_text(b, "auto from ");
	conf_say_time(b, r->lease_min_ms);
	idem_buf_text(b, " to ");
	conf_say_time(b, r->lease_max_ms);
	idem_buf_text(b, " (2 mean runs and a retry after ");
	conf_say_time(b, r->retry_ms);
	idem_buf_text(b, "; at first ");
	conf_say_time(b, r->route.policy.lease_ms);
	idem_buf_text(b, ")");
}

static void
say_times(struct idem_buf *b, const struct conf_route *c)
{
	const struct idem_route *r = &c->route;

	conf_say_line(b, "times");
	say_lease(b, c);
	idem_buf_text(b, ", limit ");
	conf_say_time(b, r->limit_ms);
	idem_buf_text(b, ", keep ");
	conf_say_time(b, r->times.keep_ms);
	if (r->times.keep_min_ms < r->times.keep_ms) {
		idem_buf_text(b, " (");
		conf_say_time(b, r->times.keep_min_ms);
		idem_buf_text(b, " when room is short)");
	}
	if (r->anew) {
		idem_buf_text(b, ", then new again");
	} else {
		idem_buf_text(b, ", tombstone ");
		conf_say_time(b, r->times.tombstone_ms);
	}
	idem_buf_text(b, ", queue ");
	conf_say_time(b, r->policy.queue_ms);
	idem_buf_text(b, "\n");
}

/* What a killed worker takes with it, and what one is told that lost its
   lease. */
static void
say_crash(struct idem_buf *b, const struct conf_route *r)
{
	size_t i = 0;

	conf_say_line(b, "spool");
	if (r->program.kind == PROGRAM_FASTCGI)
		idem_buf_text(b, "not with fastcgi: ");
	else
		idem_buf_text(b, r->spool ? "on: " : "off: ");
	idem_buf_text(b, r->spool ? "a killed worker loses no answer\n" :
	    "a killed worker makes its keys unknown\n");
	if (r->lost_signal == 0)
		return;
	while (conf_signals[i] != r->lost_signal)
		i++;
	conf_say_line(b, "lost signal");
	idem_buf_printf(b, "SIG%s\n", conf_signal_names[i]);
}

void
conf_say_runs(struct idem_buf *b, const struct conf_route *r)
{
	say_duplicates(b, r);
	say_times(b, r);
	say_crash(b, r);
}
