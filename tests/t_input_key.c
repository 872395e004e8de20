/* SPDX-License-Identifier: ISC */
#include "ask.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Which key a request carries, if any, and what a key may look like. */

#define FORM "application/x-www-form-urlencoded"

static const char place[] = COUNT
    "printf 'Status: 201 Created\\nContent-Type: text/plain\\n\\n'\n"
    "echo \"order $$\"\n";

static struct rig_request
order(const char *const *fields)
{
	return (struct rig_request){
		.method = "POST",
		.path = "/place",
		.type = FORM,
		.body = idem_bytes_text("item=tea"),
		.more = fields
	};
}

/* --- refused -------------------------------------------------------------- */

static const struct {
	const char *what;
	const char *type;	/* the end of the problem's */
	const char *fields[3];
} bad[] = {
	{ "a string without its end", "key-malformed",
	    { "HTTP_IDEMPOTENCY_KEY=\"k" } },
	{ "a blank in a bare key", "key-malformed",
	    { "HTTP_IDEMPOTENCY_KEY=k k" } },
	{ "a key of UTF-8", "key-malformed",
	    { "HTTP_IDEMPOTENCY_KEY=\"kl\xc3\xa9\"" } },
	{ "a tab in a string", "key-malformed",
	    { "HTTP_IDEMPOTENCY_KEY=\"k\tk\"" } },
	{ "CR and LF in a string", "key-malformed",
	    { "HTTP_IDEMPOTENCY_KEY=\"k\r\nk\"" } },
	{ "CR and LF after a bare key", "key-malformed",
	    { "HTTP_IDEMPOTENCY_KEY=k\r\n" } },
	{ "a bad escape", "key-malformed",
	    { "HTTP_IDEMPOTENCY_KEY=\"k\\k\"" } },
	{ "bytes after a string", "key-malformed",
	    { "HTTP_IDEMPOTENCY_KEY=\"k\"k" } },
	{ "a field without a value", "key-malformed",
	    { "HTTP_IDEMPOTENCY_KEY=" } },
	{ "a field of blanks", "key-malformed",
	    { "HTTP_IDEMPOTENCY_KEY=  " } },
	{ "an empty string", "key-malformed",
	    { "HTTP_IDEMPOTENCY_KEY=\"\"" } },
	{ "two different fields", "keys-differ",
	    { "HTTP_IDEMPOTENCY_KEY=k1", "HTTP_IDEMPOTENCY_KEY=k2" } },
	{ "two different names", "keys-differ",
	    { "HTTP_IDEMPOTENCY_KEY=k1", "HTTP_X_IDEMPOTENCY_KEY=k2" } },
	{ "two different keys in one field", "keys-differ",
	    { "HTTP_IDEMPOTENCY_KEY=k1, k2" } },
	{ "keys that differ in case", "keys-differ",
	    { "HTTP_IDEMPOTENCY_KEY=k, K" } },
	{ "a key and nothing", "keys-differ",
	    { "HTTP_IDEMPOTENCY_KEY=k," } },
};

static void
refused(struct rig *rig)
{
	struct rig_request request;
	struct rig_answer answer;
	char type[64];
	size_t i;

	for (i = 0; i < sizeof bad / sizeof *bad; i++) {
		request = order(bad[i].fields);
		rig_request(rig, &request, &answer);
		told(&answer, "400 rejected", "%s", bad[i].what);
		snprintf(type, sizeof type, "%s\"", bad[i].type);
		ok(memmem(answer.body.at, answer.body.len, type, strlen(type))
		    != NULL, "%s is said to be %s", bad[i].what, bad[i].type);
		rig_answer_free(&answer);
	}
	is_int(starts(rig), 0, "nothing was started for any of them "
	    "[cgi:C73 idem:D17]");
}

/* As many fields as anybody sends, and the last is another. */
static void
many_fields(struct rig *rig, int equal, const char *last, const char *want)
{
	const char *fields[200] = { NULL };
	struct rig_request request = order(fields);
	int i;

	for (i = 0; i < equal; i++)
		fields[i] = "HTTP_IDEMPOTENCY_KEY=many";
	fields[i] = last;
	ask(rig, &request, want, "%d equal fields and one more", equal);
}

