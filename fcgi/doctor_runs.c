/* SPDX-License-Identifier: ISC */
#include "doctor_ask.h"

#include "journal.h"
#include "run_lock.h"
#include "store.h"
#include "stores.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

static void
look_at_system(int folder, struct doctor_runs *r)
{
	struct statfs v;
	const char *network;

	if (fstatfs(folder, &v) != 0)
		return;
	doctor_look_system((uint32_t)v.f_type, r->system);
	network = idem_sqlite_network((uint32_t)v.f_type);
	if (network != NULL)
		snprintf(r->network, sizeof r->network, "%s", network);
	r->free = (int64_t)v.f_bavail * (int64_t)v.f_bsize;
}

/* Of the folder itself, which nobody locks: nothing is made for it. */
static void
look_at_locks(int folder, struct doctor_runs *r)
{
	bool work = flock(folder, LOCK_SH | LOCK_NB) == 0 ||
	    errno == EWOULDBLOCK;

	r->locks = work ? DOCTOR_YES : DOCTOR_NO;
	flock(folder, LOCK_UN);
}

/* The ledger's unknown keys are counted in the ledger. */
static void
count_one(const struct conf *c, const struct idem_history *ledger,
    const struct idem_evidence *e, bool unknown, struct doctor_runs *r)
{
	if (!e->noted || (!unknown && e->lock != IDEM_RUN_FREE))
		return;
	if (!stores_mark_is_of(e->note.store, c, ledger))
		r->stray++;
	else if (!unknown)
		r->left++;
	else if (strncmp(e->note.store, "ledger", 6) != 0)
		r->unknown++;
}

static void
count(const struct conf *c, const struct idem_history *ledger, int folder,
    struct doctor_runs *r)
{
	struct idem_journal_walk w;
	struct idem_evidence e;
	struct idem_owner owner;
	int unknown;

	r->left = r->unknown = r->stray = 0;
	for (unknown = 0; unknown < 2; unknown++) {
		if (!idem_journal_walk(folder, unknown != 0, &w)) {
			r->left = r->unknown = r->stray = DOCTOR_UNKNOWN;
			return;
		}
		while (idem_journal_next(&w, &owner)) {
			idem_evidence(folder, &owner, &e, NULL);
			count_one(c, ledger, &e, unknown != 0, r);
		}
		idem_journal_walk_end(&w);
	}
}

bool
doctor_look_runs(const struct conf *c, const struct idem_history *ledger,
    struct doctor_runs *r)
{
	char *path = idem_run_folder_path(c->run, c->ledger);
	int folder;

	if (path == NULL)
		return false;
	*r = (struct doctor_runs){
		.there = access(path, F_OK) == 0 || errno != ENOENT ?
		    DOCTOR_YES : DOCTOR_NO,
		.free = DOCTOR_UNKNOWN,
		.reserve = (int64_t)c->reserve,
		.left = DOCTOR_UNKNOWN,
		.unknown = DOCTOR_UNKNOWN,
		.stray = DOCTOR_UNKNOWN
	};
	snprintf(r->path, sizeof r->path, "%s", path);
	free(path);
	if (r->there == DOCTOR_NO)
		return true;
	folder = idem_run_folder(c->run, c->ledger, false, r->error,
	    sizeof r->error);
	if (folder == -1)
		return true;
	look_at_system(folder, r);
	look_at_locks(folder, r);
	count(c, ledger, folder, r);
	close(folder);
	return true;
}
