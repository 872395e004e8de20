/* SPDX-License-Identifier: ISC */
#include "doctor.h"

#include <inttypes.h>

static const char *
outage_text(enum idem_on_outage on_outage)
{
	switch (on_outage) {
	case IDEM_REJECT:
		return "reject";
	case IDEM_TO_MEMORY:
		return "memory";
	case IDEM_TO_DATABASE:
		return "database";
	case IDEM_PASS:
		return "pass";
	}
	return "?";
}

static void
judge_scheme(const struct doctor_route *r, struct doctor_findings *f)
{
	switch (r->scheme) {
	case IDEM_SCHEME_SCRIPT:
		return;
	case IDEM_SCHEME_SETNX:
	case IDEM_SCHEME_CHECK:
		doctor_find(f, DOCTOR_WARN, DOCTOR_SCHEME, "%s: scheme is "
		    "\"%s\"", r->text, r->scheme == IDEM_SCHEME_SETNX ?
		    "setnx" : "check");
		return;
	}
}

static void
judge_run(const struct doctor_route *r, struct doctor_findings *f)
{
	if (r->cgi && !r->spool)
		doctor_find(f, DOCTOR_WARN, DOCTOR_SPOOL, "%s: spool is off",
		    r->text);
	if (r->lease_auto)
		doctor_find(f, DOCTOR_OK, DOCTOR_LEASE, "%s: its lease is "
		    "measured, from %" PRId64 " to %" PRId64 " s", r->text,
		    r->lease_min_ms / 1000, r->lease_max_ms / 1000);
}

static void
judge_unknown(const struct doctor_route *r, struct doctor_findings *f)
{
	if (r->on_unknown == IDEM_RETRY)
		doctor_find(f, DOCTOR_NOTE, DOCTOR_RERUN, "%s: on_unknown is "
		    "\"retry\"", r->text);
	if (r->on_unknown != IDEM_PROBING || r->probe == NULL)
		return;
	if (r->probe_error[0] != '\0')
		doctor_find(f, DOCTOR_FAIL, DOCTOR_PROBE, "%s: its probe %s "
		    "cannot be run: %s", r->text, r->probe, r->probe_error);
	else
		doctor_find(f, DOCTOR_OK, DOCTOR_PROBE, "%s: its probe is %s",
		    r->text, r->probe);
}

void
doctor_judge_route(const struct doctor_route *r, struct doctor_findings *f)
{
	if (r->promises[0] != '\0')
		doctor_find(f, r->all ? DOCTOR_OK : DOCTOR_NOTE,
		    DOCTOR_PROMISES, "%s: %s", r->text, r->promises);
	if (r->arbiter == IDEM_ARBITER_REDIS) {
		if (r->on_outage != IDEM_REJECT)
			doctor_find(f, DOCTOR_WARN, DOCTOR_OUTAGE, "%s: "
			    "on_outage is \"%s\"", r->text,
			    outage_text(r->on_outage));
		judge_scheme(r, f);
	}
	judge_run(r, f);
	judge_unknown(r, f);
}
