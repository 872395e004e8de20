/* SPDX-License-Identifier: ISC */
#include "ask.h"
#include "preload.h"
#include "redis_rig.h"
#include "rows.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/*
 * Somebody sets a clock while a program runs: an hour forward or back, of idemd
 * or of the store.  Nothing else starts, though the key may be run again once
 * its run is surely dead; nobody takes the key over before its time; and every
 * client is told of a time to wait that is one.
 */
#define HOUR_MS 3600000
#define LEASE_MS 8000		/* renewed in time on a busy machine */
#define GRACE_MS 500
#define BEFORE_MS 300		/* that the clocks are set */
#define ASK_MS 9500		/* for how long duplicates are sent: longer
				   than lease and grace */
#define LATE_MS 10500		/* the same, where the run's idemd stands
				   still */
#define PAUSE_MS 240
#define AT_ONCE 12
#define HOSTS 2

enum at { LEDGER, REDIS, TOKEN, ATS };
enum whose {
	GATES,		/* of every idemd */
	ASKER,		/* of the one that duplicates come to */
	STORE,		/* of Redis */
	ALL
};
enum where {
	SAME,		/* duplicates come to the idemd that runs the program */
	OTHER,		/* to another host's */
	SILENT		/* the same, and the first one has stopped; its program
			   goes on */
};

static const struct row {
	enum at at;
	enum where where;
	enum whose whose;
} rows[] = {
	{ LEDGER, SAME, GATES },
	{ REDIS, SAME, GATES },
	{ REDIS, SAME, STORE },
	{ REDIS, SAME, ALL },
	{ REDIS, OTHER, GATES },
	{ REDIS, OTHER, ASKER },
	{ REDIS, OTHER, STORE },
	{ REDIS, OTHER, ALL },
	{ REDIS, SILENT, ASKER },
	{ REDIS, SILENT, STORE },
	{ REDIS, SILENT, ALL },
	{ TOKEN, SAME, GATES },
	{ TOKEN, SAME, STORE },
	{ TOKEN, OTHER, ASKER },
	{ TOKEN, OTHER, STORE },
	{ TOKEN, SILENT, STORE },
	{ TOKEN, SILENT, ALL }
};
#define ROWS (sizeof rows / sizeof *rows)

struct world {
	const struct row *row;
	int64_t step_ms;
	unsigned hosts;
	struct rig rig[HOSTS];
	struct redis_rig redis;
	struct preload_clock *gate[HOSTS], *store;
	char key[96], text[128];
};

static void
pause_ms(int64_t ms)
{
	const struct timespec t = { ms / 1000, (long)(ms % 1000) * 1000000 };

	nanosleep(&t, NULL);
}

/* --- clocks --------------------------------------------------------------- */

/* Absolute: who starts in another folder would go without it.  NULL: it is not
   built. */
static const char *
preload(char path[PATH_MAX])
{
	const char *folder = getenv("top_builddir");
	char name[512];

	snprintf(name, sizeof name, "%s/idemsim-preload.so",
	    folder != NULL ? folder : ".");
	return realpath(name, path);
}

