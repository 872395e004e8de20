/* SPDX-License-Identifier: ISC */
#include "params.h"
#include "pattern.h"

#include "pattern_slow.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

#define LONGEST 1024
#define PATTERNS_MAX 200
#define TOKENS_MAX 3
#define PATH_MAX_LEN 7		/* long enough for two of TOKENS_MAX to meet */
#define PATHS_MAX 3300
#define WORDS ((PATHS_MAX + 63) / 64)

/* --- patterns ------------------------------------------------------------- */

static const struct {
	const char *pattern, *path;
	bool matches;
} matches[] = {
	{ "/a", "/a", true },
	{ "/a", "/A", false },
	{ "/a", "/a/", false },
	{ "/a", "/ab", false },
	{ "/ab", "/a", false },
	{ "/cgi-bin/order.cgi", "/cgi-bin/order.cgi", true },
	{ "/cgi-bin/order.cgi", "/cgi-bin/orderxcgi", false },
	{ "/a?[b]\\c", "/a?[b]\\c", true },
	{ "/*", "/", true },
	{ "/*", "/a", true },
	{ "/*", "/a/", false },
	{ "/*", "/a/b", false },
	{ "/*.cgi", "/order.cgi", true },
	{ "/*.cgi", "/.cgi", true },
	{ "/*.cgi", "/a/order.cgi", false },
	{ "/*.cgi", "/order.cgi.cgi", true },
	{ "/*/*", "/a/b", true },
	{ "/*/*", "/a", false },
	{ "/a*b*c", "/abc", true },
	{ "/a*b*c", "/axbxbxc", true },
	{ "/a*b*c", "/axc", false },
	{ "/a*b*c", "/ab/c", false },
	{ "/a**c", "/ab/c", true },
	{ "/a**c", "/ac", true },
	{ "/**", "/", true },
	{ "/**", "/a/b", true },
	{ "/**/x", "/a/b/x", true },
	{ "/**/x", "//x", true },
	{ "/**/x", "/x", false },
	{ "/**.cgi", "/a/b.cgi", true },
	{ "/*/**/z", "/a/b/c/z", true },
	{ "/api/**", "/api", true },
	{ "/api/**", "/api/", true },
	{ "/api/**", "/api/a/b", true },
	{ "/api/**", "/apis", false },
	{ "/api/**", "/ap", false },
	{ "/*/**", "/a", true },
	{ "/*/**", "/a/b", true },
	{ "/api**", "/apis/a", true },
	{ "/api/*", "/api", false },
	{ "/a", "*", false },
	{ "/**", "*", false },
	{ "/\xc3\xa4*", "/\xc3\xa4\xc3\xb6", true },
};

static void
test_matches(void)
{
	size_t i;

	for (i = 0; i < sizeof matches / sizeof *matches; i++)
		ok(idem_pattern_matches(matches[i].pattern,
		    idem_bytes_text(matches[i].path)) == matches[i].matches,
		    "%s %s %s", matches[i].pattern,
		    matches[i].matches ? "stands for" : "does not stand for",
		    matches[i].path);
}

static const struct {
	const char *a, *b;
	bool overlap;
} pairs[] = {
	{ "/a", "/a", true },
	{ "/a", "/b", false },
	{ "/a", "/ab", false },
	{ "/*", "/a", true },
	{ "/*", "/a/b", false },
	{ "/a*", "/*b", true },
	{ "/a*", "/b*", false },
	{ "/a*c", "/ab*", true },
	{ "/*/x", "/y/*", true },
	{ "/*/x", "/y/z", false },
	{ "/**", "/a/b/c", true },
	{ "/**/x", "/y/**", true },
	{ "/api/**", "/api", true },
	{ "/api/**", "/api/*", true },
	{ "/api/**", "/apis", false },
	{ "/api/**", "/ap*", true },
	{ "/*/**", "/a", true },
	{ "/*.cgi", "/*.pl", false },
	{ "/*.cgi/**", "/**/*.pl", true },
};

