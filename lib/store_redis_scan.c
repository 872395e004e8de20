/* SPDX-License-Identifier: ISC */
#include "store_redis_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * SCAN page by page over every master, and the script's word on each key of a
 * page.  A page's keys are asked about at once.
 */
#define PAGE 100
#define PAGE_WHOLE 500		/* of a LIST in order, which wants all */
#define SWEEP_PAGES 2		/* of one SWEEP: each worker has one a second */
#define LIST_PAGES 20		/* of one LIST in any order, which finds few */
#define NODES_MAX 4096u		/* what an opaque cursor has room for */

static void next_page(struct idem_redis_scan *);

static void
free_nodes(struct idem_redis_scan *s)
{
	while (s->nodes_len > 0)
		free(s->nodes[--s->nodes_len]);
	free(s->nodes);
	s->nodes = NULL;
}

void
idem_redis_scan_free(struct idem_redis_scan *s)
{
	if (s == NULL)
		return;
	free_nodes(s);
	free(s->page);
	idem_redis_rows_free(&s->rows);
	free(s);
}

/* --- the end -------------------------------------------------------------- */

void
idem_redis_scan_fail(struct idem_redis_scan *s, enum idem_class class,
    const char *why)
{
	if (s->bad)
		return;
	s->bad = true;
	s->class = class;
	snprintf(s->error, sizeof s->error, "%s", why != NULL ? why : "");
}

/* Where a LIST in any order or a SWEEP goes on; 0: at the beginning. */
static uint64_t
position(const struct idem_redis_scan *s)
{
	if (s->node >= s->nodes_len)
		return 0;
	return (uint64_t)s->node << IDEM_REDIS_CURSOR_BITS | s->cursor;
}

static void
answer(struct idem_redis_scan *s)
{
	struct idem_redis_work *w = s->w;
	const struct idem_store_call *call = &w->call;
	struct idem_store_result result = {
		.op = call->op,
		.now_ms = s->now_ms,
		.listed = s->rows.at,
		.count = call->op == IDEM_STORE_LIST ? s->rows.count : s->swept,
	};

	if (s->bad) {
		idem_store_fail(&result, call->op,
		    s->class == IDEM_CLASS_MAYBE ? IDEM_CLASS_REFUSED :
		    s->class, s->error);
		result.away = s->away;
	} else if (call->op == IDEM_STORE_SWEEP) {
		w->store->sweep_at = position(s);
		result.more = s->swept == idem_store_rows(call);
	} else if (call->any_order) {
		result.cursor = position(s);
		result.more = result.cursor != 0;
	} else {
		result.more = s->rows.count == s->rows.max;
	}
	idem_redis_work_answer(w, &result);
}

/* --- pages ---------------------------------------------------------------- */

static void
page_done(void *arg, const struct idem_redis_answer *a)
{
	struct idem_redis_scan *s = arg;

	if (!idem_redis_work_back(s->w))
		return;
	s->pages++;
	s->away = a->away;
	if (a->class != IDEM_OK)
		idem_redis_scan_fail(s, a->class, a->error);
	else if (!idem_redis_page_read(s, a->value))
		idem_redis_scan_fail(s, IDEM_CLASS_REFUSED,
		    "SCAN gave a reply of the wrong shape");
	idem_redis_page_ask(s);
	if (s->pending == 0)
		idem_redis_page_over(s);
}

/*
 * Of a LIST in any order so many that a second page finds room, and what a
 * server gives beyond what it is asked for does as well.
 */
static uint32_t
page_size(const struct idem_redis_scan *s)
{
	uint32_t rows = idem_store_rows(&s->w->call);

	if (s->rows.sorted)
		return PAGE_WHOLE;
	if (s->w->call.op == IDEM_STORE_SWEEP || rows >= 3 * PAGE)
		return PAGE;
	return rows > 2 ? rows * 2 / 5 : 1;
}

/* Whether the call is answered with what there is so far. */
static bool
enough(const struct idem_redis_scan *s)
{
	const struct idem_store_call *call = &s->w->call;

	if (s->bad || s->node == s->nodes_len)
		return true;
	if (call->op == IDEM_STORE_SWEEP)
		return s->pages >= SWEEP_PAGES ||
		    s->swept == idem_store_rows(call);
	return call->any_order && (s->pages >= LIST_PAGES ||
	    s->rows.count + page_size(s) > s->rows.max);
}

/* A sweep that is full amid a page begins with this page the next time. */
void
idem_redis_page_over(struct idem_redis_scan *s)
{
	if (!s->bad && s->asked == s->page_len) {
		s->cursor = s->next;
		if (s->cursor == 0)
			s->node++;
	}
	if (enough(s))
		answer(s);
	else
		next_page(s);
}

