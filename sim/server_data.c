/* SPDX-License-Identifier: ISC */
#include "server_private.h"

#include "folder.h"
#include "record.h"
#include "store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEAD "169"		/* the last byte that may be a record's head */
#define PAGE 512		/* keys; SCAN may give more */
#define HEX (2 * IDEM_DIGEST_LEN)
#define CACHED_LEN (2 + 2 * IDEM_HISTORY_LEN + 1)	/* "c:GENERATION:" */
#define PURGES_LEN 8

/* --- all of it ------------------------------------------------------------ */

static const char *
memory_of(const struct server *s)
{
	return s->plan->maxmemory != NULL ? s->plan->maxmemory : "0";
}

static const char *
policy_of(const struct server *s)
{
	return s->plan->maxmemory_policy != NULL ? s->plan->maxmemory_policy :
	    "noeviction";
}

static void
set_memory(struct server_talk *t, const char *memory, const char *policy)
{
	const char *const limit[] = { "CONFIG", "SET", "maxmemory", memory,
		NULL };
	const char *const evict[] = { "CONFIG", "SET", "maxmemory-policy",
		policy, NULL };

	server_talk_words(t, evict);
	server_talk_words(t, limit);
}

/* So many replies, each of them OK. */
static int
all_ok(struct server_talk *t, unsigned n)
{
	struct idem_bytes reply;

	while (n-- > 0) {
		reply = server_talk_get(t);
		if (reply.len == 0 || *(const char *)reply.at != '+')
			return -1;
	}
	return 0;
}

/* ROLE of a master: ["master", offset, [...]]. */
static bool
is_master(struct server_talk *t)
{
	static const char master[] = "*3\r\n$6\r\nmaster\r\n";
	struct idem_bytes reply = server_talk_get(t);

	return reply.len > sizeof master &&
	    memcmp(reply.at, master, sizeof master - 1) == 0;
}

int
server_reset(struct server *s)
{
	const char *const role[] = { "ROLE", NULL };
	const char *const unpause[] = { "CLIENT", "UNPAUSE", NULL };
	const char *const flush[] = { "FLUSHALL", NULL };
	const char *const scripts[] = { "SCRIPT", "FLUSH", NULL };
	const char *const counts[] = { "CONFIG", "RESETSTAT", NULL };
	struct server_talk t;
	bool done;

	if (s->in == NULL || s->child.pid == 0 || s->frozen ||
	    s->in->watched != NULL)
		return -1;
	server_talk_open(&t, s);
	server_talk_words(&t, role);
	server_talk_words(&t, unpause);
	set_memory(&t, memory_of(s), policy_of(s));
	server_talk_words(&t, flush);
	server_talk_words(&t, scripts);
	server_talk_words(&t, counts);
	done = is_master(&t) && all_ok(&t, 6) == 0;
	server_talk_close(&t);
	if (done && folder_remove(s->in->older) == -1)
		done = false;
	s->life = 1;
	return done ? 0 : -1;
}

/* One byte: whatever it holds is more. */
void
server_oom(struct server *s, bool full)
{
	struct server_talk t;

	if (s->in == NULL || s->frozen)
		return;
	server_talk_open(&t, s);
	if (full)
		set_memory(&t, "1", "noeviction");
	else
		set_memory(&t, memory_of(s), policy_of(s));
	(void)all_ok(&t, 2);
	server_talk_close(&t);
}

/* --- put by --------------------------------------------------------------- */

static bool
is_appended(const struct server *s)
{
	return s->plan->persistence == PLAN_PERSIST_AOF_EVERYSEC ||
	    s->plan->persistence == PLAN_PERSIST_AOF_ALWAYS;
}

/* What is appended is in its file, synced or not, before it is answered. */
int
server_save(struct server *s)
{
	const char *const save[] = { "SAVE", NULL };
	char dump[140], said[64];

	if (s->in == NULL || s->in->watched != NULL)
		return -1;
	if (!is_appended(s) && strcmp(server_say(s, said, sizeof said, save),
	    "OK") != 0)
		return -1;
	if (folder_remove(s->in->older) == -1 ||
	    folder_copy(s->in->data, s->in->older) == -1)
		return -1;
	/* One that keeps nothing must not find it at its next start. */
	snprintf(dump, sizeof dump, "%s/dump.rdb", s->in->data);
	if (s->plan->persistence == PLAN_PERSIST_NONE)
		return unlink(dump);
	return 0;
}

/* --- its records ---------------------------------------------------------- */

/* The string that the bytes begin with, which is passed over; false: none. */
static bool
take_string(struct idem_bytes *from, struct idem_bytes *out)
{
	const char *at = from->at, *end;
	size_t head, len;

	end = from->len > 0 ? memchr(at, '\n', from->len) : NULL;
	if (end == NULL || *at != '$' || at[1] == '-')
		return false;
	len = strtoul(at + 1, NULL, 10);
	head = (size_t)(end + 1 - at);
	if (len > from->len || head + len + 2 > from->len)
		return false;
	*out = (struct idem_bytes){ end + 1, len };
	*from = (struct idem_bytes){ end + 1 + len + 2,
		from->len - head - len - 2 };
	return true;
}

