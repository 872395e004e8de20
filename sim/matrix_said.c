/* SPDX-License-Identifier: ISC */
#include "matrix.h"

#include <stdarg.h>
#include <string.h>

/*
 * Two tables that are in many a text on idempotency tokens, with their words
 * and their rows; and under each row that can be measured what was.
 */

/* --- cells ---------------------------------------------------------------- */

static struct matrix_said_row *
row(struct matrix_said *t, const char *name, enum matrix_source source)
{
	struct matrix_said_row *r = &t->row[t->rows++];

	r->name = name;
	r->source = source;
	return r;
}

/* As many texts as there are columns. */
static void
words(struct matrix_said *t, const char *name, enum matrix_source source, ...)
{
	struct matrix_said_row *r = row(t, name, source);
	va_list list;
	size_t i;

	va_start(list, source);
	for (i = 0; i < t->columns; i++)
		snprintf(r->cells[i], sizeof r->cells[i], "%s",
		    va_arg(list, const char *));
	va_end(list);
}

static const char *
is_run(const struct matrix_cell *c)
{
	return c->runs > 0 ? NULL : "not run";
}

/* "storm: 1 of 53", behind what is there; bits: of what that breaks. */
static void
put_share(struct matrix_said_row *r, size_t i, const char *when,
    const struct matrix_cell *c, size_t n, size_t of, unsigned bits)
{
	const size_t size = MATRIX_SAID_WORDS;
	char *out = r->cells[i];
	size_t len = strlen(out);

	snprintf(out + len, size - len, "%s%s: ", len > 0 ? "; " : "", when);
	len = strlen(out);
	if (is_run(c) != NULL)
		snprintf(out + len, size - len, "%s", is_run(c));
	else
		snprintf(out + len, size - len, "%zu of %zu", n, of);
	r->broken[i] = r->broken[i] || (c->broken & bits) != 0;
}

static void
put_again(struct matrix_said_row *r, size_t i, const struct matrix_cell *c,
    const char *when)
{
	put_share(r, i, when, c, c->again, c->keys, 1u << MATRIX_ONCE);
}

static void
put_lost(struct matrix_said_row *r, size_t i, const struct matrix_cell *c,
    const char *when)
{
	put_share(r, i, when, c, c->lost, c->answered, 1u << MATRIX_KEPT |
	    1u << MATRIX_SAME);
}

static void
put_available(const struct matrix_cell *c, char *out, size_t size)
{
	double now = matrix_available(c);

	if (now < 0)
		snprintf(out, size, "not run");
	else if (c->unprotected > 0)
		snprintf(out, size, "%.0f %% of requests answered, %.0f %% "
		    "unprotected", now * 100, (double)c->unprotected /
		    (double)c->window * 100);
	else
		snprintf(out, size, "%.0f %% of requests answered",
		    now * 100);
}

/* --- three schemes -------------------------------------------------------- */

static const enum matrix_deploy schemes[] = {
	MATRIX_SETNX, MATRIX_CHECK, MATRIX_SCRIPT
};

static void
measure_scheme(struct matrix_cell cells[MATRIX_FAULTS], size_t i,
    struct matrix_said_row *atomic, struct matrix_said_row *fast,
    struct matrix_said_row *kept)
{
	struct matrix_cell *calm = &cells[MATRIX_NONE];
	const size_t size = MATRIX_SAID_WORDS;

	put_again(atomic, i, &cells[MATRIX_STORM], "storm");
	put_again(atomic, i, &cells[MATRIX_SLOW], "slow");
	put_again(atomic, i, &cells[MATRIX_KILLED], "killed");
	if (is_run(calm) != NULL) {
		snprintf(fast->cells[i], size, "not run");
		snprintf(kept->cells[i], size, "not run");
		return;
	}
	snprintf(fast->cells[i], size, "%.1f ms more than the program, 99 %%: "
	    "%.1f ms; %.1f commands a request", matrix_ms(&calm->added, 0.5),
	    matrix_ms(&calm->added, 0.99), calm->tries == 0 ? 0 :
	    (double)calm->commands / (double)calm->tries);
	snprintf(kept->cells[i], size, "%zu of %zu got the answer",
	    calm->replayed, calm->repeats);
}

const char *
matrix_source_text(enum matrix_source from)
{
	switch (from) {
	case MATRIX_WORD:
		return "said";
	case MATRIX_MEASURED:
		return "measured";
	case MATRIX_PROMISE:
		return "promised";
	}
	return "";
}

