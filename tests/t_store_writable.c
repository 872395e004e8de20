/* SPDX-License-Identifier: ISC */
#include "ledger.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Who cannot write a ledger is told so, by name of what and why, before the
 * first key.  Asked in a child that is nobody, since root may write everything.
 */
#define NOBODY 65534

static char folder[] = "/tmp/t_store_writable.XXXXXX";
static char path[100], name[120];

/* What the asker is told; "": it may. */
static const char *
asked(void)
{
	static char told[600];
	int pipes[2], status;
	ssize_t n;
	pid_t pid;

	if (pipe(pipes) != 0)
		bail_out("pipe");
	pid = fork();
	if (pid == -1)
		bail_out("fork");
	if (pid == 0) {
		if (geteuid() == 0 && (setgid(NOBODY) != 0 ||
		    setuid(NOBODY) != 0))
			_exit(1);
		told[0] = '\0';
		status = idem_sqlite_writable(path, told, sizeof told);
		if ((status == 0) != (told[0] == '\0'))
			_exit(1);
		_exit(write(pipes[1], told, strlen(told) + 1) > 0 ? 0 : 1);
	}
	close(pipes[1]);
	n = read(pipes[0], told, sizeof told - 1);
	close(pipes[0]);
	if (waitpid(pid, &status, 0) != pid || status != 0 || n <= 0)
		bail_out("the asker ended with %d", status);
	told[n] = '\0';
	return told;
}

static void
check_refused(const char *what, const char *sentence)
{
	const char *told = asked();

	if (!ok(strstr(told, what) != NULL && strstr(told, "by user ") != NULL
	    && strstr(told, "Permission denied; ") != NULL &&
	    strstr(told, "chown it to the user") != NULL, "%s", sentence))
		note("%s", told);
}

/* Each in its turn may only be read. */
static void
check_each(void)
{
	static const char *const beside[] = { "", "-lock", "-wal", "-shm" };
	FILE *f;
	size_t i;

	for (i = 0; i < sizeof beside / sizeof *beside; i++) {
		snprintf(name, sizeof name, "%s%s", path, beside[i]);
		f = fopen(name, "a");
		if (f == NULL)
			bail_out("%s", name);
		fclose(f);
		chmod(name, 0444);
		check_refused(name, "what may only be read is named");
		chmod(name, 0666);
		is(asked(), "", "and not any more once it may be written");
	}
	chmod(folder, 0555);
	check_refused(folder, "a folder that nothing can be made in, too");
	chmod(folder, 0777);
	is(asked(), "", "then all is well");
}

int
main(void)
{
	if (mkdtemp(folder) == NULL)
		bail_out("%s", folder);
	chmod(folder, 0777);
	snprintf(path, sizeof path, "%s/ledger.db", folder);
	is(asked(), "", "of what is not there nothing is said");
	ledger_make(path);
	chmod(path, 0666);
	check_each();
	ledger_remove(path);
	rmdir(folder);
	return done();
}
