/* SPDX-License-Identifier: ISC */
#include "ask.h"

#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Requests that are their own key, for clients that send none: the same one
 * within the window is answered from the first, and after it runs again.
 */
#define WINDOW_MS 4000		/* time for some requests, on a busy machine */

static const char conf[] =
    "workers = 1\nlocal_cache = { age = '60s' }\n"
    "route { path = '/**', program = cgi { '%s/order' },\n"
    "    key = content { window = '4s' },\n"
    "    scope = { user = 'verified' } }\n";

static const char program[] = COUNT
    "cat >/dev/null\nn=$(wc -l <starts)\n"
    "printf 'Status: 201\\n\\norder %s\\n' $n\n";

static void
post(struct rig *rig, const char *user, const char *key, const char *body,
    const char *want, const char *what)
{
	const char *more[] = { user, NULL };

	ask(rig, &(struct rig_request){ .method = "POST", .path = "/order",
	    .key = key, .more = more, .body = idem_bytes_text(body) }, want,
	    "%s", what);
}

/* Until it runs anew: how long after the first was answered. */
static int64_t
await_anew(struct rig *rig, int64_t since_ms)
{
	long before = starts(rig);
	struct rig_answer answer;
	const char *more[] = { "REMOTE_USER=ann", NULL };

	do {
		rig_request(rig, &(struct rig_request){ .method = "POST",
		    .path = "/order", .more = more,
		    .body = idem_bytes_text("tea") }, &answer);
		rig_answer_free(&answer);
	} while (starts(rig) == before && rig_now_ms() - since_ms < 20000);
	return rig_now_ms() - since_ms;
}

int
main(void)
{
	const char *options[] = { "--config", NULL, NULL };
	char text[sizeof conf + RIG_PATH];
	int64_t began_ms, ended_ms, ms;
	long before;
	struct rig rig;

	rig_open(&rig);
	rig_program(&rig, "order", program);
	snprintf(text, sizeof text, conf, rig.folder);
	rig_file(&rig, "idem.conf", text);
	options[1] = rig_at(&rig, "idem.conf");
	ask_start(&rig, options);

	began_ms = rig_now_ms();
	post(&rig, "REMOTE_USER=ann", NULL, "tea", "201 stored",
	    "a request without a key is its own");
	ended_ms = rig_now_ms();
	ms = await_anew(&rig, began_ms);
	ok(ms >= WINDOW_MS, "the same one is replayed until the window is "
	    "over, and then runs (after %lld ms) [idem:D16]", (long long)ms);
	note("the window began within %lld ms",
	    (long long)(ended_ms - began_ms));
	is_int(starts(&rig), 2, "each window had one start");
	post(&rig, "REMOTE_USER=ann", NULL, "tea", "201 replayed",
	    "the second start's answer is replayed in its window");
	post(&rig, "REMOTE_USER=bob", NULL, "tea", "201 stored",
	    "somebody else's is another [idem:D11]");
	post(&rig, "REMOTE_USER=ann", NULL, "rum", "201 stored",
	    "and so is another order");
	post(&rig, "REMOTE_USER=ann", "k", "rum", "201 replayed",
	    "a key that is sent is not looked at");
	before = starts(&rig);
	post(&rig, "REMOTE_USER=", NULL, "tea", "201",
	    "a request of nobody is no key of its own");
	post(&rig, "REMOTE_USER=", NULL, "tea", "201",
	    "an equal one may be somebody else's");
	is_int(starts(&rig), before + 2, "so that both have run");
	is_int(rig_stop(&rig, 20000), 0, "idemd ends with status 0");
	rig_end(&rig);
	return done();
}
