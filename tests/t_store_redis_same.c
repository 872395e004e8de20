/* SPDX-License-Identifier: ISC */
#include "chance.h"
#include "redis_store.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * The script decides as lib/verdict.c does: random calls on few keys come to
 * the same on a Redis and in the store in memory.  SEED=N repeats a run.
 */
#define TRACES 200
#define CALLS 45

/* One of few, so that they meet. */
static unsigned
few(uint32_t *chance)
{
	return 1 + chance_below(chance, 2 + chance_below(chance, 2));
}

static const char *
maybe(uint32_t *chance, unsigned in, const char *what)
{
	return chance_below(chance, in) == 0 ? what : "";
}

static unsigned
below(uint32_t *chance, unsigned n)
{
	return chance_below(chance, n);
}

static void
random_claim(uint32_t *c, char *line, size_t size)
{
	char over[60] = "";

	if (below(c, 3) == 0)
		snprintf(over, sizeof over, " over=o%u attempt=%u max=%u",
		    few(c), below(c, 4), 1 + below(c, 3));
	snprintf(line, size, "claim k%u o%u f%u g%u lease=%u%s%s%s%s%s%s%s",
	    few(c), few(c), 1 + (below(c, 8) == 0), 1 + (below(c, 8) == 0),
	    below(c, 500), over, maybe(c, 5, " look"), maybe(c, 8, " late"),
	    maybe(c, 6, " anew"), maybe(c, 5, " issued"),
	    maybe(c, 4, " strict"), maybe(c, 8, " history=other"));
}

static void
random_settle(uint32_t *c, char *line, size_t size)
{
	static const char *const hows[] = { "done", "not-done", "forget" };
	unsigned how = below(c, 3);

	snprintf(line, size, "settle %s k%u o%u o%u %u%s keep=%u tombstone=%u",
	    hows[how], few(c), few(c), few(c), below(c, 4),
	    how == 0 ? maybe(c, 2, " A") : "", below(c, 900),
	    1 + below(c, 900));
	/* Done demands an answer, or the word that there is none. */
	if (how == 0 && strstr(line, " A keep") == NULL)
		snprintf(line, size, "settle done k%u o%u o%u %u - keep=%u",
		    few(c), few(c), few(c), below(c, 4), below(c, 900));
}

static void
random_write(uint32_t *c, char *line, size_t size)
{
	switch (below(c, 5)) {
	case 0:
		snprintf(line, size, "renew k%u o%u %u lease=%u", few(c),
		    few(c), below(c, 4), below(c, 500));
		return;
	case 1:
		snprintf(line, size, "release k%u o%u %u tombstone=%u", few(c),
		    few(c), below(c, 4), 1 + below(c, 900));
		return;
	case 2:
		snprintf(line, size, "unknown k%u o%u %u", few(c), few(c),
		    below(c, 4));
		return;
	case 3:
		snprintf(line, size, "issue k%u o%u keep=%u", few(c), few(c),
		    1 + below(c, 900));
		return;
	}
	snprintf(line, size, "complete k%u o%u %u big:%u keep=%u tombstone=%u"
	    "%s%s", few(c), few(c), below(c, 4), below(c, 300), below(c, 900),
	    1 + below(c, 900), maybe(c, 4, " strict"),
	    maybe(c, 8, " history=other"));
}

static void
random_line(uint32_t *c, char *line, size_t size)
{
	switch (below(c, 10)) {
	case 0:
	case 1:
	case 2:
	case 3:
		random_claim(c, line, size);
		return;
	case 4:
	case 5:
	case 6:
		random_write(c, line, size);
		return;
	case 7:
		random_settle(c, line, size);
		return;
	case 8:
		snprintf(line, size, "%s +%u",
		    below(c, 2) == 0 ? "wall" : "boot", below(c, 400));
		return;
	}
	switch (below(c, 3)) {
	case 0:
		/* Which it takes first is nobody's business: all of them. */
		snprintf(line, size, "sweep");
		return;
	case 1:
		snprintf(line, size, "list all rows=%u", 1 + below(c, 5));
		return;
	}
	snprintf(line, size, "show k%u", few(c));
}

/* --- both ----------------------------------------------------------------- */

/* The number of lines that came to the same; CALLS: all. */
static unsigned
compare(struct redis_store *s, struct trace *memory, uint32_t *chance,
    char *wrong, size_t wrong_size)
{
	char line[200], theirs[300];
	unsigned i;

	for (i = 0; i < CALLS; i++) {
		random_line(chance, line, sizeof line);
		trace_run(memory, line, theirs, sizeof theirs);
		redis_store_say(s, "%s", line);
		if (strcmp(theirs, s->out) == 0)
			continue;
		snprintf(wrong, wrong_size, "%s -> %s, and in memory %s", line,
		    s->out, theirs);
		break;
	}
	return i;
}

/* All records of a store, as a store of one string a key has them. */
static void
pack_all(struct trace *t, struct idem_buf *to)
{
	const struct idem_store_call call = {
		.op = IDEM_STORE_LIST,
		.states = UINT32_MAX,
		.deadline_ms = INT64_MAX / 2,
	};
	struct idem_store_answer a;
	uint32_t i;

	idem_store_wait(t->store, &call, &a);
	for (i = 0; i < a.result.count; i++) {
		idem_buf_append(to, a.listed[i].key.at, IDEM_DIGEST_LEN);
		idem_record_write(to, &a.listed[i].record);
	}
	idem_store_answer_free(&a);
}

static bool
equal(struct trace *a, struct trace *b)
{
	struct idem_buf ours = { 0 }, theirs = { 0 };
	bool same;

	pack_all(a, &ours);
	pack_all(b, &theirs);
	same = idem_bytes_equal(idem_buf_bytes(&ours),
	    idem_buf_bytes(&theirs));
	idem_buf_free(&ours);
	idem_buf_free(&theirs);
	return same;
}

static void
test_traces(struct redis_rig *server, uint32_t *chance)
{
	struct redis_store s;
	struct trace memory;
	unsigned i, same = 0, equals = 0;
	char wrong[900] = "";

	for (i = 0; i < TRACES && wrong[0] == '\0'; i++) {
		redis_rig_say(server, "FLUSHALL", NULL);
		s = (struct redis_store){
			.server = server,
			.options.fixed_time = true,
			.options.token = true,
			.options.inline_max = 1 + chance_below(chance, 300),
		};
		redis_store_open(&s);
		trace_init(&memory);
		memory.store = idem_store_memory(&memory.clock, &memory.boot);
		if (memory.store == NULL)
			bail_out("no memory");
		same += compare(&s, &memory, chance, wrong, sizeof wrong);
		equals += equal(&s.t, &memory);
		memory.store->ops->close(memory.store);
		redis_store_close(&s);
	}
	is_int(same, TRACES * CALLS, "%d random traces come to the same as in "
	    "the reference", TRACES);
	is_int(equals, TRACES, "and leave the same records, to the last bit");
	if (wrong[0] != '\0')
		note("trace %u, line %u: %s", i, same % CALLS, wrong);
}

int
main(void)
{
	const char *given = getenv("SEED");
	uint32_t seed = given != NULL ? (uint32_t)strtoul(given, NULL, 10) :
	    (uint32_t)getpid();
	struct redis_rig server;

	if (redis_rig_missing() != NULL)
		skip_all(redis_rig_missing());
	seed += seed == 0;
	note("SEED=%u", seed);
	redis_rig_start(&server, NULL);
	test_traces(&server, &seed);
	redis_rig_end(&server);
	return done();
}
