/* SPDX-License-Identifier: ISC */
#include "route.h"

#include "tap.h"

#include <stdlib.h>
#include <string.h>

#define PARAMS_MAX 4
#define FIELDS 65		/* one more than are read */

#define ABSENT IDEM_KEY_ABSENT
#define GOOD IDEM_KEY_GOOD
#define EMPTY IDEM_KEY_EMPTY
#define BAD IDEM_KEY_MALFORMED
#define LONG IDEM_KEY_TOO_LONG
#define DIFFER IDEM_KEY_DIFFERENT

#define KEY "HTTP_IDEMPOTENCY_KEY="
#define XKEY "HTTP_X_IDEMPOTENCY_KEY="
#define QUERY "QUERY_STRING="
#define COOKIE "HTTP_COOKIE="

#define K32 "0123456789abcdefghijklmnopqrstuv"
#define K256 K32 K32 K32 K32 K32 K32 K32 K32
#define K255 "0123456789abcdefghijklmnopqrstu" K32 K32 K32 K32 K32 K32 K32

static const struct idem_source all_sources[] = {
	{ .kind = IDEM_SOURCE_HEADER, .name = "HTTP_IDEMPOTENCY_KEY" },
	{ .kind = IDEM_SOURCE_QUERY, .name = "key" },
	{ .kind = IDEM_SOURCE_HEADER, .name = "HTTP_X_IDEMPOTENCY_KEY" },
	{ .kind = IDEM_SOURCE_COOKIE, .name = "key" },
	{ .kind = IDEM_SOURCE_FORM, .name = "key" },
	{ .kind = IDEM_SOURCE_CONTENT },
	{ .kind = IDEM_SOURCE_FUNCTION, .function = 1 },
};

static const struct idem_route all = {
	.sources = all_sources,
	.sources_len = sizeof all_sources / sizeof *all_sources,
};

