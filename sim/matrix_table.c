/* SPDX-License-Identifier: ISC */
#include "matrix.h"

#include <string.h>

const struct matrix_title matrix_titles[MATRIX_VIEWS] = {
	[MATRIX_AGAIN] = { "Keys that started more than once",
	    "Of all keys that clients asked for." },
	[MATRIX_STARTS] = { "Starts per key",
	    "The mean; in brackets the most of one key.  Below 1: keys that "
	    "nobody could start." },
	[MATRIX_LOST] = { "Answers lost",
	    "Keys of which a client had read a final answer, and which do not "
	    "give it when all is well again; of all that were answered." },
	[MATRIX_UNKNOWN] = { "Answers that say that nobody knows",
	    "So many of clients' requests were told that the end of a run is "
	    "not known, or that the answer was not kept; in brackets keys that "
	    "never gave an answer of the program." },
	[MATRIX_AVAILABLE] = { "Availability while it goes wrong",
	    "Per cent of requests, retries too, that had the program's answer "
	    "within 400 ms, and the change against the same time with nothing "
	    "wrong." },
	[MATRIX_LATENCY] = { "Latency of first runs",
	    "Milliseconds that a request takes beyond the program itself, "
	    "median/99 %, of those that ran it and were answered in time; and "
	    "how much more the 99 % are than with nothing wrong." },
	[MATRIX_KEPT_WORD] = { "What idem promises there, and whether it held",
	    "Of the promises once, same, kept, honest and settled: how many "
	    "are made there, and held; \"4 of 5\": the fifth was not put "
	    "to the test; \"not shown\": what was to go wrong did not." }
};

/* --- what stands in a cell ------------------------------------------------ */

static enum matrix_level
level(double bad, double some, double much)
{
	return bad >= much ? MATRIX_MUCH : bad >= some ? MATRIX_SOME :
	    MATRIX_PLAIN;
}

static double
share(size_t n, size_t of)
{
	return of > 0 ? (double)n / (double)of : 0;
}

static enum matrix_level
say_again(const struct matrix_cell *c, char *out, size_t size)
{
	snprintf(out, size, "%zu/%zu", c->again, c->keys);
	return c->again > 0 ? level(share(c->again, c->keys), 0, 0.1) :
	    MATRIX_PLAIN;
}

static enum matrix_level
say_starts(const struct matrix_cell *c, char *out, size_t size)
{
	size_t more = c->starts > c->keys ? c->starts - c->keys : 0;

	snprintf(out, size, "%.2f (%zu)", share(c->starts, c->keys), c->most);
	return c->again > 0 ? level(share(more, c->keys), 0, 0.1) :
	    MATRIX_PLAIN;
}

static enum matrix_level
say_lost(const struct matrix_cell *c, char *out, size_t size)
{
	snprintf(out, size, "%zu/%zu", c->lost, c->answered);
	return c->lost > 0 ? level(share(c->lost, c->answered), 0, 0.1) :
	    MATRIX_PLAIN;
}

static enum matrix_level
say_unknown(const struct matrix_cell *c, char *out, size_t size)
{
	if (c->unserved > 0)
		snprintf(out, size, "%zu (%zu)", c->unknown, c->unserved);
	else
		snprintf(out, size, "%zu", c->unknown);
	return c->unknown + c->unserved > 0 ? level(share(c->unknown,
	    c->tries) + share(c->unserved, c->keys), 0, 0.1) : MATRIX_PLAIN;
}

static enum matrix_level
say_available(const struct matrix_cell *c, const struct matrix_cell *calm,
    char *out, size_t size)
{
	double now = matrix_available(c), then = matrix_available(calm);

	if (now < 0) {
		snprintf(out, size, "-");
		return MATRIX_PLAIN;
	}
	if (then < 0 || now - then > -0.005)
		snprintf(out, size, "%.0f", now * 100);
	else
		snprintf(out, size, "%.0f \xe2\x88\x92%.0f", now * 100,
		    (then - now) * 100);
	return then < 0 ? MATRIX_PLAIN : level(then - now, 0.05, 0.3);
}

