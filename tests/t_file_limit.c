/* SPDX-License-Identifier: ISC */
#include "ctl_run.h"
#include "rig.h"

#include "tap.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/*
 * Where files may not grow over a size (RLIMIT_FSIZE), a body that does is
 * refused as on a full disk: the signal that comes with it ends no worker.  An
 * answer that does is lost, and it is said that this was not the program.
 */
#define LIMIT 1000000

static char big[3 * LIMIT];

static void
ask(struct rig *rig, const char *key, size_t len, int status, const char *says)
{
	struct rig_answer answer;

	rig_request(rig, &(struct rig_request){
		.method = "POST", .path = "/count", .key = key,
		.body = { big, len }
	}, &answer);
	is_int(answer.status, status, "a body of %zu bytes gets %d", len,
	    status);
	is(rig_field(&answer, "Idempotency-Status"), says, "and is %s", says);
	rig_answer_free(&answer);
}

int
main(void)
{
	const struct rlimit limit = { LIMIT, LIMIT };
	struct rig rig = { 0 };
	char *log;

	memset(big, 'x', sizeof big);
	rig_open(&rig);
	rig_program(&rig, "count", "#!/bin/sh\n"
	    "printf 'Content-Type: text/plain\\n\\n'; n=$(wc -c); echo $n\n"
	    "[ $n != 7 ] || head -c 3000000 /dev/zero\n");
	if (setrlimit(RLIMIT_FSIZE, &limit) != 0 || rig_start(&rig,
	    (const char *[]){ "--", rig_at(&rig, "count"), NULL }) != 0)
		bail_out("idemd does not start");
	ask(&rig, "\"large\"", sizeof big, 503, "not-started");
	ask(&rig, "\"small\"", 100, 200, "stored");
	ask(&rig, "\"medium\"", LIMIT, 200, "stored");
	ask(&rig, "\"much\"", 7, 504, "unknown");
	ctl_run_is(1, "ended, but its output could not be written to the run "
	    "folder, exit status 0", "why it is unknown is told",
	    "unknown --ledger sqlite:%s", rig.ledger);
	log = rig_slurp(&rig, "log");
	ok(log != NULL && strstr(log, "died") == NULL,
	    "no process of idemd has died");
	free(log);
	rig_end(&rig);
	return done();
}
