/* SPDX-License-Identifier: ISC */
#include "journal_private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- taking --------------------------------------------------------------- */

static bool
is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Both are of the file that has the name, now. */
static bool
is_named(int folder, const char *name, const struct idem_run_file *f)
{
	struct stat named, file, lock;

	return fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
	    fstat(f->file, &file) == 0 && fstat(f->lock, &lock) == 0 &&
	    is_same(&named, &file) && is_same(&named, &lock);
}

static bool
is_over(const struct idem_evidence *e)
{
	return e->noted && e->note.state == IDEM_NOTE_ORPHAN && e->ended;
}

/* Of those who would settle it, whoever has its lock. */
static bool
be_the_one(int file)
{
	struct flock all = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	return fcntl(file, F_OFD_SETLK, &all) == 0;
}

static bool
take_named(int folder, const char *name, struct idem_run_file *f,
    struct idem_evidence *e)
{
	bool locked;

	f->file = openat(folder, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	f->lock = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (f->file < 0 || f->lock < 0)
		return false;
	locked = flock(f->lock, LOCK_EX | LOCK_NB) == 0;
	/* It may have been settled, and unlocked, since we opened it. */
	if (!is_named(folder, name, f))
		return false;
	idem_evidence_of(f->file, locked ? IDEM_RUN_FREE : IDEM_RUN_HELD, e);
	if (!locked && !is_over(e))
		return false;
	/* Another may have, and may have brought it to its end meanwhile. */
	if (!be_the_one(f->file) || !is_named(folder, name, f))
		return false;
	if (locked)
		return true;
	close(f->lock);
	f->lock = -1;
	return true;
}

bool
idem_journal_take(int folder, const struct idem_owner *owner,
    struct idem_run_file *f, struct idem_evidence *e)
{
	char name[JOURNAL_NAME_SIZE];

	*f = (struct idem_run_file){ -1, -1 };
	*e = (struct idem_evidence){ .lock = IDEM_RUN_HELD };
	idem_journal_name(owner, name);
	if (take_named(folder, name, f, e))
		return true;
	/* Its lock is ours alone: closed, it is free again. */
	idem_run_file_close(f);
	return false;
}

int
idem_journal_keep_unknown(int folder, const struct idem_owner *owner)
{
	char name[JOURNAL_NAME_SIZE], unknown[JOURNAL_UNKNOWN_SIZE];

	idem_journal_name(owner, name);
	idem_journal_unknown_name(owner, unknown);
	return renameat(folder, name, folder, unknown);
}

/* --- walking -------------------------------------------------------------- */

bool
idem_journal_walk(int folder, bool unknown, struct idem_journal_walk *w)
{
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	w->unknown = unknown;
	w->dir = fd >= 0 ? fdopendir(fd) : NULL;
	if (w->dir == NULL && fd >= 0)
		close(fd);
	return w->dir != NULL;
}

/* Only as we write it: another spelling would be another file. */
static bool
is_name_of(const char *name, struct idem_owner *owner)
{
	char again[JOURNAL_NAME_SIZE];

	if (!idem_unhex(name, owner->at, sizeof owner->at))
		return false;
	idem_journal_name(owner, again);
	return strcmp(name, again) == 0;
}

bool
idem_journal_next(struct idem_journal_walk *w, struct idem_owner *owner)
{
	size_t skip = w->unknown ? sizeof JOURNAL_UNKNOWN - 1 : 0;
	const struct dirent *e;

	while (w->dir != NULL && (e = readdir(w->dir)) != NULL)
		if (strncmp(e->d_name, JOURNAL_UNKNOWN, skip) == 0 &&
		    is_name_of(e->d_name + skip, owner))
			return true;
	return false;
}

void
idem_journal_walk_end(struct idem_journal_walk *w)
{
	if (w->dir != NULL)
		closedir(w->dir);
	w->dir = NULL;
}
