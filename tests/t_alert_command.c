/* SPDX-License-Identifier: ISC */
#include "workers.h"

#include "tap.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define START_MS 1000000

/* The command of an alert, as the master runs it. */
struct house {
	char folder[64], script[80], out[80];
	struct master *m;
};

static void
write_script(const struct house *h, const char *text)
{
	FILE *f = fopen(h->script, "w");

	if (f == NULL || fputs(text, f) < 0 || fclose(f) != 0 ||
	    chmod(h->script, 0700) != 0)
		bail_out("%s", h->script);
}

static void
open_house(struct house *h)
{
	struct shm *shm = shm_new(1, 1, -1);

	snprintf(h->folder, sizeof h->folder, "/tmp/t_alert.XXXXXX");
	if (mkdtemp(h->folder) == NULL || shm == NULL)
		bail_out("cannot begin");
	snprintf(h->script, sizeof h->script, "%s/tell", h->folder);
	snprintf(h->out, sizeof h->out, "%s/out", h->folder);
	h->m = calloc(1, sizeof *h->m);
	if (h->m == NULL)
		bail_out("no memory");
	h->m->shm = shm;
	h->m->log.who = "t_alert";
	h->m->alert = (struct alert){
		.command = h->script, .instance = "here", .shm = shm,
		.log = &h->m->log, .run = workers_command, .arg = h->m
	};
	signal(SIGPIPE, SIG_IGN);	/* as the master has it */
	signal(SIGINT, SIG_IGN);	/* as who starts it behind a shell */
}

static void
close_house(struct house *h)
{
	unlink(h->script);
	unlink(h->out);
	rmdir(h->folder);
	shm_free(h->m->shm);
	free(h->m);
}

static char *
contents(const char *path)
{
	static char text[8192];
	ssize_t n = -1;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd != -1) {
		n = read(fd, text, sizeof text - 1);
		close(fd);
	}
	text[n > 0 ? n : 0] = '\0';
	return text;
}

/* Its wait status; -1: it was not ours. */
static int
reap(struct house *h)
{
	int status = -1;
	pid_t pid = h->m->alert.pid;

	if (pid <= 0 || waitpid(pid, &status, 0) != pid ||
	    !alert_reaped(&h->m->alert, pid, status))
		return -1;
	return status;
}

static void
has(const char *text, const char *line, const char *what)
{
	if (!ok(strstr(text, line) != NULL, "%s", what))
		note("got: %s", text);
}

/*
 * The mask of ignored signals, without the two that belong to the C library:
 * what posix_spawn(3) starts, such as all that make(1) does, ignores them, and
 * nobody can say otherwise.
 */
static unsigned long long
ignored(const char *text)
{
	const char *at = strstr(text, "SigIgn:");

	return at != NULL ? strtoull(at + 7, NULL, 16) & ~(3ULL << 31) :
	    ~0ULL;
}

static void
test_process(struct house *h)
{
	char text[512];
	int open_fd = open("/dev/null", O_RDWR);	/* not close-on-exec */

	/* Of a shell's own there are PWD, and in some OLDPWD, SHLVL and _. */
	snprintf(text, sizeof text, "#!/bin/sh\n{\n"
	    "echo \"arguments $# $1\"\n"
	    "echo \"cwd $(pwd)\"\n"
	    "env | grep -cvE '^(PWD|OLDPWD|SHLVL|_)='\n"
	    "echo \"input $(readlink /proc/$$/fd/0)\"\n"
	    "for i in 3 4 5 6 7 8 9; do\n"
	    "[ -e /proc/$$/fd/$i ] && open=$open$i\ndone\n"
	    "echo \"open:$open\"\n"
	    "awk '/^SigIgn|^SigBlk/ { print }' /proc/self/status\n"
	    "awk '{ print \"leads\", $1 == $5 }' /proc/$$/stat\n"
	    "} >%s 2>&1\n", h->out);
	write_script(h, text);
	setenv("SECRET", "of ours", 1);
	alert_tell(h->m->shm, ALERT_SHARED_AWAY, "refused");
	alert_turn(&h->m->alert, START_MS);
	is_int(reap(h), 0, "a command is run");
	unsetenv("SECRET");
	close(open_fd);
	has(contents(h->out), "arguments 1 redis-away", "with the event");
	has(contents(h->out), "cwd /\n", "in the root folder");
	has(contents(h->out), "\n8\n", "with eight variables and none of ours");
	has(contents(h->out), "input /dev/null", "with nothing to read");
	/* The shell itself may hold its script at 10 or above. */
	has(contents(h->out), "open:\n", "no descriptor of ours");
	ok(ignored(contents(h->out)) == 0, "no signal ignored");
	has(contents(h->out), "SigBlk:\t0000000000000000", "none blocked");
	has(contents(h->out), "leads 1", "and in a group of its own");
}

static void
test_failures(struct house *h)
{
	int status;

	write_script(h, "#!/bin/sh\nexit 3\n");
	alert_tell(h->m->shm, ALERT_TWO_RUNS, "x");
	alert_turn(&h->m->alert, START_MS);
	status = reap(h);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 3 &&
	    memmem(h->m->log.at, h->m->log.len, "ended exit=3", 12) != NULL,
	    "a command that fails is logged");
	unlink(h->script);
	alert_tell(h->m->shm, ALERT_UNKNOWN_KEY, "x");
	alert_turn(&h->m->alert, START_MS);
	status = reap(h);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 127,
	    "one that is not there is one that fails");
}

/* A background child of it holds the pipe's end as long as it lives. */
static void
test_limit(struct house *h, bool at_end)
{
	int ends[2], status;
	char text[256], byte;

	unlink(h->out);
	if (mkfifo(h->out, 0600) != 0)
		bail_out("mkfifo");
	snprintf(text, sizeof text, "#!/bin/sh\nexec >%s\nsleep 600 &\n"
	    "echo began\nsleep 600\n", h->out);
	write_script(h, text);
	alert_tell(h->m->shm, ALERT_CACHE_AWAY, "x");
	alert_turn(&h->m->alert, START_MS);
	ends[0] = open(h->out, O_RDONLY | O_CLOEXEC);
	if (read(ends[0], text, 6) != 6)
		bail_out("the command does not begin");
	if (at_end) {
		alert_end(&h->m->alert);
	} else {
		alert_turn(&h->m->alert, START_MS + ALERT_LIMIT_MS - 1);
		is_int(waitpid(h->m->alert.pid, &status, WNOHANG), 0,
		    "a command that hangs has a minute");
		alert_turn(&h->m->alert, START_MS + ALERT_LIMIT_MS);
	}
	status = reap(h);
	ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "%s", at_end ?
	    "one that runs at our end is killed" : "then it is killed");
	ok(poll(&(struct pollfd){ .fd = ends[0] }, 1, 60000) == 1 &&
	    read(ends[0], &byte, 1) == 0, "with all that it had started");
	close(ends[0]);
	unlink(h->out);
	alert_tell(h->m->shm, ALERT_CACHE_BACK, "x");
	alert_turn(&h->m->alert, START_MS + 2 * ALERT_LIMIT_MS);
	if (at_end)
		is_int(h->m->alert.pid, 0, "and no other is run");
}

int
main(void)
{
	struct house h;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(300);		/* a command that never says anything */
	open_house(&h);
	test_process(&h);
	test_failures(&h);
	test_limit(&h, true);
	close_house(&h);
	open_house(&h);
	test_limit(&h, false);
	alert_end(&h.m->alert);
	close_house(&h);
	return done();
}
