/* SPDX-License-Identifier: ISC */
#include "store_trace.h"
#include "store_call.h"
#include "tap.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 16
#define CALLS_MAX 10000	/* for one sweep */

static const char *const claims[IDEM_CLAIMS] = {
	[IDEM_CLAIM_MISMATCH] = "mismatch",
	[IDEM_CLAIM_WITHHELD] = "withheld",
	[IDEM_CLAIM_COMPLETED] = "completed",
	[IDEM_CLAIM_EXPIRED] = "expired",
	[IDEM_CLAIM_IN_PROGRESS] = "in-progress",
	[IDEM_CLAIM_UNKNOWN] = "unknown",
	[IDEM_CLAIM_ABSENT] = "absent",
	[IDEM_CLAIM_WON] = "won",
	[IDEM_CLAIM_OURS] = "ours",
	[IDEM_CLAIM_LATE] = "late",
	[IDEM_CLAIM_HISTORY] = "history",
	[IDEM_CLAIM_NO_TOKEN] = "no-token",
	[IDEM_CLAIM_BAD_RECORD] = "bad-record",
	[IDEM_CLAIM_EXHAUSTED] = "exhausted",
	[IDEM_CLAIM_REFUSED] = "refused",
	[IDEM_CLAIM_MAYBE] = "maybe",
};

static const char *const renews[] = {
	[IDEM_RENEWED] = "renewed",
	[IDEM_RENEW_LOST] = "lost",
	[IDEM_RENEW_MAYBE] = "maybe",
	[IDEM_RENEW_STOPPED] = "stopped",
};

static const char *const writes[] = {
	[IDEM_WRITTEN] = "written",
	[IDEM_WRITE_LOST] = "lost",
	[IDEM_WRITE_REFUSED] = "refused",
	[IDEM_WRITE_MAYBE] = "maybe",
};

/* A line cut into words. */
struct words {
	char text[400];
	char *at[WORDS_MAX];
	size_t n;
};

static void
cut(struct words *w, const char *line)
{
	char *save, *word;

	snprintf(w->text, sizeof w->text, "%s", line);
	w->n = 0;
	for (word = strtok_r(w->text, " ", &save); word != NULL;
	    word = strtok_r(NULL, " ", &save)) {
		if (w->n == WORDS_MAX)
			bail_out("too many words: %s", line);
		w->at[w->n++] = word;
	}
}

static const char *
word(const struct words *w, size_t i)
{
	if (i >= w->n)
		bail_out("a word is missing after: %s", w->text);
	return w->at[i];
}

/* The value of "name=value", or NULL; of "name", an empty one. */
static const char *
option(const struct words *w, const char *name)
{
	size_t i, len = strlen(name);

	for (i = 1; i < w->n; i++) {
		if (strncmp(w->at[i], name, len) != 0)
			continue;
		if (w->at[i][len] == '=')
			return w->at[i] + len + 1;
		if (w->at[i][len] == '\0')
			return w->at[i] + len;
	}
	return NULL;
}

static long long
number(const struct words *w, const char *name, long long otherwise)
{
	const char *value = option(w, name);

	return value != NULL ? atoll(value) : otherwise;
}

/* --- names ---------------------------------------------------------------- */

/* Big endian, so that names sort as their numbers do; what is above 65535 at
   the beginning, so that those of large numbers lie apart. */
static void
fill(void *to, size_t len, const char *name)
{
	unsigned long n = strtoul(name + 1, NULL, 10);
	uint8_t *at = to;

	memset(at, 0, len);
	at[0] = (uint8_t)name[0];
	at[1] = (uint8_t)(n >> 24);
	at[2] = (uint8_t)(n >> 16);
	at[len - 1] = (uint8_t)n;
	at[len - 2] = (uint8_t)(n >> 8);
}

struct idem_digest
trace_digest(const char *name)
{
	struct idem_digest d;

	fill(d.at, sizeof d.at, name);
	return d;
}

struct idem_owner
trace_owner(const char *name)
{
	struct idem_owner o;

	fill(o.at, sizeof o.at, name);
	return o;
}

static void
name_of(const uint8_t *at, size_t len, char *out, size_t out_size)
{
	snprintf(out, out_size, "%c%d", at[0], at[len - 2] * 256 + at[len - 1]);
}

/* --- answers -------------------------------------------------------------- */

static uint8_t
pattern(size_t i)
{
	return (uint8_t)(i * 7 + i / 251);
}

static struct idem_blob *
answer_of(const char *name)
{
	struct idem_blob *blob;
	size_t i, len;

	if (strcmp(name, "-") == 0)
		return NULL;
	if (strncmp(name, "big:", 4) != 0)
		return idem_blob_new(idem_bytes_text(name));
	len = strtoul(name + 4, NULL, 10);
	blob = idem_blob_room(len);
	for (i = 0; blob != NULL && i < len; i++)
		blob->at[i] = pattern(i);
	return blob;
}

