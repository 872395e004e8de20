/* SPDX-License-Identifier: ISC */
#include "crash.h"

#include "ask.h"
#include "store_redis.h"
#include "tap.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define GONE_MS 60000
#define TOKEN_AT "{\"token\":\""

/* --- its programs --------------------------------------------------------- */

/* What it says is written down before it is said. */
#define ORDER(more) \
	"#!/bin/sh\n" \
	"echo x >>starts\n" \
	"while [ -e hold ]; do sleep 0.02; done\n" \
	"{ echo \"order by $$ at $(date +%s%N)\"\n" more "} >said\n" \
	"printf 'Status: 201 Created\\nContent-Type: text/plain\\n'\n" \
	"printf 'X-Run: %s\\n\\n' $$\n" \
	"cat said\n"

static const char *
program_name(const struct crash_row *row)
{
	switch (row->program) {
	case CRASH_ORDER:
	case CRASH_BACKEND:
		return "order";
	case CRASH_LARGE:
		return "large";
	case CRASH_DIES:
		return "dies";
	case CRASH_LEAVES:
		return "leaves";
	case CRASH_MISSING:
		break;
	}
	return "missing";
}

static void
put_programs(struct crash_world *w)
{
	rig_program(&w->rig, "order", ORDER(""));
	rig_program(&w->rig, "large",
	    ORDER("head -c 50000 /dev/zero | tr '\\0' .\n"));
	rig_program(&w->rig, "dies", "#!/bin/sh\necho x >>starts\n"
	    "kill -9 $$\n");
	rig_program(&w->rig, "leaves", "#!/bin/sh\n"
	    "setsid sleep 100 </dev/null >/dev/null 2>&1 &\n"
	    "echo $! >left\n"
	    "exec ./order\n");
}

static void
kill_left(struct crash_world *w)
{
	char *left = rig_slurp(&w->rig, "left");
	long pid = left != NULL ? strtol(left, NULL, 10) : 0;

	if (pid > 1)
		kill((pid_t)pid, SIGKILL);
	free(left);
}

/* --- its configuration ---------------------------------------------------- */

static const char *
arbiter_name(enum crash_at at)
{
	static const char *const names[CRASH_ATS] = {
		[CRASH_LEDGER] = "ledger",
		[CRASH_REDIS] = "redis",
		[CRASH_TOKEN] = "token"
	};

	return names[at];
}

static void
put_stores(struct idem_buf *conf, struct crash_world *w)
{
	if (w->row->at == CRASH_LEDGER) {
		idem_buf_printf(conf, "ledger = sqlite { path = '%s', "
		    "create = true }\n", w->rig.ledger);
		return;
	}
	idem_buf_printf(conf, "shared = redis { url = '%s', prefix = '%s', "
	    "timeout = '%dms', budget = '%dms', probe = '300ms' }\n",
	    w->redis, w->prefix, CRASH_SHORT_MS, CRASH_SHORT_MS);
	if (w->row->at == CRASH_TOKEN)
		idem_buf_printf(conf, "tokens = { keys = '%s' }\n",
		    rig_at(&w->rig, "keys"));
}

static void
put_route(struct idem_buf *conf, struct crash_world *w)
{
	const struct crash_row *row = w->row;

	idem_buf_printf(conf, "route { path = '/order', arbiter = '%s',\n"
	    "    lease = '%dms', limit = '%dms', in_progress = wait '300ms',\n",
	    arbiter_name(row->at), crash_row_lease_ms(row),
	    crash_row_holds(row) ? CRASH_HELD_LIMIT_MS : CRASH_LIMIT_MS);
	if (row->program == CRASH_BACKEND)
		idem_buf_printf(conf, "    program = fastcgi { 'unix:%s' } }\n",
		    w->backend.socket);
	else
		idem_buf_printf(conf, "    spool = %s, "
		    "program = cgi { '%s' } }\n", row->spool ? "true" : "false",
		    rig_at(&w->rig, program_name(row)));
}

static void
put_conf(struct crash_world *w)
{
	struct idem_buf conf = { 0 };

	idem_buf_printf(&conf, "workers = %d\nprograms = 4\n"
	    "grace = '%dms'\nlocal_cache = 'none'\nrun = '%s'\n",
	    CRASH_WORKERS, CRASH_GRACE_MS, rig_at(&w->rig, "run"));
	put_stores(&conf, w);
	put_route(&conf, w);
	idem_buf_u8(&conf, 0);
	if (!idem_buf_ok(&conf))
		bail_out("out of memory");
	rig_file(&w->rig, "idem.conf", (const char *)conf.at);
	rig_file(&w->rig, "keys", "a 000102030405060708090a0b0c0d0e0f\n");
	chmod(rig_at(&w->rig, "keys"), 0600);
	idem_buf_free(&conf);
}

