/* SPDX-License-Identifier: ISC */
#include "ctl.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPEN_STATES (1u << IDEM_STATE_UNKNOWN | 1u << IDEM_STATE_IN_PROGRESS)
#define WIDTH 100		/* columns of the table */
#define INDENT (CTL_DIGITS + 2)

/* What nobody knows, or nobody looks after. */
struct unknowns {
	struct ctl_found *at;	/* owned */
	size_t len, size;
	size_t listed;		/* of stores: sorted by owner */
};

static int
add(const struct ctl *c, struct unknowns *u, const struct ctl_found *f)
{
	size_t size = u->size == 0 ? 64 : 2 * u->size;
	struct ctl_found *at;

	if (u->len == u->size) {
		at = reallocarray(u->at, size, sizeof *at);
		if (at == NULL)
			return ctl_say(c, CTL_FAILED, "out of memory");
		u->at = at;
		u->size = size;
	}
	u->at[u->len++] = *f;
	return CTL_DONE;
}

/* --- in the stores -------------------------------------------------------- */

static int
add_listed(struct ctl *c, const struct ctl_found *f, void *arg)
{
	struct ctl_run run;

	if (f->l.record.state == IDEM_STATE_IN_PROGRESS) {
		ctl_run_look(c, f, &run);
		if (run.proof == IDEM_PROOF_NONE)
			return CTL_DONE;
	}
	return add(c, arg, f);
}

static int
by_owner(const void *a, const void *b)
{
	const struct ctl_found *one = a, *two = b;

	return memcmp(one->l.record.owner.at, two->l.record.owner.at,
	    sizeof one->l.record.owner.at);
}

/* One that cannot be asked is no reason not to say what another knows. */
static int
look_in_stores(struct ctl *c, struct unknowns *u, bool asked[CTL_KINDS])
{
	int status = CTL_DONE, one;
	size_t i;

	for (i = 0; i < c->stores_len; i++) {
		one = ctl_each(c, &c->stores[i], OPEN_STATES, 0, add_listed,
		    u);
		asked[c->stores[i].kind] = one == CTL_DONE;
		if (one != CTL_DONE)
			status = one;
	}
	u->listed = u->len;
	if (u->len > 0)
		qsort(u->at, u->len, sizeof *u->at, by_owner);
	return status;
}

/* --- in the run folder ---------------------------------------------------- */

/* By the mark of a note (stores.h): may it be there, though not listed? */
static bool
is_elsewhere(const struct ctl *c, const char *mark,
    const bool asked[CTL_KINDS])
{
	bool ledger = strncmp(mark, "ledger", 6) == 0;
	bool named = ledger ? c->conf->ledger != NULL : c->conf->shared != NULL;

	if (strncmp(mark, "memory", 6) == 0)
		return c->in == NULL;
	if (c->in != NULL && (strcmp(c->in, "ledger") == 0) != ledger)
		return false;
	return named && !asked[ledger ? CTL_LEDGER : CTL_REDIS];
}

static bool
is_listed(const struct unknowns *u, const struct idem_owner *owner)
{
	struct ctl_found one = { .l.record.owner = *owner };

	return u->listed > 0 &&
	    bsearch(&one, u->at, u->listed, sizeof one, by_owner) != NULL;
}

/*
 * Of stores that could not be asked, or that live in a daemon's memory, the
 * files tell what they can.
 */
static int
look_at_file(const struct ctl *c, const struct idem_owner *owner,
    const bool asked[CTL_KINDS], struct unknowns *u)
{
	struct ctl_found f = { .in = NULL };
	struct idem_evidence e;

	if (is_listed(u, owner))
		return CTL_DONE;
	idem_evidence(c->folder, owner, &e, NULL);
	if (!e.noted || (!e.unknown && e.lock != IDEM_RUN_FREE) ||
	    !is_elsewhere(c, e.note.store, asked))
		return CTL_DONE;
	ctl_run_record(&e, &f.l);
	return add(c, u, &f);
}

static int
look_in_folder(const struct ctl *c, const bool asked[CTL_KINDS],
    struct unknowns *u)
{
	struct idem_journal_walk w;
	struct idem_owner owner;
	int status = CTL_DONE, unknown;

	for (unknown = 0; unknown < 2 && c->folder >= 0; unknown++) {
		if (!idem_journal_walk(c->folder, unknown != 0, &w))
			return ctl_say(c, CTL_FAILED, "the run folder cannot "
			    "be read");
		while (status == CTL_DONE && idem_journal_next(&w, &owner))
			status = look_at_file(c, &owner, asked, u);
		idem_journal_walk_end(&w);
	}
	return status;
}

