/* SPDX-License-Identifier: ISC */
#include "html_form.h"

#include "tap.h"

#include <string.h>

/* --- where a form is sent ------------------------------------------------- */

/* Of a page at this target, or at /a/b/page?q, of www.example.org. */
static const struct {
	const char *what, *action, *path;	/* NULL: not to us */
	const char *target, *base;
} rows[] = {
	{ "no action is the page itself", "", "/a/b/page", NULL, NULL },
	{ "a path is itself", "/buy", "/buy", NULL, NULL },
	{ "a name stands beside the page", "buy.cgi", "/a/b/buy.cgi", NULL,
	  NULL },
	{ "or below it", "x/y/", "/a/b/x/y/", NULL, NULL },
	{ "a page at a slash is its own folder", "x", "/a/b/x", "/a/b/", NULL },
	{ "a dot is that folder", ".", "/a/b/", NULL, NULL },
	{ "two the one above", "..", "/a/", NULL, NULL },
	{ "and so on", "../../x", "/x", NULL, NULL },
	{ "but not beyond the first", "../../../x", "/x", NULL, NULL },
	{ "within a path too", "/x/./y/../z", "/x/z", NULL, NULL },
	{ "three dots are a name", ".../x", "/a/b/.../x", NULL, NULL },
	{ "a dot may be escaped", "%2e%2E/x", "/a/x", NULL, NULL },
	{ "or one of them", ".%2e/%2E", "/a/", NULL, NULL },
	{ "a query is left out", "/x?y=/z", "/x", NULL, NULL },
	{ "alone it leaves the page", "?y", "/a/b/page", NULL, NULL },
	{ "a fragment is left out", "x#/y?z", "/a/b/x", NULL, NULL },
	{ "alone it leaves the page too", "#y", "/a/b/page", NULL, NULL },
	{ "escapes are decoded", "/%62%75y%20it", "/buy it", NULL, NULL },
	{ "of the page too", "x", "/a b/x", "/a%20b/page", NULL },
	{ "once", "%2541", "/a/b/%41", NULL, NULL },
	{ "an escaped slash is one then", "/x%2fy", "/x/y", NULL, NULL },
	{ "but not before", "../..%2fx", "/x", NULL, NULL },
	{ "an escaped NUL is for nobody", "/x%00", NULL, NULL, NULL },
	{ "double slashes are one", "/x//y", "/x/y", NULL, NULL },
	{ "but two segments to a browser", "/x//../y", "/x/y", NULL, NULL },
	{ "also behind escaped dots", "/x//%2e%2e/y", "/x/y", NULL, NULL },
	{ "also of the page", "../y", "/x/y", "/x//page", NULL },
	{ "blanks around it are nothing", " \t\n/x \r", "/x", NULL, NULL },
	{ "but in it they are", "/x y", "/x y", NULL, NULL },
	{ "line ends in it are nothing", "/x\r\n\ty", "/xy", NULL, NULL },
	{ "a backslash is a slash", "\\x\\..\\y", "/y", NULL, NULL },
	{ "not in a query", "/x?\\..\\y", "/x", NULL, NULL },
	{ "bytes are themselves", "/\xc3\xa4", "/\xc3\xa4", NULL, NULL },

	/* hosts */
	{ "the host may be named", "http://www.example.org/x", "/x", NULL,
	  NULL },
	{ "with https as well", "https://www.example.org/x", "/x", NULL, NULL },
	{ "in any case", "HTTPS://WWW.Example.ORG/x", "/x", NULL, NULL },
	{ "without a scheme", "//www.example.org/x", "/x", NULL, NULL },
	{ "without a path", "//www.example.org", "/", NULL, NULL },
	{ "with a query alone", "//www.example.org?x", "/", NULL, NULL },
	{ "with its usual port", "http://www.example.org:80/x", "/x", NULL,
	  NULL },
	{ "or an empty one", "//www.example.org:/x", "/x", NULL, NULL },
	{ "as somebody", "//me:x@y@www.example.org/x", "/x", NULL, NULL },
	{ "with more slashes", "///www.example.org/x", "/x", NULL, NULL },
	{ "or backslashes", "\\\\www.example.org\\x", "/x", NULL, NULL },
	{ "also behind a scheme", "http:///\\www.example.org/x", "/x", NULL,
	  NULL },
	{ "another host is another's", "http://example.org/x", NULL, NULL,
	  NULL },
	{ "one of the same end too", "//xwww.example.org/x", NULL, NULL,
	  NULL },
	{ "and of the same beginning", "//www.example.orgs/x", NULL, NULL,
	  NULL },
	{ "and none", "http:///", NULL, NULL, NULL },
	{ "another port is another's", "//www.example.org:8080/x", NULL, NULL,
	  NULL },
	{ "a user is no host", "//www.example.org@evil.example/x", NULL, NULL,
	  NULL },
	{ "a path is none", "/www.example.org/x", "/www.example.org/x", NULL,
	  NULL },

	/* schemes */
	{ "javascript is not sent", "javascript:void(0)", NULL, NULL, NULL },
	{ "nor is mail, to us", "mailto:me@www.example.org", NULL, NULL,
	  NULL },
	{ "nor what is by ftp", "ftp://www.example.org/x", NULL, NULL, NULL },
	{ "of http without a host browsers think this and that", "http:/x",
	  NULL, NULL, NULL },
	{ "a scheme begins with a letter", "1a:x", "/a/b/1a:x", NULL, NULL },
	{ "and has no slash", "a/b:x", "/a/b/a/b:x", NULL, NULL },
	{ "nor an underscore", "a_b:x", "/a/b/a_b:x", NULL, NULL },
	{ "a line end does not hide one", "java\nscript:x", NULL, NULL, NULL },

	/* bases */
	{ "a base's folder is where names are", "x", "/c/x", NULL, "/c/" },
	{ "what is behind its last slash not", "x", "/c/x", NULL, "/c/d" },
	{ "itself it is beside the page", "x", "/a/b/c/x", NULL, "c/" },
	{ "it may name the host", "x", "/c/x", NULL,
	  "http://www.example.org/c/" },
	{ "or another, to which all goes then", "x", NULL, NULL,
	  "http://example.org/c/" },
	{ "but what names ours", "//www.example.org/x", "/x", NULL,
	  "http://example.org/c/" },
	{ "or is empty", "", "/a/b/page", NULL, "http://example.org/c/" },
	{ "a query is the base's", "?x", "/c/d", NULL, "/c/d" },
	{ "one by other means is another's", "x", NULL, NULL, "ftp:c/" },
	{ "it has blanks as well", "x", "/c/x", NULL, " /c/\n" },

	/* pages */
	{ "a page may have all of its address", "x", "/c/x",
	  "http://www.example.org/c/d?e", NULL },
	{ "two slashes at its beginning are no host", "x", "/a/x", "//a/b",
	  NULL },
	{ "a page that is none has no forms", "x", NULL, "*", NULL },
	{ "nor one without an address", "x", NULL, "", NULL },
};

