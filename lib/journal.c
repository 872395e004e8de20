/* SPDX-License-Identifier: ISC */
#include "journal_private.h"
#include "run_lock.h"

#include <errno.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

void
idem_journal_name(const struct idem_owner *owner, char name[JOURNAL_NAME_SIZE])
{
	idem_hex(owner->at, sizeof owner->at, name);
}

void
idem_journal_unknown_name(const struct idem_owner *owner,
    char name[JOURNAL_UNKNOWN_SIZE])
{
	memcpy(name, JOURNAL_UNKNOWN, sizeof JOURNAL_UNKNOWN);
	idem_hex(owner->at, sizeof owner->at,
	    name + sizeof JOURNAL_UNKNOWN - 1);
}

void
idem_journal_put(uint8_t **at, uint64_t n, int len)
{
	int i;

	for (i = len - 1; i >= 0; i--) {
		(*at)[i] = (uint8_t)n;
		n >>= 8;
	}
	*at += len;
}

bool
idem_journal_read_at(int file, void *to, size_t len, off_t from)
{
	size_t done = 0;
	ssize_t n;

	while (done < len) {
		n = pread(file, (char *)to + done, len - done,
		    from + (off_t)done);
		if (n == 0 || (n == -1 && errno != EINTR))
			return false;
		if (n > 0)
			done += (size_t)n;
	}
	return true;
}

/* --- a run's own file ----------------------------------------------------- */

int
idem_run_file_make(int folder, const struct idem_owner *owner,
    struct idem_run_file *f)
{
	char name[JOURNAL_NAME_SIZE];

	idem_journal_name(owner, name);
	f->lock = -1;
	f->file = idem_run_lock_make_apart(folder, name, &f->lock);
	return f->file >= 0 ? 0 : -1;
}

void
idem_run_file_remove(int folder, const struct idem_owner *owner)
{
	char name[JOURNAL_NAME_SIZE], unknown[JOURNAL_UNKNOWN_SIZE];

	idem_journal_name(owner, name);
	if (unlinkat(folder, name, 0) == 0)
		return;
	idem_journal_unknown_name(owner, unknown);
	unlinkat(folder, unknown, 0);
}

static void
close_one(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void
idem_run_file_close(struct idem_run_file *f)
{
	close_one(&f->file);
	close_one(&f->lock);
}

void
idem_run_file_free(struct idem_run_file *f)
{
	if (f->lock >= 0)
		flock(f->lock, LOCK_UN);
	idem_run_file_close(f);
}
