/* SPDX-License-Identifier: ISC */
#include "load_private.h"

#include <stdlib.h>

void
load_due_push(struct load *l, int64_t at_ns, enum load_what what, size_t which)
{
	const struct load_due due = {
		.at_ns = at_ns, .what = what, .which = which
	};

	load_due_add(&l->due, &l->arena, &due);
}

void
load_ask(struct load *l)
{
	if (l->turning || l->due.n == 0 || l->due.at[0].at_ns == l->asked_ns)
		return;
	l->asked_ns = l->due.at[0].at_ns;
	l->world.wake(l->world.arg, l->asked_ns);
}

static int64_t
now(struct load *l)
{
	return l->world.now_ns(l->world.arg);
}

/* --- a try begins --------------------------------------------------------- */

static int64_t
timeout_ms(struct load *l, const struct load_request *r)
{
	struct load_client *c = &l->clients[r->client];
	const struct plan_dist *d;
	int64_t ms;

	if (r->audit) {
		ms = (l->until_ns - now(l)) / LOAD_NS;
		return ms < 1000 ? 1000 :
		    ms > LOAD_TIMEOUT_MS ? LOAD_TIMEOUT_MS : ms;
	}
	if (r->send != NULL)
		return r->send->timeout_ms > 0 ? r->send->timeout_ms :
		    LOAD_TIMEOUT_MS;
	d = &c->load->retry.timeout_ms;
	ms = (int64_t)(draw_dist(&c->draw, d) + 0.5);
	if (d->kind == PLAN_CONST && !(d->a > 0))
		return LOAD_TIMEOUT_MS;
	return ms > 0 ? ms : 1;	/* 0 would be for ever */
}

/* What the program is to name: no other try's, nor another run's. */
static const char *
nonce(struct load *l, int a)
{
	return history_text(l->history, arena_format(&l->arena, "n%d-%08llx", a,
	    (unsigned long long)(draw_bits(&l->nonces) >> 32)));
}

static void
remember_key(struct load *l, size_t request)
{
	const char *key = l->requests[request].k;
	size_t *first;

	if (key == NULL ||
	    names_add(&l->keys, &l->arena, key) < l->first_n)
		return;
	first = arena_more(&l->arena, &l->first, &l->first_n, sizeof *first);
	*first = request;
}

static void
put_under_way(struct load *l, int a)
{
	l->tries[a - 1].under_way = true;
	l->under_way++;
}

static void
take_away(struct load *l, int a)
{
	l->tries[a - 1].under_way = false;
	l->under_way--;
}

/* Of both its ends. */
static struct history_event *
add_event(struct load *l, enum history_kind kind, int a)
{
	const struct load_going *try = &l->tries[a - 1];
	const struct load_request *r = &l->requests[try->request];
	const char *client = l->clients[r->client].name;
	struct history_event *ev = history_add(l->history, kind, now(l),
	    client);
	char gate[16];

	snprintf(gate, sizeof gate, "g%d", try->gate + 1);
	ev->a = a;
	ev->client = history_text(l->history, client);
	ev->to = history_text(l->history, gate);
	if (try->asks) {
		ev->get = plan_source_text(r->source);
		ev->what = history_text(l->history, r->key);
		return ev;
	}
	ev->k = r->k != NULL ? history_text(l->history, r->k) : NULL;
	ev->f = r->f;
	return ev;
}

void
load_try_begin(struct load *l, size_t request, bool asks)
{
	const struct load_request *r = &l->requests[request];
	struct load_client *c = &l->clients[r->client];
	struct load_going *try = arena_more(&l->arena, &l->tries, &l->tries_n,
	    sizeof *l->tries);
	struct load_try asked = { .a = (int)l->tries_n };
	struct history_event *ev;

	try->request = request;
	try->asks = asks;
	try->gate = r->gate != PLAN_NONE ? r->gate : c->gate;
	put_under_way(l, asked.a);
	if (!asks)
		remember_key(l, request);
	asked.client = (unsigned)r->client;
	asked.client_name = c->name;
	asked.key = r->key;
	asked.k = r->k;
	asked.source = r->source;
	asked.spoilt = r->send != NULL ? r->send->spoilt : PLAN_GOOD;
	asked.asks = asks;
	asked.body = r->body;
	asked.gate = try->gate;
	asked.send = r->send;
	asked.method = r->send != NULL && r->send->method != NULL ?
	    r->send->method : "POST";
	asked.timeout_ms = timeout_ms(l, r);
	asked.give_up_ms = r->send != NULL && !r->audit && !asks ?
	    r->send->give_up_ms : 0;
	asked.slow_bytes = r->send != NULL && !r->audit && !asks ?
	    r->send->slow_bytes : 0;
	asked.nonce = nonce(l, asked.a);
	ev = add_event(l, HISTORY_INV, asked.a);
	ev->nonce = asked.nonce;
	ev->audit = r->audit;
	ev->fresh = r->fresh;
	ev->innocent = l->storm && !asks && c->load != NULL &&
	    c->load->kind == PLAN_OPEN;
	/* It may end before this returns. */
	l->world.start(l->world.arg, &asked);
}

