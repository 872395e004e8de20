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
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>


static char *no_environment[] = { "PATH=/usr/bin:/bin", NULL };

static int64_t
now_ms(void)
{
	return idem_boot_ms(&idem_clock_real);
}

/* --- a keeper and its runner ---------------------------------------------- */

static void
on_ended(void *arg, uint64_t id, const struct run_end *end,
    struct idem_bytes out)
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
	idem_buf_clear(&g->told);
	idem_buf_append(&g->told, out.at, out.len);
	if (!end->whole)
		return;
	run->out_len = out.len < RIG_OUT_MAX ? out.len : RIG_OUT_MAX - 1;
	memcpy(run->out, out.at, run->out_len);
	run->out[run->out_len] = '\0';
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
be_a_keeper(const struct rig_options *o, int ready)
{
	const struct rlimit few = { o->file_max, o->file_max };
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (null == -1 || dup2(null, STDOUT_FILENO) == -1 ||
	    (o->err != 0 && dup2(o->err, STDERR_FILENO) == -1) ||
	    (o->file_max != 0 && setrlimit(RLIMIT_FSIZE, &few) != 0) ||
	    write(ready, "", 1) != 1)
		_exit(1);
}

void
rig_open(struct rig *g, uint32_t grace_ms)
{
	rig_open_so(g, &(struct rig_options){ .grace_ms = grace_ms });
}

void
rig_open_so(struct rig *g, const struct rig_options *so)
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
			.grace_ms = so->grace_ms
		};

		be_a_keeper(so, ready[1]);
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
	idem_buf_free(&g->told);
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
		.path = "/bin/sh", .limit_ms = RIG_LIMIT_MS,
		.sh = { "sh", "-c", script }
	};
}

struct rig_run
rig_spooled(char *script)
{
	struct rig_run run = rig_sh(script);

	run.keyed = run.spooled = true;
	run.limit_ms = RIG_LIMIT_MS;
	return run;
}

struct rig_run
rig_spooled_until(char *script, int *go_on)
{
	struct rig_run run = rig_spooled(script);
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0)
		bail_out("pipe2");
	run.in = ends[0];
	run.has_in = true;
	*go_on = ends[1];
	return run;
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

/* Won, and to be handed to the keeper. */
static void
make_note(struct rig *g, struct rig_run *run)
{
	struct idem_note note = {
		.state = IDEM_NOTE_HANDED, .owner = run->owner, .attempt = 1,
		.store = "ledger"
	};

	run->note = (struct idem_run_file){ -1, -1 };
	if (!run->keyed)
		return;
	idem_boot_id(&note.boot);
	if (idem_run_file_make(g->locks, &run->owner, &run->note) != 0 ||
	    idem_note_write(run->note.file, &note) != 0)
		bail_out("cannot make a note");
}

static int
open_pipe(int *write_end)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0)
		bail_out("pipe2");
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	*write_end = ends[1];
	return ends[0];
}

/* Spooled, it has no pipe of ours; without one of its own, stderr is in it. */
static void
open_ends(struct rig_run *run, struct run_spec *spec)
{
	spec->in = run->has_in ? run->in : open("/dev/null",
	    O_RDONLY | O_CLOEXEC);
	spec->out = spec->err_read = run->out_fd = run->err_fd = -1;
	if (!run->spooled)
		run->out_fd = open_pipe(&spec->out);
	if (run->own_err)
		spec->err_read = run->err_fd = open_pipe(&spec->err);
	else if (run->spooled)
		spec->err = open("/dev/null", O_WRONLY | O_CLOEXEC);
	else
		spec->err = fcntl(spec->out, F_DUPFD_CLOEXEC, 0);
}

static void
close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

int
rig_try(struct rig *g, struct rig_run *run)
{
	struct run_spec spec = {
		.path = run->path, .folder = run->folder,
		.argv = run->argv != NULL ? run->argv : run->sh,
		.envp = run->envp != NULL ? run->envp : no_environment,
		.spooled = run->spooled, .limit_ms = run->limit_ms,
		.not_after_ms = run->not_after_ms
	};
	int answer;

	if (!run->has_owner)
		rig_owner(g, run);
	spec.owner = run->owner;
	make_note(g, run);
	spec.note = run->note;
	if (run->has_file)
		spec.note.file = run->file;
	run->id = ++g->last_id;
	spec.slot = run->no_slot ? -1 : shm_slot_get(g->shm, g->number);
	if (spec.slot < 0 && !run->no_slot)
		bail_out("no slot");
	open_ends(run, &spec);
	answer = runner_start(g->runner, run->id, &spec);
	if (answer != 0) {
		close_fd(&run->out_fd);
		close_fd(&run->err_fd);
		if (run->keyed)
			idem_run_file_remove(g->locks, &run->owner);
		idem_run_file_free(&run->note);
		shm_slot_put(g->shm, spec.slot, g->number);
	}
	return answer;
}

/* --- its last word -------------------------------------------------------- */

void
rig_settle(struct rig *g, struct rig_run *run)
{
	if (!run->keyed)
		return;
	idem_run_file_remove(g->locks, &run->owner);
	if (g->runner != NULL)
		runner_settled(g->runner, run->id);
	idem_run_file_close(&run->note);
}

void
rig_leave(struct rig *g, struct rig_run *run)
{
	runner_left(g->runner, run->id);
	idem_run_file_close(&run->note);
	close_fd(&run->err_fd);
}

void
rig_drop_lobby(struct rig *g, struct rig_run *one, struct rig_run *two)
{
	struct rig_run *run[] = { one, two };
	int i;

	for (i = 0; i < 2; i++) {
		if (run[i] == NULL)
			continue;
		idem_run_file_close(&run[i]->note);
		close_fd(&run[i]->err_fd);
	}
	runner_free(g->runner);
	g->runner = NULL;
}

/* --- starting and waiting ------------------------------------------------- */

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
	int64_t until = now_ms() + RIG_PATIENCE_MS;

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

	if (run->out_fd < 0)
		return;
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
	int64_t until = now_ms() + RIG_PATIENCE_MS;

	while (!run->done) {
		if (now_ms() > until)
			bail_out("a run does not end");
		loop_turn(g->loop, until);
		read_out(run);
	}
	read_out(run);
	close_fd(&run->out_fd);
	if (!run->end.started)
		rig_settle(g, run);
}

void
rig_run(struct rig *g, struct rig_run *run)
{
	rig_start(g, run);
	rig_wait(g, run);
}

void
rig_run_to_limit(struct rig *g, struct rig_run *run, uint32_t limit_ms)
{
	const struct rig_run fresh = *run;
	unsigned tries;
	int64_t began;

	for (tries = 0; tries < RIG_TRIES; tries++) {
		*run = fresh;
		run->limit_ms = RIG_LIMIT_OF(limit_ms, tries);
		began = now_ms();
		rig_run(g, run);
		run->took_ms = now_ms() - began;
		if (strchr(run->out, '\n') != NULL)
			return;
		rig_settle(g, run);
	}
}

bool
rig_try_line(struct rig *g, struct rig_run *run)
{
	int64_t until = now_ms() + RIG_PATIENCE_MS;

	while (strchr(run->out, '\n') == NULL && !run->done) {
		if (now_ms() > until)
			bail_out("a run does not write");
		rig_pause(g, 1);
		read_out(run);
	}
	return strchr(run->out, '\n') != NULL;
}

void
rig_read_line(struct rig *g, struct rig_run *run)
{
	if (!rig_try_line(g, run))
		bail_out("a run ends and does not write");
}
