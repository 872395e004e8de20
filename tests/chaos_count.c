/* SPDX-License-Identifier: ISC */
#include "chaos_count.h"

#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *
chaos_answer_text(enum chaos_answer answer)
{
	static const char *const texts[CHAOS_ANSWERS] = {
		[CHAOS_STORED] = "stored",
		[CHAOS_REPLAYED] = "replayed",
		[CHAOS_UNPROTECTED] = "unprotected",
		[CHAOS_UNRECORDED] = "unrecorded",
		[CHAOS_NOT_STARTED] = "503 not-started",
		[CHAOS_IN_PROGRESS] = "409 in-progress",
		[CHAOS_UNKNOWN] = "409 unknown",
		[CHAOS_VOID] = "409 void-token",
		[CHAOS_NOT_KEPT] = "409 not-kept",
		[CHAOS_CUT] = "502 or 504",
		[CHAOS_NOTHING] = "no answer",
		[CHAOS_ODD] = "other"
	};

	return texts[answer];
}

/* Some outlive their lease, and most are quick. */
unsigned
chaos_op_sleep_ms(uint32_t number)
{
	if (number % 101 == 50)
		return CHAOS_LEASE_MS * 3 / 2;
	return number % 13 == 6 ? 200 : number * 7 % 20;
}

/* Over and below what comes with a claim's reply (64 KiB), and small. */
unsigned
chaos_op_size(uint32_t number)
{
	if (number % 53 == 7)
		return 100000;
	return number % 11 == 3 ? 20000 : 0;
}

/* --- one answer ----------------------------------------------------------- */

/* "order KEY by PID at TIME", and so many dots. */
static bool
is_whole(const struct chaos_op *op, uint32_t number,
    const struct rig_answer *answer)
{
	const char *body = answer->body.at;
	const char *end = memchr(body, '\n', answer->body.len);
	char begin[IDEM_TOKEN_TEXT + 16];
	size_t len, line, i;

	len = (size_t)snprintf(begin, sizeof begin, "order %s by ", op->key);
	line = end != NULL ? (size_t)(end - body) + 1 : 0;
	if (line < len || memcmp(body, begin, len) != 0 ||
	    answer->body.len != line + chaos_op_size(number))
		return false;
	for (i = line; i < answer->body.len; i++)
		if (body[i] != '.')
			return false;
	return true;
}

/* Status, the program's own field, and the body: what must be the same. */
static void
digest_of(const struct rig_answer *answer, uint8_t out[IDEM_DIGEST_LEN])
{
	struct idem_digest digest;
	struct idem_hash hash;
	uint64_t status = (uint64_t)answer->status;

	idem_hash_init(&hash);
	idem_hash_add(&hash, &status, sizeof status);
	idem_hash_part(&hash, idem_bytes_text(rig_field(answer, "X-Run")));
	idem_hash_part(&hash,
	    idem_bytes_text(rig_field(answer, "Content-Type")));
	idem_hash_part(&hash, answer->body);
	if (!idem_hash_final(&hash, &digest))
		bail_out("no digest");
	memcpy(out, digest.at, sizeof digest.at);
}

/* For people: what was wrong with which key's answer. */
static void
show(struct chaos_count *c, const struct chaos_op *op,
    const struct rig_answer *answer, const char *wrong)
{
	size_t i;
	char *text;

	if (c->shown_len == sizeof c->shown / sizeof *c->shown)
		return;
	text = c->shown[c->shown_len++];
	snprintf(text, sizeof *c->shown, "%s: %s: %.*s", op->key, wrong,
	    (int)answer->out.len,
	    answer->out.len > 0 ? (const char *)answer->out.at : "");
	for (i = 0; text[i] != '\0'; i++)
		if (text[i] < ' ')
			text[i] = ' ';
}

/* The program's own answer, however it is marked. */
static void
judge_told(struct chaos_count *c, struct chaos_op *op, uint32_t number,
    const struct rig_answer *answer, bool final)
{
	uint8_t digest[IDEM_DIGEST_LEN];

	op->told++;
	if (!is_whole(op, number, answer)) {
		c->foreign++;
		show(c, op, answer, "another's, or not whole");
		return;
	}
	digest_of(answer, digest);
	if (op->final)
		c->other += memcmp(op->first, digest, sizeof digest) != 0;
	else if (final)
		memcpy(op->first, digest, sizeof digest);
	op->final = op->final || final;
}

