/* SPDX-License-Identifier: ISC */
#include "judge.h"
#include "report.h"

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

static bool
has_end(const struct history *h)
{
	size_t i;

	for (i = 0; i < h->n; i++)
		if (h->events[i].kind == HISTORY_END)
			return true;
	return false;
}

/* What it finds is there, and of a history without an end it finds no more. */
static enum check_said
found(const struct history *h, enum plan_invariant invariant)
{
	struct check_finding f;
	size_t j;

	check(h, invariant, &f);
	fuzz_must(f.invariant == invariant);
	for (j = 0; j < f.events_n; j++)
		fuzz_must(f.events[j] > 0 && f.events[j] <= h->n);
	fuzz_must((f.said != CHECK_VIOLATED && f.said != CHECK_OPEN) ||
	    f.message[0] != '\0');
	fuzz_must(has_end(h) || f.said == CHECK_VIOLATED ||
	    f.said == CHECK_OPEN);
	return f.said;
}

/* It passes only if all that was to hold does; what is violated may still be
   said of a run in which somebody died, and then nothing is. */
static void
judged(const struct history *h)
{
	const struct history_head *head = &h->head;
	bool all = true, broken = false;
	enum check_said said;
	struct judge_run run;
	size_t i;

	for (i = 0; i < PLAN_INVARIANTS; i++) {
		said = found(h, (enum plan_invariant)i);
		if (!head->holds[i] || head->violates[i] ||
		    head->relaxed[i] != NULL)
			continue;
		all = all && said == CHECK_HOLDS;
		broken = broken || said == CHECK_VIOLATED;
	}
	judge_run(h, NULL, 0, &run);
	fuzz_must(run.verdict != JUDGE_PASS || (all && has_end(h)));
	fuzz_must(!broken || run.verdict == JUDGE_FAIL ||
	    run.verdict == JUDGE_INCONCLUSIVE);
	fuzz_must(run.verdict == JUDGE_PASS || run.message[0] != '\0');
}

static size_t
odd_line(const struct history *h)
{
	char why[WRONG] = "";
	size_t line = history_odd(h, why, sizeof why);

	fuzz_must(line <= h->n + 1 && (line > 0) == (why[0] != '\0'));
	return line;
}

/* For people. */
static void
said(const struct history *h)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	fuzz_must(out != NULL);
	history_say(h, out);
	if (h->n > 0)
		fuzz_must(report_html(out, h, NULL, NULL) == 0);
	fclose(out);
	free(text);
}

/* Whatever can be read can be judged, told and written, and read again. */
static void
go_on(struct history *h)
{
	char wrong[WRONG], *once, *twice;
	size_t once_len, twice_len;
	struct history again;

	judged(h);
	said(h);
	once = written(h, &once_len);
	fuzz_must(read_from(&again, once, once_len, wrong) == 0);
	twice = written(&again, &twice_len);
	fuzz_must(once_len == twice_len && memcmp(once, twice, once_len) == 0);
	fuzz_must(odd_line(&again) == odd_line(h));
	history_free(&again);
	free(once);
	free(twice);
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
