/* SPDX-License-Identifier: ISC */
#include "doctor.h"

#include <inttypes.h>
#include <string.h>

#define MIB (1024 * 1024)
#define SPACE_FAIL (64 * (int64_t)MIB)
#define SPACE_WARN (1024 * (int64_t)MIB)
#define MINUTE_MS (60 * (int64_t)1000)
#define DAY_MS (24 * 60 * MINUTE_MS)
#define LIFE_MIN_MS (15 * MINUTE_MS)
#define LIFE_MAX_MS (7 * DAY_MS)
#define KEYS_AGE_MS (365 * DAY_MS)
#define OTHERS_READ 0044
#define OTHERS_WRITE 0022

/* --- the ledger ----------------------------------------------------------- */

/* sqlite.org/wal.html, "The WAL-Reset Bug". */
static bool
has_wal_reset(int64_t version)
{
	if (version < 3007000 || version >= 3051003)
		return false;
	return !(version >= 3044006 && version < 3045000) &&
	    !(version >= 3050007 && version < 3051000);
}

static void
judge_sqlite(const struct doctor_ledger *l, struct doctor_findings *f)
{
	if (l->sqlite != DOCTOR_UNKNOWN)
		doctor_find(f, has_wal_reset(l->sqlite) ? DOCTOR_NOTE :
		    DOCTOR_OK, DOCTOR_SQLITE, "ledger: SQLite %" PRId64 ".%"
		    PRId64 ".%" PRId64 "%s", l->sqlite / 1000000,
		    l->sqlite / 1000 % 1000, l->sqlite % 1000,
		    has_wal_reset(l->sqlite) ? " has the WAL-reset fault, "
		    "which cannot happen here" : "");
	doctor_find(f, DOCTOR_OK, DOCTOR_SYNC, "ledger: commits with "
	    "synchronous FULL");
}

static void
judge_mode(const struct doctor_ledger *l, struct doctor_findings *f)
{
	enum doctor_level level = DOCTOR_OK;

	if (l->mode == DOCTOR_UNKNOWN)
		return;
	if ((l->mode & OTHERS_WRITE) != 0)
		level = DOCTOR_FAIL;
	else if ((l->mode & OTHERS_READ) != 0)
		level = DOCTOR_WARN;
	doctor_find(f, level, DOCTOR_LEDGER_MODE, "ledger: %s has mode %04"
	    PRIo64, l->path, (uint64_t)l->mode);
}

static bool
differs(int64_t a, int64_t b)
{
	return a != DOCTOR_UNKNOWN && b != DOCTOR_UNKNOWN && a != b;
}

/* Root may look at what is idemd's; what root has made, idemd cannot use. */
static void
judge_owner(const struct doctor_ledger *l, struct doctor_findings *f)
{
	bool mixed = differs(l->owner, l->lock_owner) ||
	    differs(l->owner, l->run_owner);

	if (l->owner == DOCTOR_UNKNOWN)
		return;
	if (mixed)
		doctor_find(f, DOCTOR_FAIL, DOCTOR_LEDGER_OWNER, "ledger: "
		    "the ledger, its -lock and its -run belong to different "
		    "users");
	else if (differs(l->owner, l->folder_owner) && l->folder_owner != 0)
		doctor_find(f, DOCTOR_WARN, DOCTOR_LEDGER_OWNER, "ledger: its "
		    "folder belongs to user %" PRId64 ", itself to %" PRId64,
		    l->folder_owner, l->owner);
	else
		doctor_find(f, DOCTOR_OK, DOCTOR_LEDGER_OWNER, "ledger: all of "
		    "it belongs to user %" PRId64 "%s", l->owner,
		    differs(l->owner, l->us) ? ", which is not who asks" : "");
	if (l->run_mode != DOCTOR_UNKNOWN)
		doctor_find(f, (l->run_mode & OTHERS_WRITE) != 0 ? DOCTOR_FAIL :
		    DOCTOR_OK, DOCTOR_RUN_FOLDER, "ledger: the folder of run "
		    "locks has mode %04" PRIo64, (uint64_t)l->run_mode);
}

static void
judge_place(const struct doctor_ledger *l, struct doctor_findings *f)
{
	static const char *const fleeting[] = { "tmpfs", "ramfs", "overlay" };
	enum doctor_level level = DOCTOR_OK;
	size_t i;

	for (i = 0; i < sizeof fleeting / sizeof *fleeting; i++)
		if (strcmp(l->system, fleeting[i]) == 0)
			level = DOCTOR_WARN;
	if (l->system[0] != '\0')
		doctor_find(f, level, DOCTOR_FILE_SYSTEM, "ledger: the file "
		    "system is %s", l->system);
	if (l->free == DOCTOR_UNKNOWN)
		return;
	level = l->free < SPACE_FAIL ? DOCTOR_FAIL :
	    l->free < SPACE_WARN ? DOCTOR_WARN : DOCTOR_OK;
	doctor_find(f, level, DOCTOR_SPACE, "ledger: %" PRId64 " MiB are free",
	    l->free / MIB);
}

static void
judge_unknown(const char *what, int64_t n, const char *where,
    struct doctor_findings *f)
{
	if (n != DOCTOR_UNKNOWN)
		doctor_find(f, n > 0 ? DOCTOR_WARN : DOCTOR_OK,
		    DOCTOR_UNKNOWN_KEYS, "%s: %" PRId64 " unknown keys%s",
		    what, n, where);
}

