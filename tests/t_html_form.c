/* SPDX-License-Identifier: ISC */
#include "html_form.h"

#include "tap.h"

#include <string.h>

/*
 * A page, with an '@' wherever a form is to be found, and the actions of those,
 * each with a '|' behind it.
 */
struct row {
	const char *what;
	const char *page, *actions;
};

#define POST "<form method=post>"
#define FOUND POST "@"

static const struct row rows[] = {
	{ "an empty page has no form", "", "" },
	{ "text is none", "a < b, c > d & form method=post", "" },
	{ "a form is one", "<p>x<form method=post action=/buy>@<input></form>",
	  "/buy|" },
	{ "but not by get", "<form action=/find><form method=get>", "" },
	{ "nor one without a value", "<form method>", "" },
	{ "nor as a dialog", "<form method=dialog>", "" },
	{ "nor with blanks in the method", "<form method='post '>", "" },
	{ "names and methods have no case", "<FORM METHOD=\"PoSt\">@", "|" },
	{ "nor has an attribute of an action", "<form METHOD=post ACTION=A>@",
	  "A|" },
	{ "quotes may be double", "<form method=\"post\" action=\"/a b>c\">@",
	  "/a b>c|" },
	{ "or single", "<form method='post' action='/a\"b'>@", "/a\"b|" },
	{ "or none", "<form method=post action=/a'\"=<b>@", "/a'\"=<b|" },
	{ "blanks may stand around the =", "<form\tmethod \n=\r\f post>@",
	  "|" },
	{ "and behind", "<form method=post\n>@", "|" },
	{ "a slash before the > is nothing", "<form method='post'/>@", "|" },
	{ "but belongs to a bare value", "<form method=post/>", "" },
	{ "slashes part attributes", "<form/method='post'/action='a'>@",
	  "a|" },
	{ "so does nothing behind a quote", "<form method='post'action='a'>@",
	  "a|" },
	{ "of two the first counts", "<form method=post method=get action=a "
	  "action=b>@", "a|" },
	{ "also if it has no value", "<form method method=post>", "" },
	{ "also if it has an empty one", "<form action='' action=b "
	  "method=post>@", "|" },
	{ "a = may begin a name", "<form =method=post></form>"
	  "<form = method=post>@", "|" },
	{ "a quote in a name is part of it", "<form \"method=post>", "" },
	{ "a < in a tag too", "<form <method=post>", "" },
	{ "a value may look like attributes", "<form x=' method=post'>", "" },
	{ "and hold a >", "<form x='>' method=post>@", "|" },
	{ "a longer name is another", "<forms method=post>", "" },
	{ "so is a much longer one",
	  "<formformform method=post><form methodmethod=post>", "" },
	{ "so is one with a dash", "<form-x method=post>", "" },
	{ "and a shorter one", "<for method=post>", "" },
	{ "an end tag is none", "</form method=post>", "" },
	{ "a < before it does not matter", "<<form method=post>@", "|" },
	{ "nor one with a blank", "< form method=post>", "" },
	{ "each form is found", FOUND "</form>x" FOUND "</form>" FOUND,
	  "|||" },
	{ "a form in a form is none", FOUND POST "</form>" FOUND, "||" },
	{ "whatever their methods", "<form>" POST "</form></form>" FOUND,
	  "|" },
	{ "an end tag with attributes ends it", FOUND "</form x='>'>" FOUND,
	  "||" },
	{ "a page that ends in a tag has none", "<form method=post", "" },
	{ "nor in its value", "<form method='post>", "" },
	{ "text/plain is for nobody to read",
	  "<form method=post enctype='text/plain'></form>"
	  "<form method=post enctype=multipart/form-data>@", "|" },

	/* entities */
	{ "entities are decoded", "<form method='&#112;ost' action='/a?b&amp;c"
	  "&lt;&sol;&period;'>@", "/a?b&c</.|" },
	{ "by number, in hex, without a ;", "<form method=p&#x6Fst "
	  "action=&#47a&#x2f;b&#X2F>@", "/a/b/|" },
	{ "as UTF-8", "<form method=post action='&#228;&#x20ac;&#x1F600;'>@",
	  "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80|" },
	{ "no code is no character", "<form method=post action='&#xD800;"
	  "&#x110000;&#4294967331;'>@",
	  "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd|" },
	{ "without a ; only if nothing follows that queries have",
	  "<form method=post action='a?b&amp=c&ampd&amp,&lt'>@",
	  "a?b&amp=c&ampd&,<|" },
	{ "what is none stays", "<form method=post action='&&;&#;&#x;&no;&sol"
	  "&AMp;&'>@", "&&;&#;&#x;&no;&sol&AMp;&|" },
	{ "and of those beyond ASCII the name",
	  "<form method=post action='&eacute;'>@", "&eacute;|" },
	{ "they quote nothing", "<form x='&apos; method=post &#39;'>", "" },
	{ "nor are they read in names", "<f&#111;rm method=post>", "" },

	/* comments and their like */
	{ "a comment hides it", "<!-- " POST " -->" FOUND, "|" },
	{ "to its end", "<!-- -- - -> --x>" POST "--->" FOUND, "|" },
	{ "an empty one hides nothing", "<!---->" FOUND, "|" },
	{ "nor one that ends at once", "<!-->" FOUND "</form><!--->" FOUND,
	  "||" },
	{ "one ends in --!> too", "<!-- x --!>" FOUND "</form><!-- --!x"
	  POST "-->", "|" },
	{ "a dash behind the ! begins its end anew", "<!-- --!->" POST
	  "--!-->" FOUND, "|" },
	{ "in one there begins none", "<!-- <!-- -->" FOUND " -->", "|" },
	{ "a dash alone is no comment", "<!- " POST FOUND, "|" },
	{ "one that does not end hides all", "<!-- " POST "--", "" },
	{ "a doctype ends at its >", "<!DOCTYPE html PUBLIC '>" FOUND, "|" },
	{ "so does what looks like XML", "<?xml " POST FOUND, "|" },
	{ "and a strange end tag", "</ " POST FOUND, "|" },
	{ "an empty one is nothing", "</>" FOUND, "|" },
	{ "CDATA is for others", "<![CDATA[" POST FOUND "]]>", "|" },
	{ "as in a drawing", "<svg><![CDATA[" POST "]]" POST "]]]></svg>"
	  FOUND "</form><![CDATA[" POST FOUND, "||" },
	{ "also in formulas in it", "<svg><math></math><![CDATA[" POST POST
	  "]]>", "" },
	{ "not behind an empty one", "<svg/><![CDATA[" POST FOUND, "|" },
	{ "CDATA has case", "<svg><![cdata[" POST FOUND "]]>", "|" },

	/* raw text */
	{ "a script hides it", "<script>'" POST "'</script>" FOUND, "|" },
	{ "in any case", "<ScRiPt x=y>" POST "</sCrIpT >" FOUND, "|" },
	{ "so do its like", "<style>" POST "</style><textarea>" POST
	  "</textarea><title>" POST "</title><xmp>" POST "</xmp><iframe>" POST
	  "</iframe><noembed>" POST "</noembed><noframes>" POST "</noframes>"
	  FOUND, "|" },
	{ "to their own end only", "<textarea></text></textareas></style></ "
	  "textarea><!--</textarea>" FOUND, "|" },
	{ "which may have attributes", "<textarea>" POST
	  "</textarea x='>'/>" FOUND, "|" },
	{ "and a slash", "<title></title/>" FOUND, "|" },
	{ "one that does not end hides all", "<textarea>" POST "</textarea",
	  "" },
	{ "a > of itself does not close them", "<script/>" POST "</script>"
	  FOUND, "|" },
	{ "but in a drawing it does", "<svg><script/><title/></svg>" FOUND,
	  "|" },
	{ "if it is the last thing there", "<svg><title / x>" POST
	  "</title></svg>" FOUND, "|" },
	{ "<noscript> hides nothing from those without",
	  "<noscript>" FOUND "</noscript>", "|" },
	{ "<plaintext> has no end", "<plaintext>" POST "</plaintext>" POST,
	  "" },
	{ "a < before its end does not matter", "<script><</script>" FOUND,
	  "|" },

	/* scripts that are written as comments */
	{ "a script in a comment ends as any", "<script><!-- </script>" FOUND,
	  "|" },
	{ "but not one in a script in it", "<script><!-- <script> </script>"
	  POST "--></script>" FOUND, "|" },
	{ "each ends its own", "<script><!-- <script></script ></script>" FOUND,
	  "|" },
	{ "a comment's end ends both", "<script><!-- <script> --></script>"
	  FOUND, "|" },
	{ "with as many dashes as may be",
	  "<script><!-- <script> ----></script>" FOUND, "|" },
	{ "but none in between", "<script><!-- <script> --x></script>" POST,
	  "" },
	{ "the shortest comment is over", "<script><!--><script></script>"
	  FOUND, "|" },
	{ "and the next", "<script><!---><script></script>" FOUND, "|" },
	{ "with a dash less it is none", "<script><!- <script></script>" FOUND,
	  "|" },
	{ "scripts alone are none", "<script><script></script>" FOUND, "|" },
	{ "a longer word is none", "<script><!--<scripts></script>" FOUND,
	  "|" },
	{ "nor a shorter one", "<script><!--<scrip ></script>" FOUND, "|" },
	{ "a slash may end it", "<script><!--<script/</script/</script>" FOUND,
	  "|" },
	{ "case does not matter", "<script><!--<SCRIPT></SCRIPT>" POST
	  "</script>" FOUND, "|" },
	{ "only of scripts", "<style><!-- <script> </style>" FOUND, "|" },

	/* what is not there yet */
	{ "a template is no page", "<template>" POST "</form><template>" POST
	  "</form></template>" POST "</form></template>" FOUND, "|" },
	{ "an end of one that is not open is nothing", "</template>" FOUND,
	  "|" },
	{ "forms in it are not outside", FOUND "<template></form></template>"
	  POST, "|" },
};

