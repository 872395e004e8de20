/* SPDX-License-Identifier: ISC */
#ifndef TESTS_REDIS_ASK_H
#define TESTS_REDIS_ASK_H

#include "redis.h"

/*
 * Commands to an idem_redis for tests, and how often it went and came back.
 *
 *	struct redis_ask ask = {.options = {.topology = IDEM_REDIS_SINGLE}};
 *
 *	redis_ask_open(&ask, (const char *[]){redis.url}, 1);
 *	redis_ask(&ask, 300, "a", "SET", "a", "1", NULL);
 *	is(ask.text, "OK", "...");
 *	redis_ask_close(&ask);
 */
struct redis_ask {
	struct idem_redis_options options;	/* set before; the rest read */
	const char *urls[16];
	struct idem_redis *client;

	enum idem_class class;	/* of the last command */
	bool away;
	char text[512];		/* as redis_rig_say's, or the error */
	int64_t ms;		/* that it took */
	bool answered;		/* private */
	bool late;		/* a turn that began after its deadline did not
				   answer it: no busy machine makes it so */

	unsigned went, came;	/* as switched was told */
	char why[256];
};

/* Bails out if there can be none. */
void redis_ask_open(struct redis_ask *, const char *const *urls, size_t len);
void redis_ask_close(struct redis_ask *);

/* One command, waited for; NULL last.  key NULL: any node.  Gives text. */
const char *redis_ask(struct redis_ask *, int64_t limit_ms, const char *key,
    const char *word, ...) __attribute__((sentinel));
const char *redis_ask_script(struct redis_ask *, int64_t limit_ms,
    const struct idem_redis_script *, const char *key, const char *arg);
/* Any command; its done and deadline are set here. */
const char *redis_ask_this(struct redis_ask *, int64_t limit_ms,
    struct idem_redis_command);

/* Until it is connected and not away: a server that is held up while it greets
   us may be so at first.  Nothing has been counted then.  False after
   limit_ms. */
bool redis_ask_begin(struct redis_ask *, int64_t limit_ms);

/* Turns without a command of ours, while *until is not true; false after
   limit_ms.  NULL: for all of it. */
bool redis_ask_turns(struct redis_ask *, int64_t limit_ms, const bool *until);
/* Until it is away, or not. */
bool redis_ask_await(struct redis_ask *, int64_t limit_ms, bool away);

/* Which of the nodes of redis_rig_cluster has it; the n-th key that one has. */
size_t redis_owner(const char *key, size_t nodes);
const char *redis_key_at(size_t node, size_t nodes, unsigned n, char key[24]);

const char *redis_class_name(enum idem_class);
/* Of a value, into out. */
void redis_text(const struct idem_redis_value *, char *out, size_t size);
int64_t redis_boot_ms(void);

#endif
