/* SPDX-License-Identifier: ISC */
#include "net_private.h"

#include <stdlib.h>
#include <string.h>

/* --- which it is ---------------------------------------------------------- */

static struct net_link *
link_of(const struct net *net)
{
	struct net_link *link;

	for (link = net->links; link != NULL; link = link->next)
		if (!link->gone && link->number == net->stream.connection)
			return link;
	return NULL;
}

bool
net_stream_is(const struct net_lane *lane)
{
	const struct net_stream *s = &lane->link->net->stream;

	return s->read && lane->way == NET_REPLIES &&
	    lane->link->number == s->connection;
}

void
net_stream_end(struct net *net)
{
	idem_buf_free(&net->stream.held);
	free(net->stream.units);
	net->stream = (struct net_stream){ .read = false };
}

void
net_stream_read(struct net *net)
{
	struct net_link *link = net->links;

	net_stream_end(net);
	while (link != NULL && link->gone)
		link = link->next;
	if (link == NULL || net_connections(net) != 1 ||
	    link->lane[NET_REPLIES].in.len > 0)
		return;
	net->stream.read = true;
	net->stream.connection = link->number;
}

/* --- its units ------------------------------------------------------------ */

/* Not a change of anybody's data. */
static bool
is_other(struct idem_bytes name)
{
	static const char *const words[] = { "PING", "SELECT", "REPLCONF",
		"MULTI", "EXEC", "PUBLISH", "SPUBLISH", NULL };
	size_t i;

	for (i = 0; words[i] != NULL; i++)
		if (idem_bytes_is_nocase(name, words[i]))
			return true;
	return false;
}

/* The command that the bytes begin with; false: there is none. */
static bool
command(struct idem_bytes *left, struct resp_command *c)
{
	long n = left->len > 0 ? resp_command_len(*left) : 0;

	if (n <= 0 || !resp_command((struct idem_bytes){ left->at, (size_t)n },
	    c))
		return false;
	left->at = (const char *)left->at + n;
	left->len -= (size_t)n;
	return true;
}

static void
unit_add(struct net_stream *s)
{
	if (s->units_n == s->units_size) {
		s->units_size = s->units_size == 0 ? 16 : 2 * s->units_size;
		s->units = reallocarray(s->units, s->units_size,
		    sizeof *s->units);
		arena_must_have(s->units != NULL);
	}
	s->units[s->units_n++] = s->open;
	s->counts.writes += s->open.write;
	s->counts.held += s->open.write;
	s->open = (struct net_unit){ .len = 0 };
}

static void
unit_pass(struct net_stream *s, struct net_lane *lane)
{
	const struct net_unit u = s->units[0];

	net_lane_push(lane, (struct idem_bytes){ s->held.at, u.len },
	    net_frame_due(lane->link->net), 0);
	idem_buf_drop(&s->held, u.len);
	s->units_n--;
	memmove(s->units, s->units + 1, s->units_n * sizeof u);
	s->counts.held -= u.write;
	s->counts.passed += u.len;
}

/* What stays begins with a write. */
static void
pass_on(struct net_stream *s, struct net_lane *lane)
{
	if (s->keep == NET_STREAM_ALL)
		return;
	while (s->units_n > 0 && (!s->units[0].write ||
	    s->counts.held > s->keep))
		unit_pass(s, lane);
}

/* It is no stream of commands: whatever it is, it passes. */
static void
give_up(struct net *net, struct net_lane *lane)
{
	net_lane_push(lane, idem_buf_bytes(&net->stream.held),
	    net_frame_due(net), 0);
	net_lane_push(lane, idem_buf_bytes(&lane->in), net_frame_due(net), 0);
	idem_buf_clear(&lane->in);
	net_stream_end(net);
}

static void
take_one(struct net_stream *s, struct idem_bytes bytes,
    const struct resp_command *c)
{
	idem_buf_append(&s->held, bytes.at, bytes.len);
	arena_must_have(idem_buf_ok(&s->held));
	s->open.len += bytes.len;
	s->open.write |= c->args_n > 0 && !is_other(c->name);
	s->counts.came += bytes.len;
	if (idem_bytes_is_nocase(c->name, "MULTI"))
		s->in_multi = true;
	if (idem_bytes_is_nocase(c->name, "EXEC"))
		s->in_multi = false;
	if (!s->in_multi)
		unit_add(s);
}

void
net_stream_take(struct net_lane *lane)
{
	struct net *net = lane->link->net;
	struct idem_bytes left = idem_buf_bytes(&lane->in), from;
	struct resp_command c;

	for (from = left; command(&left, &c); from = left)
		take_one(&net->stream, (struct idem_bytes){ from.at,
		    from.len - left.len }, &c);
	idem_buf_drop(&lane->in, lane->in.len - left.len);
	pass_on(&net->stream, lane);
	if (lane->dead || (left.len > 0 &&
	    resp_command_len(idem_buf_bytes(&lane->in)) != 0))
		give_up(net, lane);
}

/* --- what its user asks --------------------------------------------------- */

void
net_stream_keep(struct net *net, unsigned writes)
{
	struct net_link *link = link_of(net);

	net->stream.keep = writes;
	if (!net->stream.read || link == NULL)
		return;
	net_enter(net);
	pass_on(&net->stream, &link->lane[NET_REPLIES]);
	net_link_go(link);
	net_leave(net);
}

bool
net_stream_counts(const struct net *net, struct net_counts *out)
{
	*out = net->stream.counts;
	return net->stream.read && link_of(net) != NULL;
}

/* Of a transaction the first that it writes is what it is about. */
struct idem_bytes
net_stream_key(const struct net *net, unsigned write)
{
	const struct net_stream *s = &net->stream;
	struct idem_bytes left = idem_buf_bytes(&s->held);
	struct resp_command c;
	size_t i;

	for (i = 0; i < s->units_n; i++) {
		if (s->units[i].write && write-- == 0)
			break;
		left.at = (const char *)left.at + s->units[i].len;
	}
	if (i == s->units_n)
		return (struct idem_bytes){ NULL, 0 };
	left.len = s->units[i].len;
	while (command(&left, &c))
		if (c.args_n > 0 && !is_other(c.name))
			return c.key;
	return (struct idem_bytes){ NULL, 0 };
}
