/* SPDX-License-Identifier: ISC */
#include "net_private.h"

#include <stdio.h>
#include <stdlib.h>

/* --- what is done with a frame -------------------------------------------- */

static int64_t
due_ms(const struct net *net, int64_t later_ms)
{
	int64_t ms = net->slow_ms + later_ms;

	return ms > 0 ? loop_now(net->loop) + ms : 0;
}

int64_t
net_frame_due(const struct net *net)
{
	return due_ms(net, 0);
}

static void
pass(struct net_lane *lane, struct idem_bytes bytes)
{
	net_lane_push(lane, bytes, due_ms(lane->link->net, 0), 0);
}

static void
reset_after(struct net_lane *lane, struct idem_bytes bytes, size_t len)
{
	if (bytes.len > len)
		bytes.len = len;
	pass(lane, bytes);
	net_lane_push_end(lane, NET_CUT);
}

/* The acts that are the same of both ways. */
static void
act(struct net_lane *lane, const struct net_rule *rule, struct idem_bytes bytes)
{
	struct net *net = lane->link->net;

	switch (rule->act) {
	case NET_PASS:
		pass(lane, bytes);
		return;
	case NET_HOLD:
		net_lane_push(lane, bytes, NET_NEVER, 0);
		return;
	case NET_DELAY:
		net_lane_push(lane, bytes, due_ms(net, rule->ms), 0);
		return;
	case NET_RESET:
		reset_after(lane, bytes, rule->bytes);
		return;
	case NET_SLICE:
		net_lane_push(lane, bytes, due_ms(net, 0),
		    rule->bytes > 0 ? rule->bytes : 1);
		return;
	case NET_DROP:
	case NET_ERROR:
	case NET_DOS:
		return;
	}
}

/* The user may end the link. */
static void
tell(struct net_link *link, struct net_frame *frame)
{
	const struct net_user *user = &link->net->user;

	frame->connection = link->number;
	frame->lost = link->lane[frame->way].dead ||
	    link->net->lost[frame->way];
	if (user->frame != NULL)
		user->frame(user->arg, link->net, frame);
	if (link->net->lost[frame->way])
		frame->lost = true;
}

static void
find(struct net_link *link, const struct net_frame *frame,
    struct net_rule *rule)
{
	const struct net_user *user = &link->net->user;

	*rule = (struct net_rule){ .act = NET_PASS };
	if (net_rule_strike(link->net, frame, rule) && user->struck != NULL)
		user->struck(user->arg, link->net, rule, frame);
}

static const char *
word_of(const struct net_rule *rule)
{
	return rule->word != NULL ? rule->word : "ERR";
}

/* --- replies -------------------------------------------------------------- */

static struct idem_bytes
error_text(const struct idem_bytes *word, char *text, size_t size)
{
	int n = snprintf(text, size, "-%.*s by the simulator\r\n",
	    word->len < size / 2 ? (int)word->len : (int)size / 2,
	    (const char *)word->at);

	return (struct idem_bytes){ text, (size_t)n };
}

static void
reply_struck(struct net_lane *lane, const struct net_rule *rule,
    struct idem_bytes bytes)
{
	struct idem_bytes word;
	char text[256];

	if (rule->act == NET_DROP) {
		net_lane_lose(lane);
	} else if (rule->act == NET_ERROR) {
		word = idem_bytes_text(word_of(rule));
		pass(lane, error_text(&word, text, sizeof text));
	} else {
		act(lane, rule, bytes);
	}
}

/* Of that command; of none: NULL. */
static void
reply_to(struct net_link *link, const struct net_asked *asked,
    struct idem_bytes bytes)
{
	struct net_lane *lane = &link->lane[NET_REPLIES];
	struct net_frame frame = { .way = NET_REPLIES, .bytes = bytes };
	struct resp_command command;
	struct net_rule rule;

	if (asked != NULL) {
		net_asked_command(asked, &command);
		frame.command = &command;
		frame.message = asked->message;
	}
	tell(link, &frame);
	if (link->gone)
		return;
	if (frame.lost) {
		net_lane_lose(lane);
		return;
	}
	rule.act = NET_PASS;
	if (((const char *)bytes.at)[0] != '>')
		find(link, &frame, &rule);
	if (!link->gone)
		reply_struck(lane, &rule, bytes);
}

/* What is first now and gets no reply of the server's. */
static void
settle(struct net_link *link)
{
	struct net_asked *asked;
	char text[256];

	while (!link->gone && (asked = link->asked) != NULL &&
	    (asked->kind == NET_ASKED_HOLE || asked->kind == NET_ASKED_ERROR)) {
		(void)net_asked_take(link);
		if (asked->kind == NET_ASKED_HOLE)
			net_lane_lose(&link->lane[NET_REPLIES]);
		else
			reply_to(link, asked, error_text(&asked->word, text,
			    sizeof text));
		free(asked);
	}
}

