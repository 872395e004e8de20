/* SPDX-License-Identifier: ISC */
/*
 * idemsim: scenarios of what can go wrong, against real instances of idemd.
 */
#include "idemsim.h"

#include "matrix.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

static enum idemsim_exit (*const commands[IDEMSIM_COMMANDS])(
    const struct idemsim_options *) = {
	[IDEMSIM_RUN] = idemsim_run,
	[IDEMSIM_LIST] = idemsim_list,
	[IDEMSIM_EXPLAIN] = idemsim_explain,
	[IDEMSIM_CHECK] = idemsim_check,
	[IDEMSIM_RENDER] = idemsim_render,
	[IDEMSIM_MATRIX] = matrix_main
};

/*
 * Who was started without a standard output must not write what it says into
 * the next file that it opens.  It is not opened for writing, so that nobody
 * believes that it was written.
 */
static void
open_standard(void)
{
	int fd;

	for (fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) == -1)
			(void)open("/dev/null", O_RDONLY);
}

/* What nobody could read was not said. */
static enum idemsim_exit
end(enum idemsim_exit status)
{
	errno = 0;
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	if (status != IDEMSIM_INTERNAL)
		fprintf(stderr, "idemsim: standard output: %s\n",
		    strerror(errno != 0 ? errno : EIO));
	return status == IDEMSIM_INTERRUPTED ? status : IDEMSIM_INTERNAL;
}

int
main(int argc, char **argv)
{
	struct idemsim_options o;

	open_standard();
	if (!idemsim_options(&o, argc, argv)) {
		fprintf(stderr, "idemsim: see idemsim %s%s--help\n",
		    o.named ? idemsim_command_text(o.command) : "",
		    o.named ? " " : "");
		return IDEMSIM_USAGE;
	}
	if (o.help)
		idemsim_help(&o);
	else if (o.version)
		puts("idemsim " VERSION);
	else
		return (int)end(commands[o.command](&o));
	return (int)end(IDEMSIM_OK);
}
