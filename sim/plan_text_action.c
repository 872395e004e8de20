/* SPDX-License-Identifier: ISC */
#include "plan_text.h"

#include <inttypes.h>
#include <string.h>

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
