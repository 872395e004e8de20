/* SPDX-License-Identifier: ISC */
#include "redis_rig.h"

#include "clock.h"
#include "port_hold.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SERVER "/usr/bin/redis-server"
#define START_MS 60000
#define SLOTS 16384u
#define NODES_MAX 16u

const char *
redis_rig_missing(void)
{
	return access(SERVER, X_OK) == 0 ? NULL : "no " SERVER;
}

static int64_t
now_ms(void)
{
	return idem_boot_ms(&idem_clock_real);
}

/* --- one process ---------------------------------------------------------- */

static void
add_option(struct redis_rig *r, const char *option)
{
	if (r->options == REDIS_RIG_OPTIONS ||
	    (size_t)snprintf(r->option[r->options++], REDIS_RIG_PATH, "%s",
	    option) >= REDIS_RIG_PATH)
		bail_out("too many options, or too long: %s", option);
}

static void
add_options(struct redis_rig *r, const char *const *options)
{
	for (; options != NULL && *options != NULL; options++)
		add_option(r, *options);
}

static void
become(const struct redis_rig *r, char *const *argv)
{
	int log, null = open("/dev/null", O_RDONLY);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (chdir(r->folder) == -1)
		_exit(126);
	log = open("log", O_WRONLY | O_CREAT | O_APPEND, 0644);
	if (log == -1 || null == -1 || dup2(null, 0) == -1 ||
	    dup2(log, 1) == -1 || dup2(log, 2) == -1)
		_exit(126);
	execv(argv[0], argv);
	_exit(127);
}

static void
spawn(struct redis_rig *r)
{
	char port[16], bus[16];
	const char *argv[REDIS_RIG_OPTIONS + 24];
	size_t n = 0, i;

	snprintf(port, sizeof port, "%d", r->port);
	snprintf(bus, sizeof bus, "%d", r->bus);
	argv[n++] = SERVER;
	if (r->sentinel)
		argv[n++] = "sentinel.conf";
	argv[n++] = "--bind";
	argv[n++] = "127.0.0.1";
	argv[n++] = "--port";
	argv[n++] = port;
	if (r->bus != 0) {
		argv[n++] = "--cluster-port";
		argv[n++] = bus;
	}
	if (r->sentinel)
		argv[n++] = "--sentinel";
	else {
		argv[n++] = "--unixsocket";
		argv[n++] = r->socket;
		argv[n++] = "--save";
		argv[n++] = "";
	}
	for (i = 0; i < r->options; i++)
		argv[n++] = r->option[i];
	argv[n] = NULL;

	fflush(NULL);
	r->pid = fork();
	if (r->pid == -1)
		bail_out("fork: %s", strerror(errno));
	if (r->pid == 0)
		become(r, (char *const *)(uintptr_t)argv);
}

/* False, and no pid any more, when it has ended. */
static bool
answers(struct redis_rig *r)
{
	int64_t until_ms = now_ms() + START_MS;
	const char *reply;

	while (now_ms() < until_ms) {
		if (waitpid(r->pid, NULL, WNOHANG) == r->pid) {
			r->pid = 0;
			return false;
		}
		reply = redis_rig_say(r, "PING", NULL);
		if (reply[0] != '(' && strncmp(reply, "-LOADING", 8) != 0)
			return true;
		redis_rig_turn();
	}
	redis_rig_kill(r);
	return false;
}

static void
tell_log(const struct redis_rig *r)
{
	char path[REDIS_RIG_PATH], line[256];
	FILE *file;

	snprintf(path, sizeof path, "%s/log", r->folder);
	file = fopen(path, "re");
	while (file != NULL && fgets(line, sizeof line, file) != NULL)
		note("redis: %.*s", (int)strcspn(line, "\n"), line);
	if (file != NULL)
		fclose(file);
}

static const char *
temporary(void)
{
	const char *folder = getenv("TMPDIR");

	return folder != NULL && folder[0] == '/' && strlen(folder) < 50 ?
	    folder : "/tmp";
}