/* --- its processes -------------------------------------------------------- */

static void
find_workers(struct crash_world *w)
{
	unsigned worker, found = 0;
	int keeper, lobby;
	char *log, *at;

	if (!ask_await_logged(&w->rig, " started lobby=", CRASH_WORKERS))
		bail_out("the log names no workers");
	log = rig_slurp(&w->rig, "log");
	for (at = log; at != NULL && (at = strstr(at, " worker=")) != NULL;
	    at++)
		if (sscanf(at, " worker=%u keeper=%d started lobby=%d",
		    &worker, &keeper, &lobby) == 3 && worker < CRASH_WORKERS) {
			w->keeper[worker] = keeper;
			w->lobby[worker] = lobby;
			found++;
		}
	free(log);
	if (found < CRASH_WORKERS)
		bail_out("the log names %u workers", found);
}

bool
crash_is_stopped(pid_t pid)
{
	char path[64], text[512], *end;
	FILE *file;
	size_t len;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	if (file == NULL)
		return false;
	len = fread(text, 1, sizeof text - 1, file);
	fclose(file);
	text[len] = '\0';
	end = strrchr(text, ')');	/* the name may hold anything */
	return end != NULL && len > 0 && end[1] == ' ' && end[2] == 'T';
}

bool
crash_stopped(struct crash_world *w, unsigned *worker, pid_t *who)
{
	unsigned i;

	for (i = 0; i < CRASH_WORKERS; i++) {
		*worker = i;
		*who = w->lobby[i];
		if (crash_is_stopped(*who))
			return true;
		*who = w->keeper[i];
		if (crash_is_stopped(*who))
			return true;
	}
	return false;
}

bool
crash_running(struct crash_world *w, unsigned *worker)
{
	pid_t child;

	for (*worker = 0; *worker < CRASH_WORKERS; ++*worker)
		if (rig_children(w->keeper[*worker], &child, 1) == 1)
			return true;
	return false;
}

/* --- it ------------------------------------------------------------------- */

static void
start(struct crash_world *w)
{
	const char *const options[] = { "--config",
		rig_at(&w->rig, "idem.conf"), NULL };

	ask_start(&w->rig, options);
}

static void
start_backend(struct crash_world *w)
{
	rig_open(&w->backend);
	w->backend.bare = true;
	rig_file(&w->backend, "idem.conf", "");
	{
		struct idem_buf conf = { 0 };

		idem_buf_printf(&conf, "workers = 1\nrun = '%s'\n"
		    "rest = cgi { '%s' }\n", rig_at(&w->backend, "run"),
		    rig_at(&w->rig, "order"));
		idem_buf_u8(&conf, 0);
		rig_file(&w->backend, "idem.conf", (const char *)conf.at);
		idem_buf_free(&conf);
	}
	ask_start(&w->backend, (const char *[]){ "--config",
	    rig_at(&w->backend, "idem.conf"), NULL });
}

static void
make_key(struct crash_world *w)
{
	struct rig_answer answer = { 0 };
	const char *body;
	size_t len;

	snprintf(w->key, sizeof w->key, "\"crash\"");
	if (w->row->at != CRASH_TOKEN)
		return;
	rig_request(&w->rig, &(struct rig_request){ .method = "POST",
	    .path = "/.idem/token", .query = "path=/order" }, &answer);
	body = answer.body.at;
	len = sizeof TOKEN_AT - 1;
	if (answer.status != 201 || answer.body.len <= len ||
	    memcmp(body, TOKEN_AT, len) != 0)
		bail_out("no token: status %d", answer.status);
	snprintf(w->key, sizeof w->key, "%.*s", (int)strcspn(body + len, "\""),
	    body + len);
	rig_answer_free(&answer);
}

void
crash_world_open(struct crash_world *w, const struct crash_row *row,
    const char *redis, const char *prefix)
{
	char fail[128];

	*w = (struct crash_world){ .row = row, .redis = redis,
		.prefix = prefix };
	rig_open(&w->rig);
	w->rig.bare = true;
	put_programs(w);
	if (row->program == CRASH_BACKEND)
		start_backend(w);
	put_conf(w);
	snprintf(fail, sizeof fail, "%s=1*stop", row->label);
	setenv("IDEM_FAILPOINTS", fail, 1);
	start(w);
	unsetenv("IDEM_FAILPOINTS");
	find_workers(w);
	make_key(w);
}

