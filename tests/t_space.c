/* SPDX-License-Identifier: ISC */
#include "ask.h"
#include "space.h"
#include "tap.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

/*
 * No room to write down what a run comes to: no key is run, but what is known
 * is answered, and who sends no key is not concerned.
 */
#define MOST (UINT64_C(1) << 40)	/* that may be asked for */

static uint64_t
free_in(const char *folder)
{
	struct statvfs fs;

	if (statvfs(folder, &fs) == -1)
		return 0;
	return (uint64_t)fs.f_bavail * fs.f_frsize;
}

/* --- the measure ---------------------------------------------------------- */

static bool
is_short(const char *ledger, int run, uint64_t reserve)
{
	struct space s;
	bool found;

	space_init(&s, ledger, run, reserve);
	found = space_short(&s, 1);
	space_free(&s);
	return found;
}

static void
test_measure(struct rig *rig)
{
	uint64_t most = free_in(rig->folder) * 2 + (1u << 30);
	int folder = open(rig->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	const char *link = rig_at(rig, "link");
	struct space s;

	rig_file(rig, "file", "");
	ok(!is_short(rig_at(rig, "file"), folder, 1), "a byte is free");
	ok(is_short(rig_at(rig, "file"), -1, most),
	    "twice what is free is not, where the ledger lies");
	ok(is_short(NULL, folder, most), "nor where runs are noted");
	ok(!is_short(rig_at(rig, "file"), folder, 0),
	    "without a reserve nobody looks");
	ok(!is_short(NULL, -1, most), "nor where there is no place");
	ok(!is_short(rig_at(rig, "missing"), -1, most),
	    "a place that is not there is not held against anybody");
	if (symlink(rig_at(rig, "file"), link) == 0)
		ok(is_short(link, -1, most), "a ledger may have another name");

	space_init(&s, NULL, folder, most);
	ok(space_short(&s, 1000), "what was found");
	s.reserve = 1;
	ok(space_short(&s, 1000 + SPACE_MS - 1), "is believed for a second");
	ok(!space_short(&s, 1000 + SPACE_MS), "and then looked at again");
	space_free(&s);
	close(folder);
}

/* --- idemd ---------------------------------------------------------------- */

static const struct rig_request known = {
	.method = "POST", .path = "/o", .key = "known"
};

static const struct rig_request unknown = {
	.method = "POST", .path = "/o", .key = "new"
};

static const struct rig_request keyless = {
	.method = "POST", .path = "/o"
};

static void
start_with(struct rig *rig, const char *reserve)
{
	ask_start(rig, (const char *[]){ "--workers", "1", "--reserve",
	    reserve, "--", rig_at(rig, "p"), NULL });
}

static void
test_short(struct rig *rig)
{
	struct rig_answer answer;

	start_with(rig, "1024GiB");
	rig_request(rig, &unknown, &answer);
	told(&answer, "503 not-started", "a new key is not run");
	ok(strcmp(rig_field(&answer, "Retry-After"), "") != 0,
	    "its client is asked to come again");
	rig_answer_free(&answer);
	ask(rig, &unknown, "503 not-started", "nor for the second time");
	ask(rig, &known, "200 replayed", "a known answer is given");
	ask(rig, &keyless, "200", "who sends no key is not concerned");
	is_int(starts(rig), 2, "so two programs were started in all");
	is_int(ask_logged(rig, "space=short"), 1, "the log says it once");
	is_int(rig_stop(rig, 20000), 0, "idemd ends with status 0");
}

static void
test_idemd(struct rig *rig)
{
	rig_program(rig, "p", COUNT "printf 'Content-Type: text/plain\\n\\n'\n"
	    "echo done\n");
	start_with(rig, "1B");
	ask(rig, &known, "200 stored", "with room a key is run");
	rig_stop(rig, 20000);
	test_short(rig);
	start_with(rig, "0B");
	ask(rig, &unknown, "200 stored", "with room again, so is the new one");
	is_int(starts(rig), 3, "once");
	rig_stop(rig, 20000);
}

static void
remove_folder(const char *path)
{
	DIR *dir = opendir(path);
	const struct dirent *e;

	while (dir != NULL && (e = readdir(dir)) != NULL)
		unlinkat(dirfd(dir), e->d_name, 0);
	if (dir == NULL || closedir(dir) != 0 || rmdir(path) != 0)
		bail_out("cannot remove %s", path);
}

/* No run can be noted, whyever: somebody has removed the folder for it. */
static void
test_no_notes(void)
{
	struct rig rig;

	rig_open(&rig);
	rig_program(&rig, "p", COUNT "printf 'Content-Type: text/plain\n\n'\n");
	start_with(&rig, "0B");
	ask(&rig, &known, "200 stored", "with a run folder a key is run");
	rig_stop(&rig, 20000);
	start_with(&rig, "0B");
	/* It accepts before its worker is up. */
	ask(&rig, &keyless, "200", "another worker has the folder");
	remove_folder(rig_at(&rig, "ledger.db-run"));
	ask(&rig, &known, "200 replayed",
	    "its answer is given though no run can be noted any more");
	ask(&rig, &unknown, "503 not-started", "a new key is not run");
	is_int(starts(&rig), 2, "so two programs were started in all");
	is_int(rig_stop(&rig, 20000), 0, "idemd ends with status 0");
	rig_end(&rig);
}

int
main(void)
{
	struct rig rig;

	rig_open(&rig);
	test_measure(&rig);
	if (free_in(rig.folder) < MOST)
		test_idemd(&rig);
	else
		skip("more is free here than a reserve can be",
		    "with less than its reserve free idemd runs no key");
	rig_end(&rig);
	test_no_notes();
	return done();
}