static const struct row xml_rows[] = {
	{ "in XML a slash ends an element", "<script src='x'/>" FOUND
	  "</form><textarea/><template/>" FOUND "</form>", "||" },
	{ "a form too, and has nothing in it then", "<form method='post'/>"
	  FOUND, "|" },
	{ "CDATA is text", "<p><![CDATA[" POST POST "]]></p>" FOUND, "|" },
	{ "scripts may hold it", "<script><![CDATA[ '" POST "' ]]></script>"
	  FOUND, "|" },
};

/* --- a page and what is found in it --------------------------------------- */

struct seen {
	struct idem_buf page, actions;
};

static void
find(struct idem_html_form *h, struct idem_bytes in, struct seen *seen)
{
	const uint8_t *from = in.at;
	struct idem_bytes action;

	while (idem_html_form_next(h, &in, &action) == IDEM_HTML_FORM) {
		idem_buf_append(&seen->page, from,
		    (size_t)((const uint8_t *)in.at - from));
		idem_buf_u8(&seen->page, '@');
		idem_buf_append(&seen->actions, action.at, action.len);
		idem_buf_u8(&seen->actions, '|');
		from = in.at;
	}
	idem_buf_append(&seen->page, from,
	    (size_t)((const uint8_t *)in.at - from));
	if (in.len > 0)
		bail_out("bytes are left");
}

