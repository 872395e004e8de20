/* SPDX-License-Identifier: ISC */
#include "options.h"
#include "shm.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LEASE_MIN_MS 100
#define DAY_MS (24 * 3600 * (int64_t)1000)
#define TIME_MAX_MS (3650 * DAY_MS)
#define RUN_MAX_MS (30 * DAY_MS / 2)	/* fits 31 bits of milliseconds */

enum {
	OPT_LEDGER = 256, OPT_CREATE, OPT_QUEUE, OPT_WORKERS, OPT_KEEP,
	OPT_TOMBSTONE, OPT_LEASE, OPT_LIMIT, OPT_GRACE, OPT_ON_UNKNOWN,
	OPT_IN_PROGRESS, OPT_REQUIRED, OPT_ROOT, OPT_HELP, OPT_VERSION
};

static const struct option known[] = {
	{ "socket", required_argument, NULL, 's' },
	{ "programs", required_argument, NULL, 'c' },
	{ "ledger", required_argument, NULL, OPT_LEDGER },
	{ "create", no_argument, NULL, OPT_CREATE },
	{ "queue", required_argument, NULL, OPT_QUEUE },
	{ "workers", required_argument, NULL, OPT_WORKERS },
	{ "keep", required_argument, NULL, OPT_KEEP },
	{ "tombstone", required_argument, NULL, OPT_TOMBSTONE },
	{ "lease", required_argument, NULL, OPT_LEASE },
	{ "limit", required_argument, NULL, OPT_LIMIT },
	{ "grace", required_argument, NULL, OPT_GRACE },
	{ "on-unknown", required_argument, NULL, OPT_ON_UNKNOWN },
	{ "in-progress", required_argument, NULL, OPT_IN_PROGRESS },
	{ "required", no_argument, NULL, OPT_REQUIRED },
	{ "root", required_argument, NULL, OPT_ROOT },
	{ "help", no_argument, NULL, OPT_HELP },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ NULL, 0, NULL, 0 }
};

static const char help[] =
    "usage: idemd -s SOCKET --ledger sqlite:PATH [options] -- PROGRAM [ARG ...]\n"
    "       idemd -s SOCKET --ledger sqlite:PATH [options] --root DIR\n"
    "\n"
    "  -s, --socket SOCKET   unix:PATH or tcp:HOST:PORT; without it a socket of\n"
    "                        systemd's, or descriptor 0\n"
    "      --ledger PATH     sqlite:PATH; made with idemctl init or --create\n"
    "      --create          make the ledger if it is missing\n"
    "  -c, --programs N      programs at once (8)\n"
    "      --queue N         requests waiting for one of them (64)\n"
    "      --workers N       processes (as many as CPUs)\n"
    "      --root DIR        run SCRIPT_FILENAME, if it lies below DIR\n"
    "      --required        a key is required\n"
    "      --in-progress W   what a duplicate of a run gets: wait, wait:TIME,\n"
    "                        409 or 202 (wait:10s)\n"
    "      --on-unknown W    after a run nobody knows the end of: block, or\n"
    "                        retry:N starts in all (block)\n"
    "      --keep TIME       answers are kept (24h)\n"
    "      --tombstone TIME  and keys after them (7d)\n"
    "      --lease TIME      a silent run is presumed alive (60s)\n"
    "      --limit TIME      a run may take (300s)\n"
    "      --grace TIME      from SIGTERM to SIGKILL, and after a lease (5s)\n"
    "\n"
    "Times carry a unit: ms, s, m, h, d.  See idemd(8).\n";

bool
options_time(const char *text, int64_t max_ms, int64_t *ms)
{
	static const struct { const char *unit; int64_t ms; } units[] = {
		{ "ms", 1 }, { "s", 1000 }, { "m", 60 * 1000 },
		{ "h", 3600 * 1000 }, { "d", DAY_MS }
	};
	unsigned long long n;
	size_t i;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	n = strtoull(text, &end, 10);
	if (errno != 0 || n == 0 || n > INT32_MAX)
		return false;
	for (i = 0; i < sizeof units / sizeof *units; i++)
		if (strcmp(end, units[i].unit) == 0) {
			*ms = (int64_t)n * units[i].ms;
			return *ms <= max_ms;
		}
	return false;
}

static int
wrong(const char *option, const char *value, const char *what)
{
	fprintf(stderr, "idemd: %s %s: %s\n", option, value, what);
	return 2;
}

static int
number(const char *option, const char *text, uint32_t min, uint32_t max,
    uint32_t *out)
{
	unsigned long n;
	char what[64];
	char *end;

	errno = 0;
	n = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end != '\0' || errno != 0 ||
	    n < min || n > max) {
		snprintf(what, sizeof what, "not a number from %u to %u",
		    min, max);
		return wrong(option, text, what);
	}
	*out = (uint32_t)n;
	return 0;
}

static int
time64(const char *option, const char *text, int64_t *out)
{
	if (options_time(text, TIME_MAX_MS, out))
		return 0;
	return wrong(option, text, "not a time with its unit, such as 250ms, "
	    "10s, 5m, 24h or 7d, of at most 3650d");
}

static int
time32(const char *option, const char *text, uint32_t *out)
{
	int64_t ms;

	if (!options_time(text, RUN_MAX_MS, &ms))
		return wrong(option, text, "not a time with its unit, such as "
		    "250ms, 10s or 5m, of at most 15d");
	*out = (uint32_t)ms;
	return 0;
}

