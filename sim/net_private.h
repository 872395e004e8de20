/* SPDX-License-Identifier: ISC */
#ifndef NET_PRIVATE_H
#define NET_PRIVATE_H

#include "address.h"
#include "arena.h"
#include "net.h"

/*
 * The inside of a net, for its own files:
 *
 *	net.c		the door, and what a user can switch
 *	net_link.c	a connection: its two sockets, from its begin to its end
 *	net_lane.c	one way of it: what lies there, and goes out in order
 *	net_frame.c	what comes, frame by frame, and what is done with it
 *	net_asked.c	commands whose replies are awaited
 *	net_rule.c	which rule strikes
 *	net_stream.c	what a master sends a replica
 *
 *	client [side 0] --- lane NET_REQUESTS ---> [side 1] server
 *	client [side 0] <--- lane NET_REPLIES ---- [side 1] server
 *
 * A lane reads from the side of its own number and writes to the other.
 *
 * A user's function may call anything of the net, so a link may end while its
 * frames are handled: it is `gone` then, and freed when the outermost of our
 * functions is left (net_enter, net_leave).
 */
#define NET_LYING_MAX (64u * 1024u * 1024u)
#define NET_READ 65536u
#define NET_NEVER INT64_MAX

/* --- one way -------------------------------------------------------------- */

enum net_piece_kind {
	NET_BYTES,
	NET_END,		/* the sender has nothing more to say */
	NET_AWAY,		/* it is gone altogether */
	NET_CUT			/* it was reset, or is to seem so */
};

struct net_piece {
	struct net_piece *next;
	enum net_piece_kind kind;
	int64_t due_ms;		/* not before, nor before those in front of it;
				   0: now; NET_NEVER: held */
	size_t slice;		/* bytes a write; 0: as many as go */
	size_t sent;
	struct idem_buf bytes;
};

struct net_lane {
	struct timer timer;	/* first: of the first piece */
	struct net_link *link;
	enum net_way way;
	struct idem_buf in;	/* came; not a whole frame yet */
	struct net_piece *first, *last;
	struct net_piece *spare;	/* used before, kept for its room */
	size_t lying;		/* bytes in the pieces */
	bool ended;		/* its sender has ended; nothing is read */
	bool done;		/* and its receiver knows */
	bool dead;		/* something was lost: nothing more arrives */
	bool broken;		/* its receiver takes no more */
	bool full;		/* not just now */
	bool taking;		/* its frames are being handled */
};

/* --- one connection ------------------------------------------------------- */

struct net_side {
	struct watch watch;	/* first */
	struct net_link *link;
	int fd;			/* -1: none */
	bool hung_up;		/* nobody is at its other end */
};

enum net_asked_kind {
	NET_ASKED,
	NET_ASKED_LAST,		/* whose reply is the last that can be paired */
	NET_ASKED_ERROR,	/* never passed on: its reply is ours */
	NET_ASKED_HOLE		/* lost, so nothing after it may be heard */
};

/* Of a command what its reply's user is told. */
struct net_asked {
	struct net_asked *next;
	enum net_asked_kind kind;
	uint32_t message;
	size_t args_n;
	struct idem_bytes name, script, key, op, word;	/* in text */
	char text[];
};

struct net_link {
	struct timer again;	/* first: to connect */
	struct net *net;
	struct net_link *next;
	unsigned number;
	struct net_side side[NET_WAYS];
	struct net_lane lane[NET_WAYS];
	struct net_asked *asked, **asked_end;
	bool connected;
	bool raw;		/* its bytes are no frames (any more) */
	bool unpaired;		/* its replies are nobody's (any more) */
	bool lossy;		/* something of it was lost */
	bool gone;
};

struct net_rule_set {	/* one rule, and how far it has come */
	struct net_rule rule;
	unsigned seen, struck;
};

struct net_unit {	/* commands that are carried out together */
	size_t len;
	bool write;
};

struct net_stream {
	bool read;		/* else all of it is nothing */
	unsigned connection;
	unsigned keep;
	struct net_counts counts;
	struct idem_buf held;	/* whole commands: units, and the open one */
	struct net_unit *units;
	size_t units_n, units_size;
	struct net_unit open;
	bool in_multi;
};

struct net {
	struct watch listener;	/* first */
	struct loop *loop;
	struct net_user user;
	char path[108];		/* "": TCP */
	int reserved;		/* the port's, while it is refused; -1 */
	struct address here, server;
	bool raw, refused, closed;
	int error;		/* why none is taken any more; 0 */
	uint32_t *numbers;
	unsigned connections;	/* so far */
	struct net_link *links;
	struct net_rule_set *rules;
	size_t rules_n, rules_size;
	bool lost[NET_WAYS], stopped[NET_WAYS];
	uint64_t lost_bytes[NET_WAYS];
	int64_t slow_ms;
	struct net_stream stream;
	unsigned depth;		/* of our functions that are under way */
	char read[NET_READ];
};

/* --- net.c ---------------------------------------------------------------- */

void net_enter(struct net *);
void net_leave(struct net *);	/* the net may be freed then */
/* We have no means for another connection. */
void net_short(struct net *, int error);
/* Memory that must be there, zeroed: else the simulator ends with 70. */
void *net_memory(size_t len);

/* --- net_link.c ----------------------------------------------------------- */

void net_link_open(struct net *, int client);
/* Both ends are closed; reset: with RST, where that can be. */
void net_link_end(struct net_link *, bool reset);
void net_link_free(struct net_link *);
/* After anything was done to it: go on where it can, be told of the rest. */
void net_link_go(struct net_link *);

/* --- net_lane.c ----------------------------------------------------------- */

/* Behind all that lies there, not before due_ms. */
void net_lane_push(struct net_lane *, struct idem_bytes, int64_t due_ms,
    size_t slice);
void net_lane_push_end(struct net_lane *, enum net_piece_kind);
void net_lane_flush(struct net_lane *);		/* what is due */
void net_lane_release(struct net_lane *);	/* all of it is due */
void net_lane_lose(struct net_lane *);		/* from now on it is dead */
void net_lane_free(struct net_lane *);

/* --- net_frame.c ---------------------------------------------------------- */

/* Handle what has come in, as far as it is whole and the net is not stopped. */
void net_frame_take(struct net_lane *);
/* Its sender has ended: what it did not finish passes as it is. */
void net_frame_rest(struct net_lane *);

/* When what comes now may go out, for net_lane_push. */
int64_t net_frame_due(const struct net *);

/* --- net_stream.c --------------------------------------------------------- */

bool net_stream_is(const struct net_lane *);
void net_stream_take(struct net_lane *);
void net_stream_end(struct net *);

/* --- net_asked.c ---------------------------------------------------------- */

void net_asked_add(struct net_link *, enum net_asked_kind, uint32_t message,
    const struct resp_command *, const char *word);
struct net_asked *net_asked_take(struct net_link *);	/* NULL: none */
void net_asked_command(const struct net_asked *, struct resp_command *);
void net_asked_clear(struct net_link *);

/* --- net_rule.c ----------------------------------------------------------- */

/* Count the frame; true: *struck is a copy of the rule that is to be done. */
bool net_rule_strike(struct net *, const struct net_frame *,
    struct net_rule *struck);
void net_rule_released(struct net *);

#endif
