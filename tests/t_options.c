/* SPDX-License-Identifier: ISC */
#include "options.h"
#include "shm.h"

#include "tap.h"

#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ARGS_MAX 12
#define DAY INT64_C(86400000)

/* What each row's words are followed by, so that they are a whole line. */
#define REST "--ledger", "sqlite:/l", "--", "/p", "-x"

static const struct {
	const char *what;
	const char *args[ARGS_MAX];
	const char *has;	/* see describe() */
} good[] = {
	{ "nothing said is the defaults of the manual",
	  { REST }, "socket=- ledger=/l create=0 programs=8 queue=64 "
	  "keep=86400000 tombstone=604800000 limit=300000 grace=5000 root=- "
	  "argv=/p,-x required=0 in-progress=wait:10000 on-unknown=block:3 "
	  "lease=60000 arbiter=0 " },
	{ "-s is the socket", { "-s", "unix:/s", REST }, "socket=unix:/s " },
	{ "so is --socket", { "--socket", "tcp:h:1", REST },
	  "socket=tcp:h:1 " },
	{ "a ledger may be a path", { "--ledger", "/x", "--", "/p" },
	  "ledger=/x " },
	{ "a ledger's path may hold a colon behind its scheme",
	  { "--ledger=sqlite:/x:y", "--", "/p" }, "ledger=/x:y " },
	{ "--create", { "--create", REST }, "create=1 " },
	{ "-c", { "-c", "1", REST }, "programs=1 " },
	{ "-c may stand beside its number", { "-c1024", REST },
	  "programs=1024 " },
	{ "--programs", { "--programs", "9", REST }, "programs=9 " },
	{ "--queue may be none", { "--queue", "0", REST }, "queue=0 " },
	{ "--queue", { "--queue", "1000000", REST }, "queue=1000000 " },
	{ "--workers", { "--workers", "3", REST }, "workers=3 " },
	{ "there are no more workers than programs",
	  { "--workers", "64", "-c", "5", REST }, "workers=5 " },
	{ "--keep in ms", { "--keep", "250ms", REST }, "keep=250 " },
	{ "--keep in s", { "--keep", "1s", REST }, "keep=1000 " },
	{ "--keep in m", { "--keep", "5m", REST }, "keep=300000 " },
	{ "--keep in h", { "--keep", "24h", REST }, "keep=86400000 " },
	{ "--keep for ten years", { "--keep", "3650d", REST },
	  "keep=315360000000 " },
	{ "--tombstone", { "--tombstone", "30d", REST },
	  "tombstone=2592000000 " },
	{ "--lease", { "--lease", "1s", REST }, "lease=1000 " },
	{ "--limit", { "--limit", "15d", REST }, "limit=1296000000 " },
	{ "--grace", { "--grace", "1ms", REST }, "grace=1 " },
	{ "--on-unknown block", { "--on-unknown", "block", REST },
	  "on-unknown=block:3 " },
	{ "--on-unknown retry", { "--on-unknown", "retry", REST },
	  "on-unknown=retry:3 " },
	{ "--on-unknown retry:N", { "--on-unknown", "retry:1", REST },
	  "on-unknown=retry:1 " },
	{ "--in-progress wait", { "--in-progress", "wait", REST },
	  "in-progress=wait:10000 " },
	{ "--in-progress wait:TIME", { "--in-progress", "wait:3s", REST },
	  "in-progress=wait:3000 " },
	{ "--in-progress 409", { "--in-progress", "409", REST },
	  "in-progress=409:10000 " },
	{ "--in-progress 202", { "--in-progress", "202", REST },
	  "in-progress=202:10000 " },
	{ "--required", { "--required", REST }, "required=1 " },
	{ "--root instead of a program",
	  { "--ledger", "/l", "--root", "/tmp" }, "root=/tmp argv=- " },
	{ "what follows the program is its own",
	  { "--ledger", "/l", "/p", "--keep", "1", "-c" },
	  "argv=/p,--keep,1,-c " },
	{ "of two equal options the last counts",
	  { "--keep", "1s", "--keep", "2s", REST }, "keep=2000 " },
};