static const struct {
	const char *what;
	enum idem_key_state state;
	const char *key;		/* of GOOD */
	const char *params[PARAMS_MAX];
} rows[] = {
	{ "no parameters have no key", ABSENT, NULL, { NULL } },

	/* header fields, as one list */
	{ "a field has a key", GOOD, "k1", { KEY "k1" } },
	{ "also quoted", GOOD, "k1", { KEY "\"k1\"" } },
	{ "also of the other name", GOOD, "k1", { XKEY "k1" } },
	{ "two equal fields are one [cgi:C73]", GOOD, "k1",
	  { KEY "k1", KEY "\"k1\"" } },
	{ "of both names too", GOOD, "k1", { XKEY "k1", KEY "\"k1\"" } },
	{ "two that differ are not [cgi:C73]", DIFFER, NULL,
	  { KEY "k1", KEY "k2" } },
	{ "nor of both names", DIFFER, NULL, { KEY "k1", XKEY "k2" } },
	{ "a list of two is no key [cgi:C73]", DIFFER, NULL, { KEY "k1, k2" } },
	{ "an empty field is no key [cgi:C73]", EMPTY, NULL, { KEY } },
	{ "beside a key it differs", DIFFER, NULL, { KEY, XKEY "k1" } },
	{ "300 bytes are too many [cgi:C73]", LONG, NULL,
	  { KEY K256 K32 "012345678901" } },
	{ "UTF-8 is no key [cgi:C73 idem:D17]", BAD, NULL,
	  { KEY "\xc3\xa4" } },
	{ "nor are CR and LF [idem:D17]", BAD, NULL, { KEY "k1\r\nX: y" } },
	{ "nor a tab [idem:D17]", BAD, NULL, { KEY "k\t1" } },
	{ "braces, stars and colons are [idem:D17]", GOOD, "{}*:",
	  { KEY "{}*:" } },
	{ "a name that only begins so is another [idem:D20]", ABSENT, NULL,
	  { "HTTP_IDEMPOTENCY_KEY_X=k1", "IDEMPOTENCY_KEY=k1" } },
	{ "a field that a client had spelled with _ is the same one "
	  "[idem:D20]", DIFFER, NULL, { KEY "k1", KEY "spoof" } },

	/* the query */
	{ "a query has a key", GOOD, "k1", { QUERY "key=k1" } },
	{ "between others", GOOD, "k1", { QUERY "a=b&key=k1&c" } },
	{ "decoded", GOOD, "k 1+\"", { QUERY "%6bey=k+1%2B%22" } },
	{ "once", GOOD, "%2531", { QUERY "key=%252531" } },
	{ "names have case", ABSENT, NULL, { QUERY "KEY=k1&keys=k1&ke=y" } },
	{ "an empty one is none", ABSENT, NULL, { QUERY "key=&a=b" } },
	{ "or without a value", ABSENT, NULL, { QUERY "key" } },
	{ "an empty query has none", ABSENT, NULL, { QUERY } },
	{ "two equal ones are one", GOOD, "k1", { QUERY "key=k1&key=%6b1" } },
	{ "two that differ are not", DIFFER, NULL, { QUERY "key=k1&key=k2" } },
	{ "nor is an empty one beside a key", DIFFER, NULL,
	  { QUERY "key=k1&key=" } },
	{ "nor one that some programs see elsewhere", BAD, NULL,
	  { QUERY "a=b;key=k1" } },
	{ "an escaped NUL is no key [idem:D17]", BAD, NULL,
	  { QUERY "key=k%00" } },
	{ "nor a line end [idem:D17]", BAD, NULL, { QUERY "key=k%0d%0a" } },
	{ "nor is a tab [idem:D17]", BAD, NULL, { QUERY "key=k%09" } },
	{ "nor UTF-8 [idem:D17]", BAD, NULL, { QUERY "key=%c3%a4" } },
	{ "255 bytes are one", GOOD, K255, { QUERY "key=" K255 } },
	{ "256 are too long", LONG, NULL, { QUERY "key=" K256 } },
	{ "1280 too", LONG, NULL, { QUERY "key=" K256 K256 K256 K256 K256 } },

	/* cookies */
	{ "a cookie has a key", GOOD, "k1", { COOKIE "key=k1" } },
	{ "between others, with any blanks", GOOD, "k1",
	  { COOKIE "a=b;  key = k1 ;c=d" } },
	{ "as it is", GOOD, "\"k%31=\"", { COOKIE "key=\"k%31=\"" } },
	{ "names have case and ends", ABSENT, NULL,
	  { COOKIE "KEY=k1; akey=1; keys=2; =3; key; ;" } },
	{ "an empty one is none", ABSENT, NULL, { COOKIE "key=; a=b" } },
	{ "two equal ones are one", GOOD, "k1", { COOKIE "key=k1; key=k1" } },
	{ "in two fields too", GOOD, "k1", { COOKIE "key=k1", COOKIE
	  "key=k1" } },
	{ "two that differ are not", DIFFER, NULL,
	  { COOKIE "key=k1; key=k2" } },
	{ "in two fields neither", DIFFER, NULL,
	  { COOKIE "a=b", COOKIE "key=k1", COOKIE "key=k2" } },
	{ "nor if one is empty", DIFFER, NULL, { COOKIE "key=k1; key=" } },
	{ "nor if the first is", DIFFER, NULL, { COOKIE "key=; key=k1" } },
	{ "UTF-8 is none", BAD, NULL, { COOKIE "key=\xc3\xa4" } },
	{ "256 bytes neither", LONG, NULL, { COOKIE "key=" K256 } },

	/* several sources */
	{ "all that are there agree", GOOD, "k1",
	  { KEY "\"k1\"", XKEY "k1", QUERY "key=k1", COOKIE "key=k1" } },
	{ "or it is no key", DIFFER, NULL, { KEY "k1", QUERY "key=k2" } },
	{ "of any two", DIFFER, NULL, { QUERY "key=k1", COOKIE "key=k2" } },
	{ "in length too", DIFFER, NULL, { XKEY "k1", COOKIE "key=k11" } },
	{ "an empty one says nothing", GOOD, "k1",
	  { KEY "k1", QUERY "key=", COOKIE "key=" } },
	{ "but as a field it does", DIFFER, NULL, { KEY, QUERY "key=k1" } },
	{ "malformed comes before too long", BAD, NULL,
	  { KEY K256, QUERY "key=k1", COOKIE "key=\x01" } },
	{ "and too long before different", LONG, NULL,
	  { KEY "k1", QUERY "key=k2", COOKIE "key=" K256 } },
	{ "and malformed before different", BAD, NULL,
	  { KEY "k1, k2", QUERY "key=%01" } },
	{ "the other way round too", BAD, NULL,
	  { KEY "\"", QUERY "key=k1&key=k2" } },
};

