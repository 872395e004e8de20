/* SPDX-License-Identifier: ISC */
#include "doctor_ask.h"

#include "run_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <libgen.h>
#include <linux/magic.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <unistd.h>

#define MODE_BITS 07777

/* --- the ledger ----------------------------------------------------------- */

/* UNKNOWN for what is not there. */
static void
look_at(const char *path, int64_t *mode, int64_t *owner)
{
	struct stat st;
	bool there = stat(path, &st) == 0;

	if (mode != NULL)
		*mode = there ? (int64_t)(st.st_mode & MODE_BITS) :
		    DOCTOR_UNKNOWN;
	*owner = there ? (int64_t)st.st_uid : DOCTOR_UNKNOWN;
}

void
doctor_look_system(uint32_t magic, char name[DOCTOR_WORD])
{
	static const struct { uint32_t magic; const char *name; } known[] = {
		{ EXT4_SUPER_MAGIC, "ext4" }, { XFS_SUPER_MAGIC, "xfs" },
		{ BTRFS_SUPER_MAGIC, "btrfs" }, { F2FS_SUPER_MAGIC, "f2fs" },
		{ 0x2fc12fc1, "zfs" }, { TMPFS_MAGIC, "tmpfs" },
		{ RAMFS_MAGIC, "ramfs" }, { OVERLAYFS_SUPER_MAGIC, "overlay" }
	};
	size_t i;

	snprintf(name, DOCTOR_WORD, "of kind 0x%x", magic);
	for (i = 0; i < sizeof known / sizeof *known; i++)
		if (known[i].magic == magic)
			snprintf(name, DOCTOR_WORD, "%s", known[i].name);
}

static void
look_at_system(const char *path, struct doctor_ledger *l)
{
	struct statfs v;

	if (statfs(path, &v) != 0)
		return;
	doctor_look_system((uint32_t)v.f_type, l->system);
	l->free = (int64_t)v.f_bavail * (int64_t)v.f_bsize;
}

static void
look_beside(const char *path, const char *run, struct doctor_ledger *l)
{
	char *folder = strdup(path), *lock = NULL;
	char *runs = idem_run_folder_path(run, path);

	if (folder != NULL)
		look_at(dirname(folder), NULL, &l->folder_owner);
	if (asprintf(&lock, "%s-lock", path) < 0)
		lock = NULL;
	if (lock != NULL)
		look_at(lock, NULL, &l->lock_owner);
	if (runs != NULL)
		look_at(runs, &l->run_mode, &l->run_owner);
	free(folder);
	free(lock);
	free(runs);
}

/* With the groups that the system gives that user. */
static bool
become(const struct stat *owner)
{
	const struct passwd *pw = getpwuid(owner->st_uid);
	gid_t group = pw != NULL ? pw->pw_gid : owner->st_gid;

	return (pw != NULL ? initgroups(pw->pw_name, group) :
	    setgroups(0, NULL)) == 0 && setgid(group) == 0 &&
	    setuid(owner->st_uid) == 0;
}

/* Never back: a process of its own. */
static _Noreturn void
tell_as(const struct stat *owner, const char *path, int to)
{
	char error[sizeof ((struct doctor_ledger *)0)->unwritable];

	if (become(owner) && idem_sqlite_writable(path, error,
	    sizeof error) != 0)
		(void)!write(to, error, strlen(error));
	_exit(0);
}

/* As root may write everything, the ledger's owner is asked in its place. */
static void
ask_owner(const struct stat *owner, const char *path, struct doctor_ledger *l)
{
	size_t len = 0;
	ssize_t n;
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) == -1)
		return;
	pid = fork();
	if (pid == 0)
		tell_as(owner, path, ends[1]);
	close(ends[1]);
	while (pid != -1 && len < sizeof l->unwritable - 1 &&
	    ((n = read(ends[0], l->unwritable + len,
	    sizeof l->unwritable - 1 - len)) > 0 ||
	    (n == -1 && errno == EINTR)))
		len += n > 0 ? (size_t)n : 0;
	l->unwritable[len] = '\0';
	close(ends[0]);
	if (pid != -1)
		while (waitpid(pid, NULL, 0) == -1 && errno == EINTR)
			;
}

static void
look_for_owner(const char *path, struct doctor_ledger *l)
{
	struct stat st;

	if (stat(path, &st) != 0)
		return;
	if (geteuid() == 0)
		ask_owner(&st, path, l);
	else if (geteuid() == st.st_uid)
		idem_sqlite_writable(path, l->unwritable,
		    sizeof l->unwritable);
}

