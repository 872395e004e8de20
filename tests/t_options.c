/* SPDX-License-Identifier: ISC */
#include "options.h"
#include "shm.h"

#include "options_line.h"
#include "tap.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DAY INT64_C(86400000)

/* What each row's words are followed by, so that they are a whole line. */
#define REST "--ledger", "sqlite:/l", "--", "/p", "-x"

static char keys[] = "/tmp/t_options.XXXXXX";

static const struct {
	const char *what;
	const char *args[OPTIONS_LINE_MAX];
	const char *has;	/* see describe() */
} good[] = {
	{ "nothing said is the defaults of the manual",
	  { REST }, "socket=- ledger=/l create=0 programs=8 queue=64 "
	  "keep=86400000/86400000 tombstone=604800000 limit=300000 grace=5000 "
	  "spool=1 probe=- reserve=67108864 root=- "
	  "argv=/p,-x allow=- all=0 stderr=0 required=0 "
	  "in-progress=wait:10000 on-unknown=block:3 lease=60000 auto=0 "
	  "arbiter=0 "
	  "route=/**:POST,PATCH max=60000/300000 rekey=0 " },
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
	{ "--keep in ms", { "--keep", "250ms", REST }, "keep=250/250 " },
	{ "--keep in s", { "--keep", "1s", REST }, "keep=1000/1000 " },
	{ "--keep in m", { "--keep", "5m", REST }, "keep=300000/300000 " },
	{ "--keep in h", { "--keep", "24h", REST }, "keep=86400000/" },
	{ "--keep for ten years", { "--keep", "3650d", REST },
	  "keep=315360000000/" },
	{ "--tombstone", { "--tombstone", "30d", REST },
	  "tombstone=2592000000 " },
	{ "--lease", { "--lease", "1s", REST }, "lease=1000 auto=0 " },
	{ "--lease auto", { "--lease", "auto", REST }, "lease=60000 auto=1 " },
	{ "of two leases the last counts", { "--lease", "auto", "--lease",
	  "2s", REST }, "lease=2000 auto=0 " },
	{ "its upper bound is the longest", { "--lease", "auto", REST },
	  "max=300000/300000 " },
	{ "--keep-min", { "--keep-min", "1h", REST },
	  "keep=86400000/3600000 " },
	{ "--keep-min before --keep", { "--keep-min", "1d", "--keep", "2d",
	  REST }, "keep=172800000/86400000 " },
	{ "--no-spool", { "--no-spool", REST }, "spool=0 " },
	{ "--reserve", { "--reserve", "1GiB", REST }, "reserve=1073741824 " },
	{ "--reserve may be none", { "--reserve", "0", REST }, "reserve=0 " },
	{ "--limit", { "--limit", "15d", REST }, "limit=1296000000 " },
	{ "--grace", { "--grace", "1ms", REST }, "grace=1 " },
	{ "--on-unknown block", { "--on-unknown", "block", REST },
	  "on-unknown=block:3 " },
	{ "--on-unknown retry", { "--on-unknown", "retry", REST },
	  "on-unknown=retry:3 " },
	{ "--on-unknown retry:N", { "--on-unknown", "retry:1", REST },
	  "on-unknown=retry:1 " },
	{ "--on-unknown probe:PROGRAM", { "--on-unknown", "probe:/p:q", REST },
	  "on-unknown=probe:3 " },
	{ "and that is the probe", { "--on-unknown", "probe:/p:q", REST },
	  "probe=/p:q " },
	{ "of two words on the unknown the last counts", { "--on-unknown",
	  "probe:/p", "--on-unknown", "block", REST }, "probe=- " },
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
	{ "fcgiwrap's -f", { "-f", REST }, "stderr=1 " },
	{ "fcgiwrap's socket of IPv6", { "-s", "tcp6:[::1]:9000", REST },
	  "socket=tcp:[::1]:9000 " },
	{ "fcgiwrap's socket of IPv4", { "-s", "tcp:1.2.3.4:9000", REST },
	  "socket=tcp:1.2.3.4:9000 " },
	{ "fcgiwrap's -p, again and again", { "--ledger", "/l", "-p", "/a",
	  "-p", "/b" }, "allow=/a,/b " },
	{ "-p below a root", { "--ledger", "/l", "-p", "/a", "--root", "/tmp" },
	  "root=/tmp argv=- allow=/a " },
	{ "--fcgiwrap-compat needs neither", { "--ledger", "/l",
	  "--fcgiwrap-compat" }, "root=- argv=- allow=- all=1 " },
	{ "--fcgiwrap-compat with -p", { "--ledger", "/l", "-p", "/a",
	  "--fcgiwrap-compat" }, "allow=/a all=1 " },
	{ "--accept-rekey", { "--accept-rekey", REST }, "rekey=1 " },
	{ "--cache", { "--cache", "unix:/c", REST },
	  "cache=unix:/c shared=- run=- " },
	{ "--arbiter ledger", { "--arbiter", "ledger", REST }, "arbiter=0 " },
	{ "--arbiter redis needs no ledger", { "--arbiter", "redis",
	  "--shared", "redis://localhost", "--run", "/r", "--", "/p" },
	  "shared=redis://localhost:6379 run=/r scheme=0 outage=0 claim=300 "
	  "call=250 " },
	{ "--scheme", { "--arbiter", "redis", "--shared", "unix:/r",
	  "--scheme", "check", REST }, "scheme=2 outage=0 " },
	{ "another scheme", { "--arbiter", "redis", "--shared", "unix:/r",
	  "--scheme", "setnx", REST }, "scheme=1 outage=0 " },
	{ "--on-outage", { "--arbiter", "redis", "--shared", "unix:/r",
	  "--on-outage", "database", REST }, "scheme=0 outage=2 " },
	{ "another outage", { "--arbiter", "redis", "--shared", "unix:/r",
	  "--scheme", "script", "--on-outage", "pass", REST }, "outage=3 " },
	{ "--token-keys", { "--arbiter", "token", "--shared", "unix:/r",
	  "--token-keys", keys, REST }, "arbiter=1 route=/**:POST,PATCH " },
	{ "of two equal options the last counts",
	  { "--keep", "1s", "--keep", "2s", REST }, "keep=2000/2000 " },
};