/* The same of an array's head: how many follow; -1: there is none. */
static long
take_array(struct idem_bytes *from)
{
	const char *at = from->at, *end;

	end = from->len > 0 ? memchr(at, '\n', from->len) : NULL;
	if (end == NULL || *at != '*')
		return -1;
	*from = (struct idem_bytes){ end + 1,
		from->len - (size_t)(end + 1 - at) };
	return strtol(at + 1, NULL, 10);
}

static const char *
state_text(enum idem_state state)
{
	return state == IDEM_STATE_IN_PROGRESS ? "in progress" :
	    idem_state_text(state);
}

/*
 * A record's key: of an arbiter PREFIX and the store key; of a ledger's cache
 * "c:" and the ledger's generation come between them, and before the record in
 * its value stands a number.
 */
struct page_key {
	char name[CACHED_LEN + HEX + 1];	/* without the prefix */
};

struct page {
	struct page_key *keys;
	size_t n, room;
	char cursor[24];
};

/* False: it is none. */
static bool
read_key(struct page_key *k, struct idem_bytes name)
{
	uint8_t digest[IDEM_DIGEST_LEN];
	size_t before = name.len - HEX;

	if (name.len < HEX || (before != 0 && (before != CACHED_LEN ||
	    memcmp(name.at, "c:", 2) != 0)))
		return false;
	memcpy(k->name, name.at, name.len);
	k->name[name.len] = '\0';
	return idem_unhex(k->name + before, digest, sizeof digest);
}

static int
page_add(struct page *p, struct idem_bytes key, size_t prefix)
{
	struct page_key *more;

	if (key.len < prefix)
		return 0;
	if (p->n == p->room) {
		more = reallocarray(p->keys, p->room + PAGE, sizeof *more);
		if (more == NULL)
			return -1;
		p->keys = more;
		p->room += PAGE;
	}
	p->n += read_key(&p->keys[p->n], (struct idem_bytes){
	    (const char *)key.at + prefix, key.len - prefix });
	return 0;
}

/* The next page's keys, and its cursor. */
static int
page_ask(struct page *p, struct server_talk *t, const char *prefix)
{
	char match[80], count[16];
	const char *const scan[] = { "SCAN", p->cursor, "MATCH", match,
		"COUNT", count, NULL };
	struct idem_bytes reply, text;
	long n;

	snprintf(match, sizeof match, "%s*", prefix);
	snprintf(count, sizeof count, "%d", PAGE);
	server_talk_words(t, scan);
	reply = server_talk_get(t);
	p->n = 0;
	if (take_array(&reply) != 2 || !take_string(&reply, &text) ||
	    text.len >= sizeof p->cursor)
		return -1;
	memcpy(p->cursor, text.at, text.len);
	p->cursor[text.len] = '\0';
	for (n = take_array(&reply); n > 0; n--)
		if (!take_string(&reply, &text) ||
		    page_add(p, text, strlen(prefix)) == -1)
			return -1;
	return n == 0 ? 0 : -1;
}

/* One that went in between is an empty string. */
static bool
read_record(struct idem_bytes reply, bool cached, struct idem_record *record)
{
	size_t before = cached ? PURGES_LEN : 0;
	struct idem_bytes head, answer;

	if (!take_string(&reply, &head) || head.len < before)
		return false;
	head = (struct idem_bytes){ (const char *)head.at + before,
		head.len - before };
	return idem_record_read(head, record, &answer);
}

static int
page_read(const struct page *p, struct server_talk *t, const char *prefix,
    void (*each)(void *, const char *, const char *, unsigned), void *arg)
{
	struct idem_record record;
	struct idem_bytes reply;
	const struct page_key *k;
	char key[80 + sizeof k->name];
	const char *const get[] = { "GETRANGE", key, "0", HEAD, NULL };
	size_t i, before;

	for (i = 0; i < p->n; i++) {
		snprintf(key, sizeof key, "%s%s", prefix, p->keys[i].name);
		server_talk_words(t, get);
	}
	for (i = 0; i < p->n; i++) {
		k = &p->keys[i];
		reply = server_talk_get(t);
		if (reply.len == 0)
			return -1;
		before = strlen(k->name) - HEX;
		if (read_record(reply, before != 0, &record))
			each(arg, k->name + before, state_text(record.state),
			    record.attempt);
		else
			each(arg, k->name + before, "unreadable", 0);
	}
	return 0;
}

int
server_records(struct server *s, const char *prefix,
    void (*each)(void *arg, const char *store_key_hex, const char *state,
	unsigned attempt), void *arg)
{
	struct page page = { .cursor = "0" };
	struct server_talk t;
	int done;

	if (s->frozen || strlen(prefix) > 64) {
		errno = s->frozen ? ETIMEDOUT : EINVAL;
		return -1;
	}
	server_talk_open(&t, s);
	do {
		done = page_ask(&page, &t, prefix);
		if (done == 0)
			done = page_read(&page, &t, prefix, each, arg);
	} while (done == 0 && strcmp(page.cursor, "0") != 0);
	server_talk_close(&t);
	free(page.keys);
	return done;
}
