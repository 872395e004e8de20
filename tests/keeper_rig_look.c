/* SPDX-License-Identifier: ISC */
#include "keeper_rig.h"

#include "blob.h"
#include "tap.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int64_t
now_ms(void)
{
	return idem_boot_ms(&idem_clock_real);
}

void
rig_pause(struct rig *g, int64_t ms)
{
	int64_t until = now_ms() + ms;

	do {
		loop_turn(g->loop, until);
	} while (now_ms() < until);
}

void
rig_await_lost(struct rig *g)
{
	int64_t until = now_ms() + RIG_PATIENCE_MS;

	while (g->lost == 0 && now_ms() < until)
		loop_turn(g->loop, until);
}

enum idem_run_lock
rig_lock(const struct rig *g, const struct rig_run *run)
{
	struct idem_evidence e;

	idem_evidence(g->locks, &run->owner, &e, NULL);
	return e.lock;
}

enum idem_run_lock
rig_await_lock(struct rig *g, const struct rig_run *run,
    enum idem_run_lock lock)
{
	int64_t until = now_ms() + RIG_PATIENCE_MS;

	while (rig_lock(g, run) != lock && now_ms() < until)
		rig_pause(g, 1);
	return rig_lock(g, run);
}

int
rig_state(const struct rig *g, const struct rig_run *run)
{
	struct idem_evidence e;

	idem_evidence(g->locks, &run->owner, &e, NULL);
	return e.noted ? (int)e.note.state : -1;
}

int
rig_await_state(struct rig *g, const struct rig_run *run,
    enum idem_note_state state)
{
	int64_t until = now_ms() + RIG_PATIENCE_MS;

	while (rig_state(g, run) != (int)state && now_ms() < until)
		rig_pause(g, 1);
	return rig_state(g, run);
}

bool
rig_await_trailer(struct rig *g, const struct rig_run *run,
    struct idem_evidence *e)
{
	int64_t until = now_ms() + RIG_PATIENCE_MS;

	idem_evidence(g->locks, &run->owner, e, NULL);
	while (!e->ended && now_ms() < until) {
		rig_pause(g, 1);
		idem_evidence(g->locks, &run->owner, e, NULL);
	}
	return e->ended;
}

void
rig_name(const struct rig_run *run, char name[48])
{
	idem_hex(run->owner.at, sizeof run->owner.at, name);
}

static int
count_entries(DIR *dir)
{
	struct dirent *e;
	int n = 0;

	while (dir != NULL && (e = readdir(dir)) != NULL)
		n += e->d_name[0] != '.';
	if (dir != NULL)
		closedir(dir);
	return n;
}

int
rig_lock_files(const struct rig *g)
{
	return count_entries(fdopendir(openat(g->locks, ".",
	    O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
}

int
rig_descriptors(pid_t pid)
{
	char path[32];

	snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
	return count_entries(opendir(path));
}

int
rig_await_descriptors(struct rig *g, int want)
{
	int64_t until = now_ms() + RIG_PATIENCE_MS;

	while (rig_descriptors(g->keeper) != want && now_ms() < until)
		rig_pause(g, 1);
	return rig_descriptors(g->keeper);
}

bool
rig_await_no_locks(struct rig *g)
{
	int64_t until = now_ms() + RIG_PATIENCE_MS;

	while (rig_lock_files(g) > 0 && now_ms() < until)
		rig_pause(g, 1);
	return rig_lock_files(g) == 0;
}

int
rig_slots_free(const struct rig *g)
{
	uint32_t i;
	int n = 0;

	for (i = 0; i < g->shm->slots; i++)
		n += atomic_load(&g->shm->slot[i]) == 0;
	return n;
}

bool
rig_is_gone(pid_t pid)
{
	/* Ours by now, if its parent is gone. */
	waitpid(pid, NULL, WNOHANG);
	return kill(pid, 0) != 0;
}

bool
rig_kill_left(const struct rig_run *run)
{
	pid_t pid = atoi(run->out);

	return pid > 1 && kill(pid, SIGKILL) == 0;
}

bool
rig_await_gone(struct rig *g, pid_t pid)
{
	int64_t until = now_ms() + RIG_PATIENCE_MS;
	char path[48], line[256], *state;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	while (!rig_is_gone(pid) && now_ms() < until) {
		/* A zombie whose parent is stopped is gone enough. */
		f = fopen(path, "r");
		line[0] = '\0';
		if (f != NULL) {
			(void)!fgets(line, sizeof line, f);
			fclose(f);
		}
		state = strrchr(line, ')');
		if (state != NULL && state[2] == 'Z')
			return true;
		rig_pause(g, 5);
	}
	return rig_is_gone(pid);
}

int
rig_lines(const char *text)
{
	int n = 0;

	for (; *text != '\0'; text++)
		n += *text == '\n';
	return n;
}

bool
rig_is_in_file(const struct rig *g, const struct rig_run *run,
    const void *want, size_t len)
{
	struct idem_evidence e;
	struct idem_blob *blob;
	bool same;
	int fd;

	idem_evidence(g->locks, &run->owner, &e, &fd);
	blob = e.ended ? idem_evidence_bytes(fd, &e, SIZE_MAX / 2) : NULL;
	same = blob != NULL && e.trailer.len == len && blob->len == len &&
	    memcmp(blob->at, want, len) == 0 &&
	    e.trailer.status == run->end.status && !e.trailer.limit &&
	    !e.trailer.saved;
	idem_blob_drop(blob);
	if (fd >= 0)
		close(fd);
	return same;
}

/* The next number, in decimal digits; its length. */
static size_t
count_up(char digits[24], size_t len)
{
	size_t i = len;

	while (i > 0 && digits[i - 1] == '9')
		digits[--i] = '0';
	if (i > 0) {
		digits[i - 1]++;
		return len;
	}
	memset(digits + 1, '0', len);
	digits[0] = '1';
	return len + 1;
}

uint8_t *
rig_numbers(size_t least)
{
	uint8_t *at = malloc(least + 24);
	size_t n = 0, len = 1;
	char digits[24] = "1";

	if (at == NULL)
		bail_out("no memory");
	while (n < least) {
		memcpy(at + n, digits, len);
		at[n + len] = '\n';
		n += len + 1;
		len = count_up(digits, len);
	}
	return at;
}
