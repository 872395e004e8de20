/* SPDX-License-Identifier: ISC */
#include "keeper_rig.h"

#include "tap.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_MS 20000	/* then something hangs */

static char *no_environment[] = { "PATH=/usr/bin:/bin", NULL };

static int64_t
now_ms(void)
{
	return idem_boot_ms(&idem_clock_real);
}

/* --- a keeper and its runner ---------------------------------------------- */

static void
on_ended(void *arg, uint64_t id, const struct run_end *end)
{
	struct rig *g = arg;
	struct rig_run **at, *run;

	for (at = &g->runs; *at != NULL && (*at)->id != id; )
		at = &(*at)->next;
	run = *at;
	if (run == NULL && id <= g->ignored_to)
		return;
	if (run == NULL)
		bail_out("run %llu ended twice", (unsigned long long)id);
	*at = run->next;
	run->end = *end;
	run->done = true;
}

static void
on_lost(void *arg)
{
	struct rig *g = arg;

	g->lost++;
}

static const struct runner_user user = { on_ended, on_lost };

/*
 * A test that dies may leave it stopped: it must die with us, and must not hold
 * the output that the harness reads to its end.  Only then may it be stopped.
 */
static void
be_a_keeper(int ready)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (null == -1 || dup2(null, STDOUT_FILENO) == -1 ||
	    write(ready, "", 1) != 1)
		_exit(1);
}

