/* SPDX-License-Identifier: ISC */
#include "problem.h"

#include <assert.h>

const char *
idem_mark_text(enum idem_mark mark)
{
	static const char *const texts[IDEM_SAYS_COUNT] = {
		[IDEM_SAYS_NONE] = "",
		[IDEM_SAYS_STORED] = "stored",
		[IDEM_SAYS_REPLAYED] = "replayed",
		[IDEM_SAYS_REJECTED] = "rejected",
		[IDEM_SAYS_MISMATCH] = "mismatch",
		[IDEM_SAYS_WITHHELD] = "withheld",
		[IDEM_SAYS_IN_PROGRESS] = "in-progress",
		[IDEM_SAYS_UNKNOWN] = "unknown",
		[IDEM_SAYS_VOID_TOKEN] = "void-token",
		[IDEM_SAYS_EXPIRED] = "expired",
		[IDEM_SAYS_NOT_STARTED] = "not-started",
		[IDEM_SAYS_UNRECORDED] = "unrecorded",
		[IDEM_SAYS_RELEASED] = "released",
		[IDEM_SAYS_STORED_WITHOUT_BODY] = "stored-without-body",
		[IDEM_SAYS_NOT_KEPT] = "not-kept",
		[IDEM_SAYS_UNPROTECTED] = "unprotected",
		[IDEM_SAYS_IGNORED] = "ignored",
	};

	assert(mark < IDEM_SAYS_COUNT);
	return texts[mark];
}

/*
 * The readers are people in front of a form and the authors of clients.  A
 * detail says first whether anything was done, since that decides what they
 * may do next, and never tells them to repeat what may have happened.
 */
