/* SPDX-License-Identifier: ISC */
#include "doctor.h"
#include "tap.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * What the doctor makes of facts.  A row says which facts differ from those of
 * a deployment that is as it should be, and which findings there are that are
 * not ok.
 */

/* --- facts by name -------------------------------------------------------- */

enum kind { NUMBER, TEXT, TRUTH, USE, FLAG, NAME };

struct field {
	const char *name;
	enum kind kind;
	size_t offset, size;
};

#define F(type, name, kind) { #name, kind, offsetof(struct type, name), \
	sizeof ((struct type *)NULL)->name }

static const struct field server_fields[] = {
	{ "use", USE, offsetof(struct doctor_server, use), sizeof(unsigned) },
	F(doctor_server, error, TEXT), F(doctor_server, wanted, TRUTH),
	F(doctor_server, role, TRUTH), F(doctor_server, version, TEXT),
	F(doctor_server, version_number, NUMBER),
	F(doctor_server, policy, TEXT), F(doctor_server, maxmemory, NUMBER),
	F(doctor_server, used, NUMBER), F(doctor_server, evicted, NUMBER),
	F(doctor_server, aof, TRUTH), F(doctor_server, fsync, TEXT),
	F(doctor_server, save, TEXT), F(doctor_server, saved, TRUTH),
	F(doctor_server, aof_written, TRUTH), F(doctor_server, stops, TRUTH),
	F(doctor_server, disk_free, NUMBER), F(doctor_server, replicas, NUMBER),
	F(doctor_server, replicas_min, NUMBER),
	F(doctor_server, lag_max_s, NUMBER), F(doctor_server, lag_s, NUMBER),
	F(doctor_server, replica_read_only, TRUTH),
	F(doctor_server, busy_ms, NUMBER), F(doctor_server, keys, NUMBER),
	F(doctor_server, ours, NUMBER), F(doctor_server, others, NUMBER),
	F(doctor_server, junk, NUMBER),
	F(doctor_server, hidden, TEXT), F(doctor_server, clock_ms, NUMBER),
	F(doctor_server, local, TRUTH), F(doctor_server, tls, TRUTH),
	F(doctor_server, password, TRUTH),
	F(doctor_server, protected_mode, TRUTH), F(doctor_server, acl, TRUTH),
};

static const struct field ledger_fields[] = {
	F(doctor_ledger, error, TEXT), F(doctor_ledger, sqlite, NUMBER),
	F(doctor_ledger, unwritable, TEXT),
	F(doctor_ledger, mode, NUMBER), F(doctor_ledger, owner, NUMBER),
	F(doctor_ledger, folder_owner, NUMBER),
	F(doctor_ledger, lock_owner, NUMBER),
	F(doctor_ledger, run_mode, NUMBER), F(doctor_ledger, run_owner, NUMBER),
	F(doctor_ledger, us, NUMBER), F(doctor_ledger, system, TEXT),
	F(doctor_ledger, free, NUMBER), F(doctor_ledger, unknown, NUMBER),
};

static const struct field runs_fields[] = {
	F(doctor_runs, error, TEXT), F(doctor_runs, there, TRUTH),
	F(doctor_runs, locks, TRUTH), F(doctor_runs, system, TEXT),
	F(doctor_runs, network, TEXT), F(doctor_runs, free, NUMBER),
	F(doctor_runs, reserve, NUMBER), F(doctor_runs, left, NUMBER),
	F(doctor_runs, unknown, NUMBER), F(doctor_runs, stray, NUMBER),
};

static const struct field tokens_fields[] = {
	F(doctor_tokens, error, TEXT), F(doctor_tokens, mode, NUMBER),
	F(doctor_tokens, keys, NUMBER), F(doctor_tokens, age_ms, NUMBER),
	F(doctor_tokens, life_ms, NUMBER),
};

