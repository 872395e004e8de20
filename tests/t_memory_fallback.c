/* SPDX-License-Identifier: ISC */
#include "memory.h"

#include "idem_cgi.h"
#include "store.h"
#include "tap.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#define PREFIX "idem-memory."
#define RACES 100

static char place[64];		/* of this test alone */
static struct log log_of_test = { .who = "t_memory_fallback" };

/* --- places --------------------------------------------------------------- */

static int
count_files(const char *folder)
{
	DIR *dir = opendir(folder);
	const struct dirent *e;
	int n = 0;

	while (dir != NULL && (e = readdir(dir)) != NULL)
		n += e->d_name[0] != '.';
	if (dir != NULL)
		closedir(dir);
	return n;
}

static bool
is_tmpfs(const char *path)
{
	struct statfs fs;

	return statfs(path, &fs) == 0 && (uint32_t)fs.f_type == 0x01021994u;
}

static bool
was_logged(const char *text)
{
	bool found = memmem(log_of_test.at, log_of_test.len, text,
	    strlen(text)) != NULL;

	log_of_test.len = 0;
	return found;
}

static void
make(struct memory *m)
{
	const char *const places[] = { place, NULL };

	log_of_test.len = 0;
	if (memory_make(m, places, &log_of_test) != 0) {
		log_flush(&log_of_test);
		bail_out("no memory in %s", place);
	}
}

static void
tidy(void)
{
	const char *const places[] = { place, NULL };

	memory_tidy(places);
}

static void
test_made(void)
{
	struct memory m;
	struct stat st;

	make(&m);
	ok(stat(m.folder, &st) == 0 && (st.st_mode & 07777) == 0700,
	    "a memory has a folder that nobody else may enter");
	ok(strncmp(m.path, m.folder, strlen(m.folder)) == 0 &&
	    access(m.path, F_OK) == 0, "and a ledger in it");
	ok(was_logged(m.path), "the log says where");
	memory_drop(&m);
	is_int(count_files(place), 0, "dropped, nothing is left of it");
	memory_drop(&m);
	ok(m.path == NULL, "dropped again, nothing happens");
}

static void
test_places(void)
{
	const char *const none[] = { "/nowhere/at/all", "/proc", NULL };
	const char *const second[] = { "/nowhere/at/all", place, NULL };
	const char *const first[] = { MEMORY_PLACE, place, NULL };
	struct memory m;

	log_of_test.len = 0;
	is_int(memory_make(&m, second, &log_of_test), 0,
	    "where the first place will not do the second has it");
	ok(strncmp(m.path, place, strlen(place)) == 0, "it is there: %s",
	    m.path);
	ok(was_logged("/nowhere/at/all error="),
	    "and the log says what is wrong with the first");
	memory_drop(&m);
	is_int(memory_make(&m, none, &log_of_test), -1,
	    "where no place will do there is none");
	ok(m.path == NULL && m.folder == NULL, "nor anything to drop");
	make(&m);
	is_int(was_logged("warning: it is on a disk"), !is_tmpfs(place),
	    "the log warns of a disk, and of nothing else");
	memory_drop(&m);
	if (!is_tmpfs(MEMORY_PLACE)) {
		skip(MEMORY_PLACE " is no memory here",
		    "nothing on a disk is synced for it");
		return;
	}
	is_int(memory_make(&m, first, &log_of_test), 0,
	    "there is room in " MEMORY_PLACE);
	ok(is_tmpfs(m.path), "nothing on a disk is synced for it: it has none");
	memory_drop(&m);
}

/* --- which routes want it ------------------------------------------------- */

static void
test_wanted(void)
{
	struct conf_route routes[3];
	struct conf conf = { .routes = routes, .routes_len = 3 };

	memset(routes, 0, sizeof routes);
	ok(memory_wanted(&conf) == NULL, "by itself no route wants one");
	routes[1].route.policy.on_outage = IDEM_TO_DATABASE;
	ok(memory_wanted(&conf) == NULL, "nor does on_outage = \"database\"");
	routes[2].route.policy.on_outage = IDEM_TO_MEMORY;
	ok(memory_wanted(&conf) == &routes[2],
	    "on_outage = \"memory\" does, and is named");
}

static struct conf *
cgi_conf(const char *file, const char *rest, char *error, size_t error_size)
{
	const struct idem_cgi_call call = { .config = file };
	FILE *f = fopen(file, "w");

	if (f == NULL || fprintf(f, "run = '/run/idem'\n"
	    "shared = redis { url = 'unix:/run/redis.sock' }\n"
	    "route { path = '/x', arbiter = 'redis', %s "
	    "program = cgi { '/bin/true' } }\n", rest) < 0 || fclose(f) != 0)
		bail_out("%s", file);
	return idem_cgi_conf_read(&call, error, error_size);
}

