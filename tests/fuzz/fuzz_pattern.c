/* SPDX-License-Identifier: ISC */

/*
 * The lines are two patterns, a REQUEST_URI, a SCRIPT_NAME and a PATH_INFO;
 * what is missing is not there.
 */
#include "params.h"
#include "pattern.h"

#include "fuzz.h"
#include "pattern_slow.h"

#include <stdlib.h>
#include <string.h>

#define SMALL 12		/* bytes for which all can be tried */
#define LINES 5

static bool
matches(const char *pattern, const char *path)
{
	bool it_does = idem_pattern_matches(pattern, idem_bytes_text(path));

	if (strlen(pattern) <= SMALL && strlen(path) <= SMALL)
		fuzz_must(it_does == pattern_slow(pattern, path));
	return it_does;
}

static void
check_patterns(const char *a, const char *b, const char *path)
{
	bool overlap;

	if (idem_pattern_wrong(a) != NULL || idem_pattern_wrong(b) != NULL)
		return;
	overlap = idem_pattern_overlap(a, b);
	fuzz_must(overlap == idem_pattern_overlap(b, a));
	fuzz_must(idem_pattern_overlap(a, a));
	if (matches(a, path) && matches(b, path))
		fuzz_must(overlap);
	if (strchr(a, '*') == NULL)
		fuzz_must(overlap == matches(b, a));
}

/* Nothing is left in it that could be resolved. */
static void
check_resolved(const struct idem_buf *path)
{
	const uint8_t *at = path->at;
	size_t i, start = 0, len;

	if (path->len == 1 && *at == '*')
		return;
	fuzz_must(path->len > 0 && *at == '/');
	for (i = 0; i < path->len; i++) {
		fuzz_must(at[i] != '\0');
		if (at[i] != '/')
			continue;
		len = i - start;
		fuzz_must(i == 0 || len > 0);
		fuzz_must(len != 1 || at[start] != '.');
		fuzz_must(len != 2 || memcmp(at + start, "..", 2) != 0);
		start = i + 1;
	}
	len = path->len - start;
	fuzz_must(len != 1 || at[start] != '.');
	fuzz_must(len != 2 || memcmp(at + start, "..", 2) != 0);
}

static char *
text_of(const char *name, const void *at, size_t len)
{
	size_t name_len = strlen(name);
	char *text = malloc(name_len + len + 1);

	fuzz_must(text != NULL);
	memcpy(text, name, name_len);
	memcpy(text + name_len, at, len);
	text[name_len + len] = '\0';
	return text;
}

/* What is resolved stays as it is. */
static void
check_again(const struct idem_buf *path)
{
	struct idem_params params = { .len = 1 };
	struct idem_buf again = { 0 };
	char *at[2] = { text_of("SCRIPT_NAME=", path->at, path->len), NULL };

	params.at = at;
	fuzz_must(idem_request_path(&params, &again));
	if (path->at[0] != '*')
		fuzz_must(idem_bytes_equal(idem_buf_bytes(path),
		    idem_buf_bytes(&again)));
	idem_buf_free(&again);
	free(at[0]);
}

static void
check_request(char *const *lines)
{
	static const char *const names[] = {
		"REQUEST_URI=", "SCRIPT_NAME=", "PATH_INFO="
	};
	char *at[4] = { NULL };
	struct idem_params params = { .at = at };
	struct idem_buf path = { 0 };
	size_t i;

	for (i = 0; i < 3; i++)
		if (lines[i] != NULL)
			at[params.len++] = text_of(names[i], lines[i],
			    strlen(lines[i]));
	if (idem_request_path(&params, &path)) {
		fuzz_must(idem_buf_ok(&path));
		check_resolved(&path);
		check_again(&path);
	}
	idem_buf_free(&path);
	for (i = 0; i < params.len; i++)
		free(at[i]);
}

int
LLVMFuzzerTestOneInput(const uint8_t *at, size_t len)
{
	char *text = text_of("", at != NULL ? (const void *)at : "", len);
	char *lines[LINES] = { NULL }, *next = text;
	size_t i;

	for (i = 0; i < LINES && next != NULL; i++) {
		lines[i] = next;
		next = strchr(next, '\n');
		if (next != NULL)
			*next++ = '\0';
	}
	if (lines[2] != NULL)
		check_patterns(lines[0], lines[1], lines[2]);
	check_request(lines + 2);
	free(text);
	return 0;
}
