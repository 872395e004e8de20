/* SPDX-License-Identifier: ISC */
#include "ask.h"
#include "cgi_rig.h"
#include "ctl_run.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Keys that become unknown under a real idemd, and idem-cgi: what the operator
 * is told, finds, and does.
 */
static struct rig rig;
static char command[RIG_PATH];
static const char *told_in = "told";	/* the file that it writes to */

/* It says the number of an order, and dies unless it is left in peace. */
#define ORDER COUNT \
	"printf 'Content-Type: text/plain\\n\\norder 4711\\n'\n" \
	"[ -e peace ] || kill -9 $$\n"

#define TELL "#!/bin/sh\necho \"$1|$IDEM_WHAT|$IDEM_KEYS\" >>%s/%s\n"

static void
post(const char *key, const char *want, const char *what)
{
	ask(&rig, &(struct rig_request){ .method = "POST",
	    .path = "/order/book", .key = key }, want, "%s", what);
}

/* The digits of the last key that was told. */
static const char *
told_key(void)
{
	static char digits[17];
	char *text, *at;

	if (!rig_await_lines(&rig, told_in, 1, 20000))
		bail_out("nothing is told");
	text = rig_slurp(&rig, told_in);
	at = text != NULL ? strrchr(text, '|') : NULL;
	snprintf(digits, sizeof digits, "%s", at != NULL ? at + 1 : "");
	digits[strcspn(digits, "\n")] = '\0';
	free(text);
	return digits;
}

static void
is_told(const char *want, const char *what)
{
	char *text = rig_slurp(&rig, told_in);

	if (!ok(text != NULL && strstr(text, want) != NULL, "%s", what))
		note("told: %s", text != NULL ? text : "nothing");
	free(text);
}

static void
tell_to(const char *name)
{
	char text[RIG_PATH + 100];

	told_in = name;
	snprintf(text, sizeof text, TELL, rig.folder, name);
	snprintf(command, sizeof command, "%s-tell", name);
	rig_program(&rig, command, text);
	snprintf(command, sizeof command, "%s-tell", rig_at(&rig, name));
}

static void
start(void)
{
	char text[1000];

	snprintf(text, sizeof text, "listen = \"unix:%s\"\n"
	    "ledger = sqlite { path = \"%s\", create = true }\n"
	    "alert = \"%s\"\nroute { path = \"/order/**\","
	    " program = cgi { \"%s\" } }\n", rig.socket, rig.ledger, command,
	    rig_at(&rig, "order"));
	rig_file(&rig, "idem.conf", text);
	rig.bare = true;
	ask_start(&rig, (const char *[]){ "--config",
	    rig_at(&rig, "idem.conf"), NULL });
	setenv("IDEM_LEDGER", rig.ledger, 1);
}

/* -------------------------------------------------------------------------- */

static void
test_told(void)
{
	char digits[32];
	const char *out;

	post("k1", "504 unknown", "a run that dies is unknown");
	snprintf(digits, sizeof digits, "%s", told_key());
	is_told(": POST /order/book: ended by signal 9 (SIGKILL) (route at ",
	    "the operator is told of it, with request, evidence and route");
	is_int(ctl_run(&out, "unknown"), 1, "idemctl lists it");
	ok(strncmp(strchr(out, '\n') + 1, digits, 16) == 0,
	    "by the digits that were told");
	ctl_run_is(1, "ended by signal 9 (SIGKILL); route at ",
	    "with evidence and route", "unknown");
	ctl_run_is(1, "POST /order/book\n", "and what was asked", "unknown");
	ctl_run_is(0, "exit      signal 9\n", "it is shown, too", "show %s",
	    digits);
	is_int(ctl_run(&out, "output %s", digits), 0,
	    "and so is what the program had written");
	is(out, "Content-Type: text/plain\n\norder 4711\n", "to the byte");
	ctl_run_is(0, "", "it may run again, says the operator [idem:B8]",
	    "resolve %s not-done", digits);
	ctl_run_is(0, "", "and nothing is unknown any more", "unknown");
	rig_file(&rig, "peace", "");
	post("k1", "200 stored", "the next retry runs it [idem:B8]");
	is_int(starts(&rig), 2, "for the second time");
	unlink(rig_at(&rig, "peace"));
}

static void
test_done(void)
{
	char digits[32];
	const char *out;

	post("k2", "504 unknown", "another dies");
	ctl_run(&out, "unknown");
	snprintf(digits, sizeof digits, "%.16s", strchr(out, '\n') + 1);
	ctl_run_is(0, "", "what it had written may be its answer", "output %s "
	    ">%s", digits, rig_at(&rig, "answer"));
	ctl_run_is(0, "", "it was done, says the operator [idem:B8]",
	    "resolve %s done --answer %s", digits, rig_at(&rig, "answer"));
	post("k2", "200 replayed", "which is replayed [idem:B8]");
	is_int(starts(&rig), 3, "and not run");
}

/* No daemon: whoever finds it tells, when the answer is out. */
static void
test_cgi(void)
{
	char config[RIG_PATH + 20];
	const char *env[] = { "IDEM_LEDGER", config, NULL };
	struct rig_answer answer = { .whole = false };
	char text[1000];

	if (!cgi_open(&rig)) {
		skip("idem-cgi is not built", "idem-cgi tells as well");
		return;
	}
	/* Of what idemd was told last its own command may still be running. */
	tell_to("cgi-told");
	snprintf(text, sizeof text, "ledger = sqlite { path = \"%s\" }\n"
	    "alert = \"%s\"\nroute { path = \"/**\", program = cgi {} }\n",
	    rig.ledger, command);
	rig_file(&rig, "cgi.conf", text);
	snprintf(config, sizeof config, "IDEM_CONFIG=%s",
	    rig_at(&rig, "cgi.conf"));
	cgi_ask(&rig, &(struct cgi_ask){ .program = "order", .key = "k3",
	    .env = env }, &answer);
	if (!told(&answer, "504 unknown", "under idem-cgi a run dies"))
		note("%.*s", (int)answer.err.len, (char *)answer.err.at);
	ok(rig_await_lines(&rig, told_in, 1, 20000),
	    "and the operator is told");
	is_told("unknown-key|key ", "of an unknown key");
	is_told(": ended by signal 9 (SIGKILL) (route at ",
	    "in the same words");
	ok(cgi_await_none(&rig), "and nothing stays behind");
	rig_answer_free(&answer);
}

int
main(void)
{
	rig_open(&rig);
	rig_program(&rig, "order", ORDER);
	tell_to("told");
	start();
	test_told();
	test_done();
	is_int(rig_stop(&rig, 20000), 0, "idemd ends with status 0");
	test_cgi();
	rig_end(&rig);
	return done();
}