static void
make_folder(struct redis_rig *r)
{
	memset(r, 0, sizeof *r);
	r->held[0] = r->held[1] = -1;
	snprintf(r->folder, sizeof r->folder, "%s/idem-redis-XXXXXX",
	    temporary());
	if (mkdtemp(r->folder) == NULL)
		bail_out("%s: %s", r->folder, strerror(errno));
	snprintf(r->socket, sizeof r->socket, "%s/sock", r->folder);
	snprintf(r->url, sizeof r->url, "unix:%s", r->socket);
}

static void
start(struct redis_rig *r, bool clustered)
{
	r->port = port_hold(&r->held[0]);
	r->bus = clustered ? port_hold(&r->held[1]) : 0;
	if (r->sentinel || clustered)
		snprintf(r->url, sizeof r->url, "127.0.0.1:%d", r->port);
	spawn(r);
	if (answers(r))
		return;
	tell_log(r);
	bail_out("no redis-server could be started");
}

void
redis_rig_start(struct redis_rig *r, const char *const *options)
{
	make_folder(r);
	add_options(r, options);
	start(r, false);
}

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *walk)
{
	(void)st;
	/* The folder stays, and the configuration that a sentinel needs. */
	if (type == FTW_DP && walk->level == 0)
		return 0;
	return strstr(path, "/sentinel.conf") != NULL ? 0 : remove(path);
}

/* A child that was saving may outlive the server by a moment, and so may its
   file. */
static void
empty(const struct redis_rig *r)
{
	int64_t until_ms = now_ms() + START_MS;

	while (nftw(r->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS) != 0) {
		if (now_ms() >= until_ms)
			bail_out("%s: %s", r->folder, strerror(errno));
		redis_rig_turn();
	}
}

void
redis_rig_again(struct redis_rig *r, bool keep)
{
	if (!keep)
		empty(r);
	spawn(r);
	if (answers(r))
		return;
	tell_log(r);
	bail_out("redis-server does not start again");
}

static void
reap(struct redis_rig *r, int64_t wait_ms)
{
	int64_t until_ms = now_ms() + wait_ms;

	while (waitpid(r->pid, NULL, WNOHANG) == 0) {
		if (now_ms() >= until_ms)
			kill(r->pid, SIGKILL);
		redis_rig_turn();
	}
	r->pid = 0;
}

void
redis_rig_stop(struct redis_rig *r)
{
	kill(r->pid, SIGTERM);
	kill(r->pid, SIGCONT);
	reap(r, 10000);
}

void
redis_rig_kill(struct redis_rig *r)
{
	kill(r->pid, SIGKILL);
	reap(r, 0);
}

void
redis_rig_freeze(struct redis_rig *r)
{
	int status;

	kill(r->pid, SIGSTOP);
	if (waitpid(r->pid, &status, WUNTRACED) != r->pid ||
	    !WIFSTOPPED(status))
		bail_out("redis-server has ended");
}

void
redis_rig_thaw(struct redis_rig *r)
{
	kill(r->pid, SIGCONT);
}

static int
remove_any(const char *path, const struct stat *st, int type, struct FTW *walk)
{
	(void)st;
	(void)type;
	(void)walk;
	return remove(path);
}

void
redis_rig_end(struct redis_rig *r)
{
	if (r->folder[0] == '\0')
		return;
	if (r->pid != 0)
		redis_rig_kill(r);
	if (nftw(r->folder, remove_any, 16, FTW_DEPTH | FTW_PHYS) == -1)
		note("%s: %s", r->folder, strerror(errno));
	close(r->held[0]);
	if (r->held[1] != -1)
		close(r->held[1]);
	idem_buf_free(&r->reply);
	memset(r, 0, sizeof *r);
}

/* --- several -------------------------------------------------------------- */

/* A number in INFO replication; -1: it is not there. */
static long long
offset(struct redis_rig *r, const char *name)
{
	const char *at = strstr(redis_rig_say(r, "INFO", "replication", NULL),
	    name);

	return at != NULL ? strtoll(at + strlen(name), NULL, 10) : -1;
}