static const struct field route_fields[] = {
	F(doctor_route, arbiter, TRUTH), F(doctor_route, on_outage, TRUTH),
	F(doctor_route, on_unknown, TRUTH), F(doctor_route, scheme, TRUTH),
	F(doctor_route, promises, TEXT), F(doctor_route, probe, NAME),
	F(doctor_route, probe_error, TEXT), F(doctor_route, cgi, FLAG),
	F(doctor_route, spool, FLAG), F(doctor_route, lease_auto, FLAG),
};

static const struct field redis_fields[] = {
	F(doctor_redis, topology, TRUTH), F(doctor_redis, slots, NUMBER),
	F(doctor_redis, bare, NUMBER), F(doctor_redis, generation, TRUTH),
	{ "use", USE, offsetof(struct doctor_redis, use), sizeof(unsigned) },
};

static const struct field sentinel_fields[] = {
	F(doctor_sentinel, error, TEXT), F(doctor_sentinel, master, TEXT),
	F(doctor_sentinel, quorum, NUMBER),
	F(doctor_sentinel, sentinels, NUMBER), F(doctor_sentinel, able, TRUTH),
};

#undef F

#define FIELDS(name) name ## _fields, sizeof name ## _fields / \
	sizeof *name ## _fields

/* Words, and numbers in any base; -: not known. */
static int64_t
number_of(const char *text)
{
	static const struct { const char *word; int64_t is; } words[] = {
		{ "-", DOCTOR_UNKNOWN }, { "max", INT64_MAX },
		{ "no", DOCTOR_NO }, { "yes", DOCTOR_YES },
		{ "master", DOCTOR_MASTER }, { "replica", DOCTOR_REPLICA },
		{ "cache", DOCTOR_CACHE }, { "tokens", DOCTOR_TOKENS },
		{ "keys", DOCTOR_KEYS }, { "cluster", IDEM_REDIS_CLUSTER },
		{ "sentinel", IDEM_REDIS_SENTINEL },
		{ "none", DOCTOR_GENERATION_NONE },
		{ "ours", DOCTOR_GENERATION_OURS },
		{ "foreign", DOCTOR_GENERATION_FOREIGN },
		{ "redis", IDEM_ARBITER_REDIS },
		{ "token", IDEM_ARBITER_TOKEN }, { "pass", IDEM_PASS },
		{ "memory", IDEM_TO_MEMORY }, { "database", IDEM_TO_DATABASE },
		{ "setnx", IDEM_SCHEME_SETNX }, { "check", IDEM_SCHEME_CHECK },
		{ "retry", IDEM_RETRY }, { "probing", IDEM_PROBING },
	};
	size_t i;

	for (i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(text, words[i].word) == 0)
			return words[i].is;
	return strtoll(text, NULL, 0);
}

static void
set_field(void *to, const struct field *f, const char *value)
{
	int64_t number = number_of(value);
	unsigned small = (unsigned)number;
	const char *name = "/usr/lib/probe";
	char *at = (char *)to + f->offset;
	bool flag = number != 0;

	switch (f->kind) {
	case TEXT:
		snprintf(at, f->size, "%s", value);
		return;
	case NUMBER:
		memcpy(at, &number, sizeof number);
		return;
	case TRUTH:
	case USE:
		memcpy(at, &small, sizeof small);
		return;
	case FLAG:
		memcpy(at, &flag, sizeof flag);
		return;
	case NAME:
		memcpy(at, &name, sizeof name);
		return;
	}
}

/* "name=value name=value"; "_" in a value is a blank. */
static void
set_all(void *to, const struct field *fields, size_t len, const char *text)
{
	char copy[400], *word, *value, *rest = copy;
	size_t i;

	snprintf(copy, sizeof copy, "%s", text);
	while ((word = strsep(&rest, " ")) != NULL) {
		value = strchr(word, '=');
		if (value == NULL)
			continue;
		*value++ = '\0';
		for (i = 0; i < len && strcmp(fields[i].name, word) != 0; i++)
			;
		if (i == len)
			bail_out("there is no fact %s", word);
		set_field(to, &fields[i], value);
	}
}

/* --- findings ------------------------------------------------------------- */

