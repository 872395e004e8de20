/* SPDX-License-Identifier: ISC */
#ifndef IDEM_REDIS_PRIVATE_H
#define IDEM_REDIS_PRIVATE_H

#include "breaker.h"
#include "redis.h"
#include "redis_slot.h"
#include "redis_wire.h"
#include "skew.h"

/*
 * What the parts of the client know of each other.
 *
 *	redis_open.c		its options, its beginning and its end
 *	redis.c			one turn: events, time, commands, what is gone
 *	redis_call.c		a command's way: sent, answered
 *	redis_remedy.c		what helps, so that it is sent again
 *	redis_node.c		a server that has the data: up or down
 *	redis_time.c		its clock
 *	redis_link.c		a wire and its place in the one epoll
 *	redis_sentinel.c, redis_cluster.c	which node
 *
 * Nodes and wires are freed at the end of a turn only, never while one of them
 * may be what calls us.
 */
#define IDEM_REDIS_NODES_MAX 256u
#define IDEM_REDIS_URLS_MAX 64u
#define IDEM_REDIS_WHY 192u
#define IDEM_REDIS_NAME 266u	/* [HOST]:PORT */

struct idem_redis_call;
struct idem_redis_node;

/* --- redis_link.c --------------------------------------------------------- */

/* One wire.  Zeroes are one that is not open. */
struct idem_redis_link {
	struct idem_redis *redis;
	struct idem_redis_node *node;	/* NULL: one that is only asked */
	struct idem_redis_wire *wire;
	struct idem_redis_wire_options options;	/* the wire borrows them */
	uint32_t place;		/* among the links of the client */
	uint32_t generation;	/* of its socket: older events are not for it */
	int fd;			/* watched; -1: none */
	int64_t opened_ms;	/* its socket */
	char why[IDEM_REDIS_WHY];	/* it is not to be used */
};

/* Of the options hello and met may be set then. */
void idem_redis_link_init(struct idem_redis_link *, struct idem_redis *,
    const struct idem_redis_url *, const char *user, const char *password);
/* Opened by the first.  False: no memory; then nothing is answered. */
bool idem_redis_link_send(struct idem_redis_link *,
    const struct idem_bytes *args, size_t args_len, const char *before,
    int64_t deadline_ms, idem_redis_wire_done *, void *arg);
void idem_redis_link_free(struct idem_redis_link *);
bool idem_redis_links_open(struct idem_redis *);	/* false and errno */
/* Events that there are; all that is due. */
void idem_redis_links_ready(struct idem_redis *);
void idem_redis_links_due(struct idem_redis *, int64_t now_ms);
int64_t idem_redis_links_due_ms(const struct idem_redis *);

/* --- redis_node.c --------------------------------------------------------- */

enum { IDEM_REDIS_CLAIMS, IDEM_REDIS_BODIES, IDEM_REDIS_LINKS };

/* ok: it answers and is a master; else why not.  The node outlives the call. */
typedef void idem_redis_checked(void *arg, struct idem_redis_node *, bool ok,
    const char *why);

struct idem_redis_node {
	struct idem_redis *redis;
	struct idem_redis_url url;
	char name[IDEM_REDIS_NAME];
	uint16_t place;		/* among the nodes of the client */
	bool listed;		/* one of the masters, not a candidate */
	bool gone;		/* freed at the end of a turn */
	int64_t gone_ms;	/* by then at the latest */

	struct idem_redis_link link[IDEM_REDIS_LINKS];
	struct idem_breaker breaker;
	int64_t counted_ms;	/* its last failure */
	char why[IDEM_REDIS_WHY];

	bool checking;
	idem_redis_checked *checked;	/* NULL: a probe of our own */
	void *checked_arg;

	bool heard;
	int64_t ahead_ms;	/* its clock before our boot clock */
	int64_t trip_ms;	/* of the command that told so */
	int64_t heard_ms;
	struct idem_skew skew;
};

void idem_redis_url_name(const struct idem_redis_url *,
    char name[IDEM_REDIS_NAME]);
bool idem_redis_url_same(const struct idem_redis_url *,
    const struct idem_redis_url *);
/* Another address, with all else as in `like`.  An empty host is like's.
   False: too long. */
bool idem_redis_url_like(struct idem_redis_url *,
    const struct idem_redis_url *like, struct idem_bytes host, uint16_t port);

/* The one at that address, known or new; NULL: no memory, or too many. */
struct idem_redis_node *idem_redis_node_at(struct idem_redis *,
    const struct idem_redis_url *);
/* Not used any more; freed once it is idle, or, with now, in this turn. */
void idem_redis_node_retire(struct idem_redis_node *, bool now);
void idem_redis_nodes_reap(struct idem_redis *, bool all);
bool idem_redis_node_is_up(const struct idem_redis_node *);
/* An answer, or the lack of one. */
void idem_redis_node_told(struct idem_redis_node *,
    const struct idem_redis_wire_answer *);
/* Ask whether it lives and is a master. */
void idem_redis_node_check(struct idem_redis_node *, idem_redis_checked *,
    void *arg);
/* Probes. */
void idem_redis_nodes_due(struct idem_redis *, int64_t now_ms);
int64_t idem_redis_nodes_due_ms(const struct idem_redis *);