/* Each message names the option, the value, and what is right. */
static const struct {
	const char *what;
	const char *args[OPTIONS_LINE_MAX];
	const char *says[3];
} bad[] = {
	{ "a root that is not there",
	  { "--ledger", "/l", "--root", "/tmp/no/cgi" },
	  { "--root", " /tmp/no/cgi:", "not a folder" } },
	{ "a root that is a file", { "--ledger", "/l", "--root", "/bin/sh" },
	  { "--root", " /bin/sh:", "not a folder" } },
	{ "a lease too short to be renewed", { "--lease", "99ms", REST },
	  { "--lease", " 99ms:", "less than 100ms" } },
	{ "neither program nor root", { "--ledger", "/l" },
	  { "--root DIR", "-- PROGRAM", "--fcgiwrap-compat" } },
	{ "program and -p", { "-p", "/a", REST },
	  { "-p PATH", "-- PROGRAM", "either" } },
	{ "a relative -p", { "-p", "a", REST }, { "-p a", "absolute path" } },
	{ "a socket of no kind", { "-s", "http://x", REST },
	  { "-s http://x", "tcp6:[ADDRESS]:PORT" } },
	{ "an explanation of nothing", { "--explain", "POST" },
	  { "--explain POST", "a method and a path" } },
	{ "an explanation of a relative path", { "--explain", "POST", "x" },
	  { "--explain x", "begins with /" } },
	{ "a file that is not there", { "--config", "/tmp/no/conf" },
	  { "/tmp/no/conf: ", "No such file" } },
	{ "a folder for a file", { "--config", "/tmp" }, { "/tmp: ",
	  "Is a directory" } },
	{ "program and root", { "--root", "/r", REST },
	  { "--root DIR", "-- PROGRAM", "either" } },
	{ "a program that is not absolute",
	  { "--ledger", "/l", "--", "order.cgi" },
	  { "--", "order.cgi", "absolute path" } },
	{ "no program's name", { "--ledger", "/l", "--", "" },
	  { "--", "absolute path" } },
	{ "no ledger", { "--", "/p" },
	  { "--ledger", "missing", "--ledger sqlite:PATH" } },
	{ "an arbiter nobody knows", { "--arbiter", "mysql", REST },
	  { "--arbiter", " mysql:", "ledger, redis and token" } },
	{ "redis without a Redis", { "--arbiter", "redis", REST },
	  { "--arbiter: ", "no Redis", "--shared URL" } },
	{ "redis without a place for locks", { "--arbiter", "redis",
	  "--shared", "unix:/r", "--", "/p" }, { "--run: missing",
	  "--run FOLDER" } },
	{ "tokens without keys", { "--arbiter", "token", "--shared",
	  "unix:/r", REST }, { "--arbiter token: ", "--token-keys FILE" } },
	{ "keys that are not there", { "--arbiter", "token", "--shared",
	  "unix:/r", "--token-keys", "/tmp/no/keys", REST },
	  { "--token-keys /tmp/no/keys: ", "No such file",
	  "idemctl token --make-key" } },
	{ "a Redis of no kind", { "--shared", "http://u:s3cret@h", REST },
	  { "--shared: url: ", "redis://" } },
	{ "a cache of no kind", { "--cache", "h", REST },
	  { "--cache: url: ", "port" } },
	{ "a scheme without redis", { "--scheme", "setnx", REST },
	  { "--scheme: ", "--arbiter redis" } },
	{ "a scheme nobody knows", { "--scheme", "lua", REST },
	  { "--scheme", " lua:", "script, setnx and check" } },
	{ "an outage without redis", { "--on-outage", "pass", REST },
	  { "--on-outage: ", "--arbiter redis" } },
	{ "an outage nobody knows", { "--on-outage", "retry", REST },
	  { "--on-outage", " retry:", "reject, memory, database and pass" } },
	{ "the database without a ledger", { "--arbiter", "redis", "--shared",
	  "unix:/r", "--run", "/r", "--on-outage", "database", "--", "/p" },
	  { "--on-outage database: ", "--ledger sqlite:PATH" } },
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
	  { "--on-unknown", "ask", "block, retry, retry:N and probe:/PROGRAM" }
	},
	{ "a probe of nothing", { "--on-unknown", "probe", REST },
	  { "--on-unknown", " probe:", "probe:/PROGRAM" } },
	{ "a relative probe", { "--on-unknown", "probe:p", REST },
	  { "--on-unknown", " probe:p:", "probe:/PROGRAM" } },
	{ "a least keep that is more than all", { "--keep-min", "25h", REST },
	  { "--keep-min: ", "longer than --keep" } },
	{ "a least keep without a unit", { "--keep-min", "1", REST },
	  { "--keep-min", " 1:", "unit, such as 250ms" } },
	{ "a reserve without a unit", { "--reserve", "64", REST },
	  { "--reserve", " 64:", "unit, such as 512B, 64KiB" } },
	{ "a reserve of a disk's maker", { "--reserve", "64MB", REST },
	  { "--reserve", " 64MB:", "64KiB, 16MiB or 1GiB, nor 0" } },
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