static bool found[DOCTOR_CHECKS];

/* "warn redis.policy fail redis.acl"; once each. */
static const char *
bad_ones(const struct doctor_findings *f)
{
	static char out[600];
	size_t i, len = 0;

	out[0] = '\0';
	for (i = 0; i < f->len; i++) {
		if (f->at[i].level == DOCTOR_OK)
			continue;
		found[f->at[i].check] = true;
		len += (size_t)snprintf(out + len, sizeof out - len, "%s%s %s",
		    len > 0 ? " " : "", doctor_level_text(f->at[i].level),
		    doctor_meaning(f->at[i].check)->name);
	}
	return out;
}

/* --- a server ------------------------------------------------------------- */

static const char good_server[] = "use=keys wanted=master role=master "
    "version=7.0.15 version_number=70015 policy=noeviction "
    "maxmemory=1000000000 used=100000000 evicted=0 aof=yes fsync=everysec "
    "save=3600_1 "
    "saved=yes aof_written=yes stops=yes disk_free=9000000000 replicas=2 "
    "replicas_min=1 lag_max_s=2 lag_s=0 busy_ms=200 keys=100 ours=100 others=0 "
    "junk=0 clock_ms=3 local=yes tls=no password=yes "
    "protected_mode=yes acl=yes";

static const struct {
	const char *facts, *bad, *what;
} servers[] = {
	{ "", "", "a server that is as it should be" },
	{ "error=refused", "fail redis.reach",
	  "one that cannot be asked, alone" },
	{ "error=refused use=cache", "warn redis.reach-cache",
	  "a cache that cannot be asked, which costs speed [redis:1]" },
	{ "error=refused wanted=replica", "warn redis.reach-replica",
	  "a replica that cannot" },
	{ "version=5.0.14 version_number=50014", "fail redis.version",
	  "a version without KEEPTTL" },
	{ "role=replica", "fail redis.role",
	  "a replica in a master's place [redis:9]" },
	{ "policy=allkeys-lru", "fail redis.policy",
	  "eviction where the server decides [redis:30]" },
	{ "policy=volatile-ttl use=tokens", "warn redis.policy",
	  "less so where tokens are refused once they are gone" },
	{ "policy=allkeys-lru use=cache", "", "and not of a cache" },
	{ "policy=volatile-lru used=999000000 use=cache evicted=10000", "",
	  "which may be as full as it likes" },
	{ "used=850000000", "warn redis.room", "little room" },
	{ "used=990000000", "fail redis.room", "no room [redis:12]" },
	{ "maxmemory=0", "note redis.room", "no limit" },
	{ "evicted=1", "warn redis.evicted", "what was evicted [redis:30]" },
	{ "aof=no save=3600_1", "warn redis.persist", "snapshots alone "
	  "[redis:32]" },
	{ "aof=no save=", "fail redis.persist",
	  "no persistence at all [redis:31]" },
	{ "aof=no save= use=cache", "", "and not of a cache" },
	{ "fsync=no", "warn redis.fsync", "an append only file that is not "
	  "flushed" },
	{ "fsync=no aof=no", "warn redis.persist", "but only if there is one" },
	{ "saved=no", "fail redis.saved",
	  "a snapshot that failed, so that writes are refused [redis:14]" },
	{ "saved=no stops=no", "warn redis.saved", "or are not" },
	{ "aof_written=no", "fail redis.saved", "a full disk [redis:15]" },
	{ "disk_free=1000000", "fail redis.disk", "one that nearly is" },
	{ "disk_free=99000000", "warn redis.disk",
	  "one that has no room for another copy" },
	{ "replicas_min=0", "warn redis.min-replicas",
	  "writes that no replica need have [redis:32]" },
	{ "replicas_min=0 use=tokens", "note redis.min-replicas",
	  "less so where history is checked" },
	{ "lag_max_s=60", "warn redis.min-replicas",
	  "or need not have for long" },
	{ "replicas=1 replicas_min=2", "fail redis.replicas-few",
	  "too few replicas [redis:22]" },
	{ "replicas=0 replicas_min=0", "", "none are expected of one alone" },
	{ "wanted=replica role=replica replica_read_only=no",
	  "fail redis.replica-writable", "a replica that can be written to" },
	{ "wanted=replica role=replica replica_read_only=yes", "",
	  "and none that cannot" },
	{ "wanted=replica role=master", "warn sentinel.agree",
	  "a master in a replica's place" },
	{ "lag_s=30", "warn redis.lag", "a replica that is behind" },
	{ "lag_s=max", "warn redis.lag",
	  "one that has not caught up [redis:35]" },
	{ "busy_ms=5000", "note redis.busy",
	  "long silence while a script runs [redis:13]" },
	{ "others=1", "warn redis.strangers", "others' keys" },
	{ "others=1 ours=-", "warn redis.strangers",
	  "also where they were too many to be counted" },
	{ "keys=1000", "warn redis.strangers", "keys in other databases" },
	{ "keys=101", "", "but not one that came between two counts" },
	{ "junk=2", "warn redis.junk", "keys in records' places [redis:25]" },
	{ "acl=no", "fail redis.acl", "an operation that is denied "
	  "[redis:21]" },
	{ "hidden=CONFIG", "note redis.hidden",
	  "what a careful ACL hides, which is no fault" },
	{ "clock_ms=-5000", "note redis.clock", "a clock that is off" },
	{ "clock_ms=90000", "warn redis.clock", "and one that is far off "
	  "[redis:33]" },
	{ "local=no", "warn redis.plain", "a network without TLS" },
	{ "local=no tls=yes", "", "and none with it" },
	{ "local=no tls=yes password=no", "fail redis.open",
	  "a network without a password" },
	{ "password=no", "", "not a socket without one" },
	{ "password=no protected_mode=no", "warn redis.open",
	  "unless others may come in as well" },
	{ "version_number=- policy= maxmemory=- used=- evicted=- aof=0 fsync= "
	  "saved=0 aof_written=0 disk_free=- replicas=- replicas_min=- "
	  "lag_max_s=- lag_s=- busy_ms=- keys=- ours=- others=- junk=- "
	  "clock_ms=- local=0 tls=0 password=0 acl=0", "",
	  "nothing of what is not known" },
};

