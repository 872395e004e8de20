/* SPDX-License-Identifier: ISC */
#include "child.h"

#include "child_rig.h"
#include "tap.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAIT_MS 20000
#define MUCH 10000		/* lines of 64 bytes */

static struct loop *loop;
static const char *folder;

/* --- what the children are ------------------------------------------------ */

static void
be_text(void)
{
	printf("one\ntwo\nthree");
	fflush(stdout);
	_exit(3);
}

static void
be_long(void)
{
	int i;

	for (i = 0; i < 20000; i++)
		putchar('x');
	printf("\nend\n");
	fflush(stdout);
	_exit(0);
}

/* All of it is in the pipe when it ends. */
static void
be_much(void)
{
	int i;

	for (i = 0; i < MUCH; i++)
		printf("%063d\n", i);
	fflush(stdout);
	_exit(0);
}

static void
be_descriptors(void)
{
	struct dirent *entry;
	DIR *fds = opendir("/proc/self/fd");

	while (fds != NULL && (entry = readdir(fds)) != NULL)
		if (entry->d_name[0] != '.' &&
		    strtol(entry->d_name, NULL, 10) != dirfd(fds))
			printf("%s\n", entry->d_name);
	if (fcntl(3, F_GETFD) != -1)
		dprintf(3, "passed");
	fflush(stdout);
	_exit(0);
}

static void
be_environment(void)
{
	extern char **environ;
	char **at;

	for (at = environ; *at != NULL; at++)
		puts(*at);
	fflush(stdout);
	_exit(0);
}

static void
be_mean(void)
{
	signal(SIGTERM, SIG_IGN);
	puts("away");
	fflush(stdout);
	child_rig_rest();
}

static const struct child_role roles[] = {
	{ "text", be_text }, { "long", be_long }, { "much", be_much },
	{ "descriptors", be_descriptors }, { "environment", be_environment },
	{ "mean", be_mean }
};

/* --- tests ---------------------------------------------------------------- */

static void
test_one(void)
{
	struct heard h;

	child_rig_start(loop, &h, "t1", "text", NULL);
	child_rig_ended(loop, &h);
	is(h.text, "one\ntwo\nthree\nEND",
	    "all its lines come, the last without an end too, before its end");
	ok(WIFEXITED(h.child.status) && WEXITSTATUS(h.child.status) == 3 &&
	    h.child.pid == 0, "its status is there, and no process any more");
	child_forget(&h.child);

	child_rig_start(loop, &h, "t1", "long", NULL);
	child_rig_ended(loop, &h);
	ok(h.lines == 4 && h.len == 20000 + 3 + 4 + 3 &&
	    strstr(h.text, "\nend\nEND") != NULL,
	    "a line that is too long comes in pieces");
	child_forget(&h.child);

	child_rig_start(loop, &h, "t1", "much", NULL);
	child_rig_ended(loop, &h);
	is_int((long long)h.lines_before, MUCH,
	    "however much it said, it comes before its end");
	child_forget(&h.child);
}

static void
test_refused(void)
{
	static const struct {
		const char *path, *folder, *what;
		int error;
	} rows[] = {
		{ "/nonexistent/program", NULL, "a program that is missing",
		  ENOENT },
		{ "/dev/null", NULL, "a file that is no program", EACCES },
		{ "/proc/self/exe", "/nonexistent", "a folder that is missing",
		  ENOENT }
	};
	struct child c = { 0 };
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		const char *argv[] = { rows[i].path, "text", NULL };
		struct child_spec spec = { .name = "t", .argv = argv,
			.folder = rows[i].folder, .pass = -1 };
		int done = child_start(loop, &c, &spec);
		int error = errno;

		ok(done == -1 && error == rows[i].error && c.pid == 0,
		    "%s is refused with its errno", rows[i].what);
	}
}

static void
test_descriptors(void)
{
	struct child_spec spec = { .pass = -1 };
	char said[16] = "";
	struct heard h;
	int ends[2];

	if (pipe(ends) == -1)	/* without close-on-exec */
		bail_out("pipe: %s", strerror(errno));
	child_rig_start(loop, &h, "t1", "descriptors", &spec);
	child_rig_ended(loop, &h);
	is(h.text, "0\n1\n2\nEND",
	    "it has 0, 1 and 2 and nothing else of ours");
	child_forget(&h.child);

	spec.pass = ends[1];
	child_rig_start(loop, &h, "t1", "descriptors", &spec);
	child_rig_ended(loop, &h);
	is(h.text, "0\n1\n2\n3\nEND", "what it is passed is its 3");
	(void)!read(ends[0], said, sizeof said - 1);
	is(said, "passed", "and is what was passed");
	child_forget(&h.child);
	close(ends[0]);
	close(ends[1]);
}

static void
test_environment(void)
{
	const char *const more[] = { "IDEMSIM_LIFE=2", NULL };
	struct child_spec spec = { .env = more, .pass = -1 };
	char mark[128];
	struct heard h;

	setenv("T_SIM_OTHER", "1", 1);
	child_rig_start(loop, &h, "g7", "environment", &spec);
	child_rig_ended(loop, &h);
	snprintf(mark, sizeof mark, "IDEMSIM_RUN=%s\nIDEMSIM_LANE=g7\n",
	    child_mark());
	ok(strncmp(h.text, mark, strlen(mark)) == 0,
	    "its environment begins with its marks");
	ok(strstr(h.text, "\nIDEMSIM_LIFE=2\n") != NULL &&
	    strstr(h.text, "\nPATH=") != NULL,
	    "it has what it is given, and PATH");
	ok(strstr(h.text, "T_SIM_OTHER") == NULL,
	    "it has nothing else of our environment");
	child_forget(&h.child);
}

