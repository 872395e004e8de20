/* SPDX-License-Identifier: ISC */
#include "backend.h"

#include "backend_rig.h"
#include "fcgi_rec.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The real php-fpm, with a configuration of its own, in a folder of its own. */

#define TRIES 6000		/* 20 ms apart */
#define MEGABYTE (1024u * 1024u)

struct php {
	char folder[32], address[64];
	pid_t pid;
	struct back back;
};

static const struct {
	const char *name, *text;
} scripts[] = {
	{ "echo.php", "<?php echo file_get_contents('php://input');" },
	{ "exit.php", "<?php http_response_code(201); echo 'x'; exit(3);" },
	{ "slow.php", "<?php for ($i = 0; $i < 5; $i++) {"
	  " echo $i; flush(); usleep(20000); }" },
	{ "early.php", "<?php ignore_user_abort(true); echo 'done';"
	  " fastcgi_finish_request();"
	  " for ($i = 0; $i < 6000 && !file_exists(__DIR__ . '/go'); $i++) {"
	  " usleep(20000); clearstatcache(); }"
	  " touch(__DIR__ . '/after');" },
	{ "pid.php", "<?php echo 'pid=', getmypid();" },
	{ "log.php", "<?php error_log('a word for the log'); echo 'x';" },
	{ "sleep.php", "<?php sleep(5);" },
	{ "endless.php", "<?php register_shutdown_function(function () {"
	  " touch(__DIR__ . '/stopped'); });"
	  " for ($i = 0; $i < 1000; $i++) {"
	  " echo str_repeat('x', 10000); flush(); usleep(10000); }" },
};

/* --- php-fpm -------------------------------------------------------------- */

static void
pause_20_ms(void)
{
	const struct timespec t = { 0, 20 * 1000 * 1000 };

	nanosleep(&t, NULL);
}

static void
in_folder(const struct php *p, const char *name, char path[96])
{
	snprintf(path, 96, "%s/%s", p->folder, name);
}

static void
write_file(const struct php *p, const char *name, const char *text)
{
	char path[96];
	FILE *file;

	in_folder(p, name, path);
	file = fopen(path, "w");
	if (file == NULL || fputs(text, file) == EOF || fclose(file) == EOF)
		bail_out("%s: %s", path, strerror(errno));
}

/* Until it is there: two minutes at most. */
static bool
await_file(const struct php *p, const char *name)
{
	char path[96];
	int tries;

	in_folder(p, name, path);
	for (tries = 0; tries < TRIES; tries++) {
		if (access(path, F_OK) == 0)
			return true;
		pause_20_ms();
	}
	return false;
}

static void
write_all_files(const struct php *p)
{
	char conf[512];
	size_t i;

	for (i = 0; i < sizeof scripts / sizeof *scripts; i++)
		write_file(p, scripts[i].name, scripts[i].text);
	snprintf(conf, sizeof conf,
	    "[global]\nerror_log = %s/log\ndaemonize = no\n"
	    "[www]\nlisten = %s/s\npm = static\npm.max_children = 4\n%s",
	    p->folder, p->folder,
	    geteuid() == 0 ? "user = root\ngroup = root\n" : "");
	write_file(p, "conf", conf);
}

static void
be_php(const struct php *p, const char *program)
{
	char conf[96];
	int nothing = open("/dev/null", O_RDWR);

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	dup2(nothing, STDOUT_FILENO);
	dup2(nothing, STDERR_FILENO);
	in_folder(p, "conf", conf);
	execl(program, program, "-n", "-F", "-y", conf,
	    geteuid() == 0 ? "-R" : (char *)NULL, (char *)NULL);
	_exit(127);
}

static void
php_start(struct php *p)
{
	glob_t found;

	if (glob("/usr/sbin/php-fpm*", 0, NULL, &found) != 0)
		skip_all("php-fpm is not installed");
	snprintf(p->folder, sizeof p->folder, "/tmp/idem-php-XXXXXX");
	if (mkdtemp(p->folder) == NULL)
		bail_out("%s: %s", p->folder, strerror(errno));
	snprintf(p->address, sizeof p->address, "unix:%s/s", p->folder);
	write_all_files(p);
	p->pid = fork();
	if (p->pid == -1)
		bail_out("fork: %s", strerror(errno));
	if (p->pid == 0)
		be_php(p, found.gl_pathv[found.gl_pathc - 1]);
	globfree(&found);
	back_open(&p->back);
}

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *walk)
{
	(void)st;
	(void)type;
	(void)walk;
	return remove(path);
}

