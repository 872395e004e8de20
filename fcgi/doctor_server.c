/* SPDX-License-Identifier: ISC */
#include "doctor.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MIB (1024 * 1024)
#define ROOM_WARN_PERCENT 80
#define ROOM_FAIL_PERCENT 95
#define DISK_MIN (64 * (int64_t)MIB)
#define LAG_WARN_S 10
#define LAG_MAX_S 10		/* of min-replicas-max-lag */
#define BUSY_MS 1000
#define CLOCK_NOTE_MS 2000
#define CLOCK_WARN_MS 60000
#define VERSION_MIN 60000
#define SOME_KEYS 100

const struct doctor_server doctor_server_unknown = {
	.name = "",
	.version_number = DOCTOR_UNKNOWN,
	.maxmemory = DOCTOR_UNKNOWN,
	.used = DOCTOR_UNKNOWN,
	.evicted = DOCTOR_UNKNOWN,
	.disk_free = DOCTOR_UNKNOWN,
	.replicas = DOCTOR_UNKNOWN,
	.replicas_min = DOCTOR_UNKNOWN,
	.lag_max_s = DOCTOR_UNKNOWN,
	.lag_s = DOCTOR_UNKNOWN,
	.busy_ms = DOCTOR_UNKNOWN,
	.keys = DOCTOR_UNKNOWN,
	.ours = DOCTOR_UNKNOWN,
	.others = DOCTOR_UNKNOWN,
	.junk = DOCTOR_UNKNOWN,
	.clock_ms = DOCTOR_UNKNOWN,
};

/* One server under judgement; `of` is what findings of it begin with. */
struct bench {
	char of[DOCTOR_NAME + 32];
	const struct doctor_server *s;
	struct doctor_findings *f;
};

/* The level by what the server is for: keys weigh most. */
static enum doctor_level
weigh(const struct bench *b, enum doctor_level keys, enum doctor_level tokens,
    enum doctor_level cache)
{
	if ((b->s->use & DOCTOR_KEYS) != 0)
		return keys;
	return (b->s->use & DOCTOR_TOKENS) != 0 ? tokens : cache;
}

/* --- what a full memory does ---------------------------------------------- */

static void
judge_policy(const struct bench *b)
{
	enum doctor_level level = DOCTOR_OK;

	if (b->s->policy[0] == '\0')
		return;
	if (strcmp(b->s->policy, "noeviction") != 0)
		level = weigh(b, DOCTOR_FAIL, DOCTOR_WARN, DOCTOR_OK);
	doctor_find(b->f, level, DOCTOR_POLICY, "%s maxmemory-policy is %s",
	    b->of, b->s->policy);
}

static void
judge_room(const struct bench *b)
{
	const struct doctor_server *s = b->s;
	enum doctor_level level = DOCTOR_OK;
	int64_t percent;

	if (s->maxmemory == DOCTOR_UNKNOWN || s->used == DOCTOR_UNKNOWN)
		return;
	if (s->maxmemory <= 0) {
		doctor_find(b->f, DOCTOR_NOTE, DOCTOR_ROOM, "%s maxmemory is "
		    "not set; %" PRId64 " MiB are used", b->of, s->used / MIB);
		return;
	}
	percent = (int64_t)((double)s->used * 100 / (double)s->maxmemory);
	/* A cache may be as full as it likes. */
	if (percent >= ROOM_FAIL_PERCENT)
		level = weigh(b, DOCTOR_FAIL, DOCTOR_FAIL, DOCTOR_OK);
	else if (percent >= ROOM_WARN_PERCENT)
		level = weigh(b, DOCTOR_WARN, DOCTOR_WARN, DOCTOR_OK);
	doctor_find(b->f, level, DOCTOR_ROOM, "%s %" PRId64 " %% of maxmemory "
	    "(%" PRId64 " MiB) are used", b->of, percent, s->maxmemory / MIB);
}

static void
judge_evicted(const struct bench *b)
{
	if (b->s->evicted > 0)
		doctor_find(b->f, weigh(b, DOCTOR_WARN, DOCTOR_WARN, DOCTOR_OK),
		    DOCTOR_EVICTED, "%s evicted_keys is %" PRId64, b->of,
		    b->s->evicted);
}

