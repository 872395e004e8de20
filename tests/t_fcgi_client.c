/* SPDX-License-Identifier: ISC */
#include "fcgi_rec.h"

#include "fcgi_words.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

/* What the reader told, as text: out:..., err:..., end:app_status.status. */
struct told {
	struct idem_fcgi_client_reader reader;
	struct idem_buf text;
	enum idem_fcgi_told last;
};

static void
tell(struct told *t, enum idem_fcgi_told told, struct idem_bytes bytes)
{
	/* Pieces of one stream are joined. */
	bool joined = told == t->last;

	switch (told) {
	case IDEM_FCGI_TOLD_MORE:
		return;
	case IDEM_FCGI_TOLD_STDOUT:
		idem_buf_text(&t->text, joined ? "" : " out:");
		idem_buf_append(&t->text, bytes.at, bytes.len);
		break;
	case IDEM_FCGI_TOLD_STDERR:
		idem_buf_text(&t->text, joined ? "" : " err:");
		idem_buf_append(&t->text, bytes.at, bytes.len);
		break;
	case IDEM_FCGI_TOLD_END:
		idem_buf_printf(&t->text, " end:%u.%u", t->reader.app_status,
		    (unsigned)t->reader.status);
		break;
	case IDEM_FCGI_TOLD_BROKEN:
		idem_buf_text(&t->text, " broken");
		break;
	}
	t->last = told;
}

/* One read's bytes, which are gone afterwards; false once broken. */
static bool
feed(struct told *t, const uint8_t *at, size_t len)
{
	struct idem_bytes left = { NULL, len }, bytes = { 0 };
	enum idem_fcgi_told told;
	uint8_t *copy = malloc(len);

	memcpy(copy, at, len);
	left.at = copy;
	do {
		told = idem_fcgi_client_read(&t->reader, &left, &bytes);
		tell(t, told, bytes);
	} while (told != IDEM_FCGI_TOLD_MORE && told != IDEM_FCGI_TOLD_BROKEN);
	free(copy);
	return told == IDEM_FCGI_TOLD_MORE;
}

static const struct {
	const char *what, *words, *told;
} rows[] = {
	{ "an answer is told and ends",
	  "STDOUT/1:hello STDOUT/1 END/1:0.0", "out:hello end:0.0" },
	{ "the end needs no empty STDOUT before it [F15]",
	  "STDOUT/1:hello END/1:3.0", "out:hello end:3.0" },
	{ "an answer of nothing ends", "END/1:0.0", "end:0.0" },
	{ "STDERR may come between",
	  "STDERR/1:a STDOUT/1:b STDERR/1:c+3 STDERR/1:d STDOUT/1:e "
	  "STDERR/1 STDOUT/1 END/1:0.0",
	  "err:a out:b err:cd out:e end:0.0" },
	{ "padding is passed over",
	  "STDOUT/1:he+255 STDOUT/1:llo+1 STDOUT/1+7 END/1:0.0+8 STDERR/1:x",
	  "out:hello end:0.0 err:x" },
	{ "the exit status is told", "END/1:300.0", "end:300.0" },
	{ "a refusal to multiplex is told", "END/1:0.1", "end:0.1" },
	{ "an overload is told", "END/1:0.2", "end:0.2" },
	{ "an unknown role is told", "END/1:0.3", "end:0.3" },
	{ "a protocol status nobody knows is broken", "END/1:0.4", "broken" },
	{ "an END_REQUEST shorter than 8 is broken",
	  "STDOUT/1:x TYPE3/1:1234567", "out:x broken" },
	{ "an END_REQUEST longer than it has to be is one",
	  "RAW:01030001000a0000 RAW:00000007000000000909", "end:7.0" },
	{ "records of other ids and of management are passed over",
	  "STDOUT/2:no TYPE10:x TYPE11:unknown STDOUT/1:yes END/2:9.9 "
	  "STDOUT/257:no END/1:0.0",
	  "out:yes end:0.0" },
	{ "records that no application sends are passed over",
	  "STDIN/1:a PARAMS/1:A=1 DATA/1:b TYPE99/1:c BEGIN/1 END/1:0.0",
	  "end:0.0" },
	{ "the next answer on the connection is told",
	  "STDOUT/1:a END/1:0.0+5 STDOUT/1:b END/1:1.0",
	  "out:a end:0.0 out:b end:1.0" },
	{ "an answer that is cut has no end",
	  "STDOUT/1:a RAW:0103000100080000 RAW:00000000000000", "out:a" },
	{ "another version is broken", "STDOUT/1:a RAW:00", "out:a broken" },
	{ "text is broken", "RAW:48545450", "broken" },
};

static bool
play(const char *words, size_t first, size_t step, const char *want)
{
	struct told t = { .reader.id = 1 };
	struct idem_buf in = { 0 };
	size_t from, len;
	bool same;

	fcgi_words(&in, words);
	for (from = 0; from < in.len; from += len) {
		len = from == 0 ? first : step;
		if (len > in.len - from)
			len = in.len - from;
		if (!feed(&t, in.at + from, len))
			break;
	}
	idem_buf_u8(&t.text, 0);
	same = strcmp((const char *)t.text.at + 1, want) == 0;
	if (!same)
		note("     got: %s", (const char *)t.text.at + 1);
	idem_buf_free(&t.text);
	idem_buf_free(&in);
	return same;
}

static void
check_row(size_t i)
{
	struct idem_buf in = { 0 };
	size_t cut, wrong = 0;

	fcgi_words(&in, rows[i].words);
	ok(play(rows[i].words, in.len, in.len, rows[i].told), "%s",
	    rows[i].what);
	ok(play(rows[i].words, 1, 1, rows[i].told), "%s, byte by byte",
	    rows[i].what);
	for (cut = 1; cut < in.len; cut++)
		wrong += !play(rows[i].words, cut, in.len, rows[i].told);
	is_int((long long)wrong, 0, "%s, cut in two anywhere", rows[i].what);
	idem_buf_free(&in);
}

static void
check_stays_broken(void)
{
	struct told t = { .reader.id = 1 };
	struct idem_buf in = { 0 };

	fcgi_words(&in, "END/1:0.9");
	feed(&t, in.at, in.len);
	idem_buf_clear(&in);
	fcgi_words(&in, "STDOUT/1:a");
	ok(!feed(&t, in.at, in.len) && t.reader.wrong != NULL,
	    "what is broken stays so, and the log is told why");
	idem_buf_free(&t.text);
	idem_buf_free(&in);
}

int
main(void)
{
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++)
		check_row(i);
	check_stays_broken();
	return done();
}
