/* SPDX-License-Identifier: ISC */
#include "server_private.h"

#include "now.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define TURN_MS 5

int
server_watch(struct loop *loop, struct server sentinels[SERVER_SENTINELS],
    const struct server *master, const char *folder)
{
	char name[CHILD_NAME];
	unsigned i;
	int error;

	for (i = 0; i < SERVER_SENTINELS; i++) {
		snprintf(name, sizeof name, "%.16s.s%u", master->plan->name,
		    i + 1);
		if (server_open(loop, &sentinels[i], master->plan, folder,
		    name) == -1)
			break;
		sentinels[i].in->watched = master;
		if (server_launch(&sentinels[i]) == -1)
			break;
	}
	if (i == SERVER_SENTINELS)
		return 0;
	error = errno;
	for (i = 0; i < SERVER_SENTINELS; i++)
		server_end(&sentinels[i]);
	errno = error;
	return -1;
}

/* What a sentinel knows of its master, by a field's name. */
static bool
knows(struct server *sentinel, const char *field, unsigned n,
    int64_t until_ms)
{
	const char *const words[] = { "SENTINEL", "MASTER",
		sentinel->plan->name, NULL };
	char wanted[80];
	struct server_talk t;
	struct idem_bytes reply;
	bool found;

	snprintf(wanted, sizeof wanted, "\r\n%s\r\n$%d\r\n%u\r\n", field,
	    snprintf(NULL, 0, "%u", n), n);
	server_talk_open_until(&t, sentinel, until_ms);
	server_talk_words(&t, words);
	reply = server_talk_get(&t);
	found = reply.len > 0 && memmem(reply.at, reply.len, wanted,
	    strlen(wanted)) != NULL;
	server_talk_close(&t);
	return found;
}

/* They tell each other where they are every other second, unless asked; before
   Redis 7 they cannot be. */
static void
hasten(struct server sentinels[SERVER_SENTINELS], int64_t until_ms)
{
	const char *const words[] = { "SENTINEL", "DEBUG", "publish-period",
		"50", "info-period", "100", "ask-period", "50", NULL };
	struct server_talk t;
	int i;

	for (i = 0; i < SERVER_SENTINELS; i++) {
		server_talk_open_until(&t, &sentinels[i], until_ms);
		server_talk_words(&t, words);
		(void)server_talk_get(&t);
		server_talk_close(&t);
	}
}

static bool
all_know(struct server sentinels[SERVER_SENTINELS], unsigned replicas,
    int64_t until_ms)
{
	int i;

	for (i = 0; i < SERVER_SENTINELS; i++)
		if (!knows(&sentinels[i], "num-other-sentinels",
		    SERVER_SENTINELS - 1, until_ms) ||
		    !knows(&sentinels[i], "num-slaves", replicas, until_ms))
			return false;
	return true;
}

int
server_await_watched(struct loop *loop,
    struct server sentinels[SERVER_SENTINELS], unsigned replicas,
    int64_t wait_ms)
{
	int64_t until_ms = now_ms() + wait_ms;

	hasten(sentinels, until_ms);
	while (!all_know(sentinels, replicas, until_ms)) {
		if (now_ms() > until_ms) {
			errno = ETIMEDOUT;
			return -1;
		}
		if (loop_turn(loop, now_ms() + TURN_MS)
		    == -1)
			return -1;
	}
	return 0;
}