static void
copy(struct idem_params *params, const char *const *from, size_t most)
{
	size_t i;

	params->at = calloc(most + 1, sizeof *params->at);
	if (params->at == NULL)
		bail_out("no memory");
	for (i = 0; i < most && from[i] != NULL; i++)
		if ((params->at[i] = strdup(from[i])) == NULL)
			bail_out("no memory");
	params->len = i;
}

static void
drop(struct idem_params *params)
{
	size_t i;

	for (i = 0; i < params->len; i++)
		free(params->at[i]);
	idem_params_free(params);
}

static struct idem_key_found
found_in(const struct idem_route *route, const char *const *from, size_t most)
{
	struct idem_key_found found = { .state = ABSENT };
	struct idem_params params;

	copy(&params, from, most);
	idem_route_key_early(route, &params, &found);
	drop(&params);
	return found;
}

static void
check(const struct idem_key_found *found, enum idem_key_state state,
    const char *key, const char *what)
{
	const struct idem_key none = { .len = 0 };

	if (!is_int(found->state, state, "%s", what))
		note("%s", idem_key_state_text(found->state));
	if (key != NULL)
		is_bytes(found->key.at, found->key.len, key, strlen(key),
		    "and its bytes are these");
	else
		ok(memcmp(&found->key, &none, sizeof none) == 0,
		    "and no key is set");
}

static void
test_rows(void)
{
	struct idem_key_found found;
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		found = found_in(&all, rows[i].params, PARAMS_MAX);
		check(&found, rows[i].state, rows[i].key, rows[i].what);
	}
}

/* Only what a route names is read, of the first row that would differ. */
static void
test_named(void)
{
	const char *const params[] = {
		KEY "k1", XKEY "k1", QUERY "key=k2&k=k3", COOKIE "key=k4"
	};
	struct idem_route route = { .sources_len = 1 };
	struct idem_source source = { .kind = IDEM_SOURCE_QUERY, .name = "k" };
	struct idem_key_found found;

	route.sources = &source;
	found = found_in(&idem_route_default, params, PARAMS_MAX);
	check(&found, GOOD, "k1", "by default only header fields are read");
	found = found_in(&route, params, PARAMS_MAX);
	check(&found, GOOD, "k3", "a route may read another parameter alone");
	source.kind = IDEM_SOURCE_FORM;
	found = found_in(&route, params, PARAMS_MAX);
	check(&found, ABSENT, NULL, "what comes late is not there early");
	route.sources_len = 0;
	found = found_in(&route, params, PARAMS_MAX);
	check(&found, ABSENT, NULL, "without a source there is no key");
}

static void
test_many(void)
{
	const char *fields[FIELDS];
	char longer[10000 + sizeof KEY];
	struct idem_key_found found;
	size_t i;

	for (i = 0; i < FIELDS; i++)
		fields[i] = i % 2 ? KEY "k1" : XKEY "k1";
	found = found_in(&all, fields, FIELDS - 1);
	check(&found, GOOD, "k1", "64 equal fields are a key");
	found = found_in(&all, fields, FIELDS);
	check(&found, BAD, NULL, "65 are none");
	memset(longer, 'k', sizeof longer);
	memcpy(longer, KEY, strlen(KEY));
	longer[sizeof longer - 1] = '\0';
	fields[0] = longer;
	found = found_in(&all, fields, 1);
	check(&found, LONG, NULL, "10 KB are too long [idem:D17]");
	for (i = strlen(KEY); i < strlen(KEY) + 510; i++)
		longer[i] = i % 2 ? '\xa4' : '\xc3';
	longer[i] = '\0';
	found = found_in(&all, fields, 1);
	check(&found, BAD, NULL, "255 characters of two bytes are no key "
	    "[idem:D21]");
}

/* --- what comes late ------------------------------------------------------ */

