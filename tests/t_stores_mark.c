/* SPDX-License-Identifier: ISC */
#include "journal.h"
#include "stores.h"
#include "tap.h"

#include <stdio.h>
#include <string.h>

/* Notes in the journal name a store: that one, and no other. */

static const struct place {
	const char *where, *prefix, *master, *password;
} here = { "redis://a.example:6379", "idem:", NULL, NULL };

static const struct {
	const char *what;
	struct place place;
	bool same;
} places[] = {
	{ "a server is the same server", { "redis://a.example:6379", "idem:",
	  NULL, NULL }, true },
	{ "with whatever password", { "redis://a.example:6379", "idem:", NULL,
	  "secret" }, true },
	{ "another server is another", { "redis://b.example:6379", "idem:",
	  NULL, NULL }, false },
	{ "so is another database of it", { "redis://a.example:6379/1",
	  "idem:", NULL, NULL }, false },
	{ "and another prefix in it", { "redis://a.example:6379", "shop:",
	  NULL, NULL }, false },
	{ "and what Sentinels call by another name", { "redis://a.example:6379",
	  "idem:", "other", NULL }, false },
	{ "and what only looks the same run together",
	  { "redis://a.example:637", "9idem:", NULL, NULL }, false },
};

static void
place_of(const struct place *p, char to[STORES_PLACE])
{
	const struct conf_redis conf = {
		.where = p->where,
		.prefix = p->prefix,
		.client.master = p->master,
		.client.password = p->password
	};

	if (!stores_place(&conf, to))
		bail_out("out of memory");
}

static bool
history(struct idem_store *store, struct idem_history *to)
{
	*to = (struct idem_history){ { 0 } };
	to->at[0] = store->ops->name[0] == 'l' ? 1 : 2;
	return true;
}

static void
test_round(void)
{
	static const struct idem_store_ops ledger_ops = {
		.name = "ledger", .history = history
	}, memory_ops = { .name = "memory", .history = history };
	struct idem_store store[6] = {
		{ &ledger_ops }, { &memory_ops }, { &memory_ops },
		{ &memory_ops }, { &memory_ops }, { &memory_ops }
	};
	struct stores s = {
		.ledger = &store[0], .memory = &store[1], .token = &store[2],
		.redis = { &store[3], &store[4], &store[5] },
		.place = "0123456789abcdef0123456789abcdef"
	};
	char mark[STORES_MARK];
	size_t i, good = 0;

	for (i = 0; i < 6; i++) {
		stores_mark(&s, &store[i], mark, sizeof mark);
		good += stores_marked(&s, mark) == &store[i] &&
		    strlen(mark) < IDEM_NOTE_TEXT;
		note("%s", mark);
	}
	is_int((long long)good, 6, "each store is found by its mark");
	stores_mark(&s, &store[0], mark, sizeof mark);
	is(mark, "ledger 0100000000000000", "a ledger's says which it is");
	ok(stores_marked(&s, "ledger 0200000000000000") == NULL,
	    "one that was made anew is not found by the old one's");
	ok(stores_marked(&s, "") == NULL, "nor is anything by none");
	stores_mark(&s, NULL, mark, sizeof mark);
	is(mark, "", "no store has no mark");
	s.token = NULL;
	ok(stores_marked(&s, "token 0123456789abcdef0123456789abcdef") == NULL,
	    "nor is one found that is not there");
	is_int(stores_watched_ms(&s, s.ledger, &(struct idem_digest){ { 1 } },
	    5000), 0, "a ledger's clock is ours: it is always believed");
}

static void
test_configured(void)
{
	static const struct idem_history mine = { { 1 } };
	struct conf_redis redis = {
		.where = here.where, .prefix = here.prefix
	};
	const struct conf both = { .ledger = "/l", .shared = &redis };
	const struct conf none = { .ledger = NULL };
	char place[STORES_PLACE], mark[STORES_MARK];

	place_of(&here, place);
	ok(stores_mark_is_of("ledger 0100000000000000", &both, &mine),
	    "the ledger that is configured is known by its mark");
	ok(!stores_mark_is_of("ledger 0200000000000000", &both, &mine),
	    "and another one in its place");
	ok(stores_mark_is_of("ledger 0200000000000000", &both, NULL),
	    "unless it cannot be opened");
	ok(!stores_mark_is_of("ledger 0100000000000000", &none, NULL),
	    "without one a ledger's is a stranger's");
	snprintf(mark, sizeof mark, "redis script %s", place);
	ok(stores_mark_is_of(mark, &both, &mine), "so with Redis");
	ok(!stores_mark_is_of(mark, &none, NULL), "and without");
	snprintf(mark, sizeof mark, "token %s", place);
	ok(stores_mark_is_of(mark, &both, &mine), "and with its tokens");
	ok(!stores_mark_is_of("redis script 00", &both, &mine),
	    "a Redis elsewhere is a stranger");
	ok(stores_mark_is_of("memory 00", &none, NULL),
	    "a daemon's memory never is");
}

int
main(void)
{
	char mine[STORES_PLACE], other[STORES_PLACE];
	size_t i;

	place_of(&here, mine);
	for (i = 0; i < sizeof places / sizeof *places; i++) {
		place_of(&places[i].place, other);
		ok((strcmp(mine, other) == 0) == places[i].same, "%s",
		    places[i].what);
	}
	test_round();
	test_configured();
	return done();
}
