/* SPDX-License-Identifier: ISC */
#include "doctor_ask.h"

#include <string.h>

#define PAGE "1000"		/* keys that SCAN looks at */
#define SCAN_MS 2000		/* then they are not counted */
#define SAMPLE 100		/* records whose first bytes are looked at */
#define SAMPLES_PAGE 5
#define HEX (2 * IDEM_DIGEST_LEN)

struct count {
	const struct doctor_asker *asker;
	struct doctor_line *line;
	size_t prefix_len;
	int64_t ours, others, junk, looked;
};

/* --- one key -------------------------------------------------------------- */

static bool
is_hex(struct idem_bytes text)
{
	const char *at = text.at;
	size_t i;

	for (i = 0; i < text.len; i++)
		if (at[i] == '\0' || strchr("0123456789abcdef", at[i]) == NULL)
			return false;
	return text.len == HEX;
}

/* Behind the prefix: what idem itself writes. */
static bool
is_known(struct idem_bytes rest)
{
	static const char *const begin[] = { "c:", "selftest" };
	size_t i;

	for (i = 0; i < sizeof begin / sizeof *begin; i++)
		if (rest.len >= strlen(begin[i]) && memcmp(rest.at, begin[i],
		    strlen(begin[i])) == 0)
			return true;
	return is_hex(rest) || idem_bytes_is(rest, "ledger") ||
	    idem_bytes_is(rest, "purges");
}

/*
 * Does a record begin as one does (record.h)?  What is no string answers
 * WRONGTYPE; what we may not read is taken for one.
 */
static bool
is_record(struct count *c, struct idem_bytes key)
{
	struct idem_redis_waited reply;
	const struct idem_redis_value *v;
	const uint8_t *at;
	bool is = true;
	char name[DOCTOR_NAME];
	const char *words[] = { "GETRANGE", name, "0", "1", NULL };

	if (key.len >= sizeof name)
		return false;
	memcpy(name, key.at, key.len);
	name[key.len] = '\0';
	doctor_line_say(c->line, &reply, words);
	v = reply.value;
	if (reply.class == IDEM_OK && v != NULL && v->type == IDEM_REDIS_STRING)
	{
		at = v->text.at;
		is = v->text.len == 0 || (v->text.len == 2 &&
		    at[0] == IDEM_RECORD_VERSION &&
		    at[1] >= IDEM_STATE_ISSUED &&
		    at[1] <= IDEM_STATE_TOMBSTONE);
	} else if (strstr(reply.error, "WRONGTYPE") != NULL) {
		is = false;
	}
	idem_redis_waited_free(&reply);
	return is;
}

static void
count_key(struct count *c, struct idem_bytes key, unsigned *samples)
{
	const char *prefix = c->asker->conf->prefix;
	struct idem_bytes rest;

	if (key.len < c->prefix_len ||
	    memcmp(key.at, prefix, c->prefix_len) != 0) {
		c->others++;
		return;
	}
	c->ours++;
	rest = (struct idem_bytes){
		(const char *)key.at + c->prefix_len, key.len - c->prefix_len
	};
	if (!is_known(rest)) {
		c->junk++;
		return;
	}
	if (c->asker->plain_values || !is_hex(rest) || c->looked >= SAMPLE ||
	    *samples >= SAMPLES_PAGE)
		return;
	c->looked++;
	++*samples;
	if (!is_record(c, key))
		c->junk++;
}

/* --- pages ---------------------------------------------------------------- */

static bool
count_page(struct count *c, const struct idem_redis_value *v, char *cursor,
    size_t size)
{
	const struct idem_redis_value *keys;
	unsigned samples = 0;
	size_t i;

	if (v == NULL || v->type != IDEM_REDIS_ARRAY || v->len != 2 ||
	    v->at[0].type != IDEM_REDIS_STRING || v->at[0].text.len >= size ||
	    v->at[1].type != IDEM_REDIS_ARRAY)
		return false;
	memcpy(cursor, v->at[0].text.at, v->at[0].text.len);
	cursor[v->at[0].text.len] = '\0';
	keys = &v->at[1];
	for (i = 0; i < keys->len; i++)
		if (keys->at[i].type == IDEM_REDIS_STRING)
			count_key(c, keys->at[i].text, &samples);
	return true;
}

void
doctor_keys_count(const struct doctor_asker *a, struct doctor_line *line,
    struct doctor_server *s)
{
	int64_t until = idem_boot_ms(&idem_clock_real) + SCAN_MS;
	char cursor[24] = "0";
	const char *words[] = { "SCAN", cursor, "COUNT", PAGE, NULL };
	struct count c = {
		.asker = a, .line = line, .prefix_len = strlen(a->conf->prefix)
	};
	struct idem_redis_waited reply;
	bool good;

	do {
		doctor_line_say(line, &reply, words);
		good = reply.class == IDEM_OK &&
		    count_page(&c, reply.value, cursor, sizeof cursor);
		idem_redis_waited_free(&reply);
	} while (good && strcmp(cursor, "0") != 0 &&
	    idem_boot_ms(&idem_clock_real) < until);
	if (!good)
		doctor_node_hide(s, "SCAN (whose keys there are)");
	else if (strcmp(cursor, "0") == 0)
		s->ours = c.ours;
	s->others = c.others;
	s->junk = c.junk;
}
