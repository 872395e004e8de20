/* SPDX-License-Identifier: ISC */
#include "clock.h"
#include "power_vfs.h"
#include "store.h"
#include "tap.h"

#include <dirent.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The power goes at every write of a ledger: what is left opens, in another
 * boot, without a key that could be started twice and with all that a caller
 * had been told.
 */
#define KEYS 48
#define STEPS 6			/* of one key, at most */
#define GROUP 8			/* calls at once, for one transaction */
#define EVERY 4			/* of the moments, with one seed; POWER_SEEDS is
				   how many see all of them */
#define CALL_MS 60000
#define HOUR_MS INT64_C(3600000)
#define KEEP_MS 1000
#define LONG 3000		/* of an answer that lies apart */
#define LONGEST 530000		/* of one in pieces */
#define WITH_LONGEST 10		/* whose it is */

struct step {
	enum idem_state state;	/* after it */
	size_t begun, told;	/* moments; 0: not */
};

struct life {
	struct idem_digest key;
	struct idem_owner owner;
	struct step step[STEPS];
	int n;
};

static struct life lives[KEYS];
static char folder[] = "/tmp/t_power_loss.XXXXXX";
static char disk[100], ledger[100];
static int64_t wall_ms;
static struct idem_boot boots[2];

static int64_t
now_boot(void *arg)
{
	(void)arg;
	return idem_boot_ms(&idem_clock_real);
}

static int64_t
now_wall(void *arg)
{
	(void)arg;
	return wall_ms;
}

static const struct idem_clock test_clock = {
	.boot_ms = now_boot, .wall_ms = now_wall
};

/* --- the work ------------------------------------------------------------- */

static struct idem_store *
open_ledger(const char *path, int boot)
{
	const struct idem_sqlite_options options = {
		.path = path, .clock = &test_clock, .boot = boots[boot]
	};
	char error[512];
	struct idem_store *store =
	    idem_store_sqlite(&options, error, sizeof error);

	if (store == NULL)
		note("%s", error);
	return store;
}

static struct idem_blob *
answer_of(int i)
{
	static char bytes[LONGEST];
	size_t len = i == WITH_LONGEST ? LONGEST : i % 3 == 0 ? LONG : 40;

	memset(bytes, 'a' + i % 26, len);
	return idem_blob_new((struct idem_bytes){ bytes, len });
}

struct under_way {
	struct life *life;
	struct step *step;
	bool done, good;
};

static void
told(void *arg, const struct idem_store_result *r)
{
	struct under_way *u = arg;

	u->done = true;
	u->good = r->op == IDEM_STORE_CLAIM ? r->claim == IDEM_CLAIM_WON :
	    r->op == IDEM_STORE_RENEW ? r->renew == IDEM_RENEWED :
	    r->write == IDEM_WRITTEN;
	if (u->good && u->step != NULL)
		u->step->told = power_vfs_moments();
}

static void
start(struct idem_store *store, enum idem_store_op op, enum idem_state state,
    struct under_way *u)
{
	struct life *l = u->life;
	int i = (int)(l - lives);
	struct idem_store_call call = {
		.op = op, .key = l->key, .owner = l->owner, .attempt = 1,
		.fingerprint = l->key, .guard = l->key, .lease_ms = 60000,
		.keep_ms = i % 5 == 4 ? KEEP_MS : 24 * HOUR_MS,
		.tombstone_ms = 24 * HOUR_MS,
		.deadline_ms = now_boot(NULL) + CALL_MS,
		.done = told, .arg = u
	};

	if (state == IDEM_STATE_COMPLETED)
		call.answer = answer_of(i);
	if (op == IDEM_STORE_SETTLE) {
		call.settle = state == IDEM_STATE_COMPLETED ?
		    IDEM_SETTLE_DONE : IDEM_SETTLE_FORGET;
		call.other = l->owner;
		call.owner.at[0] ^= 255;
	}
	u->step = &l->step[l->n++];
	u->step->state = state;
	u->step->begun = power_vfs_moments() + 1;
	store->ops->start(store, &call);
	idem_blob_drop(call.answer);
}

static bool
all_done(const struct under_way *u, int n)
{
	while (n-- > 0)
		if (!u[n].done)
			return false;
	return true;
}

/* One call for each of some keys, at once. */
static bool
group(struct idem_store *store, int from, enum idem_store_op op,
    enum idem_state state)
{
	struct under_way u[GROUP] = { 0 };
	bool good = true;
	int i;

	for (i = 0; i < GROUP; i++) {
		u[i].life = &lives[from + i];
		start(store, op, state, &u[i]);
	}
	while (!all_done(u, GROUP)) {
		usleep(200);
		store->ops->poll(store);
	}
	for (i = 0; i < GROUP; i++)
		good = good && u[i].good;
	return good;
}

static void
sweep(struct idem_store *store)
{
	const struct idem_store_call call = {
		.op = IDEM_STORE_SWEEP, .deadline_ms = now_boot(NULL) + CALL_MS
	};
	struct idem_store_answer a;

	idem_store_wait(store, &call, &a);
	idem_store_answer_free(&a);
}