void
doctor_judge_ledger(const struct doctor_ledger *l, struct doctor_findings *f)
{
	if (l->error[0] != '\0')
		doctor_find(f, DOCTOR_FAIL, DOCTOR_LEDGER, "ledger: %s",
		    l->error);
	else
		doctor_find(f, DOCTOR_OK, DOCTOR_LEDGER, "ledger: %s opened",
		    l->path);
	judge_sqlite(l, f);
	judge_mode(l, f);
	judge_owner(l, f);
	if (l->unwritable[0] != '\0' && strcmp(l->unwritable, l->error) != 0)
		doctor_find(f, DOCTOR_FAIL, DOCTOR_LEDGER_WRITE, "ledger: %s",
		    l->unwritable);
	judge_place(l, f);
	judge_unknown("ledger", l->unknown, "", f);
}

/* --- runs ----------------------------------------------------------------- */

static void
judge_runs_place(const struct doctor_runs *r, struct doctor_findings *f)
{
	bool memory = strcmp(r->system, "tmpfs") == 0 ||
	    strcmp(r->system, "ramfs") == 0;

	if (r->network[0] != '\0')
		doctor_find(f, DOCTOR_FAIL, DOCTOR_RUNS_NETWORK, "runs: their "
		    "folder lies on %s", r->network);
	else if (r->system[0] != '\0')
		doctor_find(f, memory ? DOCTOR_NOTE : DOCTOR_OK,
		    DOCTOR_RUNS_MEMORY, "runs: the file system is %s",
		    r->system);
	if (r->locks != DOCTOR_NOT_KNOWN)
		doctor_find(f, r->locks == DOCTOR_YES ? DOCTOR_OK :
		    DOCTOR_FAIL, DOCTOR_RUNS_LOCKS, "runs: locks %s there",
		    r->locks == DOCTOR_YES ? "work" : "do not work");
}

static void
judge_runs_space(const struct doctor_runs *r, struct doctor_findings *f)
{
	enum doctor_level level = DOCTOR_OK;

	if (r->reserve == 0) {
		doctor_find(f, DOCTOR_WARN, DOCTOR_RESERVE, "runs: reserve is "
		    "0");
		return;
	}
	if (r->free == DOCTOR_UNKNOWN)
		return;
	if (r->free / 2 < r->reserve)
		level = r->free < r->reserve ? DOCTOR_FAIL : DOCTOR_WARN;
	doctor_find(f, level, DOCTOR_RUNS_SPACE, "runs: %" PRId64 " MiB are "
	    "free, %" PRId64 " must be", r->free / MIB, r->reserve / MIB);
}

void
doctor_judge_runs(const struct doctor_runs *r, struct doctor_findings *f)
{
	if (r->there == DOCTOR_NO) {
		doctor_find(f, DOCTOR_NOTE, DOCTOR_RUNS_MISSING, "runs: their "
		    "folder %s is not there", r->path);
		return;
	}
	if (r->error[0] != '\0')
		doctor_find(f, DOCTOR_FAIL, DOCTOR_RUNS, "runs: %s", r->error);
	else
		doctor_find(f, DOCTOR_OK, DOCTOR_RUNS, "runs: their folder is "
		    "%s", r->path);
	judge_runs_place(r, f);
	judge_runs_space(r, f);
	if (r->left != DOCTOR_UNKNOWN)
		doctor_find(f, r->left > 0 ? DOCTOR_NOTE : DOCTOR_OK,
		    DOCTOR_RUNS_LEFT, "runs: %" PRId64 " that nobody holds",
		    r->left);
	if (r->stray != DOCTOR_UNKNOWN)
		doctor_find(f, r->stray > 0 ? DOCTOR_WARN : DOCTOR_OK,
		    DOCTOR_RUNS_STRAY, "runs: %" PRId64 " of a store that is "
		    "not configured", r->stray);
	judge_unknown("runs", r->unknown, " of other stores are noted on this "
	    "host", f);
}

/* --- tokens --------------------------------------------------------------- */

static void
judge_keys(const struct doctor_tokens *t, struct doctor_findings *f)
{
	enum doctor_level level = DOCTOR_OK;

	if (t->mode != DOCTOR_UNKNOWN) {
		if ((t->mode & 0007) != 0 || (t->mode & OTHERS_WRITE) != 0)
			level = DOCTOR_FAIL;
		else if ((t->mode & OTHERS_READ) != 0)
			level = DOCTOR_WARN;
		doctor_find(f, level, DOCTOR_KEYS_MODE, "tokens: %s has mode "
		    "%04" PRIo64, t->file, (uint64_t)t->mode);
	}
	if (t->age_ms != DOCTOR_UNKNOWN && t->keys != DOCTOR_UNKNOWN)
		doctor_find(f, t->age_ms > KEYS_AGE_MS ? DOCTOR_NOTE :
		    DOCTOR_OK, DOCTOR_KEYS_AGE, "tokens: %" PRId64 " keys, "
		    "last changed %" PRId64 " days ago", t->keys,
		    t->age_ms / DAY_MS);
}

void
doctor_judge_tokens(const struct doctor_tokens *t, struct doctor_findings *f)
{
	enum doctor_check check = DOCTOR_LIFE_SHORT;
	enum doctor_level level = DOCTOR_OK;

	if (t->error[0] != '\0')
		doctor_find(f, DOCTOR_FAIL, DOCTOR_KEYS_FILE, "tokens: %s",
		    t->error);
	judge_keys(t, f);
	if (t->life_ms == DOCTOR_UNKNOWN)
		return;
	if (t->life_ms < LIFE_MIN_MS)
		level = DOCTOR_NOTE;
	if (t->life_ms > LIFE_MAX_MS) {
		check = DOCTOR_LIFE_LONG;
		level = DOCTOR_NOTE;
	}
	doctor_find(f, level, check, "tokens: they live %" PRId64 " min",
	    t->life_ms / MINUTE_MS);
}
