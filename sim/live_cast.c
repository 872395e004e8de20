/* SPDX-License-Identifier: ISC */
#include "live_private.h"

#include "folder.h"
#include "paths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define END_MS 500

/*
 * The one that outlives its run, for the next one of the same plan; and the
 * loop, which all of them need.
 */
static struct {
	struct loop *loop;
	struct live_cast *cast;	/* it may be harmed: then its folder is all */
	unsigned made;
} kept;

static bool
touches(const struct plan *plan, enum plan_action_kind from,
    enum plan_action_kind to)
{
	const struct plan_action *a;
	unsigned id;

	for (id = 0; (a = plan_action_at(plan, id)) != NULL; id++)
		if (a->kind >= from && a->kind <= to)
			return true;
	return false;
}

/* --- all of them ---------------------------------------------------------- */

static int
names_find_all(struct live_cast *cast, char *wrong, size_t wrong_size)
{
	const struct plan_handler *h = &cast->plan->handler;
	const char *program = h->effect == PLAN_EXTERNAL ? h->command :
	    paths_find("idemsim-program");
	const char *library = cast->preload ?
	    paths_find("idemsim-preload.so") : "";

	if (program == NULL || library == NULL) {
		snprintf(wrong, wrong_size, "%s is not there", program == NULL
		    ? "idemsim-program" : "idemsim-preload.so");
		return -1;
	}
	snprintf(cast->program, sizeof cast->program, "%s", program);
	snprintf(cast->library, sizeof cast->library, "%s", library);
	return 0;
}

static int
tokens_write(struct live_cast *cast)
{
	if (cast->plan->gates.arbiter != PLAN_TOKEN)
		return 0;
	snprintf(cast->tokens, sizeof cast->tokens, "%.100s/token.keys",
	    cast->folder);
	return live_file_write(cast->tokens, LIVE_TOKEN_KEYS);
}

int
live_cast_failed(struct live_cast *cast, const char *who, const char *what)
{
	char few[LIVE_FEW];

	snprintf(cast->wrong, sizeof cast->wrong, "%.40s: %.70s%s", who, what,
	    live_few_files(few));
	return -1;
}

static int
open_all(struct live_cast *cast, char *wrong, size_t wrong_size)
{
	const char *below = child_warden_start();

	if (below == NULL || names_find_all(cast, wrong, wrong_size) != 0)
		return -1;
	snprintf(cast->folder, sizeof cast->folder, "%.80s/%u", below,
	    ++kept.made);
	snprintf(cast->stops_path, sizeof cast->stops_path, "%.100s/stops",
	    cast->folder);
	snprintf(cast->effects, sizeof cast->effects, "%.100s/effects",
	    cast->folder);
	if (mkdir(cast->folder, 0700) != 0 ||
	    live_file_write(cast->effects, "") != 0 ||
	    tokens_write(cast) != 0)
		return -1;
	cast->stops = stops_open(cast->loop, cast->stops_path,
	    live_stop_reached, cast);
	if (cast->stops == NULL || live_cast_stores(cast) != 0)
		return -1;
	return live_cast_gates(cast);
}

static void
cast_close(struct live_cast *cast)
{
	size_t i;

	cast->run = NULL;
	for (i = 0; i < cast->gates_n; i++) {
		live_gate_kill(&cast->gates[i]);
		instance_end(cast->loop, &cast->gates[i].instance, END_MS);
		if (cast->gates[i].link != NULL)
			net_close(cast->gates[i].link);
		live_map_close(&cast->gates[i].clock);
		live_map_close(&cast->gates[i].disk);
	}
	for (i = 0; i < cast->stores_n; i++) {
		cast->stores[i].server.child.doomed = true;
		server_end(&cast->stores[i].server);
		if (cast->stores[i].replication != NULL)
			net_close(cast->stores[i].replication);
		live_map_close(&cast->stores[i].clock);
	}
	for (i = 0; i < SERVER_SENTINELS; i++) {
		cast->sentinels[i].child.doomed = true;
		server_end(&cast->sentinels[i]);
	}
	if (cast->stops != NULL)
		stops_close(cast->stops);
	cast->stops = NULL;
	cast->gates_n = cast->stores_n = 0;
	cast->harmed = true;
}