/* Each message names the option, the value, and what is right. */
static const struct {
	const char *what;
	const char *args[ARGS_MAX];
	const char *says[3];
} bad[] = {
	{ "a root that is not there", { "--ledger", "/l", "--root", "/tmp/no/cgi" },
	  { "--root", " /tmp/no/cgi:", "not a folder" } },
	{ "a root that is a file", { "--ledger", "/l", "--root", "/bin/sh" },
	  { "--root", " /bin/sh:", "not a folder" } },
	{ "a lease too short to be renewed", { "--lease", "99ms", REST },
	  { "--lease", " 99ms:", "less than 100ms" } },
	{ "neither program nor root", { "--ledger", "/l" },
	  { "--root DIR", "-- PROGRAM" } },
	{ "program and root", { "--root", "/r", REST },
	  { "--root DIR", "-- PROGRAM", "either" } },
	{ "a program that is not absolute",
	  { "--ledger", "/l", "--", "order.cgi" },
	  { "--", "order.cgi", "absolute path" } },
	{ "no program's name", { "--ledger", "/l", "--", "" },
	  { "--", "absolute path" } },
	{ "no ledger", { "--", "/p" },
	  { "--ledger", "missing", "--ledger sqlite:PATH" } },
	{ "a ledger of another kind", { "--ledger", "redis://h", "--", "/p" },
	  { "--ledger", "redis://h", "sqlite:PATH" } },
	{ "a ledger without a path", { "--ledger", "sqlite:", "--", "/p" },
	  { "--ledger", "sqlite:", "path" } },
	{ "an empty ledger", { "--ledger", "", "--", "/p" },
	  { "--ledger", "sqlite:", "path" } },
	{ "no programs", { "-c", "0", REST },
	  { "-c", " 0:", "a number from 1 to 1024" } },
	{ "too many programs", { "-c", "1025", REST },
	  { "-c", "1025", "a number from 1 to 1024" } },
	{ "programs that are no number", { "-c", "many", REST },
	  { "-c", "many", "a number from 1 to 1024" } },
	{ "a number with more behind it", { "-c", "8x", REST },
	  { "-c", "8x", "a number from 1 to 1024" } },
	{ "a negative number", { "-c", "-1", REST },
	  { "-c", "-1", "a number from 1 to 1024" } },
	{ "a number with a blank", { "-c", " 1", REST },
	  { "-c", " 1", "a number from 1 to 1024" } },
	{ "a number over 64 bits", { "--queue", "18446744073709551616", REST },
	  { "--queue", "18446744073709551616", "from 0 to 1000000" } },
	{ "a queue that is too long", { "--queue", "1000001", REST },
	  { "--queue", "1000001", "a number from 0 to 1000000" } },
	{ "no workers", { "--workers", "0", REST },
	  { "--workers", " 0:", "a number from 1 to 64" } },
	{ "too many workers", { "--workers", "65", REST },
	  { "--workers", "65", "a number from 1 to 64" } },
	{ "a time without a unit", { "--keep", "10", REST },
	  { "--keep", " 10:", "unit, such as 250ms" } },
	{ "a time without a number", { "--keep", "s", REST },
	  { "--keep", " s:", "unit, such as 250ms" } },
	{ "no time", { "--keep", "0s", REST },
	  { "--keep", "0s", "unit, such as 250ms" } },
	{ "a negative time", { "--keep", "-1s", REST },
	  { "--keep", "-1s", "unit, such as 250ms" } },
	{ "a unit nobody knows", { "--keep", "1y", REST },
	  { "--keep", "1y", "unit, such as 250ms" } },
	{ "a time of two units", { "--tombstone", "1h5m", REST },
	  { "--tombstone", "1h5m", "unit, such as 250ms" } },
	{ "over ten years", { "--keep", "3651d", REST },
	  { "--keep", "3651d", "at most 3650d" } },
	{ "a lease without a unit", { "--lease", "60", REST },
	  { "--lease", " 60:", "unit, such as 250ms" } },
	{ "a limit over 15 days", { "--limit", "16d", REST },
	  { "--limit", "16d", "at most 15d" } },
	{ "a grace that is no time", { "--grace", "soon", REST },
	  { "--grace", "soon", "unit, such as 250ms" } },
	{ "an unknown policy", { "--on-unknown", "ask", REST },
	  { "--on-unknown", "ask", "block, retry and retry:N" } },
	{ "a probe, as yet", { "--on-unknown", "probe", REST },
	  { "--on-unknown", "probe", "configuration file" } },
	{ "no starts in all", { "--on-unknown", "retry:0", REST },
	  { "--on-unknown", "retry", "a number from 1 to 1000" } },
	{ "retry without its number", { "--on-unknown", "retry:", REST },
	  { "--on-unknown", "retry", "a number from 1 to 1000" } },
	{ "another answer to duplicates", { "--in-progress", "404", REST },
	  { "--in-progress", "404", "wait, wait:TIME, 409 and 202" } },
	{ "a wait without a unit", { "--in-progress", "wait:10", REST },
	  { "--in-progress", " 10:", "unit, such as 250ms" } },
	{ "an unknown option", { "--keepalive", REST },
	  { "--keepalive", "idemd --help" } },
	{ "an unknown letter", { "-z", REST }, { "z", "idemd --help" } },
	{ "an option without its value", { "--keep" },
	  { "keep", "requires", "idemd --help" } },
	{ "a value that an option has not", { "--create=yes", REST },
	  { "create", "idemd --help" } },
};

