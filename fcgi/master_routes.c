/* SPDX-License-Identifier: ISC */
#include "master_private.h"

#include <stdio.h>
#include <string.h>

/* --- what they promise ---------------------------------------------------- */

static void
say(struct master *m, const struct conf_route *r)
{
	struct conf_promise p;

	conf_promises(m->conf, r, &p);
	log_open(&m->log);
	log_quoted(&m->log, "route", r->route.path);
	log_text(&m->log, "arbiter", p.arbiter);
	if (p.scheme != NULL)
		log_text(&m->log, "scheme", p.scheme);
	if (p.on_outage != NULL)
		log_text(&m->log, "on-outage", p.on_outage);
	log_text(&m->log, "on-unknown", p.on_unknown);
	log_text(&m->log, "once", p.once);
	log_text(&m->log, "same-answer", p.same_answer);
	log_text(&m->log, "kept", p.kept);
	log_quoted(&m->log, "fails-when", p.fails_when);
	log_close(&m->log);
}

static void
warn(void *arg, const char *sentence)
{
	struct master *m = arg;

	log_line(&m->log, "warning: %s", sentence);
}

void
master_routes_say(struct master *m)
{
	size_t i;

	for (i = 0; i < m->conf->routes_len; i++)
		say(m, &m->conf->routes[i]);
	for (i = 0; i < m->conf->warnings.len; i++)
		warn(m, m->conf->warnings.at[i]);
	conf_look(m->conf, warn, m);
}

/* --- what they need ------------------------------------------------------- */

bool
master_routes_memory(struct master *m, const struct conf *conf, char *error,
    size_t error_size)
{
	const char *const places[] = { MEMORY_PLACE, m->run, NULL };
	const struct conf_route *route = memory_wanted(conf);

	if (!m->tidied)
		memory_tidy(places);
	m->tidied = true;
	if (route == NULL || m->memory.path != NULL)
		return true;
	if (memory_make(&m->memory, places, &m->log) == 0 &&
	    strlen(m->memory.path) < sizeof m->shm->memory) {
		strncpy(m->shm->memory, m->memory.path,
		    sizeof m->shm->memory - 1);
		return true;
	}
	memory_drop(&m->memory);
	snprintf(error, error_size, "%s: on_outage = \"memory\" has no place, "
	    "neither in %s nor in %s (the log says why)", route->text,
	    places[0], places[1]);
	return false;
}
