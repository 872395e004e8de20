/* SPDX-License-Identifier: ISC */
#include "child.h"

#include "chance.h"
#include "child_rig.h"
#include "folder.h"
#include "litter.h"
#include "tap.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/*
 * A simulator is killed at some moment, and nothing of it may be left: no
 * process, no socket, no file.  T_SIM_KILLS=100 does it so often.
 */
#define KILLS 30
#define TOGETHER 5
#define RUNNERS 5
#define KILL_WITHIN_US 30000
#define GONE_MS 60000
#define POWERLESS_MS 300000	/* two times 15 s, and 500 looks */
#define WAIT_MS 60000

static char outer[64];		/* the TMPDIR of simulators */

static int64_t
now_ms(void)
{
	return idem_boot_ms(&idem_clock_real);
}

/* Of this process and those that it forks from then on: nobody is killed. */
static bool powerless;

int
kill(pid_t pid, int sig)
{
	return powerless && sig == SIGKILL ? 0 :
	    (int)syscall(SYS_kill, pid, sig);
}

/* --- what a run is made of ------------------------------------------------ */

static const char *role = "litter";	/* of those that are started */

/* Starts one after the other, until it is killed or `n` are there. */
static void
start_litter(int n)
{
	const char *argv[] = { "/proc/self/exe", role, NULL };
	struct child_spec spec = { .name = "g1", .argv = argv, .pass = -1 };
	struct loop *loop = loop_new(&idem_clock_real);
	static struct child children[8];
	int i;

	for (i = 0; i < n; i++) {
		if (child_start(loop, &children[i], &spec) == -1)
			_exit(3);
		loop_turn(loop, now_ms() + 2);
	}
}

static _Noreturn void
rest(void)
{
	for (;;)
		pause();
}

/* --- simulators ----------------------------------------------------------- */

struct simulator {
	pid_t pid;
	int said;		/* "FOLDER" once all is there */
	int told;		/* to be closed for an end in order */
};

/* In order: `told` says how, by a letter. */
static _Noreturn void
simulate(int children, int say, int told, pid_t *group)
{
	const char *folder;
	char word = '\0';

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (group != NULL) {
		/* A shell's background job ignores some of them. */
		signal(SIGINT, SIG_DFL);
		signal(SIGQUIT, SIG_DFL);
		signal(SIGTERM, SIG_DFL);
		signal(SIGHUP, SIG_DFL);
		setpgid(0, 0);
	}
	setenv("TMPDIR", outer, 1);
	folder = child_warden_start();
	if (folder == NULL || child_warden_start() != folder)
		_exit(2);
	start_litter(children);
	(void)!write(say, folder, strlen(folder) + 1);
	while (read(told, &word, 1) == 1 && word == 'm') {
		start_litter(2);	/* more */
		(void)!write(say, folder, strlen(folder) + 1);
	}
	if (word == 'd' || word == 'k') {
		child_warden_end(word == 'k');
		_exit(0);
	}
	rest();
}

static void
start(struct simulator *s, int children, bool group)
{
	int say[2], tell[2];

	if (pipe2(say, O_CLOEXEC) == -1 || pipe2(tell, O_CLOEXEC) == -1)
		bail_out("pipe: %s", strerror(errno));
	fflush(stdout);
	s->pid = fork();
	if (s->pid == 0) {
		close(say[0]);
		close(tell[1]);
		simulate(children, say[1], tell[0], group ? &s->pid : NULL);
	}
	close(say[1]);
	close(tell[0]);
	s->said = say[0];
	s->told = tell[1];
}

static void
await_folder(struct simulator *s, char folder[64])
{
	folder[0] = '\0';
	if (read(s->said, folder, 64) <= 0)
		bail_out("a simulator does not start");
}

static void
over(struct simulator *s)
{
	kill(s->pid, SIGKILL);
	waitpid(s->pid, NULL, 0);
	close(s->said);
	close(s->told);
}

/* --- what is left --------------------------------------------------------- */

static int
processes_of(pid_t simulator)
{
	return litter_signal(simulator, 0);
}

static bool
is_name(pid_t pid)
{
	char path[64], name[32] = "";
	int fd;

	snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return false;
	(void)!read(fd, name, sizeof name - 1);
	close(fd);
	return strcmp(name, "idemsim-warden\n") == 0;
}

