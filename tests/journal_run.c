/* SPDX-License-Identifier: ISC */
#include "journal_run.h"

#include "tap.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

const struct idem_boot journal_boot = { { 1, 2, 3 } };
const struct idem_boot journal_other_boot = { { 9 } };
const struct idem_digest journal_key = { { 7, 8 } };
const struct idem_proof_times journal_times = {
	.lease_ms = JOURNAL_LEASE,
	.limit_ms = JOURNAL_LIMIT,
	.grace_ms = JOURNAL_GRACE
};

struct idem_owner
journal_owner(uint8_t number)
{
	return (struct idem_owner){ { 0xab, 0xcd, number } };
}

struct idem_note
journal_note(enum idem_note_state state, uint8_t number)
{
	return (struct idem_note){
		.state = state,
		.any_exit = true,
		.boot = journal_boot,
		.pid = 4711,
		.key = journal_key,
		.owner = journal_owner(number),
		.attempt = state == IDEM_NOTE_CLAIMING ? 0 : 2,
		.store = "ledger:/var/lib/idem/ledger.db",
		.history = { { 1, 2, 3, 4, 5, 6, 7, 8 } },
		.lease_ms = JOURNAL_LEASE,
		.limit_ms = JOURNAL_LIMIT,
		.keep_ms = 86400000,
		.tombstone_ms = 604800000,
		.kept_max = 1048576,
		.released = { [38] = 0x18 },
		.made_ms = 1700000000000,
		.claimed_ms = 123456789,
		.renewed_ms = 123456,
		.route = "/cgi-bin/order.cgi",
		.what = "POST /cgi-bin/order.cgi",
		.why = IDEM_WHY_EXIT,
		.why_code = -5,
		.why_ms = 1700000000999
	};
}

struct idem_record
journal_record(const struct idem_note *n)
{
	return (struct idem_record){
		.state = IDEM_STATE_IN_PROGRESS,
		.attempt = 2,
		.owner = n->owner,
		.boot = n->boot,
		.renewed_at = 1000000,
		.lease_end = 1000000 + JOURNAL_LEASE
	};
}

struct idem_run_file
journal_make(int folder, const struct idem_note *n, struct idem_bytes out,
    bool ended)
{
	struct idem_trailer trailer = { .status = 0 };
	struct idem_run_out o;
	struct idem_run_file f;

	if (idem_run_file_make(folder, &n->owner, &f) != 0 ||
	    idem_note_write(f.file, n) != 0)
		bail_out("a run's file cannot be made");
	idem_run_out_init(&o, &n->owner);
	if (idem_run_out_add(&o, f.file, out) != 0 || (ended &&
	    idem_run_out_end(&o, f.file, (struct idem_bytes){ NULL, 0 },
	    &trailer, 1001000) != 0))
		bail_out("nor written");
	idem_run_out_free(&o);
	return f;
}

enum idem_proof
journal_proves(const struct idem_evidence *e, const struct idem_record *r,
    int64_t now_ms)
{
	return idem_journal_proof(e, r, &journal_key, now_ms, &journal_boot,
	    now_ms, &journal_times);
}

int
journal_folder(char *path)
{
	int fd;

	if (mkdtemp(path) == NULL)
		bail_out("mkdtemp");
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		bail_out("%s", path);
	return fd;
}

int
journal_count(int folder)
{
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fdopendir(fd);
	struct dirent *e;
	int n = 0;

	while (dir != NULL && (e = readdir(dir)) != NULL)
		n += strcmp(e->d_name, ".") != 0 &&
		    strcmp(e->d_name, "..") != 0;
	closedir(dir);
	return n;
}

pid_t
journal_child(void)
{
	pid_t pid = fork();

	if (pid < 0)
		bail_out("fork");
	if (pid == 0)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return pid;
}

int
journal_status(pid_t pid)
{
	int status = -1;

	waitpid(pid, &status, 0);
	return status;
}