/* --- length --------------------------------------------------------------- */

static const struct {
	size_t len;
	bool quoted;
	const char *want;
} lengths[] = {
	{ 1, false, "201 stored" },
	{ 255, false, "201 stored" },
	{ 255, true, "201 replayed" },
	{ 256, false, "400 rejected" },
	{ 256, true, "400 rejected" },
	{ 10240, false, "400 rejected" },
	{ 10240, true, "400 rejected" },
};

static void
length(struct rig *rig)
{
	char key[10300];
	struct rig_request request = order(NULL);
	size_t i, len;

	request.key = key;
	for (i = 0; i < sizeof lengths / sizeof *lengths; i++) {
		len = lengths[i].len;
		memset(key, 'k', len + 2);
		if (lengths[i].quoted) {
			key[0] = key[len + 1] = '"';
			len += 2;
		}
		key[len] = '\0';
		ask(rig, &request, lengths[i].want, "a key of %zu bytes, %s",
		    lengths[i].len, lengths[i].quoted ? "quoted" : "bare");
	}
}

/* --- one key, however it is written --------------------------------------- */

static const char *const spellings[][3] = {
	{ "HTTP_IDEMPOTENCY_KEY=one" },
	{ "HTTP_IDEMPOTENCY_KEY=\"one\"" },
	{ "HTTP_IDEMPOTENCY_KEY= one " },
	{ "HTTP_IDEMPOTENCY_KEY=\"one\";a=1" },
	{ "HTTP_X_IDEMPOTENCY_KEY=one" },
	{ "HTTP_X_IDEMPOTENCY_KEY=\"one\"" },
	{ "HTTP_IDEMPOTENCY_KEY=one", "HTTP_IDEMPOTENCY_KEY=one" },
	{ "HTTP_IDEMPOTENCY_KEY=one", "HTTP_IDEMPOTENCY_KEY=\"one\"" },
	{ "HTTP_IDEMPOTENCY_KEY=\"one\"", "HTTP_X_IDEMPOTENCY_KEY=one" },
	{ "HTTP_IDEMPOTENCY_KEY=\"one\", one" },
};

static void
one_key(struct rig *rig)
{
	struct rig_answer first = { 0 }, answer;
	struct rig_request request;
	long before = starts(rig);
	size_t i;

	for (i = 0; i < sizeof spellings / sizeof *spellings; i++) {
		request = order(spellings[i]);
		rig_request(rig, &request, &answer);
		told(&answer, i == 0 ? "201 stored" : "201 replayed", "%s %s",
		    spellings[i][0], spellings[i][1] ? spellings[i][1] : "");
		if (i == 0)
			first = answer;
		else {
			is_bytes(answer.body.at, answer.body.len,
			    first.body.at, first.body.len, "the same answer");
			rig_answer_free(&answer);
		}
	}
	rig_answer_free(&first);
	is_int(starts(rig) - before, 1, "all of them are one key: one start "
	    "[cgi:C73]");
}

/* Whatever a store makes of them: each is a key of its own. */
static const char *const odd[] = {
	"{}", "*", ":", "?", "%", "..", "../../etc/passwd", "$(id)", "`id`",
	"\"'; DROP TABLE record; --\"", "\"a\\\"b\"", "\"a\\\\b\"", "\" \"",
	"NULL", "0", "-1",
};

static void
odd_keys(struct rig *rig)
{
	struct rig_request request = order(NULL);
	long before = starts(rig);
	size_t i, n = sizeof odd / sizeof *odd;

	for (i = 0; i < n; i++) {
		request.key = odd[i];
		ask(rig, &request, "201 stored", "the key %s", odd[i]);
	}
	for (i = 0; i < n; i++) {
		request.key = odd[i];
		ask(rig, &request, "201 replayed", "the key %s again", odd[i]);
	}
	is_int(starts(rig) - before, (long long)n, "each was started once");
}

/* --- methods -------------------------------------------------------------- */

