/* SPDX-License-Identifier: ISC */
#include "store_redis_parts.h"

#include <stdlib.h>
#include <string.h>

/* --- what SCAN says ------------------------------------------------------- */

static bool
read_cursor(const struct idem_redis_value *v, uint64_t *cursor)
{
	char text[24];

	if (v->type != IDEM_REDIS_STRING || v->text.len >= sizeof text)
		return false;
	memcpy(text, v->text.at, v->text.len);
	text[v->text.len] = '\0';
	*cursor = strtoull(text, NULL, 10);
	return *cursor < UINT64_C(1) << IDEM_REDIS_CURSOR_BITS;
}

/* A key of the prefix; false: it is none of a record. */
static bool
read_key(const struct idem_redis_scan *s, const struct idem_redis_value *v,
    struct idem_digest *key)
{
	size_t prefix = strlen(s->w->store->o.prefix);
	char hex[2 * IDEM_DIGEST_LEN + 1];

	if (v->type != IDEM_REDIS_STRING ||
	    v->text.len != prefix + sizeof hex - 1)
		return false;
	memcpy(hex, (const char *)v->text.at + prefix, sizeof hex - 1);
	hex[sizeof hex - 1] = '\0';
	return idem_unhex(hex, key->at, sizeof key->at);
}

/* The next cursor, and keys. */
bool
idem_redis_page_read(struct idem_redis_scan *s,
    const struct idem_redis_value *v)
{
	const struct idem_redis_value *keys;
	size_t i;

	if (v->type != IDEM_REDIS_ARRAY || v->len != 2 ||
	    !read_cursor(&v->at[0], &s->next) ||
	    v->at[1].type != IDEM_REDIS_ARRAY)
		return false;
	keys = &v->at[1];
	free(s->page);
	s->page_len = 0;
	s->asked = 0;
	s->page = calloc(keys->len + 1, sizeof *s->page);
	if (s->page == NULL)
		return false;
	for (i = 0; i < keys->len; i++) {
		s->page[s->page_len].scan = s;
		if (read_key(s, &keys->at[i], &s->page[s->page_len].key) &&
		    idem_redis_rows_wants(&s->rows, &s->page[s->page_len].key))
			s->page_len++;
	}
	return true;
}

/* --- what its keys are ---------------------------------------------------- */

static void
peeked(struct idem_redis_scan *s, const struct idem_digest *key,
    const struct idem_redis_script_reply *r)
{
	const struct idem_listed row = {
		.key = *key,
		.record = r->record,
		.answer_len = r->answer_len,
	};

	/* One that cannot be read says so when it is asked for. */
	if (r->record.state == IDEM_STATE_ABSENT ||
	    !idem_store_wanted(&s->w->call, r->record.state))
		return;
	if (!idem_redis_rows_add(&s->rows, &row))
		idem_redis_scan_fail(s, IDEM_CLASS_REFUSED, "out of memory");
}

static void
looked(struct idem_redis_scan *s, const struct idem_digest *key,
    const struct idem_redis_script_reply *r)
{
	if (r->now_ms != 0)
		s->now_ms = r->now_ms;
	if (s->w->call.op == IDEM_STORE_LIST)
		peeked(s, key, r);
	else if (idem_bytes_is(r->verdict, "GONE") ||
	    idem_bytes_is(r->verdict, "TOMBSTONE"))
		s->swept++;
}

static void
next(struct idem_redis_scan *s)
{
	idem_redis_page_ask(s);
	if (s->pending == 0)
		idem_redis_page_over(s);
}

/* Who judges a row by its server's clock has to have watched that. */
static void
heard(const struct idem_redis_scan *s, const struct idem_redis_answer *a,
    int64_t now_ms)
{
	const struct idem_redis_store *store = s->w->store;

	if (!store->o.fixed_time && now_ms != 0)
		idem_redis_heard(store->o.client, (struct idem_bytes){ 0 },
		    a->sent_ms, now_ms);
}