/* --- what a restart leaves ------------------------------------------------ */

static void
judge_persist(const struct bench *b)
{
	const struct doctor_server *s = b->s;
	bool none = s->save_known && s->save[0] == '\0';

	switch (s->aof) {
	case DOCTOR_NOT_KNOWN:
		return;
	case DOCTOR_YES:
		doctor_find(b->f, DOCTOR_OK, DOCTOR_PERSIST,
		    "%s appendonly is yes", b->of);
		return;
	case DOCTOR_NO:
		break;
	}
	if (none)
		doctor_find(b->f, weigh(b, DOCTOR_FAIL, DOCTOR_WARN, DOCTOR_OK),
		    DOCTOR_PERSIST, "%s appendonly is no, and no snapshots are "
		    "saved", b->of);
	else
		doctor_find(b->f, weigh(b, DOCTOR_WARN, DOCTOR_WARN, DOCTOR_OK),
		    DOCTOR_PERSIST, "%s appendonly is no: only snapshots (save "
		    "\"%s\")", b->of, s->save_known ? s->save : "?");
}

static void
judge_fsync(const struct bench *b)
{
	const struct doctor_server *s = b->s;
	bool never = strcmp(s->fsync, "no") == 0;

	if (s->fsync[0] == '\0' || s->aof != DOCTOR_YES)
		return;
	doctor_find(b->f, never ? weigh(b, DOCTOR_WARN, DOCTOR_NOTE, DOCTOR_OK)
	    : DOCTOR_OK, DOCTOR_FSYNC, "%s appendfsync is %s", b->of, s->fsync);
}

static void
judge_saved(const struct bench *b)
{
	const struct doctor_server *s = b->s;
	enum doctor_level worst = weigh(b, DOCTOR_FAIL, DOCTOR_FAIL,
	    DOCTOR_WARN);

	if (s->aof_written == DOCTOR_NO)
		doctor_find(b->f, worst, DOCTOR_SAVED, "%s its last write to "
		    "the append only file failed", b->of);
	if (s->saved == DOCTOR_NO)
		doctor_find(b->f, s->stops == DOCTOR_NO ? DOCTOR_WARN : worst,
		    DOCTOR_SAVED, "%s its last snapshot failed%s", b->of,
		    s->stops == DOCTOR_NO ? "" : ", so it refuses writes");
}

static void
judge_disk(const struct bench *b)
{
	const struct doctor_server *s = b->s;
	enum doctor_level level = DOCTOR_OK;

	if (s->disk_free == DOCTOR_UNKNOWN)
		return;
	if (s->disk_free < DISK_MIN)
		level = weigh(b, DOCTOR_FAIL, DOCTOR_FAIL, DOCTOR_WARN);
	else if (s->used != DOCTOR_UNKNOWN && s->disk_free < s->used)
		level = DOCTOR_WARN;
	doctor_find(b->f, level, DOCTOR_DISK, "%s %" PRId64 " MiB are free "
	    "where it writes", b->of, s->disk_free / MIB);
}

/* --- what a failover leaves ----------------------------------------------- */

static void
judge_replicas(const struct bench *b)
{
	const struct doctor_server *s = b->s;

	if (s->replicas == DOCTOR_UNKNOWN || s->replicas_min == DOCTOR_UNKNOWN)
		return;
	if (s->replicas_min > s->replicas)
		doctor_find(b->f, weigh(b, DOCTOR_FAIL, DOCTOR_FAIL,
		    DOCTOR_WARN), DOCTOR_REPLICAS_FEW, "%s it has %" PRId64
		    " replicas and wants %" PRId64, b->of, s->replicas,
		    s->replicas_min);
	else if (s->replicas > 0 && s->replicas_min == 0)
		doctor_find(b->f, weigh(b, DOCTOR_WARN, DOCTOR_NOTE, DOCTOR_OK),
		    DOCTOR_REPLICAS_MIN, "%s min-replicas-to-write is 0, with "
		    "%" PRId64 " replicas", b->of, s->replicas);
	else if (s->replicas > 0)
		doctor_find(b->f, s->lag_max_s > LAG_MAX_S ? weigh(b,
		    DOCTOR_WARN, DOCTOR_NOTE, DOCTOR_OK) : DOCTOR_OK,
		    DOCTOR_REPLICAS_MIN, "%s min-replicas-to-write is %" PRId64
		    ", min-replicas-max-lag %" PRId64 " s", b->of,
		    s->replicas_min, s->lag_max_s);
}

