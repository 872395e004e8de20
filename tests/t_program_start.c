/* SPDX-License-Identifier: ISC */
#include "ask.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Programs that cannot be started: nothing ran, and the key is free. */

static const char good[] = COUNT
    "printf 'Status: 201 Created\\nContent-Type: text/plain\\n\\nok'\n";

/* --- not started ---------------------------------------------------------- */

enum odd { MISSING, UNMARKED, FOLDER, DANGLING, LOOPING, WRITTEN, TEXT };

static const struct {
	const char *what;
	const char *want;
	enum odd odd;
	const char *text;
} odds[] = {
	{ "is missing", "404 not-started", MISSING, NULL },
	{ "is a link to nothing", "404 not-started", DANGLING, NULL },
	{ "is not executable", "403 not-started", UNMARKED, NULL },
	{ "is a folder", "403 not-started", FOLDER, NULL },
	{ "is a link to itself", "500 not-started", LOOPING, NULL },
	{ "has no interpreter [cgi:C38]", "500 not-started", TEXT,
	    "#!/nowhere/interpreter\n" },
	{ "has a plain file as interpreter", "500 not-started", TEXT,
	    "#!/etc/passwd\n" },
	{ "has a folder as interpreter", "500 not-started", TEXT, "#!/etc\n" },
	{ "is empty", "500 not-started", TEXT, "" },
	{ "has no first line [cgi:C38]",
	    "500 not-started", TEXT, "echo hello\n" },
	{ "is half an ELF file", "500 not-started", TEXT, "\177ELF\002\001" },
	{ "is being written [cgi:C38]", "500 not-started", WRITTEN, NULL },
};

static int
make(struct rig *rig, enum odd odd, const char *text)
{
	const char *path = rig_at(rig, "program");
	int fd = -1, made = 0;

	switch (odd) {
	case MISSING:
		break;
	case UNMARKED:
		rig_file(rig, "program", good);
		break;
	case FOLDER:
		made = mkdir(path, 0755);
		break;
	case DANGLING:
		made = symlink("nothing", path);
		break;
	case LOOPING:
		made = symlink("program", path);
		break;
	case WRITTEN:
		rig_program(rig, "program", good);
		fd = open(path, O_WRONLY | O_CLOEXEC);
		made = fd;
		break;
	case TEXT:
		rig_program(rig, "program", text);
		break;
	}
	if (made == -1)
		bail_out("%s: %s", path, strerror(errno));
	return fd;
}

/* Nothing ran, says the answer; so the key is free once it can. */
static void
not_started(struct rig *rig)
{
	struct rig_request request = { .method = "POST", .path = "/program" };
	long before = starts(rig), n = sizeof odds / sizeof *odds, i;
	char key[32];
	int fd;

	for (i = 0; i < n; i++) {
		snprintf(key, sizeof key, "odd-%ld", i);
		remove(rig_at(rig, "program"));
		fd = make(rig, odds[i].odd, odds[i].text);
		request.key = key;
		ask(rig, &request, odds[i].want, "a program that %s",
		    odds[i].what);
		ask(rig, &request, odds[i].want, "which %s still",
		    odds[i].what);
		request.key = NULL;
		ask(rig, &request, odds[i].want, "it %s, and no key was sent",
		    odds[i].what);
		if (fd != -1)
			close(fd);
		remove(rig_at(rig, "program"));
		rig_program(rig, "program", good);
		request.key = key;
		ask(rig, &request, "201 stored", "put right, it runs");
		ask(rig, &request, "201 replayed", "and is replayed");
	}
	is_int(starts(rig) - before, n, "each was started once, put right");
}

/* The ordinary cure. */
static void
chmod_and_retry(struct rig *rig)
{
	struct rig_request request = { .method = "POST", .path = "/program",
		.key = "chmod" };

	if (chmod(rig_at(rig, "program"), 0644) == -1)
		bail_out("chmod: %s", strerror(errno));
	ask(rig, &request, "403 not-started", "somebody forgot chmod +x");
	if (chmod(rig_at(rig, "program"), 0755) == -1)
		bail_out("chmod: %s", strerror(errno));
	ask(rig, &request, "201 stored", "after it");
}

/* --- many at once --------------------------------------------------------- */

#define MANY 20

struct tally {
	int sent, not_started;
};

