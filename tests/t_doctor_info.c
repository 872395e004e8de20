/* SPDX-License-Identifier: ISC */
#include "doctor.h"
#include "tap.h"

#include <inttypes.h>
#include <stdio.h>

/* What a Redis says of itself, read. */

/* All that was read, in words. */
static const char *
told(const struct doctor_server *s)
{
	static const char *const truths[] = { "-", "no", "yes" };
	static char out[600];

	snprintf(out, sizeof out, "%s/%" PRId64 " role %d policy %s max %"
	    PRId64 " used %" PRId64 " evicted %" PRId64 " aof %s saved %s "
	    "written %s replicas %" PRId64 " lag %" PRId64 " %s ro %s keys %"
	    PRId64, s->version, s->version_number, s->role, s->policy,
	    s->maxmemory, s->used, s->evicted, truths[s->aof],
	    truths[s->saved], truths[s->aof_written], s->replicas, s->lag_s,
	    s->laggard, truths[s->replica_read_only], s->keys);
	return out;
}

static const char master[] =
    "# Server\r\nredis_version:7.0.15\r\nredis_mode:standalone\r\n"
    "# Memory\r\nused_memory:1000\r\nused_memory_rss:9\r\n"
    "maxmemory:5000\r\nmaxmemory_policy:noeviction\r\n"
    "# Persistence\r\naof_enabled:1\r\nrdb_last_bgsave_status:ok\r\n"
    "aof_last_write_status:err\r\n# Stats\r\nevicted_keys:7\r\n"
    "# Replication\r\nrole:master\r\nconnected_slaves:2\r\n"
    "slave0:ip=10.0.0.2,port=6379,state=online,offset=14,lag=1\r\n"
    "slave1:ip=::1,port=6380,state=online,offset=14,lag=4\r\n"
    "slave_repl_offset:3\r\n"
    "# Keyspace\r\ndb0:keys=3,expires=0,avg_ttl=0\r\n"
    "db7:keys=40,expires=1,avg_ttl=9\r\n";

#define UNKNOWN "-9223372036854775808"
#define NOTHING "/" UNKNOWN " role 0 policy  max " UNKNOWN " used " UNKNOWN \
	" evicted " UNKNOWN " aof - saved - written - replicas " UNKNOWN \
	" lag " UNKNOWN "  ro - keys " UNKNOWN

static void
check_info(void)
{
	struct doctor_server s = doctor_server_unknown;
	char name[DOCTOR_NAME];
	size_t len;

	doctor_info(idem_bytes_text(master), &s);
	is(told(&s), "7.0.15/70015 role 1 policy noeviction max 5000 used 1000 "
	    "evicted 7 aof yes saved yes written no replicas 2 lag 4 "
	    "[::1]:6380 ro - keys 43", "all of a master's INFO is read");
	ok(doctor_info_replica(idem_bytes_text(master), 0, name),
	    "it names a replica");
	is(name, "10.0.0.2:6379", "by its address");
	ok(doctor_info_replica(idem_bytes_text(master), 1, name) &&
	    !doctor_info_replica(idem_bytes_text(master), 2, name),
	    "and another, and no third");
	is(name, "[::1]:6380", "IPv6 in brackets");

	s = doctor_server_unknown;
	doctor_info(idem_bytes_text("redis_version:6.2\r\nrole:slave\r\n"
	    "slave_read_only:0\r\nslave0:ip=a,port=1,state=wait_bgsave,"
	    "offset=0,lag=0\r\n"), &s);
	is(told(&s), "6.2/60200 role 2 policy  max " UNKNOWN " used " UNKNOWN
	    " evicted " UNKNOWN " aof - saved - written - replicas " UNKNOWN
	    " lag 9223372036854775807 a:1 ro no keys 0",
	    "a replica that still loads is farthest behind");

	s = doctor_server_unknown;
	doctor_info(idem_bytes_text("maxmemory:x\r\nmaxmemory_policy\r\n"
	    "slave0:ip=,port=1\nslavery:ip=a,port=1\nslave0:ip=a,port=99999\n"
	    "db0:expires=3\r\n:\n\r\r\nevicted_keys:-3\nused_memory:"
	    "99999999999999999999999999"), &s);
	is(told(&s), NOTHING, "of nonsense nothing is read");
	for (len = 0; len < sizeof master - 1; len++) {
		s = doctor_server_unknown;
		doctor_info((struct idem_bytes){ master, len }, &s);
		if (s.evicted != DOCTOR_UNKNOWN && s.evicted != 7)
			break;
	}
	is_int((long long)len, sizeof master - 1,
	    "one that is cut off anywhere is read up to there");
}

static void
check_config(void)
{
	static const char *const all[][2] = {
		{ "appendfsync", "no" }, { "save", "" },
		{ "stop-writes-on-bgsave-error", "no" },
		{ "protected-mode", "yes" }, { "replica-read-only", "no" },
		{ "min-replicas-to-write", "1" },
		{ "min-replicas-max-lag", "10" },
		{ "busy-reply-threshold", "5000" }, { "dir", "/var" },
	};
	struct doctor_server s = doctor_server_unknown;
	size_t i;

	for (i = 0; i < sizeof all / sizeof *all; i++)
		doctor_info_config(idem_bytes_text(all[i][0]),
		    idem_bytes_text(all[i][1]), &s);
	ok(s.stops == DOCTOR_NO && s.protected_mode == DOCTOR_YES &&
	    s.replica_read_only == DOCTOR_NO && s.save_known &&
	    s.save[0] == '\0' && s.replicas_min == 1 && s.lag_max_s == 10 &&
	    s.busy_ms == 5000, "CONFIG GET is read");
	is(s.fsync, "no", "with its words");
}

static void
check_names(void)
{
	char name[DOCTOR_NAME];

	ok(doctor_info_is_local("127.0.0.1") && doctor_info_is_local("::1") &&
	    doctor_info_is_local("localhost") &&
	    !doctor_info_is_local("10.0.0.1"), "this host is known");
	ok(!doctor_info_name(idem_bytes_text("h"), 0, name) &&
	    !doctor_info_name(idem_bytes_text(""), 1, name) &&
	    doctor_info_name(idem_bytes_text("h"), 65535, name),
	    "a name has a host and a port");
}

int
main(void)
{
	check_info();
	check_config();
	check_names();
	return done();
}