/* A command line, which options borrow from. */
struct line {
	char *argv[ARGS_MAX + 2];
};

static int
read_args(struct options *o, struct line *line, const char *const *args)
{
	int argc = 1;

	*line = (struct line){ { "idemd" } };
	while (args[argc - 1] != NULL)
		argc++;
	memcpy(line->argv + 1, args, (size_t)(argc - 1) * sizeof *args);
	optind = 0;	/* from the start, for glibc */
	return options_read(o, argc, line->argv);
}

static void
describe_argv(const struct options *o, char *to, size_t size)
{
	size_t len = 0, i;

	snprintf(to, size, "-");
	for (i = 0; o->program != NULL && o->program[i] != NULL; i++)
		len += (size_t)snprintf(to + len, size - len, "%s%s",
		    i > 0 ? "," : "", o->program[i]);
}

static void
describe(const struct options *o, char *to, size_t size)
{
	static const char *const in_progress[] = { "wait", "409", "202" };
	static const char *const on_unknown[] = { "block", "retry", "probe" };
	char argv[128];

	describe_argv(o, argv, sizeof argv);
	snprintf(to, size, "socket=%s ledger=%s create=%d programs=%u queue=%u "
	    "keep=%" PRId64 " tombstone=%" PRId64 " limit=%u grace=%u root=%s "
	    "argv=%s required=%d in-progress=%s:%u on-unknown=%s:%u lease=%u "
	    "arbiter=%d workers=%u ", o->socket != NULL ? o->socket : "-",
	    o->ledger, o->create, o->programs, o->queue, o->keep_ms,
	    o->tombstone_ms, o->limit_ms, o->grace_ms,
	    o->root != NULL ? o->root : "-", argv, o->policy.required,
	    in_progress[o->policy.in_progress], o->policy.wait_ms,
	    on_unknown[o->policy.on_unknown], o->policy.attempts_max,
	    o->policy.lease_ms, o->policy.arbiter, o->workers);
}

static void
check_good(void)
{
	struct options o;
	struct line line;
	char is_so[512];
	size_t i;

	for (i = 0; i < sizeof good / sizeof *good; i++) {
		is_so[0] = '\0';
		if (read_args(&o, &line, good[i].args) == 0)
			describe(&o, is_so, sizeof is_so);
		if (!ok(strstr(is_so, good[i].has) != NULL, "%s",
		    good[i].what))
			note("%s: %s", good[i].has, is_so);
	}
}