static void
test_log(void)
{
	char path[96], text[32] = "";
	struct child_spec spec = { .log = path, .pass = -1 };
	struct heard h;
	int i, fd;

	snprintf(path, sizeof path, "%s/log", folder);
	for (i = 0; i < 2; i++) {
		child_rig_start(loop, &h, "t1", "text", &spec);
		child_rig_ended(loop, &h);
		child_forget(&h.child);
	}
	fd = open(path, O_RDONLY);
	(void)!read(fd, text, sizeof text - 1);
	close(fd);
	is(text, "one\ntwo\nthreeone\ntwo\nthree", "a log is appended to");
	unlink(path);
}

/* With no descriptor left for a pidfd. */
static void
test_without_pidfd(void)
{
	char path[96];
	struct child_spec spec = { .log = path, .pass = -1 };
	struct rlimit before, tight;
	struct heard h;
	int fd;

	snprintf(path, sizeof path, "%s/log", folder);
	getrlimit(RLIMIT_NOFILE, &before);
	tight = before;
	fd = open("/dev/null", O_RDONLY);
	close(fd);
	tight.rlim_cur = (rlim_t)fd + 1;
	setrlimit(RLIMIT_NOFILE, &tight);
	ok(child_rig_start(loop, &h, "t1", "text", &spec) == -1 &&
	    errno == EMFILE, "without descriptors it is refused");
	tight.rlim_cur = (rlim_t)fd + 2;
	setrlimit(RLIMIT_NOFILE, &tight);
	child_rig_start(loop, &h, "t1", "text", &spec);
	setrlimit(RLIMIT_NOFILE, &before);
	ok(child_rig_ended(loop, &h) && WEXITSTATUS(h.child.status) == 3,
	    "its end is seen without a pidfd too");
	child_forget(&h.child);
	unlink(path);
}

static char
state(pid_t pid)
{
	struct child_stat st;

	return child_stat(pid, &st) ? st.state : '-';
}

static void
test_group(void)
{
	struct child_stat st = { 0 };
	struct heard h;
	pid_t pid;

	child_rig_start(loop, &h, "t1", "mean", NULL);
	child_rig_lines(loop, &h, 1);
	pid = h.child.pid;
	ok(child_stat(pid, &st) && st.group == pid && st.parent == getpid(),
	    "it leads a process group of its own");
	is(st.name, "exe", "its name is that of the file it was started from");
	is_int(child_signal(&h.child, SIGTERM), 0, "a signal reaches it");
	child_signal(&h.child, SIGSTOP);
	ok(child_await_state(pid, "T") && state(pid) == 'T',
	    "that it stops can be waited for");
	child_signal(&h.child, SIGKILL);
	ok(child_await_state(pid, "Z") && state(pid) == 'Z',
	    "and that it dies");
	ok(!child_await_state(pid, "T"),
	    "but nothing else of one that is dead");
	child_forget(&h.child);
	ok(h.child.pid == 0 && state(pid) == '-',
	    "one that is forgotten is killed and reaped");
	ok(!child_await_state(pid, "TZ"), "and nothing of one that is gone");
	ok(child_signal(&h.child, SIGTERM) == -1 && errno == ESRCH,
	    "one that is gone gets no signal");
}

static void
test_dies_with_us(void)
{
	int ends[2], waits;
	struct heard h;
	pid_t pid, child = 0;

	if (pipe2(ends, O_CLOEXEC) == -1)
		bail_out("pipe: %s", strerror(errno));
	pid = fork();
	if (pid == 0) {
		loop = loop_new(&idem_clock_real);
		child_rig_start(loop, &h, "t1", "mean", NULL);
		child_rig_lines(loop, &h, 1);
		(void)!write(ends[1], &h.child.pid, sizeof h.child.pid);
		child_rig_rest();
	}
	(void)!read(ends[0], &child, sizeof child);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	for (waits = 0; waits < WAIT_MS && state(child) != '-' &&
	    state(child) != 'Z'; waits++)
		poll(NULL, 0, 1);
	ok(child > 0 && (state(child) == '-' || state(child) == 'Z'),
	    "it dies with who started it");
	close(ends[0]);
	close(ends[1]);
}

/* Where the kernel counts them. */
static void
test_oom(void)
{
	char text[16384];
	int fd = open("/proc/vmstat", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd != -1 ? read(fd, text, sizeof text - 1) : 0;

	text[n > 0 ? n : 0] = '\0';
	if (fd != -1)
		close(fd);
	is_int(child_oom_kills() >= 0, strstr(text, "oom_kill ") != NULL,
	    "kills for want of memory are counted where the kernel does it");
}

int
main(int argc, char **argv)
{
	child_rig_play(argc, argv, roles, sizeof roles / sizeof *roles);
	signal(SIGCHLD, SIG_IGN);	/* as some parents have it */
	loop = loop_new(&idem_clock_real);
	folder = child_warden_start();
	if (loop == NULL || folder == NULL)
		bail_out("no folder: %s", strerror(errno));
	test_one();
	test_refused();
	test_descriptors();
	test_environment();
	test_log();
	test_without_pidfd();
	test_group();
	test_dies_with_us();
	test_oom();
	loop_free(loop);
	child_warden_end(false);
	return done();
}
