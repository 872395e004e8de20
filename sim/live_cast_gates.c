/* SPDX-License-Identifier: ISC */
#include "live_private.h"

#include "now.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define UP_MS 20000
#define ASK_MS 200

/* --- ledgers -------------------------------------------------------------- */

static int
folder_of(const struct live_cast *cast, const char *name, char out[LIVE_PATH])
{
	if (snprintf(out, LIVE_PATH, "%s/%s", cast->folder, name) >= LIVE_PATH)
		errno = ENAMETOOLONG;
	else if (mkdir(out, 0700) == 0 || errno == EEXIST)
		return 0;
	return -1;
}

static int
ledger_of(struct live_cast *cast, const char *name)
{
	struct live_ledger *ledger;
	char folder[40];
	size_t i;

	if (name == NULL)
		return PLAN_NONE;
	for (i = 0; i < cast->ledgers_n; i++)
		if (strcmp(cast->ledgers[i].name, name) == 0)
			return (int)i;
	ledger = &cast->ledgers[cast->ledgers_n++];
	ledger->name = name;
	snprintf(folder, sizeof folder, "ledger%zu", i + 1);
	(void)folder_of(cast, folder, ledger->folder);
	snprintf(folder, sizeof folder, "synced%zu", i + 1);
	(void)folder_of(cast, folder, ledger->shadow);
	snprintf(ledger->path, sizeof ledger->path, "%.90s/ledger%zu/ledger.db",
	    cast->folder, i + 1);
	return (int)i;
}

static int
map_disk(struct live_gate *g)
{
	const struct live_ledger *ledger = &g->cast->ledgers[g->ledger];
	char path[LIVE_PATH + 16];
	struct preload_disk *disk;

	snprintf(path, sizeof path, "%s/g%u.disk", g->cast->folder,
	    g->index + 1);
	if (live_map_open(&g->disk, path, sizeof *disk) != 0)
		return -1;
	disk = g->disk.at;
	snprintf(disk->folder, sizeof disk->folder, "%s", ledger->folder);
	snprintf(disk->shadow, sizeof disk->shadow, "%s", ledger->shadow);
	return 0;
}

/* --- instances ------------------------------------------------------------ */

static int
link_open(struct live_gate *g)
{
	const struct plan_gates *gates = &g->cast->plan->gates;
	const struct net_user user = live_link_user(g);

	g->aimed = gates->store;
	if (gates->store < 0 || g->cast->sentinels_at[0] != NULL)
		return 0;
	snprintf(g->link_path, sizeof g->link_path, "%.90s/g%u-%.10s",
	    g->cast->folder, g->index + 1, live_store_name(g->cast,
	    gates->store));
	snprintf(g->link_url, sizeof g->link_url, "unix:%s", g->link_path);
	g->link = net_open(g->cast->loop, g->link_path,
	    g->cast->stores[gates->store].server.url, false,
	    &g->cast->numbers, &user);
	return g->link != NULL ? 0 : -1;
}

static int
boot_write(struct live_gate *g)
{
	snprintf(g->boot, sizeof g->boot, "%.100s/g%u.boot", g->cast->folder,
	    g->index + 1);
	/* All are on one host until the power goes. */
	return live_file_write(g->boot,
	    "5f0c1d2e-0000-4000-8000-000000000001\n");
}

static int
gate_prepare(struct live_gate *g, unsigned index)
{
	struct live_cast *cast = g->cast;
	const struct plan_gates *gates = &cast->plan->gates;
	char name[16];

	g->index = index;
	g->ledger = ledger_of(cast, gates->ledger[index]);
	if (link_open(g) != 0)
		return -1;
	g->spec = (struct instance_spec){
		.plan = cast->plan, .number = index + 1,
		.folder = cast->folder, .program = cast->program,
		.ledger = g->ledger != PLAN_NONE ?
		    cast->ledgers[g->ledger].path : NULL,
		.store_url = g->link != NULL ? g->link_url : NULL,
		.stops = cast->labels[0] != '\0' ? cast->stops_path : NULL,
		.labels = cast->labels, .effects = cast->effects,
		.token_keys = cast->tokens[0] != '\0' ? cast->tokens : NULL
	};
	if (cast->sentinels_at[0] != NULL) {
		g->spec.sentinels = cast->sentinels_at;
		g->spec.store_url = live_store_name(cast, gates->store);
	}
	if (!cast->preload)
		return 0;
	snprintf(name, sizeof name, "g%u", index + 1);
	if (live_cast_clock(cast, name, &g->clock) != 0 ||
	    boot_write(g) != 0 ||
	    (g->ledger != PLAN_NONE && map_disk(g) != 0))
		return -1;
	g->spec.preload = cast->library;
	g->spec.shift = g->clock.path;
	g->spec.disk = g->disk.at != NULL ? g->disk.path : NULL;
	g->spec.boot = g->boot;
	return 0;
}

static bool
is_first(const struct live_cast *cast, size_t gate)
{
	size_t i;

	for (i = 0; i < gate; i++)
		if (cast->gates[i].ledger == cast->gates[gate].ledger)
			return false;
	return cast->gates[gate].ledger != PLAN_NONE;
}

/* Who interrupts does not wait for one that never comes up; and one that may
   open no more files accepts nobody, though its listener takes them. */
static int
await_up(struct live_gate *g)
{
	int64_t until = now_ms() + UP_MS;

	while (instance_await(g->cast->loop, &g->instance, ASK_MS) != 0)
		if (errno != ETIMEDOUT || live_stopped() || g->starved ||
		    now_ms() >= until)
			return -1;
	return g->starved ? -1 : 0;
}

/* Who makes a ledger is up before the others open it. */
static int
gates_start(struct live_cast *cast, bool makers)
{
	struct live_gate *g;
	size_t i;

	for (i = 0; i < cast->gates_n; i++) {
		g = &cast->gates[i];
		if (is_first(cast, i) != makers)
			continue;
		g->spec.make_ledger = makers;
		live_hear_gate(g);
		if (instance_start(cast->loop, &g->instance, &g->spec) != 0)
			return live_cast_failed(cast, "an instance",
			    strerror(errno));
	}
	for (i = 0; i < cast->gates_n; i++)
		if (is_first(cast, i) == makers &&
		    await_up(&cast->gates[i]) != 0)
			return live_cast_failed(cast,
			    cast->gates[i].instance.name,
			    cast->gates[i].starved ? LIVE_STARVED :
			    "it does not accept");
	return 0;
}

int
live_cast_gates(struct live_cast *cast)
{
	size_t i;

	for (i = 0; i < cast->gates_n; i++) {
		cast->gates[i].cast = cast;
		if (gate_prepare(&cast->gates[i], (unsigned)i) != 0)
			return live_cast_failed(cast, "a link or a file",
			    strerror(errno));
	}
	return gates_start(cast, true) == 0 ? gates_start(cast, false) : -1;
}

int
live_gate_again(struct live_gate *g)
{
	if (instance_again(g->cast->loop, &g->instance) != 0)
		return -1;
	g->instance.child.doomed = g->instance.front.doomed = false;
	g->down = false;
	if (g->cast->run != NULL)
		live_spawn(g->cast->run, g->instance.name, true,
		    g->instance.life, g->instance.child.pid);
	return 0;
}
