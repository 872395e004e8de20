/* SPDX-License-Identifier: ISC */
#include "ask.h"
#include "tap.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * What others who keep answers get wrong about the first request, those that
 * come with it, and those that come after: which of them runs, and what the
 * others are told.
 */
#define WAIT_MS 20000
#define CROWD 50
#define REPLAYS 20

static const char place[] = COUNT HELD
    "printf 'Status: 201 Created\\nContent-Type: text/plain\\n'\n"
    "printf 'X-Order: %s\\n\\norder %s\\n' $$ $$\n";

static const struct rig_request base = {
	.method = "POST", .path = "/place",
	.type = "application/x-www-form-urlencoded",
	.body = { "item=tea", 8 }
};

static struct rig rig, beside;	/* two instances of one ledger */

static struct rig_request
with_key(const char *key)
{
	struct rig_request r = base;

	r.key = key;
	return r;
}

static void
start(struct rig *r, const char *in_progress)
{
	ask_start(r, (const char *[]){ "--workers", "2", "-c", "4",
	    "--in-progress", in_progress, "--", rig_at(&rig, "place"), NULL });
}

static void
start_both(void)
{
	rig_program(&rig, "place", place);
	start(&rig, "409");
	beside = rig;
	beside.pid = 0;
	snprintf(beside.socket, sizeof beside.socket, "%s/beside",
	    rig.folder);
	start(&beside, "wait:1s");
}

/* --- several at once ------------------------------------------------------ */

struct crowd {
	int stored, replayed, waiting, failed, others;
};

static void
count(struct crowd *c, const struct rig_answer *answer)
{
	const char *says = rig_field(answer, "Idempotency-Status");

	if (!answer->whole || answer->status >= 500)
		c->failed++;
	else if (strcmp(says, "stored") == 0)
		c->stored++;
	else if (strcmp(says, "replayed") == 0)
		c->replayed++;
	else if (answer->status == 409 && strcmp(says, "in-progress") == 0)
		c->waiting++;
	else
		c->others++;
}

/* All are sent before any is read, to one and the other in turn. */
static struct crowd
crowd(struct rig *one, struct rig *other, const struct rig_request *request,
    int len)
{
	struct rig_answer answer;
	struct crowd c = { 0 };
	int fds[CROWD], i;

	for (i = 0; i < len; i++)
		fds[i] = ask_begin(i % 2 == 0 ? one : other, request);
	for (i = 0; i < len; i++) {
		ask_end(&rig, fds[i], &answer);
		count(&c, &answer);
		rig_answer_free(&answer);
	}
	return c;
}

/* Of equal requests in lock-step, in two processes, one wins. */
static void
lock_step(void)
{
	struct rig_request request = with_key("lock-step");
	long before = starts(&rig);
	struct crowd c = crowd(&rig, &beside, &request, CROWD);

	is_int(starts(&rig) - before, 1, "of %d equal requests at once, to two "
	    "instances, one runs [idem:A13 idem:A16 idem:B18]", CROWD);
	ok(c.stored == 1 && c.replayed + c.waiting == CROWD - 1,
	    "the others wait for it, or have its answer: %d and %d "
	    "[idem:A13 idem:A14]", c.waiting, c.replayed);
	is_int(c.failed + c.others, 0, "none is told of an outage "
	    "[idem:A14]");
	c = crowd(&beside, &beside, &request, REPLAYS);
	is_int(c.replayed, REPLAYS, "%d at once after it are %d replays "
	    "[idem:CR-2]", REPLAYS, REPLAYS);
}

/* --- while the first runs ------------------------------------------------- */

static void
within_the_first(void)
{
	struct rig_request first = with_key("within"), other = first;
	struct rig_answer answer;
	long before = starts(&rig);
	int fd;

	rig_file(&rig, "hold", "");
	fd = ask_begin(&rig, &first);
	await_starts(&rig, before + 1);
	other.body = idem_bytes_text("item=ink");
	ask(&rig, &first, "409 in-progress", "a duplicate within the first "
	    "run [idem:A22]");
	ask(&beside, &first, "409 in-progress", "the same elsewhere "
	    "[idem:A22]");
	ask(&rig, &other, "422 mismatch", "another body within it "
	    "[idem:A26]");
	ask(&beside, &other, "422 mismatch", "the same elsewhere [idem:A26]");
	unlink(rig_at(&rig, "hold"));
	ask_end(&rig, fd, &answer);
	told(&answer, "201 stored", "the first");
	rig_answer_free(&answer);
	/* At once: it is written before it is told. */
	ask(&beside, &first, "201 replayed", "who asks as soon as it is told "
	    "[idem:A18 idem:B16 idem:CR-4]");
	is_int(starts(&rig) - before, 1, "it ran once [idem:A22 idem:A26]");
}

/* --- what is one request -------------------------------------------------- */

static void
two_orders(void)
{
	struct rig_request one = with_key("order-1"), two = with_key("order-2");
	long before = starts(&rig);

	ask(&rig, &one, "201 stored", "an order");
	ask(&rig, &two, "201 stored", "an equal one under another key runs "
	    "[idem:CR-4]");
	is_int(starts(&rig) - before, 2, "they are two [idem:CR-4]");
}

#define LARGE (2 * 1024 * 1024)

static void
large_bodies(void)
{
	struct rig_request request = with_key("large");
	char *body = malloc(LARGE);

	if (body == NULL)
		bail_out("out of memory");
	memset(body, 'a', LARGE);
	request.body = (struct idem_bytes){ body, LARGE };
	ask(&rig, &request, "201 stored", "a body of 2 MiB");
	body[LARGE - 1] = 'b';
	ask(&rig, &request, "422 mismatch", "one that differs in its last "
	    "byte [idem:CR-6]");
	body[LARGE - 1] = 'a';
	ask(&beside, &request, "201 replayed", "the first again [idem:CR-6]");
	free(body);
}