static bool
is_alive(pid_t pid)
{
	struct child_stat st;

	return child_stat(pid, &st) && st.state != 'Z';
}

/* It may be let run once more first. */
static void
await_death(pid_t pid)
{
	int64_t from_ms = now_ms();

	while (is_alive(pid) && now_ms() - from_ms < GONE_MS)
		poll(NULL, 0, 1);
}

/* Of a simulator that lives; 0: none. */
static pid_t
warden_of(pid_t simulator)
{
	struct child_stat st;
	struct dirent *entry;
	pid_t found = 0, pid;
	DIR *proc = opendir("/proc");

	while (proc != NULL && (entry = readdir(proc)) != NULL) {
		pid = (pid_t)strtol(entry->d_name, NULL, 10);
		if (pid > 0 && is_name(pid) && child_stat(pid, &st) &&
		    st.parent == simulator)
			found = pid;
	}
	if (proc != NULL)
		closedir(proc);
	return found;
}

/* Only simulators with our TMPDIR have files here. */
static bool
await_nothing(pid_t simulator, int64_t *took_ms)
{
	int64_t from_ms = now_ms();

	*took_ms = 0;
	while (processes_of(simulator) > 0 || litter_files_in(outer) > 0) {
		if (*took_ms > GONE_MS)
			return false;
		poll(NULL, 0, 5);
		*took_ms = now_ms() - from_ms;
	}
	return true;
}

/* --- tests ---------------------------------------------------------------- */

/* Several, so that the wardens' calm is waited for together. */
static int
kill_some(uint32_t *chance, int64_t *slowest_ms)
{
	struct simulator s[TOGETHER];
	struct timespec t = { 0, 0 };
	int64_t took_ms;
	int clean = 0, i;

	for (i = 0; i < TOGETHER; i++) {
		t.tv_nsec = (long)chance_below(chance, KILL_WITHIN_US) * 1000;
		start(&s[i], 8, false);
		nanosleep(&t, NULL);
		over(&s[i]);
	}
	for (i = 0; i < TOGETHER; i++) {
		if (await_nothing(s[i].pid, &took_ms))
			clean++;
		else
			note("%d processes, %d folders",
			    processes_of(s[i].pid), litter_files_in(outer));
		if (took_ms > *slowest_ms)
			*slowest_ms = took_ms;
	}
	return clean;
}

static void
test_killed(void)
{
	const char *more = getenv("T_SIM_KILLS");
	int kills = more != NULL ? (int)strtol(more, NULL, 10) : KILLS;
	uint32_t chance = (uint32_t)now_ms() | 1;
	int64_t slowest_ms = 0;
	int clean = 0, i;

	note("seed %u", chance);
	for (i = 0; i < kills; i += TOGETHER)
		clean += kill_some(&chance, &slowest_ms);
	note("all gone within %lld ms", (long long)slowest_ms);
	is_int(clean, i, "of a simulator that is killed nothing is left");
}

static void
test_in_order(void)
{
	int64_t took_ms, from_ms;
	struct simulator s;
	char folder[64];
	struct stat st;

	start(&s, 3, false);
	await_folder(&s, folder);
	ok(stat(folder, &st) == 0 && S_ISDIR(st.st_mode) &&
	    (st.st_mode & 07777) == 0700 && strlen(folder) < 48,
	    "there is a folder, for the owner alone, with a short name");
	ok(strncmp(folder, outer, strlen(outer)) == 0, "it is below TMPDIR");
	from_ms = now_ms();
	(void)!write(s.told, "d", 1);
	waitpid(s.pid, NULL, 0);
	note("an end in order: %lld ms", (long long)(now_ms() - from_ms));
	ok(processes_of(s.pid) == 0 && litter_files_in(outer) == 0,
	    "after an end in order nothing is left");
	over(&s);

	start(&s, 3, false);
	await_folder(&s, folder);
	from_ms = now_ms();
	while (litter_files_in(folder) == 0 && now_ms() - from_ms < WAIT_MS)
		poll(NULL, 0, 1);
	(void)!write(s.told, "k", 1);
	waitpid(s.pid, NULL, 0);
	ok(processes_of(s.pid) == 0 && litter_files_in(folder) > 0,
	    "the folder alone is left where it is to be kept");
	over(&s);
	ok(folder_remove(folder) == 0 && await_nothing(s.pid, &took_ms),
	    "it can be removed, whatever is in it");
}

