/* SPDX-License-Identifier: ISC */
#include "run_lock.h"

#include "journal.h"
#include "tap.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LEASE 60000
#define LIMIT 300000
#define GRACE 5000

static const struct idem_boot here = { { 1, 2, 3 } }, before = { { 9 } };
static const struct idem_owner owner = { { 0xab, 0xcd, 0xef } };

/* Renewed at 1000 s: its lease ends at 1060 s, all hope at 1365 s. */
static const struct {
	const char *what;
	int64_t now_ms;
	bool other_boot;
	enum idem_lock_state lock;
	enum idem_proof proof;
} proofs[] = {
	{ "a held lock in its lease proves nothing", 1010000, false,
	  IDEM_LOCK_HELD, IDEM_PROOF_NONE },
	{ "a missing lock in its lease proves nothing", 1010000, false,
	  IDEM_LOCK_MISSING, IDEM_PROOF_NONE },
	{ "a free lock proves death", 1010000, false,
	  IDEM_LOCK_FREE, IDEM_PROOF_DEAD },
	{ "another boot proves death", 1010000, true,
	  IDEM_LOCK_MISSING, IDEM_PROOF_DEAD },
	{ "another boot proves death though a lock of that name is held",
	  1010000, true, IDEM_LOCK_HELD, IDEM_PROOF_DEAD },
	{ "a missing lock has not lapsed within the grace", 1065000, false,
	  IDEM_LOCK_MISSING, IDEM_PROOF_NONE },
	{ "a missing lock lapses after lease and grace", 1065001, false,
	  IDEM_LOCK_MISSING, IDEM_PROOF_LAPSED },
	{ "a held lock does not lapse then", 1065001, false,
	  IDEM_LOCK_HELD, IDEM_PROOF_NONE },
	{ "a missing lock is no death at the last moment", 1365000, false,
	  IDEM_LOCK_MISSING, IDEM_PROOF_LAPSED },
	{ "a missing lock is death past limit, lease and grace", 1365001,
	  false, IDEM_LOCK_MISSING, IDEM_PROOF_DEAD },
	{ "a held lock then has lapsed, as somebody is alive", 1365001, false,
	  IDEM_LOCK_HELD, IDEM_PROOF_LAPSED },
	{ "a held lock is not past it at the last moment", 1365000, false,
	  IDEM_LOCK_HELD, IDEM_PROOF_NONE },
};

/* An owner of a longer lease than ours may start until that ends. */
static void
test_lease_of_others(void)
{
	const struct idem_record record = {
		.state = IDEM_STATE_IN_PROGRESS, .boot = here,
		.renewed_at = 1000000, .lease_end = 1000000 + 100 * LEASE
	};

	is_int(idem_run_proof(&record, 1000000 + 100 * LEASE + GRACE, &here,
	    IDEM_LOCK_MISSING, LEASE, LIMIT, GRACE), IDEM_PROOF_NONE,
	    "a missing lock is no death within the owner's lease and grace");
	is_int(idem_run_proof(&record, 1000000 + 100 * LEASE + GRACE + 1, &here,
	    IDEM_LOCK_MISSING, LEASE, LIMIT, GRACE), IDEM_PROOF_DEAD,
	    "after them it is");
}

/* A store's numbers are a peer's. */
static void
test_times_without_end(void)
{
	const struct idem_record record = {
		.state = IDEM_STATE_IN_PROGRESS, .boot = here,
		.renewed_at = INT64_MAX - 1, .lease_end = INT64_MAX
	};

	is_int(idem_run_proof(&record, INT64_MAX, &here, IDEM_LOCK_MISSING,
	    LEASE, LIMIT, GRACE), IDEM_PROOF_NONE,
	    "a lease that never ends does not end");
	is_int(idem_run_after(INT64_MIN, 5), INT64_MIN + 5,
	    "and one of long ago is later by as much as any");
}

