/* SPDX-License-Identifier: ISC */
#include "live_private.h"

#include <string.h>

#define HEX 64
#define OWNER_SHOWN 4	/* bytes: enough to tell owners apart */

/* Where its command's words are, as idem sends them (lib/redis_script.c). */
enum { ARG_OP = 4, ARG_OWNER = 5, ARG_ATTEMPT = 6 };

/* What a frame says. */
struct said {
	char cmd[24], op[24], code[80], token[64], hex[HEX + 1];
	const struct live_key *key;
};

bool
live_link_fits(const struct live_gate *g, int gate, int store)
{
	return g->link != NULL &&
	    (gate == PLAN_ANY || gate == PLAN_NONE || gate == (int)g->index) &&
	    (store == PLAN_ANY || store == PLAN_NONE || store == g->aimed ||
	    store == g->cast->plan->gates.store);
}

/* --- reading a frame ------------------------------------------------------ */

static void
word(struct idem_bytes from, char *out, size_t size)
{
	size_t len = from.len < size ? from.len : size - 1;

	if (len > 0)
		memcpy(out, from.at, len);
	out[len] = '\0';
}

static void
read_token(const struct resp_command *c, struct said *said)
{
	char owner[2 * OWNER_SHOWN + 1], attempt[16];

	if (c->op.len == 0 || c->args_n <= ARG_ATTEMPT ||
	    c->args[ARG_OWNER].len < OWNER_SHOWN)
		return;
	idem_hex(c->args[ARG_OWNER].at, OWNER_SHOWN, owner);
	word(c->args[ARG_ATTEMPT], attempt, sizeof attempt);
	snprintf(said->token, sizeof said->token, "%s.%s", owner, attempt);
}

/* A record's name ends with the key, a cached answer's too. */
static void
read_frame(const struct live *l, const struct net_frame *f, struct said *said)
{
	const struct resp_command *c = f->command;

	*said = (struct said){ .key = NULL };
	if (c == NULL)
		return;
	word(c->name, said->cmd, sizeof said->cmd);
	word(c->op, said->op, sizeof said->op);
	if (c->key.len >= HEX) {
		memcpy(said->hex, (const char *)c->key.at + c->key.len - HEX,
		    HEX);
		said->key = live_key_stored(l, said->hex, HEX);
	}
	if (f->way == NET_REQUESTS)
		read_token(c, said);
	else if (f->bytes.len > 2 && *(const char *)f->bytes.at == '$' &&
	    ((const char *)f->bytes.at)[1] != '-')
		/* A cached answer: nobody can read it. */
		snprintf(said->code, sizeof said->code, "found");
	else
		(void)resp_reply_text(f->bytes, said->code,
		    sizeof said->code);
}

/* --- what is told of it --------------------------------------------------- */

static struct history_event *
add(struct live *l, enum history_kind kind, const char *p,
    const struct net_frame *f, const struct said *said)
{
	struct history_event *e = history_add(l->h, kind, live_now_ns(l), p);

	e->m = (int)f->message;
	e->k = said->key != NULL ? said->key->name : NULL;
	e->cmd = history_text(l->h, said->cmd);
	if (said->op[0] != '\0')
		e->script = history_text(l->h, said->op);
	if (said->code[0] != '\0')
		e->code = history_text(l->h, said->code);
	if (said->token[0] != '\0')
		e->token = history_text(l->h, said->token);
	return e;
}

/* A record's state after a write that has just been acknowledged; NULL: it was
   none. */
static const char *
state_written(const struct said *said)
{
	static const struct {
		const char *op, *cmd, *code, *state;
	} writes[] = {
		{ "claim", NULL, "WON", "in progress" },
		{ "renew", NULL, "RENEWED", "in progress" },
		{ "complete", NULL, "WRITTEN", "completed" },
		{ "release", NULL, "WRITTEN", "issued" },
		{ "issue", NULL, "WRITTEN", "issued" },
		{ "unknown", NULL, "WRITTEN", "unknown" },
		{ "settle", NULL, "WRITTEN", "settled" },
		{ "", "SET", "OK", "written" },
		{ "", "DEL", "1", "deleted" }
	};
	size_t i;

	for (i = 0; i < sizeof writes / sizeof *writes; i++)
		if (strcmp(writes[i].op, said->op) == 0 &&
		    (writes[i].cmd == NULL ||
		    strcasecmp(writes[i].cmd, said->cmd) == 0) &&
		    strcmp(writes[i].code, said->code) == 0)
			return writes[i].state;
	return NULL;
}

static void
acknowledged(struct live *l, const struct live_gate *g,
    const struct net_frame *f, const struct said *said)
{
	const char *state = state_written(said);

	if (state == NULL || f->lost || said->key == NULL)
		return;
	*(struct live_ack *)arena_more(&l->arena, &l->acks, &l->acks_n,
	    sizeof *l->acks) = (struct live_ack){
		.hex = history_text(l->h, said->hex), .key = said->key->name,
		.state = state, .readable = strcmp(said->op, "claim") == 0 ||
		    strcmp(said->op, "complete") == 0,
		.message = f->message, .store = g->aimed
	};
}