/* --- said ----------------------------------------------------------------- */

static int64_t
since(const struct ctl_found *f)
{
	const struct idem_record *r = &f->l.record;

	return r->ended_at != 0 ? r->ended_at : r->made_at;
}

static int
by_age(const void *a, const void *b)
{
	const struct ctl_found *one = a, *two = b;
	int64_t x = since(one), y = since(two);

	return x < y ? -1 : x > y ? 1 :
	    memcmp(one->l.key.at, two->l.key.at, sizeof one->l.key.at);
}

/* In the two largest units. */
static void
say_age(int64_t ms, char *to, size_t size)
{
	int64_t s = ms > 0 ? ms / 1000 : 0;

	if (s < 60)
		snprintf(to, size, "%" PRId64 "s", s);
	else if (s < 3600)
		snprintf(to, size, "%" PRId64 "m%02" PRId64 "s", s / 60,
		    s % 60);
	else if (s < 86400)
		snprintf(to, size, "%" PRId64 "h%02" PRId64 "m", s / 3600,
		    s / 60 % 60);
	else
		snprintf(to, size, "%" PRId64 "d%02" PRId64 "h", s / 86400,
		    s / 3600 % 24);
}

/* The end of a route's text, its file and line, says more than its beginning;
   so does a request's beginning. */
static void
say_second(const char *evidence, const char *route)
{
	size_t room = WIDTH - INDENT, len = strlen(evidence);
	size_t route_len = strlen(route), cut;

	printf("%*s%s", INDENT, "", evidence);
	if (route_len > 0 && len + 8 < room) {
		room -= len + 2;	/* "; " */
		cut = route_len > room ? route_len - room + 3 : 0;
		printf("; %s%s", cut > 0 ? "..." : "", route + cut);
	}
	putchar('\n');
}

static void
say_row(const struct ctl *c, const struct ctl_found *f)
{
	char key[CTL_KEY], age[32], in[32], evidence[CTL_EVIDENCE];
	char asked[IDEM_NOTE_TEXT] = "-", route[IDEM_NOTE_TEXT] = "";
	struct ctl_run run;
	int column;

	ctl_run_look(c, f, &run);
	ctl_run_evidence(c, f, &run, evidence);
	if (run.known) {
		ctl_plain(run.e.note.what, asked, sizeof asked);
		ctl_plain(run.e.note.route, route, sizeof route);
	}
	idem_hex(f->l.key.at, sizeof f->l.key.at, key);
	say_age(idem_wall_ms(&idem_clock_real) - since(f), age, sizeof age);
	column = printf("%.*s  %-9s  %-6s  %7" PRIu32 "  %6s  ", CTL_DIGITS,
	    key, ctl_condition(f, &run), ctl_in_text(f, &run, in, sizeof in),
	    f->l.record.attempt, age);
	printf("%.*s\n", WIDTH - column, asked);
	say_second(evidence, route);
}

static int
say_all(const struct ctl *c, const struct unknowns *u)
{
	int status = CTL_DONE;
	size_t i;

	if (!c->json && u->len > 0)
		printf("%-*s  %-9s  %-6s  ATTEMPT     AGE  ASKED, AND WHAT IS "
		    "KNOWN\n", CTL_DIGITS, "KEY", "IS", "IN");
	for (i = 0; i < u->len && status == CTL_DONE; i++) {
		if (!c->json) {
			say_row(c, &u->at[i]);
			continue;
		}
		status = ctl_say_json(c, &u->at[i]);
		putchar('\n');
	}
	return status;
}

int
ctl_unknown(struct ctl *c)
{
	struct unknowns u = { .at = NULL };
	bool asked[CTL_KINDS] = { false };
	int status, said;

	if (c->args_len > 0)
		return ctl_say(c, CTL_WRONG, "%s: it takes no key",
		    c->args[0]);
	status = ctl_open(c, true, true);
	if (status != CTL_DONE)
		return status;
	status = look_in_stores(c, &u, asked);
	said = look_in_folder(c, asked, &u);
	if (u.len > 0)
		qsort(u.at, u.len, sizeof *u.at, by_age);
	if (said == CTL_DONE)
		said = say_all(c, &u);
	free(u.at);
	if (status == CTL_DONE)
		status = c->in_part ? CTL_FAILED : said;
	return status == CTL_DONE && u.len > 0 ? CTL_NO : status;
}
