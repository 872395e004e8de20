/* SPDX-License-Identifier: ISC */
#include "redis_wire_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#define PIECES_MAX 64		/* of one write */
#define RECORD_MAX 16384u	/* of TLS: one write is one record */
#define READ_SIZE 32768u
#define READS_MAX 32		/* then the others have their turn */

/* --- what is to be sent --------------------------------------------------- */

/* Whose first byte may leave next. */
static struct idem_redis_item *
untouched(const struct idem_redis_wire *w)
{
	switch (w->state) {
	case IDEM_REDIS_WIRE_GREETING:
		return w->greeting;
	case IDEM_REDIS_WIRE_READY:
		return w->ending ? NULL : w->queue.first;
	case IDEM_REDIS_WIRE_CLOSED:
	case IDEM_REDIS_WIRE_NAMING:
	case IDEM_REDIS_WIRE_CONNECTING:
	case IDEM_REDIS_WIRE_SHAKING:
		return NULL;
	}
	abort();
}

static struct idem_redis_item *
first_to_send(const struct idem_redis_wire *w)
{
	return w->writing != NULL ? w->writing : untouched(w);
}

static struct idem_redis_item *
next_to_send(const struct idem_redis_wire *w,
    const struct idem_redis_item *item)
{
	return item == w->writing ? untouched(w) : item->next;
}

static void
touch(struct idem_redis_wire *w, struct idem_redis_item *item)
{
	if (item == w->greeting)
		w->greeting = NULL;
	else
		idem_redis_items_pop(&w->queue);
	idem_redis_items_push(&w->awaited, item);
	item->sent_ms = idem_redis_wire_now(w);
	w->writing = item;
}

/* So many bytes have left, or may have. */
static void
advance(struct idem_redis_wire *w, size_t len)
{
	struct idem_redis_item *item;
	size_t piece;

	while (len > 0) {
		if (w->writing == NULL)
			touch(w, untouched(w));
		item = w->writing;
		piece = item->len - item->sent;
		if (piece > len)
			piece = len;
		item->sent += piece;
		len -= piece;
		if (item->sent == item->len)
			w->writing = NULL;
	}
}

/* --- out ------------------------------------------------------------------ */

