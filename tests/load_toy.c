/* SPDX-License-Identifier: ISC */
#include "load_toy.h"

#include "tap.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct load_answer
toy_stored(void)
{
	return (struct load_answer){
		.end = OUTCOME_WHOLE, .status = 200, .mark = "stored",
		.why = "", .digest = "d1", .says_key = "", .says_nonce = "",
		.says_effect = "", .length_met = true, .retry_after_s = -1
	};
}

/* --- what is due ---------------------------------------------------------- */

static bool
is_before(const struct toy_due *a, const struct toy_due *b)
{
	return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->a < b->a;
}

static void
swap(struct toy_due *a, struct toy_due *b)
{
	struct toy_due c = *a;

	*a = *b;
	*b = c;
}

static void
add_due(struct toy *t, struct toy_due due)
{
	size_t i = t->due_n++;

	if (i == t->room) {
		t->room = t->room > 0 ? 2 * t->room : 64;
		t->due = realloc(t->due, t->room * sizeof *t->due);
		if (t->due == NULL)
			bail_out("no memory");
	}
	t->due[i] = due;
	for (; i > 0 && is_before(&t->due[i], &t->due[(i - 1) / 2]);
	    i = (i - 1) / 2)
		swap(&t->due[i], &t->due[(i - 1) / 2]);
}

static struct toy_due
take_due(struct toy *t)
{
	struct toy_due first = t->due[0];
	size_t i, down;

	t->due[0] = t->due[--t->due_n];
	for (i = 0; (down = 2 * i + 1) < t->due_n; i = down) {
		if (down + 1 < t->due_n &&
		    is_before(&t->due[down + 1], &t->due[down]))
			down++;
		if (!is_before(&t->due[down], &t->due[i]))
			break;
		swap(&t->due[i], &t->due[down]);
	}
	return first;
}

/* --- the world ------------------------------------------------------------ */

void
toy_answer(struct toy *t, int a, struct load_answer answer)
{
	t->tries[a - 1].ended_at = (int)t->ended_n++;
	load_ended(t->load, a, &answer);
}

static void
start(void *arg, const struct load_try *try)
{
	struct toy *t = arg;
	struct toy_due due = { .a = try->a, .answer = toy_stored() };
	int64_t after_ns;

	if ((t->n & (t->n - 1)) == 0) {
		t->tries = realloc(t->tries,
		    (t->n + 1) * 2 * sizeof *t->tries);
		if (t->tries == NULL)
			bail_out("no memory");
	}
	t->tries[t->n++] = (struct toy_try){
		.a = try->a, .gate = try->gate, .at_ns = t->now_ns,
		.client = try->client, .name = try->client_name,
		.key = try->key, .body = try->body, .nonce = try->nonce,
		.method = try->method, .send = try->send,
		.timeout_ms = try->timeout_ms, .give_up_ms = try->give_up_ms,
		.asks = try->asks,
		.ended_at = -1
	};
	after_ns = t->answer(t, &t->tries[t->n - 1], &due.answer);
	due.at_ns = t->now_ns + after_ns;
	if (after_ns == 0)	/* refused at once, say */
		toy_answer(t, try->a, due.answer);
	else if (after_ns > 0)
		add_due(t, due);
}

static int64_t
now(void *arg)
{
	return ((struct toy *)arg)->now_ns;
}

static void
wake(void *arg, int64_t at_ns)
{
	((struct toy *)arg)->wake_ns = at_ns;
	((struct toy *)arg)->wakes++;
}

static void
ended(void *arg, int a)
{
	struct toy *t = arg;

	if (t->ended != NULL)
		t->ended(t, a);
}

void
toy_open(struct toy *t)
{
	const struct load_world world = {
		.start = start, .now_ns = now, .wake = wake, .ended = ended,
		.arg = t
	};

	draw_seed(&t->draw, t->seed);
	t->wake_ns = INT64_MAX;
	t->load = load_open(t->plan, &t->draw, &t->h, &world);
	load_begin(t->load);
}

void
toy_run(struct toy *t, int64_t until_ms)
{
	int64_t due_ns;
	struct toy_due due;

	for (;;) {
		due_ns = t->due_n > 0 ? t->due[0].at_ns : INT64_MAX;
		if ((t->wake_ns < due_ns ? t->wake_ns : due_ns) >
		    until_ms * TOY_MS)
			break;
		if (t->wake_ns <= due_ns) {
			if (t->wake_ns > t->now_ns)
				t->now_ns = t->wake_ns;
			t->wake_ns = INT64_MAX;
			t->turns++;
			load_turn(t->load);
			continue;
		}
		due = take_due(t);
		t->now_ns = due.at_ns;
		toy_answer(t, due.a, due.answer);
	}
	t->now_ns = until_ms * TOY_MS;
}

const char *
toy_said(struct toy *t, int from)
{
	char *said = arena_text(&t->h.arena, "");
	size_t i;

	for (i = (size_t)from - 1; i < t->n; i++)
		said = arena_format(&t->h.arena, "%s%s%d:%s>g%d %s%s@%" PRId64,
		    said, *said != '\0' ? " " : "", t->tries[i].a,
		    t->tries[i].name, t->tries[i].gate + 1,
		    t->tries[i].asks ? "?" : "",
		    t->tries[i].key != NULL ? t->tries[i].key : "-",
		    t->tries[i].at_ns / TOY_MS);
	return said;
}

void
toy_close(struct toy *t)
{
	load_close(t->load);
	history_free(&t->h);
	free(t->tries);
	free(t->due);
}