void
doctor_look_ledger(const char *path, const char *run, struct doctor_ledger *l)
{
	*l = (struct doctor_ledger){
		.path = path,
		.sqlite = idem_store_sqlite_version(),
		.folder_owner = DOCTOR_UNKNOWN,
		.lock_owner = DOCTOR_UNKNOWN,
		.run_mode = DOCTOR_UNKNOWN,
		.run_owner = DOCTOR_UNKNOWN,
		.us = (int64_t)geteuid(),
		.free = DOCTOR_UNKNOWN,
		.unknown = DOCTOR_UNKNOWN,
	};
	look_at(path, &l->mode, &l->owner);
	look_at_system(path, l);
	look_beside(path, run, l);
	look_for_owner(path, l);
}

/* --- tokens --------------------------------------------------------------- */

void
doctor_look_tokens(const struct conf_tokens *c, struct doctor_tokens *t)
{
	struct stat st;

	*t = (struct doctor_tokens){
		.file = c->keys_file != NULL ? c->keys_file : "",
		.mode = DOCTOR_UNKNOWN,
		.keys = (int64_t)c->keys.len,
		.age_ms = DOCTOR_UNKNOWN,
		.life_ms = c->life_ms,
	};
	if (stat(t->file, &st) != 0) {
		snprintf(t->error, sizeof t->error, "%.150s: %s", t->file,
		    strerror(errno));
		return;
	}
	t->mode = (int64_t)(st.st_mode & MODE_BITS);
	t->age_ms = idem_wall_ms(&idem_clock_real) -
	    (int64_t)st.st_mtim.tv_sec * 1000;
}

/* --- the configuration ---------------------------------------------------- */

static void
look_at_probe(const char *path, struct doctor_route *to)
{
	struct stat st;

	if (path == NULL)
		return;
	if (stat(path, &st) != 0 || access(path, X_OK) != 0)
		snprintf(to->probe_error, sizeof to->probe_error, "%s",
		    strerror(errno));
	else if (!S_ISREG(st.st_mode))
		snprintf(to->probe_error, sizeof to->probe_error,
		    "not a file");
}

static void
look_at_route(const struct conf *c, const struct conf_route *from,
    struct doctor_route *to)
{
	struct conf_promise p;

	conf_promises(c, from, &p);
	*to = (struct doctor_route){
		.text = from->text,
		.arbiter = from->route.policy.arbiter,
		.on_outage = from->route.policy.on_outage,
		.on_unknown = from->route.policy.on_unknown,
		.scheme = from->scheme,
		.all = strcmp(p.once, "yes") == 0 &&
		    strcmp(p.same_answer, "yes") == 0 &&
		    strcmp(p.kept, "yes") == 0,
		.cgi = from->program.kind != PROGRAM_FASTCGI,
		.spool = from->spool,
		.probe = from->probe,
		.lease_auto = from->lease_auto,
		.lease_min_ms = from->lease_min_ms,
		.lease_max_ms = from->lease_max_ms,
	};
	look_at_probe(from->probe, to);
	snprintf(to->promises, sizeof to->promises, "%.*s",
	    (int)sizeof to->promises - 1, p.sentence);
}

struct doctor_route *
doctor_look_routes(const struct conf *c)
{
	struct doctor_route *all = calloc(c->routes_len + 1, sizeof *all);
	size_t i;

	for (i = 0; all != NULL && i < c->routes_len; i++)
		look_at_route(c, &c->routes[i], &all[i]);
	return all;
}

static int64_t
larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

struct doctor_times
doctor_look_times(const struct conf *c)
{
	struct doctor_times t = {
		.run_ms = (int64_t)c->limit_max_ms + c->grace_ms,
		.life_ms = DOCTOR_UNKNOWN,
	};
	const struct conf_route *r;
	size_t i;

	if (c->routes_len == 0)
		t.wait_ms = larger(idem_policy_default.wait_ms,
		    idem_policy_default.queue_ms);
	for (i = 0; i < c->routes_len; i++) {
		r = &c->routes[i];
		if (r->route.policy.in_progress == IDEM_WAITING)
			t.wait_ms = larger(t.wait_ms, r->route.policy.wait_ms);
		t.wait_ms = larger(t.wait_ms, r->route.policy.queue_ms);
		if (r->form_token != NULL && c->tokens != NULL)
			t.life_ms = c->tokens->life_ms;
	}
	return t;
}