static void
describe_list(char *const *list, char *to, size_t size)
{
	size_t len = 0, i;

	snprintf(to, size, "-");
	for (i = 0; list != NULL && list[i] != NULL; i++)
		len += (size_t)snprintf(to + len, size - len, "%s%s",
		    i > 0 ? "," : "", list[i]);
}

static void
describe(const struct options *o, char *to, size_t size)
{
	static const char *const in_progress[] = { "wait", "409", "202" };
	static const char *const on_unknown[] = { "block", "retry", "probe" };
	const struct conf *c = o->conf;
	const struct idem_route *r = &c->routes[0].route;
	const struct program_rule *p = &c->routes[0].program;
	char argv[128], allow[128];

	describe_list(p->argv, argv, sizeof argv);
	describe_list(p->allowed, allow, sizeof allow);
	snprintf(to, size, "socket=%s ledger=%s create=%d programs=%u queue=%u "
	    "keep=%" PRId64 "/%" PRId64 " tombstone=%" PRId64 " limit=%u "
	    "grace=%u spool=%d probe=%s reserve=%" PRIu64 " root=%s "
	    "argv=%s allow=%s all=%d stderr=%d required=%d in-progress=%s:%u "
	    "on-unknown=%s:%u lease=%u auto=%d arbiter=%d route=%s:%s,%s "
	    "max=%u/%u "
	    "rekey=%d workers=%u cache=%s shared=%s run=%s scheme=%d "
	    "outage=%d claim=%u call=%u ", c->socket != NULL ? c->socket : "-",
	    c->ledger != NULL ? c->ledger : "-", c->create, c->programs,
	    c->queue, r->times.keep_ms, r->times.keep_min_ms,
	    r->times.tombstone_ms, r->limit_ms, c->grace_ms, c->routes[0].spool,
	    c->routes[0].probe != NULL ? c->routes[0].probe : "-", c->reserve,
	    p->root != NULL ? p->root : "-", argv, allow, p->all_params,
	    c->stderr_to_front, r->policy.required,
	    in_progress[r->policy.in_progress], r->policy.wait_ms,
	    on_unknown[r->policy.on_unknown], r->policy.attempts_max,
	    r->policy.lease_ms, c->routes[0].lease_auto, r->policy.arbiter,
	    r->path, r->methods.at[0],
	    r->methods.at[1], c->lease_max_ms, c->limit_max_ms,
	    o->accept_rekey, c->workers,
	    c->cache != NULL ? c->cache->where : "-",
	    c->shared != NULL ? c->shared->where : "-",
	    c->run != NULL ? c->run : "-", (int)c->routes[0].scheme,
	    (int)r->policy.on_outage, r->policy.claim_ms, r->times.call_ms);
}