static void
name_answer(const struct idem_blob *answer, char *out, size_t out_size)
{
	size_t i;

	if (answer == NULL) {
		snprintf(out, out_size, "-");
		return;
	}
	for (i = 0; i < answer->len && answer->at[i] == pattern(i); i++)
		;
	if (i == answer->len)
		snprintf(out, out_size, "big:%zu", answer->len);
	else
		snprintf(out, out_size, "%.*s", (int)answer->len,
		    (const char *)answer->at);
}

/* --- a line as a call ----------------------------------------------------- */

static uint32_t
states_of(const char *names)
{
	enum idem_state s;
	uint32_t mask = 0;

	for (s = IDEM_STATE_ISSUED; s <= IDEM_STATE_TOMBSTONE; s++)
		if (strcmp(names, "all") == 0 ||
		    strstr(names, idem_state_text(s)) != NULL)
			mask |= 1u << s;
	return mask;
}

/* The store's own history, or one that is not. */
static struct idem_history
history_of(struct trace *t, const struct words *w)
{
	const char *which = option(w, "history");
	struct idem_history h = { { 0 } };

	if ((t->store->ops->history == NULL ||
	    !t->store->ops->history(t->store, &h)) &&
	    (which != NULL || option(w, "issued") != NULL ||
	    option(w, "strict") != NULL))
		bail_out("the store has no history");
	if (which != NULL && strcmp(which, "other") == 0)
		h.at[IDEM_HISTORY_LEN - 1] ^= 1;
	return h;
}

static struct idem_store_call
options_of(struct trace *t, const struct words *w)
{
	long long late = atomic_load(&t->boot_ms) - 1;

	return (struct idem_store_call){
		.deadline_ms = option(w, "overdue") != NULL ? late :
		    late + number(w, "within", 1000000),
		.lease_ms = (uint32_t)number(w, "lease", 60000),
		.keep_ms = number(w, "keep", t->keep_ms),
		.tombstone_ms = number(w, "tombstone", t->tombstone_ms),
		.not_after_ms = option(w, "late") != NULL ? late :
		    option(w, "after") != NULL ?
		    late + number(w, "after", 0) : 0,
		.max = (uint32_t)number(w, "rows", 0),
		.shrink_ms = number(w, "shrink", 0),
		.pid = 7,
		.issued_only = option(w, "issued") != NULL,
		.strict = option(w, "strict") != NULL,
		.history = history_of(t, w),
	};
}

static void
claim_of(const struct words *w, struct idem_store_call *c)
{
	c->key = trace_digest(word(w, 1));
	c->owner = trace_owner(word(w, 2));
	c->fingerprint = trace_digest(word(w, 3));
	c->guard = trace_digest(word(w, 4));
	c->look_only = option(w, "look") != NULL;
	c->anew = option(w, "anew") != NULL;
	c->take_over = option(w, "over") != NULL;
	if (c->take_over)
		c->other = trace_owner(option(w, "over"));
	c->attempt = (uint32_t)number(w, "attempt", 1);
	c->attempts_max = (uint32_t)number(w, "max", 3);
}

static void
write_of(const struct words *w, struct idem_store_call *c)
{
	c->key = trace_digest(word(w, 1));
	c->owner = trace_owner(word(w, 2));
	if (c->op != IDEM_STORE_ISSUE)
		c->attempt = (uint32_t)atoi(word(w, 3));
	if (c->op == IDEM_STORE_COMPLETE)
		c->answer = answer_of(word(w, 4));
}

static void
settle_of(const struct words *w, struct idem_store_call *c)
{
	const char *how = word(w, 1);

	c->settle = strcmp(how, "done") == 0 ? IDEM_SETTLE_DONE :
	    strcmp(how, "forget") == 0 ? IDEM_SETTLE_FORGET :
	    IDEM_SETTLE_NOT_DONE;
	c->key = trace_digest(word(w, 2));
	c->owner = trace_owner(word(w, 3));
	c->other = trace_owner(word(w, 4));
	c->attempt = (uint32_t)atoi(word(w, 5));
	if (c->settle == IDEM_SETTLE_DONE)
		c->answer = answer_of(word(w, 6));
}

static void
list_of(const struct words *w, struct idem_store_call *c)
{
	c->states = states_of(word(w, 1));
	if (option(w, "after") != NULL)
		c->key = trace_digest(option(w, "after"));
}

