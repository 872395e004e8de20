/* SPDX-License-Identifier: ISC */
#include "options_private.h"
#include "shm.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	OPT_LEDGER = OPTIONS_OF_ROUTE_END, OPT_CREATE, OPT_QUEUE, OPT_WORKERS,
	OPT_CONFIG, OPT_REKEY, OPT_CHECK, OPT_EXPLAIN, OPT_VERSION
};

static const struct option known[] = {
	{ "socket", required_argument, NULL, 's' },
	{ "programs", required_argument, NULL, 'c' },
	{ "help", no_argument, NULL, 'h' },
	{ "ledger", required_argument, NULL, OPT_LEDGER },
	{ "create", no_argument, NULL, OPT_CREATE },
	{ "queue", required_argument, NULL, OPT_QUEUE },
	{ "workers", required_argument, NULL, OPT_WORKERS },
	{ "config", required_argument, NULL, OPT_CONFIG },
	{ "accept-rekey", no_argument, NULL, OPT_REKEY },
	{ "check-config", no_argument, NULL, OPT_CHECK },
	{ "explain", required_argument, NULL, OPT_EXPLAIN },
	{ "keep", required_argument, NULL, OPTIONS_KEEP },
	{ "keep-min", required_argument, NULL, OPTIONS_KEEP_MIN },
	{ "tombstone", required_argument, NULL, OPTIONS_TOMBSTONE },
	{ "lease", required_argument, NULL, OPTIONS_LEASE },
	{ "limit", required_argument, NULL, OPTIONS_LIMIT },
	{ "grace", required_argument, NULL, OPTIONS_GRACE },
	{ "on-unknown", required_argument, NULL, OPTIONS_ON_UNKNOWN },
	{ "no-spool", no_argument, NULL, OPTIONS_NO_SPOOL },
	{ "reserve", required_argument, NULL, OPTIONS_RESERVE },
	{ "in-progress", required_argument, NULL, OPTIONS_IN_PROGRESS },
	{ "required", no_argument, NULL, OPTIONS_REQUIRED },
	{ "arbiter", required_argument, NULL, OPTIONS_ARBITER },
	{ "scheme", required_argument, NULL, OPTIONS_SCHEME },
	{ "on-outage", required_argument, NULL, OPTIONS_ON_OUTAGE },
	{ "shared", required_argument, NULL, OPTIONS_SHARED },
	{ "cache", required_argument, NULL, OPTIONS_CACHE },
	{ "token-keys", required_argument, NULL, OPTIONS_TOKEN_KEYS },
	{ "run", required_argument, NULL, OPTIONS_RUN },
	{ "root", required_argument, NULL, OPTIONS_ROOT },
	{ "fcgiwrap-compat", no_argument, NULL, OPTIONS_COMPAT },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ NULL, 0, NULL, 0 }
};