static void
test_overlap(void)
{
	size_t i;

	for (i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		ok(idem_pattern_overlap(pairs[i].a, pairs[i].b) ==
		    pairs[i].overlap, "%s and %s %s", pairs[i].a, pairs[i].b,
		    pairs[i].overlap ? "overlap" : "share no path");
		ok(idem_pattern_overlap(pairs[i].b, pairs[i].a) ==
		    pairs[i].overlap, "also the other way round");
	}
}

static void
test_wrong(void)
{
	static const char *const good[] = {
		"/", "/a", "/**", "/a/*/b**", "/* *", "/**/**"
	};
	static const char *const bad[] = {
		"", "a", "*", "**/a", "/***", "/a/****"
	};
	char text[LONGEST + 2];
	size_t i, n = 0;

	for (i = 0; i < sizeof good / sizeof *good; i++)
		n += idem_pattern_wrong(good[i]) == NULL;
	is_int((long long)n, sizeof good / sizeof *good,
	    "patterns that are not wrong are let pass");
	for (i = n = 0; i < sizeof bad / sizeof *bad; i++)
		n += idem_pattern_wrong(bad[i]) != NULL;
	is_int((long long)n, sizeof bad / sizeof *bad,
	    "those that do not begin with / or have *** are not");
	memset(text, 'a', sizeof text);
	text[0] = '/';
	text[LONGEST] = '\0';
	ok(idem_pattern_wrong(text) == NULL, "1024 bytes are a pattern");
	text[LONGEST] = 'a';
	text[LONGEST + 1] = '\0';
	ok(idem_pattern_wrong(text) != NULL, "1025 are not");
}

/* --- all small ones, against the words of the header ---------------------- */

struct small {
	char patterns[PATTERNS_MAX][2 * TOKENS_MAX + 2];
	size_t patterns_len;
	char paths[PATHS_MAX][PATH_MAX_LEN + 2];
	size_t paths_len;
	uint64_t of[PATTERNS_MAX][WORDS];	/* bits: the paths of each */
};

static void
make_patterns(struct small *s, const char *so_far, int tokens)
{
	static const char *const next[] = { "/", "a", "b", "*", "**" };
	char longer[2 * TOKENS_MAX + 4];
	size_t i, len = strlen(so_far);

	if (idem_pattern_wrong(so_far) != NULL)
		return;
	memcpy(s->patterns[s->patterns_len++], so_far, len + 1);
	for (i = 0; i < 5 && tokens < TOKENS_MAX; i++) {
		memcpy(longer, so_far, len);
		memcpy(longer + len, next[i], strlen(next[i]) + 1);
		make_patterns(s, longer, tokens + 1);
	}
}

static void
make_paths(struct small *s, const char *so_far)
{
	char longer[PATH_MAX_LEN + 2];
	size_t i, len = strlen(so_far);

	memcpy(s->paths[s->paths_len++], so_far, len + 1);
	for (i = 0; i < 3 && len < PATH_MAX_LEN; i++) {
		memcpy(longer, so_far, len);
		longer[len] = "/ab"[i];
		longer[len + 1] = '\0';
		make_paths(s, longer);
	}
}

static size_t
wrong_matches(struct small *s)
{
	size_t i, j, wrong = 0;
	bool matches_it;

	for (i = 0; i < s->patterns_len; i++)
		for (j = 0; j < s->paths_len; j++) {
			matches_it = pattern_slow(s->patterns[i], s->paths[j]);
			if (matches_it)
				s->of[i][j / 64] |= UINT64_C(1) << j % 64;
			wrong += idem_pattern_matches(s->patterns[i],
			    idem_bytes_text(s->paths[j])) != matches_it;
		}
	return wrong;
}

static size_t
wrong_overlaps(const struct small *s)
{
	size_t i, j, k, wrong = 0;
	bool shared;

	for (i = 0; i < s->patterns_len; i++)
		for (j = 0; j < s->patterns_len; j++) {
			shared = false;
			for (k = 0; k < WORDS; k++)
				shared |= (s->of[i][k] & s->of[j][k]) != 0;
			wrong += idem_pattern_overlap(s->patterns[i],
			    s->patterns[j]) != shared;
		}
	return wrong;
}

