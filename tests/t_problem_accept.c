/* SPDX-License-Identifier: ISC */
#include "problem.h"

#include "tap.h"

static const struct {
	const char *accept;
	bool html;
} accepts[] = {
	{ "", false },
	{ "text/html", true },
	{ "TEXT/Html", true },
	{ "text/html,application/xhtml+xml,application/xml;q=0.9,"
	  "image/avif,image/webp,*/*;q=0.8", true },
	{ "text/html, image/gif, image/jpeg, */*; q=.2", false },
	{ "*/*", false },
	{ "application/json", false },
	{ "application/problem+json", false },
	{ "application/json, text/html", false },
	{ "text/html, application/json", false },
	{ "text/html, application/problem+json;q=0.9", true },
	{ "text/html;q=0.5", true },
	{ "text/html;q=0.5, application/json", false },
	{ "text/html;q=0.5, application/problem+json", false },
	{ "text/html;q=0.5, application/xml, text/plain", true },
	{ "text/html;q=0.5, */*;q=0.4", true },
	{ "text/html;q=0.5, */*;q=0.6", false },
	{ "text/html;q=0.5,*/*;q=0.5", true },
	{ "text/html, */*", true },
	{ "text/*", true },
	{ "text/*, application/json", false },
	{ "text/html, application/*", true },
	{ "text/*, application/*", false },
	{ "text/*;q=1, text/html;q=0.1, */*;q=0.5", false },
	{ "text/html;q=0", false },
	{ "text/html;q=0, */*", false },
	{ "text/html;q=0, application/json;q=0", false },
	{ "application/json;q=0, */*", true },
	{ "application/json;q=0.001, text/html;q=0.002", true },
	{ "text/plain", false },
	{ "image/*", false },
	{ "text/html;level=1", true },
	{ "text/html ; level=1 ; Q=0.2 , application/json;q=0.1", true },
	{ "text/html;a=\"x, y;q=0\\\"\";q=0.3, application/json;q=0.2", true },
	{ "text/html;;q=0.1", true },
	{ "text/html;q=0.5;ext;more=1", true },
	{ ",, text/html ,,", true },
	{ "text/html;q=1.000", true },
	{ "text/html;q=0.", false },
	{ "text/html;q=1.001", false },
	{ "text/html;q=2", false },
	{ "text/html;q=", false },
	{ "text/html;q=0.1234", false },
	{ "text/html;q=-1", false },
	{ "text/html;q=abc", false },
	{ "text/html;q=0x1", false },
	{ "text/html;a=\"x", false },
	{ "text/html;a=\"x\\", false },
	{ "text/html;a=\"\\\"", false },
	{ "text/html application/json", false },
	{ "text html", false },
	{ "text", false },
	{ "text/html, text", false },
	{ "*", false },
	{ "*/html", false },
	{ "/", false },
	{ "text/html, \"", false },
};

int
main(void)
{
	struct idem_bytes accept = { "text/html\0", 10 };
	size_t i;

	for (i = 0; i < sizeof accepts / sizeof *accepts; i++)
		ok(idem_problem_wants_html(idem_bytes_text(
		    accepts[i].accept)) == accepts[i].html, "%s for \"%s\"",
		    accepts[i].html ? "HTML" : "JSON", accepts[i].accept);
	ok(!idem_problem_wants_html(accept), "JSON for a NUL after the name");
	accept = idem_bytes_text("\xff\x01\"<>/");
	ok(!idem_problem_wants_html(accept), "JSON for garbage");
	accept = (struct idem_bytes){ NULL, 0 };
	ok(!idem_problem_wants_html(accept), "JSON without the field");
	return done();
}
