/* SPDX-License-Identifier: ISC */
#include "plan_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void
plan_say(struct plan_text *o, const char *format, ...)
{
	va_list args;
	int n;

	if (o->len >= o->size)
		return;
	va_start(args, format);
	n = vsnprintf(o->at + o->len, o->size - o->len, format, args);
	va_end(args);
	if (n > 0)
		o->len += (size_t)n;
}

/* --- who ------------------------------------------------------------------ */

void
plan_say_gate(struct plan_text *o, int gate)
{
	if (gate == PLAN_ANY)
		plan_say(o, "*");
	else
		plan_say(o, "g%d", gate + 1);
}

void
plan_say_store(struct plan_text *o, int store)
{
	if (store >= 0 && (size_t)store < o->plan->stores_n)
		plan_say(o, "%s", o->plan->stores[store].name);
	else
		plan_say(o, "*");
}

void
plan_say_link(struct plan_text *o, int gate, int store)
{
	if (gate != PLAN_NONE) {
		plan_say_gate(o, gate);
		plan_say(o, "->");
		plan_say_store(o, store);
		return;
	}
	plan_say_store(o, store);
	plan_say(o, "->");
	plan_say_store(o, store >= 0 ? o->plan->stores[store].replica_of :
	    PLAN_ANY);
}

/* Whom a clock, a disk or a process belongs to. */
static void
say_whose(struct plan_text *o, const struct plan_action *a)
{
	static const char *const parts[] = { "", ".lobby", ".keeper",
	    ".program" };

	if (a->gate == PLAN_NONE)
		plan_say_store(o, a->store);
	else {
		plan_say_gate(o, a->gate);
		plan_say(o, "%s", parts[a->part]);
	}
}

/* --- which messages ------------------------------------------------------- */

void
plan_say_nth(struct plan_text *o, unsigned n)
{
	const char *end = "th";

	if (n / 10 % 10 != 1)
		end = n % 10 == 1 ? "st" : n % 10 == 2 ? "nd" : n % 10 == 3 ?
		    "rd" : "th";
	plan_say(o, "%u%s", n, end);
}

/* "the next reply to claim", "all requests", "3 GET requests" */
static void
say_which(struct plan_text *o, const struct plan_action *a)
{
	const char *noun = a->replies && !a->requests ? "repl" :
	    a->requests && !a->replies ? "request" : "message";
	const char *of = a->script != NULL ? a->script : a->cmd;
	bool one = a->times == 1;

	if (a->times == 0)
		plan_say(o, "all ");
	else if (a->times > 1)
		plan_say(o, "%u ", a->times);
	else if (a->nth <= 1)
		plan_say(o, "the next ");
	else {
		plan_say(o, "the ");
		plan_say_nth(o, a->nth);
		plan_say(o, " ");
	}
	plan_say(o, "%s", noun);
	plan_say(o, "%s", noun[3] == 'l' ? one ? "y" : "ies" : one ? "" : "s");
	if (of != NULL)
		plan_say(o, " %s %s", noun[3] == 'l' ? "to" : "of", of);
	if (a->times != 1 && a->nth > 1) {
		plan_say(o, " from the ");
		plan_say_nth(o, a->nth);
		plan_say(o, " on");
	}
}

/* --- what is done --------------------------------------------------------- */

static void
say_proc(struct plan_text *o, const struct plan_action *a)
{
	static const char *const verbs[] = {
		[PLAN_PROC_KILL] = "kill ", [PLAN_PROC_PAUSE] = "pause ",
		[PLAN_PROC_RESUME] = "resume ",
		[PLAN_PROC_RESTART] = "restart ", [PLAN_PROC_FAIL] = "fail ",
	};

	plan_say(o, "%s", verbs[a->kind]);
	say_whose(o, a);
	if (a->kind == PLAN_PROC_FAIL)
		plan_say(o, " with %s", a->word);
}

static void
say_messages(struct plan_text *o, const struct plan_action *a, const char *verb)
{
	plan_say(o, "%s ", verb);
	if (a->kind == PLAN_NET_ONEWAY)
		plan_say(o, "all %s", a->replies ? "replies" : "requests");
	else
		say_which(o, a);
	plan_say(o, " on ");
	plan_say_link(o, a->gate, a->store);
}

static void
say_of_link(struct plan_text *o, const struct plan_action *a, const char *verb)
{
	plan_say(o, "%s ", verb);
	plan_say_link(o, a->gate, a->store);
}

