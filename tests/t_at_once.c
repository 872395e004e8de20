/* SPDX-License-Identifier: ISC */
#include "ask.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* `-c` counts the programs of all workers, keyed or not. */
#define ASKED 24

/* The most that a program has seen beside itself and with itself. */
static long
most(struct rig *rig)
{
	char *text = rig_slurp(rig, "seen"), *line, *rest = text;
	long n = 0;

	while (text != NULL && (line = strsep(&rest, "\n")) != NULL)
		if (atol(line) > n)
			n = atol(line);
	free(text);
	return n;
}

static void
check(const char *workers, const char *at_once)
{
	struct rig_request request = { .method = "POST", .path = "/p" };
	int fds[ASKED], i, answered = 0;
	struct rig_answer answer;
	struct rig rig;
	char key[16];

	rig_open(&rig);
	rig_program(&rig, "p", "#!/bin/sh\n: >runs.$$\nls runs.* | wc -l "
	    ">>seen\nsleep 0.1\nrm runs.$$\nprintf 'Content-Type: "
	    "a/b\\n\\nok'\n");
	ask_start(&rig, (const char *[]){ "--workers", workers, "-c", at_once,
	    "--", rig_at(&rig, "p"), NULL });
	for (i = 0; i < ASKED; i++) {
		snprintf(key, sizeof key, "k%d", i);
		request.key = i % 3 != 0 ? key : NULL;
		fds[i] = ask_begin(&rig, &request);
	}
	for (i = 0; i < ASKED; i++) {
		ask_end(&rig, fds[i], &answer);
		answered += answer.status == 200;
		rig_answer_free(&answer);
	}
	is_int(answered, ASKED, "%s workers, -c %s: all are answered", workers,
	    at_once);
	ok(most(&rig) >= 1 && most(&rig) <= atol(at_once),
	    "and no more programs run at once (most: %ld)", most(&rig));
	is_int(rig_stop(&rig, 20000), 0, "idemd ends with status 0");
	rig_end(&rig);
}

int
main(void)
{
	check("1", "1");
	check("1", "3");
	check("2", "2");
	check("2", "5");
	return done();
}