static void
check_servers(void)
{
	struct doctor_findings f = { .at = NULL };
	struct doctor_server s;
	size_t i;

	for (i = 0; i < sizeof servers / sizeof *servers; i++) {
		s = doctor_server_unknown;
		snprintf(s.name, sizeof s.name, "h:6379");
		s.save_known = true;
		set_all(&s, FIELDS(server), good_server);
		set_all(&s, FIELDS(server), servers[i].facts);
		doctor_judge_server("shared", &s, &f);
		is(bad_ones(&f), servers[i].bad, "of a server is found: %s",
		    servers[i].what);
		doctor_findings_free(&f);
	}
}

/* --- the ledger, tokens, routes ------------------------------------------- */

static const char good_ledger[] = "sqlite=3051003 mode=0600 owner=33 "
    "folder_owner=33 lock_owner=33 run_mode=0700 run_owner=33 us=33 "
    "system=ext4 free=9000000000 unknown=0";
static const char good_runs[] = "there=yes locks=yes system=ext4 "
    "free=9000000000 reserve=67108864 left=0 unknown=0 stray=0";
static const char good_tokens[] = "mode=0600 keys=2 age_ms=1000000 "
    "life_ms=3600000";
static const char good_route[] = "arbiter=0 on_outage=0 on_unknown=0 scheme=0";

enum about { LEDGER, RUNS, TOKENS, ROUTE };

