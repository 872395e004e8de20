/* SPDX-License-Identifier: ISC */
#include "options_line.h"

#include "tap.h"

#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int
options_line_read(struct options *o, struct options_line *line,
    const char *const *args)
{
	int argc = 1;

	*line = (struct options_line){ { "idemd" } };
	while (args[argc - 1] != NULL)
		argc++;
	memcpy(line->argv + 1, args, (size_t)(argc - 1) * sizeof *args);
	optind = 0;	/* from the start, for glibc */
	return options_read(o, argc, line->argv);
}

int
options_line_heard(const char *const *args, int fd, char *said, size_t size)
{
	struct options o;
	struct options_line line;
	int ends[2], status;
	size_t len = 0;
	ssize_t n;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) != 0)
		bail_out("pipe2");
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		dup2(ends[1], fd);
		status = options_line_read(&o, &line, args);
		if (status == 0)
			conf_drop(o.conf);
		fflush(stdout);
		_exit(status == -1 ? 100 : status);
	}
	close(ends[1]);
	while ((n = read(ends[0], said + len, size - 1 - len)) > 0)
		len += (size_t)n;
	said[len] = '\0';
	close(ends[0]);
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
