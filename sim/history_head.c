/* SPDX-License-Identifier: ISC */
#include "history_private.h"

#include <stdlib.h>
#include <string.h>

/* What idem.conf(5) says where nothing is said. */
#define LEASE_MS 60000
#define LIMIT_MS 300000
#define WAIT_MS 10000
#define KEEP_MS (24 * INT64_C(3600000))
#define TOMBSTONE_MS (7 * 24 * INT64_C(3600000))
#define RETRIES 3

const char *
history_act(enum plan_action_kind kind)
{
	static const char *const acts[PLAN_ACTIONS] = {
		[PLAN_PROC_KILL] = "proc.kill",
		[PLAN_PROC_PAUSE] = "proc.pause",
		[PLAN_PROC_RESUME] = "proc.resume",
		[PLAN_PROC_RESTART] = "proc.restart",
		[PLAN_PROC_FAIL] = "proc.fail",
		[PLAN_NET_DROP] = "net.drop",
		[PLAN_NET_HOLD] = "net.hold",
		[PLAN_NET_RELEASE] = "net.release",
		[PLAN_NET_DELAY] = "net.delay",
		[PLAN_NET_RESET] = "net.reset",
		[PLAN_NET_ONEWAY] = "net.oneway",
		[PLAN_NET_SLICE] = "net.slice",
		[PLAN_NET_REFUSE] = "net.refuse",
		[PLAN_NET_ERROR] = "net.error",
		[PLAN_NET_HEAL] = "net.heal",
		[PLAN_STORE_KILL] = "store.kill",
		[PLAN_STORE_RESTART] = "store.restart",
		[PLAN_STORE_PAUSE] = "store.pause",
		[PLAN_STORE_RESUME] = "store.resume",
		[PLAN_STORE_SLOW] = "store.slow",
		[PLAN_STORE_ERROR] = "store.error",
		[PLAN_STORE_OOM] = "store.oom",
		[PLAN_STORE_FLUSH] = "store.flush",
		[PLAN_STORE_EVICT] = "store.evict",
		[PLAN_STORE_EXPIRE] = "store.expire",
		[PLAN_STORE_SCRIPT_FLUSH] = "store.script_flush",
		[PLAN_STORE_SAVE] = "store.save",
		[PLAN_STORE_LAG] = "store.lag",
		[PLAN_STORE_FAILOVER] = "store.failover",
		[PLAN_STORE_REJOIN] = "store.rejoin",
		[PLAN_DISK_POWER_LOSS] = "disk.power_loss",
		[PLAN_DISK_FULL] = "disk.full",
		[PLAN_DISK_IOERR] = "disk.ioerr",
		[PLAN_DISK_BUSY] = "disk.busy",
		[PLAN_CLOCK_JUMP] = "clock.jump",
		[PLAN_CLOCK_RATE] = "clock.rate",
		[PLAN_CLIENT_GIVE_UP] = "client.give_up",
		[PLAN_CLIENT_ABORT] = "client.abort",
		[PLAN_OPERATOR_RESOLVE] = "operator.resolve"
	};

	return acts[kind];
}

/* --- who takes part ------------------------------------------------------- */

static bool
one_ledger(const struct plan_gates *gates)
{
	size_t i;

	for (i = 0; i < gates->n; i++)
		if (gates->ledger[i] == NULL || gates->ledger[0] == NULL ||
		    strcmp(gates->ledger[i], gates->ledger[0]) != 0)
			return false;
	return gates->n > 0;
}

static const char *
arbiter(enum plan_arbiter arbiter)
{
	switch (arbiter) {
	case PLAN_LEDGER:
		return "ledger";
	case PLAN_TOKEN:
		return "token";
	case PLAN_REDIS:
		break;
	}
	return "redis";
}

/* "block", "retry", "retry 3", "retry(3)", "probe". */
static void
unknown_word(const struct plan *p, struct history_head *head)
{
	const char *word = plan_config_value(p, "on_unknown");
	const char *number;

	head->on_unknown = "block";
	if (word == NULL)
		return;
	if (strncmp(word, "retry", 5) == 0) {
		head->on_unknown = "retry";
		number = word + strcspn(word, "0123456789");
		head->retries = *number != '\0' ?
		    (unsigned)strtoul(number, NULL, 10) : RETRIES;
	} else if (strcmp(word, "probe") == 0)
		head->on_unknown = "probe";
}

static int64_t
wait_ms(const struct plan *p)
{
	const char *word = plan_config_value(p, "in_progress");

	if (word != NULL && (strcmp(word, "409") == 0 ||
	    strcmp(word, "202") == 0))
		return 0;
	return plan_config_ms(p, "wait",
	    plan_config_ms(p, "in_progress", WAIT_MS));
}