static const struct {
	enum about about;
	const char *facts, *bad, *what;
} others[] = {
	{ LEDGER, "", "", "nothing of a ledger that is as it should be" },
	{ LEDGER, "error=gone", "fail ledger.open", "one that is not there" },
	{ LEDGER, "sqlite=3040001", "note ledger.sqlite",
	  "SQLite with the WAL-reset fault, which idem's lock keeps off" },
	{ LEDGER, "sqlite=3007000", "note ledger.sqlite", "the first of them" },
	{ LEDGER, "sqlite=3006023", "", "not the one before" },
	{ LEDGER, "sqlite=3051002", "note ledger.sqlite", "the last of them" },
	{ LEDGER, "sqlite=3044006", "", "not one that was mended" },
	{ LEDGER, "sqlite=3044005", "note ledger.sqlite",
	  "but the one before it" },
	{ LEDGER, "sqlite=3050007", "", "not the other that was mended" },
	{ LEDGER, "sqlite=3051000", "note ledger.sqlite",
	  "and the one after it" },
	{ LEDGER, "mode=0644", "warn ledger.mode", "one that all can read" },
	{ LEDGER, "mode=0620", "fail ledger.mode", "one that others write" },
	{ LEDGER, "run_owner=0", "fail ledger.owner",
	  "locks that belong to another user" },
	{ LEDGER, "lock_owner=0", "fail ledger.owner", "a lock that does" },
	{ LEDGER, "folder_owner=7", "warn ledger.owner", "a folder that does" },
	{ LEDGER, "us=0", "", "not that root asks" },
	{ LEDGER, "unwritable=chown", "fail ledger.write",
	  "what its owner cannot write" },
	{ LEDGER, "run_mode=0770", "fail ledger.run",
	  "a folder of locks that others write into" },
	{ LEDGER, "run_mode=- run_owner=- lock_owner=-", "",
	  "not that none was there yet" },
	{ LEDGER, "system=tmpfs", "warn ledger.file-system",
	  "one in memory" },
	{ LEDGER, "system=overlay", "warn ledger.file-system",
	  "one in a container's layer" },
	{ LEDGER, "free=500000000", "warn ledger.space", "little space" },
	{ LEDGER, "free=1000000", "fail ledger.space", "no space" },
	{ LEDGER, "unknown=3", "warn keys.unknown", "keys that are unknown" },
	{ LEDGER, "unknown=-", "", "not that they could not be counted" },
	{ RUNS, "", "", "nothing of runs that are as they should be" },
	{ RUNS, "there=no", "note runs.missing", "that their folder is gone" },
	{ RUNS, "error=denied locks=0 system= free=- left=- unknown=- "
	  "stray=-", "fail runs.open", "that it cannot be opened" },
	{ RUNS, "network=nfs", "fail runs.network", "one over a network" },
	{ RUNS, "locks=no", "fail runs.locks", "one without locks" },
	{ RUNS, "system=tmpfs", "note runs.memory", "one in memory" },
	{ RUNS, "free=100000000", "warn runs.space",
	  "little more room than its reserve" },
	{ RUNS, "free=60000000", "fail runs.space", "less" },
	{ RUNS, "free=max reserve=max", "warn runs.space",
	  "numbers without end" },
	{ RUNS, "reserve=0 free=1", "warn runs.reserve",
	  "that nobody looks at it" },
	{ RUNS, "left=2", "note runs.left", "runs that nobody holds" },
	{ RUNS, "stray=1", "warn runs.stray",
	  "runs of a store that is not configured" },
	{ RUNS, "unknown=1", "warn keys.unknown",
	  "unknown keys of other stores" },
	{ TOKENS, "", "", "nothing of tokens that are as they should be" },
	{ TOKENS, "error=no_keys mode=-", "fail tokens.file",
	  "a file without keys" },
	{ TOKENS, "mode=0640", "warn tokens.mode", "keys that a group reads" },
	{ TOKENS, "mode=0644", "fail tokens.mode", "keys that all read" },
	{ TOKENS, "age_ms=40000000000", "note tokens.age",
	  "keys of more than a year" },
	{ TOKENS, "life_ms=60000", "note tokens.life",
	  "a life that is too short for a form" },
	{ TOKENS, "life_ms=864000000", "note tokens.life-long", "a long one" },
	{ ROUTE, "", "", "nothing of a route that the ledger decides" },
	{ ROUTE, "promises=once:_no", "note route.promises",
	  "what a route does not promise" },
	{ ROUTE, "arbiter=redis", "", "not that Redis decides" },
	{ ROUTE, "arbiter=redis on_outage=pass", "warn route.outage",
	  "on_outage that lets through" },
	{ ROUTE, "arbiter=redis on_outage=memory", "warn route.outage",
	  "on_outage into memory" },
	{ ROUTE, "arbiter=redis on_outage=database", "warn route.outage",
	  "on_outage into a database" },
	{ ROUTE, "arbiter=redis scheme=setnx", "warn route.scheme",
	  "a scheme without fingerprint and owner" },
	{ ROUTE, "arbiter=redis scheme=check", "warn route.scheme",
	  "one that keeps nobody off" },
	{ ROUTE, "on_unknown=retry", "note route.on-unknown",
	  "that unknown runs are started again" },
	{ ROUTE, "probe=1 on_unknown=probing", "",
	  "not that a probe is asked" },
	{ ROUTE, "probe=1 on_unknown=probing probe_error=gone",
	  "fail route.probe", "but that it cannot be" },
	{ ROUTE, "cgi=1 spool=0", "warn route.spool", "answers that are lost "
	  "with their worker" },
	{ ROUTE, "spool=0 cgi=0", "", "but not of an application" },
	{ ROUTE, "lease_auto=1", "", "not that a lease is measured" },
};