/* False if the line is no call. */
static bool
call_of(struct trace *t, const struct words *w, struct idem_store_call *c)
{
	unsigned i;

	*c = options_of(t, w);
	for (i = 0; i <= IDEM_STORE_ISSUE; i++)
		if (strcmp(word(w, 0),
		    idem_store_op_text((enum idem_store_op)i)) == 0)
			break;
	if (i > IDEM_STORE_ISSUE)
		return false;
	c->op = (enum idem_store_op)i;
	if (c->op == IDEM_STORE_CLAIM)
		claim_of(w, c);
	else if (c->op == IDEM_STORE_SETTLE)
		settle_of(w, c);
	else if (c->op == IDEM_STORE_LIST)
		list_of(w, c);
	else if (c->op != IDEM_STORE_SWEEP)
		write_of(w, c);
	return true;
}

/* --- a result as text ----------------------------------------------------- */

static void
append(char *out, size_t out_size, const char *text)
{
	size_t len = strlen(out);

	snprintf(out + len, out_size - len, "%s%s", len > 0 ? " " : "", text);
}

static void
say_claim(const struct idem_store_result *r, char *out, size_t out_size)
{
	char text[100];

	snprintf(out, out_size, "%s", claims[r->claim]);
	if (r->record.state != IDEM_STATE_ABSENT) {
		snprintf(text, sizeof text, "%u", r->record.attempt);
		append(out, out_size, text);
	}
	if (r->claim == IDEM_CLAIM_COMPLETED) {
		name_answer(r->answer, text, sizeof text);
		append(out, out_size, text);
	}
}

static void
say_list(const struct idem_store_result *r, char *out, size_t out_size)
{
	char name[16];
	uint32_t i;

	out[0] = '\0';
	for (i = 0; i < r->count; i++) {
		name_of(r->listed[i].key.at, IDEM_DIGEST_LEN, name,
		    sizeof name);
		append(out, out_size, name);
	}
}

static void
say(const struct idem_store_result *r, char *out, size_t out_size)
{
	switch (r->op) {
	case IDEM_STORE_CLAIM:
		say_claim(r, out, out_size);
		break;
	case IDEM_STORE_RENEW:
		snprintf(out, out_size, "%s", renews[r->renew]);
		break;
	case IDEM_STORE_COMPLETE:
	case IDEM_STORE_RELEASE:
	case IDEM_STORE_UNKNOWN:
	case IDEM_STORE_SETTLE:
	case IDEM_STORE_ISSUE:
		snprintf(out, out_size, "%s", writes[r->write]);
		break;
	case IDEM_STORE_LIST:
		say_list(r, out, out_size);
		break;
	case IDEM_STORE_SWEEP:
		snprintf(out, out_size, "%u", r->count);
		break;
	}
	if (r->class != IDEM_OK &&
	    (r->op == IDEM_STORE_LIST || r->op == IDEM_STORE_SWEEP))
		snprintf(out, out_size, "%s", writes[r->write]);
	if (r->more)
		append(out, out_size, "more");
	if (r->class == IDEM_CLASS_CONFIG)
		append(out, out_size, "config");
	if ((r->class == IDEM_OK) != (r->error == NULL))
		append(out, out_size, "with a wrong reason");
}

/* A token is made of what ISSUE says; a CLAIM may leave it out. */
static void
check_history(struct trace *t, const struct idem_store_result *r, char *out,
    size_t out_size)
{
	static const struct idem_history none;
	struct idem_history own;

	if (r->class != IDEM_OK || (r->op != IDEM_STORE_ISSUE &&
	    (r->op != IDEM_STORE_CLAIM ||
	    memcmp(&r->history, &none, sizeof none) == 0)))
		return;
	if (!t->store->ops->history(t->store, &own) ||
	    memcmp(&r->history, &own, sizeof own) != 0)
		append(out, out_size, "of a wrong history");
}

static void
say_record(const struct idem_listed *l, char *out, size_t out_size)
{
	char owner[16];

	name_of(l->record.owner.at, IDEM_OWNER_LEN, owner, sizeof owner);
	snprintf(out, out_size, "%s %u %s lease %lld expires %lld answer %llu",
	    idem_state_text(l->record.state), l->record.attempt, owner,
	    (long long)l->record.lease_end, (long long)l->record.expires_at,
	    (unsigned long long)l->answer_len);
}

/* --- running -------------------------------------------------------------- */

static void
run_show(struct trace *t, const struct words *w, char *out, size_t out_size)
{
	struct idem_digest key = trace_digest(word(w, 1));
	struct idem_store_call c = options_of(t, w);
	struct idem_store_answer a;
	uint32_t i;

	c.op = IDEM_STORE_LIST;
	c.states = states_of("all");
	c.max = 1000;
	idem_store_wait(t->store, &c, &a);
	snprintf(out, out_size, "%s",
	    a.result.class == IDEM_OK ? "absent" : a.result.error);
	for (i = 0; i < a.result.count; i++)
		if (idem_digest_equal(&a.listed[i].key, &key))
			say_record(&a.listed[i], out, out_size);
	idem_store_answer_free(&a);
}