/* Its folder stays until the next one is made: somebody may want the logs. */
static void
cast_free(struct live_cast *cast)
{
	if (cast == NULL)
		return;
	cast_close(cast);
	(void)folder_remove(cast->folder);
	free(cast);
}

static struct live_cast *
cast_open(const struct plan *plan, char *wrong, size_t wrong_size)
{
	struct live_cast *cast = calloc(1, sizeof *cast);

	if (cast == NULL) {
		snprintf(wrong, wrong_size, "no memory");
		return NULL;
	}
	cast->loop = kept.loop;
	cast->plan = plan;
	cast->gates_n = plan->gates.n;
	cast->stores_n = plan->stores_n;
	cast->preload = touches(plan, PLAN_DISK_POWER_LOSS, PLAN_CLOCK_RATE);
	live_rules_labels(plan, cast->labels, sizeof cast->labels);
	wrong[0] = '\0';
	if (open_all(cast, wrong, wrong_size) == 0)
		return cast;
	if (wrong[0] == '\0')
		snprintf(wrong, wrong_size, "%s", cast->wrong[0] != '\0' ?
		    cast->wrong : strerror(errno));
	cast_close(cast);
	kept.cast = cast;
	return NULL;
}

/* --- from run to run ------------------------------------------------------ */

static bool
is_fit(const struct live_cast *cast, const struct plan *plan)
{
	size_t i;

	if (cast->plan != plan || cast->harmed || cast->runs >= LIVE_RUNS_MAX)
		return false;
	for (i = 0; i < cast->gates_n; i++)
		if (cast->gates[i].instance.child.pid == 0)
			return false;
	return true;
}

/* What the last run has left there; replicas do as their masters do. */
static bool
is_made_fresh(struct live_cast *cast)
{
	size_t i;

	for (i = 0; i < cast->stores_n; i++)
		if (cast->plan->stores[i].replica_of < 0 &&
		    (server_reset(&cast->stores[i].server) != 0 ||
		    live_cast_script(&cast->stores[i]) != 0))
			return false;
	return truncate(cast->effects, 0) == 0;
}

/* Each client, link and log wants one; what there is more than enough of. */
static void
raise_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
	    limit.rlim_cur == limit.rlim_max)
		return;
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

struct live_cast *
live_cast_take(const struct plan *plan, char *wrong, size_t wrong_size)
{
	struct live_cast *cast = kept.cast;

	if (kept.loop == NULL) {
		raise_descriptors();
		kept.loop = loop_new(&idem_clock_real);
	}
	if (kept.loop == NULL) {
		snprintf(wrong, wrong_size, "no loop: %s", strerror(errno));
		return NULL;
	}
	if (cast != NULL && is_fit(cast, plan) && is_made_fresh(cast))
		return cast;
	kept.cast = NULL;
	cast_free(cast);
	return cast_open(plan, wrong, wrong_size);
}

void
live_cast_leave(struct live_cast *cast)
{
	cast->run = NULL;
	cast->runs++;
	if (cast->harmed)
		cast_close(cast);
	kept.cast = cast;
}

void
live_cast_end(void)
{
	struct live_cast *cast = kept.cast;

	kept.cast = NULL;
	cast_free(cast);
	loop_free(kept.loop);
	kept.loop = NULL;
}

const char *
live_cast_folder(void)
{
	return kept.cast != NULL ? kept.cast->folder : NULL;
}

bool
live_cast_await(struct live_cast *cast, int64_t wait_ms)
{
	bool up = true;
	size_t i;

	for (i = 0; i < cast->stores_n; i++)
		up = (cast->stores[i].down || server_await(cast->loop,
		    &cast->stores[i].server, wait_ms) == 0) && up;
	for (i = 0; i < cast->gates_n; i++)
		up = (cast->gates[i].down || instance_await(cast->loop,
		    &cast->gates[i].instance, wait_ms) == 0) && up;
	return up;
}
