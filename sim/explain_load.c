/* SPDX-License-Identifier: ISC */
#include "explain_private.h"

#include <string.h>

#define SENDS_SHOWN 40u

/* --- keys and retries ----------------------------------------------------- */

static void
say_source(struct explain_page *p, enum plan_source source, bool one)
{
	switch (source) {
	case PLAN_READY:
		return;
	case PLAN_UUID:
	case PLAN_BUSINESS:
	case PLAN_COMPOSITE:
		explain_say(p, ", made by the client in the style %s",
		    plan_source_text(source));
		return;
	case PLAN_MINT:
		explain_say(p, one ? ", a token that its first user asks the "
		    "endpoint for" : ", tokens that their first users ask the "
		    "endpoint for");
		return;
	case PLAN_FORM:
		explain_say(p, one ? ", a token out of the form of a page, "
		    "which is submitted" : ", tokens out of the forms of "
		    "pages, which are submitted");
		return;
	}
}

static void
say_keys(struct explain_page *p, const struct plan_keys *k)
{
	if (k->once)
		explain_say(p, ", each with a key of its own");
	else if (k->n == 1)
		explain_say(p, " with the key k1");
	else {
		explain_say(p, " with the keys k1 to k%zu", k->n);
		if (k->zipf > 0)
			explain_say(p, ", the first ones most (Zipf %g)",
			    k->zipf);
	}
	say_source(p, k->source, !k->once && k->n == 1);
	if (k->bodies > 1)
		explain_say(p, ", in %s different bodies",
		    explain_few(k->bodies));
}

static void
say_on(struct explain_page *p, unsigned on)
{
	static const struct { unsigned bit; const char *text; } all[] = {
		{ PLAN_ON_TIMEOUT, "a timeout" }, { PLAN_ON_RESET, "a reset" },
		{ PLAN_ON_BUSY, "busy" }, { PLAN_ON_UNAVAILABLE, "503" }
	};
	unsigned left = on;
	size_t i;

	for (i = 0; i < sizeof all / sizeof *all; i++) {
		if ((on & all[i].bit) == 0)
			continue;
		explain_say(p, "%s%s", left == on ? "" :
		    (left & ~all[i].bit) != 0 ? ", " : " or ", all[i].text);
		left &= ~all[i].bit;
	}
}

static void
say_pause(struct explain_page *p, const struct plan_retry *r)
{
	static const char *const jitter[] = { "", ", with full jitter",
	    ", with equal jitter", ", with decorrelated jitter" };

	switch (r->backoff) {
	case PLAN_BACKOFF_NONE:
		explain_say(p, " at once");
		return;
	case PLAN_BACKOFF_CONST:
		explain_say(p, " after %s ms", explain_number(r->base_ms));
		break;
	case PLAN_BACKOFF_EXP:
		explain_say(p, " after %s ms, then twice as long each time",
		    explain_number(r->base_ms));
		if (r->cap_ms > 0)
			explain_say(p, " up to %s ms",
			    explain_number(r->cap_ms));
		break;
	}
	explain_say(p, "%s", jitter[r->jitter]);
}

static void
say_retry(struct explain_page *p, const struct plan_retry *r, bool one)
{
	explain_say(p, " A try is given up after ");
	explain_dist(p, &r->timeout_ms);
	explain_say(p, ".");
	if (r->max <= 1 || r->on == 0)
		return;
	explain_say(p, " After ");
	say_on(p, r->on);
	explain_say(p, one ? " it tries again" : " they try again");
	say_pause(p, r);
	explain_say(p, ", %s %s. At most %s tries a request.", r->rotate ?
	    "each time with a new key" : "with the same key",
	    r->honour_retry_after ? "and not before Retry-After" :
	    "whatever Retry-After says", explain_few(r->max));
}

/* --- scripts -------------------------------------------------------------- */

static void
say_spoilt(struct explain_page *p, enum plan_spoilt spoilt)
{
	switch (spoilt) {
	case PLAN_GOOD:
		return;
	case PLAN_FORGED:
		explain_say(p, ", with a forged signature");
		return;
	case PLAN_UNISSUED:
		explain_say(p, ", but with chance of its own, so that nobody "
		    "has issued it");
		return;
	case PLAN_ELSEWHERE:
		explain_say(p, ", but signed for another route");
		return;
	}
}

