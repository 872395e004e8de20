/* SPDX-License-Identifier: ISC */
#include "redis_cache.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "idem:"
#define LOOK_MS 50
#define PUT_MS 1000
#define ANSWER_MAX (UINT64_C(1) << 20)
#define CHECK_MS 10000
#define BULK (64u * 1024)	/* from here on, where it holds up nobody */
/* The server adds it to its clock, and refuses what is too much. */
#define LIFE_MAX_MS (INT64_C(1) << 50)
#define LOST_MAX 256u

struct idem_redis_cache {
	struct idem_redis_cache_options o;
	char generation[2 * IDEM_HISTORY_LEN + 1];
	unsigned holders;	/* its user, and commands under way */
	bool freed;
	enum idem_redis_owner owner;
	bool checking;
	int64_t check_ms;	/* not before */
	/* Look-ups for which there was no memory. */
	struct idem_redis_look lost[LOST_MAX];
	size_t lost_len;
};

struct look {
	struct idem_redis_cache *cache;
	struct idem_redis_look asked;
};

static void
drop(struct idem_redis_cache *c)
{
	if (--c->holders == 0)
		free(c);
}

static bool
record_key(const struct idem_redis_cache *c, const struct idem_digest *key,
    struct idem_buf *to)
{
	char hex[2 * IDEM_DIGEST_LEN + 1];

	idem_hex(key->at, sizeof key->at, hex);
	idem_buf_printf(to, "%sc:%s:%s", c->o.prefix, c->generation, hex);
	return idem_buf_ok(to);
}

static void
ask(struct idem_redis_cache *c, const struct idem_bytes *args, size_t len,
    uint32_t ms, idem_redis_done *done, void *arg)
{
	size_t i, bytes = 0;
	struct idem_redis_command command = {
		.args = args,
		.args_len = len,
		.key = args[1],
		.deadline_ms = idem_boot_ms(c->o.clock) + ms,
		.done = done,
		.arg = arg,
	};

	for (i = 0; i < len; i++)
		bytes += args[i].len;
	command.bulk = bytes > BULK;
	c->holders++;
	idem_redis_send(c->o.client, &command);
}

/* --- look-up -------------------------------------------------------------- */

/* A fact about this request, or nothing; *answer is owned. */
static enum idem_look
judge(const struct idem_redis_cache *c, const struct idem_redis_look *l,
    struct idem_bytes value, struct idem_record *r, struct idem_blob **answer)
{
	struct idem_reader from = { .left = value };
	uint64_t purges = idem_read_u64(&from);
	struct idem_bytes saved;

	if (from.short_ || purges != l->purges ||
	    !idem_record_read(from.left, r, &saved) ||
	    r->state != IDEM_STATE_COMPLETED ||
	    r->expires_at <= idem_wall_ms(c->o.clock) ||
	    !idem_digest_equal(&r->fingerprint, &l->fingerprint) ||
	    !idem_digest_equal(&r->guard, &l->guard))
		return IDEM_LOOK_NOTHING;
	if (saved.len == 0)
		return IDEM_LOOK_COMPLETED;
	*answer = idem_blob_new(saved);
	return *answer != NULL ? IDEM_LOOK_COMPLETED : IDEM_LOOK_UNSURE;
}

static void
found(void *arg, const struct idem_redis_answer *a)
{
	struct look *l = arg;
	struct idem_blob *answer = NULL;
	enum idem_look look = IDEM_LOOK_UNSURE;
	struct idem_record r;

	if (a->class == IDEM_OK && a->value->type == IDEM_REDIS_NIL)
		look = IDEM_LOOK_NOTHING;
	else if (a->class == IDEM_OK && a->value->type == IDEM_REDIS_STRING &&
	    !l->cache->freed)
		look = judge(l->cache, &l->asked, a->value->text, &r,
		    &answer);
	if (!l->cache->freed)
		l->asked.done(l->asked.arg, look,
		    look == IDEM_LOOK_COMPLETED ? &r : NULL, answer);
	idem_blob_drop(answer);
	drop(l->cache);
	free(l);
}

static void
lose(struct idem_redis_cache *c, const struct idem_redis_look *asked)
{
	assert(c->lost_len < LOST_MAX);
	c->lost[c->lost_len++] = *asked;
}

void
idem_redis_cache_look(struct idem_redis_cache *c,
    const struct idem_redis_look *asked)
{
	struct look *l = malloc(sizeof *l);
	struct idem_buf key = { 0 };
	struct idem_bytes args[2];

	if (l == NULL || !record_key(c, &asked->key, &key)) {
		free(l);
		lose(c, asked);
	} else {
		l->cache = c;
		l->asked = *asked;
		args[0] = idem_bytes_text("GET");
		args[1] = idem_buf_bytes(&key);
		ask(c, args, 2, c->o.look_ms, found, l);
	}
	idem_buf_free(&key);
}

static void
tell_lost(struct idem_redis_cache *c)
{
	size_t n = c->lost_len, i;

	for (i = 0; i < n; i++)
		c->lost[i].done(c->lost[i].arg, IDEM_LOOK_UNSURE, NULL,
		    NULL);
	c->lost_len -= n;
	memmove(c->lost, c->lost + n, c->lost_len * sizeof c->lost[0]);
}

/* --- a record into it ----------------------------------------------------- */