static enum matrix_level
say_latency(struct matrix_cell *c, struct matrix_cell *calm, char *out,
    size_t size)
{
	double half = matrix_ms(&c->added, 0.5);
	double most = matrix_ms(&c->added, 0.99);
	double more = most - matrix_ms(&calm->added, 0.99);

	if (half < 0) {
		snprintf(out, size, "-");
		return MATRIX_PLAIN;
	}
	if (calm->added.n == 0 || more < 0.5)
		snprintf(out, size, "%.0f/%.0f", half, most);
	else
		snprintf(out, size, "%.0f/%.0f %+.0f", half, most, more);
	return calm->added.n > 0 ? level(more, 50, 150) : MATRIX_PLAIN;
}

static enum matrix_level
say_promise(const struct matrix_cell *c, char *out, size_t size)
{
	size_t i, n = 0, tried = 0;

	for (i = 0; i < MATRIX_PROMISES; i++) {
		if (c->broken >> i & 1) {
			snprintf(out, size, "no: %s", matrix_promise_words[i]);
			return MATRIX_BROKEN;
		}
		n += c->promised >> i & 1;
		tried += c->promised >> i & c->tried >> i & 1;
	}
	if (n == 0)
		snprintf(out, size, "none");
	else if (c->idle != NULL)
		snprintf(out, size, "not shown");
	else if (tried < n)
		snprintf(out, size, "%zu of %zu", tried, n);
	else if (n == MATRIX_PROMISES)
		snprintf(out, size, "all held");
	else
		snprintf(out, size, "%zu held", n);
	return MATRIX_PLAIN;
}

/* A promise that a table's number is of. */
static bool
is_of(enum matrix_view v, unsigned broken)
{
	return ((v == MATRIX_AGAIN || v == MATRIX_STARTS) &&
	    (broken >> MATRIX_ONCE & 1) != 0) ||
	    (v == MATRIX_LOST && (broken & (1u << MATRIX_KEPT |
	    1u << MATRIX_SAME)) != 0);
}

enum matrix_level
matrix_say(struct matrix *m, enum matrix_view v, enum matrix_deploy d,
    enum matrix_fault f, char *out, size_t size)
{
	struct matrix_cell *c = &m->cells[d][f];
	struct matrix_cell *calm = &m->cells[d][MATRIX_NONE];
	enum matrix_level bad = MATRIX_PLAIN;

	if (c->runs == 0) {
		snprintf(out, size, c->here ? "?" : "-");
		return MATRIX_PLAIN;
	}
	switch (v) {
	case MATRIX_AGAIN:
		bad = say_again(c, out, size);
		break;
	case MATRIX_STARTS:
		bad = say_starts(c, out, size);
		break;
	case MATRIX_LOST:
		bad = say_lost(c, out, size);
		break;
	case MATRIX_UNKNOWN:
		bad = say_unknown(c, out, size);
		break;
	case MATRIX_AVAILABLE:
		bad = say_available(c, calm, out, size);
		break;
	case MATRIX_LATENCY:
		bad = say_latency(c, calm, out, size);
		break;
	case MATRIX_KEPT_WORD:
		bad = say_promise(c, out, size);
		break;
	case MATRIX_VIEWS:
		break;
	}
	return is_of(v, c->broken) ? MATRIX_BROKEN : bad;
}

/* --- all of them ---------------------------------------------------------- */

size_t
matrix_broken(const struct matrix *m)
{
	size_t d, f, n = 0;

	for (d = 0; d < MATRIX_DEPLOYS; d++)
		for (f = 0; f < MATRIX_FAULTS; f++)
			n += m->cells[d][f].broken != 0;
	return n;
}

size_t
matrix_run(const struct matrix *m)
{
	size_t d, f, n = 0;

	for (d = 0; d < MATRIX_DEPLOYS; d++)
		for (f = 0; f < MATRIX_FAULTS; f++)
			n += m->cells[d][f].runs > 0;
	return n;
}

const char *
matrix_open_text(const struct matrix_cell *c, char *out, size_t size)
{
	if (c->runs == 0 && c->open > 0)
		snprintf(out, size, "%.300s", c->why);
	else if (c->runs > 0 && c->idle != NULL)
		snprintf(out, size, "it never came to this: %.300s", c->idle);
	else
		return NULL;
	return out;
}

size_t
matrix_open(const struct matrix *m)
{
	char why[MATRIX_WORDS];
	size_t d, f, n = 0;

	for (d = 0; d < MATRIX_DEPLOYS; d++)
		for (f = 0; f < MATRIX_FAULTS; f++)
			n += matrix_open_text(&m->cells[d][f], why,
			    sizeof why) != NULL;
	return n;
}
