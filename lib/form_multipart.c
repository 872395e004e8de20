/* SPDX-License-Identifier: ISC */
#include "form_parts.h"

#include <string.h>

/*
 *	CONTENT --CRLF, mark--> DELIMITER --LF--> HEAD --empty line--> CONTENT
 *	                        DELIMITER --"-"--> CLOSED
 *
 * Two readers of one body: the fingerprint's (multipart.c) says whether all
 * that looks like a delimiter certainly is one, and this one finds the fields.
 * It need not doubt what the other does; where they differ, so may programs.
 */

void
idem_form_multipart_init(struct idem_form_multipart *m,
    struct idem_bytes boundary)
{
	*m = (struct idem_form_multipart){ .place = IDEM_FORM_PART_CONTENT };
	idem_multipart_init(&m->scan, boundary);
	m->matched = 2;		/* the body begins as after a CRLF */
}

/* --- a part's header ------------------------------------------------------ */

static struct idem_bytes
trimmed(const uint8_t *at, size_t len)
{
	while (len > 0 && (*at == ' ' || *at == '\t')) {
		at++;
		len--;
	}
	while (len > 0 && (at[len - 1] == ' ' || at[len - 1] == '\t'))
		len--;
	return (struct idem_bytes){ at, len };
}

static void
take_disposition(struct idem_form_multipart *m, struct idem_form_field *f,
    struct idem_bytes value)
{
	const struct idem_bytes name = { f->name, f->name_len };

	if (m->disposed || m->line_len > IDEM_FORM_LINE_MAX)
		f->broken = true;
	m->disposed = m->last_disposed = true;
	switch (idem_form_disposition(value, name)) {
	case IDEM_FORM_SAYS_OTHER:
		break;
	case IDEM_FORM_SAYS_WANTED:
		m->wanted = true;
		break;
	case IDEM_FORM_SAYS_UNSURE:
		f->broken = true;
		break;
	}
}

static bool
is_plain(struct idem_bytes encoding)
{
	return idem_bytes_is_nocase(encoding, "7bit") ||
	    idem_bytes_is_nocase(encoding, "8bit") ||
	    idem_bytes_is_nocase(encoding, "binary");
}

static void
take_line(struct idem_form_multipart *m, struct idem_form_field *f)
{
	size_t kept = m->line_len < IDEM_FORM_LINE_MAX ? m->line_len :
	    IDEM_FORM_LINE_MAX;
	bool folded = m->line[0] == ' ' || m->line[0] == '\t';
	const uint8_t *colon = memchr(m->line, ':', kept);
	struct idem_bytes name, value;

	if (folded) {
		f->broken |= m->last_disposed;
		return;
	}
	m->last_disposed = false;
	if (colon == NULL || colon == m->line || colon[-1] == ' ' ||
	    colon[-1] == '\t') {
		f->broken = true;
		return;
	}
	name = (struct idem_bytes){ m->line, (size_t)(colon - m->line) };
	value = trimmed(colon + 1, kept - name.len - 1);
	if (idem_bytes_is_nocase(name, "Content-Disposition"))
		take_disposition(m, f, value);
	else if (idem_bytes_is_nocase(name, "Content-Transfer-Encoding"))
		m->encoded |= !is_plain(value);
}

static void
end_head(struct idem_form_multipart *m, struct idem_form_field *f)
{
	m->place = IDEM_FORM_PART_CONTENT;
	if (!m->wanted)
		return;
	if (m->encoded)
		f->broken = true;
	idem_form_field_begin(f);
}

/* Lines end in CRLF; some programs end them at either byte. */
static void
in_head(struct idem_form_multipart *m, struct idem_form_field *f, uint8_t byte)
{
	if ((byte == '\n') != m->cr) {
		f->broken = true;
	} else if (byte == '\r') {
		m->cr = true;
	} else if (byte == '\n') {
		m->cr = false;
		if (m->line_len == 0)
			end_head(m, f);
		else
			take_line(m, f);
		m->line_len = 0;
	} else {
		if (m->line_len < IDEM_FORM_LINE_MAX)
			m->line[m->line_len] = byte;
		m->line_len++;
	}
}