static void
check_others(void)
{
	struct doctor_findings f = { .at = NULL };
	struct doctor_ledger ledger;
	struct doctor_runs runs;
	struct doctor_tokens tokens;
	struct doctor_route route;
	struct doctor_facts facts;
	size_t i;

	for (i = 0; i < sizeof others / sizeof *others; i++) {
		ledger = (struct doctor_ledger){ .path = "/ledger.db" };
		runs = (struct doctor_runs){ .path = "/ledger.db-run" };
		tokens = (struct doctor_tokens){ .file = "/keys" };
		route = (struct doctor_route){ .text = "route at c:1" };
		set_all(&ledger, FIELDS(ledger), good_ledger);
		set_all(&runs, FIELDS(runs), good_runs);
		set_all(&tokens, FIELDS(tokens), good_tokens);
		set_all(&route, FIELDS(route), good_route);
		facts = (struct doctor_facts){ .routes = &route };
		switch (others[i].about) {
		case LEDGER:
			set_all(&ledger, FIELDS(ledger), others[i].facts);
			facts.ledger = &ledger;
			break;
		case RUNS:
			set_all(&runs, FIELDS(runs), others[i].facts);
			facts.runs = &runs;
			break;
		case TOKENS:
			set_all(&tokens, FIELDS(tokens), others[i].facts);
			facts.tokens = &tokens;
			break;
		case ROUTE:
			set_all(&route, FIELDS(route), others[i].facts);
			facts.routes_len = 1;
			break;
		}
		doctor_judge(&facts, &f);
		is(bad_ones(&f), others[i].bad, "it is found: %s",
		    others[i].what);
		doctor_findings_free(&f);
	}
}

/* --- many servers --------------------------------------------------------- */

static const struct {
	const char *facts, *first, *second, *bad, *what;
} together[] = {
	{ "topology=sentinel", "", "", "", "two sentinels that agree" },
	{ "topology=sentinel", "", "master=b:1",
	  "fail sentinel.agree", "two that do not" },
	{ "topology=sentinel", "", "error=refused", "warn sentinel.reach",
	  "one that is away" },
	{ "topology=sentinel", "error=refused", "error=refused",
	  "warn sentinel.reach warn sentinel.reach fail redis.reach",
	  "that none is there" },
	{ "topology=sentinel", "sentinels=2", "", "warn sentinel.number",
	  "too few for a failover" },
	{ "topology=sentinel", "quorum=1", "", "warn sentinel.quorum",
	  "a quorum of one" },
	{ "topology=sentinel", "able=no", "", "fail sentinel.quorum",
	  "that too few can be reached" },
	{ "topology=cluster", "", "", "", "a cluster that is whole" },
	{ "topology=cluster slots=16000", "", "", "fail cluster.slots",
	  "slots without a master [redis:16]" },
	{ "topology=cluster bare=3", "", "", "warn cluster.replicas",
	  "masters without a replica" },
	{ "generation=ours use=cache", "", "", "", "our own ledger" },
	{ "generation=none use=cache", "", "", "", "that none is registered" },
	{ "generation=foreign use=cache", "", "", "fail cache.ledger",
	  "another ledger under the prefix" },
};

