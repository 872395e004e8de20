/* SPDX-License-Identifier: ISC */
#include "report_private.h"

#include <inttypes.h>
#include <string.h>

#define ONLY_MAX 200u		/* of a pattern */

static const char *
plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* --- a point's name ------------------------------------------------------- */

/* Most names say the value; where none does, points would be named alike. */
void
report_say_title(struct idem_buf *out, const struct plan *p,
    const struct history *worst)
{
	const struct history_head *head = worst != NULL ? &worst->head : NULL;
	const char *name = p != NULL ? p->name : head != NULL ? head->scenario :
	    NULL;
	const struct plan_pair *params = p != NULL ? p->params :
	    head != NULL ? head->params : NULL;
	size_t n = p != NULL ? p->params_n : head != NULL ? head->params_n : 0;
	const char *before = " (";
	size_t i;

	if (name == NULL)
		name = "a scenario without a name";
	idem_buf_text(out, name);
	for (i = 0; i < n; i++) {
		if (strstr(name, params[i].value) != NULL)
			continue;
		idem_buf_printf(out, "%s%s=%s", before, params[i].name,
		    params[i].value);
		before = ", ";
	}
	if (before[0] == ',')
		idem_buf_u8(out, ')');
}

/* --- what its line says --------------------------------------------------- */

bool
report_say_control(const struct judge_point *p)
{
	size_t i;

	if (p->verdict != JUDGE_PASS || p->plan == NULL)
		return false;
	for (i = 0; i < PLAN_INVARIANTS; i++)
		if (p->plan->expect.violates[i])
			return true;
	return false;
}

static void
say_control(struct idem_buf *out, const struct plan_expect *e)
{
	const char *before = "negative control: ";
	size_t i;

	for (i = 0; i < PLAN_INVARIANTS; i++) {
		if (!e->violates[i])
			continue;
		idem_buf_printf(out, "%s%s", before,
		    plan_invariant_text((enum plan_invariant)i));
		before = ", ";
	}
	idem_buf_text(out, " violated as it must");
	if (e->blames != NULL)
		idem_buf_printf(out, " (%s)", e->blames);
}

static void
say_figures(struct idem_buf *out, const struct judge_point *p)
{
	idem_buf_printf(out, "%u run%s, %" PRIu64 " %s, %" PRIu64 " key%s, %"
	    PRIu64 " start%s, %" PRId64 " ms", p->runs, plural(p->runs),
	    p->tries, p->tries == 1 ? "try" : "tries", p->keys,
	    plural(p->keys), p->starts, plural(p->starts), p->wall_ms);
}

static const char *
message_of(const struct judge_point *p)
{
	if (p->message[0] != '\0')
		return p->message;
	if (p->worst.message[0] != '\0')
		return p->worst.message;
	return "nobody said why";
}

void
report_say_sum(struct idem_buf *out, const struct judge_point *p)
{
	switch (p->verdict) {
	case JUDGE_PASS:
		if (report_say_control(p))
			say_control(out, &p->plan->expect);
		else
			say_figures(out, p);
		return;
	case JUDGE_FAIL:
		if (report_say_finding(&p->worst) != NULL)
			idem_buf_printf(out, "%s violated",
			    plan_invariant_text(p->worst.finding.invariant));
		else
			idem_buf_text(out, message_of(p));
		return;
	case JUDGE_INCONCLUSIVE:
	case JUDGE_VACUOUS:
		idem_buf_printf(out, "%s: %s", judge_text(p->verdict),
		    message_of(p));
		return;
	case JUDGE_SKIP:
	case JUDGE_VERDICTS:
		return;
	}
}

/* --- a conflict, faults --------------------------------------------------- */

/* Of a control too; one that was shown before all went wrong is not meant. */
const struct check_finding *
report_say_finding(const struct judge_run *run)
{
	return run != NULL && run->by_check && (run->verdict == JUDGE_FAIL ||
	    run->verdict == JUDGE_PASS) ? &run->finding : NULL;
}

bool
report_say_event(const struct history *h, const struct check_finding *f,
    size_t nth, char *out, size_t size)
{
	const struct history_event *e;
	struct idem_buf time = { 0 };
	char words[200];

	if (h == NULL || nth >= f->events_n || f->events[nth] == 0 ||
	    f->events[nth] > h->n)
		return false;
	e = &h->events[f->events[nth] - 1];
	report_text_time(&time, e->t_ns);
	snprintf(out, size, "i=%u at %s: %s", (unsigned)e->i,
	    report_buf_text(&time),
	    history_event_text(e, words, sizeof words));
	idem_buf_free(&time);
	return true;
}

const char *
report_say_fault(const struct plan *p, unsigned id, char *out, size_t size)
{
	const struct plan_action *a = plan_action_at(p, id);

	if (a == NULL)
		snprintf(out, size, "fault %u", id);
	else
		plan_action_text(p, a, out, size);
	return out;
}

bool
report_say_heals(const struct plan *p, unsigned id)
{
	const struct plan_action *a = plan_action_at(p, id);

	return a != NULL && plan_action_heals(a);
}

/* --- again ---------------------------------------------------------------- */

static void
say_pair(struct idem_buf *out, const struct plan_pair *pair)
{
	struct idem_buf both = { 0 };

	idem_buf_printf(&both, "%s=%s", pair->name, pair->value);
	idem_buf_text(out, " --param ");
	report_text_shell(out, report_buf_text(&both));
	idem_buf_free(&both);
}

/*
 * Of a file's points with these parameters; --only takes a pattern, which says
 * of a long name how it begins, and of what cannot be copied from a terminal
 * that something is there.
 */
static void
say_only(struct idem_buf *out, const char *name)
{
	struct idem_buf pattern = { 0 };
	bool any = false;

	for (; *name != '\0' && pattern.len < ONLY_MAX; name++) {
		if (*name < ' ' || *name > '~') {
			if (!any)
				idem_buf_u8(&pattern, '*');
			any = true;
			continue;
		}
		any = false;
		if (strchr("\\*?[]", *name) != NULL)
			idem_buf_u8(&pattern, '\\');
		idem_buf_u8(&pattern, (uint8_t)*name);
	}
	if (*name != '\0' && !any)
		idem_buf_u8(&pattern, '*');
	idem_buf_text(out, " --only ");
	report_text_shell(out, report_buf_text(&pattern));
	idem_buf_free(&pattern);
}

void
report_say_again(struct idem_buf *out, const char *command,
    const struct plan *p, const struct history *worst)
{
	const char *file = p != NULL ? p->file : worst != NULL ?
	    worst->head.file : NULL;
	const char *name = p != NULL ? p->name : worst != NULL ?
	    worst->head.scenario : NULL;
	size_t i;

	idem_buf_text(out, command != NULL ? command : "idemsim run");
	if (file != NULL) {
		/* Else it would be an option. */
		idem_buf_text(out, *file == '-' ? " ./" : " ");
		report_text_shell(out, file);
	}
	for (i = 0; p != NULL && i < p->params_n; i++)
		say_pair(out, &p->params[i]);
	for (i = 0; p == NULL && worst != NULL && i < worst->head.params_n; i++)
		say_pair(out, &worst->head.params[i]);
	if (name != NULL)
		say_only(out, name);
	if (worst != NULL)
		idem_buf_printf(out, " --seed 0x%" PRIx64, worst->head.seed);
}
