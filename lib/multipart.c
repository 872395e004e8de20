/* SPDX-License-Identifier: ISC */
#include "multipart.h"

#include <string.h>

/*
 * A body is hashed as segments between marks, a mark being "--" and the
 * boundary wherever it stands:
 *
 *	segment, its length (8 bytes)		for each mark
 *	segment, its length			for the rest
 *	marks (8 bytes)
 *	boundary, its length			empty if nothing is doubtful
 *
 * Read from the end, this names one body only, up to the boundary.  Two bodies
 * that share a hash are thus equal but for the boundary, and only where every
 * program must see the same delimiters.  Programs are not of one mind: some
 * take a line that merely begins with the mark, some a mark in mid-line, some
 * bare LFs.  So where a mark is not a delimiter by the letter of RFC 2046,
 * 5.1.1, the boundary goes in as well:
 *
 *	PREAMBLE --mark--> BOUNDARY
 *	BOUNDARY --CR--> CR --LF--> CONTENT --mark--> BOUNDARY
 *	BOUNDARY --SP--> PADDING --CR--> CR
 *	BOUNDARY --"-"--> DASH --"-"--> CLOSED (the body may end here)
 *	CLOSED --SP--> CLOSED --CR--> CLOSED_CR
 *	CLOSED_CR --LF--> EPILOGUE (and here)
 */

/* The type. */

static bool
is_boundary_char(uint8_t c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
	    (c >= 'a' && c <= 'z') ||
	    (c != '\0' && strchr("'()+_,-./:=? ", c) != NULL);
}

static bool
is_boundary(const uint8_t *at, size_t len)
{
	size_t i;

	if (len == 0 || len > IDEM_BOUNDARY_MAX || at[len - 1] == ' ')
		return false;
	for (i = 0; i < len; i++)
		if (!is_boundary_char(at[i]))
			return false;
	return true;
}

static bool
begins(const uint8_t *at, const uint8_t *end, const char *word)
{
	struct idem_bytes start = { at, strlen(word) };

	return (size_t)(end - at) >= start.len &&
	    idem_bytes_is_nocase(start, word);
}

/* A word in lower case, which may stand there in any. */
static const uint8_t *
find(const uint8_t *at, const uint8_t *end, const char *word)
{
	for (; at < end; at++)
		if ((*at | 0x20) == word[0] && begins(at, end, word))
			return at;
	return NULL;
}

/* Whether a parameter's name may follow: after a ";" outside of quotes. */
static bool
ends_before_param(const uint8_t *at, const uint8_t *end)
{
	uint8_t last = '\0';
	bool quoted = false;

	for (; at < end; at++) {
		if (*at == '\\')
			return false;
		if (*at == '"')
			quoted = !quoted;
		if (*at != ' ' && *at != '\t')
			last = *at;
	}
	return !quoted && last == ';';
}

static const uint8_t *
end_of_value(const uint8_t *at, const uint8_t *end, bool quoted)
{
	while (at < end && is_boundary_char(*at) &&
	    (quoted || (*at != ' ' && *at != ',')))
		at++;
	return at;
}

static bool
ends_param(const uint8_t *at, const uint8_t *end)
{
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	return at == end || *at == ';';
}

/*
 * A program may look for the name alone, from either end, and there are forms
 * of it with a space or a "*" before the "=".  Browsers have the word in the
 * boundary itself.
 */
static bool
named_again(const uint8_t *value, const uint8_t *rest, const uint8_t *end)
{
	return find(value, rest, "boundary=") != NULL ||
	    find(rest, end, "boundary") != NULL;
}

bool
idem_multipart_type(struct idem_bytes type, struct idem_multipart_type *parts)
{
	const uint8_t *start = type.at, *end, *name, *value, *rest;
	bool quoted;

	if (type.len == 0)
		return false;
	end = start + type.len;
	name = find(start, end, "boundary");
	if (name == NULL || !begins(start, name, "multipart/") ||
	    !ends_before_param(start, name) || !begins(name, end, "boundary="))
		return false;
	value = name + strlen("boundary=");
	quoted = value < end && *value == '"';
	if (quoted)
		value++;
	rest = end_of_value(value, end, quoted);
	parts->before.at = start;
	parts->before.len = (size_t)(name - start);
	parts->boundary.at = value;
	parts->boundary.len = (size_t)(rest - value);
	if (!is_boundary(value, parts->boundary.len) ||
	    named_again(value, rest, end))
		return false;
	if (quoted && (rest == end || *rest++ != '"'))
		return false;
	parts->after.at = rest;
	parts->after.len = (size_t)(end - rest);
	return ends_param(rest, end);
}

/* The body. */

/*
 * back[n] is the length of the longest proper prefix of the mark that its
 * first n + 1 bytes end with (Knuth, Morris, Pratt), so that what is held
 * back between two pieces is always a prefix of the mark, and needs no copy.
 */
static void
match(struct idem_multipart *m, uint8_t byte)
{
	while (m->matched > 0 && m->mark[m->matched] != byte)
		m->matched = m->back[m->matched - 1];
	if (m->mark[m->matched] == byte)
		m->matched++;
}

void
idem_multipart_init(struct idem_multipart *m, struct idem_bytes boundary)
{
	size_t i;

	*m = (struct idem_multipart){ .mark = "--" };
	memcpy(m->mark + 2, boundary.at, boundary.len);
	m->mark_len = (uint8_t)(2 + boundary.len);
	for (i = 1; i < m->mark_len; i++) {
		match(m, m->mark[i]);
		m->back[i] = m->matched;
	}
	m->matched = 0;
}