static void
check_good(void)
{
	struct options o;
	struct options_line line;
	char is_so[1024];
	size_t i;

	for (i = 0; i < sizeof good / sizeof *good; i++) {
		is_so[0] = '\0';
		if (options_line_read(&o, &line, good[i].args) == 0) {
			describe(&o, is_so, sizeof is_so);
			conf_drop(o.conf);
		}
		if (!ok(strstr(is_so, good[i].has) != NULL, "%s",
		    good[i].what))
			note("%s: %s", good[i].has, is_so);
	}
}

static void
check_bad(void)
{
	char said[4096];
	size_t i, j, n;

	for (i = 0; i < sizeof bad / sizeof *bad; i++) {
		is_int(options_line_heard(bad[i].args, STDERR_FILENO, said,
		    sizeof said), 2, "%s ends with status 2", bad[i].what);
		for (j = n = 0; j < 3 && bad[i].says[j] != NULL; j++)
			n += strstr(said, bad[i].says[j]) == NULL;
		if (!ok(n == 0 && strncmp(said, "idemd: ", 7) == 0 &&
		    strstr(said, "s3cret") == NULL,
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
		"--grace", "--config", "--check-config", "--explain",
		"--accept-rekey", "--fcgiwrap-compat", "--arbiter", "--shared",
		"--keep-min", "--no-spool", "--reserve", "--cache",
		"--scheme", "--on-outage", "--token-keys", "--run",
		" -s,", " -c,", " -f ",
		" -p ", " -h,"
	};
	static const char *const help[] = { "--help", NULL };
	static const char *const short_help[] = { "-h", NULL };
	static const char *const version[] = { "--version", NULL };
	char said[4096];
	size_t i, missing = 0;

	is_int(options_line_heard(help, STDOUT_FILENO, said, sizeof said), 100,
	    "--help is told, and all is well");
	for (i = 0; i < sizeof options / sizeof *options; i++)
		missing += strstr(said, options[i]) == NULL;
	is_int((long long)missing, 0, "every option is in it");
	ok(options_line_heard(short_help, STDOUT_FILENO, said, sizeof said) ==
	    100 && strstr(said, "--config") != NULL,
	    "fcgiwrap's -h is the same");
	is_int(options_line_heard(version, STDOUT_FILENO, said, sizeof said),
	    100, "--version is told, and all is well");
	is(said, "idemd " PACKAGE_VERSION "\n", "it is this version");
}

static void
check_cpus(void)
{
	static const char *const args[] = { "-c", "1024", REST, NULL };
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct options o;
	struct options_line line;

	options_line_read(&o, &line, args);
	is_int(o.conf->workers, cpus < SHM_WORKERS_MAX ? cpus :
	    SHM_WORKERS_MAX, "there are as many workers as CPUs");
	conf_drop(o.conf);
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

static void
check_sizes(void)
{
	uint64_t size = 7;

	ok(options_size("0B", UINT64_MAX, &size) && size == 0 &&
	    options_size("3B", 3, &size) && size == 3 &&
	    options_size("2KiB", 2048, &size) && size == 2048 &&
	    options_size("5MiB", UINT64_MAX, &size) && size == 5 << 20 &&
	    options_size("4294967295GiB", UINT64_MAX, &size) &&
	    size == UINT64_C(4294967295) << 30,
	    "a size is so many of its unit, up to its limit");
	ok(!options_size("4B", 3, &size) &&
	    !options_size("4294967296B", UINT64_MAX, &size),
	    "over the limit, or 32 bits of them, it is none");
	ok(!options_size("", UINT64_MAX, &size) &&
	    !options_size("1", UINT64_MAX, &size) &&
	    !options_size("1MB", UINT64_MAX, &size) &&
	    !options_size("1kiB", UINT64_MAX, &size) &&
	    !options_size(" 1B", UINT64_MAX, &size) &&
	    !options_size("1B ", UINT64_MAX, &size) &&
	    !options_size("-1B", UINT64_MAX, &size), "anything else is none");
}

/* Of a token. */
static void
make_keys(void)
{
	static const char text[] = "one 00112233445566778899aabbccddeeff\n";
	int fd = mkstemp(keys);

	if (fd == -1 || write(fd, text, sizeof text - 1) == -1)
		bail_out("%s", keys);
	close(fd);
}

int
main(void)
{
	make_keys();
	check_times();
	check_sizes();
	check_good();
	check_bad();
	check_told();
	check_cpus();
	unlink(keys);
	return done();
}
