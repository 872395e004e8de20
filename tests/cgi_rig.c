/* SPDX-License-Identifier: ISC */
#include "cgi_rig.h"

#include "rig_call.h"
#include "tap.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define VARIABLES_MAX 64
#define WAIT_MS 120000
#define NONE_MS 60000

/* --- the program ---------------------------------------------------------- */

bool
cgi_open(struct rig *rig)
{
	const char *from = getenv("IDEM_CGI");
	char piece[65536];
	int in, out;
	ssize_t n;

	in = open(from != NULL ? from : "./idem-cgi", O_RDONLY | O_CLOEXEC);
	if (in == -1)
		return false;
	out = open(rig_at(rig, "idem-cgi"), O_WRONLY | O_CREAT | O_CLOEXEC,
	    0755);
	while ((n = read(in, piece, sizeof piece)) > 0)
		if (write(out, piece, (size_t)n) != n)
			n = -1;
	if (n == -1 || out == -1 || fchmod(out, 0755) == -1)
		bail_out("idem-cgi: %s", strerror(errno));
	close(in);
	close(out);
	return true;
}

/* --- its environment ------------------------------------------------------ */

struct environment {
	char *at[VARIABLES_MAX + 1];
	size_t len;
};

static void
unset(struct environment *e, const char *name, size_t name_len)
{
	size_t i;

	for (i = 0; i < e->len; i++)
		if (strncmp(e->at[i], name, name_len) == 0 &&
		    e->at[i][name_len] == '=') {
			free(e->at[i]);
			e->at[i--] = e->at[--e->len];
		}
	e->at[e->len] = NULL;
}

static void
set_text(struct environment *e, const char *text)
{
	size_t name_len = strcspn(text, "=");

	unset(e, text, name_len);
	if (text[name_len] == '\0')
		return;
	if (e->len == VARIABLES_MAX)
		bail_out("too many variables");
	e->at[e->len++] = strdup(text);
	e->at[e->len] = NULL;
}