static void
key_done(void *arg, const struct idem_redis_answer *a)
{
	const struct idem_redis_page_key *k = arg;
	struct idem_redis_scan *s = k->scan;
	struct idem_redis_script_reply r;

	if (!idem_redis_work_back(s->w))
		return;
	s->pending--;
	s->away |= a->away;
	if (a->class != IDEM_OK)
		idem_redis_scan_fail(s, a->class, a->error);
	else if (!idem_redis_script_read(a->value, &r))
		idem_redis_scan_fail(s, IDEM_CLASS_REFUSED,
		    "Redis gave a reply of the wrong shape");
	else {
		heard(s, a, r.now_ms);
		looked(s, &k->key, &r);
	}
	next(s);
}

static void
ask(struct idem_redis_scan *s, struct idem_redis_command *command)
{
	s->pending++;
	idem_redis_work_send(s->w, command);
}

static void
ask_script(struct idem_redis_page_key *k, struct idem_bytes key)
{
	struct idem_redis_scan *s = k->scan;
	struct idem_redis_script_call c = idem_redis_script_call(s->w, key);
	struct idem_redis_script_args args;

	idem_redis_script_look(&args, &c, s->w->call.op == IDEM_STORE_SWEEP ?
	    IDEM_REDIS_SWEEP_ONE : IDEM_REDIS_PEEK);
	ask(s, &(struct idem_redis_command){
	    .script = &s->w->store->script, .args = args.at,
	    .args_len = args.len, .key = key, .done = key_done, .arg = k });
}

static void state_done(void *, const struct idem_redis_answer *);

/* The byte of the record that is its state. */
static void
ask_state(struct idem_redis_page_key *k, struct idem_bytes key)
{
	const struct idem_bytes args[] = {
		idem_bytes_text("GETRANGE"), key, idem_bytes_text("1"),
		idem_bytes_text("1")
	};

	ask(k->scan, &(struct idem_redis_command){
	    .args = args, .args_len = sizeof args / sizeof *args, .key = key,
	    .done = state_done, .arg = k });
}

static void
ask_key(struct idem_redis_page_key *k,
    void (*how)(struct idem_redis_page_key *, struct idem_bytes key))
{
	char hex[2 * IDEM_DIGEST_LEN + 1];
	struct idem_buf key = { 0 };

	idem_hex(k->key.at, sizeof k->key.at, hex);
	if (idem_redis_key(k->scan->w->store, hex, &key))
		how(k, idem_buf_bytes(&key));
	else
		idem_redis_scan_fail(k->scan, IDEM_CLASS_REFUSED,
		    "out of memory");
	idem_buf_free(&key);
}

/* What is no record is in no list. */
static bool
is_wanted(const struct idem_redis_scan *s, const struct idem_redis_value *v)
{
	uint8_t state;

	if (v->type != IDEM_REDIS_STRING || v->text.len != 1)
		return false;
	state = *(const uint8_t *)v->text.at;
	return state <= IDEM_STATE_TOMBSTONE &&
	    idem_store_wanted(&s->w->call, (enum idem_state)state);
}

static bool
is_no_text(const struct idem_redis_answer *a)
{
	static const char word[] = "WRONGTYPE";

	return a->error != NULL && strncmp(a->error, word, strlen(word)) == 0;
}

static void
state_done(void *arg, const struct idem_redis_answer *a)
{
	struct idem_redis_page_key *k = arg;
	struct idem_redis_scan *s = k->scan;

	if (!idem_redis_work_back(s->w))
		return;
	s->pending--;
	s->away |= a->away;
	if (a->class != IDEM_OK && !is_no_text(a))
		idem_redis_scan_fail(s, a->class, a->error);
	else if (a->class == IDEM_OK && is_wanted(s, a->value))
		ask_key(k, ask_script);
	next(s);
}

/*
 * Most records are completed, and who sweeps asks each second for others: then
 * the state alone is asked for first, which costs the server an eighth of the
 * script.
 */
static bool
by_state(const struct idem_redis_scan *s)
{
	return s->w->call.op == IDEM_STORE_LIST &&
	    !idem_store_wanted(&s->w->call, IDEM_STATE_COMPLETED);
}

void
idem_redis_page_ask(struct idem_redis_scan *s)
{
	bool sweep = s->w->call.op == IDEM_STORE_SWEEP;
	uint32_t max = idem_store_rows(&s->w->call);

	while (!s->bad && s->asked < s->page_len &&
	    (!sweep || s->swept + s->pending < max))
		ask_key(&s->page[s->asked++],
		    by_state(s) ? ask_state : ask_script);
}