static const char help[] =
    "usage: idemd --config FILE [options]\n"
    "       idemd -s SOCKET --ledger sqlite:PATH [options] -- PROGRAM ...\n"
    "       idemd -s SOCKET --ledger sqlite:PATH [options] --root DIR\n"
    "\n"
    "  -s, --socket SOCKET   unix:PATH, tcp:HOST:PORT or tcp6:[ADDRESS]:PORT;\n"
    "                        without it one of systemd's, or descriptor 0\n"
    "      --ledger PATH     sqlite:PATH; made with idemctl init or --create\n"
    "      --create          make the ledger if it is missing\n"
    "  -c, --programs N      programs at once (8)\n"
    "      --queue N         requests waiting for one of them (64)\n"
    "      --workers N       processes (as many as CPUs)\n"
    "  -f                    standard error of programs goes to the web\n"
    "                        server\n"
    "\n"
    "      --config FILE     routes, see idem.conf(5); read again on SIGHUP\n"
    "      --check-config    read it, say what is wrong, end\n"
    "      --explain METHOD PATH\n"
    "                        say which route applies and what it does, end\n"
    "      --accept-rekey    a changed file may re-key live routes\n"
    "\n"
    "Without a file:\n"
    "      --root DIR        run SCRIPT_FILENAME, if it lies below DIR\n"
    "  -p PATH               run only this one (again for more)\n"
    "      --fcgiwrap-compat run it wherever it lies, with all parameters and\n"
    "                        idemd's own environment\n"
    "      --required        a key is required\n"
    "      --in-progress W   what a duplicate of a run gets: wait, wait:TIME,\n"
    "                        409 or 202 (wait:10s)\n"
    "      --on-unknown W    after a run nobody knows the end of: block,\n"
    "                        retry:N starts in all, or probe:/PROGRAM (block)\n"
    "      --no-spool        a killed worker makes its keys unknown\n"
    "      --arbiter W       who permits a start: ledger, token (for tokens\n"
    "                        that we issue) or redis, which forgets (ledger)\n"
    "      --shared URL      the Redis of the other two: unix:PATH,\n"
    "                        redis://HOST:PORT/DATABASE or rediss://...\n"
    "      --cache URL       a Redis that keeps answers of the ledger\n"
    "      --scheme W        how it is asked: script, setnx, check (script)\n"
    "      --on-outage W     while it is away: reject, memory, database or\n"
    "                        pass (reject)\n"
    "      --token-keys FILE keys that sign tokens; idemctl token --make-key\n"
    "      --run DIR         locks of runs (LEDGER-run)\n"
    "      --reserve SIZE    so much of the disk stays free, or nothing is\n"
    "                        started (64MiB; 0: not looked at)\n"
    "      --keep TIME       answers are kept (24h)\n"
    "      --keep-min TIME   and so long when room is short (as --keep)\n"
    "      --tombstone TIME  and keys after them (7d)\n"
    "      --lease TIME      a silent run is presumed alive (60s); auto:\n"
    "                        measured\n"
    "      --limit TIME      a run may take (300s)\n"
    "      --grace TIME      from SIGTERM to SIGKILL, and after a lease (5s)\n"
    "\n"
    "  -h, --help            this text\n"
    "      --version\n"
    "\n"
    "Times carry a unit: ms, s, m, h, d; sizes B, KiB, MiB, GiB.  See\n"
    "idemd(8).\n";

struct reader {
	struct options *o;
	struct options_route route;
	int argc;
	char **argv;
};

/* --- values --------------------------------------------------------------- */

static int
ledger(const char *text, struct options_said *said)
{
	static const char scheme[] = "sqlite:";

	if (strncmp(text, scheme, sizeof scheme - 1) == 0)
		text += sizeof scheme - 1;
	else if (strchr(text, ':') != NULL)
		return options_wrong("--ledger", text, "not sqlite:PATH");
	if (*text == '\0')
		return options_wrong("--ledger", "sqlite:",
		    "a path is missing");
	said->ledger = text;
	return 0;
}

/* --- options -------------------------------------------------------------- */

/* Its second value is the next argument. */
static int
explain(struct reader *r)
{
	if (optind >= r->argc)
		return options_wrong("--explain", optarg,
		    "say a method and a path, such as POST /cgi-bin/order.cgi");
	r->o->explain_method = optarg;
	r->o->explain_path = r->argv[optind++];
	if (r->o->explain_path[0] != '/')
		return options_wrong("--explain", r->o->explain_path,
		    "a path begins with /");
	return 0;
}