void
redis_rig_replica(struct redis_rig *r, struct redis_rig *master,
    const char *const *options)
{
	int64_t until_ms = now_ms() + START_MS;
	char port[16];

	snprintf(port, sizeof port, "%d", master->port);
	make_folder(r);
	add_options(r, (const char *[]){ "--replicaof", "127.0.0.1", port,
	    NULL });
	add_options(r, options);
	redis_rig_say(master, "CONFIG", "SET", "repl-diskless-sync-delay", "0",
	    NULL);
	start(r, false);
	/* It calls itself connected before it has what came meanwhile. */
	while (offset(master, "state=online,offset=") == -1 ||
	    offset(r, "slave_repl_offset:") <
	    offset(master, "master_repl_offset:")) {
		if (now_ms() >= until_ms)
			bail_out("the replica does not come online");
		redis_rig_turn();
	}
}

void
redis_rig_sentinel(struct redis_rig *r, const char *name, int port,
    unsigned quorum, unsigned down_ms)
{
	char path[REDIS_RIG_PATH];
	FILE *file;

	make_folder(r);
	r->sentinel = true;
	snprintf(path, sizeof path, "%s/sentinel.conf", r->folder);
	file = fopen(path, "we");
	if (file == NULL)
		bail_out("%s: %s", path, strerror(errno));
	fprintf(file, "sentinel monitor %s 127.0.0.1 %d %u\n"
	    "sentinel down-after-milliseconds %s %u\n"
	    "sentinel failover-timeout %s 3000\n",
	    name, port, quorum, name, down_ms, name);
	fclose(file);
	start(r, false);
	if (!redis_rig_await(r, START_MS, "role-reported master", "SENTINEL",
	    "MASTER", name, NULL))
		bail_out("the sentinel does not find its master");
}

static void
meet(struct redis_rig *r, const struct redis_rig *known)
{
	char port[16], bus[16];

	snprintf(port, sizeof port, "%d", known->port);
	snprintf(bus, sizeof bus, "%d", known->bus);
	redis_rig_say(r, "CLUSTER", "MEET", "127.0.0.1", port, bus, NULL);
}

static void
start_node(struct redis_rig *r, const char *const *options)
{
	make_folder(r);
	add_options(r, (const char *[]){ "--cluster-enabled", "yes",
	    "--cluster-node-timeout", "20000", NULL });
	add_options(r, options);
	start(r, true);
}

void
redis_rig_cluster(struct redis_rig *r, size_t len, const char *const *options)
{
	char first[16], last[16], epoch[16], nodes[40];
	size_t i;

	if (len == 0 || len > NODES_MAX)
		bail_out("no such cluster");
	for (i = 0; i < len; i++) {
		start_node(&r[i], options);
		snprintf(epoch, sizeof epoch, "%zu", i + 1);
		snprintf(first, sizeof first, "%zu", SLOTS * i / len);
		snprintf(last, sizeof last, "%zu", SLOTS * (i + 1) / len - 1);
		redis_rig_say(&r[i], "CLUSTER", "SET-CONFIG-EPOCH", epoch,
		    NULL);
		redis_rig_say(&r[i], "CLUSTER", "ADDSLOTSRANGE", first, last,
		    NULL);
		if (i > 0)
			meet(&r[i], &r[0]);
	}
	snprintf(nodes, sizeof nodes, "cluster_known_nodes:%zu", len);
	for (i = 0; i < len; i++)
		if (!redis_rig_await(&r[i], START_MS, nodes, "CLUSTER", "INFO",
		    NULL) ||
		    !redis_rig_await(&r[i], START_MS, "cluster_state:ok",
		    "CLUSTER", "INFO", NULL))
			bail_out("the cluster does not come up");
}

void
redis_rig_join(struct redis_rig *r, struct redis_rig *cluster, size_t len,
    const char *const *options)
{
	char id[64];
	size_t i;

	start_node(r, options);
	snprintf(id, sizeof id, "%s", redis_rig_say(r, "CLUSTER", "MYID",
	    NULL));
	meet(r, &cluster[0]);
	if (!redis_rig_await(r, START_MS, "cluster_state:ok", "CLUSTER", "INFO",
	    NULL))
		bail_out("the node does not join");
	/* It hears of them from the first; they of it, when they gossip. */
	for (i = 0; i < len; i++)
		if (!redis_rig_await(&cluster[i], START_MS, id, "CLUSTER",
		    "NODES", NULL))
			bail_out("the node is not known to all");
}