static void
judge_lag(const struct bench *b)
{
	const struct doctor_server *s = b->s;
	enum doctor_level bad = weigh(b, DOCTOR_WARN, DOCTOR_WARN, DOCTOR_NOTE);

	if (s->lag_s == DOCTOR_UNKNOWN)
		return;
	if (s->lag_s == INT64_MAX)
		doctor_find(b->f, bad, DOCTOR_LAG, "%s its replica %s has not "
		    "caught up", b->of, s->laggard);
	else
		doctor_find(b->f, s->lag_s > LAG_WARN_S ? bad : DOCTOR_OK,
		    DOCTOR_LAG, "%s its replica %s is %" PRId64 " s behind",
		    b->of, s->laggard, s->lag_s);
}

static void
judge_replica(const struct bench *b)
{
	const struct doctor_server *s = b->s;

	if (s->role != DOCTOR_REPLICA)
		doctor_find(b->f, DOCTOR_WARN, DOCTOR_AGREE, "%s it was named "
		    "as a replica, and is none", b->of);
	else if (s->replica_read_only == DOCTOR_NO)
		doctor_find(b->f, weigh(b, DOCTOR_FAIL, DOCTOR_FAIL,
		    DOCTOR_WARN), DOCTOR_REPLICA_WRITABLE, "%s "
		    "replica-read-only is no", b->of);
	else if (s->replica_read_only == DOCTOR_YES)
		doctor_find(b->f, DOCTOR_OK, DOCTOR_REPLICA_WRITABLE, "%s "
		    "replica-read-only is yes", b->of);
}

/* --- who else is there ---------------------------------------------------- */

static void
judge_strangers(const struct bench *b)
{
	const struct doctor_server *s = b->s;
	enum doctor_level bad = weigh(b, DOCTOR_WARN, DOCTOR_NOTE, DOCTOR_NOTE);
	int64_t here;

	if (s->junk > 0)
		doctor_find(b->f, DOCTOR_WARN, DOCTOR_JUNK, "%s %" PRId64
		    " keys under the prefix are no records of idem", b->of,
		    s->junk);
	if (s->others > 0)
		doctor_find(b->f, bad, DOCTOR_STRANGERS, "%s %" PRId64 " of "
		    "its keys are not idem's", b->of, s->others);
	if (s->keys == DOCTOR_UNKNOWN || s->ours == DOCTOR_UNKNOWN ||
	    s->others == DOCTOR_UNKNOWN)
		return;
	here = s->ours + s->others;
	/* Some come and go between the two counts. */
	if (s->keys - here > here / 10 + SOME_KEYS)
		doctor_find(b->f, bad, DOCTOR_STRANGERS, "%s %" PRId64 " keys "
		    "are in other databases of it", b->of, s->keys - here);
	else if (s->others == 0)
		doctor_find(b->f, DOCTOR_OK, DOCTOR_STRANGERS, "%s all of its %"
		    PRId64 " keys are idem's", b->of, s->ours);
}

static void
judge_network(const struct bench *b)
{
	const struct doctor_server *s = b->s;

	if (s->local == DOCTOR_NO)
		doctor_find(b->f, s->tls == DOCTOR_YES ? DOCTOR_OK :
		    DOCTOR_WARN, DOCTOR_PLAIN, "%s it is reached over a "
		    "network %s TLS", b->of, s->tls == DOCTOR_YES ? "with" :
		    "without");
	if (s->password != DOCTOR_NO)
		return;
	if (s->local == DOCTOR_NO)
		doctor_find(b->f, DOCTOR_FAIL, DOCTOR_OPEN, "%s it asks for no "
		    "password, and is reached over a network", b->of);
	else if (s->protected_mode == DOCTOR_NO)
		doctor_find(b->f, DOCTOR_WARN, DOCTOR_OPEN, "%s it asks for no "
		    "password, and protected-mode is no", b->of);
}

/* --- the rest ------------------------------------------------------------- */

