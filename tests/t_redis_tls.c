/* SPDX-License-Identifier: ISC */
#include "redis_desk.h"

#include "port_hold.h"
#include "redis_rig.h"
#include "tap.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* A real server behind TLS: who is trusted, and by whom. */
#define DEADLINE_MS 20000	/* not reached */

static char folder[] = "/tmp/idem-tls-XXXXXX";

/* Certificates of two authorities. */
static const char *const make_certificates =
    "cd \"$0\" && exec >log 2>&1 && "
    "authority() { openssl req -x509 -newkey ec -pkeyopt "
    "ec_paramgen_curve:prime256v1 -nodes -days 2 -subj \"/CN=$1\" "
    "-keyout $1.key -out $1.crt; } && "
    "member() { printf 'subjectAltName=%s' \"$3\" >$2.ext && "
    "openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes "
    "-subj \"/CN=$2\" -keyout $2.key -out $2.csr && "
    "openssl x509 -req -in $2.csr -CA $1.crt -CAkey $1.key "
    "-CAcreateserial -days 2 -extfile $2.ext -out $2.crt; } && "
    /* It was over before it began. */
    "over() { openssl x509 -req -in server.csr -CA good.crt -CAkey good.key "
    "-CAcreateserial \"$@\" -extfile server.ext -out over.crt; } && "
    "authority good && authority bad && "
    "member good server 'DNS:cache.example,DNS:*.wild.example,"
    "IP:127.0.0.1' && member good other DNS:other.example && "
    "member good client DNS:client && member bad stranger DNS:client && "
    "member good nameless.example email:a@b.example && "
    "{ over -days -1 || over -not_after 20200101000000Z; } && "
    "cp server.key over.key && "
    "openssl ec -in client.key -aes128 -passout pass:x -out locked.key";

static int
run_shell(const char *script)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		execl("/bin/sh", "sh", "-c", script, folder, (char *)NULL);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		bail_out("no shell");
	return status;
}

static const char *
file(const char *name)
{
	static char text[8][64];
	static size_t next;
	char *at = text[next++ % 8];

	if (name == NULL)
		return NULL;
	snprintf(at, sizeof text[0], "%s/%s", folder, name);
	return at;
}

/* The port for TLS, which is held as long as the test runs. */
static int
start(struct redis_rig *rig, const char *name, const char *auth_clients)
{
	int held, port = port_hold(&held);
	char text[16], certificate[64], private_key[64];
	const char *const options[] = {
		"--tls-port", text, "--tls-cert-file", certificate,
		"--tls-key-file", private_key, "--tls-ca-cert-file",
		file("good.crt"), "--tls-auth-clients", auth_clients, NULL
	};

	snprintf(text, sizeof text, "%d", port);
	snprintf(certificate, sizeof certificate, "%s/%s.crt", folder, name);
	snprintf(private_key, sizeof private_key, "%s/%s.key", folder, name);
	redis_rig_start(rig, options);
	return port;
}

/* --- who trusts whom ------------------------------------------------------ */

enum port { OPEN, DEMANDING, OVER, NAMELESS, PLAIN, PORTS };