/* Of what is started from now on. */
static void
have_clock(struct world *w, const char *name, struct preload_clock **clock)
{
	const char *path = rig_at(&w->rig[0], name);
	char library[PATH_MAX];
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	void *at = MAP_FAILED;

	if (fd != -1 && ftruncate(fd, sizeof **clock) == 0)
		at = mmap(NULL, sizeof **clock, PROT_READ | PROT_WRITE,
		    MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		bail_out("%s: %s", path, strerror(errno));
	close(fd);
	*clock = at;
	setenv(PRELOAD_SHIFT, path, 1);
	setenv("LD_PRELOAD", preload(library), 1);
	/* It comes before that library, and needs nothing of it. */
	setenv("ASAN_OPTIONS", "verify_asan_link_order=0", 1);
}

static void
have_none(void)
{
	unsetenv(PRELOAD_SHIFT);
	unsetenv(PRELOAD_BOOT);
	unsetenv("LD_PRELOAD");
}

static void
set_clock(struct preload_clock *clock, int64_t shift_ms)
{
	atomic_store(&clock->offset_ms, shift_ms);
}

static void
set_clocks(struct world *w, int64_t shift_ms)
{
	enum whose whose = w->row->whose;
	unsigned i;

	for (i = 0; i < w->hosts; i++)
		if (whose == GATES || whose == ALL ||
		    (whose == ASKER && i == w->hosts - 1))
			set_clock(w->gate[i], shift_ms);
	if (w->row->at != LEDGER && (whose == STORE || whose == ALL))
		set_clock(w->store, shift_ms);
}

/* --- the world ------------------------------------------------------------ */

static void
put_conf(struct world *w, unsigned i)
{
	static const char *const names[ATS] = { "ledger", "redis", "token" };
	struct rig *rig = &w->rig[i];
	struct idem_buf conf = { 0 };

	idem_buf_printf(&conf, "workers = 2\nprograms = 4\ngrace = '%dms'\n"
	    "local_cache = 'none'\nrun = '%s'\n", GRACE_MS,
	    rig_at(rig, "run"));
	if (w->row->at == LEDGER)
		idem_buf_printf(&conf, "ledger = sqlite { path = '%s', "
		    "create = true }\n", rig->ledger);
	else
		idem_buf_printf(&conf, "shared = redis { url = '%s', "
		    "timeout = '20s', budget = '20s' }\n", w->redis.url);
	if (w->row->at == TOKEN)
		idem_buf_printf(&conf, "tokens = { keys = '%s' }\n",
		    rig_at(&w->rig[0], "keys"));
	idem_buf_printf(&conf, "route { path = '/order', arbiter = '%s',\n"
	    "    on_unknown = retry(3), in_progress = '409',\n"
	    "    lease = '%dms', limit = '30s', program = cgi { '%s' } }\n",
	    names[w->row->at], LEASE_MS, rig_at(&w->rig[0], "order"));
	idem_buf_u8(&conf, 0);
	if (!idem_buf_ok(&conf))
		bail_out("out of memory");
	rig_file(rig, "idem.conf", (const char *)conf.at);
	idem_buf_free(&conf);
}

/* A host of its own: another boot, another folder, another clock. */
static void
start_host(struct world *w, unsigned i, struct rows_held *held)
{
	char boot[64], clock[16];

	snprintf(clock, sizeof clock, "clock%u", i);
	have_clock(w, clock, &w->gate[i]);
	snprintf(boot, sizeof boot, "00000000-0000-4000-8000-00000000000%u\n",
	    i);
	rig_file(&w->rig[i], "boot", boot);
	setenv(PRELOAD_BOOT, rig_at(&w->rig[i], "boot"), 1);
	put_conf(w, i);
	w->rig[i].request_ms = 60000;
	ask_start(&w->rig[i], (const char *[]){ "--config",
	    rig_at(&w->rig[i], "idem.conf"), NULL });
	held->group[i] = w->rig[i].pid;
	have_none();
}

static void
make_key(struct world *w)
{
	static const char before[] = "{\"token\":\"";
	struct rig_answer answer;
	const char *body;

	snprintf(w->key, sizeof w->key, "\"step\"");
	if (w->row->at != TOKEN)
		return;
	rig_request(&w->rig[0], &(struct rig_request){ .method = "POST",
	    .path = "/.idem/token", .query = "path=/order" }, &answer);
	body = answer.body.at;
	if (answer.status != 201 || answer.body.len < sizeof before)
		bail_out("no token: status %d", answer.status);
	body += sizeof before - 1;
	snprintf(w->key, sizeof w->key, "%.*s", (int)strcspn(body, "\""), body);
	rig_answer_free(&answer);
}

static void
world_open(struct world *w, struct rows_held *held)
{
	unsigned i;

	w->hosts = w->row->where == SAME ? 1 : 2;
	for (i = 0; i < w->hosts; i++) {
		rig_open(&w->rig[i]);
		w->rig[i].bare = true;
	}
	rig_program(&w->rig[0], "order", "#!/bin/sh\necho x >>starts\n"
	    HELD "printf 'Content-Type: text/plain\\n\\nby %s\\n' $$\n");
	rig_file(&w->rig[0], "keys", "a 000102030405060708090a0b0c0d0e0f\n");
	rig_file(&w->rig[0], "hold", "");
	chmod(rig_at(&w->rig[0], "keys"), 0600);
	if (w->row->at != LEDGER) {
		have_clock(w, "clock-store", &w->store);
		redis_rig_start(&w->redis, NULL);
		have_none();
	}
	for (i = 0; i < w->hosts; i++)
		start_host(w, i, held);
	make_key(w);
}

static void
world_close(struct world *w, struct rows_held *held)
{
	unsigned i;

	for (i = 0; i < w->hosts; i++) {
		rig_stop(&w->rig[i], 20000);
		held->group[i] = 0;
	}
	for (i = w->hosts; i-- > 0; )
		rig_end(&w->rig[i]);
	redis_rig_end(&w->redis);
}

/* --- what duplicates are told --------------------------------------------- */

struct heard {
	unsigned waits, unknowns, others;
	int64_t unknown_ms;	/* the first, after the first one was sent */
	long least, most;	/* Retry-After, in seconds */
	char other[64];		/* the last */
};

static struct rig_request
request(const struct world *w)
{
	return (struct rig_request){ .method = "POST", .path = "/order",
		.key = w->key, .body = idem_bytes_text("item=tea") };
}

static void
hear(struct heard *h, const struct rig_answer *answer, int64_t ms)
{
	const char *says = rig_field(answer, "Idempotency-Status");
	long after = strtol(rig_field(answer, "Retry-After"), NULL, 10);

	if (answer->status == 409 && strcmp(says, "in-progress") == 0) {
		h->least = h->waits == 0 || after < h->least ? after : h->least;
		h->most = after > h->most ? after : h->most;
		h->waits++;
	} else if (answer->status == 409 && strcmp(says, "unknown") == 0) {
		if (h->unknowns++ == 0)
			h->unknown_ms = ms;
	} else {
		h->others++;
		snprintf(h->other, sizeof h->other, "%d %.40s", answer->status,
		    says);
	}
}

/* Once at least. */
static void
ask_duplicates(struct world *w, int64_t sent_ms, int64_t for_ms,
    struct heard *h)
{
	int64_t until_ms = rig_now_ms() + for_ms;
	const struct rig_request duplicate = request(w);
	struct rig_answer answer;

	do {
		rig_request(&w->rig[w->hosts - 1], &duplicate, &answer);
		hear(h, &answer, rig_now_ms() - sent_ms);
		rig_answer_free(&answer);
		pause_ms(PAUSE_MS);
	} while (rig_now_ms() < until_ms);
}

static void
judge(struct world *w, const struct heard *h)
{
	if (!is_int(h->others, 0, "%s: a duplicate waits or is refused "
	    "[idem:F4]", w->text))
		note("it was told %s", h->other);
	ok(h->waits > 0 && h->least >= 1 && h->most <= LEASE_MS / 1000,
	    "%s: Retry-After is within the lease: %ld to %ld s [idem:F4]",
	    w->text, h->least, h->most);
	if (w->row->where != SILENT)
		is_int(h->unknowns, 0, "%s: nobody takes it over while it is "
		    "renewed [idem:F4]", w->text);
	else
		/* It was claimed after it was sent. */
		ok(h->unknowns == 0 || h->unknown_ms >= LEASE_MS + GRACE_MS,
		    "%s: nor before lease and grace are over: %lld ms "
		    "[idem:F4]", w->text, (long long)h->unknown_ms);
	is_int(starts(&w->rig[0]), 1, "%s: it has been started once "
	    "[idem:F4]", w->text);
}

/* --- a row ---------------------------------------------------------------- */

static void
replay(struct world *w, unsigned host, const struct rig_answer *first,
    const char *when)
{
	const struct rig_request duplicate = request(w);
	struct rig_answer answer;

	rig_request(&w->rig[host], &duplicate, &answer);
	told(&answer, "200 replayed", "%s: %s", w->text, when);
	is_bytes(answer.body.at, answer.body.len, first->body.at,
	    first->body.len, "%s: %s, byte for byte", w->text, when);
	rig_answer_free(&answer);
}

static void
story(struct world *w)
{
	const struct rig_request one = request(w);
	bool silent = w->row->where == SILENT;
	struct heard heard = { 0 };
	struct rig_answer answer;
	int64_t sent_ms = rig_now_ms();
	int fd = ask_begin(&w->rig[0], &one);

	await_starts(&w->rig[0], 1);
	if (silent)
		kill(-w->rig[0].pid, SIGSTOP);
	ask_duplicates(w, sent_ms, BEFORE_MS, &heard);
	set_clocks(w, w->step_ms);
	ask_duplicates(w, sent_ms, silent ? LATE_MS : ASK_MS, &heard);
	judge(w, &heard);
	unlink(rig_at(&w->rig[0], "hold"));
	if (silent) {
		pause_ms(100);	/* so that it ends unseen */
		kill(-w->rig[0].pid, SIGCONT);
	}
	ask_end(&w->rig[0], fd, &answer);
	told(&answer, "200 stored", "%s: the first one", w->text);
	replay(w, w->hosts - 1, &answer, "a duplicate after it");
	set_clocks(w, 0);
	replay(w, 0, &answer, "one after the clock is right again");
	rig_answer_free(&answer);
	is_int(starts(&w->rig[0]), 1, "%s: once in all [idem:F4]", w->text);
}

static void
run_row(size_t i, void *arg, struct rows_held *held)
{
	static const char *const at[ATS] = { "ledger", "redis", "token" };
	static const char *const where[] = { "one host", "two hosts",
		"two hosts, one stopped" };
	static const char *const whose[] = { "idemd's clock",
		"the asked host's clock", "Redis' clock", "all clocks" };
	struct world w = { .row = &rows[i / 2],
		.step_ms = i % 2 == 0 ? HOUR_MS : -HOUR_MS };

	(void)arg;
	snprintf(w.text, sizeof w.text, "%s, %s, %s %s", at[w.row->at],
	    where[w.row->where], whose[w.row->whose],
	    w.step_ms > 0 ? "+1 h" : "-1 h");
	if (w.row->at != LEDGER && redis_rig_missing() != NULL) {
		skip(redis_rig_missing(), "%s", w.text);
		return;
	}
	world_open(&w, held);
	story(&w);
	world_close(&w, held);
}

/* The tool does what it is for: in the year 2001 plus whatever. */
static void
prove_tool(void)
{
	struct world w = { .hosts = 1 };
	int64_t now_s = (int64_t)time(NULL);
	char command[RIG_PATH + 64];
	struct preload_clock *clock;
	char *told_s;

	rig_open(&w.rig[0]);
	have_clock(&w, "clock", &clock);
	set_clock(clock, -HOUR_MS);
	rig_program(&w.rig[0], "p", "#!/bin/sh\ndate +%s >\"$1\"\n");
	snprintf(command, sizeof command, "%s", rig_at(&w.rig[0], "p"));
	if (fork() == 0) {
		execl(command, command, rig_at(&w.rig[0], "said"),
		    (char *)NULL);
		_exit(127);
	}
	rig_await_lines(&w.rig[0], "said", 1, 60000);
	have_none();
	told_s = rig_slurp(&w.rig[0], "said");
	ok(told_s != NULL && labs(strtol(told_s, NULL, 10) - (long)now_s +
	    HOUR_MS / 1000) < 60, "a clock is set back by an hour: %s",
	    told_s != NULL ? strtok(told_s, "\n") : "nothing");
	free(told_s);
	rig_end(&w.rig[0]);
}

int
main(void)
{
	char path[PATH_MAX];

	if (preload(path) == NULL)
		skip_all("idemsim-preload.so is not built");
	prove_tool();
	rows_at_once(2 * ROWS, AT_ONCE, run_row, NULL);
	return done();
}