/* The same record in a store that other hosts share. */
static const struct {
	const char *what;
	int64_t now_ms;
	bool other_boot;
	enum idem_lock_state lock;
	enum idem_proof proof;
} shared_proofs[] = {
	{ "shared, of our boot, a free lock proves death", 1010000, false,
	  IDEM_LOCK_FREE, IDEM_PROOF_DEAD },
	{ "shared, of our boot, a missing lock in its lease proves nothing: it "
	  "may be another container's", 1010000, false,
	  IDEM_LOCK_MISSING, IDEM_PROOF_NONE },
	{ "shared, of our boot, a missing lock lapses after lease and grace",
	  1065001, false, IDEM_LOCK_MISSING, IDEM_PROOF_LAPSED },
	{ "shared, of our boot, a held lock does not lapse then", 1065001,
	  false, IDEM_LOCK_HELD, IDEM_PROOF_NONE },
	{ "shared, of our boot, a held lock past all has lapsed", 1365001,
	  false, IDEM_LOCK_HELD, IDEM_PROOF_LAPSED },
	{ "shared, another boot proves nothing: another host is up", 1010000,
	  true, IDEM_LOCK_MISSING, IDEM_PROOF_NONE },
	{ "shared, of another boot, a free lock proves nothing: the machine "
	  "may be a copy", 1010000, true, IDEM_LOCK_FREE, IDEM_PROOF_NONE },
	{ "shared, of another boot, nothing has lapsed within the grace",
	  1065000, true, IDEM_LOCK_MISSING, IDEM_PROOF_NONE },
	{ "shared, of another boot, it has after lease and grace", 1065001,
	  true, IDEM_LOCK_MISSING, IDEM_PROOF_LAPSED },
	{ "shared, of another boot, whatever lock is held here", 1065001,
	  true, IDEM_LOCK_HELD, IDEM_PROOF_LAPSED },
	{ "shared, of another boot, it is no death at the last moment",
	  1365000, true, IDEM_LOCK_FREE, IDEM_PROOF_LAPSED },
	{ "shared, of another boot, it is death past limit, lease and grace",
	  1365001, true, IDEM_LOCK_HELD, IDEM_PROOF_DEAD },
};

static void
test_shared_proofs(void)
{
	struct idem_record record = {
		.state = IDEM_STATE_UNKNOWN,
		.renewed_at = 1000000, .lease_end = 1000000 + LEASE
	};
	size_t i;

	for (i = 0; i < sizeof shared_proofs / sizeof *shared_proofs; i++) {
		record.boot = shared_proofs[i].other_boot ? before : here;
		is_int(idem_run_proof_shared(&record, shared_proofs[i].now_ms,
		    &here, shared_proofs[i].lock, LEASE, LIMIT, GRACE),
		    shared_proofs[i].proof, "%s", shared_proofs[i].what);
	}
	record.boot = before;
	record.lease_end = 1000000 + 100 * LEASE;
	is_int(idem_run_proof_shared(&record, 1000000 + 100 * LEASE + GRACE,
	    &here, IDEM_LOCK_MISSING, LEASE, LIMIT, GRACE), IDEM_PROOF_NONE,
	    "shared, of another boot, the owner's own lease counts");
}

static void
test_proofs(void)
{
	struct idem_record record = {
		.state = IDEM_STATE_IN_PROGRESS,
		.renewed_at = 1000000, .lease_end = 1000000 + LEASE
	};
	size_t i;

	for (i = 0; i < sizeof proofs / sizeof *proofs; i++) {
		record.boot = proofs[i].other_boot ? before : here;
		is_int(idem_run_proof(&record, proofs[i].now_ms, &here,
		    proofs[i].lock, LEASE, LIMIT, GRACE), proofs[i].proof,
		    "%s", proofs[i].what);
	}
}

/* --- the folder ----------------------------------------------------------- */

static int
test_folder(const char *ledger, const char *path)
{
	char error[256] = "", other[80];
	struct stat st;
	int first, fd;
	ino_t ino;

	snprintf(other, sizeof other, "%s-too", ledger);
	first = idem_run_folder(NULL, ledger, true, error, sizeof error);
	ok(first >= 0, "the folder is made");
	ok(fstat(first, &st) == 0 && (st.st_mode & 07777) == 0700,
	    "nobody else may enter it");
	ino = st.st_ino;
	fd = idem_run_folder(NULL, ledger, true, error, sizeof error);
	ok(fd >= 0, "the folder that is there is opened");
	close(fd);
	if (close(open(ledger, O_WRONLY | O_CREAT, 0600)) != 0 ||
	    symlink(ledger, other) != 0)
		bail_out("%s", other);
	fd = idem_run_folder(NULL, other, true, error, sizeof error);
	ok(fstat(fd, &st) == 0 && st.st_ino == ino,
	    "a ledger of two names has one folder");
	close(fd);
	unlink(other);
	unlink(ledger);
	chmod(path, 0770);
	ok(idem_run_folder(NULL, ledger, true, error, sizeof error) == -1 &&
	    strstr(error, path) != NULL,
	    "a folder where others may write is refused by name");
	chmod(path, 0700);
	error[0] = '\0';
	ok(idem_run_folder(NULL, "/nowhere/at/all", true, error,
	    sizeof error) == -1 &&
	    strstr(error, "/nowhere/at/all-run") != NULL,
	    "a folder that cannot be made is named");
	return first;
}