static void
test_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct simulator s;
	int64_t took_ms;
	char folder[64];
	size_t i;

	for (i = 0; i < sizeof signals / sizeof *signals; i++) {
		start(&s, 2, true);
		await_folder(&s, folder);
		kill(-s.pid, signals[i]);
		waitpid(s.pid, NULL, 0);
		ok(await_nothing(s.pid, &took_ms),
		    "nothing is left after %s to the whole group",
		    strsignal(signals[i]));
		over(&s);
	}
}

static void
test_itself(void)
{
	char folder[64], path[64], to[64];
	int64_t took_ms;
	struct simulator s;
	bool quiet = true;
	pid_t pid;
	int i;

	start(&s, 1, false);
	await_folder(&s, folder);
	pid = warden_of(s.pid);
	if (!ok(pid > 0, "a process is named idemsim-warden"))
		bail_out("no warden");
	ok(getsid(pid) == pid, "it has a session of its own");
	for (i = 0; i < 3; i++) {
		snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)pid, i);
		to[readlink(path, to, sizeof to - 1) > 0 ? 9 : 0] = '\0';
		quiet = quiet && strcmp(to, "/dev/null") == 0;
	}
	snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
	ok(quiet && litter_files_in(path) == 4,
	    "it holds its socket, and none of our descriptors");
	kill(pid, SIGTERM);
	kill(pid, SIGINT);
	poll(NULL, 0, 10);
	ok(is_alive(pid), "a signal does not end it");
	over(&s);
	ok(await_nothing(s.pid, &took_ms), "it ends with what it watched over");
	await_death(pid);
	ok(!is_alive(pid), "and itself");
}

/* The group whose number is in a file's name there, when its leader has ended;
   0: not in time. */
static pid_t
await_group(const char *path)
{
	int64_t from_ms = now_ms();
	struct dirent *entry;
	pid_t group = 0;
	DIR *folder;

	while ((group == 0 || is_alive(group)) &&
	    now_ms() - from_ms < WAIT_MS) {
		folder = opendir(path);
		while (folder != NULL && (entry = readdir(folder)) != NULL)
			if (strncmp(entry->d_name, "group-", 6) == 0)
				group = (pid_t)strtol(entry->d_name + 6, NULL,
				    10);
		if (folder != NULL)
			closedir(folder);
		poll(NULL, 0, 1);
	}
	return group;
}

static void
test_role(const char *is, const char *what)
{
	struct simulator s;
	int64_t took_ms;
	char folder[64];
	pid_t group;
	int i, clean = 0;

	role = is;
	for (i = 0; i < RUNNERS; i++) {
		start(&s, 1, false);
		await_folder(&s, folder);
		group = await_group(folder);
		over(&s);
		clean += group != 0 && child_rig_none(group, "RSDT") &&
		    await_nothing(s.pid, &took_ms);
	}
	role = "litter";
	is_int(clean, RUNNERS, "%s is ended with a killed simulator", what);
}

/* Whoever is killed first, or once more. */
static void
test_without(void)
{
	struct simulator s;
	int64_t took_ms;
	char folder[64];
	pid_t first;

	start(&s, 3, false);
	await_folder(&s, folder);
	kill(warden_of(s.pid), SIGKILL);
	(void)!write(s.told, "d", 1);
	waitpid(s.pid, NULL, 0);
	ok(processes_of(s.pid) == 0 && litter_files_in(outer) == 0,
	    "without its warden a simulator cleans up itself");
	over(&s);

	start(&s, 3, false);
	await_folder(&s, folder);
	kill(warden_of(s.pid), SIGSTOP);
	(void)!write(s.told, "d", 1);
	waitpid(s.pid, NULL, 0);
	ok(processes_of(s.pid) == 0 && litter_files_in(outer) == 0,
	    "one that was stopped is woken");
	over(&s);

	start(&s, 3, false);
	await_folder(&s, folder);
	first = warden_of(s.pid);
	kill(first, SIGKILL);
	await_death(first);
	(void)!write(s.told, "m", 1);
	folder[0] = '\0';
	await_folder(&s, folder);
	ok(warden_of(s.pid) > 0 && warden_of(s.pid) != first,
	    "one that was killed has a successor");
	over(&s);
	ok(await_nothing(s.pid, &took_ms), "who knows what was there before");
}

