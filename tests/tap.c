/* SPDX-License-Identifier: ISC */
#include "tap.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
	int planned, run, failed;
} tap;

static void __attribute__((format(printf, 2, 0)))
result(bool passed, const char *what, va_list args)
{
	if (tap.run == 0)
		setvbuf(stdout, NULL, _IOLBF, 0);
	tap.run++;
	if (!passed)
		tap.failed++;
	printf("%sok %d - ", passed ? "" : "not ", tap.run);
	vprintf(what, args);
	putchar('\n');
}

void
plan(int tests)
{
	tap.planned = tests;
	printf("1..%d\n", tests);
	fflush(stdout);
}

bool
ok(bool passed, const char *what, ...)
{
	va_list args;

	va_start(args, what);
	result(passed, what, args);
	va_end(args);
	return passed;
}

bool
is(const char *got, const char *want, const char *what, ...)
{
	bool same = got != NULL && want != NULL && strcmp(got, want) == 0;
	va_list args;

	va_start(args, what);
	result(same || got == want, what, args);
	va_end(args);
	if (!same && got != want)
		printf("#      got: %s\n# expected: %s\n",
		    got != NULL ? got : "(null)",
		    want != NULL ? want : "(null)");
	return same || got == want;
}

bool
is_int(long long got, long long want, const char *what, ...)
{
	va_list args;

	va_start(args, what);
	result(got == want, what, args);
	va_end(args);
	if (got != want)
		printf("#      got: %lld\n# expected: %lld\n", got, want);
	return got == want;
}

static size_t
common(const unsigned char *a, const unsigned char *b, size_t len)
{
	size_t i;

	for (i = 0; i < len && a[i] == b[i]; i++)
		;
	return i;
}

bool
is_bytes(const void *got, unsigned long got_len, const void *want,
    unsigned long want_len, const char *what, ...)
{
	size_t less = got_len < want_len ? got_len : want_len;
	size_t same = less == 0 ? 0 : common(got, want, less);
	bool passed = got_len == want_len && same == got_len;
	va_list args;

	va_start(args, what);
	result(passed, what, args);
	va_end(args);
	if (!passed)
		printf("# %lu bytes, expected %lu, alike up to byte %zu\n",
		    got_len, want_len, same);
	return passed;
}

void
skip(const char *why, const char *what, ...)
{
	va_list args;

	tap.run++;
	printf("ok %d - ", tap.run);
	va_start(args, what);
	vprintf(what, args);
	va_end(args);
	printf(" # SKIP %s\n", why);
	fflush(stdout);
}

void
note(const char *text, ...)
{
	va_list args;

	fputs("# ", stdout);
	va_start(args, text);
	vprintf(text, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
}

void
skip_all(const char *why)
{
	printf("1..0 # SKIP %s\n", why);
	exit(0);
}

void
bail_out(const char *why, ...)
{
	va_list args;

	fputs("Bail out! ", stdout);
	va_start(args, why);
	vprintf(why, args);
	va_end(args);
	putchar('\n');
	exit(255);
}

int
done(void)
{
	if (tap.planned == 0)
		printf("1..%d\n", tap.run);
	return tap.failed != 0 || (tap.planned != 0 && tap.planned != tap.run);
}