/* No CONTENT_LENGTH, as of a chunked request whose front does not know. */
static void
chunked(void)
{
	struct rig_request request = with_key("query");

	request.query = "a=1";
	ask(&rig, &request, "201 stored", "with a query");
	request.query = "a=2";
	ask(&rig, &request, "422 mismatch", "with another [idem:CR-13]");
	request = with_key("chunked");
	request.length = "";
	ask(&rig, &request, "201 stored", "without a length");
	request.body = idem_bytes_text("item=ink");
	ask(&rig, &request, "422 mismatch", "another body without a length "
	    "[idem:CR-13]");
}

static void
boundaries(void)
{
#define PART(boundary) "--" boundary "\r\nContent-Disposition: form-data; " \
	"name=\"a\"\r\n\r\ntea\r\n--" boundary "--\r\n"
	struct rig_request request = with_key("multipart");

	request.type = "multipart/form-data; boundary=one";
	request.body = idem_bytes_text(PART("one"));
	ask(&rig, &request, "201 stored", "a form in parts");
	request.type = "multipart/form-data; boundary=two";
	request.body = idem_bytes_text(PART("two"));
	ask(&rig, &request, "201 replayed", "the same with another boundary "
	    "[idem:CR-13]");
}

/* --- what is told --------------------------------------------------------- */

/* The URI of a problem's type, from its JSON. */
static void
type_of(const struct rig_request *request, char *type, size_t size)
{
	struct rig_answer answer;
	const char *at;

	rig_request(&rig, request, &answer);
	at = memmem(answer.body.at, answer.body.len, "\"type\":\"", 8);
	snprintf(type, size, "%.*s", at != NULL ? (int)strcspn(at + 8, "\"") :
	    0, at != NULL ? at + 8 : "");
	rig_answer_free(&answer);
}

static void
each_is_another(void)
{
	struct rig_request running = with_key("running");
	struct rig_request other = running, bad = with_key("\"bad");
	static const char *const more[] = { "HTTP_AUTHORIZATION=Basic b",
		NULL };
	struct rig_request withheld = running;
	char type[4][128];
	struct rig_answer answer;
	long before = starts(&rig);
	int fd, i, j, same = 0;

	rig_file(&rig, "hold", "");
	fd = ask_begin(&rig, &running);
	await_starts(&rig, before + 1);
	other.body = idem_bytes_text("item=ink");
	withheld.more = more;
	type_of(&running, type[0], sizeof type[0]);
	type_of(&other, type[1], sizeof type[1]);
	type_of(&bad, type[2], sizeof type[2]);
	type_of(&withheld, type[3], sizeof type[3]);
	for (i = 0; i < 4; i++)
		for (j = 0; j < i; j++)
			same += strcmp(type[i], type[j]) == 0;
	ok(same == 0 && type[0][0] != '\0', "in progress, mismatch, malformed "
	    "and withheld have a type each: %s, %s, %s, %s [idem:CR-12]",
	    type[0], type[1], type[2], type[3]);
	unlink(rig_at(&rig, "hold"));
	ask_end(&rig, fd, &answer);
	rig_answer_free(&answer);
}

/* --- what is stored ------------------------------------------------------- */

static bool
stands_in(const char *name, const char *text)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	static char bytes[4 * 1024 * 1024];
	ssize_t n = fd == -1 ? 0 : read(fd, bytes, sizeof bytes);

	if (fd != -1)
		close(fd);
	return n > 0 && memmem(bytes, (size_t)n, text, strlen(text)) != NULL;
}

static void
no_secrets(void)
{
	static const char *const more[] = { "HTTP_AUTHORIZATION="
		"Basic c2VjcmV0LWFuZC1zdWNo", "HTTP_COOKIE=s=cookie-secret",
		NULL };
	struct rig_request request = with_key("key-that-is-secret");
	char wal[RIG_PATH + 8];
	long before = starts(&rig);
	int i, found = 0;

	request.more = more;
	request.body = idem_bytes_text("card=4111-1111-1111-1111");
	ask(&rig, &request, "201 stored", "a request with secrets");
	ask(&rig, &request, "201 replayed", "its replay");
	is_int(starts(&rig) - before, 1, "for which nothing runs "
	    "[idem:CR-10]");
	snprintf(wal, sizeof wal, "%s-wal", rig.ledger);
	for (i = 0; i < 2; i++) {
		const char *file = i == 0 ? rig.ledger : wal;

		found += stands_in(file, "c2VjcmV0LWFuZC1zdWNo");
		found += stands_in(file, "cookie-secret");
		found += stands_in(file, "4111-1111");
		found += stands_in(file, "key-that-is-secret");
	}
	is_int(found, 0, "neither credentials, nor the body, nor the key "
	    "stand in the ledger [idem:CR-10]");
	ok(stands_in(wal, "X-Order") || stands_in(rig.ledger, "X-Order"),
	    "where the answer does");
}

int
main(void)
{
	rig_open(&rig);
	start_both();
	lock_step();
	within_the_first();
	two_orders();
	large_bodies();
	chunked();
	boundaries();
	each_is_another();
	no_secrets();
	is_int(rig_stop(&beside, WAIT_MS), 0, "one idemd ends with status 0");
	is_int(rig_stop(&rig, WAIT_MS), 0, "and so does the other");
	rig_end(&rig);
	return done();
}