static const struct row {
	const char *what;
	enum port port;
	const char *ca, *certificate, *private_key, *name;
	const char *class;
	const char *error;	/* holds this; NULL: not looked at */
} rows[] = {
	{ "a server is known by its address", OPEN,
	  "good.crt", NULL, NULL, NULL, "ok", "" },
	{ "or by a name", OPEN, "good.crt", NULL, NULL, "cache.example",
	  "ok", "" },
	{ "which may be in another case", OPEN, "good.crt", NULL, NULL,
	  "CACHE.example", "ok", "" },
	{ "or by a wildcard", OPEN, "good.crt", NULL, NULL,
	  "a.wild.example", "ok", "" },
	{ "that has one label", OPEN, "good.crt", NULL, NULL,
	  "a.b.wild.example", "config", "ostname mismatch" },
	{ "another name is refused", OPEN, "good.crt", NULL, NULL,
	  "other.example", "config", "ostname mismatch" },
	{ "so is the subject's", OPEN, "good.crt", NULL, NULL, "server",
	  "config", "ostname mismatch" },
	{ "and another address", OPEN, "good.crt", NULL, NULL, "127.0.0.9",
	  "config", "IP address mismatch" },
	{ "another authority is not trusted", OPEN, "bad.crt", NULL, NULL,
	  NULL, "config", "certificate" },
	{ "nor are all that the system trusts", OPEN, NULL, NULL, NULL, NULL,
	  "config", "certificate" },
	{ "one whose time is over is refused", OVER, "good.crt", NULL, NULL,
	  NULL, "config", "expired" },
	{ "a name that stands in the subject only is none", NAMELESS,
	  "good.crt", NULL, NULL, "nameless.example", "config",
	  "ostname mismatch" },
	{ "a server may demand a certificate", DEMANDING, "good.crt", NULL,
	  NULL, NULL, "config", "TLS" },
	{ "and is given it", DEMANDING, "good.crt", "client.crt",
	  "client.key", NULL, "ok", "" },
	{ "but trusts not every one", DEMANDING, "good.crt", "stranger.crt",
	  "stranger.key", NULL, "config", "TLS" },
};

static void
try_row(const struct row *row, const int *ports)
{
	struct idem_redis_tls *tls;
	struct redis_desk d;
	struct redis_told t;
	char url[64], error[256] = "";

	tls = idem_redis_tls_new(file(row->ca), file(row->certificate),
	    file(row->private_key), error, sizeof error);
	if (tls == NULL)
		bail_out("%s", error);
	snprintf(url, sizeof url, "rediss://127.0.0.1:%d", ports[row->port]);
	redis_desk_open(&d, url, NULL);
	d.redis.server_name = row->name;
	d.redis.timeout_ms = DEADLINE_MS;
	d.options.tls = tls;
	redis_desk_ask(&d, &t, DEADLINE_MS, "PING");
	is(redis_desk_class(t.meaning.class), row->class, "%s", row->what);
	ok(t.answers == 1 && strstr(t.error, row->error) != NULL &&
	    (t.meaning.class == IDEM_OK) == (strcmp(t.text, "PONG") == 0),
	    "and it is said: %s", t.error[0] != '\0' ? t.error : t.text);
	redis_desk_close(&d);
	idem_redis_tls_free(tls);
}

static void
no_tls_there(const int *ports)
{
	struct idem_redis_tls *tls;
	struct redis_desk d;
	struct redis_told t;
	char url[64], error[256] = "";

	tls = idem_redis_tls_new(file("good.crt"), NULL, NULL, error,
	    sizeof error);
	snprintf(url, sizeof url, "rediss://127.0.0.1:%d", ports[PLAIN]);
	redis_desk_open(&d, url, NULL);
	d.options.tls = tls;
	redis_desk_ask(&d, &t, DEADLINE_MS, "SET plain 1");
	ok(t.meaning.class == IDEM_CLASS_CONFIG ||
	    t.meaning.class == IDEM_CLASS_REFUSED,
	    "a port without TLS is sent no command: %s", t.error);
	redis_desk_close(&d);
	idem_redis_tls_free(tls);

	snprintf(url, sizeof url, "127.0.0.1:%d", ports[OPEN]);
	redis_desk_open(&d, url, NULL);
	redis_desk_ask(&d, &t, 500, "SET plain 1");
	ok(t.answers == 1 && t.meaning.class != IDEM_OK,
	    "nor is a port with it spoken to without [redis:6]: %s", t.error);
	redis_desk_close(&d);
}

/* --- bytes ---------------------------------------------------------------- */