static void
say_net(struct plan_text *o, const struct plan_action *a)
{
	switch ((int)a->kind) {
	case PLAN_NET_DROP:
	case PLAN_NET_ONEWAY:
		say_messages(o, a, "lose");
		break;
	case PLAN_NET_HOLD:
		say_messages(o, a, "hold");
		break;
	case PLAN_NET_RELEASE:
		say_of_link(o, a, "release what is held on");
		break;
	case PLAN_NET_DELAY:
		if (a->ms == 0)
			say_of_link(o, a, "delay nothing more on");
		else {
			say_messages(o, a, "delay");
			plan_say(o, " by %" PRId64 " ms", a->ms);
		}
		break;
	case PLAN_NET_RESET:
		say_of_link(o, a, "reset");
		if (a->bytes > 0) {
			plan_say(o, " after %zu bytes of ", a->bytes);
			say_which(o, a);
		}
		break;
	case PLAN_NET_SLICE:
		say_messages(o, a, "slice");
		plan_say(o, " into %zu bytes each", a->bytes);
		break;
	case PLAN_NET_REFUSE:
		say_of_link(o, a, "refuse connections on");
		break;
	case PLAN_NET_ERROR:
		say_messages(o, a, "answer");
		plan_say(o, " with %s", a->word);
		break;
	case PLAN_NET_HEAL:
		say_of_link(o, a, "heal");
		break;
	}
}

/* Verb, store, and what comes behind it. */
static void
say_it(struct plan_text *o, const char *verb, int store, const char *rest)
{
	plan_say(o, "%s ", verb);
	plan_say_store(o, store);
	plan_say(o, "%s", rest);
}

static void
say_keyed(struct plan_text *o, const struct plan_action *a, const char *verb,
    const char *where)
{
	plan_say(o, "%s %s %s ", verb, a->key != NULL ? a->key : "all keys",
	    where);
	plan_say_store(o, a->store);
}

static void
say_store_more(struct plan_text *o, const struct plan_action *a)
{
	switch ((int)a->kind) {
	case PLAN_STORE_LAG:
		if (!a->freeze && a->ms == 0) {
			say_it(o, "let", a->store, " follow at once again");
			break;
		}
		say_it(o, a->freeze ? "freeze" : "slow", a->store,
		    "'s replication");
		if (!a->freeze)
			plan_say(o, " by %" PRId64 " ms", a->ms);
		break;
	case PLAN_STORE_FAILOVER:
		say_it(o, "fail over from", a->store, " to ");
		plan_say_store(o, a->to);
		if (a->lose > 0)
			plan_say(o, ", losing the last %u acknowledged write%s",
			    a->lose, a->lose == 1 ? "" : "s");
		break;
	case PLAN_STORE_REJOIN:
		say_it(o, "rejoin", a->store, " as a replica of ");
		plan_say_store(o, a->to);
		break;
	}
}

static void
say_of_store(struct plan_text *o, const struct plan_action *a)
{
	switch ((int)a->kind) {
	case PLAN_STORE_KILL:
		say_it(o, "kill", a->store, "");
		break;
	case PLAN_STORE_RESTART:
		say_it(o, "restart", a->store, a->empty ? " empty" : a->older ?
		    " with its older data" : "");
		break;
	case PLAN_STORE_PAUSE:
		say_it(o, "pause", a->store, "");
		break;
	case PLAN_STORE_RESUME:
		say_it(o, "resume", a->store, "");
		break;
	case PLAN_STORE_SLOW:
		say_it(o, a->ms > 0 ? "slow" : "let", a->store, a->ms > 0 ?
		    "" : " be as fast as before");
		if (a->ms > 0)
			plan_say(o, " by %" PRId64 " ms", a->ms);
		break;
	case PLAN_STORE_ERROR:
		say_it(o, "let", a->store, " answer ");
		plan_say(o, "%s to ", a->word);
		say_which(o, a);
		break;
	case PLAN_STORE_OOM:
		say_it(o, a->ends ? "free" : "fill", a->store, "'s memory");
		break;
	case PLAN_STORE_FLUSH:
		say_it(o, "flush", a->store, "");
		break;
	case PLAN_STORE_EVICT:
		say_keyed(o, a, "evict", "from");
		break;
	case PLAN_STORE_EXPIRE:
		say_keyed(o, a, "expire", "in");
		break;
	case PLAN_STORE_SCRIPT_FLUSH:
		say_it(o, "flush", a->store, "'s scripts");
		break;
	case PLAN_STORE_SAVE:
		say_it(o, "put by", a->store, "'s data");
		break;
	default:
		say_store_more(o, a);
	}
}

static void
say_disk(struct plan_text *o, const struct plan_action *a)
{
	static const char *const what[] = {
		[PLAN_DISK_POWER_LOSS] = "cut the power of ",
		[PLAN_DISK_FULL] = "fill the disk of ",
		[PLAN_DISK_IOERR] = "break the disk of ",
		[PLAN_DISK_BUSY] = "keep locks of ",
	};

	plan_say(o, "%s", a->ends ? "heal the disk of " : what[a->kind]);
	say_whose(o, a);
}