void
rig_open(struct rig *g, uint32_t grace_ms)
{
	char ledger[64], error[256];
	int ends[2], ready[2];

	memset(g, 0, sizeof *g);
	snprintf(g->folder, sizeof g->folder, "/tmp/t_keeper.XXXXXX");
	if (mkdtemp(g->folder) == NULL)
		bail_out("mkdtemp");
	snprintf(ledger, sizeof ledger, "%s/ledger", g->folder);
	g->locks = idem_run_folder(NULL, ledger, true, error, sizeof error);
	g->loop = loop_new(&idem_clock_real);
	g->shm = shm_new(RIG_SLOTS, 1, -1);
	if (g->locks < 0 || g->loop == NULL || g->shm == NULL ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0 ||
	    pipe2(ready, O_CLOEXEC) != 0)
		bail_out("cannot begin");
	g->number = atomic_fetch_add(&g->shm->next_keeper, 1) + 1;
	/* Orphans come to us, so that none stays a zombie unseen. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	g->keeper = fork();
	if (g->keeper == 0) {
		const struct keeper_options o = {
			.socket = ends[1], .shm = g->shm, .number = g->number,
			.lock_folder = g->locks, .grace_ms = grace_ms
		};

		be_a_keeper(ready[1]);
		_exit(keeper_main(&o));
	}
	close(ends[1]);
	close(ready[1]);
	if (read(ready[0], &(char){ 0 }, 1) != 1)
		bail_out("the keeper does not begin");
	close(ready[0]);
	g->runner = runner_new(g->loop, ends[0], g->number, &user, g);
	if (g->keeper < 0 || g->runner == NULL)
		bail_out("cannot begin");
}

static void
clear_folder(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *e;

	while (dir != NULL && (e = readdir(dir)) != NULL)
		if (unlinkat(dirfd(dir), e->d_name, 0) != 0)
			unlinkat(dirfd(dir), e->d_name, AT_REMOVEDIR);
	if (dir != NULL)
		closedir(dir);
	rmdir(path);
}

void
rig_close(struct rig *g)
{
	char path[64];

	runner_free(g->runner);
	if (g->keeper > 0)
		waitpid(g->keeper, NULL, 0);
	loop_free(g->loop);
	shm_free(g->shm);
	close(g->locks);
	snprintf(path, sizeof path, "%s/ledger-run", g->folder);
	clear_folder(path);
	clear_folder(g->folder);
}

/* --- a run ---------------------------------------------------------------- */

struct rig_run
rig_sh(char *script)
{
	return (struct rig_run){
		.path = "/bin/sh", .limit_ms = 10000,
		.sh = { "sh", "-c", script }
	};
}

char *
rig_variable(const char *name, size_t len)
{
	char *at = malloc(len);
	size_t name_len = strlen(name);

	memset(at, 'x', len - 1);
	memcpy(at, name, name_len);
	at[len - 1] = '\0';
	return at;
}

void
rig_owner(struct rig *g, struct rig_run *run)
{
	uint64_t mine = ++g->last_id;

	memset(&run->owner, 0x5a, sizeof run->owner);
	memcpy(run->owner.at, &mine, sizeof mine);
	run->has_owner = true;
}

int
rig_try(struct rig *g, struct rig_run *run)
{
	struct run_spec spec = {
		.path = run->path, .folder = run->folder,
		.argv = run->argv != NULL ? run->argv : run->sh,
		.envp = run->envp != NULL ? run->envp : no_environment,
		.keyed = run->keyed, .limit_ms = run->limit_ms,
		.not_after_ms = run->not_after_ms
	};
	int out[2], answer;

	if (!run->has_owner)
		rig_owner(g, run);
	spec.owner = run->owner;
	run->id = ++g->last_id;
	spec.slot = run->no_slot ? -1 : shm_slot_get(g->shm, g->number);
	if (spec.slot < 0 && !run->no_slot)
		bail_out("no slot");
	spec.in = run->has_in ? run->in : open("/dev/null",
	    O_RDONLY | O_CLOEXEC);
	if (pipe2(out, O_CLOEXEC) != 0)
		bail_out("pipe2");
	run->out_fd = out[0];
	spec.out = out[1];
	spec.err = fcntl(out[1], F_DUPFD_CLOEXEC, 0);
	fcntl(out[0], F_SETFL, O_NONBLOCK);
	answer = runner_start(g->runner, run->id, &spec);
	if (answer != 0) {
		close(out[0]);
		shm_slot_put(g->shm, spec.slot, g->number);
	}
	return answer;
}

void
rig_follow(struct rig *g, struct rig_run *run)
{
	run->next = g->runs;
	g->runs = run;
}

void
rig_ignore(struct rig *g, const struct rig_run *run)
{
	g->ignored_to = run->id;
	close(run->out_fd);
}

bool
rig_await_all(struct rig *g)
{
	int64_t until = now_ms() + PATIENCE_MS;

	while (g->runs != NULL && now_ms() < until)
		loop_turn(g->loop, until);
	return g->runs == NULL;
}

void
rig_start(struct rig *g, struct rig_run *run)
{
	if (rig_try(g, run) != 0)
		bail_out("runner_start");
	rig_follow(g, run);
}

static void
read_out(struct rig_run *run)
{
	ssize_t n;

	do {
		n = read(run->out_fd, run->out + run->out_len,
		    sizeof run->out - run->out_len - 1);
		if (n > 0)
			run->out_len += (size_t)n;
	} while (n > 0);
	run->out[run->out_len] = '\0';
}

void
rig_wait(struct rig *g, struct rig_run *run)
{
	int64_t until = now_ms() + PATIENCE_MS;

	while (!run->done) {
		if (now_ms() > until)
			bail_out("a run does not end");
		loop_turn(g->loop, until);
		read_out(run);
	}
	read_out(run);
	close(run->out_fd);
}

void
rig_run(struct rig *g, struct rig_run *run)
{
	rig_start(g, run);
	rig_wait(g, run);
}

void
rig_read_line(struct rig *g, struct rig_run *run)
{
	int64_t until = now_ms() + PATIENCE_MS;

	while (strchr(run->out, '\n') == NULL) {
		if (now_ms() > until)
			bail_out("a run does not write");
		rig_pause(g, 1);
		read_out(run);
	}
}

/* --- looking -------------------------------------------------------------- */

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
	int64_t until = now_ms() + PATIENCE_MS;

	while (g->lost == 0 && now_ms() < until)
		loop_turn(g->loop, until);
}

enum idem_lock_state
rig_lock(const struct rig *g, const struct rig_run *run)
{
	return idem_run_lock_state(g->locks, &run->owner);
}

enum idem_lock_state
rig_await_lock(struct rig *g, const struct rig_run *run,
    enum idem_lock_state state)
{
	int64_t until = now_ms() + PATIENCE_MS;

	while (rig_lock(g, run) != state && now_ms() < until)
		rig_pause(g, 1);
	return rig_lock(g, run);
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
	int64_t until = now_ms() + PATIENCE_MS;

	while (rig_descriptors(g->keeper) != want && now_ms() < until)
		rig_pause(g, 1);
	return rig_descriptors(g->keeper);
}

bool
rig_await_no_locks(struct rig *g)
{
	int64_t until = now_ms() + PATIENCE_MS;

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
rig_await_gone(struct rig *g, pid_t pid)
{
	int64_t until = now_ms() + PATIENCE_MS;
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
