/* SPDX-License-Identifier: ISC */
#include "outcome.h"

#include <stddef.h>
#include <string.h>

static const char *const words[OUTCOMES] = {
	[OUTCOME_NONE] = "none",
	[OUTCOME_OK] = "ok",
	[OUTCOME_FAIL] = "fail",
	[OUTCOME_BUSY] = "busy",
	[OUTCOME_UNKNOWN] = "unknown",
	[OUTCOME_INFO] = "info"
};

const char *
outcome_text(enum outcome o)
{
	return words[o];
}

bool
outcome_find(const char *word, enum outcome *out)
{
	size_t i;

	for (i = 0; i < OUTCOMES; i++)
		if (strcmp(words[i], word) == 0) {
			*out = (enum outcome)i;
			return true;
		}
	return false;
}

const char *
outcome_end_text(enum outcome_end end)
{
	switch (end) {
	case OUTCOME_WHOLE:
		return "whole";
	case OUTCOME_REFUSED:
		return "refused";
	case OUTCOME_CUT:
		return "cut";
	case OUTCOME_TIMEOUT:
		return "timeout";
	case OUTCOME_GAVE_UP:
		return "gave-up";
	}
	return "";
}

/*
 * Idempotency-Status, and what follows from it.  A row with a status is of
 * that one only, and stands before the one for all others.  What is not here
 * was run by somebody, or may have been, and is not known to be stored.
 */
static const struct row {
	const char *mark;
	int status;		/* 0: any */
	enum outcome is;
} rows[] = {
	{ "stored", 0, OUTCOME_OK },
	{ "replayed", 0, OUTCOME_OK },
	{ "in-progress", 0, OUTCOME_BUSY },
	{ "unknown", 409, OUTCOME_UNKNOWN },	/* 502, 504: this try ran */
	{ "void-token", 0, OUTCOME_UNKNOWN },
	{ "not-kept", 0, OUTCOME_UNKNOWN },
	{ "expired", 410, OUTCOME_FAIL },	/* a token that is too old */
	{ "expired", 0, OUTCOME_UNKNOWN },
	{ "rejected", 0, OUTCOME_FAIL },
	{ "mismatch", 0, OUTCOME_FAIL },
	{ "withheld", 0, OUTCOME_FAIL },
	{ "not-started", 0, OUTCOME_FAIL }
};

static enum outcome
of_answer(int status, const char *mark)
{
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++)
		if (strcmp(rows[i].mark, mark) == 0 &&
		    (rows[i].status == 0 || rows[i].status == status))
			return rows[i].is;
	return OUTCOME_INFO;
}

enum outcome
outcome_of(bool keyed, enum outcome_end end, int status, const char *mark)
{
	switch (end) {
	case OUTCOME_WHOLE:
		if (!keyed)
			return OUTCOME_OK;
		return of_answer(status, mark != NULL ? mark : "");
	case OUTCOME_REFUSED:
		return OUTCOME_FAIL;
	case OUTCOME_CUT:
	case OUTCOME_TIMEOUT:
	case OUTCOME_GAVE_UP:
		break;
	}
	return OUTCOME_INFO;
}