static void set(struct environment *, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void
set(struct environment *e, const char *name, const char *format, ...)
{
	char text[2048];
	int len = snprintf(text, sizeof text, "%s=", name);
	va_list args;

	va_start(args, format);
	vsnprintf(text + len, sizeof text - (size_t)len, format, args);
	va_end(args);
	set_text(e, text);
}

static void
set_names(struct environment *e, struct rig *rig, const struct cgi_ask *ask)
{
	const char *info = ask->info != NULL ? ask->info : "";

	if (ask->way == CGI_ACTION) {
		set(e, "SCRIPT_NAME", "/idem-bin/idem-cgi");
		set(e, "SCRIPT_FILENAME", "%s", rig_at(rig, "idem-cgi"));
		set(e, "PATH_INFO", "/%s%s", ask->program, info);
		set(e, "PATH_TRANSLATED", "%s/%s%s", rig->folder, ask->program,
		    info);
		set(e, "REDIRECT_STATUS", "200");
		set(e, "REDIRECT_URL", "/%s%s", ask->program, info);
		return;
	}
	set(e, "SCRIPT_NAME", "/%s", ask->program);
	set(e, "SCRIPT_FILENAME", "%s", rig_at(rig, ask->program));
	if (*info != '\0') {
		set(e, "PATH_INFO", "%s", info);
		set(e, "PATH_TRANSLATED", "%s%s", rig->folder, info);
	}
}

static void
make_environment(struct environment *e, struct rig *rig,
    const struct cgi_ask *ask)
{
	const char *query = ask->query != NULL ? ask->query : "";
	const char *const *more = ask->env;

	set(e, "PATH", "/usr/bin:/bin");
	set(e, "GATEWAY_INTERFACE", "CGI/1.1");
	set(e, "SERVER_PROTOCOL", "HTTP/1.1");
	set(e, "SERVER_NAME", "localhost");
	set(e, "SERVER_PORT", "80");
	set(e, "REMOTE_ADDR", "127.0.0.1");
	set(e, "DOCUMENT_ROOT", "%s", rig->folder);
	set(e, "REQUEST_METHOD", "%s", ask->method != NULL ? ask->method :
	    "POST");
	set(e, "REQUEST_URI", "/%s%s%s%s", ask->program,
	    ask->info != NULL ? ask->info : "", *query != '\0' ? "?" : "",
	    query);
	set(e, "QUERY_STRING", "%s", query);
	set_names(e, rig, ask);
	if (ask->type != NULL)
		set(e, "CONTENT_TYPE", "%s", ask->type);
	if (ask->length == NULL)
		set(e, "CONTENT_LENGTH", "%zu", ask->body.len);
	else if (*ask->length != '\0')
		set(e, "CONTENT_LENGTH", "%s", ask->length);
	if (ask->key != NULL)
		set(e, "HTTP_IDEMPOTENCY_KEY", "%s", ask->key);
	set(e, "IDEM_LEDGER", "sqlite:%s", rig->ledger);
	for (; more != NULL && *more != NULL; more++)
		set_text(e, *more);
}

/* --- a call --------------------------------------------------------------- */

static _Noreturn void
become(struct rig *rig, const struct cgi_ask *ask, struct environment *e,
    int in, int out, int err)
{
	const char *argv[8] = { rig_at(rig, "idem-cgi") };
	size_t n = 1, i;

	if (ask->args != NULL)
		for (i = 0; ask->args[i] != NULL && n < 7; i++)
			argv[n++] = ask->args[i];
	else if (ask->way == CGI_SHEBANG)
		argv[n++] = ask->interpreter;
	if (ask->args == NULL && ask->way != CGI_ACTION)
		argv[n++] = rig_at(rig, ask->program);
	signal(SIGPIPE, SIG_DFL);
	if (ask->reaps_none)
		signal(SIGCHLD, SIG_IGN);
	if (setpgid(0, 0) == -1 || chdir(rig->folder) == -1 ||
	    dup2(in, 0) == -1 || dup2(out, 1) == -1 || dup2(err, 2) == -1)
		_exit(126);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	execve(argv[0], (char *const *)(uintptr_t)argv, e->at);
	_exit(127);
}

static void
open_pipe(int ends[2])
{
	if (pipe2(ends, O_CLOEXEC) == -1)
		bail_out("pipe: %s", strerror(errno));
}

/* Its reader may end before it has all of it, and does so in some tests. */
static void
send_body(struct cgi_call *call, struct idem_bytes body)
{
	struct pollfd ready = { .fd = call->in, .events = POLLOUT };
	const char *at = body.at;
	size_t done = 0;
	ssize_t n;

	fcntl(call->in, F_SETFL, O_NONBLOCK);
	while (done < body.len && poll(&ready, 1, WAIT_MS) == 1) {
		n = write(call->in, at + done, body.len - done);
		if (n == -1 && errno != EAGAIN)
			return;
		if (n > 0)
			done += (size_t)n;
	}
}

void
cgi_begin(struct rig *rig, const struct cgi_ask *ask, struct cgi_call *call)
{
	struct environment e = { .len = 0 };
	int in[2], out[2], err[2];
	size_t i;

	make_environment(&e, rig, ask);
	open_pipe(in);
	open_pipe(out);
	open_pipe(err);
	signal(SIGPIPE, SIG_IGN);
	call->pid = fork();
	if (call->pid == 0)
		become(rig, ask, &e, in[0], out[1], err[1]);
	if (call->pid == -1)
		bail_out("fork: %s", strerror(errno));
	setpgid(call->pid, call->pid);
	close(in[0]);
	close(out[1]);
	close(err[1]);
	call->in = in[1];
	call->out = out[0];
	call->err = err[0];
	for (i = 0; i < e.len; i++)
		free(e.at[i]);
	send_body(call, ask->body);
}

static void
read_some(int *fd, struct idem_buf *to)
{
	char piece[65536];
	ssize_t n = read(*fd, piece, sizeof piece);

	if (n > 0)
		idem_buf_append(to, piece, (size_t)n);
	else if (n == 0 || errno != EINTR) {
		close(*fd);
		*fd = -1;
	}
}

void
cgi_finish(struct cgi_call *call, struct rig_answer *answer)
{
	struct rig_call parsed = { .fd = -1, .begun_ms = rig_now_ms() };
	struct pollfd fds[2];
	int status = 0;

	if (call->in != -1)
		close(call->in);
	call->in = -1;
	while (call->out != -1 || call->err != -1) {
		fds[0] = (struct pollfd){ .fd = call->out, .events = POLLIN };
		fds[1] = (struct pollfd){ .fd = call->err, .events = POLLIN };
		if (poll(fds, 2, WAIT_MS) < 1)
			bail_out("idem-cgi says nothing and does not end");
		if (fds[0].revents != 0)
			read_some(&call->out, &parsed.answer.out);
		if (fds[1].revents != 0)
			read_some(&call->err, &parsed.answer.err);
	}
	waitpid(call->pid, &status, 0);
	parsed.answer.whole = WIFEXITED(status);
	parsed.answer.app_status = WIFEXITED(status) ?
	    (uint32_t)WEXITSTATUS(status) : 256u + (uint32_t)WTERMSIG(status);
	*answer = rig_call_answer(&parsed);
}

void
cgi_ask(struct rig *rig, const struct cgi_ask *ask, struct rig_answer *answer)
{
	struct cgi_call call;

	cgi_begin(rig, ask, &call);
	cgi_finish(&call, answer);
}

/* --- what it leaves ------------------------------------------------------- */

static bool
runs(const char *pid, const char *path)
{
	char link[300], exe[RIG_PATH + 32];
	ssize_t n;

	if (strspn(pid, "0123456789") != strlen(pid))
		return false;
	snprintf(link, sizeof link, "/proc/%s/exe", pid);
	n = readlink(link, exe, sizeof exe - 1);
	if (n < 0)
		return false;
	exe[n] = '\0';
	return strcmp(exe, path) == 0;
}

size_t
cgi_alive(struct rig *rig, pid_t *pids, size_t max)
{
	const char *path = rig_at(rig, "idem-cgi");
	struct dirent *entry;
	DIR *proc = opendir("/proc");
	size_t n = 0;

	while (proc != NULL && (entry = readdir(proc)) != NULL)
		if (runs(entry->d_name, path)) {
			if (n < max)
				pids[n] = (pid_t)strtol(entry->d_name, NULL,
				    10);
			n++;
		}
	if (proc != NULL)
		closedir(proc);
	return n;
}

static void
find_child(struct rig *rig, pid_t parent, pid_t *child)
{
	pid_t alive[16], children[4];
	size_t n = cgi_alive(rig, alive, 16), len, i, j;

	len = rig_children(parent, children, 4);
	for (i = 0; i < n && i < 16; i++)
		for (j = 0; j < len; j++)
			if (alive[i] == children[j])
				*child = children[j];
}

void
cgi_family(struct rig *rig, pid_t front, pid_t *lobby, pid_t *keeper)
{
	if (*lobby == 0)
		find_child(rig, front, lobby);
	if (*lobby != 0 && *keeper == 0)
		find_child(rig, *lobby, keeper);
}

bool
cgi_await_none(struct rig *rig)
{
	int64_t until_ms = rig_now_ms() + NONE_MS;

	while (cgi_alive(rig, NULL, 0) > 0) {
		if (rig_now_ms() > until_ms)
			return false;
		poll(NULL, 0, 5);
	}
	return true;
}
