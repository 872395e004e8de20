/* SPDX-License-Identifier: ISC */
#include "form_strip.h"

#define PIECE (64u * 1024u)

static void
copy(const struct idem_form_cut *cut, uint64_t from, struct idem_bytes bytes,
    struct spool *to)
{
	struct idem_buf stays = { 0 };

	idem_form_cut_copy(cut, from, bytes, &stays);
	if (idem_buf_ok(&stays))
		spool_add(to, idem_buf_bytes(&stays));
	else
		to->failed = true;
	idem_buf_free(&stays);
}

static void
copy_file(const struct idem_form_cut *cut, const struct spool *s,
    struct spool *to)
{
	uint8_t piece[PIECE];
	uint64_t at;
	size_t len;

	for (at = 0; at < s->len && !to->failed; at += len) {
		len = s->len - at < PIECE ? (size_t)(s->len - at) : PIECE;
		if (spool_read_at(s->fd, piece, len, at))
			copy(cut, at, (struct idem_bytes){ piece, len }, to);
		else
			to->failed = true;
	}
}

bool
form_strip(struct spool *s, const struct idem_form_cut *cut)
{
	struct spool to;

	if (s->failed || cut->len == 0)
		return !s->failed;
	spool_init(&to, s->memory_max);
	if (s->fd == -1)
		copy(cut, 0, idem_buf_bytes(&s->memory), &to);
	else
		copy_file(cut, s, &to);
	spool_free(s);
	*s = to;
	return !s->failed;
}