static void
config(struct history *h, const struct plan *p)
{
	struct history_head *head = &h->head;
	const char *outage = plan_config_value(p, "on_outage");
	int64_t keep_ms = plan_config_ms(p, "keep", KEEP_MS);

	head->arbiter = arbiter(p->gates.arbiter);
	head->on_outage = outage != NULL ? history_text(h, outage) : "reject";
	head->gates = p->gates.n;
	head->front = p->gates.lighttpd;
	head->ledger_shared = one_ledger(&p->gates);
	head->sentinels = p->gates.store >= 0 &&
	    (size_t)p->gates.store < p->stores_n &&
	    p->stores[p->gates.store].sentinel;
	head->lease_ms = plan_config_ms(p, "lease", LEASE_MS);
	head->limit_ms = plan_config_ms(p, "limit", LIMIT_MS);
	head->grace_ms = plan_config_ms(p, "grace", PLAN_GRACE_MS);
	head->probe_ms = plan_config_ms(p, "probe_every", PLAN_PROBE_MS);
	head->wait_ms = wait_ms(p);
	head->keep_ms = plan_config_ms(p, "keep_min", keep_ms);
	head->once_ms = head->keep_ms +
	    plan_config_ms(p, "tombstone", TOMBSTONE_MS);
	unknown_word(p, head);
}

static void
handler(struct history_head *head, const struct plan_handler *handler)
{
	bool external = handler->effect == PLAN_EXTERNAL;

	head->handler_answers = !external;
	head->business = handler->business_id != NULL;
	head->handler_fails = external || handler->exit != 0 ||
	    handler->partial_output >= 0 ||
	    (handler->crash != NULL && *handler->crash != '\0');
}

/* --- what must hold ------------------------------------------------------- */

static struct history_bound
bound(struct history *h, const struct plan_bound *b)
{
	return (struct history_bound){ b->set, b->base,
	    history_text(h, b->per_fault) };
}

static void
expect(struct history *h, const struct plan_expect *x)
{
	struct history_head *head = &h->head;
	size_t i;

	for (i = 0; i < PLAN_INVARIANTS; i++) {
		head->holds[i] = x->holds[i];
		head->violates[i] = x->violates[i];
		head->relaxed[i] = history_text(h, x->relaxed[i]);
	}
	head->blames = history_text(h, x->blames);
	head->fired_any = x->fired_any;
	head->fired_none = x->fired_none;
	head->own = x->custom_n + x->sometimes_n;
	head->handler_runs_per_key = bound(h, &x->handler_runs_per_key);
	head->store_ops_per_attempt = bound(h, &x->store_ops_per_attempt);
	head->queue_depth = bound(h, &x->queue_depth);
	head->goodput_recovers_within_ms =
	    bound(h, &x->goodput_recovers_within_ms);
	head->innocent_p99_ms = bound(h, &x->innocent_p99_ms);
}

static bool
is_choice(const struct plan *p, unsigned id)
{
	size_t i;

	for (i = 0; i < p->maybes_n; i++)
		if (p->maybes[i].action.id == id)
			return true;
	return false;
}

static void
faults(struct history *h, const struct plan *p)
{
	struct history_head *head = &h->head;
	const struct plan_action *a;
	struct history_fault *fault;
	char text[200];
	unsigned id;

	head->faults = arena_get(&h->arena, (p->actions_n + 1) *
	    sizeof *head->faults);
	head->faults_n = p->actions_n;
	for (id = 0; id < p->actions_n; id++) {
		fault = &head->faults[id];
		a = plan_action_at(p, id);
		if (a == NULL)
			continue;
		fault->text = history_text(h, plan_action_text(p, a, text,
		    sizeof text));
		fault->act = history_act(a->kind);
		fault->must = plan_action_heals(a) ? 0 : is_choice(p, id) ?
		    2 : 1;
	}
}

static void
params(struct history *h, const struct plan *p)
{
	struct plan_pair *pair;
	size_t i, n = 0;

	for (i = 0; i < p->params_n; i++) {
		pair = arena_more(&h->arena, &h->head.params, &n, sizeof *pair);
		pair->name = history_text(h, p->params[i].name);
		pair->value = history_text(h, p->params[i].value);
	}
	h->head.params_n = n;
}

void
history_begin(struct history *h, const struct plan *p, const char *mode,
    uint64_t seed, unsigned run)
{
	struct history_head *head = &h->head;
	char digest[72];

	memset(h, 0, sizeof *h);
	plan_digest(p, digest);
	head->tool = "idemsim " PACKAGE_VERSION;
	head->plan = history_text(h, digest);
	head->scenario = history_text(h, p->name);
	head->file = history_text(h, p->file);
	head->point = p->number;
	head->mode = history_text(h, mode);
	head->seed = seed;
	head->run = run;
	params(h, p);
	config(h, p);
	handler(head, &p->handler);
	expect(h, &p->expect);
	faults(h, p);
}