/* Who dies still listens for a moment. */
static void
await_gone(struct crash_world *w)
{
	int64_t until_ms = rig_now_ms() + GONE_MS;
	int fd;

	/* EAGAIN: too many of these wait to be accepted. */
	while ((fd = rig_connect(&w->rig)) != -1 || errno == EAGAIN) {
		if (fd != -1)
			close(fd);
		if (rig_now_ms() > until_ms)
			bail_out("somebody listens after all are killed");
		poll(NULL, 0, 2);
	}
}

/* By their group: the number of one that has died may be another's by now. */
static void
kill_all(struct crash_world *w)
{
	kill(-w->rig.pid, SIGKILL);
	waitpid(w->rig.pid, NULL, 0);
	w->rig.pid = 0;
	await_gone(w);
}

void
crash_world_again(struct crash_world *w)
{
	kill_all(w);
	start(w);
}

void
crash_world_close(struct crash_world *w)
{
	if (w->rig.pid != 0)
		kill_all(w);
	kill_left(w);
	rig_end(&w->rig);
	if (w->row->program == CRASH_BACKEND)
		rig_end(&w->backend);
}

struct rig_request
crash_request(const struct crash_world *w)
{
	return (struct rig_request){
		.method = "POST", .path = "/order", .key = w->key,
		.type = "application/x-www-form-urlencoded",
		.body = idem_bytes_text("item=tea")
	};
}

char *
crash_said(struct crash_world *w)
{
	return rig_slurp(&w->rig, "said");
}

/* --- its store ------------------------------------------------------------ */

static char
letter(enum idem_state state)
{
	switch (state) {
	case IDEM_STATE_ABSENT:
	case IDEM_STATE_ISSUED:
		return 'F';
	case IDEM_STATE_IN_PROGRESS:
		return 'P';
	case IDEM_STATE_COMPLETED:
		return 'A';
	case IDEM_STATE_UNKNOWN:
		return 'U';
	case IDEM_STATE_TOMBSTONE:
		break;
	}
	return '?';
}

/* Of several keys only whether any is in progress. */
static char
of_several(const struct idem_store_result *result)
{
	uint32_t i;

	for (i = 0; i < result->count; i++)
		if (result->listed[i].record.state == IDEM_STATE_IN_PROGRESS)
			return 'P';
	return '?';
}

static char
look_into(struct idem_store *store)
{
	struct idem_store_call call = { .op = IDEM_STORE_LIST,
		.states = UINT32_MAX, .max = 100,
		.deadline_ms = idem_boot_ms(&idem_clock_real) + 5000 };
	struct idem_store_answer answer;
	char end = 'F';

	idem_store_wait(store, &call, &answer);
	if (answer.result.write != IDEM_WRITTEN)
		end = '?';
	else if (answer.result.count > 1)
		end = of_several(&answer.result);
	else if (answer.result.count == 1)
		end = letter(answer.result.listed[0].record.state);
	idem_store_answer_free(&answer);
	store->ops->close(store);
	return end;
}

static char
look_into_redis(struct crash_world *w, const struct idem_boot *boot)
{
	struct idem_redis_options options = { .urls = &w->redis, .urls_len = 1,
		.timeout_ms = 5000, .clock = &idem_clock_real };
	struct idem_store *store;
	struct idem_redis *client;
	char error[256], end;

	client = idem_redis_new(&options, error, sizeof error);
	if (client == NULL)
		bail_out("%s", error);
	store = idem_store_redis(&(struct idem_store_redis_options){
	    .client = client, .prefix = w->prefix, .clock = &idem_clock_real,
	    .boot = *boot });
	if (store == NULL)
		bail_out("out of memory");
	end = look_into(store);
	idem_redis_free(client);
	return end;
}

char
crash_look(struct crash_world *w)
{
	struct idem_sqlite_options options = { .path = w->rig.ledger,
		.clock = &idem_clock_real, .read_only = true };
	struct idem_store *store;
	char error[256];

	if (!idem_boot_id(&options.boot))
		bail_out("no boot id");
	if (w->row->at != CRASH_LEDGER)
		return look_into_redis(w, &options.boot);
	store = idem_store_sqlite(&options, error, sizeof error);
	return store != NULL ? look_into(store) : '?';
}
