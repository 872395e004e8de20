/* SPDX-License-Identifier: ISC */
#include "child_private.h"

#include "now.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define ENVIRON_MAX (256u * 1024)
#define NAP_NS 300000
#define UNCLEAR_TRIES 20	/* an execve takes some 0.3 ms */
#define STATE_MS 10000		/* it may be in the kernel, or not let run */

void
child_nap(void)
{
	const struct timespec t = { 0, NAP_NS };

	nanosleep(&t, NULL);
}

/* --- what proc(5) says of one --------------------------------------------- */

/* Its length; -1: it cannot be opened. */
static ssize_t
slurp(const char *path, char *out, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t n;

	if (fd == -1)
		return -1;
	while (len < size && (n = read(fd, out + len, size - len)) > 0)
		len += (size_t)n;
	close(fd);
	return (ssize_t)len;
}

/* The same as a text. */
static void
slurp_text(const char *path, char *out, size_t size)
{
	ssize_t len = slurp(path, out, size - 1);

	out[len > 0 ? len : 0] = '\0';
}

bool
child_stat(pid_t pid, struct child_stat *st)
{
	char path[40], text[1024], *name, *end;
	int parent, group;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	slurp_text(path, text, sizeof text);
	name = strchr(text, '(');
	end = strrchr(text, ')');	/* its name may hold anything */
	if (name == NULL || end == NULL ||
	    sscanf(end, ") %c %d %d %*d %*d %*d %*u %*u %*u %*u "
	    "%*u %*u %*u %*d %*d %*d %*d %*d %*d %llu", &st->state, &parent,
	    &group, &st->started) != 4)
		return false;
	*end = '\0';
	snprintf(st->name, sizeof st->name, "%s", name + 1);
	st->pid = pid;
	st->parent = parent;
	st->group = group;
	return true;
}

bool
child_await_state(pid_t pid, const char *states)
{
	int64_t until_ms = now_ms() + STATE_MS;
	struct child_stat st;

	while (child_stat(pid, &st)) {
		if (strchr(states, st.state) != NULL)
			return true;
		if (strchr("ZX", st.state) != NULL || now_ms() > until_ms)
			return false;
		child_nap();
	}
	return false;
}

/* Not a random number alone, so that a person can say whose it is. */
const char *
child_mark(void)
{
	/* One for the life of the process; its warden has it too. */
	static char mark[64];
	struct child_stat st = { 0 };
	uint64_t chance = 0;

	if (mark[0] != '\0')
		return mark;
	if (getrandom(&chance, sizeof chance, 0) != (ssize_t)sizeof chance)
		chance = (uint64_t)now_ms();
	child_stat(getpid(), &st);
	child_limit_begin();
	snprintf(mark, sizeof mark, "%d-%llu-%016" PRIx64, (int)getpid(),
	    st.started, chance);
	return mark;
}

/* --- a look at all of them ------------------------------------------------ */

struct look {
	const char *lane;	/* NULL: any */
	unsigned long long since;	/* when the simulator was started */
	pid_t pids[CHILD_PIDS];
	size_t n;
	struct child_stat unclear[CHILD_PIDS];	/* no environment is seen */
	size_t unclear_n;
	char vars[ENVIRON_MAX];
};

static bool
has(const char *vars, size_t len, const char *name, const char *value)
{
	size_t name_len = strlen(name), value_len = strlen(value), n;
	const char *at = vars, *end = vars + len;

	for (; at < end; at += n + 1) {
		n = strnlen(at, (size_t)(end - at));
		if (n == name_len + 1 + value_len && at[name_len] == '=' &&
		    memcmp(at, name, name_len) == 0 &&
		    memcmp(at + name_len + 1, value, value_len) == 0)
			return true;
	}
	return false;
}

static bool
is_known(const struct look *k, pid_t pid)
{
	size_t i;

	for (i = 0; i < k->n; i++)
		if (k->pids[i] == pid)
			return true;
	return false;
}

static void
add(struct look *k, pid_t pid)
{
	if (k->n < CHILD_PIDS)
		k->pids[k->n++] = pid;
}

/*
 * In the middle of its execve a process has no environment yet, just as one
 * that was started with none; a zombie, and a thread of the kernel, has no
 * memory that it could be in.
 */