/* What a claimant is told to wait for. */
static void
run_left(struct trace *t, const struct words *w, char *out, size_t out_size)
{
	struct idem_store_call c = options_of(t, w);
	struct idem_store_answer a;

	c.op = IDEM_STORE_CLAIM;
	claim_of(w, &c);
	c.look_only = true;
	idem_store_wait(t->store, &c, &a);
	snprintf(out, out_size, "%lld",
	    (long long)(a.result.record.lease_end - a.result.now_ms));
	idem_store_answer_free(&a);
}

static void
run_world(struct trace *t, const struct words *w, char *out, size_t out_size)
{
	const char *what = word(w, 0);
	uint64_t before = t->purges;

	out[0] = '\0';
	if (strcmp(what, "boot") == 0) {
		atomic_fetch_add(&t->boot_ms, atoll(word(w, 1)));
	} else if (strcmp(what, "wall") == 0) {
		atomic_fetch_add(&t->wall_ms, atoll(word(w, 1)));
	} else if (strcmp(what, "purges") == 0) {
		t->purges = t->store->ops->purges(t->store);
		snprintf(out, out_size, "%s",
		    t->purges == before ? "same" : "changed");
	} else if (strcmp(what, "restart") == 0 ||
	    strcmp(what, "reboot") == 0) {
		t->store->ops->close(t->store);
		if (what[2] == 'b') {
			t->boot.at[0]++;
			atomic_store(&t->boot_ms, 0);
		}
		t->store = t->open(t);
		if (t->store == NULL)
			bail_out("the store does not open again");
	} else {
		bail_out("no such word: %s", what);
	}
}

/* One that is short of time does less than it was asked for, and says so. */
static void
go_on(struct trace *t, struct idem_store_call c, struct idem_store_answer *a)
{
	uint32_t rows = idem_store_rows(&c), swept = a->result.count, i;

	for (i = 0; a->result.more && swept < rows && i < CALLS_MAX; i++) {
		idem_store_answer_free(a);
		c.max = rows - swept;
		idem_store_wait(t->store, &c, a);
		swept += a->result.count;
	}
	a->result.count = swept;
}

static void
note_answer(void *arg, const struct idem_store_result *r)
{
	struct trace_asked *asked = arg;

	asked->answers++;
	say(r, asked->out, sizeof asked->out);
}

void
trace_start(struct trace *t, const char *line, struct trace_asked *asked)
{
	struct idem_store_call c;
	struct words w;

	cut(&w, line);
	if (!call_of(t, &w, &c))
		bail_out("not a call: %s", line);
	*asked = (struct trace_asked){ 0 };
	c.done = note_answer;
	c.arg = asked;
	t->store->ops->start(t->store, &c);
	idem_blob_drop(c.answer);
	if (asked->answers > 0)
		bail_out("answered before it was polled: %s", line);
}

void
trace_await(struct trace *t, const struct trace_asked *asked)
{
	struct pollfd fd = { .fd = t->store->ops->fd(t->store),
		.events = POLLIN };
	int tries;

	for (tries = 0; asked->answers == 0; tries++) {
		if (tries == 6000)
			bail_out("no answer in a minute");
		poll(&fd, 1, 10);
		t->store->ops->poll(t->store);
	}
}

void
trace_run(struct trace *t, const char *line, char *out, size_t out_size)
{
	struct idem_store_answer a;
	struct idem_store_call c;
	struct words w;

	cut(&w, line);
	if (strcmp(word(&w, 0), "show") == 0) {
		run_show(t, &w, out, out_size);
	} else if (strcmp(word(&w, 0), "left") == 0) {
		run_left(t, &w, out, out_size);
	} else if (call_of(t, &w, &c)) {
		idem_store_wait(t->store, &c, &a);
		if (c.op == IDEM_STORE_SWEEP && t->sweeps_by_clock)
			go_on(t, c, &a);
		say(&a.result, out, out_size);
		check_history(t, &a.result, out, out_size);
		idem_store_answer_free(&a);
		idem_blob_drop(c.answer);
	} else {
		run_world(t, &w, out, out_size);
	}
}

/* --- the clock ------------------------------------------------------------ */

static int64_t
trace_boot_ms(void *arg)
{
	return atomic_load(&((struct trace *)arg)->boot_ms);
}

static int64_t
trace_wall_ms(void *arg)
{
	return atomic_load(&((struct trace *)arg)->wall_ms);
}

void
trace_init(struct trace *t)
{
	*t = (struct trace){
		.clock = {
			.boot_ms = trace_boot_ms,
			.wall_ms = trace_wall_ms,
			.arg = t,
		},
		.boot = { { 1 } },
		.keep_ms = 1000, .tombstone_ms = 5000,
	};
	atomic_init(&t->boot_ms, 1000);
	atomic_init(&t->wall_ms, 1000000);
}