static void
say_send(struct explain_page *p, const struct plan_send *s)
{
	size_t i;

	explain_say(p, "%8s ms  %s %s ", explain_number(s->at_ms), s->client,
	    s->get ? s->source == PLAN_FORM ? "loads the page with" :
	    "asks the endpoint for" : "sends");
	if (s->method != NULL)
		explain_say(p, "%s ", s->method);
	explain_say(p, "%s", s->key != NULL ? s->key : "without a key");
	if (!s->get)
		say_source(p, s->source, true);
	say_spoilt(p, s->spoilt);
	if (s->gate >= 0)
		explain_say(p, " to g%d", s->gate + 1);
	if (s->body != NULL && *s->body != '\0')
		explain_say(p, strlen(s->body) > 30 ? ", body \"%.30s...\"" :
		    ", body \"%.30s\"", s->body);
	for (i = 0; i < s->headers_n; i++)
		explain_say(p, ", %s: %s", s->headers[i].name,
		    s->headers[i].value);
	if (s->kept)
		explain_say(p, ", over its kept connection");
	if (s->timeout_ms > 0)
		explain_say(p, ", waits %s ms", explain_number(s->timeout_ms));
	if (s->give_up_ms > 0)
		explain_say(p, ", goes away after %s ms",
		    explain_number(s->give_up_ms));
	if (s->slow_bytes > 0)
		explain_say(p, ", reads %s bytes each 10 ms",
		    explain_number((int64_t)s->slow_bytes));
	explain_break(p, 2, 15);
}

static void
say_script(struct explain_page *p, const struct plan_load *l)
{
	size_t i;

	explain_say(p, "By a script:");
	explain_break(p, 2, 0);
	for (i = 0; i < l->sends_n && i < SENDS_SHOWN; i++)
		say_send(p, &l->sends[i]);
	if (i < l->sends_n) {
		explain_say(p, "and %s more.", explain_number(
		    (int64_t)(l->sends_n - i)));
		explain_break(p, 13, 0);
	}
}

/* --- loads ---------------------------------------------------------------- */

static void
say_closed(struct explain_page *p, const struct plan_load *l)
{
	bool one = l->clients == 1;

	explain_say(p, "%s client%s send%s %s request%s%s", one ? "One" :
	    explain_number((int64_t)l->clients), one ? "" : "s",
	    one ? "s" : "", explain_few(l->requests_per_client),
	    l->requests_per_client == 1 ? "" : "s", one ? "" : " each");
	if (l->requests_per_client > 1)
		explain_say(p, ", one after the other%s", l->keys.once ? "" :
		    ",");
	say_keys(p, &l->keys);
	if (l->think_ms.kind != PLAN_CONST || l->think_ms.a > 0) {
		explain_say(p, ", and pause for ");
		explain_dist(p, &l->think_ms);
	}
	explain_say(p, ".");
}

static void
say_open(struct explain_page *p, const struct plan_load *l)
{
	explain_say(p, "%g requests a second come for %s ms%s", l->rate,
	    explain_number(l->for_ms), l->poisson ? " by chance (Poisson)" :
	    ", evenly");
	say_keys(p, &l->keys);
	explain_say(p, ".");
}

static void
say_storm(struct explain_page *p, const struct plan_load *l)
{
	explain_say(p, "At %s ms %s clients send a request each within %s ms",
	    explain_number(l->at_ms), explain_number((int64_t)l->clients),
	    explain_number(l->within_ms));
	say_keys(p, &l->keys);
	explain_say(p, ".");
}

void
explain_load(struct explain_page *p)
{
	const struct plan_load *l = p->plan->loads;
	size_t i;

	for (i = 0; i < p->plan->loads_n; i++, l++) {
		switch (l->kind) {
		case PLAN_CLOSED:
			say_closed(p, l);
			break;
		case PLAN_OPEN:
			say_open(p, l);
			break;
		case PLAN_STORM:
			say_storm(p, l);
			break;
		case PLAN_SCRIPT:
			say_script(p, l);
			continue;
		}
		say_retry(p, &l->retry, l->clients == 1);
		explain_break(p, 2, 0);
	}
}
