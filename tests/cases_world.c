/* SPDX-License-Identifier: ISC */
#include "cases_world.h"

#include "tap.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAUSE_MS 30		/* a client's, between two tries */

const struct rig_request cases_order = { .method = "POST", .path = "/order",
	.key = "order", .body = { "tea", 3 } };
const struct rig_request cases_keyless = { .method = "POST", .path = "/order",
	.body = { "tea", 3 } };

/* X-Row, if any, is for how long it sleeps. */
static const char order[] = COUNT HELD
    "[ -z \"$HTTP_X_ROW\" ] || sleep \"$HTTP_X_ROW\"\n"
    "printf 'Content-Type: text/plain\\n\\nby %s\\n' $$\n";

/* --- an instance ---------------------------------------------------------- */

bool
cases_world_is_redis(const struct cases_world *w)
{
	return strcmp(w->arbiter, "redis") == 0;
}

void
cases_world_open(struct cases_world *w, struct rows_held *held)
{
	w->held = held;
	rig_open(&w->rig);
	w->rig.bare = true;
	rig_program(&w->rig, "order", order);
	if (cases_world_is_redis(w) || w->cache)
		redis_rig_start(&w->server, w->redis);
}

static unsigned
or(unsigned value, unsigned otherwise)
{
	return value != 0 ? value : otherwise;
}

static void
put_route(struct idem_buf *conf, struct cases_world *w)
{
	char cgi[RIG_PATH + 16];

	snprintf(cgi, sizeof cgi, "cgi { '%s' }", rig_at(&w->rig, "order"));
	idem_buf_printf(conf, "route { path = '/order', arbiter = '%s', "
	    "lease = '%ums', limit = '2m',\n    in_progress = '409', %s\n"
	    "    program = %s }\n", w->arbiter, or(w->lease_ms, 30000),
	    w->route != NULL ? w->route : "",
	    w->program != NULL ? w->program : cgi);
}

static void
put_conf(struct cases_world *w)
{
	struct idem_buf conf = { 0 };

	idem_buf_printf(&conf, "workers = %u\nprograms = %u\n"
	    "grace = '%ums'\nlocal_cache = 'none'\nrun = '%s-run'\n",
	    or(w->workers, 1), or(w->programs, 8), or(w->grace_ms, 300),
	    w->rig.ledger);
	if (!cases_world_is_redis(w))
		idem_buf_printf(&conf, "ledger = sqlite { path = '%s', "
		    "create = true }\n", w->rig.ledger);
	if (cases_world_is_redis(w) || w->cache)
		idem_buf_printf(&conf, "%s = redis { url = 'unix:%s', "
		    "probe = '200ms', timeout = '%ums', budget = '%ums' }\n",
		    w->cache ? "cache" : "shared",
		    w->link != NULL ? w->link : w->server.socket,
		    or(w->redis_ms, 10000), or(w->redis_ms, 10000));
	put_route(&conf, w);
	idem_buf_text(&conf, w->more != NULL ? w->more : "");
	idem_buf_u8(&conf, 0);
	if (!idem_buf_ok(&conf))
		bail_out("out of memory");
	rig_file(&w->rig, "idem.conf", (const char *)conf.at);
	idem_buf_free(&conf);
}

void
cases_world_start(struct cases_world *w)
{
	put_conf(w);
	ask_start(&w->rig, (const char *[]){ "--config",
	    rig_at(&w->rig, "idem.conf"), NULL });
	w->held->group[0] = w->rig.pid;
}

void
cases_world_close(struct cases_world *w)
{
	is_int(rig_stop(&w->rig, CASES_WAIT_MS), 0,
	    "%s: idemd ends with status 0", w->text);
	w->held->group[0] = 0;
	rig_end(&w->rig);
	redis_rig_end(&w->server);
}

void
cases_world_kill(struct rig *rig)
{
	int64_t until_ms = rig_now_ms() + CASES_WAIT_MS;
	int fd;

	kill(-rig->pid, SIGKILL);
	waitpid(rig->pid, NULL, 0);
	rig->pid = 0;
	while ((fd = rig_connect(rig)) != -1 && rig_now_ms() < until_ms) {
		close(fd);	/* who dies still listens for a moment */
		poll(NULL, 0, 2);
	}
}

/* --- requests ------------------------------------------------------------- */

static void
words(const struct rig_answer *answer, char *got, size_t size)
{
	snprintf(got, size, "%d %s", answer->status,
	    rig_field(answer, "Idempotency-Status"));
}

void
cases_asked(struct cases_world *w, char *got, size_t size)
{
	struct rig_answer answer;

	rig_request(&w->rig, &cases_order, &answer);
	words(&answer, got, size);
	rig_answer_free(&answer);
}

void
cases_ask_for(struct cases_world *w, int64_t ms, const char *always,
    const char *what)
{
	int64_t until_ms = rig_now_ms() + ms;
	char got[64];

	do {
		cases_asked(w, got, sizeof got);
		poll(NULL, 0, PAUSE_MS);
	} while (strcmp(got, always) == 0 && rig_now_ms() < until_ms);
	is(got, always, "%s: %s", w->text, what);
}

void
cases_ask_until(struct cases_world *w, int64_t ms, const char *want,
    struct rig_answer *answer, const char *what)
{
	int64_t begun_ms = rig_now_ms();
	struct rig_answer own;
	char got[64];

	if (answer == NULL)
		answer = &own;
	for (;;) {
		rig_request(&w->rig, &cases_order, answer);
		words(answer, got, sizeof got);
		if (strcmp(got, want) == 0 || rig_now_ms() > begun_ms + ms)
			break;
		rig_answer_free(answer);
		poll(NULL, 0, PAUSE_MS);
	}
	is(got, want, "%s: %s, after %lld ms", w->text, what,
	    (long long)(rig_now_ms() - begun_ms));
	if (answer == &own)
		rig_answer_free(answer);
}

int
cases_begin(struct cases_world *w)
{
	int fd;

	rig_file(&w->rig, "hold", "");
	fd = ask_begin(&w->rig, &cases_order);
	return ask_await_starts(&w->rig, fd, &cases_order, 1);
}

void
cases_end(struct cases_world *w, int fd, const char *want,
    struct rig_answer *answer, const char *what)
{
	unlink(rig_at(&w->rig, "hold"));
	ask_end(&w->rig, fd, answer);
	told(answer, want, "%s: %s", w->text, what);
}