static void
test_small(void)
{
	struct small *s = calloc(1, sizeof *s);

	if (s == NULL)
		bail_out("no memory");
	make_patterns(s, "/", 0);
	make_paths(s, "");
	note("%zu patterns, %zu paths", s->patterns_len, s->paths_len);
	ok(s->patterns_len > 100, "there are over a hundred small patterns");
	is_int((long long)wrong_matches(s), 0,
	    "each stands for just the small paths that the words say");
	is_int((long long)wrong_overlaps(s), 0,
	    "and overlaps with just those that share one");
	free(s);
}

/* Where stars are tried one after the other, this never ends. */
static void
test_stars(void)
{
	char stars[LONGEST + 1], other[LONGEST + 1], path[8192];
	size_t i;

	for (i = 0; i < LONGEST; i++)
		stars[i] = i == 0 ? '/' : "a*"[i % 2];
	stars[LONGEST - 1] = 'b';
	stars[LONGEST] = '\0';
	memset(path, 'a', sizeof path);
	path[0] = '/';
	ok(!idem_pattern_matches(stars,
	    (struct idem_bytes){ path, sizeof path }),
	    "five hundred stars and a path of 8 KB take no long time");
	path[sizeof path - 1] = 'b';
	ok(idem_pattern_matches(stars,
	    (struct idem_bytes){ path, sizeof path }), "also where it matches");
	memcpy(other, stars, sizeof other);
	other[LONGEST - 1] = 'c';
	ok(!idem_pattern_overlap(stars, other),
	    "nor do two such patterns that share no path");
	ok(idem_pattern_overlap(stars, stars), "nor two that do");
}

/* --- the path of a request ------------------------------------------------ */

#define NONE NULL

static const struct {
	const char *uri, *script, *info;
	const char *path;		/* NULL: it is broken */
	const char *what;
} requests[] = {
	{ "/a", NONE, NONE, "/a", "a path is itself" },
	{ "/a/b.cgi/c", NONE, NONE, "/a/b.cgi/c", "with its PATH_INFO" },
	{ "/a/", NONE, NONE, "/a/", "a last slash stays" },
	{ "/a?b=/c", NONE, NONE, "/a", "the query is taken off" },
	{ "/a?", NONE, NONE, "/a", "an empty one too" },
	{ "/a?b?c#d", NONE, NONE, "/a", "from the first ? on" },
	{ "/a#b?c", NONE, NONE, "/a", "and what is behind a #" },
	{ "?a", NONE, NONE, NULL, "a query alone is broken" },
	{ "http://host/a?b", NONE, NONE, "/a", "scheme and host go" },
	{ "HTTPS://u@[::1]:8/a", NONE, NONE, "/a", "whatever they are" },
	{ "a+b-c.1://h/x", NONE, NONE, "/x", "as RFC 3986 has them" },
	{ "http://host", NONE, NONE, "/", "without a path it is /" },
	{ "http://host?a=/b", NONE, NONE, "/", "also before a query" },
	{ "http:///a", NONE, NONE, "/a", "also without a host" },
	{ "*", NONE, NONE, "*", "OPTIONS of * is of *" },
	{ "*a", NONE, NONE, NULL, "but nothing else is" },
	{ "a", NONE, NONE, NULL, "a path without a slash is broken" },
	{ "host:443", NONE, NONE, NULL, "so is a host alone" },
	{ "http:a/b", NONE, NONE, NULL, "and a scheme without a host" },
	{ "1http://h/a", NONE, NONE, NULL, "and no scheme at all" },
	{ "%2Fa", NONE, NONE, NULL, "and an escaped first slash" },
	{ "//a", NONE, NONE, "/a", "two slashes are a path, no host" },

	{ "/%61%2e%63g%69", NONE, NONE, "/a.cgi", "escapes are decoded" },
	{ "/%c3%A4", NONE, NONE, "/\xc3\xa4", "to any byte [cgi:C48]" },
	{ "/a%2Fb%2f", NONE, NONE, "/a/b/", "to slashes as well [cgi:C48]" },
	{ "/a%0Ab", NONE, NONE, "/a\nb", "and line feeds [cgi:C48]" },
	{ "/a%3Fb%23c", NONE, NONE, "/a?b#c", "after the query was taken off" },
	{ "/a%252e", NONE, NONE, "/a%2e", "once" },
	{ "/a%zz%4%", NONE, NONE, "/a%zz%4%", "what is no escape stays" },
	{ "/%%61", NONE, NONE, "/%a", "beside one that is" },
	{ "/a%00", NONE, NONE, NULL, "an escaped NUL is broken [cgi:C48]" },
	{ "/%00/a", NONE, NONE, NULL, "wherever it is [cgi:C48]" },
	{ "/a?%00", NONE, NONE, "/a", "but in the query" },
	{ "/a+b", NONE, NONE, "/a+b", "a plus is a plus" },

	{ "/a//b///", NONE, NONE, "/a/b/", "empty segments go" },
	{ "/./a/./b/.", NONE, NONE, "/a/b/", "a dot is where it is" },
	{ "/a/../b", NONE, NONE, "/b", "two dots are one up" },
	{ "/a/b/..", NONE, NONE, "/a/", "also at the end" },
	{ "/a/..", NONE, NONE, "/", "up to the top" },
	{ "/../../a", NONE, NONE, "/a", "and not over it" },
	{ "/..", NONE, NONE, "/", "not even at once" },
	{ "/a//../b", NONE, NONE, "/b", "after empty ones are gone" },
	{ "/a/.../b..", NONE, NONE, "/a/.../b..", "other dots are names" },
	{ "/a/%2e%2e/b", NONE, NONE, "/b", "escaped dots are dots" },
	{ "/x/..%2Fa", NONE, NONE, "/a", "beside escaped slashes too" },
	{ "/", NONE, NONE, "/", "the top is the top" },
	{ "///", NONE, NONE, "/", "in many slashes as well" },

	{ "/a", "/b", "/c", "/a", "REQUEST_URI comes first" },
	{ NONE, "/b", "/c", "/b/c", "then SCRIPT_NAME with PATH_INFO" },
	{ "", "/b", "/c", "/b/c", "also if it is empty" },
	{ NONE, "/b", NONE, "/b", "SCRIPT_NAME alone" },
	{ NONE, NONE, "/c", "/c", "or PATH_INFO" },
	{ NONE, "", "", "/", "or nothing" },
	{ NONE, NONE, NONE, "/", "at all" },
	{ NONE, "/b", "/%2e%2e/%00", "/b/%2e%2e/%00",
	  "which were decoded before [cgi:C48]" },
	{ NONE, "/b/../c", "//d/", "/c/d/", "and are resolved" },
	{ NONE, "b.cgi", NONE, "/b.cgi", "and begin with a slash" },
	{ NONE, "/b?c", "#d", "/b?c#d", "and have no query" },
};

