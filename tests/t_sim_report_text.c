/* SPDX-License-Identifier: ISC */
#include "report_private.h"
#include "tap.h"

#include <stdlib.h>

/* What a text becomes in each language that a report is written in. */

static const char *
of_tap(struct idem_buf *b, const char *text)
{
	report_text_tap(b, text, 14);
	return report_buf_text(b);
}

static const char *
of_tap_13(struct idem_buf *b, const char *text)
{
	report_text_tap(b, text, 13);
	return report_buf_text(b);
}

static const char *
of_yaml(struct idem_buf *b, const char *text)
{
	report_text_yaml(b, text, 12);
	return report_buf_text(b);
}

static const char *
of_shell(struct idem_buf *b, const char *text)
{
	report_text_shell(b, text);
	return report_buf_text(b);
}

static const char *
of_slug(struct idem_buf *b, const char *text)
{
	report_text_slug(b, text, 16);
	return report_buf_text(b);
}

static const char *
of_html(struct idem_buf *b, const char *text)
{
	report_text_html(b, text, 12);
	return report_buf_text(b);
}

static const char *
of_time(struct idem_buf *b, const char *ns)
{
	report_text_time(b, strtoll(ns, NULL, 10));
	return report_buf_text(b);
}

static const struct {
	const char *what;
	const char *(*of)(struct idem_buf *, const char *);
	const char *text, *want;
} texts[] = {
	{ "TAP 14 escapes # and \\", of_tap, "a # b \\ c", "a \\# b \\\\ c" },
	{ "TAP 13 has an escape for # alone", of_tap_13, "a # b \\ c",
	  "a \\# b \\ c" },
	{ "a line's end is a blank", of_tap, "a\nok 2\r",
	  "a ok 2\xef\xbf\xbd" },
	{ "no control character is written", of_tap, "\x1b[31m\x7f",
	  "\xef\xbf\xbd[31m\xef\xbf\xbd" },
	{ "what is no UTF-8 is replaced", of_tap, "\xff\xc0\x80z",
	  "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz" },
	{ "nor one that turns the direction", of_tap, "a\xe2\x80\xae" "b",
	  "a\xef\xbf\xbd" "b" },
	{ "nor one of the second kind", of_tap, "a\xc2\x85" "b\xc3\xa9",
	  "a\xef\xbf\xbd" "b\xc3\xa9" },
	{ "a word is one in YAML", of_yaml, "at_most.1/k", "at_most.1/k" },
	{ "yes is a text in YAML", of_yaml, "yes", "'yes'" },
	{ "a number is a text in YAML", of_yaml, "12", "'12'" },
	{ "nothing is a text in YAML", of_yaml, "", "''" },
	{ "a quote in YAML is there twice", of_yaml, "it's: #", "'it''s: #'" },
	{ "a text is cut after whole characters", of_yaml,
	  "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
	  "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9!", "'\xc3\xa9\xc3\xa9\xc3\xa9"
	  "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
	  "\xc3\xa9\xe2\x80\xa6'" },
	{ "a plain word needs no quotes of a shell", of_shell,
	  "on_outage=pass", "on_outage=pass" },
	{ "nothing does", of_shell, "", "''" },
	{ "a shell reads what was written", of_shell, "it's $(x)",
	  "'it'\\''s $(x)'" },
	{ "a folder's name has letters, digits and dashes", of_slug,
	  "../Crash at \"x\"!", "crash-at-x" },
	{ "and is not too long", of_slug, "aaaaaaaaaaaaaaaaaaaaaa",
	  "aaaaaaaaaaaaaaaa" },
	{ "and not empty", of_slug, "\xc3\xa9 /", "point" },
	{ "no tag of HTML is opened", of_html, "<b a='x'>&",
	  "&#60;b a=&#39;x&#39;&#62;&#38;" },
	{ "times have their unit", of_time, "450000", "0.45 ms" },
	{ "of some milliseconds", of_time, "12345678", "12.3 ms" },
	{ "of seconds", of_time, "1250000000", "1.250 s" },
	{ "of minutes", of_time, "123000000000", "2 min 3 s" },
};

int
main(void)
{
	size_t i;

	for (i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct idem_buf b = { 0 };

		is(texts[i].of(&b, texts[i].text), texts[i].want, "%s",
		    texts[i].what);
		idem_buf_free(&b);
	}
	return done();
}
