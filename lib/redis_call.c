/* SPDX-License-Identifier: ISC */
#include "redis_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SENDS_MAX 12u

/* --- the queue ------------------------------------------------------------ */

void
idem_redis_call_queue(struct idem_redis_call *c)
{
	struct idem_redis_calls *q = &c->redis->waiting;

	c->next = NULL;
	if (q->first == NULL)
		q->first = c;
	else
		q->last->next = c;
	q->last = c;
}

/* --- the answer ----------------------------------------------------------- */

static void
answer(struct idem_redis_call *c, const struct idem_redis_answer *a)
{
	c->done(c->arg, a);
	free(c);
}

/* Without having been sent, or after what was surely not applied. */
static void
refuse(struct idem_redis_call *c, const char *why, bool away)
{
	answer(c, &(struct idem_redis_answer){
		.class = IDEM_CLASS_REFUSED,
		.away = away,
		.error = why,
		.sent_ms = idem_redis_now_ms(c->redis) });
}

static void
pass_on(struct idem_redis_call *c, const struct idem_redis_wire_answer *a)
{
	bool ok = a->meaning.class == IDEM_OK;
	bool nobody_else = a->meaning.remedy == IDEM_REDIS_ANOTHER &&
	    !c->redis->way->others;
	struct idem_redis *r = c->redis;

	r->telling = c->at;
	answer(c, &(struct idem_redis_answer){
		.class = a->meaning.class,
		.away = !ok && (a->meaning.away || nobody_else ||
		    !idem_redis_node_is_up(c->at)),
		.value = a->value,
		.error = ok ? NULL : a->error,
		.sent_ms = a->sent_ms });
	r->telling = NULL;
}

/* --- sending -------------------------------------------------------------- */

static void
answered(void *arg, const struct idem_redis_wire_answer *a)
{
	struct idem_redis_call *c = arg;

	idem_redis_node_told(c->at, a);
	if (a->meaning.class == IDEM_CLASS_REFUSED && c->sends < SENDS_MAX &&
	    !c->redis->closing && idem_redis_remedy(c, a))
		idem_redis_sentence(c->why, sizeof c->why, c->at->name,
		    a->error != NULL ? a->error : "refused");
	else
		pass_on(c, a);
}

static struct idem_redis_node *
named(struct idem_redis *r, const char *name, const char **why)
{
	size_t i;

	for (i = 0; i < IDEM_REDIS_NODES_MAX; i++)
		if (r->nodes[i] != NULL && r->nodes[i]->listed &&
		    strcmp(r->nodes[i]->name, name) == 0)
			return r->nodes[i];
	*why = "there is no such node";
	return NULL;
}

static struct idem_redis_node *
node_for(struct idem_redis_call *c, const char **why)
{
	if (c->to != NULL)
		return c->to;
	if (c->node != NULL)
		return named(c->redis, c->node, why);
	return c->redis->way->node(c->redis, c->slot, why);
}

static void
send_to(struct idem_redis_call *c, struct idem_redis_node *n)
{
	struct idem_redis_link *l =
	    &n->link[c->bulk ? IDEM_REDIS_BODIES : IDEM_REDIS_CLAIMS];

	c->at = n;
	c->sends++;
	if (!idem_redis_link_send(l, c->args, c->args_len,
	    c->asking ? "ASKING" : NULL, c->deadline_ms, answered, c))
		refuse(c, "out of memory", false);
}

static void
start(struct idem_redis_call *c, int64_t now_ms)
{
	const char *why = NULL;
	struct idem_redis_node *n;

	c->held = false;
	if (now_ms >= c->deadline_ms) {
		refuse(c, c->why[0] != '\0' ? c->why :
		    "nobody was found in time", true);
		return;
	}
	if (c->again_ms > now_ms) {
		idem_redis_call_queue(c);
		return;
	}
	n = node_for(c, &why);
	if (n != NULL && idem_redis_node_is_up(n)) {
		send_to(c, n);
	} else if (n != NULL || why != NULL) {
		refuse(c, n != NULL ? n->why : why, true);
	} else {
		c->held = true;
		idem_redis_call_queue(c);
	}
}