static void
test_requests(void)
{
	static const char *const names[] = {
		"REQUEST_URI=", "SCRIPT_NAME=", "PATH_INFO="
	};
	const char *values[3];
	char texts[3][100], *at[4];
	struct idem_params params;
	struct idem_buf path = { 0 };
	size_t i, j;
	bool good;

	for (i = 0; i < sizeof requests / sizeof *requests; i++) {
		values[0] = requests[i].uri;
		values[1] = requests[i].script;
		values[2] = requests[i].info;
		params = (struct idem_params){ .at = at };
		for (j = 0; j < 3; j++) {
			if (values[j] == NULL)
				continue;
			memcpy(texts[j], names[j], strlen(names[j]));
			memcpy(texts[j] + strlen(names[j]), values[j],
			    strlen(values[j]) + 1);
			at[params.len++] = texts[j];
		}
		at[params.len] = NULL;
		idem_buf_clear(&path);
		good = idem_request_path(&params, &path);
		idem_buf_u8(&path, '\0');
		is(good ? (char *)path.at : NULL, requests[i].path, "%s",
		    requests[i].what);
	}
	idem_buf_free(&path);
}

static void
test_no_room(void)
{
	char uri[] = "REQUEST_URI=/a/b", *at[] = { uri, NULL };
	struct idem_params params = { .at = at, .len = 1 };
	struct idem_buf path = { .max = 3 };

	idem_request_path(&params, &path);
	ok(!idem_buf_ok(&path), "a buf without room says so");
	idem_buf_free(&path);
}

int
main(void)
{
	test_matches();
	test_overlap();
	test_wrong();
	test_small();
	test_stars();
	test_requests();
	test_no_room();
	return done();
}