static enum chaos_answer
read_conflict(const char *says)
{
	static const struct {
		const char *says;
		enum chaos_answer answer;
	} rows[] = {
		{ "in-progress", CHAOS_IN_PROGRESS },
		{ "unknown", CHAOS_UNKNOWN },
		{ "void-token", CHAOS_VOID },
		{ "not-kept", CHAOS_NOT_KEPT }
	};
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++)
		if (strcmp(says, rows[i].says) == 0)
			return rows[i].answer;
	return CHAOS_ODD;
}

static enum chaos_answer
read_told(const char *says)
{
	enum chaos_answer a;

	for (a = CHAOS_STORED; a <= CHAOS_UNRECORDED; a++)
		if (strcmp(says, chaos_answer_text(a)) == 0)
			return a;
	return CHAOS_ODD;
}

static enum chaos_answer
read_answer(const struct rig_answer *answer)
{
	const char *says = rig_field(answer, "Idempotency-Status");

	if (!answer->whole || answer->status == 0)
		return CHAOS_NOTHING;
	switch (answer->status) {
	case 201:
		return read_told(says);
	case 409:
		return read_conflict(says);
	case 502:
	case 504:
		return CHAOS_CUT;
	case 503:
		return strcmp(says, "not-started") == 0 ? CHAOS_NOT_STARTED :
		    CHAOS_ODD;
	}
	return CHAOS_ODD;
}

enum chaos_answer
chaos_judge(struct chaos_count *c, struct chaos_op *op, uint32_t number,
    const struct rig_answer *answer, bool after)
{
	enum chaos_answer a = read_answer(answer);

	c->answers[a]++;
	op->sent++;
	switch (a) {
	case CHAOS_STORED:
	case CHAOS_REPLAYED:
		judge_told(c, op, number, answer, true);
		break;
	case CHAOS_UNPROTECTED:
	case CHAOS_UNRECORDED:
		judge_told(c, op, number, answer, false);
		break;
	case CHAOS_NOT_STARTED:
		op->not_started++;
		break;
	case CHAOS_UNKNOWN:
	case CHAOS_VOID:
	case CHAOS_NOT_KEPT:
		c->forgotten += after;
		if (after)
			show(c, op, answer, "forgotten");
		break;
	case CHAOS_IN_PROGRESS:
	case CHAOS_CUT:
	case CHAOS_NOTHING:
		break;
	case CHAOS_ODD:
		show(c, op, answer, "odd");
		break;
	case CHAOS_ANSWERS:
		break;
	}
	return a;
}

/* --- the starts ----------------------------------------------------------- */

static int
compare(const void *a, const void *b)
{
	const struct chaos_op *const *one = a, *const *two = b;

	return strcmp((*one)->key, (*two)->key);
}

static void
count_lines(struct chaos_count *c, char *orders, struct chaos_op **sorted,
    uint32_t len)
{
	char *line, *rest = orders;
	struct chaos_op **found, wanted, *at = &wanted;

	while ((line = strsep(&rest, "\n")) != NULL) {
		if (*line == '\0')
			continue;
		snprintf(wanted.key, sizeof wanted.key, "%s", line);
		found = bsearch(&at, sorted, len, sizeof *sorted, compare);
		if (found != NULL)
			(*found)->starts++;
		else
			c->strays++;
		c->starts++;
	}
}

static void
count_op(struct chaos_count *c, const struct chaos_op *op)
{
	if (op->sent == 0)
		return;
	c->keys++;
	c->told += op->told > 0;
	c->twice += op->starts > 1;
	if (op->starts > c->most)
		c->most = op->starts;
	c->false_503 += op->starts > op->sent - op->not_started;
	c->untrue += op->told > 0 && op->starts == 0;
}

void
chaos_count_starts(struct chaos_count *c, struct chaos_world *w,
    struct chaos_op *ops, uint32_t len)
{
	struct chaos_op **sorted = calloc(len + 1, sizeof *sorted);
	char *orders = rig_slurp(&w->rig[0], "orders");
	uint32_t i;

	if (sorted == NULL)
		bail_out("out of memory");
	for (i = 0; i < len; i++)
		sorted[i] = &ops[i];
	qsort(sorted, len, sizeof *sorted, compare);
	if (orders != NULL)
		count_lines(c, orders, sorted, len);
	for (i = 0; i < len; i++)
		count_op(c, &ops[i]);
	free(sorted);
	free(orders);
}