static const struct idem_problem_form forms[IDEM_PROBLEMS] = {
	[IDEM_PROBLEM_KEY_MISSING] = { 400, IDEM_SAYS_REJECTED, false,
	    "key-missing", "The request has no idempotency key",
	    "Nothing was done. In a browser, load the form again; otherwise "
	    "send the request again with the field Idempotency-Key and a key "
	    "of its own in it." },
	[IDEM_PROBLEM_KEY_MALFORMED] = { 400, IDEM_SAYS_REJECTED, false,
	    "key-malformed", "The idempotency key cannot be read",
	    "Nothing was done. Send the request again with a key of 1 to 255 "
	    "letters, digits and hyphens, for example a UUID." },
	[IDEM_PROBLEM_KEY_TOO_LONG] = { 400, IDEM_SAYS_REJECTED, false,
	    "key-too-long", "The idempotency key is too long",
	    "Nothing was done. Send the request again with a key of at most "
	    "255 bytes." },
	[IDEM_PROBLEM_KEYS_DIFFER] = { 400, IDEM_SAYS_REJECTED, false,
	    "keys-differ", "The request has different idempotency keys",
	    "Nothing was done. Send the request again with one key only." },
	[IDEM_PROBLEM_REQUEST_BROKEN] = { 400, IDEM_SAYS_REJECTED, false,
	    "request-broken", "The request did not arrive whole",
	    "Nothing was done. Its body is shorter or longer than announced; "
	    "send the request again." },
	[IDEM_PROBLEM_MISMATCH] = { 422, IDEM_SAYS_MISMATCH, false,
	    "mismatch", "This key belongs to a different request",
	    "Nothing was done now. A different request was sent with this key "
	    "before. In a browser, load the form again to send a new one; "
	    "otherwise send it with a new key." },
	[IDEM_PROBLEM_WITHHELD] = { 409, IDEM_SAYS_WITHHELD, false,
	    "withheld", "The answer is for somebody with other credentials",
	    "Nothing was done now. This request was sent before with other "
	    "credentials; sign in as you were then and send it again." },
	[IDEM_PROBLEM_IN_PROGRESS] = { 409, IDEM_SAYS_IN_PROGRESS, true,
	    "in-progress", "The request is still in progress",
	    "It was sent before and has not ended yet. Wait a moment, then "
	    "send it again with the same key to get its answer; in a browser, "
	    "load this page again." },
	[IDEM_PROBLEM_ACCEPTED] = { 202, IDEM_SAYS_IN_PROGRESS, true,
	    "accepted", "The request is in progress",
	    "It was accepted and has not ended yet. Send it again later with "
	    "the same key to get its answer." },
	[IDEM_PROBLEM_UNKNOWN] = { 409, IDEM_SAYS_UNKNOWN, false,
	    "unknown", "Nobody can say whether the request took effect",
	    "It was started before and was interrupted. Check whether it took "
	    "effect, or ask those who run this site, before you send it as a "
	    "new one." },
	[IDEM_PROBLEM_VOID_TOKEN] = { 409, IDEM_SAYS_VOID_TOKEN, false,
	    "void-token", "This token is not valid any more",
	    "Nothing was done now, but a request sent with it before may have "
	    "taken effect. Check that first; then get a new token, for example "
	    "by loading the form again." },
	[IDEM_PROBLEM_FOREIGN_TOKEN] = { 403, IDEM_SAYS_REJECTED, false,
	    "foreign-token", "This token was not issued here",
	    "Nothing was done. Get a token from this site, for example by "
	    "loading its form again, and send the request with it." },
	[IDEM_PROBLEM_TOKEN_EXPIRED] = { 410, IDEM_SAYS_EXPIRED, false,
	    "token-expired", "This token is too old",
	    "Nothing was done now. If you sent a request with it before, check "
	    "whether that took effect; then get a new token, for example by "
	    "loading the form again." },
	[IDEM_PROBLEM_KEY_EXPIRED] = { 409, IDEM_SAYS_EXPIRED, false,
	    "key-expired", "This key was used before",
	    "Nothing was done now. A request was sent with this key before and "
	    "its answer is no longer kept. In a browser, load the form again "
	    "to send a new one; otherwise send it with a new key." },
	[IDEM_PROBLEM_STORE_AWAY] = { 503, IDEM_SAYS_NOT_STARTED, true,
	    "store-away", "The request cannot be taken at the moment",
	    "Nothing was done. The site cannot reach its records, so it does "
	    "not start anything; send the request again a little later, in a "
	    "browser by loading this page again." },
	[IDEM_PROBLEM_BUSY] = { 503, IDEM_SAYS_NOT_STARTED, true,
	    "busy", "The site is busy",
	    "Nothing was done. Send the request again a little later." },
	[IDEM_PROBLEM_NO_SPACE] = { 503, IDEM_SAYS_NOT_STARTED, true,
	    "no-space", "The request cannot be taken at the moment",
	    "Nothing was done. The site cannot write down what would come of "
	    "it, so it does not start anything; send the request again a "
	    "little later." },
	[IDEM_PROBLEM_RELEASED] = { 503, IDEM_SAYS_NOT_STARTED, true,
	    "released", "The request was not started",
	    "Nothing was done. The same request was waited for, and it came "
	    "to nothing; send it again." },
	[IDEM_PROBLEM_NO_PROGRAM] = { 404, IDEM_SAYS_NOT_STARTED, false,
	    "no-program", "There is nothing at this address",
	    "Nothing was done. Check the address." },
	[IDEM_PROBLEM_FORBIDDEN_PROGRAM] = { 403, IDEM_SAYS_NOT_STARTED, false,
	    "forbidden-program", "The program may not be run",
	    "Nothing was done. Tell those who run this site that its program "
	    "is not executable." },
	[IDEM_PROBLEM_BROKEN_PROGRAM] = { 500, IDEM_SAYS_NOT_STARTED, false,
	    "broken-program", "The program cannot be started",
	    "Nothing was done. Tell those who run this site." },
	[IDEM_PROBLEM_BACKEND_AWAY] = { 503, IDEM_SAYS_NOT_STARTED, true,
	    "backend-away", "The program cannot be reached",
	    "Nothing was done. Send the request again a little later." },
	[IDEM_PROBLEM_KEY_FUNCTION] = { 500, IDEM_SAYS_NOT_STARTED, false,
	    "key-function", "The request's key cannot be determined",
	    "Nothing was done. Tell those who run this site that its function "
	    "for keys failed." },
	[IDEM_PROBLEM_TOO_MUCH_HEAD] = { 431, IDEM_SAYS_NOT_STARTED, false,
	    "too-much-head", "The request's header fields are too large",
	    "Nothing was done. Send the request again with fewer or shorter "
	    "fields; in a browser, delete the cookies of this site first." },
	[IDEM_PROBLEM_TOO_MUCH_BODY] = { 413, IDEM_SAYS_NOT_STARTED, false,
	    "too-much-body", "The request's body is too large",
	    "Nothing was done. Send less at once." },
	[IDEM_PROBLEM_DIED] = { 502, IDEM_SAYS_UNKNOWN, false,
	    "died", "The program ended without a whole answer",
	    "The request may have taken effect. Check whether it did before "
	    "you send it as a new one." },
	[IDEM_PROBLEM_CUT] = { 504, IDEM_SAYS_UNKNOWN, false,
	    "cut", "The program was stopped before its answer was whole",
	    "The request may have taken effect. Check whether it did before "
	    "you send it as a new one." },
	[IDEM_PROBLEM_LOST] = { 504, IDEM_SAYS_UNKNOWN, false,
	    "lost", "The request was taken over while it ran",
	    "The request may have taken effect. Check whether it did before "
	    "you send it as a new one." },
	[IDEM_PROBLEM_UNRECORDED] = { 504, IDEM_SAYS_UNRECORDED, false,
	    "unrecorded", "The answer could not be recorded",
	    "The request was carried out, but its answer is not stored yet. "
	    "Send it again later with the same key; do not send it as a new "
	    "one." },
	[IDEM_PROBLEM_NOT_KEPT] = { 409, IDEM_SAYS_NOT_KEPT, false,
	    "not-kept", "The answer is not kept",
	    "The request was carried out before, and nothing was done now. "
	    "Its answer cannot be shown again." },
	[IDEM_PROBLEM_TOKEN_PATH] = { 400, IDEM_SAYS_REJECTED, false,
	    "token-path", "It is not said what the token is for",
	    "Nothing was done. Ask again with the parameter path in the "
	    "query, once, and in it the path that the request with the token "
	    "will be sent to." },
	[IDEM_PROBLEM_NO_TOKEN_ROUTE] = { 404, IDEM_SAYS_NOT_STARTED, false,
	    "no-token-route", "No tokens are issued for this path",
	    "Nothing was done. Check the path; if it is the right one, a "
	    "request to it needs no token from here." },
	[IDEM_PROBLEM_TOKEN_METHOD] = { 405, IDEM_SAYS_REJECTED, false,
	    "token-method", "A token is asked for with POST",
	    "Nothing was done. Send the request again with the method POST." },
	[IDEM_PROBLEM_TOO_MANY_TOKENS] = { 429, IDEM_SAYS_NOT_STARTED, true,
	    "too-many-tokens", "Too many tokens are asked for",
	    "Nothing was done. Ask again a little later; keep the token of a "
	    "request for all its repetitions." },
};

const struct idem_problem_form *
idem_problem_form(enum idem_problem problem)
{
	assert(problem > IDEM_PROBLEM_NONE && problem < IDEM_PROBLEMS);
	return &forms[problem];
}
