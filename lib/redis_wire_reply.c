/* SPDX-License-Identifier: ISC */
#include "redis_wire_private.h"

#include <hiredis/read.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

/*
 * hiredis calls us for each value that it has read; we put them where a parent
 * has its members in a row.  All of a reply's memory goes at once.
 */
#define BLOCK_SIZE 4000u

struct block {
	struct block *next;
	size_t size, used;
	alignas(max_align_t) char at[];
};

/* What hiredis holds of a value. */
struct place {
	struct idem_redis_value *members;	/* of an array */
};

struct idem_redis_reply {
	redisReader *reader;
	redisReplyObjectFunctions functions;	/* reader's */
	struct block *first;	/* kept for the next reply */
	struct idem_redis_value root;
};

/* --- memory --------------------------------------------------------------- */

static struct block *
block_new(size_t size)
{
	struct block *b = malloc(sizeof *b + size);

	if (b == NULL)
		return NULL;
	b->next = NULL;
	b->size = size;
	b->used = 0;
	return b;
}

static void *
take(struct idem_redis_reply *r, size_t len)
{
	size_t size = (len + alignof(max_align_t) - 1) /
	    alignof(max_align_t) * alignof(max_align_t);
	struct block *b = r->first;
	void *at;

	/* The small one in front is filled up; large ones stand behind it. */
	if (b->size - b->used < size) {
		b = block_new(size > BLOCK_SIZE ? size : BLOCK_SIZE);
		if (b == NULL)
			return NULL;
		if (size > BLOCK_SIZE) {
			b->next = r->first->next;
			r->first->next = b;
		} else {
			b->next = r->first;
			r->first = b;
		}
	}
	at = b->at + b->used;
	b->used += size;
	return at;
}

static void
drop_blocks(struct block *b)
{
	struct block *next;

	for (; b != NULL; b = next) {
		next = b->next;
		free(b);
	}
}

static void
forget(struct idem_redis_reply *r)
{
	drop_blocks(r->first->next);
	r->first->next = NULL;
	r->first->used = 0;
}

/* --- what hiredis calls --------------------------------------------------- */

static struct idem_redis_value *
value_of(const redisReadTask *task)
{
	struct idem_redis_reply *r = task->privdata;
	struct place *parent;

	if (task->parent == NULL)
		return &r->root;
	parent = task->parent->obj;
	return &parent->members[task->idx];
}

/* NULL would mean that there was no memory. */
static void *
done_with(struct idem_redis_value *v, struct idem_redis_value is)
{
	*v = is;
	return v;
}

static enum idem_redis_type
type_of(int type)
{
	switch (type) {
	case REDIS_REPLY_STATUS:
		return IDEM_REDIS_STATUS;
	case REDIS_REPLY_ERROR:
		return IDEM_REDIS_ERROR;
	default:
		return IDEM_REDIS_STRING;
	}
}

static void *
on_string(const redisReadTask *task, char *at, size_t len)
{
	char *copy = take(task->privdata, len + 1);

	if (copy == NULL)
		return NULL;
	memcpy(copy, at, len);
	copy[len] = '\0';
	return done_with(value_of(task), (struct idem_redis_value){
	    .type = type_of(task->type), .text = { copy, len } });
}

static void *
on_array(const redisReadTask *task, int len)
{
	size_t n = (size_t)len;
	struct place *place = take(task->privdata, sizeof *place);

	if (place == NULL)
		return NULL;
	place->members = take(task->privdata, n * sizeof *place->members);
	if (place->members == NULL)
		return NULL;
	done_with(value_of(task), (struct idem_redis_value){
	    .type = IDEM_REDIS_ARRAY, .at = place->members, .len = n });
	return place;
}

static void *
on_integer(const redisReadTask *task, long long number)
{
	return done_with(value_of(task), (struct idem_redis_value){
	    .type = IDEM_REDIS_INTEGER, .integer = number });
}

static void *
on_nil(const redisReadTask *task)
{
	return done_with(value_of(task),
	    (struct idem_redis_value){ .type = IDEM_REDIS_NIL });
}

static void
on_free(void *at)
{
	(void)at;
}

/* --- a reader ------------------------------------------------------------- */

struct idem_redis_reply *
idem_redis_reply_new(void)
{
	struct idem_redis_reply *r = calloc(1, sizeof *r);

	if (r == NULL)
		return NULL;
	r->functions = (redisReplyObjectFunctions){
		on_string, on_array, on_integer, on_nil, on_free
	};
	r->first = block_new(BLOCK_SIZE);
	r->reader = redisReaderCreateWithFunctions(&r->functions);
	if (r->first == NULL || r->reader == NULL) {
		idem_redis_reply_free(r);
		return NULL;
	}
	r->reader->privdata = r;
	return r;
}

void
idem_redis_reply_free(struct idem_redis_reply *r)
{
	if (r == NULL)
		return;
	if (r->reader != NULL)
		redisReaderFree(r->reader);
	drop_blocks(r->first);
	free(r);
}

bool
idem_redis_reply_feed(struct idem_redis_reply *r, struct idem_bytes bytes)
{
	return redisReaderFeed(r->reader, bytes.at, bytes.len) == REDIS_OK;
}

const struct idem_redis_value *
idem_redis_reply_get(struct idem_redis_reply *r, const char **why)
{
	void *got = NULL;

	forget(r);
	if (redisReaderGetReply(r->reader, &got) != REDIS_OK) {
		*why = r->reader->errstr;
		return NULL;
	}
	if (got == NULL) {
		*why = "a reply is not whole";
		return NULL;
	}
	return &r->root;
}