static void
is_it_unclear(struct look *k, pid_t pid)
{
	struct child_stat st;

	if (k->unclear_n < CHILD_PIDS &&
	    child_stat(pid, &st) && st.state != 'Z' && st.state != 'X' &&
	    st.started >= k->since)
		k->unclear[k->unclear_n++] = st;
}

static void
look_at(struct look *k, pid_t pid)
{
	struct child_stat st;
	char path[40];
	ssize_t len;

	switch (child_limit_look(pid, k->lane)) {
	case CHILD_LIMIT_OURS:
		if (child_stat(pid, &st) && st.state != 'Z' && st.state != 'X')
			add(k, pid);
		return;
	case CHILD_LIMIT_OTHER:
		return;
	case CHILD_LIMIT_UNKNOWN:
		break;
	}
	snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
	len = slurp(path, k->vars, sizeof k->vars);
	if (len == 0)
		is_it_unclear(k, pid);
	else if (len > 0 && has(k->vars, (size_t)len, "IDEMSIM_RUN",
	    child_mark()) && (k->lane == NULL ||
	    has(k->vars, (size_t)len, "IDEMSIM_LANE", k->lane)))
		add(k, pid);
}

static void
look_around(struct look *k)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	pid_t pid, self = getpid();

	k->n = 0;
	k->unclear_n = 0;
	if (proc == NULL)
		return;
	while ((entry = readdir(proc)) != NULL) {
		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		pid = (pid_t)strtol(entry->d_name, NULL, 10);
		if (pid != self)
			look_at(k, pid);
	}
	closedir(proc);
}

/* At those that were unclear. */
static void
look_again(struct look *k)
{
	pid_t pids[CHILD_PIDS];
	size_t n = k->unclear_n, i;

	for (i = 0; i < n; i++)
		pids[i] = k->unclear[i].pid;
	k->unclear_n = 0;
	for (i = 0; i < n; i++)
		look_at(k, pids[i]);
}

static bool
is_kin(const struct look *k, const struct child_stat *st)
{
	return is_known(k, st->parent) || is_known(k, st->group) ||
	    child_group_has(st->group, k->lane);
}

/* One that has wiped its environment belongs to those that it is among. */
static void
add_kin(struct look *k)
{
	size_t i, before;

	do {
		before = k->n;
		for (i = 0; i < k->unclear_n; i++)
			if (!is_known(k, k->unclear[i].pid) &&
			    is_kin(k, &k->unclear[i]))
				add(k, k->unclear[i].pid);
	} while (k->n > before);
}

size_t
child_find(const char *lane, pid_t *pids, size_t max)
{
	struct look *k = malloc(sizeof *k);
	unsigned tries = 0;
	size_t n;

	if (k == NULL)
		return 0;
	k->lane = lane;
	/* It is in the mark: we may be its warden. */
	if (sscanf(child_mark(), "%*d-%llu", &k->since) != 1)
		k->since = 0;
	look_around(k);
	while (k->unclear_n > 0 && tries++ < UNCLEAR_TRIES) {
		child_nap();
		look_again(k);
	}
	add_kin(k);
	n = k->n;
	memcpy(pids, k->pids, (n < max ? n : max) * sizeof *pids);
	free(k);
	return n;
}

/* --- who else kills ------------------------------------------------------- */

static long
count_in(const char *path)
{
	char text[16384], *at;

	slurp_text(path, text, sizeof text);
	at = strstr(text, "oom_kill ");
	return at != NULL ? strtol(at + strlen("oom_kill "), NULL, 10) : -1;
}

/* Of our own control group, if there is one; else of the whole machine. */
long
child_oom_kills(void)
{
	char text[4096], path[4200], *at;
	long n = -1;

	slurp_text("/proc/self/cgroup", text, sizeof text);
	at = strstr(text, "0::/");
	if (at != NULL) {
		snprintf(path, sizeof path, "/sys/fs/cgroup/%.*s/memory.events",
		    (int)strcspn(at + 4, "\n"), at + 4);
		n = count_in(path);
	}
	return n != -1 ? n : count_in("/proc/vmstat");
}