/* In two pieces; each '@' of the page is left out. */
static void
read_page(const char *page, size_t cut, bool xml, struct seen *seen)
{
	struct idem_html_form *h = idem_html_form_new(xml);
	struct idem_buf plain = { 0 };
	struct idem_bytes first, rest;

	if (h == NULL)
		bail_out("no memory");
	for (; *page != '\0'; page++)
		if (*page != '@')
			idem_buf_u8(&plain, (uint8_t)*page);
	first = rest = idem_buf_bytes(&plain);
	if (cut > plain.len)
		cut = plain.len;
	first.len = cut;
	rest.len -= cut;
	if (cut > 0)
		rest.at = plain.at + cut;
	idem_buf_clear(&seen->page);
	idem_buf_clear(&seen->actions);
	find(h, first, seen);
	find(h, rest, seen);
	idem_buf_free(&plain);
	idem_html_form_free(h);
}

static bool
is_as_said(const struct row *r, const struct seen *seen)
{
	return idem_bytes_is(idem_buf_bytes(&seen->page), r->page) &&
	    idem_bytes_is(idem_buf_bytes(&seen->actions), r->actions);
}

static void
test_rows(const struct row *r, size_t n, bool xml)
{
	struct seen seen = { 0 };
	size_t cut, differ = 0, i;

	for (i = 0; i < n; i++, r++) {
		read_page(r->page, SIZE_MAX, xml, &seen);
		is_bytes(seen.page.at, seen.page.len, r->page, strlen(r->page),
		    "%s", r->what);
		is_bytes(seen.actions.at, seen.actions.len, r->actions,
		    strlen(r->actions), "and its actions are these");
		for (cut = 0; cut < strlen(r->page); cut++) {
			read_page(r->page, cut, xml, &seen);
			differ += !is_as_said(r, &seen);
		}
	}
	is_int((long long)differ, 0,
	    "each of these pages is the same wherever it is cut in two");
	idem_buf_free(&seen.page);
	idem_buf_free(&seen.actions);
}