/* Each of its requests has a process, and a memory, of its own. */
static void
test_idem_cgi(void)
{
	char file[96], error[1024] = "";
	struct conf *c;

	snprintf(file, sizeof file, "%s/idem.conf", place);
	c = cgi_conf(file, "on_outage = 'memory',", error, sizeof error);
	ok(c == NULL && strstr(error, "idem.conf:3") != NULL &&
	    strstr(error, "needs idemd") != NULL,
	    "idem-cgi refuses on_outage = \"memory\": %s", error);
	c = cgi_conf(file, "on_outage = 'reject',", error, sizeof error);
	ok(c != NULL && c->ledger == NULL,
	    "and takes the same without, though it names no ledger%s%s",
	    c != NULL ? "" : ": ", c != NULL ? "" : error);
	conf_drop(c);
	unlink(file);
}

/* --- workers -------------------------------------------------------------- */

struct worker {
	pid_t pid;
	int ask, answer;
};

enum { ASK_CLAIM = 'c', ASK_COMPLETE = 'd' };

static struct idem_store_call
call_of(uint8_t me, enum idem_store_op op)
{
	struct idem_store_call call = {
		.op = op,
		.attempt = 1,
		.lease_ms = 60000,
		.keep_ms = 60000,
		.deadline_ms = idem_boot_ms(&idem_clock_real) + 60000
	};

	call.key.at[0] = 7;
	call.owner.at[0] = me;
	return call;
}

/* The class and verdict, in one byte. */
static char
answer_of(struct idem_store *store, uint8_t me, char asked)
{
	struct idem_store_call call = call_of(me, asked == ASK_CLAIM ?
	    IDEM_STORE_CLAIM : IDEM_STORE_COMPLETE);
	struct idem_store_answer answer;
	char byte;

	if (asked == ASK_COMPLETE)
		call.answer = idem_blob_new((struct idem_bytes){ "yes", 3 });
	idem_store_wait(store, &call, &answer);
	if (answer.result.class != IDEM_OK)
		byte = '!';
	else if (asked == ASK_COMPLETE)
		byte = answer.result.write == IDEM_WRITTEN ? 'w' : 'l';
	else if (answer.result.claim == IDEM_CLAIM_COMPLETED)
		byte = answer.result.answer != NULL &&
		    idem_blob_bytes(answer.result.answer).len == 3 ? 'y' : '?';
	else
		byte = answer.result.claim == IDEM_CLAIM_WON ? 'W' :
		    answer.result.claim == IDEM_CLAIM_IN_PROGRESS ? 'p' : '?';
	idem_store_answer_free(&answer);
	idem_blob_drop(call.answer);
	return byte;
}

static _Noreturn void
work(const char *path, uint8_t me, int ask, int answer)
{
	struct idem_sqlite_options options = {
		.path = path, .clock = &idem_clock_real
	};
	struct idem_store *store;
	char error[512], byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!idem_boot_id(&options.boot))
		_exit(1);
	store = idem_store_sqlite(&options, error, sizeof error);
	if (store == NULL)
		_exit(1);
	while (read(ask, &byte, 1) == 1) {
		byte = answer_of(store, me, byte);
		if (write(answer, &byte, 1) != 1)
			break;
	}
	store->ops->close(store);
	_exit(0);
}

static void
start_worker(struct worker *w, const char *path, uint8_t me)
{
	int ask[2], answer[2];

	if (pipe2(ask, O_CLOEXEC) != 0 || pipe2(answer, O_CLOEXEC) != 0)
		bail_out("pipe");
	w->pid = fork();
	if (w->pid == 0) {
		close(ask[1]);
		close(answer[0]);
		work(path, me, ask[0], answer[1]);
	}
	close(ask[0]);
	close(answer[1]);
	w->ask = ask[1];
	w->answer = answer[0];
}

static char
ask(const struct worker *w, char what)
{
	char byte = '0';

	if (write(w->ask, &what, 1) != 1 || read(w->answer, &byte, 1) != 1)
		return '0';
	return byte;
}

static int
stop_worker(struct worker *w)
{
	int status = -1;

	close(w->ask);
	waitpid(w->pid, &status, 0);
	close(w->answer);
	return status;
}

static void
test_shared(void)
{
	struct worker first, second;
	struct memory m;

	make(&m);
	start_worker(&first, m.path, 1);
	start_worker(&second, m.path, 2);
	is_int(ask(&first, ASK_CLAIM), 'W', "a worker claims a key in it");
	is_int(ask(&second, ASK_CLAIM), 'p', "another sees that it has");
	is_int(ask(&first, ASK_COMPLETE), 'w', "the first completes it");
	is_int(ask(&second, ASK_CLAIM), 'y', "the second has the answer");
	kill(first.pid, SIGKILL);
	stop_worker(&first);
	start_worker(&first, m.path, 3);
	is_int(ask(&first, ASK_CLAIM), 'y',
	    "and so has one that is started in the place of a dead one");
	is_int(stop_worker(&first), 0, "a worker ends");
	is_int(stop_worker(&second), 0, "so does the other");
	memory_drop(&m);
	is_int(count_files(place), 0, "and the memory with the master");
}

