/* SPDX-License-Identifier: ISC */
#include "check_private.h"

#include <string.h>

/* --- as servers saw it ---------------------------------------------------- */

/*
 * A server carries a command out somewhere between the moment at which it was
 * passed on to it and the one at which its reply was seen; which of two came
 * first is known only if the one's reply was there before the other was passed
 * on.
 */
struct message {
	const struct history_event *sent;	/* what it asks for; NULL */
	uint32_t passed;	/* i of its last sight on its way there */
	bool answered;
};

struct win {			/* a claim went through */
	const struct history_event *reply;
	const char *token;
	uint32_t passed;
};

struct late_key {
	struct win *wins;
	size_t n;
};

struct frames {
	const struct check_view *v;
	struct arena arena;
	struct message *messages;	/* from the lowest number on */
	size_t messages_n;
	int lowest;
	struct late_key *keys;
	uint32_t forgot;	/* i: a server may have another past since */
	bool exercised;
};

static bool
same_owner(const char *a, const char *b)
{
	size_t len = strcspn(a, ".");

	return len == strcspn(b, ".") && strncmp(a, b, len) == 0;
}

static struct message *
message(struct frames *fr, const struct history_event *e)
{
	return e->m > 0 && (size_t)(e->m - fr->lowest) < fr->messages_n ?
	    &fr->messages[e->m - fr->lowest] : NULL;
}

/* Until its reply is seen each sight of a command is one on its way there. */
static void
on_way(struct frames *fr, const struct history_event *e)
{
	struct message *m = message(fr, e);

	if (m == NULL || m->answered)
		return;
	m->passed = e->i;
	if (e->kind == HISTORY_SEND)
		m->sent = e;
}

/* Of the server that says e, in what it still knows. */
static bool
is_known_to(const struct frames *fr, const struct win *win,
    const struct history_event *e)
{
	return check_is(win->reply->p, e->p) && win->passed > fr->forgot;
}

/*
 * Somebody else has won the key since its sender did, surely: that claim was
 * passed on when the sender's had been answered, and answered when this was
 * passed on.  Mostly the sender's is the last.
 */
static const struct win *
taken_over(const struct frames *fr, const struct late_key *key,
    const struct history_event *e, const char *token, uint32_t passed)
{
	const struct win *win, *since = NULL;
	size_t i;

	for (i = key->n; i > 0 && since == NULL; i--)
		if (is_known_to(fr, &key->wins[i - 1], e) &&
		    same_owner(key->wins[i - 1].token, token))
			since = &key->wins[i - 1];
	if (since == NULL)
		return NULL;
	for (win = since + 1; win < key->wins + key->n; win++)
		if (is_known_to(fr, win, e) &&
		    win->passed > since->reply->i && win->reply->i < passed)
			return win;
	return NULL;
}

/* What only a key's owner may do with it; NULL: it is something else. */
static const char *
deed_of(const struct history_event *e)
{
	static const struct {
		const char *script, *deed;
	} deeds[] = {
		{ "complete", "completion" }, { "release", "release" },
		{ "renew", "renewal" }, { "unknown", "end as unknown" }
	};
	size_t i;

	for (i = 0; i < sizeof deeds / sizeof *deeds; i++)
		if (check_is(e->script, deeds[i].script))
			return deeds[i].deed;
	return NULL;
}

/* A claim goes through, or the operator settles it: it is another's. */
static bool
wins(const struct history_event *e)
{
	if (check_is(e->script, "settle"))
		return strcmp(e->code, "WRITTEN") == 0;
	return check_is(e->script, "claim") && (strcmp(e->code, "WON") == 0 ||
	    strcmp(e->code, "OURS") == 0);
}

static void
find_late(const struct history_event *e, const char *token,
    const struct win *by, struct check_finding *f)
{
	check_find(f, CHECK_VIOLATED, e->k, "%s accepted the %s of %s by "
	    "%.12s, though %.12s had taken it over", e->p, deed_of(e), e->k,
	    token, by->token);
	check_find_event(f, by->reply);
	check_find_event(f, e);
}

/* Of a claim: who owns it; of an owner's deed: whether he does.  false: not. */
static bool
on_reply(struct frames *fr, const struct history_event *e,
    struct check_finding *f)
{
	size_t number = check_view_key(fr->v, e->k);
	struct message *m = message(fr, e);
	const struct win *by = NULL;
	struct late_key *key;
	const char *token;

	if (m == NULL || m->answered)
		return true;
	m->answered = true;
	if (number == CHECK_NO_KEY || e->code == NULL || m->sent == NULL)
		return true;
	token = e->token != NULL ? e->token : m->sent->token;
	key = &fr->keys[number];
	if (token == NULL)
		return true;
	if (deed_of(e) != NULL && (strcmp(e->code, "WRITTEN") == 0 ||
	    strcmp(e->code, "RENEWED") == 0))
		by = taken_over(fr, key, e, token, m->passed);
	if (by != NULL)
		find_late(e, token, by, f);
	fr->exercised = fr->exercised || (check_is(e->script, "complete") &&
	    fr->v->keys[number].tries_n > 1);
	if (wins(e))
		*(struct win *)arena_more(&fr->arena, &key->wins, &key->n,
		    sizeof *key->wins) = (struct win){ e, token, m->passed };
	return by == NULL;
}

/* What a server knows may be of another past: a fault of it, or a new life. */
static bool
may_forget(const struct check_view *v, const struct history_event *e)
{
	const char *act = e->cmd;

	if (act == NULL && e->fault >= 0 &&
	    (size_t)e->fault < v->head->faults_n)
		act = v->head->faults[e->fault].act;
	return act != NULL && e->gate == NULL && check_act_forgets(v, act);
}

