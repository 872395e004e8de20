/* SPDX-License-Identifier: ISC */
#include "fcgi_words.h"

#include "fcgi_rec.h"
#include "tap.h"

#include <stdio.h>
#include <string.h>

struct word {
	char kind[24], text[512];
	unsigned id, padding;
};

static const struct {
	const char *kind;
	enum idem_fcgi_type type;
} types[] = {
	{ "ABORT", IDEM_FCGI_ABORT_REQUEST },
	{ "STDIN", IDEM_FCGI_STDIN },
	{ "STDOUT", IDEM_FCGI_STDOUT },
	{ "STDERR", IDEM_FCGI_STDERR },
	{ "DATA", IDEM_FCGI_DATA },
};

static const struct {
	const char *kind;
	enum idem_fcgi_role role;
	uint8_t flags;
} begins[] = {
	{ "BEGIN", IDEM_FCGI_RESPONDER, 1 },
	{ "CLOSING", IDEM_FCGI_RESPONDER, 0 },
	{ "AUTHORIZER", IDEM_FCGI_AUTHORIZER, 1 },
	{ "FILTER", IDEM_FCGI_FILTER, 0 },
};

static void
record(struct idem_buf *to, unsigned type, const struct word *word,
    struct idem_bytes content)
{
	static const uint8_t filler[255] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	uint8_t header[8];

	idem_fcgi_header(header, (enum idem_fcgi_type)type,
	    (uint16_t)word->id, (uint16_t)content.len,
	    (uint8_t)word->padding);
	idem_buf_append(to, header, sizeof header);
	idem_buf_append(to, content.at, content.len);
	idem_buf_append(to, filler, word->padding);
}

static void
pairs(struct idem_buf *to, unsigned type, const struct word *word)
{
	struct idem_buf content = { 0 };
	const char *p = word->text;
	size_t len, name_len;

	for (; *p != '\0'; p += len + (p[len] == ',')) {
		len = strcspn(p, ",");
		name_len = strcspn(p, "=,");
		idem_fcgi_pair_write(&content,
		    (struct idem_bytes){ p, name_len },
		    (struct idem_bytes){ p + name_len + (name_len < len),
		    len - name_len - (name_len < len) });
	}
	record(to, type, word, idem_buf_bytes(&content));
	idem_buf_free(&content);
}

static void
raw(struct idem_buf *to, const struct word *word)
{
	uint8_t bytes[sizeof word->text / 2];
	size_t len = strlen(word->text) / 2;

	if (!idem_unhex(word->text, bytes, len))
		bail_out("not hex: %s", word->text);
	idem_buf_append(to, bytes, len);
}

static void
end(struct idem_buf *to, const struct word *word)
{
	unsigned app_status = 0, status = 0;
	uint8_t body[8] = { 0 };

	sscanf(word->text, "%u.%u", &app_status, &status);
	body[2] = (uint8_t)(app_status >> 8);
	body[3] = (uint8_t)app_status;
	body[4] = (uint8_t)status;
	record(to, IDEM_FCGI_END_REQUEST, word,
	    (struct idem_bytes){ body, sizeof body });
}

static bool
begin(struct idem_buf *to, const struct word *word)
{
	uint8_t body[8] = { 0 };
	size_t i;

	for (i = 0; i < sizeof begins / sizeof *begins; i++)
		if (strcmp(word->kind, begins[i].kind) == 0) {
			body[1] = (uint8_t)begins[i].role;
			body[2] = begins[i].flags;
			record(to, IDEM_FCGI_BEGIN_REQUEST, word,
			    (struct idem_bytes){ body, sizeof body });
			return true;
		}
	return false;
}

static void
plain(struct idem_buf *to, const struct word *word)
{
	unsigned type;
	size_t i;

	if (sscanf(word->kind, "TYPE%u", &type) == 1) {
		record(to, type, word, idem_bytes_text(word->text));
		return;
	}
	for (i = 0; i < sizeof types / sizeof *types; i++)
		if (strcmp(word->kind, types[i].kind) == 0) {
			record(to, types[i].type, word,
			    idem_bytes_text(word->text));
			return;
		}
	bail_out("no such record: %s", word->kind);
}

static void
put(struct idem_buf *to, const struct word *word)
{
	if (begin(to, word))
		return;
	if (strcmp(word->kind, "PARAMS") == 0)
		pairs(to, IDEM_FCGI_PARAMS, word);
	else if (strcmp(word->kind, "VALUES") == 0)
		pairs(to, IDEM_FCGI_GET_VALUES, word);
	else if (strcmp(word->kind, "END") == 0)
		end(to, word);
	else if (strcmp(word->kind, "RAW") == 0)
		raw(to, word);
	else
		plain(to, word);
}

static struct word
parse(const char *p)
{
	struct word word = { 0 };
	int n = 0;

	sscanf(p, "%23[A-Z0-9]%n", word.kind, &n);
	p += n;
	n = 0;
	if (sscanf(p, "/%u%n", &word.id, &n) == 1)
		p += n;
	n = 0;
	if (sscanf(p, ":%511[^+ ]%n", word.text, &n) == 1)
		p += n;
	n = 0;
	if (sscanf(p, "+%u%n", &word.padding, &n) == 1)
		p += n;
	if (*p != ' ' && *p != '\0')
		bail_out("not a word: %s", p);
	return word;
}

void
fcgi_words(struct idem_buf *to, const char *words)
{
	struct word word;
	const char *p = words;

	while (*(p += strspn(p, " ")) != '\0') {
		word = parse(p);
		put(to, &word);
		p += strcspn(p, " ");
	}
}