static const struct {
	const char *method, *key, *want;
} methods[] = {
	{ "GET", "m", "201 ignored" },
	{ "HEAD", "m", "201 ignored" },
	{ "PUT", "m", "201 ignored" },
	{ "DELETE", "m", "201 ignored" },
	{ "OPTIONS", "m", "201 ignored" },
	{ "GET", NULL, "201" },
	{ "HEAD", NULL, "201" },
	{ "POST", NULL, "201" },
	{ "POST", "m", "201 stored" },
	{ "PATCH", "m", "201 stored" },	/* a method is part of the scope */
	{ "POST", "m", "201 replayed" },
	{ "PATCH", "m", "201 replayed" },
	{ "GET", "m", "201 ignored" },
};

static void
each_method(struct rig *rig, size_t runs)
{
	struct rig_request request = order(NULL);
	long before = starts(rig);
	size_t i;

	for (i = 0; i < sizeof methods / sizeof *methods; i++) {
		request.method = methods[i].method;
		request.key = methods[i].key;
		ask(rig, &request, methods[i].want, "%s with %s key",
		    methods[i].method, methods[i].key != NULL ? "a" : "no");
	}
	is_int(starts(rig) - before, (long long)runs,
	    "all but the replays were started");
}

static void
required(struct rig *rig)
{
	struct rig_request request = order(NULL);
	long before = starts(rig);

	ask(rig, &request, "400 rejected", "no key where one is required");
	request.method = "PATCH";
	ask(rig, &request, "400 rejected", "nor for PATCH");
	is_int(starts(rig) - before, 0, "nothing was started without it");
	request.method = "GET";
	ask(rig, &request, "201", "GET needs none");
	request.method = "POST";
	request.key = "required";
	ask(rig, &request, "201 stored", "with a key it is as ever");
}

/* --- what must not be written down ---------------------------------------- */

static bool
holds(struct rig *rig, const char *name, const char *text)
{
	FILE *file = fopen(rig_at(rig, name), "re");
	static char all[4 << 20];
	size_t len;

	if (file == NULL)
		return false;
	len = fread(all, 1, sizeof all, file);
	fclose(file);
	return memmem(all, len, text, strlen(text)) != NULL;
}

static void
secrets(struct rig *rig)
{
	static const char *const files[] = {
		"ledger.db", "ledger.db-wal", "log"
	};
	static const char *const texts[] = {
		"c2VjcmV0OnNlY3JldA", "secret-key", "secret-body"
	};
	struct rig_request request = order((const char *[]){
	    "HTTP_AUTHORIZATION=Basic c2VjcmV0OnNlY3JldA==", NULL });
	size_t i, j;

	request.key = "secret-key";
	request.body = idem_bytes_text("secret-body");
	ask(rig, &request, "201 stored", "a request full of secrets");
	ask(rig, &request, "201 replayed", "and again");
	for (i = 0; i < sizeof files / sizeof *files; i++)
		for (j = 0; j < sizeof texts / sizeof *texts; j++)
			ok(!holds(rig, files[i], texts[j]),
			    "%s does not hold %s", files[i], texts[j]);
}

int
main(void)
{
	struct rig rig;

	rig_open(&rig);
	rig_program(&rig, "place", place);
	ask_start(&rig, (const char *[]){ "--", rig_at(&rig, "place"), NULL });
	refused(&rig);
	many_fields(&rig, 63, "HTTP_X_IDEMPOTENCY_KEY=many", "201 stored");
	many_fields(&rig, 63, "HTTP_IDEMPOTENCY_KEY=other", "400 rejected");
	many_fields(&rig, 64, "HTTP_IDEMPOTENCY_KEY=other", "400 rejected");
	many_fields(&rig, 64, "HTTP_X_IDEMPOTENCY_KEY=other", "400 rejected");
	many_fields(&rig, 150, "HTTP_X_IDEMPOTENCY_KEY=other", "400 rejected");
	length(&rig);
	one_key(&rig);
	odd_keys(&rig);
	each_method(&rig, 11);
	secrets(&rig);
	rig_stop(&rig, 30000);
	ask_start(&rig, (const char *[]){ "--required", "--",
	    rig_at(&rig, "place"), NULL });
	required(&rig);
	is_int(rig_stop(&rig, 30000), 0, "idemd ends with status 0");
	rig_end(&rig);
	return done();
}
