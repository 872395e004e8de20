/* SPDX-License-Identifier: ISC */
#include "exchange_world.h"

#include "saved.h"
#include "tap.h"

#include <stdio.h>
#include <string.h>

#define STEPS_MAX 200	/* no row needs so many */

static const struct idem_exchange_times times = {
	.keep_ms = WORLD_KEEP_MS, .keep_min_ms = WORLD_KEEP_MIN_MS,
	.tombstone_ms = WORLD_TOMBSTONE_MS, .call_ms = 300
};

static struct world *
world_of(struct idem_exchange *x)
{
	return (struct world *)x;
}

/* Is this the next word?  Then it is taken. */
bool
world_next_is(struct world *w, const char *word)
{
	size_t len = strlen(word);

	if (strncmp(w->happens, word, len) != 0 ||
	    (w->happens[len] != ' ' && w->happens[len] != '\0'))
		return false;
	w->happens += len + (w->happens[len] == ' ');
	return true;
}

/* --- the clock ------------------------------------------------------------ */

static int64_t
boot_ms(void *arg)
{
	return ((const struct world *)arg)->now_ms;
}

static int64_t
wall_ms(void *arg)
{
	return ((const struct world *)arg)->now_ms + WORLD_WALL_MS;
}

/* --- ports ---------------------------------------------------------------- */

static void
look(struct idem_exchange *x, const struct idem_effect *fx)
{
	const struct idem_event ev = {
		.op = IDEM_LOOK, .look = IDEM_LOOK_NOTHING
	};

	(void)fx;
	world_asked(world_of(x), "look");
	idem_exchange_tell(x, &ev);
}

static void
slot(struct idem_exchange *x, const struct idem_effect *fx)
{
	struct idem_event ev = { .op = IDEM_SLOT, .slot = IDEM_SLOT_GOT };
	struct world *w = world_of(x);

	world_asked(w, fx->queued ? "slot:queued" : "slot");
	if (world_next_is(w, "full"))
		ev.slot = IDEM_SLOT_FULL;
	else {
		w->got++;
		x->slot = true;
	}
	idem_exchange_tell(x, &ev);
}

static void
slot_unused(struct idem_exchange *x)
{
	world_asked(world_of(x), "unused");
	world_of(x)->unused++;
}

/* Hand the slot on, with the program. */
static void
use_slot(struct world *w)
{
	w->used += w->x.slot;
	w->x.slot = false;
}

/* A word of a run's end; false if there is none. */
static bool
ran(struct world *w, const char *how)
{
	struct idem_event ev = { .op = IDEM_RUN, .kept = true };
	char word[32];

	snprintf(word, sizeof word, "finished%s", how);
	if (world_next_is(w, word)) {
		idem_exchange_answer(&w->x, world_saved("mine", true));
		ev.run = IDEM_RUN_FINISHED;
		idem_exchange_tell(&w->x, &ev);
		return true;
	}
	snprintf(word, sizeof word, "not-started%s", how);
	ev.run = IDEM_RUN_NOT_STARTED;
	ev.problem = IDEM_PROBLEM_NO_PROGRAM;
	if (!world_next_is(w, word)) {
		snprintf(word, sizeof word, "cut%s", how);
		ev.run = IDEM_RUN_CUT;
		ev.problem = IDEM_PROBLEM_CUT;
		if (!world_next_is(w, word))
			return false;
	}
	idem_exchange_tell(&w->x, &ev);
	return true;
}

static void
run(struct idem_exchange *x, const struct idem_effect *fx)
{
	struct world *w = world_of(x);

	world_asked(w, fx->unkeyed ? "run:unkeyed" : "run");
	if (!world_next_is(w, "no-keeper"))	/* then nobody took the slot */
		use_slot(w);
	ran(w, "!");
}

static void
probe(struct idem_exchange *x, const struct idem_effect *fx)
{
	(void)fx;
	world_asked(world_of(x), "probe");
}

static void
record(struct idem_exchange *x, const struct idem_effect *fx)
{
	const struct idem_event ev = {
		.op = IDEM_RECORD, .write = IDEM_WRITTEN
	};

	(void)fx;
	world_asked(world_of(x), "record");
	idem_exchange_tell(x, &ev);
}

static void
cache(struct idem_exchange *x, const struct idem_effect *fx)
{
	const struct idem_event ev = { .op = IDEM_CACHE };

	(void)fx;
	world_asked(world_of(x), "cache");
	idem_exchange_tell(x, &ev);
}

