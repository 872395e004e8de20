/* SPDX-License-Identifier: ISC */
#ifndef TESTS_REDIS_DESK_H
#define TESTS_REDIS_DESK_H

#include "redis_wire.h"

/*
 * One wire and who owns it: sends words, turns until they are answered, and
 * keeps what it was told.
 */
struct redis_desk;

struct redis_told {
	const struct redis_desk *desk;
	int answers;		/* must be 1 in the end */
	struct idem_redis_meaning meaning;
	bool has_value;
	enum idem_redis_type type;
	int64_t integer;
	size_t len;		/* of the text, or members */
	char text[128];		/* cut */
	char error[256];	/* "": none */
	int64_t asked_ms, deadline_ms, sent_ms, answered_ms;
	bool late;		/* a turn that began after its deadline did not
				   answer it: no busy machine makes it so */
};

struct redis_desk {
	struct idem_redis_url url;
	struct idem_redis_options redis;
	struct idem_redis_wire_options options;
	struct idem_redis_names *names;
	struct idem_redis_wire *wire;	/* NULL: made by the first command */
	int fd;			/* -1: none */
	bool want_write;
	int64_t turned_ms;	/* when its last whole turn began */
	int watches;		/* sockets that came */
	char saw[128];		/* met: the replies, by their types */
	const char *refuse;	/* what met says */
};

/* Not connected yet: options may be changed before the first command.  resolve
   NULL: getaddrinfo.  Bails out. */
void redis_desk_open(struct redis_desk *, const char *url,
    idem_redis_resolve *);
/* Words are split at blanks. */
void redis_desk_send(struct redis_desk *, struct redis_told *,
    int64_t deadline_ms, const char *words);
void redis_desk_send_after(struct redis_desk *, struct redis_told *,
    int64_t deadline_ms, const char *before, const char *words);
/* One turn, of at most ms. */
void redis_desk_turn(struct redis_desk *, int64_t ms);
/* Turn until it is answered, or connected or not; false after 30 s. */
bool redis_desk_until(struct redis_desk *, const struct redis_told *);
bool redis_desk_until_open(struct redis_desk *, bool open);
/* Send, until, and how long it took. */
int64_t redis_desk_ask(struct redis_desk *, struct redis_told *,
    int64_t deadline_ms, const char *words);
void redis_desk_close(struct redis_desk *);

/* Words for what is known: "refused", "pause". */
const char *redis_desk_class(enum idem_class);
const char *redis_desk_remedy(enum idem_redis_remedy);
/* "refused pause drop counts away", as far as they are so. */
void redis_desk_meaning(struct idem_redis_meaning, char *out, size_t size);

#endif
