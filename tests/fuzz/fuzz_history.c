/* SPDX-License-Identifier: ISC */
#include "check.h"

#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WRONG 200

static char *
written(const struct history *h, size_t *len)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, len);

	fuzz_must(out != NULL && history_write(h, out) == 0);
	fclose(out);
	return text;
}

static int
read_from(struct history *h, const void *at, size_t len, char wrong[WRONG])
{
	void *copy = malloc(len);
	FILE *in;
	int got;

	fuzz_must(copy != NULL);
	memcpy(copy, at, len);
	in = fmemopen(copy, len, "r");
	fuzz_must(in != NULL);
	wrong[0] = '\0';
	got = history_read(h, in, "h", wrong, WRONG);
	fclose(in);
	free(copy);
	return got;
}

/* Whatever can be read can be judged, told and written, and read again. */
static void
go_on(struct history *h)
{
	char wrong[WRONG], *once, *twice, *said = NULL;
	size_t once_len, twice_len, said_len = 0;
	struct check_finding f;
	struct history again;
	FILE *out = open_memstream(&said, &said_len);
	size_t i, j;

	for (i = 0; i < PLAN_INVARIANTS; i++) {
		check(h, (enum plan_invariant)i, &f);
		for (j = 0; j < f.events_n; j++)
			fuzz_must(f.events[j] > 0 && f.events[j] <= h->n);
		fuzz_must((f.said != CHECK_VIOLATED && f.said != CHECK_OPEN) ||
		    f.message[0] != '\0');
	}
	fuzz_must(out != NULL);
	history_say(h, out);
	fclose(out);
	once = written(h, &once_len);
	fuzz_must(read_from(&again, once, once_len, wrong) == 0);
	twice = written(&again, &twice_len);
	fuzz_must(once_len == twice_len && memcmp(once, twice, once_len) == 0);
	history_free(&again);
	free(once);
	free(twice);
	free(said);
}

int
LLVMFuzzerTestOneInput(const uint8_t *at, size_t len)
{
	struct history h;
	char wrong[WRONG];

	if (len == 0)
		return 0;
	if (read_from(&h, at, len, wrong) == 0)
		go_on(&h);
	else
		fuzz_must(strncmp(wrong, "h:", 2) == 0);
	history_free(&h);
	return 0;
}