/* What came of it in a process of its own, and what it said where. */
static int
heard(const char *const *args, int fd, char *said, size_t size)
{
	struct options o;
	struct line line;
	int ends[2], status;
	size_t len = 0;
	ssize_t n;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) != 0)
		bail_out("pipe2");
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		dup2(ends[1], fd);
		status = read_args(&o, &line, args);
		fflush(stdout);
		_exit(status == -1 ? 100 : status);
	}
	close(ends[1]);
	while ((n = read(ends[0], said + len, size - 1 - len)) > 0)
		len += (size_t)n;
	said[len] = '\0';
	close(ends[0]);
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void
check_bad(void)
{
	char said[4096];
	size_t i, j, n;

	for (i = 0; i < sizeof bad / sizeof *bad; i++) {
		is_int(heard(bad[i].args, STDERR_FILENO, said, sizeof said), 2,
		    "%s ends with status 2", bad[i].what);
		for (j = n = 0; j < 3 && bad[i].says[j] != NULL; j++)
			n += strstr(said, bad[i].says[j]) == NULL;
		if (!ok(n == 0 && strncmp(said, "idemd: ", 7) == 0,
		    "%s: its message says what and what to do", bad[i].what))
			note("%s", said);
	}
}

static void
check_told(void)
{
	static const char *const options[] = {
		"--socket", "--ledger", "--create", "--programs", "--queue",
		"--workers", "--root", "--required", "--in-progress",
		"--on-unknown", "--keep", "--tombstone", "--lease", "--limit",
		"--grace"
	};
	static const char *const help[] = { "--help", NULL };
	static const char *const version[] = { "--version", NULL };
	char said[4096];
	size_t i, missing = 0;

	is_int(heard(help, STDOUT_FILENO, said, sizeof said), 100,
	    "--help is told, and all is well");
	for (i = 0; i < sizeof options / sizeof *options; i++)
		missing += strstr(said, options[i]) == NULL;
	is_int((long long)missing, 0, "every option is in it");
	is_int(heard(version, STDOUT_FILENO, said, sizeof said), 100,
	    "--version is told, and all is well");
	is(said, "idemd " PACKAGE_VERSION "\n", "it is this version");
}

static void
check_cpus(void)
{
	static const char *const args[] = { "-c", "1024", REST, NULL };
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct options o;
	struct line line;

	read_args(&o, &line, args);
	is_int(o.workers, cpus < SHM_WORKERS_MAX ? cpus : SHM_WORKERS_MAX,
	    "there are as many workers as CPUs");
}

static void
check_times(void)
{
	int64_t ms = 7;

	ok(options_time("10s", 10000, &ms) && ms == 10000,
	    "a time of just the limit is one");
	ok(!options_time("10s", 9999, &ms), "over the limit it is none");
	ok(options_time("2147483647ms", INT64_MAX, &ms) && ms == INT32_MAX,
	    "as many as 31 bits hold are read");
	ok(!options_time("2147483648ms", INT64_MAX, &ms), "more are not");
	ok(options_time("010s", INT64_MAX, &ms) && ms == 10000,
	    "a leading 0 changes nothing");
	ok(options_time("2147483647d", INT64_MAX, &ms) &&
	    ms == INT32_MAX * DAY, "days do not overflow");
	ok(!options_time("", INT64_MAX, &ms) &&
	    !options_time("1 s", INT64_MAX, &ms) &&
	    !options_time("1S", INT64_MAX, &ms) &&
	    !options_time("1.5s", INT64_MAX, &ms) &&
	    !options_time("+1s", INT64_MAX, &ms) &&
	    !options_time("1s ", INT64_MAX, &ms), "anything else is no time");
}

int
main(void)
{
	check_times();
	check_good();
	check_bad();
	check_told();
	check_cpus();
	return done();
}
