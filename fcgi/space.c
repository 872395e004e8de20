/* SPDX-License-Identifier: ISC */
#include "space.h"

#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { LEDGER, RUN };

/* Where the ledger lies, by whatever name it is called. */
static int
folder_of(const char *ledger)
{
	char *real = realpath(ledger, NULL);
	int fd = -1;

	if (real != NULL)
		fd = open(dirname(real), O_PATH | O_DIRECTORY | O_CLOEXEC);
	free(real);
	return fd;
}

void
space_init(struct space *s, const char *ledger, int run, uint64_t reserve)
{
	*s = (struct space){ .reserve = reserve };
	s->folder[LEDGER] = reserve != 0 && ledger != NULL ?
	    folder_of(ledger) : -1;
	s->folder[RUN] = run;
}

void
space_free(struct space *s)
{
	if (s->folder[LEDGER] != -1)
		close(s->folder[LEDGER]);
	s->folder[LEDGER] = s->folder[RUN] = -1;
}

/* What root has reserved for itself does not count, even if we are root.  A
   place that cannot be looked at is not held against anybody. */
static bool
lacks(int folder, uint64_t reserve)
{
	struct statvfs fs;

	if (folder == -1 || fstatvfs(folder, &fs) == -1 || fs.f_frsize == 0)
		return false;
	return fs.f_bavail < reserve / fs.f_frsize +
	    (reserve % fs.f_frsize != 0);
}

bool
space_short(struct space *s, int64_t now_ms)
{
	size_t i;

	if (s->reserve == 0 || now_ms < s->next_ms)
		return s->is_short;
	s->next_ms = now_ms + SPACE_MS;
	s->is_short = false;
	for (i = 0; i < SPACE_FOLDERS; i++)
		s->is_short |= lacks(s->folder[i], s->reserve);
	return s->is_short;
}
