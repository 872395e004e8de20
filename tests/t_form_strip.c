/* SPDX-License-Identifier: ISC */
#include "form_strip.h"

#include "tap.h"

#include <string.h>
#include <unistd.h>

#define MEMORY 100u
#define BIG (200u * 1024u)	/* several pieces of a file */

/* Byte i of every body of this test. */
static uint8_t
byte_at(uint64_t i)
{
	return (uint8_t)(i * 7 + i / 251);
}

static void
fill(struct spool *s, uint64_t len)
{
	uint8_t byte;
	uint64_t i;

	spool_init(s, MEMORY);
	for (i = 0; i < len; i++) {
		byte = byte_at(i);
		spool_add(s, (struct idem_bytes){ &byte, 1 });
	}
}

static bool
goes(const struct idem_form_cut *cut, uint64_t i)
{
	size_t n;

	for (n = 0; n < cut->len; n++)
		if (i >= cut->at[n].from && i < cut->at[n].to)
			return true;
	return false;
}

/* Is it the body without what goes? */
static bool
is_right(const struct spool *s, const struct idem_form_cut *cut, uint64_t len)
{
	struct idem_buf buf = { 0 };
	struct idem_bytes got = spool_whole(s, &buf);
	const uint8_t *at = got.at;
	uint64_t i;
	size_t n = 0;
	bool right;

	right = idem_buf_ok(&buf) && got.len == s->len;
	for (i = 0; i < len && right; i++)
		if (!goes(cut, i))
			right = n < got.len && at[n++] == byte_at(i);
	right = right && n == got.len;
	idem_buf_free(&buf);
	return right;
}

static const struct {
	const char *what;
	uint64_t len;
	struct idem_form_span spans[3];
	size_t spans_len;
	bool in_file;
} rows[] = {
	{ "nothing to go leaves a body", 50, { { 0, 0 } }, 0, false },
	{ "what goes from memory is gone", 50, { { 0, 10 } }, 1, false },
	{ "in several places", 50, { { 1, 2 }, { 5, 40 }, { 49, 50 } }, 3,
	  false },
	{ "so may be all", 50, { { 0, 50 } }, 1, false },
	{ "an empty body stays so", 0, { { 0, 0 } }, 0, false },
	{ "nothing to go leaves a file", BIG, { { 0, 0 } }, 0, true },
	{ "what goes from a file is gone", BIG, { { 0, 10 } }, 1, true },
	{ "also over its pieces", BIG, { { 5, 6 }, { 65530, 65540 },
	  { 131072, 150000 } }, 3, true },
	{ "also at its end", BIG, { { BIG - 70000, BIG } }, 1, true },
	{ "what is left of a file may fit into memory", BIG,
	  { { 50, BIG } }, 1, false },
	{ "and be nothing", BIG, { { 0, BIG } }, 1, false },
};

static void
test_rows(void)
{
	struct idem_form_cut cut;
	struct spool s;
	size_t i, n;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		cut = (struct idem_form_cut){ .len = 0 };
		for (n = 0; n < rows[i].spans_len; n++)
			idem_form_cut_add(&cut, rows[i].spans[n].from,
			    rows[i].spans[n].to);
		fill(&s, rows[i].len);
		ok(form_strip(&s, &cut) && is_right(&s, &cut, rows[i].len) &&
		    (s.fd != -1) == rows[i].in_file && !s.failed, "%s",
		    rows[i].what);
		spool_free(&s);
	}
}

static void
test_failures(void)
{
	struct idem_form_cut cut = { .at = { { 0, 1 } }, .len = 1 };
	struct spool s;

	fill(&s, BIG);
	ok(ftruncate(s.fd, 10) == 0 && !form_strip(&s, &cut),
	    "a file that is shorter than it was is no body");
	ok(spool_fd(&s) == -1, "and gives none");
	spool_free(&s);
	fill(&s, 10);
	s.failed = true;
	ok(!form_strip(&s, &cut), "nor is one that has failed before");
	spool_free(&s);
}

int
main(void)
{
	test_rows();
	test_failures();
	return done();
}