static void
reply(struct net_link *link, struct idem_bytes bytes)
{
	struct net_asked *asked = NULL;

	if (((const char *)bytes.at)[0] != '>' && !link->unpaired)
		asked = net_asked_take(link);
	if (asked != NULL && asked->kind == NET_ASKED_LAST) {
		link->unpaired = true;
		net_asked_clear(link);
	}
	reply_to(link, asked, bytes);
	free(asked);
	settle(link);
}

/* --- commands ------------------------------------------------------------- */

static bool
is(const struct resp_command *c, const char *name, const char *word)
{
	return idem_bytes_is_nocase(c->name, name) && (word == NULL ||
	    idem_bytes_is_nocase(c->args[1], word));
}

/* From its reply on there are messages that nobody asked for. */
static enum net_asked_kind
kind_of(const struct resp_command *c)
{
	return is(c, "SUBSCRIBE", NULL) || is(c, "PSUBSCRIBE", NULL) ||
	    is(c, "SSUBSCRIBE", NULL) || is(c, "MONITOR", NULL) ?
	    NET_ASKED_LAST : NET_ASKED;
}

static void
request_struck(struct net_link *link, const struct net_rule *rule,
    const struct net_frame *frame)
{
	const struct resp_command *c = frame->command;

	if (rule->act == NET_DROP) {
		link->lossy = true;
		net_asked_add(link, NET_ASKED_HOLE, frame->message, c, NULL);
	} else if (rule->act == NET_ERROR) {
		net_asked_add(link, NET_ASKED_ERROR, frame->message, c,
		    word_of(rule));
	} else {
		if (!link->unpaired)
			net_asked_add(link, kind_of(c), frame->message, c,
			    NULL);
		act(&link->lane[NET_REQUESTS], rule, frame->bytes);
	}
	settle(link);
}

/* A replica's stream, or replies that are left out: no pairs from here on. */
static void
pair_no_more(struct net_link *link, const struct resp_command *c)
{
	if (is(c, "PSYNC", NULL) || is(c, "SYNC", NULL))
		link->raw = true;
	if (link->raw || is(c, "CLIENT", "REPLY")) {
		link->unpaired = true;
		net_asked_clear(link);
	}
}

static void
request(struct net_link *link, struct idem_bytes bytes)
{
	const struct net_rule lost = { .act = NET_DROP };
	struct net_frame frame = { .way = NET_REQUESTS, .bytes = bytes };
	struct resp_command command;
	struct net_rule rule;

	if (resp_command(bytes, &command) && command.args_n == 0) {
		pass(&link->lane[NET_REQUESTS], bytes);
		return;
	}
	frame.command = &command;
	frame.message = ++*link->net->numbers;
	tell(link, &frame);
	if (link->gone)
		return;
	if (frame.lost)
		rule = lost;
	else
		find(link, &frame, &rule);
	if (link->gone)
		return;
	request_struck(link, &rule, &frame);
	if (!link->gone && rule.act != NET_DROP)
		pair_no_more(link, &command);
}

/* --- what has come in ----------------------------------------------------- */

static void
take_raw(struct net_lane *lane)
{
	if (lane->link->net->lost[lane->way])
		net_lane_lose(lane);
	if (lane->dead)
		lane->link->net->lost_bytes[lane->way] += lane->in.len;
	if (net_stream_is(lane)) {
		net_stream_take(lane);
		return;
	}
	pass(lane, idem_buf_bytes(&lane->in));
	idem_buf_clear(&lane->in);
}

/* The next frame's length; 0: it is not whole; or the link is raw now. */
static size_t
frame_len(struct net_lane *lane, struct idem_bytes left)
{
	long n = lane->way == NET_REQUESTS ? resp_command_len(left) :
	    resp_len(left);

	if (n < 0 || (n == 0 && left.len >= NET_LYING_MAX))
		lane->link->raw = true;
	return n > 0 ? (size_t)n : 0;
}

static void
take_frames(struct net_lane *lane)
{
	struct net_link *link = lane->link;
	struct idem_bytes left = idem_buf_bytes(&lane->in), frame;

	while (left.len > 0 && !link->raw && !link->gone &&
	    !link->net->stopped[lane->way]) {
		frame.at = left.at;
		frame.len = frame_len(lane, left);
		if (frame.len == 0)
			break;
		left.at = (const char *)left.at + frame.len;
		left.len -= frame.len;
		if (lane->way == NET_REQUESTS)
			request(link, frame);
		else
			reply(link, frame);
	}
	idem_buf_drop(&lane->in, lane->in.len - left.len);
	if (link->raw && !link->gone && !link->net->stopped[lane->way])
		take_raw(lane);
}

/* A user who heals the net in the middle of it comes here again. */
void
net_frame_take(struct net_lane *lane)
{
	if (lane->taking)
		return;
	lane->taking = true;
	take_frames(lane);
	lane->taking = false;
}

void
net_frame_rest(struct net_lane *lane)
{
	if (!lane->link->gone && lane->in.len > 0)
		take_raw(lane);
}