static void
keep_len(void *arg, const struct idem_redis_wire_answer *a)
{
	*(size_t *)arg = a->value != NULL ? a->value->text.len : 0;
}

static void
much(int port)
{
	static char large[3 << 20];
	const struct idem_bytes set[] = {
		{ "SET", 3 }, { "large", 5 }, { large, sizeof large }
	}, get[] = { { "GET", 3 }, { "large", 5 } };
	struct idem_redis_tls *tls;
	struct redis_desk d;
	struct redis_told t[200];
	size_t i, good = 0, len[2] = { 0 };
	char url[64], error[256] = "";

	tls = idem_redis_tls_new(file("good.crt"), NULL, NULL, error,
	    sizeof error);
	snprintf(url, sizeof url, "rediss://127.0.0.1:%d", port);
	redis_desk_open(&d, url, NULL);
	d.redis.timeout_ms = DEADLINE_MS;
	d.options.tls = tls;
	redis_desk_ask(&d, &t[0], DEADLINE_MS, "SET n 0");
	idem_redis_wire_send(d.wire, set, 3, NULL,
	    t[0].asked_ms + DEADLINE_MS, keep_len, &len[0]);
	for (i = 0; i < 200; i++)
		redis_desk_send(&d, &t[i], DEADLINE_MS, "INCR n");
	idem_redis_wire_send(d.wire, get, 2, NULL,
	    t[0].asked_ms + DEADLINE_MS, keep_len, &len[1]);
	while (!idem_redis_wire_idle(d.wire))
		redis_desk_turn(&d, 100);
	for (i = 0; i < 200; i++)
		good += t[i].meaning.class == IDEM_OK &&
		    t[i].integer == (int64_t)i + 1;
	is_int((long long)good, 200, "many commands go over one connection");
	ok(len[0] == 2 && len[1] == sizeof large, "and large ones");
	redis_desk_close(&d);
	idem_redis_tls_free(tls);
}

static void
frozen(struct redis_rig *rig, int port)
{
	struct idem_redis_tls *tls;
	struct redis_desk d;
	struct redis_told t, next;
	char url[64], error[256] = "";
	int tries;

	tls = idem_redis_tls_new(file("good.crt"), NULL, NULL, error,
	    sizeof error);
	snprintf(url, sizeof url, "rediss://127.0.0.1:%d", port);
	redis_desk_open(&d, url, NULL);
	d.redis.timeout_ms = 1000;
	d.options.tls = tls;
	for (tries = 0; tries < 20; tries++) {
		redis_desk_ask(&d, &t, DEADLINE_MS, "PING");
		if (t.meaning.class == IDEM_OK)
			break;
	}
	redis_rig_freeze(rig);
	redis_desk_ask(&d, &t, 300, "INCR late");
	ok(t.meaning.class == IDEM_CLASS_MAYBE && !t.late &&
	    t.answered_ms >= t.deadline_ms && redis_desk_until_open(&d, false),
	    "a frozen server behind TLS costs the deadline [redis:3]");
	redis_desk_ask(&d, &next, 300, "INCR late");
	ok(next.meaning.class == IDEM_CLASS_REFUSED && !next.late,
	    "and shakes no hands");
	redis_rig_thaw(rig);
	redis_desk_close(&d);
	idem_redis_tls_free(tls);
}

/* --- the name that is asked for ------------------------------------------- */

static pid_t
start_two_faced(int *port)
{
	int fds[2];
	char line[256] = "", *at;
	size_t n = 0;
	ssize_t got;
	pid_t pid;

	if (pipe(fds) != 0)
		bail_out("no pipe");
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(fds[1], STDOUT_FILENO);
		dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
		execlp("openssl", "openssl", "s_server", "-accept",
		    "127.0.0.1:0", "-rev", "-cert", file("other.crt"), "-key",
		    file("other.key"), "-servername", "cache.example",
		    "-cert2", file("server.crt"), "-key2",
		    file("server.key"), (char *)NULL);
		_exit(127);
	}
	close(fds[1]);
	*port = 0;
	while (*port == 0 && n < sizeof line - 1 &&
	    (got = read(fds[0], line + n, sizeof line - 1 - n)) > 0) {
		n += (size_t)got;
		line[n] = '\0';
		at = strstr(line, "ACCEPT ");
		if (at != NULL && strchr(at, '\n') != NULL)
			*port = atoi(strrchr(at, ':') + 1);
	}
	close(fds[0]);
	return pid;
}