static enum rig_next
next(void *arg, int64_t now_ms, struct rig_request *request, void **user)
{
	struct tally *tally = arg;

	(void)now_ms;
	(void)user;
	if (tally->sent == MANY)
		return RIG_OVER;
	tally->sent++;
	*request = (struct rig_request){ .method = "POST", .path = "/program",
		.key = "many-at-once" };
	return RIG_SEND;
}

static void
answered(void *arg, void *user, const struct rig_answer *answer)
{
	struct tally *tally = arg;

	(void)user;
	tally->not_started +=
	    (answer->status == 500 || answer->status == 503) && strcmp(
	    rig_field(answer, "Idempotency-Status"), "not-started") == 0;
}

/* Who waited for one that was not started is told the same, and may retry. */
static void
many_at_once(struct rig *rig)
{
	struct tally tally = { 0, 0 };
	struct rig_many many = { .connections_max = MANY, .limit_ms = 30000,
		.next = next, .answered = answered, .arg = &tally };
	struct rig_request request;
	void *user;

	rig_program(rig, "program", "#!/nowhere/interpreter\n");
	is_int(rig_many(rig, &many), 0, "20 at once for a broken program");
	is_int(tally.not_started, MANY, "each is told that nothing started");
	rig_program(rig, "program", good);
	tally.sent = 0;
	next(&tally, 0, &request, &user);
	ask(rig, &request, "201 stored", "put right, one more of them");
}

/* --- too much ------------------------------------------------------------- */

#define STRING_MAX (128 * 1024)	/* the kernel's, with the NUL */

static const struct {
	size_t len;		/* of "HTTP_BIG=..." and its NUL */
	const char *want;
} bigs[] = {
	{ 100 * 1024, "201 stored" },
	{ STRING_MAX, "201 stored" },
	{ STRING_MAX + 1, "431 not-started" },
	{ 200 * 1024, "431 not-started" },
	{ 300 * 1024, "431 not-started" },
	{ 2 * 1024 * 1024, "431 not-started" },
};

static void
big_variables(struct rig *rig)
{
	static char big[2 * 1024 * 1024];
	const char *more[] = { big, NULL };
	struct rig_request request = { .method = "POST", .path = "/program" };
	long before = starts(rig), n = sizeof bigs / sizeof *bigs, i;
	char key[32];

	for (i = 0; i < n; i++) {
		snprintf(key, sizeof key, "big-%ld", i);
		memset(big, 'x', bigs[i].len);
		memcpy(big, "HTTP_BIG=", 9);
		big[bigs[i].len - 1] = '\0';
		request.key = key;
		request.more = more;
		ask(rig, &request, bigs[i].want, "a variable of %zu bytes",
		    bigs[i].len);
		request.more = NULL;
		ask(rig, &request, bigs[i].want[0] == '2' ? "201 replayed" :
		    "201 stored", "the same request without it");
	}
	is_int(starts(rig) - before, n, "each was started once");
}

static void
many_variables(struct rig *rig, size_t n, const char *want)
{
	static char names[6000][16];
	static const char *more[6001];
	struct rig_request request = { .method = "POST", .path = "/program",
		.more = more };
	char key[32];
	size_t i;

	for (i = 0; i < n; i++) {
		snprintf(names[i], sizeof names[i], "HTTP_%zu=x", i);
		more[i] = names[i];
	}
	more[n] = NULL;
	snprintf(key, sizeof key, "many-%zu", n);
	request.key = key;
	ask(rig, &request, want, "%zu variables", n);
	request.more = NULL;
	ask(rig, &request, want[0] == '2' ? "201 replayed" : "201 stored",
	    "the same request without them");
}

/* Once idemd has ended: it writes its log in pieces. */
static void
log_names_it(struct rig *rig)
{
	char *log = rig_slurp(rig, "log");
	char line[300];

	if (log == NULL)
		bail_out("no log");
	snprintf(line, sizeof line, " program=%s not-started=\"No such file or "
	    "directory\"", rig_at(rig, "program"));
	ok(strstr(log, line) != NULL,
	    "the log says which program is not there");
	free(log);
}

int
main(void)
{
	struct rig rig;

	rig_open(&rig);
	ask_start(&rig, (const char *[]){ "--", rig_at(&rig, "program"),
	    NULL });
	not_started(&rig);
	chmod_and_retry(&rig);
	many_at_once(&rig);
	big_variables(&rig);
	many_variables(&rig, 4000, "201 stored");
	many_variables(&rig, 5000, "431 not-started");
	is_int(rig_stop(&rig, 30000), 0, "idemd ends with status 0");
	log_names_it(&rig);
	rig_end(&rig);
	return done();
}
