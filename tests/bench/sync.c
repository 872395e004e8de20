/* SPDX-License-Identifier: ISC */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* What a durable write costs in a folder: the median of 200 appended pages. */
#define PAGE 4096
#define TIMES 200

static int64_t
now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static int
compare(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

int
main(int argc, char **argv)
{
	static const char page[PAGE];
	static int64_t took_us[TIMES];
	int64_t began_us;
	char name[4096];
	int fd, i;

	if (argc != 2 || snprintf(name, sizeof name, "%s/sync-XXXXXX",
	    argv[1]) >= (int)sizeof name)
		return 2;
	fd = mkstemp(name);
	if (fd == -1)
		return 111;
	unlink(name);
	for (i = 0; i < TIMES; i++) {
		began_us = now_us();
		if (write(fd, page, PAGE) != PAGE || fdatasync(fd) == -1)
			return 111;
		took_us[i] = now_us() - began_us;
	}
	qsort(took_us, TIMES, sizeof *took_us, compare);
	printf("%lld\n", (long long)took_us[TIMES / 2]);
	return 0;
}
