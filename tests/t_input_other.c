/* SPDX-License-Identifier: ISC */
#include "ask.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * The same key once more: with another request, from somebody else, as
 * another's key, while the first still runs, and many at a time.
 */

#define FORM "application/x-www-form-urlencoded"

static const char place[] = COUNT HELD
    "printf 'Status: 201 Created\\nContent-Type: text/plain\\n\\n'\n"
    "echo \"order $$\"\n";

static const char *const by_ann[] = {
	"HTTP_AUTHORIZATION=Basic YW5uOmFubg==", NULL
};

static const struct rig_request base = {
	.method = "POST",
	.path = "/place",
	.query = "a=1",
	.type = FORM,
	.body = { "item=tea", 8 },
	.more = by_ann
};

/* --- another request, or another's ---------------------------------------- */

/* What differs from base; NULL: nothing. */
static const struct {
	const char *what;
	const char *want;
	const char *body, *type, *query, *path;
	const char *more[3];
} others[] = {
	{ "nothing else", "201 replayed", .path = "/place" },
	{ "another body", "422 mismatch", .body = "item=tee" },
	{ "a longer body", "422 mismatch", .body = "item=tea&" },
	{ "no body", "422 mismatch", .body = "" },
	{ "another Content-Type [idem:D13]",
	    "422 mismatch", .type = "text/plain" },
	{ "another query", "422 mismatch", .query = "a=2" },
	{ "no query", "422 mismatch", .query = "" },
	{ "another path [idem:D9]", "422 mismatch", .path = "/place/" },
	{ "bytes moved from path to query", "422 mismatch",
	    .path = "/plac", .query = "ea=1" },
	{ "another coding", "422 mismatch",
	    .more = { "HTTP_AUTHORIZATION=Basic YW5uOmFubg==",
	    "HTTP_CONTENT_ENCODING=gzip" } },
	{ "another path below the program", "422 mismatch",
	    .more = { "HTTP_AUTHORIZATION=Basic YW5uOmFubg==",
	    "PATH_INFO=/below" } },
	{ "other credentials", "409 withheld",
	    .more = { "HTTP_AUTHORIZATION=Basic Ym9iOmJvYg==" } },
	{ "no credentials", "409 withheld", .more = { "HTTP_COOKIE=a=b" } },
	{ "a user whom nobody has verified [cgi:C34 idem:D20]", "409 withheld",
	    .more = { "HTTP_AUTHORIZATION=Basic YW5uOmFubg==",
	    "REMOTE_USER=bob" } },
	{ "another body and other credentials", "422 mismatch",
	    .body = "item=tee",
	    .more = { "HTTP_AUTHORIZATION=Basic Ym9iOmJvYg==" } },
	{ "another cookie", "201 replayed",
	    .more = { "HTTP_AUTHORIZATION=Basic YW5uOmFubg==",
	    "HTTP_COOKIE=visit=2" } },
	{ "another browser and address", "201 replayed",
	    .more = { "HTTP_AUTHORIZATION=Basic YW5uOmFubg==",
	    "HTTP_USER_AGENT=other" } },
};

#define OTHERS (sizeof others / sizeof *others)

static struct rig_request
other(size_t i, const char *key)
{
	struct rig_request request = base;

	request.key = key;
	if (others[i].body != NULL)
		request.body = idem_bytes_text(others[i].body);
	if (others[i].type != NULL)
		request.type = others[i].type;
	if (others[i].query != NULL)
		request.query = others[i].query;
	if (others[i].path != NULL)
		request.path = others[i].path;
	if (others[i].more[0] != NULL)
		request.more = others[i].more;
	return request;
}

static bool
is_replay(size_t i)
{
	return strstr(others[i].want, "replayed") != NULL;
}

static void
after(struct rig *rig)
{
	struct rig_request request = base;
	long before = starts(rig);
	char key[32];
	size_t i;

	for (i = 0; i < OTHERS; i++) {
		snprintf(key, sizeof key, "after-%zu", i);
		request.key = key;
		ask(rig, &request, "201 stored", "a first request");
		request = other(i, key);
		ask(rig, &request, others[i].want, "after it %s",
		    others[i].what);
		request = base;
		request.key = key;
		ask(rig, &request, "201 replayed", "and the first again");
	}
	is_int(starts(rig) - before, (long long)OTHERS,
	    "each key was started once, for its first request");
}

