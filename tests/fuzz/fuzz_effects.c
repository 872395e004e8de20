/* SPDX-License-Identifier: ISC */
#include "effects.h"

#include "fuzz.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Whatever a journal holds, a history is in order, its runs are named, and what
   is written of it can be read, as one that a run can have had. */
static void
read_again(struct history *h)
{
	char path[40], wrong[400] = "";
	int fd = memfd_create("history", MFD_CLOEXEC);
	struct history again;
	FILE *file;

	h->head.mode = "live";
	h->head.arbiter = "redis";
	h->head.on_unknown = "block";
	h->head.on_outage = "reject";
	history_stamp_all(h);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	file = fopen(path, "w+e");
	fuzz_must(fd != -1 && file != NULL && history_write(h, file) == 0);
	rewind(file);
	fuzz_must(history_read(&again, file, "-", wrong, sizeof wrong) == 0 &&
	    again.n == h->n && history_odd(&again, wrong, sizeof wrong) == 0);
	history_free(&again);
	fclose(file);
	close(fd);
}

int
LLVMFuzzerTestOneInput(const uint8_t *at, size_t len)
{
	const struct effects_span span = { 1000, INT64_C(1) << 40, 1000 };
	struct history h = { 0 };
	char path[40], wrong[200] = "";
	int fd = memfd_create("journal", MFD_CLOEXEC), result;
	struct history_event *ret;
	size_t i;

	fuzz_must(fd != -1 && write(fd, at, len) == (ssize_t)len);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	history_add(&h, HISTORY_INV, 4, "c1")->a = 1;
	ret = history_add(&h, HISTORY_RET, 5, "c1");
	ret->a = 1;
	ret->says_effect = history_text(&h, "e7.1001");
	result = effects_read(&h, path, &span, wrong, sizeof wrong);
	close(fd);
	fuzz_must((result == -1) == (*wrong != '\0'));
	for (i = 0; i < h.n; i++) {
		fuzz_must(h.events[i].i == i + 1);
		fuzz_must(i == 0 || h.events[i].t_ns >= h.events[i - 1].t_ns);
		fuzz_must(h.events[i].kind != HISTORY_EFFECT ||
		    (h.events[i].id[0] == 'e' && h.events[i].p[0] == 'h' &&
		    strcmp(h.events[i].id + 1, h.events[i].p + 1) == 0));
	}
	read_again(&h);
	history_free(&h);
	return 0;
}