/* What those whose keep is over may have become from here on. */
static void
may_be_swept(int from)
{
	struct life *l;
	int i;

	for (i = from; i < from + GROUP; i++) {
		l = &lives[i];
		if (i % 5 != 4 || l->step[l->n - 1].state !=
		    IDEM_STATE_COMPLETED)
			continue;
		l->step[l->n++] = (struct step){
			.state = IDEM_STATE_TOMBSTONE,
			.begun = power_vfs_moments() + 1
		};
	}
}

/* What somebody does later to the keys of an earlier group. */
static bool
later(struct idem_store *store, int from)
{
	bool good = true;

	if (from == 3 * GROUP)
		good = group(store, 2 * GROUP, IDEM_STORE_RENEW,
		    IDEM_STATE_IN_PROGRESS);
	if (from == 4 * GROUP)
		good = group(store, GROUP, IDEM_STORE_SETTLE,
		    IDEM_STATE_TOMBSTONE);
	if (from == 5 * GROUP) {
		good = group(store, 2 * GROUP, IDEM_STORE_SETTLE,
		    IDEM_STATE_COMPLETED);
		may_be_swept(2 * GROUP);
	}
	return good;
}

/* Two workers, who take turns; one of them ends in between. */
static bool
work(void)
{
	struct idem_store *store[2] = { open_ledger(ledger, 0),
	    open_ledger(ledger, 0) };
	bool good = store[0] != NULL && store[1] != NULL;
	int from;

	for (from = 0; good && from < KEYS; from += GROUP) {
		struct idem_store *a = store[from / GROUP % 2];
		struct idem_store *b = store[1 - from / GROUP % 2];

		good = group(a, from, IDEM_STORE_CLAIM,
		    IDEM_STATE_IN_PROGRESS);
		if (from / GROUP % 3 == 0)
			good = good && group(b, from, IDEM_STORE_UNKNOWN,
			    IDEM_STATE_UNKNOWN);
		if (from / GROUP % 3 == 1 && from > 3 * GROUP)
			good = good && group(a, from, IDEM_STORE_RELEASE,
			    IDEM_STATE_ISSUED);
		else if (from / GROUP != 2)
			good = good && group(a, from, IDEM_STORE_COMPLETE,
			    IDEM_STATE_COMPLETED);
		good = good && later(b, from);
		wall_ms += 2 * KEEP_MS;
		may_be_swept(from);
		sweep(b);
		if (good && from == 2 * GROUP) {
			store[1]->ops->close(store[1]);
			store[1] = open_ledger(ledger, 0);
			good = store[1] != NULL;
		}
	}
	for (from = 0; from < 2; from++)
		if (store[from] != NULL)
			store[from]->ops->close(store[from]);
	return good;
}

/* --- the disk after it ---------------------------------------------------- */

static void
empty(const char *path)
{
	DIR *dir = opendir(path);
	const struct dirent *e;
	char name[400];

	while (dir != NULL && (e = readdir(dir)) != NULL) {
		snprintf(name, sizeof name, "%s/%s", path, e->d_name);
		unlink(name);
	}
	if (dir != NULL)
		closedir(dir);
}

static bool
is_sound(const char *path)
{
	sqlite3_stmt *stmt = NULL;
	sqlite3 *db = NULL;
	bool sound;

	sound = sqlite3_open(path, &db) == SQLITE_OK &&
	    sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &stmt, NULL)
	    == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW &&
	    strcmp((const char *)sqlite3_column_text(stmt, 0), "ok") == 0;
	sqlite3_finalize(stmt);
	sqlite3_close(db);
	return sound;
}

/* The last step that a caller was told of by then, and the last that had begun:
   the record is after one of these, or between. */
static const char *
wrong(const struct life *l, size_t moment, const struct idem_store_answer *a,
    enum idem_state state)
{
	const struct idem_blob *got = a->result.answer;
	struct idem_blob *want;
	int told_last = -1, i;
	bool same;

	for (i = 0; i < l->n; i++)
		if (l->step[i].told != 0 && l->step[i].told <= moment)
			told_last = i;
	if (state == IDEM_STATE_ABSENT)
		return told_last == -1 ? NULL : "a key is forgotten";
	for (i = told_last > 0 ? told_last : 0; i < l->n; i++)
		if (l->step[i].begun <= moment + 1 &&
		    l->step[i].state == state)
			break;
	if (i == l->n)
		return "a key is not as was said";
	if (told_last != -1 && state != IDEM_STATE_ISSUED &&
	    a->result.claim == IDEM_CLAIM_ABSENT)
		return "a key could be started again";
	if (state != IDEM_STATE_COMPLETED)
		return NULL;
	want = answer_of((int)(l - lives));
	same = got != NULL && got->len == want->len &&
	    memcmp(got->at, want->at, want->len) == 0;
	idem_blob_drop(want);
	return same ? NULL : "an answer is another";
}

