/* SPDX-License-Identifier: ISC */
#include "program_path.h"

#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

/* What a path says again, as Apache would encode all of it. */
static char *
encoded(const char *path)
{
	static const char start[] = "proxy:unix:/s|fcgi://h/";
	size_t len = sizeof start - 1;
	char *text = malloc(len + 3 * strlen(path) + 1);

	fuzz_must(text != NULL);
	memcpy(text, start, len);
	for (path++; *path != '\0'; path++, len += 3) {
		text[len] = '%';
		idem_hex(path, 1, text + len + 1);
	}
	text[len] = '\0';
	return text;
}

static void
check_path(const char *text, const char *path)
{
	size_t len = strlen(path) + 1;
	char *again = encoded(path), *copy = malloc(len);

	fuzz_must(copy != NULL && *path == '/' && len <= strlen(text) + 1);
	fuzz_must(program_path_read(again, copy, len));
	fuzz_must(strcmp(copy, path) == 0);
	fuzz_must(!program_path_read(again, copy, len - 1));
	memcpy(copy, path, len);
	program_path_tidy(copy);
	fuzz_must(*copy == '/' && strstr(copy, "//") == NULL);
	free(again);
	free(copy);
}

int
LLVMFuzzerTestOneInput(const uint8_t *at, size_t len)
{
	char *text = malloc(len + 1), *path;
	size_t text_len;

	fuzz_must(text != NULL);
	if (len > 0)
		memcpy(text, at, len);
	text[len] = '\0';
	/* In a block of its own size, so that a read past its end shows. */
	text_len = strlen(text);
	path = realloc(text, text_len + 1);
	fuzz_must(path != NULL);
	text = path;
	path = malloc(text_len + 1);
	fuzz_must(path != NULL);
	if (program_path_read(text, path, text_len + 1))
		check_path(text, path);
	if (program_path_decode(text, path, text_len + 1))
		fuzz_must(strlen(path) <= text_len);
	free(path);
	free(text);
	return 0;
}