static void
begin_due(struct load *l, const struct load_due *due)
{
	if (due->what == LOAD_TOKEN)
		load_token_ask(l, due->which);
	else if (due->what == LOAD_REQUEST)
		load_token_begin(l, due->which);
	else if (l->clients[due->which].left > 0)
		load_token_begin(l, l->clients[due->which].load != NULL ?
		    load_request_next(l, due->which) :
		    load_audit_next(l, due->which));
}

/* What becomes due meanwhile waits for the next turn: others want theirs. */
void
load_turn(struct load *l)
{
	int64_t now_ns = now(l);
	uint64_t last = l->due.turns;
	struct load_due due;

	l->turning = true;
	l->asked_ns = -1;
	while (l->due.n > 0 && l->due.at[0].at_ns <= now_ns &&
	    l->due.at[0].turn <= last) {
		due = load_due_take(&l->due);
		begin_due(l, &due);
	}
	l->turning = false;
	load_ask(l);
}

/* --- and ends ------------------------------------------------------------- */

static const char *
said(struct load *l, const char *text)
{
	return text != NULL && *text != '\0' ?
	    history_text(l->history, text) : NULL;
}

/* No program ran for who asked for a token. */
static enum outcome
class_of(const struct history_event *ev, const struct load_answer *answer)
{
	if (ev->get == NULL || answer->end != OUTCOME_WHOLE)
		return outcome_of(ev->k != NULL, answer->end, answer->status,
		    answer->mark);
	return answer->got ? OUTCOME_OK : OUTCOME_FAIL;
}

static enum outcome
add_ret(struct load *l, int a, const struct load_answer *answer)
{
	struct history_event *ev = add_event(l, HISTORY_RET, a);

	ev->class = class_of(ev, answer);
	ev->how = answer->end;
	ev->status = answer->status;
	ev->mark = said(l, answer->mark);
	ev->why = said(l, answer->why);
	ev->d = said(l, answer->digest);
	ev->says_key = said(l, answer->says_key);
	ev->says_nonce = said(l, answer->says_nonce);
	ev->says_effect = said(l, answer->says_effect);
	ev->length_met = answer->length_met;
	ev->retry_after_s = answer->retry_after_s;
	return ev->class;
}

/* Two tries that were lost at one gate move it once. */
static void
move_on(struct load *l, struct load_client *c, const struct load_going *try,
    enum outcome_end end)
{
	bool lost = end == OUTCOME_REFUSED || end == OUTCOME_CUT;

	if (lost && l->requests[try->request].gate == PLAN_NONE &&
	    c->gate == try->gate)
		c->gate = (int)((size_t)(c->gate + 1) % l->plan->gates.n);
}

static void
rotate(struct load *l, size_t request)
{
	struct load_request new = l->requests[request];

	if (new.key != NULL) {
		if (new.origin == NULL)
			new.origin = new.key;
		new.key = arena_format(&l->arena, "%s.r%zu", new.origin,
		    ++l->rotated);
	}
	load_request_add(l, &new);
}

/* The request is over; what comes next of its client? */
static void
go_on(struct load *l, size_t client)
{
	struct load_client *c = &l->clients[client];
	double think = c->load == NULL ? 0 :
	    draw_dist(&c->draw, &c->load->think_ms);

	if (c->left > 0 && (c->load == NULL || !l->stopped))
		load_due_push(l, now(l) + (think > 0 ?
		    (int64_t)(think * (double)LOAD_NS) : 0), LOAD_CLIENT,
		    client);
}

static bool
may_try_again(struct load *l, const struct load_request *r)
{
	return r->audit ? now(l) < l->until_ns : !l->stopped;
}

static void
decide(struct load *l, size_t request, enum outcome class,
    const struct load_answer *answer)
{
	struct load_request *r = &l->requests[request];
	struct load_client *c = &l->clients[r->client];
	const struct plan_retry *policy = c->load != NULL ? &c->load->retry :
	    &load_audit_retry;
	enum retry_next next;
	int64_t pause_ms;

	next = retry_next(&r->retry, policy, &c->draw, class, answer->end,
	    answer->status, answer->retry_after_s, &pause_ms);
	if (!may_try_again(l, r))
		next = RETRY_STOP;
	switch (next) {
	case RETRY_STOP:
		go_on(l, r->client);
		return;
	case RETRY_ROTATED:
		rotate(l, request);
		request = l->requests_n - 1;
		break;
	case RETRY_AGAIN:
		break;
	}
	load_due_push(l, now(l) + pause_ms * LOAD_NS, LOAD_REQUEST, request);
}

void
load_ended(struct load *l, int a, const struct load_answer *answer)
{
	struct load_going *try;
	struct load_client *c;
	enum outcome class;
	size_t request;

	if (a < 1 || (size_t)a > l->tries_n || !l->tries[a - 1].under_way)
		return;
	try = &l->tries[a - 1];
	request = try->request;
	c = &l->clients[l->requests[request].client];
	take_away(l, a);
	class = add_ret(l, a, answer);
	move_on(l, c, try, answer->end);
	if (try->asks)
		load_token_ended(l, request, class == OUTCOME_OK);
	else {
		l->world.ended(l->world.arg, a);
		decide(l, request, class, answer);
	}
	load_ask(l);
}
