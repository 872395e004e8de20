/* SPDX-License-Identifier: ISC */
#include "chaos_move.h"

#include "chance.h"
#include "tap.h"

#include <stdio.h>
#include <string.h>

#define KEYS_AT_ONCE "100"
#define FAILURES_MAX 100
#define EPOCH_MS 10000

/* As redis-cli does it: a slot is half at one node and half at another while
   its keys go over, and is asked for meanwhile. */
struct move {
	struct redis_rig *from, *to;
	char slot[8], from_id[64], to_id[64], port[16];
	unsigned failures;
};

static bool
is_ok(const char *reply)
{
	return strcmp(reply, "OK") == 0;
}

static void
set_slot(struct redis_rig *at, const struct move *m, const char *word,
    const char *id)
{
	const char *reply = redis_rig_say(at, "CLUSTER", "SETSLOT", m->slot,
	    word, id, NULL);

	if (!is_ok(reply))
		bail_out("SETSLOT %s %s: %s", m->slot, word, reply);
}

static void
move_key(struct move *m, const char *key)
{
	const char *reply = redis_rig_say(m->from, "MIGRATE", "127.0.0.1",
	    m->port, key, "0", "1000", NULL);

	if (!is_ok(reply) && strcmp(reply, "NOKEY") != 0 &&
	    ++m->failures > FAILURES_MAX)
		bail_out("MIGRATE: %s", reply);
}

/* False: it has no more. */
static bool
move_keys(struct move *m)
{
	char keys[16384], *key, *rest;

	snprintf(keys, sizeof keys, "%s", redis_rig_say(m->from, "CLUSTER",
	    "GETKEYSINSLOT", m->slot, KEYS_AT_ONCE, NULL));
	if (keys[0] != '[' || keys[1] == ']')
		return false;
	keys[strlen(keys) - 1] = '\0';	/* [a b] */
	rest = keys + 1;
	while ((key = strsep(&rest, " ")) != NULL)
		move_key(m, key);
	return true;
}

static void
move_slot(struct chaos_world *w, struct move *m)
{
	size_t i;

	set_slot(m->to, m, "IMPORTING", m->from_id);
	set_slot(m->from, m, "MIGRATING", m->to_id);
	while (move_keys(m))
		;
	set_slot(m->to, m, "NODE", m->to_id);
	set_slot(m->from, m, "NODE", m->to_id);
	for (i = 0; i < w->servers; i++)
		if (&w->server[i] != m->to && &w->server[i] != m->from)
			set_slot(&w->server[i], m, "NODE", m->to_id);
}

static void
id_of(struct redis_rig *node, char id[64])
{
	snprintf(id, 64, "%s", redis_rig_say(node, "CLUSTER", "MYID", NULL));
}

/* A slot that is elsewhere now. */
static void
choose(struct chaos_world *w, uint32_t *chance, size_t to, struct move *m)
{
	unsigned slot;
	size_t from;

	do {
		slot = chance_below(chance, CHAOS_SLOTS);
		from = w->owner[slot];
	} while (from == to);
	w->owner[slot] = (uint8_t)to;
	m->from = &w->server[from];
	m->to = &w->server[to];
	id_of(m->from, m->from_id);
	id_of(m->to, m->to_id);
	snprintf(m->slot, sizeof m->slot, "%u", slot);
	snprintf(m->port, sizeof m->port, "%d", m->to->port);
	m->failures = 0;
}

/*
 * Who gets slots raises its epoch over those that it knows.  Until all know
 * that one, no other may get any: of two that claim a slot the later epoch has
 * it, and the other one throws its keys away.
 */
static void
await_epoch(struct chaos_world *w, size_t to)
{
	char epoch[64], want[80];
	const char *at = strstr(redis_rig_say(&w->server[to], "CLUSTER",
	    "INFO", NULL), "cluster_current_epoch:");
	size_t i;

	snprintf(epoch, sizeof epoch, "%.*s", at != NULL ?
	    (int)strcspn(at, "\r") : 0, at != NULL ? at : "");
	snprintf(want, sizeof want, "%s\r", epoch);
	for (i = 0; i < w->servers; i++)
		if (!redis_rig_await(&w->server[i], EPOCH_MS, want, "CLUSTER",
		    "INFO", NULL))
			bail_out("the nodes do not agree: %s", epoch);
}

unsigned
chaos_move_slots(struct chaos_world *w, uint32_t *chance, int64_t ms)
{
	int64_t until_ms = rig_now_ms() + ms;
	size_t to = chance_below(chance, (uint32_t)w->servers);
	struct move m;
	unsigned n = 0;

	for (; rig_now_ms() < until_ms; n++) {
		choose(w, chance, to, &m);
		move_slot(w, &m);
	}
	await_epoch(w, to);
	return n;
}