static enum idem_multipart_place
doubt(struct idem_multipart *m)
{
	m->doubtful = true;
	return IDEM_MP_CONTENT;
}

static enum idem_multipart_place
after(struct idem_multipart *m, uint8_t byte)
{
	bool space = byte == ' ' || byte == '\t';

	switch (m->place) {
	case IDEM_MP_BOUNDARY:
		if (byte == '-')
			return IDEM_MP_DASH;
		/* fallthrough */
	case IDEM_MP_PADDING:
		if (byte == '\r')
			return IDEM_MP_CR;
		return space ? IDEM_MP_PADDING : doubt(m);
	case IDEM_MP_DASH:
		return byte == '-' ? IDEM_MP_CLOSED : doubt(m);
	case IDEM_MP_CR:
		return byte == '\n' ? IDEM_MP_CONTENT : doubt(m);
	case IDEM_MP_CLOSED:
		if (byte == '\r')
			return IDEM_MP_CLOSED_CR;
		return space ? IDEM_MP_CLOSED : doubt(m);
	case IDEM_MP_CLOSED_CR:
		return byte == '\n' ? IDEM_MP_EPILOGUE : doubt(m);
	case IDEM_MP_PREAMBLE:
	case IDEM_MP_CONTENT:
	case IDEM_MP_EPILOGUE:
		break;
	}
	return m->place;
}

static bool
in_delimiter(const struct idem_multipart *m)
{
	return m->place != IDEM_MP_PREAMBLE && m->place != IDEM_MP_CONTENT &&
	    m->place != IDEM_MP_EPILOGUE;
}

/* The next bytes of this segment, which hold no mark. */
static void
pass(struct idem_multipart *m, struct idem_hash *h, const uint8_t *at,
    size_t len)
{
	idem_hash_add(h, at, len);
	m->segment_len += len;
	for (; len > 0 && in_delimiter(m); len--)
		m->place = after(m, *at++);
	if (len > 1)
		m->last[0] = at[len - 2];
	else if (len == 1)
		m->last[0] = m->last[1];
	if (len > 0)
		m->last[1] = at[len - 1];
}

static void
end_segment(struct idem_multipart *m, struct idem_hash *h)
{
	idem_hash_u64(h, m->segment_len);
	m->segment_len = 0;
	m->last[0] = m->last[1] = '\0';
}

static void
pass_mark(struct idem_multipart *m, struct idem_hash *h)
{
	bool first = m->place == IDEM_MP_PREAMBLE && m->segment_len == 0;
	bool at_line = m->last[0] == '\r' && m->last[1] == '\n';

	/*
	 * A delimiter's own line is not kept in last, so that its CRLF does
	 * not begin the next one: programs differ on a part without header.
	 */
	if (m->place == IDEM_MP_EPILOGUE || (!first && !at_line))
		m->doubtful = true;
	end_segment(m, h);
	m->marks++;
	m->place = IDEM_MP_BOUNDARY;
}

/* One piece of the body, behind what was held back of the pieces before. */
struct piece {
	const uint8_t *at;
	ptrdiff_t held;		/* bytes of the mark that stand before it */
	ptrdiff_t from;		/* passed up to here; -held at first */
};

static void
pass_to(struct idem_multipart *m, struct idem_hash *h, struct piece *p,
    ptrdiff_t to)
{
	ptrdiff_t seam = to < 0 ? to : 0;

	if (p->from < seam) {
		pass(m, h, m->mark + p->held + p->from,
		    (size_t)(seam - p->from));
		p->from = seam;
	}
	if (p->from < to) {
		pass(m, h, p->at + p->from, (size_t)(to - p->from));
		p->from = to;
	}
}

/*
 * Go on to the end of the next mark, or by a byte; gives the index there.
 * Once no mark can reach back over the seam, memmem() is several times faster
 * than byte by byte; only the last bytes, too few for a mark, are left to do.
 */
static size_t
next_match(struct idem_multipart *m, const uint8_t *at, size_t i, size_t len)
{
	const uint8_t *start, *mark;

	if (m->matched <= i && len - i + m->matched >= m->mark_len) {
		start = at + i - m->matched;
		mark = memmem(start, (size_t)(at + len - start), m->mark,
		    m->mark_len);
		if (mark != NULL) {
			m->matched = m->mark_len;
			return (size_t)(mark - at) + m->mark_len;
		}
		m->matched = 0;
		i = len - m->mark_len + 1;
	}
	match(m, at[i]);
	return i + 1;
}

void
idem_multipart_add(struct idem_multipart *m, struct idem_hash *h,
    const void *at, size_t len)
{
	struct piece p = { at, m->matched, -(ptrdiff_t)m->matched };
	size_t i = 0;

	while (i < len) {
		i = next_match(m, at, i, len);
		if (m->matched < m->mark_len)
			continue;
		pass_to(m, h, &p, (ptrdiff_t)i - m->mark_len);
		pass_mark(m, h);
		p.from = (ptrdiff_t)i;
		m->matched = 0;
	}
	pass_to(m, h, &p, (ptrdiff_t)len - m->matched);
}

void
idem_multipart_end(struct idem_multipart *m, struct idem_hash *h)
{
	size_t len = m->mark_len - 2u;

	pass(m, h, m->mark, m->matched);
	end_segment(m, h);
	idem_hash_u64(h, m->marks);
	if (!m->doubtful &&
	    (m->place == IDEM_MP_CLOSED || m->place == IDEM_MP_EPILOGUE))
		len = 0;
	idem_hash_add(h, m->mark + 2, len);
	idem_hash_u64(h, len);
}