static void
put(void *arg, const struct idem_redis_answer *a)
{
	(void)a;	/* it is there, or it is not */
	drop(arg);
}

static void
pack(struct idem_buf *to, const struct idem_record *r,
    const struct idem_blob *answer, uint64_t purges)
{
	idem_buf_u64(to, purges);
	idem_record_write(to, r);
	if (answer != NULL)
		idem_buf_append(to, answer->at, answer->len);
}

void
idem_redis_cache_put(struct idem_redis_cache *c,
    const struct idem_redis_put *p)
{
	int64_t now_ms = idem_wall_ms(c->o.clock);
	int64_t life_ms = p->left_ms < LIFE_MAX_MS ? p->left_ms : LIFE_MAX_MS;
	struct idem_record r = {
		.state = IDEM_STATE_COMPLETED,
		.fingerprint = p->fingerprint,
		.guard = p->guard,
		/* From there to its end it was to be kept in all. */
		.ended_at = now_ms + life_ms - p->kept_ms,
		.expires_at = now_ms + life_ms,
	};
	struct idem_buf name = { 0 }, value = { 0 };
	struct idem_bytes args[5];
	char ms[24];

	if (p->left_ms <= 0 ||
	    (p->answer != NULL && p->answer->len > c->o.answer_max))
		return;
	pack(&value, &r, p->answer, p->purges);
	if (record_key(c, &p->key, &name) && idem_buf_ok(&value)) {
		snprintf(ms, sizeof ms, "%" PRId64, life_ms);
		args[0] = idem_bytes_text("SET");
		args[1] = idem_buf_bytes(&name);
		args[2] = idem_buf_bytes(&value);
		args[3] = idem_bytes_text("PX");
		args[4] = idem_bytes_text(ms);
		ask(c, args, 5, c->o.put_ms, put, c);
	}
	idem_buf_free(&name);
	idem_buf_free(&value);
}

/* --- whose it is ---------------------------------------------------------- */

static void
registered(void *arg, const struct idem_redis_answer *a)
{
	struct idem_redis_cache *c = arg;

	c->checking = false;
	/* Not there: it went just now.  An error says nothing new. */
	if (a->class == IDEM_OK && a->value->type == IDEM_REDIS_STRING)
		c->owner = idem_redis_is(a->value, c->generation) ?
		    IDEM_REDIS_OWNER_OURS : IDEM_REDIS_OWNER_FOREIGN;
	else if (a->class != IDEM_OK && !c->freed && c->o.trouble != NULL)
		c->o.trouble(c->o.arg, a->error);
	drop(c);
}

static void
say(struct idem_redis_cache *c, bool set, idem_redis_done *done)
{
	struct idem_buf key = { 0 };
	struct idem_bytes args[4];

	idem_buf_printf(&key, "%sledger", c->o.prefix);
	if (idem_buf_ok(&key)) {
		args[0] = idem_bytes_text(set ? "SET" : "GET");
		args[1] = idem_buf_bytes(&key);
		args[2] = idem_bytes_text(c->generation);
		args[3] = idem_bytes_text("NX");
		c->checking = true;
		ask(c, args, set ? 4 : 2, c->o.put_ms, done, c);
	}
	idem_buf_free(&key);
}

/* A full server, or one that may not be written to, can still be asked. */
static void
offered(void *arg, const struct idem_redis_answer *a)
{
	struct idem_redis_cache *c = arg;

	c->checking = false;
	if (c->freed)
		;
	else if (a->class == IDEM_OK && a->value->type == IDEM_REDIS_STATUS)
		c->owner = IDEM_REDIS_OWNER_OURS;
	else
		say(c, false, registered);
	drop(c);
}

enum idem_redis_owner
idem_redis_cache_owner(const struct idem_redis_cache *c)
{
	return c->owner;
}

int64_t
idem_redis_cache_due_ms(const struct idem_redis_cache *c)
{
	if (c->lost_len > 0)
		return 0;
	return c->checking ? INT64_MAX : c->check_ms;
}

void
idem_redis_cache_due(struct idem_redis_cache *c)
{
	int64_t now_ms = idem_boot_ms(c->o.clock);

	tell_lost(c);
	if (c->checking || now_ms < c->check_ms)
		return;
	c->check_ms = now_ms + c->o.check_ms;
	say(c, true, offered);
}

/* ------------------------------------------------------------------------- */

static void
defaults(struct idem_redis_cache_options *o)
{
	if (o->prefix == NULL)
		o->prefix = PREFIX;
	if (o->look_ms == 0)
		o->look_ms = LOOK_MS;
	if (o->put_ms == 0)
		o->put_ms = PUT_MS;
	if (o->answer_max == 0)
		o->answer_max = ANSWER_MAX;
	if (o->check_ms == 0)
		o->check_ms = CHECK_MS;
}

struct idem_redis_cache *
idem_redis_cache_new(const struct idem_redis_cache_options *options)
{
	struct idem_redis_cache *c = calloc(1, sizeof *c);

	if (c == NULL)
		return NULL;
	c->o = *options;
	c->holders = 1;
	defaults(&c->o);
	idem_hex(options->ledger.at, sizeof options->ledger.at, c->generation);
	idem_redis_cache_due(c);
	return c;
}

void
idem_redis_cache_free(struct idem_redis_cache *c)
{
	if (c == NULL)
		return;
	c->freed = true;
	drop(c);
}