static void
php_stop(struct php *p)
{
	back_close(&p->back);
	kill(p->pid, SIGTERM);
	waitpid(p->pid, NULL, 0);
	nftw(p->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* --- a request ------------------------------------------------------------ */

static void
pair(struct idem_buf *to, const char *name, const char *value)
{
	idem_fcgi_pair_write(to, idem_bytes_text(name), idem_bytes_text(value));
}

static bool
start(struct php *p, struct got *g, const char *script, uint64_t body_len,
    struct backend_request r)
{
	struct idem_buf params = { 0 };
	char text[96];
	bool started;

	in_folder(p, script, text);
	pair(&params, "SCRIPT_FILENAME", text);
	pair(&params, "SCRIPT_NAME", "/x.php");
	pair(&params, "REQUEST_METHOD", body_len > 0 ? "POST" : "GET");
	pair(&params, "CONTENT_TYPE", "application/octet-stream");
	snprintf(text, sizeof text, "%llu", (unsigned long long)body_len);
	pair(&params, "CONTENT_LENGTH", body_len > 0 ? text : "");
	r.addresses = (char *[]){ p->address, NULL };
	r.params = idem_buf_bytes(&params);
	r.body = back_body(body_len);
	r.body_len = body_len;
	started = back_start(&p->back, g, &r);
	idem_buf_free(&params);
	return started;
}

static const struct backend_request plain = {
	.fresh = true, .connect_ms = 50000, .first_ms = 100000,
	.limit_ms = 110000
};

static void
run(struct php *p, struct got *g, const char *script, uint64_t body_len)
{
	if (!start(p, g, script, body_len, plain))
		bail_out("no call");
	back_await(g);
}

/* What stands after the head. */
static const char *
body_of(struct got *g)
{
	const char *at;

	idem_buf_u8(&g->out, 0);
	at = strstr((const char *)g->out.at, "\r\n\r\n");
	return at != NULL ? at + 4 : "no head";
}

static bool
await_start(struct php *p)
{
	struct got g = { 0 };
	int tries;

	for (tries = 0; tries < TRIES; tries++) {
		run(p, &g, "pid.php", 0);
		if (g.end.how == BACKEND_ENDED)
			break;
		got_free(&g);
		pause_20_ms();
		if (waitpid(p->pid, NULL, WNOHANG) == p->pid)
			return false;
	}
	got_free(&g);
	return tries < TRIES;
}

/* --- tests ---------------------------------------------------------------- */

static void
test_echo(struct php *p)
{
	struct got g = { 0 };
	uint64_t head_len;

	run(p, &g, "echo.php", 1);
	got_is(&g, "ended 0", "php-fpm answers");
	head_len = g.out_len - 1;
	got_free(&g);
	g.pattern_from = head_len;
	run(p, &g, "echo.php", MEGABYTE);
	got_is(&g, "ended 0", "it echoes 1 MiB");
	ok(g.out_len == head_len + MEGABYTE && !g.out_wrong,
	    "... byte for byte");
	got_free(&g);
}

static void
test_ends(struct php *p)
{
	struct backend_request r = plain;
	struct got g = { 0 };

	run(p, &g, "exit.php", 0);
	got_is(&g, "ended 0", "its exit status is 0, also after exit(3)");
	is(body_of(&g), "x", "... with the whole answer");
	got_free(&g);
	run(p, &g, "slow.php", 0);
	got_is(&g, "ended 0", "a script that flushes ends");
	ok(g.outs >= 5, "... and is told as it comes");
	is(body_of(&g), "01234", "... whole");
	got_free(&g);
	run(p, &g, "log.php", 0);
	got_is(&g, "ended 0", "a script that logs ends");
	idem_buf_u8(&g.err, 0);
	ok(strstr((const char *)g.err.at, "a word for the log") != NULL,
	    "... and its words are STDERR [F14]");
	got_free(&g);
	r.limit_ms = 100;
	if (!start(p, &g, "sleep.php", 0, r))
		bail_out("no call");
	back_await(&g);
	got_is(&g, "cut", "a script that sleeps is cut at limit_ms");
	got_free(&g);
}

static void
test_early_end(struct php *p)
{
	struct got g = { 0 };
	char path[96];

	run(p, &g, "early.php", 0);
	got_is(&g, "ended 0",
	    "fastcgi_finish_request() ends the call");
	is(body_of(&g), "done", "... with the whole answer");
	in_folder(p, "after", path);
	ok(access(path, F_OK) == -1, "... while the script runs on");
	write_file(p, "go", "");
	ok(await_file(p, "after"), "... and comes to its end");
	got_free(&g);
}

static void
test_kept(struct php *p)
{
	struct backend_request r = plain;
	size_t files = back_descriptors();
	char first[32] = "";
	struct got g = { 0 };
	int i, same = 0;

	r.fresh = false;
	r.kept_max = 1;
	for (i = 0; i < 20; i++) {
		if (!start(p, &g, "pid.php", 0, r))
			bail_out("no call");
		back_await(&g);
		if (i == 0)
			snprintf(first, sizeof first, "%s", body_of(&g));
		same += g.end.how == BACKEND_ENDED &&
		    strcmp(body_of(&g), first) == 0;
		got_free(&g);
	}
	is_int(same, 20, "20 calls go over one kept connection");
	is_int((long long)back_descriptors(), (long long)files + 1,
	    "... and that is all that is open");
}

static void
test_stop(struct php *p)
{
	struct got g = { .stop_at = 20000 };

	run(p, &g, "endless.php", 0);
	is_int(g.overs, 0, "a stopped call is not told");
	ok(await_file(p, "stopped"), "... and its script is ended by php-fpm");
	got_free(&g);
}

int
main(void)
{
	struct php p = { .pid = -1 };

	php_start(&p);
	if (!await_start(&p)) {
		php_stop(&p);
		skip_all("php-fpm does not start here");
	}
	test_echo(&p);
	test_kept(&p);
	test_ends(&p);
	test_early_end(&p);
	test_stop(&p);
	php_stop(&p);
	return done();
}