/* --- redis_time.c --------------------------------------------------------- */

void idem_redis_node_heard(struct idem_redis_node *, int64_t sent_ms,
    int64_t server_ms);
/* TIME's reply: seconds, and microseconds of the next. */
bool idem_redis_time_read(const struct idem_redis_value *, int64_t *ms);

/* --- redis_call.c --------------------------------------------------------- */

/*
 *	waiting --start--> with a wire --answer--> done
 *	   ^                     |
 *	   +------ remedy -------+
 */
struct idem_redis_call {
	struct idem_redis_call *next;
	struct idem_redis *redis;
	idem_redis_done *done;
	void *arg;
	const struct idem_redis_script *script;
	const char *node;	/* by its name; or NULL */
	int slot;
	bool bulk;
	int64_t deadline_ms;

	struct idem_redis_node *to;	/* there and nowhere else: ASK; or the
					   text after NOSCRIPT.  Or NULL */
	struct idem_redis_node *at;	/* where it was sent last */
	bool asking, texted, held;	/* held: until somebody is known */
	int64_t again_ms;
	uint32_t pause_ms;	/* the next; 0: the first */
	unsigned sends;
	char why[IDEM_REDIS_WHY];	/* it was not done yet */

	size_t args_len;
	struct idem_bytes args[];
};

void idem_redis_call_queue(struct idem_redis_call *);

/* Those that are not with a wire: to be sent now, or later. */
struct idem_redis_calls {
	struct idem_redis_call *first, *last;
};
/* What there was no memory for. */
#define IDEM_REDIS_LOST_MAX 64u
struct idem_redis_lost {
	idem_redis_done *done;
	void *arg;
};

void idem_redis_calls_start(struct idem_redis *);
int64_t idem_redis_calls_due_ms(const struct idem_redis *);
/* The node is about to be freed. */
void idem_redis_calls_forget(struct idem_redis *,
    const struct idem_redis_node *);
void idem_redis_calls_end(struct idem_redis *);	/* answer all */

/* --- redis_remedy.c ------------------------------------------------------- */

/* After what was surely not applied: true, and it is queued again, or false. */
bool idem_redis_remedy(struct idem_redis_call *,
    const struct idem_redis_wire_answer *);

/* --- which node: redis.c, redis_sentinel.c, redis_cluster.c --------------- */

struct idem_redis_way {
	bool others;	/* one that is no master may have a successor */
	bool (*open)(struct idem_redis *);	/* false: no memory */
	void (*close)(struct idem_redis *);
	/* slot -1: any will do.  NULL: nobody, as *why says; with NULL there:
	   nobody yet. */
	struct idem_redis_node *(*node)(struct idem_redis *, int slot,
	    const char **why);
	/* This one failed; surely: it is of no use to what must be sent now. */
	void (*doubt)(struct idem_redis *, struct idem_redis_node *,
	    bool surely);
	void (*moved)(struct idem_redis *, uint16_t slot,
	    struct idem_redis_node *);	/* NULL: there are no slots */
	void (*retired)(struct idem_redis *, const struct idem_redis_node *);
	const char *(*lost)(const struct idem_redis *);	/* why nobody is
						   known; NULL: no */
	void (*due)(struct idem_redis *, int64_t now_ms);
	int64_t (*due_ms)(const struct idem_redis *);
};

/* Of a key, where there are slots; else -1: it costs more than the look. */
int idem_redis_slot_of(const struct idem_redis *, struct idem_bytes key);

extern const struct idem_redis_way idem_redis_way_single;
extern const struct idem_redis_way idem_redis_way_sentinel;
extern const struct idem_redis_way idem_redis_way_cluster;

/* One of the URLs that was given: a server that is asked for others. */
struct idem_redis_seed {
	struct idem_redis_url url;
	char name[IDEM_REDIS_NAME];
	struct idem_redis_link link;
	bool busy;
	unsigned round;		/* in which it was asked last */
};

struct idem_redis {
	struct idem_redis_options options;
	const struct idem_redis_way *way;
	void *of_way;			/* its own */
	struct idem_redis_names *names;
	struct idem_redis_tls *tls;
	const char *user, *password;	/* of nodes */
	struct idem_redis_seed *seeds;
	size_t seeds_len;
	int epoll;
	unsigned chance;
	bool closing;

	struct idem_redis_link **links;	/* by place; NULL: free */
	size_t links_len;
	struct idem_redis_node *nodes[IDEM_REDIS_NODES_MAX];	/* by place */
	size_t nodes_len;		/* places that were ever taken */
	size_t retired;			/* of them, to be freed */
	struct idem_redis_calls waiting;
	struct idem_redis_lost lost[IDEM_REDIS_LOST_MAX];
	size_t lost_len;
	struct idem_redis_node *telling;	/* whose answer is told now */

	bool away;
	char why[IDEM_REDIS_WHY];
};

int64_t idem_redis_now_ms(const struct idem_redis *);	/* boot clock */
unsigned idem_redis_chance(struct idem_redis *, unsigned below);
/* "NAME: WHY", cut; WHY alone where it begins with the name. */
void idem_redis_sentence(char *out, size_t size, const char *name,
    const char *why);
/* Has it gone away, or come back?  Tell. */
void idem_redis_settle(struct idem_redis *);

#endif