static void
answer_lost(struct idem_redis *r)
{
	struct idem_redis_answer a = { .class = IDEM_CLASS_REFUSED,
		.error = "out of memory", .sent_ms = idem_redis_now_ms(r) };
	struct idem_redis_lost lost;

	while (r->lost_len > 0) {
		lost = r->lost[--r->lost_len];
		lost.done(lost.arg, &a);
	}
}

void
idem_redis_calls_start(struct idem_redis *r)
{
	int64_t now_ms = idem_redis_now_ms(r);
	struct idem_redis_call *c = r->waiting.first, *next;

	r->waiting = (struct idem_redis_calls){0};
	for (; c != NULL; c = next) {
		next = c->next;
		start(c, now_ms);
	}
	answer_lost(r);
}

int64_t
idem_redis_calls_due_ms(const struct idem_redis *r)
{
	int64_t due_ms = r->lost_len > 0 ? INT64_MIN : INT64_MAX, one_ms;
	const struct idem_redis_call *c;

	for (c = r->waiting.first; c != NULL; c = c->next) {
		one_ms = c->held || c->deadline_ms < c->again_ms ?
		    c->deadline_ms : c->again_ms;
		if (one_ms < due_ms)
			due_ms = one_ms;
	}
	return due_ms;
}

void
idem_redis_calls_forget(struct idem_redis *r, const struct idem_redis_node *n)
{
	struct idem_redis_call *c;

	for (c = r->waiting.first; c != NULL; c = c->next)
		if (c->to == n) {
			c->to = NULL;
			c->asking = false;
		}
}

/* What is answered may be sent again by who is told; it ends by his own
   deadline. */
void
idem_redis_calls_end(struct idem_redis *r)
{
	struct idem_redis_call *c;

	while ((c = r->waiting.first) != NULL) {
		r->waiting.first = c->next;
		refuse(c, "the client is being closed", true);
	}
	answer_lost(r);
}

/* --- a new one ------------------------------------------------------------ */

static size_t
room_for(const struct idem_redis_command *command, size_t args_len)
{
	size_t room = sizeof(struct idem_redis_call) +
	    args_len * sizeof(struct idem_bytes), i;

	for (i = 0; i < command->args_len; i++)
		room += command->args[i].len;
	if (command->node != NULL)
		room += strlen(command->node) + 1;
	return room;
}

static void
copy_args(struct idem_redis_call *c, const struct idem_redis_command *command)
{
	char *at = (char *)&c->args[c->args_len];
	struct idem_bytes *to = c->args;
	size_t i;

	if (c->script != NULL) {
		*to++ = idem_bytes_text("EVALSHA");
		*to++ = idem_bytes_text(c->script->sha1);
	}
	for (i = 0; i < command->args_len; i++) {
		to->at = at;
		to->len = command->args[i].len;
		if (to->len > 0)
			memcpy(at, command->args[i].at, to->len);
		at += to->len;
		to++;
	}
	if (command->node != NULL) {
		c->node = at;
		memcpy(at, command->node, strlen(command->node) + 1);
	}
}

static struct idem_redis_call *
make(struct idem_redis *r, const struct idem_redis_command *command)
{
	size_t args_len = command->args_len +
	    (command->script != NULL ? 2 : 0);
	struct idem_redis_call *c = malloc(room_for(command, args_len));

	if (c == NULL)
		return NULL;
	*c = (struct idem_redis_call){
		.redis = r,
		.done = command->done,
		.arg = command->arg,
		.script = command->script,
		.slot = idem_redis_slot_of(r, command->key),
		.bulk = command->bulk,
		.deadline_ms = command->deadline_ms,
		.args_len = args_len
	};
	copy_args(c, command);
	return c;
}

void
idem_redis_send(struct idem_redis *r, const struct idem_redis_command *command)
{
	struct idem_redis_call *c = make(r, command);

	if (c != NULL) {
		idem_redis_call_queue(c);
	} else if (r->lost_len < IDEM_REDIS_LOST_MAX) {
		r->lost[r->lost_len++] = (struct idem_redis_lost){
			command->done, command->arg };
	} else {
		/* Nothing is left to remember it by. */
		command->done(command->arg, &(struct idem_redis_answer){
			.class = IDEM_CLASS_REFUSED,
			.error = "out of memory",
			.sent_ms = idem_redis_now_ms(r) });
	}
}