/* --- content -------------------------------------------------------------- */

static void
take(const struct idem_form_multipart *m, struct idem_form_field *f,
    const uint8_t *at, size_t len)
{
	if (m->wanted)
		idem_form_field_add(f, at, len);
}

static void
end_part(struct idem_form_multipart *m, struct idem_form_field *f)
{
	const uint64_t mark = m->at - m->scan.mark_len;

	if (m->wanted) {
		idem_form_field_end(f);
		idem_form_cut_add(&f->cut, m->part, mark);
	}
	m->part = mark;
	m->delimiters++;
	m->matched = 0;
	m->disposed = m->last_disposed = m->wanted = m->encoded = false;
	m->place = IDEM_FORM_PART_DELIMITER;
}

/* No CR is in the mark: what does not go on with a match may only begin one. */
static void
in_content(struct idem_form_multipart *m, struct idem_form_field *f,
    uint8_t byte)
{
	static const uint8_t crlf[] = "\r\n";
	size_t n = m->matched;

	if (byte == (n < 2 ? crlf[n] : m->scan.mark[n - 2])) {
		if (++m->matched == m->scan.mark_len + 2u)
			end_part(m, f);
		return;
	}
	take(m, f, crlf, n < 2 ? n : 2);
	if (n > 2)
		take(m, f, m->scan.mark, n - 2);
	m->matched = byte == '\r' ? 1 : 0;
	if (byte != '\r')
		take(m, f, &byte, 1);
}

/* --- all ------------------------------------------------------------------ */

static void
pass(struct idem_form_multipart *m, struct idem_form_field *f, uint8_t byte)
{
	switch (m->place) {
	case IDEM_FORM_PART_CONTENT:
		in_content(m, f, byte);
		break;
	case IDEM_FORM_PART_DELIMITER:
		if (byte == '-')
			m->place = IDEM_FORM_PART_CLOSED;
		else if (byte == '\n')
			m->place = IDEM_FORM_PART_HEAD;
		break;
	case IDEM_FORM_PART_HEAD:
		in_head(m, f, byte);
		break;
	case IDEM_FORM_PART_CLOSED:
		break;
	}
}

/* How many bytes come in which no delimiter begins. */
static size_t
plain_content(const struct idem_form_multipart *m, const uint8_t *at,
    size_t len)
{
	const uint8_t *cr;

	if (m->place != IDEM_FORM_PART_CONTENT || m->matched > 0)
		return 0;
	cr = memchr(at, '\r', len);
	return cr != NULL ? (size_t)(cr - at) : len;
}

void
idem_form_multipart_add(struct idem_form_multipart *m,
    struct idem_form_field *f, struct idem_bytes bytes)
{
	struct idem_hash nothing = { 0 };	/* one that has failed */
	const uint8_t *at = bytes.at, *end = at + bytes.len;
	size_t len;

	idem_multipart_add(&m->scan, &nothing, bytes.at, bytes.len);
	while (at < end && m->place != IDEM_FORM_PART_CLOSED) {
		len = plain_content(m, at, (size_t)(end - at));
		take(m, f, at, len);
		at += len;
		m->at += len;
		if (at < end) {
			m->at++;
			pass(m, f, *at++);
		}
	}
}

void
idem_form_multipart_end(struct idem_form_multipart *m,
    struct idem_form_field *f)
{
	struct idem_hash nothing = { 0 };
	const struct idem_multipart *scan = &m->scan;

	idem_multipart_end(&m->scan, &nothing);
	if (scan->doubtful || scan->marks != m->delimiters ||
	    (scan->place != IDEM_MP_CLOSED &&
	    scan->place != IDEM_MP_EPILOGUE))
		f->broken = true;
}