static void
test_paths(void)
{
	struct idem_html_page page = {
		.host = idem_bytes_text("www.example.org")
	};
	struct idem_buf path = { 0 };
	bool ours;
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		page.target = idem_bytes_text(rows[i].target != NULL ?
		    rows[i].target : "/a/b/page?q=/c/d");
		page.base = idem_bytes_text(rows[i].base != NULL ?
		    rows[i].base : "");
		idem_buf_clear(&path);
		ours = idem_html_form_path(idem_bytes_text(rows[i].action),
		    &page, &path);
		if (rows[i].path == NULL)
			ok(!ours, "%s", rows[i].what);
		else if (ok(ours, "%s", rows[i].what))
			is_bytes(path.at, path.len, rows[i].path,
			    strlen(rows[i].path), "and its path is %s",
			    rows[i].path);
	}
	idem_buf_free(&path);
}

static void
test_hosts(void)
{
	static const struct {
		const char *what, *host, *action;
		bool same;
	} hosts[] = {
		{ "a host with a port is that port only", "h:8080",
		  "//h:8080/x", true },
		{ "not another", "h:8080", "//h/x", false },
		{ "its usual port may be named", "h:443", "https://h/x", true },
		{ "by both", "h:80", "http://h:80/x", true },
		{ "addresses are hosts", "[::1]:8080", "//[::1]:8080/x", true },
		{ "a page that does not know its host has none", "", "//h/x",
		  false },
		{ "not even an empty one", "", "///", false },
	};
	struct idem_html_page page = { .target = idem_bytes_text("/page") };
	struct idem_buf path = { 0 };
	size_t i;

	for (i = 0; i < sizeof hosts / sizeof *hosts; i++) {
		page.host = idem_bytes_text(hosts[i].host);
		idem_buf_clear(&path);
		ok(idem_html_form_path(idem_bytes_text(hosts[i].action), &page,
		    &path) == hosts[i].same, "%s", hosts[i].what);
	}
	idem_buf_clear(&path);
	ok(!idem_html_form_path((struct idem_bytes){ "/a\0b", 4 }, &page,
	    &path), "a NUL is in no path");
	idem_buf_free(&path);
}

/* --- types ---------------------------------------------------------------- */

#define NOT IDEM_HTML_NOT
#define TEXT IDEM_HTML_TEXT
#define XML IDEM_HTML_XML

static void
test_types(void)
{
	static const struct {
		const char *what, *type;
		enum idem_html_type found;
	} types[] = {
		{ "no type is no page", "", NOT },
		{ "text/html is one", "text/html", TEXT },
		{ "in any case", "Text/HTML", TEXT },
		{ "XHTML too", "application/xhtml+xml", XML },
		{ "no other text", "text/plain", NOT },
		{ "nor other XML", "application/xml", NOT },
		{ "nor what begins so", "text/html5", NOT },
		{ "nor ends so", "xtext/html", NOT },
		{ "it may have parameters", "text/html; x=y ;z", TEXT },
		{ "and blanks", " text/html ; charset = x", TEXT },
		{ "in UTF-8", "text/html; charset=utf-8", TEXT },
		{ "in any case and quotes", "text/html;CHARSET=\"UTF-8\"",
		  TEXT },
		{ "in XHTML too", "application/xhtml+xml; charset=UTF-8", XML },
		{ "in Latin letters", "text/html; charset=ISO-8859-15", TEXT },
		{ "or Windows'", "text/html; charset=windows-1252", TEXT },
		{ "or Japanese ones", "text/html; charset=Shift_JIS", TEXT },
		{ "not in UTF-16", "text/html; charset=utf-16", NOT },
		{ "nor 32", "text/html; charset=UTF-32LE", NOT },
		{ "nor 7", "text/html; charset=utf-7", NOT },
		{ "nor where letters are shifted",
		  "text/html; charset=ISO-2022-JP", NOT },
		{ "nor in what nobody knows", "text/html; charset=x", NOT },
		{ "nor in none", "text/html; charset=", NOT },
		{ "nor in one of two", "text/html; charset=utf-8; charset=x",
		  NOT },
		{ "nor of a cut quote", "text/html; charset=\"utf-8", NOT },
	};
	size_t i;

	for (i = 0; i < sizeof types / sizeof *types; i++)
		ok(idem_html_form_type(idem_bytes_text(types[i].type)) ==
		    types[i].found, "%s", types[i].what);
}

int
main(void)
{
	test_paths();
	test_hosts();
	test_types();
	return done();
}