/* One that is named, with a ledger or without one. */
static void
test_named_folder(const char *folder, const char *ledger)
{
	char error[256] = "", path[80];
	int fd;

	snprintf(path, sizeof path, "%s/run", folder);
	ok(idem_run_folder(path, ledger, false, error, sizeof error) == -1 &&
	    strstr(error, path) != NULL,
	    "a folder that is only looked for is not made");
	ok(access(path, F_OK) == -1, "nor the one beside the ledger");
	fd = idem_run_folder(path, ledger, true, error, sizeof error);
	ok(fd >= 0 && access(path, F_OK) == 0,
	    "a folder that is named is made under that name");
	close(fd);
	fd = idem_run_folder(path, NULL, false, error, sizeof error);
	ok(fd >= 0, "and found without a ledger");
	close(fd);
	rmdir(path);
	ok(idem_run_folder(NULL, NULL, true, error, sizeof error) == -1 &&
	    strstr(error, "run = ") != NULL,
	    "without a ledger and a name it says which name to give");
}

/* --- one lock ------------------------------------------------------------- */

static const char *
name_of(const struct idem_owner *of)
{
	static char name[2 * IDEM_OWNER_LEN + 1];

	idem_hex(of->at, sizeof of->at, name);
	return name;
}

static int
make_lock(int folder, const struct idem_owner *of)
{
	return idem_run_lock_make_named(folder, name_of(of));
}

static enum idem_lock_state
state_of(int folder, const struct idem_owner *of)
{
	return idem_run_lock_state_named(folder, name_of(of));
}

static void
remove_lock(int folder, const struct idem_owner *of)
{
	unlinkat(folder, name_of(of), 0);
}

static int
count_files(int folder)
{
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY), n = 0;
	DIR *dir = fdopendir(fd);
	struct dirent *e;

	while (dir != NULL && (e = readdir(dir)) != NULL)
		n += e->d_name[0] != '.';
	closedir(dir);
	return n;
}