/* Refused at once, although the first has no answer yet. */
static void
meanwhile(struct rig *rig, const char *where)
{
	struct rig_request request = base;
	struct rig_answer answer;
	long before = starts(rig);
	char key[64];
	size_t i;
	int fd;

	snprintf(key, sizeof key, "\"meanwhile %s\"", where);
	request.key = key;
	rig_file(rig, "hold", "");
	fd = ask_begin(rig, &request);
	await_starts(rig, before + 1);
	for (i = 0; i < OTHERS; i++) {
		request = other(i, key);
		if (!is_replay(i))
			ask(rig, &request, others[i].want,
			    "%s while it runs: %s", where, others[i].what);
	}
	unlink(rig_at(rig, "hold"));
	ask_end(rig, fd, &answer);
	told(&answer, "201 stored", "%s, the first to come", where);
	rig_answer_free(&answer);
	is_int(starts(rig) - before, 1, "%s: nothing else was started", where);
}

/* The last byte of a body that no longer fits in memory counts. */
static void
long_bodies(struct rig *rig)
{
	const size_t len = 2 << 20;
	char *text = malloc(len);
	struct rig_request request = base;
	long before = starts(rig);

	if (text == NULL)
		bail_out("no memory");
	memset(text, 'x', len);
	request.key = "long";
	request.body = (struct idem_bytes){ text, len };
	ask(rig, &request, "201 stored", "a body of 2 MB");
	text[len - 1] = 'y';
	ask(rig, &request, "422 mismatch", "one that differs in its last byte");
	text[len - 1] = 'x';
	request.body.len--;
	ask(rig, &request, "422 mismatch", "one that lacks its last byte");
	request.body.len++;
	ask(rig, &request, "201 replayed", "the first one again");
	is_int(starts(rig) - before, 1, "it was started once");
	free(text);
}

/* A browser makes up another boundary each time. */
static void
boundaries(struct rig *rig)
{
	static const char *const types[] = {
		"multipart/form-data; boundary=abc",
		"multipart/form-data; boundary=xyz"
	};
	static const char *const bodies[] = {
		"--abc\r\nContent-Disposition: form-data; name=\"item\"\r\n\r\n"
		"tea\r\n--abc--\r\n",
		"--xyz\r\nContent-Disposition: form-data; name=\"item\"\r\n\r\n"
		"tea\r\n--xyz--\r\n"
	};
	struct rig_request request = base;

	request.key = "boundary";
	request.type = types[0];
	request.body = idem_bytes_text(bodies[0]);
	ask(rig, &request, "201 stored", "a form of parts");
	request.type = types[1];
	request.body = idem_bytes_text(bodies[1]);
	ask(rig, &request, "201 replayed", "the same with another boundary");
	request.body = idem_bytes_text(bodies[0]);
	ask(rig, &request, "422 mismatch", "with a boundary it does not have");
}

/* --- other keys ----------------------------------------------------------- */

static void
users(struct rig *rig)
{
	static const char *const who[][4] = {
		{ "AUTH_TYPE=Basic", "REMOTE_USER=ann" },
		{ "AUTH_TYPE=Basic", "REMOTE_USER=bob" },
		{ "AUTH_TYPE=Basic", "REMOTE_USER=bob2" },
		{ NULL }
	};
	struct rig_answer answers[4];
	struct rig_request request = base;
	size_t i, n = sizeof who / sizeof *who;
	long before = starts(rig);

	request.key = "users";
	for (i = 0; i < n; i++) {
		request.more = who[i];
		rig_request(rig, &request, &answers[i]);
		told(&answers[i], "201 stored", "user %zu has a key of his own",
		    i);
	}
	for (i = 0; i < n; i++) {
		struct rig_answer again;

		request.more = who[i];
		rig_request(rig, &request, &again);
		told(&again, "201 replayed", "user %zu again", i);
		is_bytes(again.body.at, again.body.len, answers[i].body.at,
		    answers[i].body.len, "he gets his own answer");
		rig_answer_free(&again);
		rig_answer_free(&answers[i]);
	}
	is_int(starts(rig) - before, (long long)n, "one start for each");
}

/* Nobody asked us to guess that they are one. */
static void
two_keys(struct rig *rig)
{
	struct rig_request request = base;
	long before = starts(rig);

	request.key = "order-1";
	ask(rig, &request, "201 stored", "an order");
	request.key = "order-2";
	ask(rig, &request, "201 stored", "an equal one under another key");
	is_int(starts(rig) - before, 2, "both are carried out");
}

/* --- while it runs -------------------------------------------------------- */