static int
one(struct reader *r, int option)
{
	struct options_said *said = &r->o->said;

	switch (option) {
	case 's':
		said->socket = optarg;
		return 0;
	case 'c':
		return options_number("-c", optarg, 1, SHM_SLOTS_MAX,
		    &said->programs);
	case 'f':
		said->stderr_to_front = true;
		return 0;
	case 'p':
		return options_of_route(&r->route, OPTIONS_ALLOW, optarg);
	case OPT_LEDGER:
		return ledger(optarg, said);
	case OPT_CREATE:
		said->create = true;
		return 0;
	case OPT_QUEUE:
		said->queue_said = true;
		return options_number("--queue", optarg, 0, CONF_QUEUE_MAX,
		    &said->queue);
	case OPT_WORKERS:
		return options_number("--workers", optarg, 1, SHM_WORKERS_MAX,
		    &said->workers);
	case OPT_CONFIG:
		r->o->config = optarg;
		return 0;
	case OPT_REKEY:
		r->o->accept_rekey = true;
		return 0;
	case OPT_CHECK:
		r->o->check = true;
		return 0;
	case OPT_EXPLAIN:
		return explain(r);
	case 'h':
		fputs(help, stdout);
		return -1;
	case OPT_VERSION:
		puts("idemd " PACKAGE_VERSION);
		return -1;
	case '?':
		fputs("Try idemd --help.\n", stderr);
		return 2;
	default:
		return options_of_route(&r->route, option, optarg);
	}
}

static int
all(struct reader *r)
{
	int c, answer;

	/* "+": what follows the first other word is the program's own. */
	while ((c = getopt_long(r->argc, r->argv, "+s:c:fp:h", known, NULL)) !=
	    -1) {
		answer = one(r, c);
		if (answer != 0)
			return answer;
	}
	if (optind < r->argc) {
		options_of_route(&r->route, OPTIONS_PROGRAM, NULL);
		r->route.program = r->argv + optind;
	}
	if (r->o->config == NULL || r->route.said == NULL)
		return 0;
	fprintf(stderr, "idemd: %s: with --config, say it in the file: %s\n",
	    r->route.said, r->route.instead);
	return 2;
}

/* --- what is asked -------------------------------------------------------- */

static void
warn(void *arg, const char *sentence)
{
	(void)arg;
	printf("warning: %s\n", sentence);
}

static int
tell(const struct options *o)
{
	struct idem_buf text = { .at = NULL };
	enum conf_found found = CONF_COVERED;
	size_t i;

	if (o->check) {
		printf("%s: ok, %zu route%s\n", o->config != NULL ? o->config :
		    "the command line", o->conf->routes_len,
		    o->conf->routes_len == 1 ? "" : "s");
		for (i = 0; i < o->conf->warnings.len; i++)
			warn(NULL, o->conf->warnings.at[i]);
		conf_look(o->conf, warn, NULL);
	}
	if (o->explain_method != NULL) {
		found = conf_explain(o->conf, o->explain_method,
		    o->explain_path, &text);
		fwrite(text.at, 1, text.len, stdout);
		idem_buf_free(&text);
	}
	return found == CONF_COVERED ? -1 : 1;
}

static int
made(struct reader *r)
{
	struct options *o = r->o;
	char error[700];
	int answer;

	o->conf = o->config != NULL ?
	    options_of_file(o, error, sizeof error) :
	    options_of_line(o, &r->route, error, sizeof error);
	if (o->conf == NULL) {
		fprintf(stderr, "idemd: %s\n", error);
		return 2;
	}
	if (!o->check && o->explain_method == NULL)
		return 0;
	answer = tell(o);
	conf_drop(o->conf);
	o->conf = NULL;
	return answer;
}

int
options_read(struct options *o, int argc, char **argv)
{
	struct reader r = {
		.o = o, .argc = argc, .argv = argv,
		.route = { .route = idem_route_default, .grace_ms = 5 * 1000,
		    .reserve = UINT64_C(64) << 20 }
	};
	int answer;

	*o = (struct options){ .config = NULL };
	r.route.allowed = calloc((size_t)argc + 1,
	    sizeof *r.route.allowed);
	if (r.route.allowed == NULL) {
		fputs("idemd: no memory\n", stderr);
		return 111;
	}
	answer = all(&r);
	if (answer == 0)
		answer = made(&r);
	free(r.route.allowed);
	return answer;
}