static void
check_together(void)
{
	static const char good[] = "master=a:1 quorum=2 sentinels=3 able=yes";
	struct doctor_findings f = { .at = NULL };
	struct doctor_sentinel sentinels[2];
	struct doctor_redis redis;
	struct doctor_facts facts = { .redis = &redis, .redis_len = 1 };
	size_t i, k;

	for (i = 0; i < sizeof together / sizeof *together; i++) {
		redis = (struct doctor_redis){
			.what = "shared", .use = DOCTOR_KEYS,
			.sentinels = sentinels, .slots = 16384
		};
		set_all(&redis, FIELDS(redis), together[i].facts);
		for (k = 0; k < 2; k++) {
			sentinels[k] = (struct doctor_sentinel){ .name = "s" };
			set_all(&sentinels[k], FIELDS(sentinel), good);
			set_all(&sentinels[k], FIELDS(sentinel), k == 0 ?
			    together[i].first : together[i].second);
		}
		if (redis.topology == IDEM_REDIS_SENTINEL)
			redis.sentinels_len = 2;
		doctor_judge(&facts, &f);
		is(bad_ones(&f), together[i].bad, "of all together is found: "
		    "%s", together[i].what);
		doctor_findings_free(&f);
	}
}

static void
check_beside(void)
{
	static const char *const doubts[] = { "line 3: a doubt" };
	struct doctor_findings f = { .at = NULL };
	struct doctor_server s = doctor_server_unknown;
	struct doctor_redis redis = {
		.what = "shared", .use = DOCTOR_KEYS, .servers = &s,
		.servers_len = 1, .slots = DOCTOR_UNKNOWN
	};
	const struct doctor_route routes[] = {
		{ .text = "a", .arbiter = IDEM_ARBITER_LEDGER },
		{ .text = "b", .arbiter = IDEM_ARBITER_TOKEN },
	};
	struct doctor_facts facts = { .doubts = { doubts, 1 } };

	doctor_judge(&facts, &f);
	is(bad_ones(&f), "warn conf.doubt", "the configuration's doubts are "
	    "passed on");
	doctor_findings_free(&f);
	facts = (struct doctor_facts){ .routes = routes, .routes_len = 2 };
	doctor_judge(&facts, &f);
	is(bad_ones(&f), "note route.one-host", "routes of one host beside "
	    "those of many are pointed out");
	doctor_findings_free(&f);
	set_all(&s, FIELDS(server), good_server);
	s.replicas = s.replicas_min = 0;
	facts = (struct doctor_facts){ .redis = &redis, .redis_len = 1 };
	doctor_judge(&facts, &f);
	is(bad_ones(&f), "note redis.alone", "a server that has no replica is "
	    "pointed out");
	doctor_findings_free(&f);
}

/* --- all of them ---------------------------------------------------------- */

static void
check_found(void)
{
	bool whole = true;
	unsigned c;

	for (c = 0; c < DOCTOR_FRONT; c++)
		if (c != DOCTOR_SYNC && c != DOCTOR_LEASE && !found[c]) {
			whole = false;
			note("no row has %s", doctor_meaning(c)->name);
		}
	ok(whole, "each finding was made once above");
}

int
main(void)
{
	check_servers();
	check_others();
	check_together();
	check_beside();
	check_found();
	return done();
}
