/* SPDX-License-Identifier: ISC */
#include "problem.h"

#include "tap.h"

#include <string.h>

/* What each problem is to the client (idemd(8), ANSWERS). */
static const struct {
	enum idem_problem problem;
	int code;
	const char *mark, *type;
	bool retry_after;
} rows[] = {
	{ IDEM_PROBLEM_KEY_MISSING, 400, "rejected", "key-missing", false },
	{ IDEM_PROBLEM_KEY_MALFORMED, 400, "rejected", "key-malformed", false },
	{ IDEM_PROBLEM_KEY_TOO_LONG, 400, "rejected", "key-too-long", false },
	{ IDEM_PROBLEM_KEYS_DIFFER, 400, "rejected", "keys-differ", false },
	{ IDEM_PROBLEM_REQUEST_BROKEN, 400, "rejected", "request-broken",
	  false },
	{ IDEM_PROBLEM_MISMATCH, 422, "mismatch", "mismatch", false },
	{ IDEM_PROBLEM_WITHHELD, 409, "withheld", "withheld", false },
	{ IDEM_PROBLEM_IN_PROGRESS, 409, "in-progress", "in-progress", true },
	{ IDEM_PROBLEM_ACCEPTED, 202, "in-progress", "accepted", true },
	{ IDEM_PROBLEM_UNKNOWN, 409, "unknown", "unknown", false },
	{ IDEM_PROBLEM_VOID_TOKEN, 409, "void-token", "void-token", false },
	{ IDEM_PROBLEM_FOREIGN_TOKEN, 403, "rejected", "foreign-token", false },
	{ IDEM_PROBLEM_TOKEN_EXPIRED, 410, "expired", "token-expired", false },
	{ IDEM_PROBLEM_KEY_EXPIRED, 409, "expired", "key-expired", false },
	{ IDEM_PROBLEM_STORE_AWAY, 503, "not-started", "store-away", true },
	{ IDEM_PROBLEM_BUSY, 503, "not-started", "busy", true },
	{ IDEM_PROBLEM_NO_SPACE, 503, "not-started", "no-space", true },
	{ IDEM_PROBLEM_RELEASED, 503, "not-started", "released", true },
	{ IDEM_PROBLEM_NO_PROGRAM, 404, "not-started", "no-program", false },
	{ IDEM_PROBLEM_FORBIDDEN_PROGRAM, 403, "not-started",
	  "forbidden-program", false },
	{ IDEM_PROBLEM_BROKEN_PROGRAM, 500, "not-started", "broken-program",
	  false },
	{ IDEM_PROBLEM_BACKEND_AWAY, 503, "not-started", "backend-away",
	  true },
	{ IDEM_PROBLEM_KEY_FUNCTION, 500, "not-started", "key-function",
	  false },
	{ IDEM_PROBLEM_TOO_MUCH_HEAD, 431, "not-started", "too-much-head",
	  false },
	{ IDEM_PROBLEM_TOO_MUCH_BODY, 413, "not-started", "too-much-body",
	  false },
	{ IDEM_PROBLEM_DIED, 502, "unknown", "died", false },
	{ IDEM_PROBLEM_CUT, 504, "unknown", "cut", false },
	{ IDEM_PROBLEM_LOST, 504, "unknown", "lost", false },
	{ IDEM_PROBLEM_UNRECORDED, 504, "unrecorded", "unrecorded", false },
	{ IDEM_PROBLEM_NOT_KEPT, 409, "not-kept", "not-kept", false },
	{ IDEM_PROBLEM_TOKEN_PATH, 400, "rejected", "token-path", false },
	{ IDEM_PROBLEM_NO_TOKEN_ROUTE, 404, "not-started", "no-token-route",
	  false },
	{ IDEM_PROBLEM_TOKEN_METHOD, 405, "rejected", "token-method", false },
	{ IDEM_PROBLEM_TOO_MANY_TOKENS, 429, "not-started", "too-many-tokens",
	  true },
};

#define ROWS (sizeof rows / sizeof *rows)

static bool
ends_as_sentence(const char *text)
{
	size_t len = strlen(text);

	return len > 1 && text[len - 1] == '.';
}

static void
check_forms(void)
{
	const struct idem_problem_form *form;
	size_t i;

	is_int(ROWS, IDEM_PROBLEMS - 1, "every problem has a row here");
	for (i = 0; i < ROWS; i++) {
		form = idem_problem_form(rows[i].problem);
		is_int(rows[i].problem, (long long)i + 1, "%s has its row",
		    rows[i].type);
		is_int(form->code, rows[i].code, "%s has its code",
		    rows[i].type);
		is(idem_mark_text(form->mark), rows[i].mark,
		    "%s has its mark", rows[i].type);
		is(form->type, rows[i].type, "%s has its type", rows[i].type);
		ok(form->retry_after == rows[i].retry_after,
		    "%s has Retry-After or not", rows[i].type);
		ok(strlen(form->title) > 10 && !ends_as_sentence(form->title) &&
		    ends_as_sentence(form->detail),
		    "%s has a title and a detail", rows[i].type);
		ok((strncmp(form->detail, "Nothing was done", 16) == 0) ==
		    (strcmp(rows[i].mark, "rejected") == 0 ||
		    strcmp(rows[i].mark, "mismatch") == 0 ||
		    strcmp(rows[i].mark, "withheld") == 0 ||
		    strcmp(rows[i].mark, "void-token") == 0 ||
		    strcmp(rows[i].mark, "expired") == 0 ||
		    strcmp(rows[i].mark, "not-started") == 0),
		    "%s says that nothing was done only if so", rows[i].type);
	}
}

static void
check_marks(void)
{
	static const char *const marks[] = {
		"", "stored", "replayed", "rejected", "mismatch", "withheld",
		"in-progress", "unknown", "void-token", "expired",
		"not-started", "unrecorded", "released", "stored-without-body",
		"not-kept", "unprotected", "ignored"
	};
	size_t i;

	is_int(sizeof marks / sizeof *marks, IDEM_SAYS_COUNT,
	    "every mark has a row here");
	for (i = 0; i < sizeof marks / sizeof *marks; i++)
		is(idem_mark_text((enum idem_mark)i), marks[i],
		    "mark %zu is \"%s\"", i, marks[i]);
}

int
main(void)
{
	check_forms();
	check_marks();
	return done();
}