static void
test_late(void)
{
	struct idem_key_found found = { .state = ABSENT };
	struct idem_bytes nul = { "k\0001", 3 };

	idem_key_found_add(&found, idem_bytes_text(""));
	check(&found, ABSENT, NULL, "an empty value that comes late is none");
	idem_key_found_add(&found, idem_bytes_text(" a \"b\", c;"));
	check(&found, GOOD, " a \"b\", c;", "any other is the key, as it is");
	idem_key_found_add(&found, idem_bytes_text(" a \"b\", c;"));
	check(&found, GOOD, " a \"b\", c;", "twice too");
	idem_key_found_add(&found, idem_bytes_text("a"));
	check(&found, DIFFER, NULL, "another one differs");
	idem_key_found_add(&found, idem_bytes_text("a"));
	check(&found, DIFFER, NULL, "and so it stays");
	idem_key_found_add(&found, idem_bytes_text(K256));
	check(&found, LONG, NULL, "unless one is too long");
	idem_key_found_add(&found, nul);
	check(&found, BAD, NULL, "or has a NUL [cgi:C73 idem:D17]");
	idem_key_found_add(&found, idem_bytes_text("a"));
	check(&found, BAD, NULL, "and then nothing helps");
}

static void
test_form(void)
{
	static const struct {
		enum idem_form_state form;
		enum idem_key_state before, after;
	} states[] = {
		{ IDEM_FORM_NONE, ABSENT, ABSENT },
		{ IDEM_FORM_NONE, GOOD, GOOD },
		{ IDEM_FORM_ONE, ABSENT, GOOD },
		{ IDEM_FORM_ONE, GOOD, GOOD },
		{ IDEM_FORM_ONE, LONG, LONG },
		{ IDEM_FORM_DIFFER, GOOD, DIFFER },
		{ IDEM_FORM_DIFFER, BAD, BAD },
		{ IDEM_FORM_TOO_LONG, GOOD, LONG },
		{ IDEM_FORM_TOO_LONG, DIFFER, LONG },
		{ IDEM_FORM_BROKEN, ABSENT, BAD },
		{ IDEM_FORM_BROKEN, LONG, BAD },
	};
	struct idem_key_found found;
	size_t i;

	for (i = 0; i < sizeof states / sizeof *states; i++) {
		found = (struct idem_key_found){ .state = states[i].before };
		if (found.state == GOOD)
			found.key = (struct idem_key){ .at = "k", .len = 1 };
		idem_key_found_form(&found, states[i].form,
		    idem_bytes_text("k"));
		is_int(found.state, states[i].after, "form row %zu: %s", i,
		    idem_key_state_text(states[i].after));
	}
}

static void
test_content(void)
{
	struct idem_digest one = { .at = { 1 } }, other = { .at = { 2 } };
	struct idem_key a, b;

	ok(idem_route_key_content(&one, &a) && idem_route_key_content(&one, &b),
	    "a fingerprint makes a key");
	ok(memcmp(&a, &b, sizeof a) == 0, "the same for the same");
	is_bytes(a.at, a.len, "04ec5a9e7f5eb7d31973e4a80807f66e"
	    "dc32a63a6bd24f723257f14cc2160a1a", 64, "which never changes");
	idem_route_key_content(&other, &b);
	ok(memcmp(&a, &b, sizeof a) != 0, "another for another");
}

static void
test_cookie(void)
{
	const char *const from[] = {
		"HTTP_COOKIEX=a=0", COOKIE "b=1; A=2; a=3 4; a=5", COOKIE "c=6"
	};
	struct idem_params params;
	struct idem_bytes value;

	copy(&params, from, 3);
	ok(idem_cookie(&params, "a", &value) && idem_bytes_is(value, "3 4"),
	    "of several cookies of a name the first is had");
	ok(idem_cookie(&params, "c", &value) && idem_bytes_is(value, "6"),
	    "also of a second field");
	ok(!idem_cookie(&params, "d", &value), "and one that is not there not");
	drop(&params);
}

int
main(void)
{
	test_rows();
	test_named();
	test_many();
	test_late();
	test_form();
	test_content();
	test_cookie();
	return done();
}