static void
test_pieces(void)
{
	struct idem_html_form *h;
	struct idem_buf page = { 0 };
	struct seen seen = { 0 }, whole = { 0 };
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++)
		idem_buf_text(&page, rows[i].page);
	idem_buf_u8(&page, '\0');
	read_page((const char *)page.at, SIZE_MAX, false, &whole);
	h = idem_html_form_new(false);
	for (i = 0; i + 1 < page.len && h != NULL; i++)
		if (page.at[i] != '@')
			find(h, (struct idem_bytes){ page.at + i, 1 }, &seen);
	ok(idem_bytes_equal(idem_buf_bytes(&seen.page),
	    idem_buf_bytes(&whole.page)),
	    "all of them in a row are the same byte by byte");
	idem_html_form_free(h);
	idem_buf_free(&page);
	idem_buf_free(&seen.page);
	idem_buf_free(&seen.actions);
	idem_buf_free(&whole.page);
	idem_buf_free(&whole.actions);
}

/* --- the rest ------------------------------------------------------------- */

/* How many forms a page of a head, `len` times the byte, and a tail has. */
static long long
count(const char *head, char byte, size_t len, const char *tail)
{
	struct idem_html_form *h = idem_html_form_new(false);
	struct seen seen = { 0 };
	struct idem_buf page = { 0 };
	long long n = 0;
	size_t i;

	idem_buf_text(&page, head);
	for (i = 0; i < len; i++)
		idem_buf_u8(&page, (uint8_t)byte);
	idem_buf_text(&page, tail);
	find(h, idem_buf_bytes(&page), &seen);
	for (i = 0; i < seen.actions.len; i++)
		n += seen.actions.at[i] == '|';
	idem_html_form_free(h);
	idem_buf_free(&page);
	idem_buf_free(&seen.page);
	idem_buf_free(&seen.actions);
	return n;
}

static void
test_lengths(void)
{
	is_int(count("<form method=post action=", 'a', 2048, ">"), 1,
	    "an action may have 2048 bytes");
	is_int(count("<form method=post action=", 'a', 2049, "></form>" POST),
	    1, "of a longer one's form nothing is told");
	is_int(count("<form method=post action=", 'a', 2049, ">" POST), 0,
	    "though it is one, in which there is no other");
	is_int(count("<form method=post ", 'a', 100000, "=b>"), 1,
	    "other attributes may be of any length");
	is_int(count("<form method=post b=\"", '>', 100000, "\">"), 1,
	    "and their values");
	is_int(count("<form method=", 'p', 100000, ">"), 0, "a method not");
	is_int(count("<", 'a', 100000, ">" POST), 1, "tags may");
	is_int(count("<base href=", 'a', 2048, ">" POST), 1,
	    "a base is an address too");
	is_int(count("<base href=", 'a', 2049, ">" POST), 0,
	    "and behind one that is too long nobody knows where forms go");
	is_int(count("<script>", '<', 100000, "</script>" POST), 1,
	    "scripts may have any length");
}

static void
test_base(void)
{
	static const struct {
		const char *what, *page, *base;
	} bases[] = {
		{ "a page without a base has none", "<p>", "" },
		{ "a base is told of", "<base href='/a&amp;b/'>", "/a&b/" },
		{ "only the first is", "<base href=a><base href=b>", "a" },
		{ "only one with an address", "<base target=x><base href=b>",
		  "b" },
		{ "be it empty", "<base href><base href=b>", "" },
		{ "none in a template", "<template><base href=a></template>",
		  "" },
		{ "nor in a comment", "<!--<base href=a>-->", "" },
		{ "it may close itself", "<base href='a'/>", "a" },
		{ "an action is not it", "<base action=a href=b>", "b" },
	};
	struct idem_html_form *h;
	struct seen seen = { 0 };
	struct idem_bytes base;
	size_t i;

	for (i = 0; i < sizeof bases / sizeof *bases; i++) {
		h = idem_html_form_new(false);
		find(h, idem_bytes_text(bases[i].page), &seen);
		base = idem_html_form_base(h);
		is_bytes(base.at, base.len, bases[i].base,
		    strlen(bases[i].base), "%s", bases[i].what);
		idem_html_form_free(h);
	}
	idem_buf_free(&seen.page);
}

int
main(void)
{
	test_rows(rows, sizeof rows / sizeof *rows, false);
	test_rows(xml_rows, sizeof xml_rows / sizeof *xml_rows, true);
	test_pieces();
	test_lengths();
	test_base();
	idem_html_form_free(NULL);
	return done();
}
