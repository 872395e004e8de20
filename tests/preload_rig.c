/* SPDX-License-Identifier: ISC */
#include "preload_rig.h"

#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAIT_MS 60000

/* --- files of the test ---------------------------------------------------- */

static void *
mapped(const struct preload_rig *r, char *path, size_t path_size,
    const char *name, size_t size)
{
	void *at = MAP_FAILED;
	int fd;

	snprintf(path, path_size, "%s/%s", r->folder, name);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd != -1 && ftruncate(fd, (off_t)size) == 0)
		at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		    0);
	if (at == MAP_FAILED)
		bail_out("%s: %s", path, strerror(errno));
	close(fd);
	return at;
}

void
preload_rig_shell(const char *command, const char *a, const char *b)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		/* What it removes is not to be removed from a shadow. */
		preload_rig_unset();
		execl("/bin/sh", "sh", "-c", command, "sh", a, b, (char *)NULL);
		_exit(127);
	}
	if (pid == -1 || waitpid(pid, &status, 0) == -1 || status != 0)
		bail_out("%s failed", command);
}

void
preload_rig_make(struct preload_rig *r)
{
	const char *built = getenv("top_builddir");
	const char *libexec = getenv("IDEMSIM_LIBEXEC");
	char path[PRELOAD_RIG_PATH], real[PATH_MAX];
	FILE *boot;

	snprintf(path, sizeof path, "%s/idemsim-preload.so",
	    libexec != NULL ? libexec : built != NULL ? built : ".");
	/* A program that starts in another folder would go without it. */
	if (realpath(path, real) == NULL || (size_t)snprintf(r->library,
	    sizeof r->library, "%s", real) >= sizeof r->library)
		skip_all("idemsim-preload.so is not built");
	snprintf(r->folder, sizeof r->folder, "/tmp/t_sim_preload.XXXXXX");
	if (mkdtemp(r->folder) == NULL)
		bail_out("%s: %s", r->folder, strerror(errno));
	snprintf(r->disk_folder, sizeof r->disk_folder, "%s/disk",
	    r->folder);
	snprintf(r->shadow, sizeof r->shadow, "%s/shadow", r->folder);
	r->clock = mapped(r, r->clock_file, sizeof r->clock_file, "clock",
	    sizeof *r->clock);
	r->disk = mapped(r, r->disk_file, sizeof r->disk_file, "faults",
	    sizeof *r->disk);
	snprintf(r->boot_file, sizeof r->boot_file, "%s/boot",
	    r->folder);
	boot = fopen(r->boot_file, "we");
	if (boot == NULL || fputs("another boot\n", boot) < 0 ||
	    fclose(boot) != 0)
		bail_out("%s: %s", r->boot_file, strerror(errno));
}

void
preload_rig_fresh_disk(struct preload_rig *r)
{
	preload_rig_shell("rm -rf \"$1\" \"$2\"; mkdir \"$1\" \"$2\"",
	    r->disk_folder, r->shadow);
	memcpy(r->disk->folder, r->disk_folder, sizeof r->disk_folder);
	memcpy(r->disk->shadow, r->shadow, sizeof r->shadow);
	r->disk->fault = PRELOAD_NONE;
	r->disk->struck = 0;
}

void
preload_rig_lose_power(struct preload_rig *r)
{
	preload_rig_shell("rm -rf \"$1\" && cp -a \"$2\" \"$1\" && "
	    "rm -f \"$1/" PRELOAD_PART "\"",
	    r->disk_folder, r->shadow);
}

/* --- a process with the library ------------------------------------------- */

void
preload_rig_set(const struct preload_rig *r, bool clock, bool disk, bool boot)
{
	setenv("LD_PRELOAD", r->library, 1);
	/* It comes before that library, and needs nothing of it. */
	setenv("ASAN_OPTIONS", "verify_asan_link_order=0", 1);
	if (clock)
		setenv(PRELOAD_SHIFT, r->clock_file, 1);
	if (disk)
		setenv(PRELOAD_DISK, r->disk_file, 1);
	if (boot)
		setenv(PRELOAD_BOOT, r->boot_file, 1);
}

void
preload_rig_unset(void)
{
	unsetenv("LD_PRELOAD");
	unsetenv(PRELOAD_SHIFT);
	unsetenv(PRELOAD_DISK);
	unsetenv(PRELOAD_BOOT);
}

struct preload_process
preload_rig_start(const struct preload_rig *r, const char *part,
    const char *word)
{
	struct preload_process p;
	int in[2], out[2];

	if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0)
		bail_out("pipe: %s", strerror(errno));
	fflush(stdout);
	p.pid = fork();
	if (p.pid == 0) {
		dup2(in[0], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		execl("/proc/self/exe", "t_sim_preload", part, word,
		    r->disk_folder, (char *)NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	p.to = fdopen(in[1], "w");
	p.from = fdopen(out[0], "r");
	if (p.pid == -1 || p.to == NULL || p.from == NULL)
		bail_out("%s cannot be started", part);
	/* What is in a buffer cannot be waited for. */
	setvbuf(p.from, NULL, _IONBF, 0);
	return p;
}

const char *
preload_rig_heard(struct preload_process *p, char line[PRELOAD_RIG_PATH])
{
	struct pollfd ready = { .fd = fileno(p->from), .events = POLLIN };

	line[0] = '\0';
	if (poll(&ready, 1, WAIT_MS) == 1 &&
	    fgets(line, PRELOAD_RIG_PATH, p->from) != NULL)
		line[strcspn(line, "\n")] = '\0';
	return line;
}

void
preload_rig_say(struct preload_process *p)
{
	fputs("go\n", p->to);
	fflush(p->to);
}

int
preload_rig_ended(struct preload_process *p)
{
	int status = -1;

	fclose(p->to);
	if (waitpid(p->pid, &status, 0) != p->pid)
		bail_out("waitpid: %s", strerror(errno));
	fclose(p->from);
	return status;
}

const char *
preload_rig_line(const struct preload_rig *r, const char *part,
    const char *word, char line[PRELOAD_RIG_PATH])
{
	struct preload_process p = preload_rig_start(r, part, word);

	preload_rig_heard(&p, line);
	preload_rig_ended(&p);
	return line;
}

int64_t
preload_now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void
preload_rig_end(struct preload_rig *r)
{
	munmap(r->clock, sizeof *r->clock);
	munmap(r->disk, sizeof *r->disk);
	preload_rig_shell("rm -rf \"$1\"", r->folder, "");
}
