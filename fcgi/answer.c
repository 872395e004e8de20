/* SPDX-License-Identifier: ISC */
#include "answer.h"

#include "page.h"
#include "saved.h"

#include <assert.h>
#include <sys/wait.h>

/* --- the rule ------------------------------------------------------------- */

bool
answer_is_bodyless(int code, bool head)
{
	return head || code == 204 || code == 304;
}

uint64_t
answer_within(const struct idem_head *h, uint64_t body_len)
{
	return h->has_length && body_len > h->length ? h->length : body_len;
}

/*
 * With exit status 0, unless it declared a length and met it, or the route says
 * that any will do (doc/design.md, 4).
 */
bool
answer_is_whole(const struct idem_head *h, uint64_t passed,
    const struct answer_end *end)
{
	bool met = h->has_length && passed == h->length;

	if (h->has_length && !met && !answer_is_bodyless(h->code, end->head))
		return false;
	if (end->limit || !WIFEXITED(end->status))
		return false;
	return WEXITSTATUS(end->status) == 0 || met || end->any_exit;
}

struct idem_blob *
answer_save(struct idem_head *h, struct idem_bytes body, uint64_t len,
    bool kept, bool head)
{
	struct idem_saved saved = {
		.code = h->code,
		.has_status = h->has_status,
		.status = idem_buf_bytes(&h->status),
		.kept = kept
	};
	bool bodyless = answer_is_bodyless(h->code, head);

	/* So that fronts see a cut (doc/design.md, 4). */
	if (!h->has_length && !bodyless)
		idem_buf_printf(&h->lines, "Content-Length: %llu\r\n",
		    (unsigned long long)len);
	saved.lines = idem_buf_bytes(&h->lines);
	if (kept && !bodyless)
		saved.body = body;
	return idem_buf_ok(&h->lines) ? idem_saved_blob(&saved) : NULL;
}

/* --- from the journal ----------------------------------------------------- */

static bool
is_released(const struct idem_note *note, int code)
{
	unsigned bit = (unsigned)code - 200;

	return bit < IDEM_NOTE_CODES &&
	    (note->released[bit / 8] >> bit % 8 & 1) != 0;
}

static enum answer_is
not_whole(const struct idem_trailer *t, enum idem_note_why *why, int32_t *code)
{
	*why = IDEM_WHY_EXIT;
	*code = 0;
	if (t->limit) {
		*why = IDEM_WHY_LIMIT;
	} else if (WIFSIGNALED(t->status)) {
		*why = IDEM_WHY_SIGNAL;
		*code = WTERMSIG(t->status);
	} else if (WIFEXITED(t->status)) {
		*code = WEXITSTATUS(t->status);
	}
	return ANSWER_NOT_WHOLE;
}

/*
 * Its lobby would have put tokens into its forms.  Here it is as if none could
 * be had: the forms go without, but it is not for caches.
 */
static void
head_of_page(struct idem_head *h)
{
	enum page_kind kind = page_kind(h);

	if (kind != PAGE_HTML && kind != PAGE_XML)
		return;
	page_head(h);
	h->has_length = false;	/* it is gone from the lines */
}

/* `out` is the output's beginning, as much as can be kept. */
static enum answer_is
of_output(struct idem_bytes out, const struct idem_evidence *e,
    struct idem_head *h, struct idem_blob **saved)
{
	const struct idem_note *note = &e->note;
	const struct answer_end end = {
		.status = e->trailer.status,
		.limit = e->trailer.limit,
		.any_exit = note->any_exit,
		.head = note->head
	};
	struct idem_bytes body;
	uint64_t len;
	bool kept;

	if (idem_head_parse(h, out, true) != IDEM_HEAD_WHOLE)
		return ANSWER_NOT_WHOLE;
	len = answer_within(h, e->trailer.len - h->size);
	if (!answer_is_whole(h, len, &end))
		return ANSWER_NOT_WHOLE;
	if (is_released(note, h->code))
		return ANSWER_NOTHING;
	if (answer_is_bodyless(h->code, note->head))
		len = 0;
	else if (note->paged)
		head_of_page(h);
	kept = len <= note->kept_max && !h->no_store;
	body.at = (const uint8_t *)out.at + h->size;
	body.len = kept ? (size_t)len : 0;
	*saved = answer_save(h, body, len, kept, note->head);
	return *saved != NULL ? ANSWER_WHOLE : ANSWER_LATER;
}

/* What its lobby had saved already, and judged. */
static enum answer_is
of_saved(struct idem_blob *blob, const struct idem_note *note,
    struct idem_blob **saved)
{
	struct idem_saved answer;

	if (!idem_saved_read(idem_blob_bytes(blob), &answer))
		return ANSWER_NOT_WHOLE;
	if (is_released(note, answer.code))
		return ANSWER_NOTHING;
	*saved = idem_blob_take(blob);
	return ANSWER_WHOLE;
}

/* Longer output has a body that is not kept, or is cut to what it declared. */
static uint64_t
read_max(const struct idem_evidence *e)
{
	uint64_t max = e->note.kept_max;

	if (e->trailer.saved || max > UINT64_MAX - IDEM_HEAD_MAX)
		return UINT64_MAX;
	return max + IDEM_HEAD_MAX;
}

enum answer_is
answer_of_run(int fd, const struct idem_evidence *e, struct idem_blob **saved,
    enum idem_note_why *why, int32_t *code)
{
	struct idem_head h = { 0 };
	enum answer_is is;
	struct idem_blob *blob;

	assert(e->noted && e->ended);
	*saved = NULL;
	blob = idem_evidence_bytes(fd, e, read_max(e));
	if (blob == NULL)
		return ANSWER_LATER;
	if (e->trailer.saved)
		is = of_saved(blob, &e->note, saved);
	else
		is = of_output(idem_blob_bytes(blob), e, &h, saved);
	idem_head_free(&h);
	idem_blob_drop(blob);
	return is == ANSWER_NOT_WHOLE ? not_whole(&e->trailer, why, code) : is;
}