static void
wait(struct idem_exchange *x, const struct idem_effect *fx)
{
	const struct idem_event ev = {
		.op = IDEM_WAIT, .waited = IDEM_WAIT_OVER
	};
	struct world *w = world_of(x);

	world_asked(w, fx->for_key ? "wait-key:%u" : "wait:%u", fx->wait_ms);
	if (fx->for_key)
		return;
	w->now_ms += fx->wait_ms;
	idem_exchange_tell(x, &ev);
}

static const char *
body_of(const struct idem_blob *blob, char *to, size_t size)
{
	struct idem_saved s;

	if (blob == NULL || !idem_saved_read(idem_blob_bytes(blob), &s))
		return "unreadable";
	snprintf(to, size, "%.*s", (int)s.body.len, (const char *)s.body.at);
	return to;
}

static void
reply(struct idem_exchange *x, const struct idem_effect *fx)
{
	struct idem_event ev = { .op = IDEM_REPLY, .sent = IDEM_SENT };
	struct world *w = world_of(x);
	char body[32];

	switch (fx->body) {
	case IDEM_BODY_PROBLEM:
		world_asked(w, "reply:%s",
		    idem_problem_form(fx->problem)->type);
		break;
	case IDEM_BODY_FRESH:
	case IDEM_BODY_SAVED:
		world_asked(w, "reply:%s:%s", idem_mark_text(fx->mark),
		    body_of(x->answer, body, sizeof body));
		break;
	case IDEM_BODY_PASSED:
		world_asked(w, "reply:passed");
		break;
	}
	if (w->left)
		ev.sent = IDEM_NOBODY;
	idem_exchange_tell(x, &ev);
}

static void
renew_later(struct idem_exchange *x, const struct idem_effect *fx)
{
	world_asked(world_of(x), "later:%u", fx->wait_ms);
	world_of(x)->renewing = true;
}

static bool
renew_stop(struct idem_exchange *x)
{
	struct world *w = world_of(x);
	bool was = w->renewing;

	world_asked(w, was ? "stop" : "no-stop");
	w->renewing = false;
	return was;
}

static struct idem_store *
store(struct idem_exchange *x, enum idem_where where)
{
	if (where != IDEM_AT_ARBITER)
		world_asked(world_of(x), "elsewhere");
	return &world_of(x)->fake;
}

static bool
noted(struct idem_exchange *x, const struct idem_effect *fx)
{
	(void)fx;
	if (!world_next_is(world_of(x), "unnoted"))
		return true;
	world_asked(world_of(x), "unnoted");
	return false;
}

/* In doubt, the other's first run is surely dead. */
static enum idem_proof
proof(struct idem_exchange *x, const struct idem_record *r, int64_t now_ms,
    struct idem_adopted *adopted)
{
	struct world *w = world_of(x);

	if (now_ms != w->now_ms)
		world_asked(w, "proof-at-another-time");
	if (world_next_is(w, "unbegun"))
		return IDEM_PROOF_NOTHING;
	if (world_next_is(w, "ended")) {
		*adopted = (struct idem_adopted){
			.answer = world_saved("adopted", true),
			.keep_ms = WORLD_ADOPTED_MS, .tombstone_ms = 2000
		};
		return IDEM_PROOF_FINISHED;
	}
	return r->owner.at[0] == WORLD_OTHER && !world_next_is(w, "alive") ?
	    IDEM_PROOF_DEAD : IDEM_PROOF_NONE;
}

static void
ended(struct idem_exchange *x, const struct idem_digest *key,
    enum idem_waited how)
{
	static const char *const text[] = {
		[IDEM_WAIT_OVER] = "over",
		[IDEM_WOKEN_COMPLETED] = "completed",
		[IDEM_WOKEN_RELEASED] = "released",
		[IDEM_WOKEN_UNKNOWN] = "unknown",
		[IDEM_WOKEN_UNSURE] = "unsure"
	};

	world_asked(world_of(x), "%s:%s", idem_digest_equal(key, &x->key) ?
	    "ended" : "another-key", text[how]);
}

static void
trouble(struct idem_exchange *x, enum idem_store_op op, const char *why,
    bool away)
{
	(void)op;
	(void)away;
	world_asked(world_of(x), "%s", strcmp(why, "no answer") == 0 ?
	    "trouble" : why);
}

static void
end(struct idem_exchange *x)
{
	struct world *w = world_of(x);

	world_asked(w, "end");
	w->ends++;
	w->claim_sent_ms = x->claim_sent_ms;
	w->since_ms = x->since_ms;
	w->attempt = x->attempt;
	w->settled = x->settled;
	w->others_now = x->others_now;
	idem_exchange_free(x);
}

static int64_t
now(struct idem_exchange *x)
{
	return world_of(x)->now_ms;
}

