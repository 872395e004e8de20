/* SPDX-License-Identifier: ISC */
#include "effects.h"

#include "fuzz.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Whatever a journal holds, a history is in order, and its runs are named. */
int
LLVMFuzzerTestOneInput(const uint8_t *at, size_t len)
{
	struct history h = { 0 };
	char path[40], wrong[200] = "";
	int fd = memfd_create("journal", MFD_CLOEXEC), result;
	size_t i;

	fuzz_must(fd != -1 && write(fd, at, len) == (ssize_t)len);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	history_add(&h, HISTORY_RET, 5, "c1")->says_effect =
	    history_text(&h, "e7.1001");
	result = effects_read(&h, path, 1000, wrong, sizeof wrong);
	close(fd);
	fuzz_must((result == -1) == (*wrong != '\0'));
	for (i = 0; i < h.n; i++) {
		fuzz_must(h.events[i].i == i + 1);
		fuzz_must(i == 0 || h.events[i].t_ns >= h.events[i - 1].t_ns);
		fuzz_must(h.events[i].kind != HISTORY_EFFECT ||
		    (h.events[i].id[0] == 'e' && h.events[i].p[0] == 'h' &&
		    strcmp(h.events[i].id + 1, h.events[i].p + 1) == 0));
	}
	history_free(&h);
	return 0;
}