static int
lease(const char *text, uint32_t *out)
{
	int answer = time32("--lease", text, out);

	if (answer == 0 && *out < LEASE_MIN_MS)
		return wrong("--lease", text, "less than 100ms: it would be "
		    "renewed without a pause");
	return answer;
}

static int
in_progress(const char *text, struct idem_policy *policy)
{
	if (strcmp(text, "wait") == 0)
		policy->in_progress = IDEM_WAITING;
	else if (strncmp(text, "wait:", 5) == 0) {
		policy->in_progress = IDEM_WAITING;
		return time32("--in-progress", text + 5, &policy->wait_ms);
	} else if (strcmp(text, "409") == 0)
		policy->in_progress = IDEM_CONFLICT;
	else if (strcmp(text, "202") == 0)
		policy->in_progress = IDEM_ACCEPTED;
	else
		return wrong("--in-progress", text,
		    "not one of wait, wait:TIME, 409 and 202");
	return 0;
}

static int
on_unknown(const char *text, struct idem_policy *policy)
{
	if (strcmp(text, "block") == 0) {
		policy->on_unknown = IDEM_BLOCK;
		return 0;
	}
	if (strcmp(text, "retry") == 0) {
		policy->on_unknown = IDEM_RETRY;
		policy->attempts_max = 3;
		return 0;
	}
	if (strncmp(text, "retry:", 6) == 0) {
		policy->on_unknown = IDEM_RETRY;
		return number("--on-unknown retry", text + 6, 1, 1000,
		    &policy->attempts_max);
	}
	return wrong("--on-unknown", text, "not one of block, retry and "
	    "retry:N (a probe needs a configuration file)");
}

static int
ledger(const char *text, struct options *o)
{
	static const char scheme[] = "sqlite:";

	if (strncmp(text, scheme, sizeof scheme - 1) == 0)
		text += sizeof scheme - 1;
	else if (strchr(text, ':') != NULL)
		return wrong("--ledger", text, "not sqlite:PATH");
	if (*text == '\0')
		return wrong("--ledger", "sqlite:", "a path is missing");
	o->ledger = text;
	return 0;
}

static int
one(struct options *o, int c)
{
	switch (c) {
	case 's':
		o->socket = optarg;
		return 0;
	case 'c':
		return number("-c", optarg, 1, SHM_SLOTS_MAX, &o->programs);
	case OPT_LEDGER:
		return ledger(optarg, o);
	case OPT_CREATE:
		o->create = true;
		return 0;
	case OPT_QUEUE:
		return number("--queue", optarg, 0, 1000000, &o->queue);
	case OPT_WORKERS:
		return number("--workers", optarg, 1, SHM_WORKERS_MAX,
		    &o->workers);
	case OPT_KEEP:
		return time64("--keep", optarg, &o->keep_ms);
	case OPT_TOMBSTONE:
		return time64("--tombstone", optarg, &o->tombstone_ms);
	case OPT_LEASE:
		return lease(optarg, &o->policy.lease_ms);
	case OPT_LIMIT:
		return time32("--limit", optarg, &o->limit_ms);
	case OPT_GRACE:
		return time32("--grace", optarg, &o->grace_ms);
	case OPT_ON_UNKNOWN:
		return on_unknown(optarg, &o->policy);
	case OPT_IN_PROGRESS:
		return in_progress(optarg, &o->policy);
	case OPT_REQUIRED:
		o->policy.required = true;
		return 0;
	case OPT_ROOT:
		o->root = optarg;
		return 0;
	case OPT_HELP:
		fputs(help, stdout);
		return -1;
	case OPT_VERSION:
		puts("idemd " PACKAGE_VERSION);
		return -1;
	default:
		fputs("Try idemd --help.\n", stderr);
		return 2;
	}
}

static int
together(struct options *o)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct stat st;

	if ((o->root == NULL) == (o->program == NULL)) {
		fputs("idemd: say either --root DIR or -- PROGRAM\n", stderr);
		return 2;
	}
	if (o->root != NULL && (stat(o->root, &st) == -1 ||
	    !S_ISDIR(st.st_mode)))
		return wrong("--root", o->root, "not a folder");
	if (o->program != NULL && o->program[0][0] != '/')
		return wrong("--", o->program[0], "not an absolute path");
	if (o->ledger == NULL) {
		fputs("idemd: --ledger: missing; without a ledger nothing "
		    "stops a second run. Say --ledger sqlite:PATH\n", stderr);
		return 2;
	}
	if (o->workers == 0)
		o->workers = cpus < 1 ? 1 : cpus > SHM_WORKERS_MAX ?
		    SHM_WORKERS_MAX : (uint32_t)cpus;
	if (o->workers > o->programs)
		o->workers = o->programs;
	return 0;
}

int
options_read(struct options *o, int argc, char **argv)
{
	int c, answer;

	*o = (struct options){
		.programs = 8,
		.queue = 64,
		.keep_ms = DAY_MS,
		.tombstone_ms = 7 * DAY_MS,
		.limit_ms = 300 * 1000,
		.grace_ms = 5 * 1000,
		.policy = idem_policy_default
	};
	/* "+": what follows the first other word is the program's own. */
	while ((c = getopt_long(argc, argv, "+s:c:", known, NULL)) != -1) {
		answer = one(o, c);
		if (answer != 0)
			return answer;
	}
	if (optind < argc)
		o->program = argv + optind;
	return together(o);
}