static void
asks_for_name(void)
{
	struct idem_redis_tls *tls;
	struct redis_desk d;
	struct redis_told t;
	char url[64], error[256] = "";
	int port;
	pid_t pid = start_two_faced(&port);

	tls = idem_redis_tls_new(file("good.crt"), NULL, NULL, error,
	    sizeof error);
	snprintf(url, sizeof url, "rediss://127.0.0.1:%d", port);
	redis_desk_open(&d, url, NULL);
	d.redis.server_name = "cache.example";
	d.redis.timeout_ms = DEADLINE_MS;
	d.options.tls = tls;
	redis_desk_ask(&d, &t, DEADLINE_MS, "PING");
	is(t.error, "what came is not of Redis",
	    "a server with two names is told which one is wanted");
	redis_desk_close(&d);
	idem_redis_tls_free(tls);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* --- what we are given ---------------------------------------------------- */

static void
try_files(void)
{
	static const struct {
		const char *ca, *certificate, *private_key, *error, *what;
	} files[] = {
		{ "none.crt", NULL, NULL, "No such file",
		  "a file that is not there is told" },
		{ "good.crt", "client.crt", NULL, "go together",
		  "so is half a pair" },
		{ "good.crt", "none.crt", "client.key", "the certificate in",
		  "and a certificate that is not there" },
		{ "good.crt", "client.crt", "server.key",
		  "the private key in", "and a key of another one" },
		{ "good.crt", "client.crt", "locked.key",
		  "the private key in", "and a key that has a passphrase" },
	};
	char error[256];
	size_t i;

	for (i = 0; i < sizeof files / sizeof *files; i++) {
		error[0] = '\0';
		ok(idem_redis_tls_new(file(files[i].ca),
		    file(files[i].certificate), file(files[i].private_key),
		    error, sizeof error) == NULL &&
		    strstr(error, files[i].error) != NULL, "%s: %s",
		    files[i].what, error);
	}
	idem_redis_tls_free(NULL);
	idem_redis_tls_close(NULL, true);
	ok(idem_redis_tls_open(NULL, 0, "a") == NULL,
	    "without any no connection is opened");
}

int
main(void)
{
	struct redis_rig friendly, demanding, over, nameless;
	int ports[PORTS];
	size_t i;

	if (redis_rig_missing() != NULL)
		skip_all(redis_rig_missing());
	if (run_shell("openssl version >/dev/null 2>&1") != 0)
		skip_all("no openssl");
	if (mkdtemp(folder) == NULL || run_shell(make_certificates) != 0)
		bail_out("no certificates");
	ports[OPEN] = start(&friendly, "server", "no");
	ports[DEMANDING] = start(&demanding, "server", "yes");
	ports[OVER] = start(&over, "over", "no");
	ports[NAMELESS] = start(&nameless, "nameless.example", "no");
	ports[PLAIN] = friendly.port;
	for (i = 0; i < sizeof rows / sizeof *rows; i++)
		try_row(&rows[i], ports);
	no_tls_there(ports);
	much(ports[OPEN]);
	frozen(&friendly, ports[OPEN]);
	asks_for_name();
	try_files();
	redis_rig_end(&friendly);
	redis_rig_end(&demanding);
	redis_rig_end(&over);
	redis_rig_end(&nameless);
	run_shell("rm -r \"$0\"");
	return done();
}