static void
frames_make(struct frames *fr, const struct check_view *v)
{
	const struct history_event *e = v->h->events;
	const struct history_event *end = e + v->h->n;
	int highest = 0;

	memset(fr, 0, sizeof *fr);
	fr->v = v;
	for (; e < end; e++) {
		if (e->m > 0 && (fr->lowest == 0 || e->m < fr->lowest))
			fr->lowest = e->m;
		if (e->m > highest)
			highest = e->m;
	}
	/* Numbers are dense, but in a file that somebody made up. */
	if (highest > 0 && (size_t)(highest - fr->lowest) <= 2 * v->h->n)
		fr->messages_n = (size_t)(highest - fr->lowest) + 1;
	fr->messages = arena_get(&fr->arena, (fr->messages_n + 1) *
	    sizeof *fr->messages);
	fr->keys = arena_get(&fr->arena, (v->keys_n + 1) * sizeof *fr->keys);
}

static bool
servers_agree(struct frames *fr, struct check_finding *f)
{
	const struct history_event *e = fr->v->h->events;
	const struct history_event *end = e + fr->v->h->n;

	for (; e < end; e++) {
		if (e->kind == HISTORY_SEND || e->kind == HISTORY_RECV)
			on_way(fr, e);
		if ((e->kind == HISTORY_FAULT || e->kind == HISTORY_HEAL) &&
		    may_forget(fr->v, e))
			fr->forgot = e->i;
		if (e->kind == HISTORY_STORE && !on_reply(fr, e, f))
			return false;
	}
	return true;
}

/* --- as clients saw it ---------------------------------------------------- */

static int
attempt_of(const struct check_run *run)
{
	return run->first->attempt;
}

/* The run of the highest attempt of each key. */
static const struct check_run **
last_attempts(const struct check_view *v, struct arena *arena)
{
	const struct check_run **last = arena_get(arena, (v->keys_n + 1) *
	    sizeof *last), *run;

	for (run = v->runs; run < v->runs + v->runs_n; run++)
		if (run->key != CHECK_NO_KEY && (last[run->key] == NULL ||
		    attempt_of(run) > attempt_of(last[run->key])))
			last[run->key] = run;
	return last;
}

static bool
is_outrun(const struct check_view *v, const struct check_try *try,
    const struct check_run *run, const struct check_run *last,
    struct check_finding *f)
{
	if (attempt_of(run) >= attempt_of(last))
		return false;
	check_find(f, CHECK_VIOLATED, v->keys[try->key].name, "%s of attempt "
	    "%d was stored, though attempt %d had taken %s over", run->id,
	    attempt_of(run), attempt_of(last), v->keys[try->key].name);
	check_find_event(f, last->first);
	check_find_event(f, try->ret);
	check_find_event(f, check_run_close(run));
	return true;
}

/* The operator had settled it before this was asked, and not with that. */
static bool
is_settled(const struct check_view *v, const struct check_try *try,
    const struct check_run *run, struct check_finding *f)
{
	int64_t asked_ns = try->inv->t_ns;

	if (asked_ns <= run->first->t_ns || !check_fault_operator(v, try->key,
	    run->first->t_ns, asked_ns - 1))
		return false;
	check_find(f, CHECK_VIOLATED, v->keys[try->key].name, "%s is the final "
	    "answer to try %d, though the operator had settled %s since it "
	    "began", run->id, try->a, v->keys[try->key].name);
	check_find_event(f, try->ret);
	check_find_event(f, try->inv);
	check_find_event(f, run->first);
	return true;
}

static bool
answers_agree(struct frames *fr, struct check_finding *f)
{
	const struct check_view *v = fr->v;
	const struct check_run **last = last_attempts(v, &fr->arena), *run;
	const struct check_try *try;

	for (try = v->tries; try < v->tries + v->tries_n; try++) {
		if (try->key == CHECK_NO_KEY || try->class != OUTCOME_OK)
			continue;
		run = check_view_run(v, try->ret->says_effect);
		if (run == NULL || run->key != try->key)
			continue;
		fr->exercised = fr->exercised ||
		    v->keys[try->key].tries_n > 1;
		if (is_outrun(v, try, run, last[try->key], f) ||
		    is_settled(v, try, run, f))
			return false;
	}
	return true;
}

/*
 * late_completer_harmless (promise "same answer"): a completion by somebody who
 * does not own the key any more changes nothing; nor does his release, his
 * renewal, or what is said of him.  Seen at servers: none is accepted after a
 * claim by another owner went through there, or the operator settled it, which
 * took over from its sender.  Seen by clients: no final answer names a run
 * whose key was run again for a later attempt, or that the operator had settled
 * before it was asked for; for then its completion came too late.
 *
 * A command that was held and came late counts as any other.  Where the order
 * of two commands is not known, or a server may have another past since (a
 * fault that makes it forget), nothing is said.  `info` is passed over.
 * Exercised by a completion, or a final answer that names a run, of a key that
 * more than one try asked for.
 */
void
check_late_completer_harmless(const struct check_view *v,
    struct check_finding *f)
{
	struct frames fr;

	frames_make(&fr, v);
	if (servers_agree(&fr, f) && (check_arbiter_forgets(v) ||
	    answers_agree(&fr, f)))
		check_find_end(f, fr.exercised);
	arena_free(&fr.arena);
}
