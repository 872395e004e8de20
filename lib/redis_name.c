/* SPDX-License-Identifier: ISC */
#include "redis_name_ask.h"

#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#define FRESH_MS 30000		/* then it is asked for again, while in use */
#define FAILED_MS 1000		/* a failure is believed */
#define NAMES_MAX 64u		/* kept */

struct name {
	struct name *next;
	bool asked, doubted;
	int64_t asked_ms;	/* of what is known */
	const char *why;	/* it failed; NULL: it did not */
	struct idem_redis_addresses known;
	char host[];
};

struct idem_redis_names {
	const struct idem_clock *clock;
	idem_redis_resolve *resolve;
	struct idem_redis_name_ask *ask;
	struct name *first;	/* the last one used */
	size_t len, asked;
	unsigned turn;
};

/* Make room by that which was not used for longest and is not asked for. */
static void
forget_one(struct idem_redis_names *names)
{
	struct name **at, **found = NULL, *gone;

	for (at = &names->first; *at != NULL; at = &(*at)->next)
		if (!(*at)->asked)
			found = at;
	if (found == NULL)
		return;
	gone = *found;
	*found = gone->next;
	free(gone);
	names->len--;
}

static struct name *
new_name(struct idem_redis_names *names, const char *host)
{
	size_t size = strlen(host) + 1;
	struct name *n;

	if (names->len >= NAMES_MAX)
		forget_one(names);
	n = calloc(1, sizeof *n + size);
	if (n == NULL)
		return NULL;
	memcpy(n->host, host, size);
	names->len++;
	return n;
}

static struct name *
take_out(struct idem_redis_names *names, const char *host)
{
	struct name **at = &names->first, *n;

	while (*at != NULL && strcmp((*at)->host, host) != 0)
		at = &(*at)->next;
	n = *at;
	if (n != NULL)
		*at = n->next;
	return n;
}

/* It is the first then. */
static struct name *
find_or_make(struct idem_redis_names *names, const char *host)
{
	struct name *n = take_out(names, host);

	if (n == NULL)
		n = new_name(names, host);
	if (n != NULL) {
		n->next = names->first;
		names->first = n;
	}
	return n;
}

static bool
stale(const struct name *n, int64_t now_ms)
{
	bool soon = n->why != NULL || n->doubted;

	return n->asked_ms == 0 ||
	    now_ms - n->asked_ms >= (soon ? FAILED_MS : FRESH_MS);
}

/* If that is due; false: it was, and could not be done. */
static bool
ask_for(struct idem_redis_names *names, struct name *n, int64_t now_ms)
{
	if (n->asked || !stale(n, now_ms) ||
	    names->asked >= IDEM_REDIS_NAMES_ASKED)
		return true;
	if (!idem_redis_name_ask_put(names->ask, n->host, names->resolve))
		return false;
	n->asked = true;
	names->asked++;
	return true;
}

static enum idem_redis_name
failed(const char **why, const char *text)
{
	*why = text;
	return IDEM_REDIS_NAME_FAILED;
}

enum idem_redis_name
idem_redis_names_look(struct idem_redis_names *names, const char *host,
    struct idem_redis_addresses *found, const char **why)
{
	int64_t now_ms = idem_boot_ms(names->clock);
	struct name *n;
	bool asking;

	if (idem_redis_name_ask_system(host, AI_NUMERICHOST, found) == NULL)
		return IDEM_REDIS_NAME_KNOWN;
	n = find_or_make(names, host);
	if (n == NULL)
		return failed(why, "no memory");
	asking = ask_for(names, n, now_ms);
	if (n->known.len > 0) {
		*found = n->known;
		return IDEM_REDIS_NAME_KNOWN;
	}
	if (!asking)
		return failed(why, "no thread to resolve it");
	if (n->why != NULL && !n->asked && !stale(n, now_ms))
		return failed(why, n->why);
	return IDEM_REDIS_NAME_ASKED;
}

void
idem_redis_names_doubt(struct idem_redis_names *names, const char *host)
{
	struct name *n;

	for (n = names->first; n != NULL; n = n->next)
		if (strcmp(n->host, host) == 0)
			n->doubted = true;
}

/* --- what comes back ------------------------------------------------------ */

/* Old addresses are better than none. */
static void
settle(struct idem_redis_names *names, const struct idem_redis_name_question *q)
{
	struct name *n;

	for (n = names->first; n != NULL; n = n->next)
		if (strcmp(n->host, q->host) == 0)
			break;
	names->asked--;
	names->turn++;
	if (n == NULL)
		return;
	n->asked = n->doubted = false;
	n->asked_ms = idem_boot_ms(names->clock);
	n->why = q->why;
	if (q->why == NULL)
		n->known = q->found;
}

int
idem_redis_names_fd(const struct idem_redis_names *names)
{
	return idem_redis_name_ask_fd(names->ask);
}

void
idem_redis_names_poll(struct idem_redis_names *names)
{
	struct idem_redis_name_question *q, *next;

	q = idem_redis_name_ask_take(names->ask);
	for (; q != NULL; q = next) {
		next = q->next;
		settle(names, q);
		free(q);
	}
}

unsigned
idem_redis_names_turn(const struct idem_redis_names *names)
{
	return names->turn;
}

static const char *
by_system(const char *host, struct idem_redis_addresses *found)
{
	return idem_redis_name_ask_system(host, 0, found);
}

struct idem_redis_names *
idem_redis_names_new(const struct idem_clock *clock,
    idem_redis_resolve *resolve)
{
	struct idem_redis_names *names = calloc(1, sizeof *names);

	if (names == NULL)
		return NULL;
	names->clock = clock;
	names->resolve = resolve != NULL ? resolve : by_system;
	names->ask = idem_redis_name_ask_new();
	if (names->ask == NULL) {
		free(names);
		return NULL;
	}
	return names;
}

void
idem_redis_names_free(struct idem_redis_names *names)
{
	struct name *n, *next;

	if (names == NULL)
		return;
	idem_redis_name_ask_free(names->ask);
	for (n = names->first; n != NULL; n = next) {
		next = n->next;
		free(n);
	}
	free(names);
}