/* Only what is as long as a record's key, and begins as ours do. */
static bool
pattern(const struct idem_redis_scan *s, struct idem_buf *to)
{
	const char *at;
	size_t i;

	for (at = s->w->store->o.prefix; *at != '\0'; at++) {
		if (strchr("*?[]\\^", *at) != NULL)
			idem_buf_u8(to, '\\');
		idem_buf_u8(to, (uint8_t)*at);
	}
	for (i = 0; i < 2 * IDEM_DIGEST_LEN; i++)
		idem_buf_u8(to, '?');
	return idem_buf_ok(to);
}

static void
next_page(struct idem_redis_scan *s)
{
	char cursor[24], count[16];
	struct idem_buf match = { 0 };
	struct idem_bytes args[6];
	struct idem_redis_command c = {
		.args = args,
		.args_len = sizeof args / sizeof *args,
		.node = s->nodes[s->node],
		.done = page_done,
		.arg = s,
	};

	if (!pattern(s, &match)) {
		idem_buf_free(&match);
		idem_redis_scan_fail(s, IDEM_CLASS_REFUSED, "out of memory");
		answer(s);
		return;
	}
	snprintf(cursor, sizeof cursor, "%" PRIu64, s->cursor);
	snprintf(count, sizeof count, "%" PRIu32, page_size(s));
	args[0] = idem_bytes_text("SCAN");
	args[1] = idem_bytes_text(cursor);
	args[2] = idem_bytes_text("MATCH");
	args[3] = idem_buf_bytes(&match);
	args[4] = idem_bytes_text("COUNT");
	args[5] = idem_bytes_text(count);
	idem_redis_work_send(s->w, &c);
	idem_buf_free(&match);
}

/* --- the beginning -------------------------------------------------------- */

/* The masters by name, since others may come and go meanwhile. */
static bool
take_nodes(struct idem_redis_scan *s)
{
	struct idem_redis *client = s->w->store->o.client;
	const char *name;
	char **more;

	while (s->nodes_len < NODES_MAX &&
	    (name = idem_redis_node(client, s->nodes_len)) != NULL) {
		more = reallocarray(s->nodes, s->nodes_len + 1, sizeof *more);
		if (more == NULL)
			return false;
		s->nodes = more;
		more[s->nodes_len] = strdup(name);
		if (more[s->nodes_len] == NULL)
			return false;
		s->nodes_len++;
	}
	return true;
}

static void
set_out(struct idem_redis_scan *s)
{
	const struct idem_store_call *call = &s->w->call;
	uint64_t from = call->op == IDEM_STORE_SWEEP ? s->w->store->sweep_at :
	    call->any_order ? call->cursor : 0;

	s->node = (size_t)(from >> IDEM_REDIS_CURSOR_BITS);
	s->cursor = from & ((UINT64_C(1) << IDEM_REDIS_CURSOR_BITS) - 1);
	if (s->node >= s->nodes_len && call->op == IDEM_STORE_SWEEP) {
		s->node = 0;
		s->cursor = 0;
	}
	if (s->node >= s->nodes_len)
		answer(s);
	else
		next_page(s);
}

/* The server's clock also says who is there, if nobody had asked yet. */
static void
began(void *arg, const struct idem_redis_answer *a)
{
	struct idem_redis_scan *s = arg;
	const struct idem_store_redis_options *o = &s->w->store->o;

	if (!idem_redis_work_back(s->w))
		return;
	if (a->class != IDEM_OK) {
		idem_redis_work_failed(s->w, a);
		return;
	}
	if (o->fixed_time)
		s->now_ms = idem_boot_ms(o->clock);
	else
		idem_redis_script_time(a->value, &s->now_ms);
	if (!take_nodes(s))
		idem_redis_scan_fail(s, IDEM_CLASS_REFUSED, "out of memory");
	else if (s->nodes_len == 0)
		idem_redis_scan_fail(s, IDEM_CLASS_REFUSED,
		    "no master is known");
	if (s->bad)
		answer(s);
	else
		set_out(s);
}

void
idem_redis_scan_begin(struct idem_redis_work *w)
{
	const struct idem_bytes args[] = { idem_bytes_text("TIME") };
	struct idem_redis_command c = {
		.args = args,
		.args_len = 1,
		.done = began,
	};

	w->scan = calloc(1, sizeof *w->scan);
	if (w->scan == NULL) {
		idem_redis_work_refuse(w, "out of memory");
		return;
	}
	w->scan->w = w;
	w->scan->rows = (struct idem_redis_rows){
		.max = idem_store_rows(&w->call),
		.sorted = w->call.op == IDEM_STORE_LIST && !w->call.any_order,
		.after = w->call.key,
	};
	c.arg = w->scan;
	idem_redis_work_send(w, &c);
}