/* What was lost is seen by what follows. */
static void
lost(struct idem_exchange *x, const struct idem_store_result *r)
{
	(void)x;
	(void)r;
}

static const struct idem_ports ports = {
	.look = look, .slot = slot, .run = run, .record = record,
	.cache = cache, .probe = probe, .wait = wait, .reply = reply,
	.renew_later = renew_later, .renew_stop = renew_stop,
	.slot_unused = slot_unused, .store = store, .proof = proof,
	.note = noted,
	.ended = ended, .lost = lost, .trouble = trouble, .end = end, .now = now
};

/* --- what happens --------------------------------------------------------- */

static void
woken(struct world *w, enum idem_waited how)
{
	const struct idem_event ev = { .op = IDEM_WAIT, .waited = how };

	idem_exchange_tell(&w->x, &ev);
}

static void
probed(struct world *w, enum idem_probed how)
{
	const struct idem_event ev = {
		.op = IDEM_PROBE, .probed = how, .kept = true
	};

	if (how == IDEM_HAPPENED)
		idem_exchange_answer(&w->x, world_saved("probed", true));
	idem_exchange_tell(&w->x, &ev);
}

/* An operator takes the key from us. */
static void
settle(struct world *w, struct idem_blob *blob)
{
	if (world_act(w, IDEM_STORE_SETTLE, 'O', WORLD_OURS, blob) !=
	    IDEM_WRITTEN)
		world_asked(w, "not-settled");
}

static void
deliver(struct world *w)
{
	size_t i;

	world_asked(w, "deliver");
	for (i = 0; i < 2; i++)
		if (w->call[i].taken)
			w->call[i].fate = '.';
}

static void
renew(struct world *w)
{
	w->now_ms += 20000;
	w->renewing = false;
	idem_exchange_renew(&w->x);
}

static void
gone(struct world *w)
{
	const struct idem_event ev = { .op = IDEM_GONE };

	w->left = true;
	idem_exchange_tell(&w->x, &ev);
}

/* The next word, but those that a port takes; false if there is none. */
static bool
happen(struct world *w)
{
	if (world_next_is(w, "renew"))
		renew(w);
	else if (world_next_is(w, "gone"))
		gone(w);
	else if (world_next_is(w, "deliver"))
		deliver(w);
	else if (world_next_is(w, "forget"))
		settle(w, NULL);
	else if (world_next_is(w, "resolve"))
		settle(w, world_saved("theirs", true));
	else if (world_next_is(w, "other-completes"))
		world_act(w, IDEM_STORE_COMPLETE, WORLD_OTHER, WORLD_OTHER,
		    world_saved("first", true));
	else if (world_next_is(w, "woken-completed"))
		woken(w, IDEM_WOKEN_COMPLETED);
	else if (world_next_is(w, "happened"))
		probed(w, IDEM_HAPPENED);
	else if (world_next_is(w, "did-not"))
		probed(w, IDEM_DID_NOT);
	else
		return ran(w, "");
	return true;
}

/* "renew+": what comes next is not kept waiting for the store. */
static bool
step(struct world *w)
{
	if (world_carry_out(&w->call[0]) || world_carry_out(&w->call[1]))
		return true;
	if (w->ends > 0)	/* nobody is there to hear of it */
		return false;
	if (world_next_is(w, "renew+"))
		renew(w);
	return happen(w);
}

void
world_run(struct world *w, const struct world_row *row)
{
	struct idem_event ev = { .op = IDEM_ADMIT, .admit = IDEM_KEYED };
	const struct idem_boot boot = { { 1 } };
	unsigned steps;

	*w = (struct world){
		.fake = { &world_fake }, .row = row, .happens = row->happens,
		.clock = { boot_ms, wall_ms, w }, .now_ms = 100
	};
	w->x.ports = &ports;
	w->x.times = &times;
	w->x.key.at[0] = 1;
	w->x.fingerprint.at[0] = 2;
	w->x.guard.at[0] = 3;
	memset(w->x.owner.at, WORLD_OURS, sizeof w->x.owner.at);
	w->memory = idem_store_memory(&w->clock, &boot);
	if (w->memory == NULL)
		bail_out("out of memory");
	world_before(w, row->before);
	if (world_next_is(w, "keyless"))
		ev.admit = IDEM_KEYLESS;
	idem_exchange_init(&w->x, row->policy);
	idem_exchange_tell(&w->x, &ev);
	for (steps = 0; steps < STEPS_MAX && step(w); steps++)
		;
}

void
world_free(struct world *w)
{
	w->memory->ops->close(w->memory);
}