/* Its reply has not got through. */
static void
not_acknowledged(struct live *l, uint32_t message)
{
	size_t i;

	for (i = l->acks_n; i > 0; i--)
		if (l->acks[i - 1].message == message) {
			memmove(&l->acks[i - 1], &l->acks[i],
			    (l->acks_n - i) * sizeof *l->acks);
			l->acks_n--;
			return;
		}
}

/* What a sweep asks, nobody's request wants to know; which token is issued to a
   client nobody knows yet. */
static bool
is_of_tries(const struct live *l, const struct said *said)
{
	if (said->key == NULL)
		return !l->minting && strcmp(said->op, "issue") == 0;
	return strcmp(said->op, "sweep") != 0 &&
	    strcmp(said->cmd, "GETRANGE") != 0;
}

static void
tell(struct live *l, struct live_gate *g, const struct net_frame *f,
    const struct said *said)
{
	const char *gate = g->instance.name;
	const char *store = live_store_name(g->cast, g->aimed);

	if (f->way == NET_REQUESTS) {
		add(l, HISTORY_SEND, gate, f, said)->to = store;
		return;
	}
	(void)add(l, HISTORY_STORE, store, f, said);
	(void)add(l, HISTORY_RECV, gate, f, said);
	acknowledged(l, g, f, said);
}

/* --- faults that strike anywhere ------------------------------------------ */

static bool
roaming_fits(const struct plan_action *a, const struct live_gate *g,
    const struct net_frame *f, const struct said *said)
{
	bool both = a->requests == a->replies;

	return live_link_fits(g, a->gate, a->store) &&
	    (both || a->requests == (f->way == NET_REQUESTS)) &&
	    (a->script == NULL || strcmp(a->script, said->op) == 0) &&
	    (a->cmd == NULL || strcasecmp(a->cmd, said->cmd) == 0);
}

static void
roam(struct live *l, struct live_gate *g, const struct net_frame *f,
    const struct said *said)
{
	struct live_roaming *r;
	size_t i;

	for (i = 0; i < l->roaming_n; i++) {
		r = &l->roaming[i];
		if (r->left == 0 || (r->healed >> g->index & 1) != 0 ||
		    !roaming_fits(r->action, g, f, said))
			continue;
		if (r->before > 0) {
			r->before--;
			continue;
		}
		r->left--;
		live_link_rule(g, r->action, f->way, 1, 1);
	}
}

/* --- the link's word ------------------------------------------------------ */

static const char *
fate(enum net_do act)
{
	static const char *const fates[NET_DOS] = {
		[NET_DROP] = "lost", [NET_HOLD] = "held",
		[NET_DELAY] = "delayed", [NET_ERROR] = "answered",
		[NET_RESET] = "cut"
	};

	return fates[act];
}

/* Of a reply its arrival, of a request its departure: not its execution. */
static void
mark(struct live *l, const struct net_frame *f, const char *how)
{
	enum history_kind kind = f->way == NET_REQUESTS ? HISTORY_SEND :
	    HISTORY_RECV;
	size_t i;

	for (i = l->h->n; i > 0 && l->h->n - i < 16; i--)
		if (l->h->events[i - 1].kind == kind &&
		    l->h->events[i - 1].m == (int)f->message) {
			l->h->events[i - 1].fate = how;
			return;
		}
}

static void
frame(void *arg, struct net *net, const struct net_frame *f)
{
	struct live_gate *g = arg;
	struct live *l = g->cast->run;
	struct said said;

	(void)net;
	g->passed[f->way] += !f->lost;
	g->lost[f->way] += f->lost;
	if (l == NULL)
		return;
	read_frame(l, f, &said);
	if (is_of_tries(l, &said))
		tell(l, g, f, &said);
	if (f->lost)
		mark(l, f, "lost");
	l->in_frame = true;
	live_rules_feed(l, &(struct live_event){
		.kind = PLAN_FRAME, .gate = (int)g->index, .store = g->aimed,
		.reply = f->way == NET_REPLIES,
		.script = said.op[0] != '\0' ? said.op : NULL,
		.cmd = said.cmd, .key = said.key != NULL ? said.key->name :
		    NULL
	});
	roam(l, g, f, &said);
	l->in_frame = false;
}

static void
struck(void *arg, struct net *net, const struct net_rule *rule,
    const struct net_frame *f)
{
	struct live_gate *g = arg;
	struct live *l = g->cast->run;
	const char *how = fate(rule->act);

	(void)net;
	if (l == NULL || rule->user == NULL)
		return;
	if (how != NULL)
		mark(l, f, how);
	if (how != NULL && f->way == NET_REPLIES && rule->act != NET_DELAY)
		not_acknowledged(l, f->message);
	live_fired(l, rule->user, g->instance.name, NULL);
}

struct net_user
live_link_user(struct live_gate *g)
{
	return (struct net_user){
		.frame = frame, .struck = struck, .arg = g
	};
}
