/* SPDX-License-Identifier: ISC */
#include "conf_private.h"

#include <stdio.h>
#include <string.h>

/* The table of promises by arbiter (doc/design.md, 2), one row each. */
struct row {
	const char *once, *same_answer, *kept, *fails_when;
};

static const struct row by_ledger = { "yes", "yes", "yes",
    "the ledger's file is deleted, or an older one is restored in its place; "
    "power fails and the disk has lied about what it had written" };
static const struct row by_token = { "yes", "or-unknown", "or-unknown",
    "somebody restores keys into Redis by hand, or sets the machine it runs on "
    "back to a snapshot" };
static const struct row by_scheme[] = {
	[IDEM_SCHEME_SCRIPT] = { "while", "while", "while",
	    "Redis forgets: a flush, an eviction, an empty restart, the tail "
	    "of a failover" },
	[IDEM_SCHEME_SETNX] = { "no", "no", "no",
	    "a run outlives its lease, somebody else releases it, or Redis "
	    "forgets; no answer is ever stored" },
	[IDEM_SCHEME_CHECK] = { "no", "no", "no",
	    "two requests come at once, or Redis forgets" },
};
static const struct row by_outage[] = {
	[IDEM_REJECT] = { NULL, NULL, NULL, NULL },
	[IDEM_TO_MEMORY] = { "no", "no", "no",
	    "Redis is away, and after it: each host remembers alone, and until "
	    "its idemd ends" },
	[IDEM_TO_DATABASE] = { "no", "no", "no",
	    "Redis goes away: the ledger does not know what ran before, nor "
	    "what other hosts' ledgers know" },
	[IDEM_PASS] = { "no", "no", "no",
	    "Redis is away: everything runs, as often as it is asked for" },
};

/* The worst that the operator has chosen. */
static const struct row *
row_of(const struct conf_route *r)
{
	const struct idem_policy *p = &r->route.policy;

	switch (p->arbiter) {
	case IDEM_ARBITER_LEDGER:
		return &by_ledger;
	case IDEM_ARBITER_TOKEN:
		return &by_token;
	case IDEM_ARBITER_REDIS:
		break;
	}
	if (r->scheme != IDEM_SCHEME_SCRIPT || p->on_outage == IDEM_REJECT)
		return &by_scheme[r->scheme];
	return &by_outage[p->on_outage];
}

/* --- words ---------------------------------------------------------------- */

static void
choices(const struct conf_route *r, struct conf_promise *out)
{
	static const char *const arbiters[] = {
		[IDEM_ARBITER_LEDGER] = "ledger",
		[IDEM_ARBITER_TOKEN] = "token", [IDEM_ARBITER_REDIS] = "redis"
	};
	static const char *const schemes[] = {
		[IDEM_SCHEME_SCRIPT] = "script", [IDEM_SCHEME_SETNX] = "setnx",
		[IDEM_SCHEME_CHECK] = "check"
	};
	static const char *const outages[] = {
		[IDEM_REJECT] = "reject", [IDEM_TO_MEMORY] = "memory",
		[IDEM_TO_DATABASE] = "database", [IDEM_PASS] = "pass"
	};
	static const char *const unknowns[] = {
		[IDEM_BLOCK] = "block", [IDEM_RETRY] = "retry",
		[IDEM_PROBING] = "probe"
	};
	const struct idem_policy *p = &r->route.policy;

	out->arbiter = arbiters[p->arbiter];
	if (p->arbiter == IDEM_ARBITER_REDIS) {
		out->scheme = schemes[r->scheme];
		out->on_outage = outages[p->on_outage];
	}
	out->on_unknown = unknowns[p->on_unknown];
}

/* One of the words, in a sentence. */
static const char *
said(const char *word, const char *yes, const char *or_unknown,
    const char *while_, const char *no)
{
	if (strcmp(word, "or-unknown") == 0)
		return or_unknown;
	if (strcmp(word, "while") == 0)
		return while_;
	return strcmp(word, "no") == 0 ? no : yes;
}

/* What is known of the run before: of an application elsewhere only the time,
   and so of one of another host. */
static const char *
before_that(const struct conf_route *r, bool while_)
{
	if (while_)
		return " while Redis remembers it";
	return r->program.kind == PROGRAM_FASTCGI ?
	    ", each when the limit of the run before is over" :
	    ", each after the run before is surely dead";
}

static void
say_once(struct idem_buf *b, const struct conf_route *r, const char *once)
{
	const struct idem_policy *p = &r->route.policy;
	bool while_ = strcmp(once, "while") == 0;

	if (strcmp(once, "no") == 0)
		idem_buf_text(b, "a key may run again");
	else if (p->on_unknown == IDEM_RETRY)
		idem_buf_printf(b, "a key runs up to %u times%s",
		    p->attempts_max, before_that(r, while_));
	else if (p->on_unknown == IDEM_PROBING)
		idem_buf_printf(b, "a key runs again only by the word of its "
		    "probe that nothing had happened%s", while_ ?
		    ", while Redis remembers it" : "");
	else
		idem_buf_printf(b, "a key runs once%s", while_ ?
		    " while Redis remembers it" : "");
}

static void
say_kept(struct idem_buf *b, const struct idem_route *r, const char *kept)
{
	idem_buf_text(b, said(kept, "and for as long as it is kept",
	    "and for as long as it is kept, or \"unknown\" once Redis forgot",
	    "and for as long as it is kept and remembered", "and change"));
	if (r->times.keep_min_ms >= r->times.keep_ms || strcmp(kept, "no") == 0)
		return;
	idem_buf_text(b, ", which is ");
	conf_say_time(b, r->times.keep_min_ms);
	idem_buf_text(b, " when room is short");
}

static void
sentence(const struct conf_route *r, struct conf_promise *p)
{
	struct idem_buf b = { .max = sizeof p->sentence };

	say_once(&b, r, p->once);
	idem_buf_printf(&b, "; %s; ", said(p->same_answer,
	    "all get the same answer",
	    "all get the same answer, or \"unknown\"",
	    "all get the same answer while it does", "answers may differ"));
	say_kept(&b, &r->route, p->kept);
	if (!r->spool)
		idem_buf_text(&b, "; a killed worker makes its keys unknown");
	idem_buf_printf(&b, "; fails when %s%c", p->fails_when, '\0');
	snprintf(p->sentence, sizeof p->sentence, "%s", idem_buf_ok(&b) ?
	    (char *)b.at : "no memory");
	idem_buf_free(&b);
}

void
conf_promises(const struct conf *c, const struct conf_route *r,
    struct conf_promise *out)
{
	const struct row *row = row_of(r);

	(void)c;
	*out = (struct conf_promise){
		.once = row->once, .same_answer = row->same_answer,
		.kept = row->kept, .fails_when = row->fails_when
	};
	choices(r, out);
	if (r->route.policy.on_unknown != IDEM_BLOCK &&
	    strcmp(row->once, "yes") == 0)
		out->once = out->on_unknown;
	sentence(r, out);
}