static void
in_progress(struct rig *rig, const char *way, const char *want)
{
	struct rig_request request = base;
	struct rig_answer answer;
	long before = starts(rig);
	char key[32];
	int fd;

	snprintf(key, sizeof key, "way-%s", way);
	request.key = key;
	rig_file(rig, "hold", "");
	fd = ask_begin(rig, &request);
	await_starts(rig, before + 1);
	rig_request(rig, &request, &answer);
	told(&answer, want, "a duplicate with --in-progress %s", way);
	ok(strtol(rig_field(&answer, "Retry-After"), NULL, 10) > 0,
	    "it is told when to ask again");
	note("it was answered after %lld ms", (long long)answer.ms);
	rig_answer_free(&answer);
	unlink(rig_at(rig, "hold"));
	ask_end(rig, fd, &answer);
	told(&answer, "201 stored", "the first, after all");
	rig_answer_free(&answer);
	ask(rig, &request, "201 replayed", "and from then on");
	is_int(starts(rig) - before, 1, "there was one start");
}

/* Waits, and is answered as soon as there is an answer. */
static void
waits(struct rig *rig)
{
	struct rig_request request = base;
	struct rig_answer answers[6];
	long before = starts(rig);
	int fds[6], i;

	request.key = "waits";
	rig_file(rig, "hold", "");
	for (i = 0; i < 6; i++)
		fds[i] = ask_begin(rig, &request);
	await_starts(rig, before + 1);
	unlink(rig_at(rig, "hold"));
	for (i = 0; i < 6; i++) {
		ask_end(rig, fds[i], &answers[i]);
		is_int(answers[i].status, 201, "one of six at once");
		is_bytes(answers[i].body.at, answers[i].body.len,
		    answers[0].body.at, answers[0].body.len, "the same answer");
	}
	for (i = 0; i < 6; i++)
		rig_answer_free(&answers[i]);
	is_int(starts(rig) - before, 1, "there was one start for the six");
}

/* --- many ----------------------------------------------------------------- */

#define RETRIES 20

struct tally {
	int sent, replayed;
};

static enum rig_next
next(void *arg, int64_t now_ms, struct rig_request *request, void **user)
{
	struct tally *tally = arg;

	(void)now_ms;
	(void)user;
	if (tally->sent == RETRIES)
		return RIG_OVER;
	tally->sent++;
	*request = base;
	request->key = "many";
	return RIG_SEND;
}

static void
answered(void *arg, void *user, const struct rig_answer *answer)
{
	struct tally *tally = arg;

	(void)user;
	tally->replayed += answer->status == 201 &&
	    strcmp(rig_field(answer, "Idempotency-Status"), "replayed") == 0;
}

static void
retries(struct rig *rig)
{
	struct tally tally = { 0, 0 };
	struct rig_many many = { .connections_max = RETRIES, .limit_ms = 30000,
		.next = next, .answered = answered, .arg = &tally };
	struct rig_request request = base;

	request.key = "many";
	ask(rig, &request, "201 stored", "a key that is finished");
	is_int(rig_many(rig, &many), 0, "20 retries at once are answered");
	is_int(tally.replayed, RETRIES, "each of them with a replay");
}

static void
restart(struct rig *rig, const char *way)
{
	is_int(rig_stop(rig, 30000), 0, "idemd ends with status 0");
	ask_start(rig, (const char *[]){ "--in-progress", way, "--",
	    rig_at(rig, "place"), NULL });
}

int
main(void)
{
	struct rig rig;

	rig_open(&rig);
	rig_program(&rig, "place", place);
	ask_start(&rig, (const char *[]){ "--workers", "2",
	    "--in-progress", "wait:60s", "--", rig_at(&rig, "place"), NULL });
	after(&rig);
	meanwhile(&rig, "on some worker");
	long_bodies(&rig);
	boundaries(&rig);
	users(&rig);
	two_keys(&rig);
	waits(&rig);
	retries(&rig);
	restart(&rig, "409");
	in_progress(&rig, "409", "409 in-progress");
	restart(&rig, "202");
	in_progress(&rig, "202", "202 in-progress");
	meanwhile(&rig, "with 202");
	restart(&rig, "wait:100ms");
	in_progress(&rig, "wait:100ms", "409 in-progress");
	rig_stop(&rig, 30000);
	ask_start(&rig, (const char *[]){ "--workers", "1", "--",
	    rig_at(&rig, "place"), NULL });
	meanwhile(&rig, "on one worker");
	is_int(rig_stop(&rig, 30000), 0, "idemd ends with status 0");
	rig_end(&rig);
	return done();
}