static const char *
look_at(struct idem_store *store, const struct life *l, size_t moment)
{
	const struct idem_store_call call = {
		.op = IDEM_STORE_CLAIM, .key = l->key, .look_only = true,
		.owner = { { 255 } }, .fingerprint = l->key, .guard = l->key,
		.deadline_ms = now_boot(NULL) + CALL_MS
	};
	struct idem_store_answer a;
	const char *why;

	idem_store_wait(store, &call, &a);
	why = a.result.class == IDEM_OK ?
	    wrong(l, moment, &a, a.result.record.state) : a.error;
	idem_store_answer_free(&a);
	return why;
}

/* The index of the WAL, which no power loss spares, or spoils. */
static void
spoil_index(const char *path, uint64_t seed)
{
	static uint8_t bytes[32768];
	char name[300];
	size_t i;
	FILE *f;

	for (i = 0; i < sizeof bytes; i++)
		bytes[i] = (uint8_t)(seed * (i + 1) >> 8);
	snprintf(name, sizeof name, "%s-shm", path);
	f = fopen(name, "w");
	if (f == NULL || fwrite(bytes, sizeof bytes, 1, f) != 1 ||
	    fclose(f) != 0)
		bail_out("cannot write %s", name);
}

static const char *
look(size_t moment, uint64_t seed)
{
	struct idem_store *store;
	const char *why = NULL;
	char path[200];
	int i;

	empty(disk);
	power_vfs_disk(moment, seed, disk);
	snprintf(path, sizeof path, "%s/ledger.db", disk);
	if (seed % 2 != 0)
		spoil_index(path, seed);
	store = open_ledger(path, 1);
	if (store == NULL)
		return "it does not open";
	for (i = 0; i < KEYS && why == NULL; i++)
		why = look_at(store, &lives[i], moment);
	store->ops->close(store);
	return why != NULL || is_sound(path) ? why : "it is not sound";
}

struct looks {
	size_t n, bad;
};

static void
take_look(struct looks *l, size_t moment, uint64_t seed)
{
	const char *why = look(moment, seed);

	l->n++;
	if (why != NULL && l->bad++ == 0)
		note("after %zu of %zu writes, seed %llu: %s", moment,
		    power_vfs_moments(), (unsigned long long)seed, why);
}

/* What was told in between is told by the next sync, too. */
static void
check_synced(size_t from)
{
	size_t n = power_vfs_moments(), moment;
	struct looks l = { 0 };

	for (moment = from; moment <= n; moment++) {
		moment = power_vfs_before_sync(moment);
		take_look(&l, moment, 0);
	}
	ok(l.bad == 0 && l.n > 1, "with nothing that was not synced, nothing "
	    "that was said is lost (%zu writes, %zu syncs) [idem:B13]",
	    n - from, l.n - 1);
}

static void
check_sectors(size_t from, uint64_t seed, size_t every)
{
	size_t n = power_vfs_moments(), moment;
	struct looks l = { 0 };

	for (moment = from + seed % every; moment <= n; moment += every)
		take_look(&l, moment, seed * 7919 + moment);
	ok(l.bad == 0 && l.n > 1, "with some sectors that were not synced, "
	    "nothing that was said is lost (%zu moments) [idem:B13]", l.n);
}

int
main(void)
{
	const char *more = getenv("POWER_SEEDS");
	unsigned long seeds = more != NULL ? strtoul(more, NULL, 10) : EVERY, i;
	char error[512];
	size_t made;

	if (mkdtemp(folder) == NULL)
		bail_out("no folder for the test");
	snprintf(disk, sizeof disk, "%s/disk", folder);
	snprintf(ledger, sizeof ledger, "%s/ledger", folder);
	if (mkdir(disk, 0700) != 0 || mkdir(ledger, 0700) != 0)
		bail_out("no folder for the test");
	snprintf(ledger, sizeof ledger, "%s/ledger/ledger.db", folder);
	wall_ms = idem_wall_ms(&idem_clock_real);
	boots[1].at[0] = 1;
	for (i = 0; i < KEYS; i++) {
		memset(lives[i].key.at, (int)i + 1, sizeof lives[i].key.at);
		memset(lives[i].owner.at, (int)i + 1, sizeof lives[i].owner.at);
	}
	power_vfs_install();
	if (idem_store_sqlite_create(ledger, error, sizeof error) != 0)
		bail_out("%s", error);
	ok(power_vfs_moments() > 0 && power_vfs_loose("ledger.db-new.") == 0,
	    "a ledger that was made is synced, all of it");
	made = power_vfs_moments();
	ok(work(), "the ledger is worked with");
	power_vfs_stop();
	check_synced(made);
	for (i = 1; i <= seeds; i++)
		check_sectors(made, i, more != NULL ? 1 : EVERY);
	power_vfs_free();
	empty(disk);
	rmdir(disk);
	snprintf(ledger, sizeof ledger, "%s/ledger", folder);
	empty(ledger);
	rmdir(ledger);
	rmdir(folder);
	return done();
}