static void
test_lock(int folder)
{
	struct stat st;
	int fd;

	is_int(state_of(folder, &owner), IDEM_LOCK_MISSING,
	    "a lock that was never made is missing");
	fd = make_lock(folder, &owner);
	ok(fd >= 0, "a lock is made");
	ok((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0,
	    "no program gets it unasked");
	ok(fstatat(folder, "abcdef00000000000000000000000000", &st, 0) == 0,
	    "it is named after its owner");
	is_int(state_of(folder, &owner), IDEM_LOCK_HELD,
	    "it is held");
	is_int(state_of(folder, &owner), IDEM_LOCK_HELD,
	    "looking does not change it");
	ok(make_lock(folder, &owner) == -1 && errno == EEXIST,
	    "a second one of the name is refused");
	is_int(count_files(folder), 1, "and leaves no file behind");
	flock(fd, LOCK_UN);
	is_int(state_of(folder, &owner), IDEM_LOCK_FREE,
	    "unlocked it is free");
	close(fd);
	is_int(state_of(folder, &owner), IDEM_LOCK_FREE,
	    "the file stays when its keeper has gone");
	fd = openat(folder, "abcdef00000000000000000000000000", O_RDONLY);
	flock(fd, LOCK_SH);
	is_int(state_of(folder, &owner), IDEM_LOCK_FREE,
	    "somebody who looks is not taken for its owner");
	close(fd);
	remove_lock(folder, &owner);
	is_int(state_of(folder, &owner), IDEM_LOCK_MISSING,
	    "removed it is missing");
}

static void
test_unreadable(int folder)
{
	if (symlinkat("/dev/null", folder,
	    "abcdef00000000000000000000000000") != 0)
		bail_out("symlinkat");
	is_int(state_of(folder, &owner), IDEM_LOCK_HELD,
	    "what cannot be looked at proves nothing: it counts as held");
	remove_lock(folder, &owner);
}

static int
make_without_proc(int folder, const char *root)
{
	int fd;

	if (chroot(root) != 0)
		return 2;
	fd = make_lock(folder, &owner);
	if (fd < 0 || state_of(folder, &owner) != IDEM_LOCK_HELD)
		return 1;
	/* Not at the price of a lock that is there. */
	return make_lock(folder, &owner) != -1 || errno != EEXIST;
}

/* Where nameless files cannot get a name, the other way is gone. */
static void
test_without_proc(int folder, const char *root)
{
	int status = -1;
	pid_t pid;

	if (geteuid() != 0) {
		skip("only root may change the root",
		    "a lock is made without /proc");
		return;
	}
	pid = fork();
	if (pid == 0)
		_exit(make_without_proc(folder, root));
	waitpid(pid, &status, 0);
	is_int(status, 0, "a lock is made without /proc");
	is_int(count_files(folder), 1, "and under no other name");
	is_int(state_of(folder, &owner), IDEM_LOCK_FREE,
	    "and ends with its process too");
	remove_lock(folder, &owner);
}

/* A child that took the descriptor along holds it until it dies. */
static void
test_heir(int folder)
{
	int fd = make_lock(folder, &owner), ends[2], status;
	char byte;
	pid_t pid;

	if (pipe(ends) != 0)
		bail_out("pipe");
	pid = fork();
	if (pid == 0) {
		close(ends[1]);
		_exit(read(ends[0], &byte, 1) < 0);
	}
	close(fd);
	is_int(state_of(folder, &owner), IDEM_LOCK_HELD,
	    "a child keeps what its parent closed");
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	is_int(state_of(folder, &owner), IDEM_LOCK_FREE,
	    "and frees it by dying");
	remove_lock(folder, &owner);
	close(ends[0]);
	close(ends[1]);
}

#define LOOKS 100000
#define LOOK_S 60		/* at most, for one that is there */

/* Never seen unlocked: one makes and removes, another looks all the time. */
static void
test_never_free(int folder)
{
	int stop[2], i, fd, status = -1, seen_free = 0, held = 0;
	time_t until = time(NULL) + LOOK_S;
	enum idem_lock_state state;
	char byte;
	pid_t pid;

	if (pipe2(stop, O_NONBLOCK) != 0)
		bail_out("pipe");
	pid = fork();
	if (pid == 0) {
		close(stop[1]);
		while (read(stop[0], &byte, 1) < 0) {
			fd = make_lock(folder, &owner);
			if (fd < 0)
				_exit(1);
			remove_lock(folder, &owner);
			close(fd);
		}
		_exit(0);
	}
	for (i = 0; i < LOOKS || (held < 200 && time(NULL) < until); i++) {
		state = state_of(folder, &owner);
		seen_free += state == IDEM_LOCK_FREE;
		held += state == IDEM_LOCK_HELD;
	}
	close(stop[0]);
	close(stop[1]);
	waitpid(pid, &status, 0);
	is_int(status, 0, "locks are made while somebody looks");
	ok(held > 0, "who finds them held");
	is_int(seen_free, 0, "and never seen free, as if their run were dead");
	note("%d looks of %d found it held", held, i);
}

int
main(void)
{
	char folder[] = "/tmp/t_run_lock.XXXXXX", ledger[64], path[80];
	int fd;

	if (mkdtemp(folder) == NULL)
		bail_out("mkdtemp");
	snprintf(ledger, sizeof ledger, "%s/ledger.db", folder);
	snprintf(path, sizeof path, "%s-run", ledger);
	test_proofs();
	test_shared_proofs();
	test_lease_of_others();
	test_times_without_end();
	test_named_folder(folder, ledger);
	fd = test_folder(ledger, path);
	test_lock(fd);
	test_unreadable(fd);
	test_without_proc(fd, folder);
	test_heir(fd);
	test_never_free(fd);
	close(fd);
	ok(rmdir(path) == 0, "nothing is left in the folder");
	rmdir(folder);
	return done();
}
