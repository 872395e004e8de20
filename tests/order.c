/* SPDX-License-Identifier: ISC */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/*
 * A program for end-to-end tests, small and quick.  It appends its client's
 * key to the file "orders" beside it, a line a start; that file is the
 * oracle.  It answers after ?sleep=MS, or with ?hold=1 once the file "hold"
 * beside it is gone, with a text no other run writes, of ?size=BYTES.
 */
static long
asked(const char *name, long otherwise)
{
	const char *query = getenv("QUERY_STRING");
	const char *at = query != NULL ? strstr(query, name) : NULL;

	return at != NULL ? atol(at + strlen(name)) : otherwise;
}

static void
place_order(const char *key)
{
	char line[300];
	int fd = open("orders", O_WRONLY | O_APPEND | O_CREAT, 0644);
	int len = snprintf(line, sizeof line, "%.255s\n", key);

	if (fd == -1 || write(fd, line, (size_t)len) != len)
		exit(1);
	close(fd);
}

static void
wait_held(void)
{
	const struct timespec moment = { 0, 2000000 };

	while (access("hold", F_OK) == 0)
		nanosleep(&moment, NULL);
}

static void
pad(long size)
{
	for (; size > 0; size--)
		putchar('.');
}

int
main(void)
{
	const char *key = getenv("HTTP_IDEMPOTENCY_KEY");
	long ms = asked("sleep=", 0);
	struct timespec now, rest = { ms / 1000, ms % 1000 * 1000000 };

	place_order(key != NULL ? key : "-");
	nanosleep(&rest, NULL);
	if (asked("hold=", 0) != 0)
		wait_held();
	clock_gettime(CLOCK_REALTIME, &now);
	printf("Status: 201 Created\nContent-Type: text/plain\nX-Run: %d\n\n"
	    "order %s by %d at %ld.%09ld\n", (int)getpid(),
	    key != NULL ? key : "-", (int)getpid(), (long)now.tv_sec,
	    now.tv_nsec);
	pad(asked("size=", 0));
	return 0;
}
