/* SPDX-License-Identifier: ISC */
#include "ask.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a program is given: variables, arguments, descriptors, signals. */

static const char show[] =
    "#!/bin/sh\n"
    "printf 'Content-Type: text/plain\\n\\n'\n"
    "tr '\\0' '\\n' </proc/$$/environ\n"
    "echo \"arguments $# $1\"\n"
    "echo \"name $0\"\n"
    "echo \"folder $(pwd)\"\n"
    "exec ls -l /proc/self/fd\n";

static const char *const sent[] = {
	/* these it gets */
	"AUTH_TYPE=Basic", "REMOTE_USER=ann", "HTTPS=on", "SSL_CIPHER=x",
	"REDIRECT_STATUS=200", "HTTP_COOKIE=a=b; c=d", "HTTP_EMPTY=",
	"PATH_INFO=/a b", "PATH_TRANSLATED=/srv/a b",
	"HTTP_QUOTE='\"$(id)`id`\\",
	/* and these not */
	"HTTP_TWICE=first", "HTTP_TWICE=second", "HTTP_PROXY=http://evil/",
	"LD_PRELOAD=/tmp/x.so",
	"LD_LIBRARY_PATH=/tmp", "BASH_ENV=/tmp/x", "ENV=/tmp/x", "IFS=x",
	"PERL5OPT=-Mx", "PYTHONPATH=/tmp", "PATH=/tmp", "HOME=/tmp",
	"IDEMPOTENCY_KEY=forged", "IDEMPOTENCY_ATTEMPT=7",
	"IDEMPOTENCY_DEADLINE=7", "IDEM_RECOVERY=1", "FCGI_ROLE=AUTHORIZER",
	"HTTP_TRANSFER_ENCODING=chunked", "HTTP_SHOCK=() { :;}; touch /tmp/p",
	"HTTP_A B=x", "HTTP_A-B=x", "HTTP_A.B=x", "HTTP_A()=x", "http_low=x",
	NULL
};
#define PASSED 10	/* of them, from the start */

/* What our own process has, and so the daemon. */
static const char *const daemons[] = {
	"SECRET=daemon", "HTTP_DAEMON=daemon", "SCRIPT_FILENAME=daemon",
	"LISTEN_PID=1", "PERL5LIB=daemon"
};

static void
spoil_environment(void)
{
	size_t i;

	for (i = 0; i < sizeof daemons / sizeof *daemons; i++)
		if (putenv((char *)(uintptr_t)daemons[i]) != 0)
			bail_out("putenv");
}

/* Lines of a text that are the given one, or begin with it. */
static int
lines_of(struct idem_bytes text, const char *line, bool whole_line)
{
	const char *at = text.at, *end;
	size_t left = text.len, len = strlen(line);
	int n = 0;

	while (left > 0 && (end = memchr(at, '\n', left)) != NULL) {
		n += (size_t)(end - at) >= len && memcmp(at, line, len) == 0 &&
		    (!whole_line || at[len] == '\n');
		left -= (size_t)(end + 1 - at);
		at = end + 1;
	}
	return n;
}

static void
sees_request(struct idem_bytes text)
{
	char name[64];
	size_t i;

	for (i = 0; i < PASSED; i++)
		is_int(lines_of(text, sent[i], true), 1, "it gets %s", sent[i]);
	for (; sent[i] != NULL; i++)
		is_int(lines_of(text, sent[i], true), 0,
		    "it does not get %s", sent[i]);
	for (i = 0; i < sizeof daemons / sizeof *daemons; i++)
		is_int(lines_of(text, daemons[i], true), 0,
		    "nor the daemon's %s", daemons[i]);
	is_int(lines_of(text, "HTTP_TWICE=first, second", true), 1,
	    "several values of one field are one [R7]");
	is_int(lines_of(text, "HTTP_TWICE=", false), 1, "no name is twice");
	snprintf(name, sizeof name, "CONTENT_LENGTH=%zu", strlen("body"));
	is_int(lines_of(text, name, true), 1, "it gets the body's length");
	is_int(lines_of(text, "PATH=/usr/local/sbin:", false), 1,
	    "it gets a PATH that does not depend on ours");
}