/* An errno, or 0; EAGAIN: full. */
static int
write_plain(struct idem_redis_wire *w)
{
	struct iovec pieces[PIECES_MAX];
	struct msghdr message = { .msg_iov = pieces };
	struct idem_redis_item *item = first_to_send(w);
	ssize_t n;

	for (; item != NULL && message.msg_iovlen < PIECES_MAX;
	    item = next_to_send(w, item)) {
		pieces[message.msg_iovlen].iov_base = item->at + item->sent;
		pieces[message.msg_iovlen++].iov_len = item->len - item->sent;
	}
	do
		n = sendmsg(w->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno;
	advance(w, (size_t)n);
	return 0;
}

/* What stands in the chunk counts as sent. */
static bool
fill_chunk(struct idem_redis_wire *w)
{
	struct idem_redis_item *item = first_to_send(w);
	size_t piece;

	for (; item != NULL && w->chunk.len < RECORD_MAX;
	    item = next_to_send(w, item)) {
		piece = item->len - item->sent;
		if (piece > RECORD_MAX - w->chunk.len)
			piece = RECORD_MAX - w->chunk.len;
		idem_buf_append(&w->chunk, item->at + item->sent, piece);
	}
	return idem_buf_ok(&w->chunk);
}

static int
tls_error(enum idem_redis_tls_io io)
{
	switch (io) {
	case IDEM_REDIS_TLS_DONE:
		return 0;
	case IDEM_REDIS_TLS_WANT_READ:
	case IDEM_REDIS_TLS_WANT_WRITE:
		return EAGAIN;
	case IDEM_REDIS_TLS_BROKEN:
		return errno;
	case IDEM_REDIS_TLS_CLOSED:
	case IDEM_REDIS_TLS_DISTRUST:
		return EPIPE;
	}
	abort();
}

static int
write_tls(struct idem_redis_wire *w)
{
	enum idem_redis_tls_io io;

	if (w->chunk.len == 0) {
		if (!fill_chunk(w)) {
			idem_buf_free(&w->chunk);
			return ENOMEM;
		}
		advance(w, w->chunk.len);
	}
	io = idem_redis_tls_write(w->talk, w->chunk.at, w->chunk.len);
	if (io == IDEM_REDIS_TLS_DONE)
		idem_buf_clear(&w->chunk);
	return tls_error(io);
}

void
idem_redis_wire_flush(struct idem_redis_wire *w)
{
	int error = 0;

	while (error == 0 && (w->chunk.len > 0 || first_to_send(w) != NULL))
		error = w->talk != NULL ? write_tls(w) : write_plain(w);
	w->full = error == EAGAIN || error == EWOULDBLOCK;
	if (error == 0 || w->full)
		return;
	/* It may have said why before it closed. */
	w->full = false;
	idem_redis_wire_read(w);
	if (w->fd >= 0)
		idem_redis_wire_break(w, IDEM_REDIS_RESET, "write: %s",
		    strerror(error));
}

/* --- in ------------------------------------------------------------------- */

/* False if the connection has ended by it. */
static bool
take_reply(struct idem_redis_wire *w, const struct idem_redis_value *value,
    bool more)
{
	struct idem_redis_item *item = w->awaited.first;
	struct idem_redis_meaning meaning = { .class = IDEM_OK };
	bool first = w->replies++ == 0;

	if (value->type == IDEM_REDIS_ERROR)
		meaning = idem_redis_error_means(value->text);
	/* Said instead of accepting us: then of all. */
	if (first && meaning.drop && meaning.remedy != IDEM_REDIS_ANOTHER) {
		idem_redis_wire_refuse(w, meaning, value->text.at);
		return false;
	}
	/*
	 * Behind the last one that is awaited there is another: then who knows
	 * which of them is ours.
	 */
	if (item == NULL ||
	    (more && item->next == NULL && item->replies == 1)) {
		idem_redis_wire_break(w, IDEM_REDIS_GARBAGE,
		    "a reply that nobody asked for");
		return false;
	}
	if (w->state == IDEM_REDIS_WIRE_GREETING) {
		idem_redis_wire_greeted(w, value);
		return w->fd >= 0;
	}
	return idem_redis_wire_replied(w, value, meaning);
}

static bool
feed(struct idem_redis_wire *w, struct idem_bytes bytes)
{
	enum idem_redis_bound_told told;
	const struct idem_redis_value *value;
	const char *why = NULL;
	bool nothing;		/* has been understood so far */
	size_t taken;

	while (bytes.len > 0) {
		nothing = w->replies == 0 && w->bound.charged == 0;
		told = idem_redis_bound_take(&w->bound, bytes, &taken);
		if (told == IDEM_REDIS_BOUND_LARGE)
			idem_redis_wire_break(w, IDEM_REDIS_GARBAGE,
			    "a reply is larger than %llu bytes",
			    (unsigned long long)w->bound.max);
		else if (told == IDEM_REDIS_BOUND_NONE)
			idem_redis_wire_break(w, nothing && taken == 1 ?
			    IDEM_REDIS_GARBAGE_FIRST : IDEM_REDIS_GARBAGE,
			    "what came is not of Redis");
		else if (!idem_redis_reply_feed(w->reply,
		    (struct idem_bytes){ bytes.at, taken }))
			idem_redis_wire_break(w, IDEM_REDIS_GARBAGE,
			    "no memory for a reply");
		if (w->fd < 0)
			return false;
		bytes.at = (const char *)bytes.at + taken;
		bytes.len -= taken;
		if (told != IDEM_REDIS_BOUND_WHOLE)
			continue;
		value = idem_redis_reply_get(w->reply, &why);
		if (value == NULL)
			idem_redis_wire_break(w, IDEM_REDIS_GARBAGE, "%s",
			    why);
		if (value == NULL || !take_reply(w, value, bytes.len > 0))
			return false;
	}
	return true;
}

enum got { GOT_SOME, GOT_NONE, GOT_END };

static enum got
end_of(struct idem_redis_wire *w, enum idem_redis_broken broken,
    const char *why)
{
	idem_redis_wire_break(w, broken, "%s", why);
	return GOT_END;
}

static enum got
read_plain(struct idem_redis_wire *w, char *at, size_t size, size_t *len)
{
	ssize_t n;

	do
		n = recv(w->fd, at, size, MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		return GOT_NONE;
	if (n < 0)
		return end_of(w, IDEM_REDIS_RESET, strerror(errno));
	if (n == 0)
		return end_of(w, IDEM_REDIS_CLOSED,
		    "the server closed the connection");
	*len = (size_t)n;
	return GOT_SOME;
}

static enum got
read_tls(struct idem_redis_wire *w, char *at, size_t size, size_t *len)
{
	switch (idem_redis_tls_read(w->talk, at, size, len)) {
	case IDEM_REDIS_TLS_DONE:
		return GOT_SOME;
	case IDEM_REDIS_TLS_WANT_READ:
		return GOT_NONE;
	case IDEM_REDIS_TLS_WANT_WRITE:
		w->full = true;
		return GOT_NONE;
	case IDEM_REDIS_TLS_CLOSED:
		return end_of(w, IDEM_REDIS_CLOSED,
		    "the server closed the connection");
	case IDEM_REDIS_TLS_BROKEN:
		return end_of(w, IDEM_REDIS_RESET, strerror(errno));
	case IDEM_REDIS_TLS_DISTRUST:
		return end_of(w, IDEM_REDIS_TLS_REFUSED,
		    idem_redis_tls_why(w->talk));
	}
	abort();
}

static enum got
read_some(struct idem_redis_wire *w, char *at, size_t size, size_t *len)
{
	return w->talk != NULL ? read_tls(w, at, size, len) :
	    read_plain(w, at, size, len);
}

void
idem_redis_wire_read(struct idem_redis_wire *w)
{
	char at[READ_SIZE];
	size_t len = 0;
	int reads;

	w->more = false;
	for (reads = 0; reads < READS_MAX; reads++) {
		if (read_some(w, at, sizeof at, &len) != GOT_SOME)
			return;
		w->heard_ms = idem_redis_wire_now(w);
		if (!feed(w, (struct idem_bytes){ at, len }))
			return;
		/* Of a plain socket less than all means that it is empty. */
		if (w->talk == NULL && len < sizeof at) {
			w->drained = true;
			return;
		}
	}
	w->more = true;
}

bool
idem_redis_wire_quiet(struct idem_redis_wire *w)
{
	enum got got;
	size_t len;
	char c;

	got = read_some(w, &c, 1, &len);
	if (got == GOT_SOME)
		idem_redis_wire_break(w, IDEM_REDIS_GARBAGE,
		    "a reply that nobody asked for");
	return got == GOT_NONE;
}