static void
judge_version(const struct bench *b)
{
	const struct doctor_server *s = b->s;

	if (s->version_number != DOCTOR_UNKNOWN)
		doctor_find(b->f, s->version_number < VERSION_MIN ? weigh(b,
		    DOCTOR_FAIL, DOCTOR_FAIL, DOCTOR_NOTE) : DOCTOR_OK,
		    DOCTOR_VERSION, "%s version %s", b->of, s->version);
}

static void
judge_busy(const struct bench *b)
{
	if (b->s->busy_ms != DOCTOR_UNKNOWN)
		doctor_find(b->f, b->s->busy_ms > BUSY_MS ? DOCTOR_NOTE :
		    DOCTOR_OK, DOCTOR_BUSY, "%s busy-reply-threshold is %"
		    PRId64 " ms", b->of, b->s->busy_ms);
}

static void
judge_acl(const struct bench *b)
{
	switch (b->s->acl) {
	case DOCTOR_NOT_KNOWN:
		return;
	case DOCTOR_YES:
		doctor_find(b->f, DOCTOR_OK, DOCTOR_ACL, "%s every operation "
		    "is allowed", b->of);
		return;
	case DOCTOR_NO:
		doctor_find(b->f, DOCTOR_FAIL, DOCTOR_ACL, "%s an operation "
		    "fails: %s", b->of, b->s->acl_error);
		return;
	}
}

static void
judge_clock(const struct bench *b)
{
	int64_t off = b->s->clock_ms;
	enum doctor_level level = DOCTOR_OK;

	if (off == DOCTOR_UNKNOWN)
		return;
	if (off > CLOCK_WARN_MS || off < -CLOCK_WARN_MS)
		level = weigh(b, DOCTOR_WARN, DOCTOR_WARN, DOCTOR_NOTE);
	else if (off > CLOCK_NOTE_MS || off < -CLOCK_NOTE_MS)
		level = DOCTOR_NOTE;
	doctor_find(b->f, level, DOCTOR_CLOCK, "%s its clock is %" PRId64
	    " ms %s ours", b->of, off < 0 ? -off : off, off < 0 ? "behind" :
	    "ahead of");
}

static void
judge_hidden(const struct bench *b)
{
	if (b->s->hidden[0] != '\0')
		doctor_find(b->f, DOCTOR_NOTE, DOCTOR_HIDDEN, "%s not told: %s",
		    b->of, b->s->hidden);
}

static void
judge_unreached(const struct bench *b)
{
	bool replica = b->s->wanted == DOCTOR_REPLICA;
	enum doctor_check check = replica ? DOCTOR_REACH_REPLICA : DOCTOR_REACH;

	if (!replica && (b->s->use & ~DOCTOR_CACHE) == 0)
		check = DOCTOR_REACH_CACHE;
	doctor_find(b->f, check == DOCTOR_REACH ? DOCTOR_FAIL : DOCTOR_WARN,
	    check, "%s cannot be asked: %s", b->of, b->s->error);
}

static void
judge_master(const struct bench *b)
{
	if (b->s->role == DOCTOR_REPLICA) {
		doctor_find(b->f, DOCTOR_FAIL, DOCTOR_ROLE,
		    "%s it is a replica", b->of);
		return;
	}
	judge_replicas(b);
	judge_lag(b);
	judge_acl(b);
	judge_strangers(b);
}

void
doctor_judge_server(const char *what, const struct doctor_server *s,
    struct doctor_findings *f)
{
	static void (*const all[])(const struct bench *) = {
		judge_version, judge_policy, judge_room, judge_evicted,
		judge_persist, judge_fsync, judge_saved, judge_disk,
		judge_network, judge_busy, judge_clock, judge_hidden
	};
	struct bench b = { .s = s, .f = f };
	size_t i;

	snprintf(b.of, sizeof b.of, "redis %.24s %s:", what, s->name);
	if (s->error[0] != '\0') {
		judge_unreached(&b);
		return;
	}
	doctor_find(f, DOCTOR_OK, DOCTOR_REACH, "%s reached", b.of);
	if (s->wanted == DOCTOR_REPLICA)
		judge_replica(&b);
	else
		judge_master(&b);
	for (i = 0; i < sizeof all / sizeof *all; i++)
		all[i](&b);
}