static void
sees_key(struct idem_bytes text, bool keyed)
{
	const char *at = memmem(text.at, text.len, "\nIDEMPOTENCY_KEY=", 17);

	is_int(lines_of(text, "IDEMPOTENCY_", false), keyed ? 3 : 0,
	    keyed ? "it gets three words of ours" :
	    "without a key it gets no word of ours");
	if (!keyed || at == NULL)
		return;
	is_int((long long)strspn(at + 17, "0123456789abcdef"), 64,
	    "the key it gets is a digest");
	is_int(lines_of(text, "IDEMPOTENCY_ATTEMPT=1", true), 1,
	    "it is told that this is the first attempt");
}

/*
 * As ls -l shows them: "... 1 -> pipe:[42]".  Its own, of the folder it reads,
 * is not counted.
 */
static void
sees_files(struct idem_bytes text, bool keyed)
{
	const char *from = text.at, *at = from, *end = from + text.len;
	int standard = 0, high = 0, odd = 0;
	long fd;

	while ((at = memmem(at, (size_t)(end - at), " -> ", 4)) != NULL) {
		const char *name = at;

		while (name > from && name[-1] != ' ')
			name--;
		fd = strtol(name, NULL, 10);
		at += 4;
		if (strncmp(at, "/proc/", 6) == 0)
			continue;
		standard += fd <= 2;
		high += fd >= 100;
		odd += fd > 2 && fd < 100;
	}
	is_int(standard, 3, "descriptors 0, 1 and 2 are open [cgi:C16]");
	is_int(odd, 0, "and none after them [cgi:C16]");
	is_int(high, keyed, keyed ? "but for one high one" : "nor a high one");
}

static void
shown(struct rig *rig, bool keyed)
{
	struct rig_request request = { .method = "POST", .path = "/program",
		.query = "-s", .more = sent, .body = idem_bytes_text("body"),
		.key = keyed ? "shown" : NULL };
	struct rig_answer answer;
	char line[RIG_PATH + 16];

	rig_request(rig, &request, &answer);
	told(&answer, keyed ? "200 stored" : "200", "a program that shows all");
	sees_request(answer.body);
	sees_key(answer.body, keyed);
	sees_files(answer.body, keyed);
	is_int(lines_of(answer.body, "arguments 1 given", true), 1,
	    "it gets our arguments, and none out of the query [cgi:C37 R12]");
	snprintf(line, sizeof line, "name %s/program", rig->folder);
	is_int(lines_of(answer.body, line, true), 1, "under its own name");
	snprintf(line, sizeof line, "folder %s", rig->folder);
	is_int(lines_of(answer.body, line, true), 1, "in its own folder [R24]");
	rig_answer_free(&answer);
}

/* The C library's own, 32 and 33: posix_spawn(3) leaves them ignored, and no
   program can ask for them. */
#define LIBRARYS 0x180000000ull

static long long
mask_of(const struct rig_answer *answer, const char *name)
{
	return (long long)(strtoull(rig_field(answer, name), NULL, 16) &
	    ~LIBRARYS);
}

/* Of a process that is not a shell, which blocks some now and then. */
static void
signals(struct rig *rig)
{
	struct rig_request request = { .method = "POST", .path = "/program" };
	struct rig_answer answer;

	rig_program(rig, "program", "#!/bin/sh\n"
	    "exec sed -n 's/^Sig\\([BI]\\)/&/p; $a\\\n' /proc/self/status\n");
	rig_request(rig, &request, &answer);
	is_int(answer.status, 200, "a program that shows its signals");
	is_int(mask_of(&answer, "SigBlk"), 0, "none is blocked");
	is_int(mask_of(&answer, "SigIgn"), 0, "and none ignored");
	rig_answer_free(&answer);
}

int
main(void)
{
	struct rig rig;

	spoil_environment();
	rig_open(&rig);
	ask_start(&rig, (const char *[]){ "--", rig_at(&rig, "program"),
	    "given", NULL });
	rig_program(&rig, "program", show);
	shown(&rig, true);
	shown(&rig, false);
	signals(&rig);
	is_int(rig_stop(&rig, 30000), 0, "idemd ends with status 0");
	rig_end(&rig);
	return done();
}