void
matrix_said_schemes(struct matrix *m, struct matrix_said *t)
{
	struct matrix_said_row *atomic, *fast, *kept;
	size_t i;

	*t = (struct matrix_said){
		.title = "Three ways to keep a key in Redis",
		.about = "As it is often said, and what was measured.  Keys "
		    "that started more than once tell how atomic one is.",
		.columns = 3,
		.heads = { "SETNX", "Check + delete", "Lua script" }
	};
	words(t, "Atomicity", MATRIX_WORD, "high",
	    "medium (there is a race window)", "highest");
	atomic = row(t, "keys started more than once", MATRIX_MEASURED);
	words(t, "Performance", MATRIX_WORD, "very fast", "fast", "fast");
	fast = row(t, "latency added, nothing wrong", MATRIX_MEASURED);
	words(t, "Implementation complexity", MATRIX_WORD, "low", "medium",
	    "high");
	words(t, "Result cache", MATRIX_WORD, "not supported", "supported",
	    "supported");
	kept = row(t, "repeats at another instance", MATRIX_MEASURED);
	words(t, "Suits", MATRIX_WORD, "simple idempotency",
	    "where the result must be returned", "production");
	words(t, "idem promises", MATRIX_PROMISE,
	    matrix_rows[MATRIX_SETNX].promised,
	    matrix_rows[MATRIX_CHECK].promised,
	    matrix_rows[MATRIX_SCRIPT].promised);
	for (i = 0; i < t->columns; i++)
		measure_scheme(m->cells[schemes[i]], i, atomic, fast, kept);
}

/* --- four policies -------------------------------------------------------- */

static const enum matrix_deploy policies[] = {
	MATRIX_SCRIPT, MATRIX_SCRIPT, MATRIX_MEMORY, MATRIX_DATABASE,
	MATRIX_PASS
};

/* The first column is of no outage. */
static void
measure_policy(const struct matrix_cell cells[MATRIX_FAULTS], size_t i,
    struct matrix_said_row *once, struct matrix_said_row *there,
    struct matrix_said_row *kept)
{
	const size_t size = MATRIX_SAID_WORDS;

	if (i == 0) {
		put_again(once, i, &cells[MATRIX_NONE], "nothing wrong");
		put_available(&cells[MATRIX_NONE], there->cells[i], size);
		put_lost(kept, i, &cells[MATRIX_NONE], "nothing wrong");
		return;
	}
	put_again(once, i, &cells[MATRIX_AWAY], "intact");
	put_again(once, i, &cells[MATRIX_EMPTY], "empty");
	put_available(&cells[MATRIX_AWAY], there->cells[i], size);
	put_lost(kept, i, &cells[MATRIX_AWAY], "intact");
	put_lost(kept, i, &cells[MATRIX_EMPTY], "empty");
}

void
matrix_said_policies(struct matrix *m, struct matrix_said *t)
{
	struct matrix_said_row *once, *there, *kept;
	size_t i;

	*t = (struct matrix_said){
		.title = "What to do while Redis is away",
		.about = "Redis is killed, and back half a second later with "
		    "all that it had (intact) or with nothing (empty).  "
		    "Refusing is often called the choice without idempotency "
		    "and with the highest availability: it is the other way "
		    "round.",
		.columns = 5,
		.heads = { "Redis available", "Refuse", "Local cache",
		    "Database", "Log + alert" }
	};
	words(t, "on_outage in idem.conf", MATRIX_WORD, "-", "reject",
	    "memory", "database", "pass");
	words(t, "Strategy", MATRIX_WORD, "-",
	    "refuse requests while Redis is away",
	    "fall back to one host's cache, give up distributed idempotency",
	    "fall back to a table of seen keys",
	    "note the request, people deal with it later");
	words(t, "Suits", MATRIX_WORD, "normal operation", "core payments",
	    "what is not the core", "strong consistency; Redis failures",
	    "what is not real-time");
	words(t, "Idempotency", MATRIX_WORD, "distributed", "none", "-",
	    "the database's", "-");
	once = row(t, "keys started more than once", MATRIX_MEASURED);
	words(t, "Availability", MATRIX_WORD, "depends on Redis", "highest",
	    "-", "high", "-");
	there = row(t, "while it is away", MATRIX_MEASURED);
	words(t, "Consistency risk", MATRIX_WORD, "none", "none", "-",
	    "there may be a delay", "-");
	kept = row(t, "answers lost", MATRIX_MEASURED);
	words(t, "idem promises", MATRIX_PROMISE, "once, same, kept",
	    "once, same, kept while Redis remembers: not after it came back "
	    "empty", "marks each answer unprotected", "marks each answer "
	    "unprotected", "marks each answer unprotected");
	for (i = 0; i < t->columns; i++)
		measure_policy(m->cells[policies[i]], i, once, there, kept);
}