/* --- what the dead leave -------------------------------------------------- */

/* A master that has made one, and a worker of its own that outlives it. */
static void
be_master(int ready, int worker_ready)
{
	const char *const places[] = { place, NULL };
	struct memory m;
	pid_t worker;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (memory_make(&m, places, &log_of_test) != 0)
		_exit(1);
	worker = fork();
	if (worker == 0) {
		close(ready);
		for (;;)
			pause();
	}
	if (write(worker_ready, &worker, sizeof worker) != sizeof worker ||
	    write(ready, "", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

static void
test_death(void)
{
	int ready[2], workers[2], status;
	pid_t master, worker = -1;
	char byte;

	if (pipe2(ready, O_CLOEXEC) != 0 || pipe2(workers, O_CLOEXEC) != 0)
		bail_out("pipe");
	prctl(PR_SET_CHILD_SUBREAPER, 1);	/* the orphan is ours to reap */
	master = fork();
	if (master == 0)
		be_master(ready[1], workers[1]);
	close(ready[1]);
	close(workers[1]);
	if (read(workers[0], &worker, sizeof worker) != sizeof worker ||
	    read(ready[0], &byte, 1) != 1)
		bail_out("the master does not begin");
	tidy();
	is_int(count_files(place), 1, "a memory is not taken from a master");
	kill(master, SIGKILL);
	waitpid(master, &status, 0);
	is_int(count_files(place), 1, "one that is killed leaves it behind");
	tidy();
	is_int(count_files(place), 1,
	    "it is not taken from the worker that is finishing");
	kill(worker, SIGKILL);
	waitpid(worker, &status, 0);
	tidy();
	is_int(count_files(place), 0,
	    "the next start takes it away when all are dead");
	close(ready[0]);
	close(workers[0]);
}

static void
test_others(void)
{
	char path[128], kept[128];
	int expected = 3;

	snprintf(path, sizeof path, "%s/other", place);
	mkdir(path, 0700);
	snprintf(kept, sizeof kept, "%s/other/file", place);
	close(open(kept, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	snprintf(path, sizeof path, "%s/" PREFIX "link", place);
	if (symlink("other", path) != 0)
		bail_out("symlink");
	snprintf(path, sizeof path, "%s/" PREFIX "file", place);
	close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	if (geteuid() == 0) {
		snprintf(path, sizeof path, "%s/" PREFIX "theirs", place);
		if (mkdir(path, 0700) != 0 || chown(path, 65534, 65534) != 0)
			bail_out("chown");
		expected++;
	}
	snprintf(path, sizeof path, "%s/" PREFIX "dead", place);
	mkdir(path, 0700);
	tidy();
	is_int(count_files(place), expected, "only folders of the name%s are "
	    "taken away, and no links", geteuid() == 0 ? " and our own" : "");
	ok(access(kept, F_OK) == 0, "nothing behind a link is touched");
	unlink(kept);
	snprintf(path, sizeof path, "%s/other", place);
	rmdir(path);
	snprintf(path, sizeof path, "%s/" PREFIX "link", place);
	unlink(path);
	snprintf(path, sizeof path, "%s/" PREFIX "file", place);
	unlink(path);
	snprintf(path, sizeof path, "%s/" PREFIX "theirs", place);
	rmdir(path);
}

/* One tidies all the time while others make theirs. */
static void
test_races(void)
{
	int ready[2], i, gone = 0, status;
	struct memory m;
	char byte;
	pid_t pid;

	if (pipe2(ready, O_CLOEXEC) != 0)
		bail_out("pipe");
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		tidy();
		if (write(ready[1], "", 1) == 1)
			for (;;)
				tidy();
		_exit(1);
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		bail_out("nobody tidies");
	close(ready[0]);
	for (i = 0; i < RACES; i++) {
		make(&m);
		gone += access(m.path, F_OK) != 0;
		memory_drop(&m);
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	is_int(gone, 0, "a new memory is never taken for that of a dead one");
	is_int(count_files(place), 0, "and none is left over");
}

int
main(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	snprintf(place, sizeof place, "/tmp/t_memory.XXXXXX");
	if (mkdtemp(place) == NULL)
		bail_out("mkdtemp");
	test_wanted();
	test_idem_cgi();
	test_made();
	test_places();
	test_shared();
	test_death();
	test_others();
	test_races();
	ok(rmdir(place) == 0, "nothing is left");
	return done();
}