static void
say_other(struct plan_text *o, const struct plan_action *a)
{
	switch ((int)a->kind) {
	case PLAN_CLOCK_JUMP:
		plan_say(o, "set the clock of ");
		say_whose(o, a);
		plan_say(o, " %s by %" PRId64 " ms", a->ms < 0 ? "back" :
		    "forward", a->ms < 0 ? -a->ms : a->ms);
		break;
	case PLAN_CLOCK_RATE:
		plan_say(o, "let the clock of ");
		say_whose(o, a);
		plan_say(o, " run %g times as fast", a->rate);
		break;
	case PLAN_CLIENT_GIVE_UP:
		plan_say(o, "%s gives up", a->client);
		break;
	case PLAN_CLIENT_ABORT:
		plan_say(o, "%s aborts", a->client);
		break;
	case PLAN_OPERATOR_RESOLVE:
		if (strcmp(a->word, "forget") == 0)
			plan_say(o, "forget %s", a->key);
		else
			plan_say(o, "resolve %s %s", a->key, a->word);
		if (a->gate >= 0) {
			plan_say(o, " by ");
			plan_say_gate(o, a->gate);
		}
		break;
	}
}

void
plan_say_action(struct plan_text *o, const struct plan_action *a)
{
	if (a->kind <= PLAN_PROC_FAIL)
		say_proc(o, a);
	else if (a->kind <= PLAN_NET_HEAL)
		say_net(o, a);
	else if (a->kind <= PLAN_STORE_REJOIN)
		say_of_store(o, a);
	else if (a->kind <= PLAN_DISK_BUSY)
		say_disk(o, a);
	else
		say_other(o, a);
}

/* --- when ----------------------------------------------------------------- */

static void
say_times(struct plan_text *o, unsigned nth)
{
	if (nth <= 1)
		return;
	plan_say(o, ", the ");
	plan_say_nth(o, nth);
	plan_say(o, " time");
}

/* gate: whose label need not be said. */
static void
say_trigger(struct plan_text *o, const struct plan_trigger *t, int gate)
{
	const char *what;
	size_t i;

	switch (t->kind) {
	case PLAN_AT:
		plan_say(o, "%" PRId64 " ms", t->at_ms);
		return;
	case PLAN_LABEL:
		plan_say(o, "%s", t->label);
		if (t->key != NULL)
			plan_say(o, " of %s", t->key);
		if (t->gate != gate && t->gate != PLAN_ANY) {
			plan_say(o, " on ");
			plan_say_gate(o, t->gate);
		}
		break;
	case PLAN_FRAME:
		what = t->script != NULL ? t->script : t->cmd != NULL ?
		    t->cmd : "a command";
		plan_say(o, "%s%s on ", t->reply ? "the reply to " : "", what);
		plan_say_link(o, t->gate, t->store);
		break;
	case PLAN_REPLY:
		plan_say(o, "an answer");
		if (t->class != NULL)
			plan_say(o, " of class %s", t->class);
		if (t->client != NULL)
			plan_say(o, " to %s", t->client);
		break;
	case PLAN_EFFECT:
		plan_say(o, "the effect");
		if (t->key != NULL)
			plan_say(o, " of %s", t->key);
		break;
	case PLAN_ALL:
	case PLAN_FIRST:
		plan_say(o, t->kind == PLAN_ALL ? "the last of (" :
		    "the first of (");
		for (i = 0; i < t->n; i++) {
			plan_say(o, "%s", i > 0 ? "; " : "");
			say_trigger(o, &t->of[i], gate);
		}
		plan_say(o, ")");
		return;
	}
	say_times(o, t->nth);
}

const char *
plan_trigger_text(const struct plan *p, const struct plan_trigger *t,
    char *out, size_t size)
{
	struct plan_text o = { p, out, size, 0 };

	say_trigger(&o, t, PLAN_NONE);
	return out;
}

const char *
plan_action_phrase(const struct plan *p, const struct plan_action *a,
    char *out, size_t size)
{
	struct plan_text o = { p, out, size, 0 };

	plan_say_action(&o, a);
	return out;
}

/* By its number: who carries it out may have made one of "*" out of it. */
static const struct plan_rule *
rule_of(const struct plan *p, const struct plan_action *a)
{
	size_t i, j;

	for (i = 0; i < p->rules_n; i++)
		for (j = 0; j < p->rules[i].n; j++)
			if (p->rules[i].actions[j].id == a->id)
				return &p->rules[i];
	return NULL;
}

const char *
plan_action_text(const struct plan *p, const struct plan_action *a, char *out,
    size_t size)
{
	const struct plan_rule *rule = rule_of(p, a);
	struct plan_text o = { p, out, size, 0 };

	plan_say_action(&o, a);
	if (rule == NULL) {
		plan_say(&o, " at some moment");
		return out;
	}
	if (a->after_ms > 0 && rule->when.kind == PLAN_AT)
		plan_say(&o, " at %" PRId64 " ms",
		    rule->when.at_ms + a->after_ms);
	else {
		if (a->after_ms > 0)
			plan_say(&o, " %" PRId64 " ms after ", a->after_ms);
		else
			plan_say(&o, " at ");
		say_trigger(&o, &rule->when, a->gate);
	}
	return out;
}