static void
test_two(void)
{
	char a_folder[64], b_folder[64];
	struct simulator a, b;
	int64_t took_ms;
	int i;

	start(&a, 2, false);
	start(&b, 2, false);
	await_folder(&a, a_folder);
	await_folder(&b, b_folder);
	for (i = 0; i < GONE_MS && !litter_is_of_two(b_folder); i++)
		poll(NULL, 0, 1);
	over(&a);
	for (i = 0; i < GONE_MS && (processes_of(a.pid) > 0 ||
	    access(a_folder, F_OK) == 0); i++)
		poll(NULL, 0, 1);
	ok(processes_of(a.pid) == 0 && access(a_folder, F_OK) == -1,
	    "one of two simulators is cleaned up after");
	ok(processes_of(b.pid) == 2 * LITTER_PROCESSES &&
	    access(b_folder, F_OK) == 0, "the other one keeps all that it has");
	over(&b);
	ok(await_nothing(b.pid, &took_ms), "until its own end");
}

static void
test_links(void)
{
	char outside[96], file[128], link_to[128];
	struct simulator s;
	char folder[64];
	int i, fd;

	snprintf(outside, sizeof outside, "%s.outside", outer);
	snprintf(file, sizeof file, "%s/kept", outside);
	mkdir(outside, 0700);
	fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	start(&s, 0, false);
	await_folder(&s, folder);
	snprintf(link_to, sizeof link_to, "%s/link", folder);
	if (fd == -1 || symlink(outside, link_to) == -1)
		bail_out("%s: %s", link_to, strerror(errno));
	close(fd);
	over(&s);
	for (i = 0; i < GONE_MS && access(folder, F_OK) == 0; i++)
		poll(NULL, 0, 1);
	ok(access(folder, F_OK) == -1 && access(file, F_OK) == 0,
	    "a link is removed, and what it leads to stays");
	folder_remove(outside);
}

/* While the others are tested, for this takes long. */
static pid_t
start_powerless(struct simulator *s)
{
	char mine[sizeof outer], folder[64];
	pid_t pid;
	int i;

	memcpy(mine, outer, sizeof mine);
	snprintf(outer, sizeof outer, "%.60s.2", mine);
	mkdir(outer, 0700);
	powerless = true;
	start(s, 1, false);
	powerless = false;
	memcpy(outer, mine, sizeof outer);
	await_folder(s, folder);
	for (i = 0; i < WAIT_MS && litter_files_in(folder) == 0; i++)
		poll(NULL, 0, 1);
	pid = warden_of(s->pid);
	over(s);
	return pid;
}

static void
end_powerless(pid_t simulator, pid_t warden)
{
	int64_t until_ms = now_ms() + POWERLESS_MS;
	char folder[80];

	while (is_alive(warden) && now_ms() < until_ms)
		poll(NULL, 0, 5);
	ok(warden > 0 && !is_alive(warden) && processes_of(simulator) == 1,
	    "who cannot be killed is not waited for without end");
	litter_signal(simulator, SIGKILL);
	snprintf(folder, sizeof folder, "%s.2", outer);
	folder_remove(folder);
}

int
main(int argc, char **argv)
{
	struct simulator s;
	pid_t warden;

	child_rig_play(argc, argv, litter_roles, litter_roles_n);
	snprintf(outer, sizeof outer, "/tmp/t_warden-XXXXXX");
	if (mkdtemp(outer) == NULL)
		bail_out("%s: %s", outer, strerror(errno));
	warden = start_powerless(&s);
	test_in_order();
	test_itself();
	test_signals();
	test_role("runner", "who for ever forks and ends");
	test_role("ghost", "a daemon that has left all that was ours");
	test_without();
	test_two();
	test_links();
	test_killed();
	end_powerless(s.pid, warden);
	folder_remove(outer);
	return done();
}
