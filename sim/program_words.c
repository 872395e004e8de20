/* SPDX-License-Identifier: ISC */
#include "program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void
program_words(struct program_words *w, const char *text)
{
	char *rest = strdup(text != NULL ? text : ""), *word;

	/* No more words than every other byte. */
	w->at = rest == NULL ? NULL :
	    calloc(strlen(rest) / 2 + 1, sizeof *w->at);
	if (w->at == NULL)
		program_stop("IDEMSIM_PROGRAM: %s", strerror(errno));
	while ((word = strsep(&rest, " ")) != NULL)
		if (*word != '\0')
			w->at[w->n++] = word;
}

const char *
program_word(const struct program *p, const char *name)
{
	size_t len = strlen(name), i;

	for (i = 0; i < p->words.n; i++)
		if (strncmp(p->words.at[i], name, len) == 0 &&
		    p->words.at[i][len] == '=')
			return p->words.at[i] + len + 1;
	return "";
}

long
program_number(const struct program *p, const char *name, long otherwise)
{
	const char *text = program_word(p, name);
	char *end;
	long n = strtol(text, &end, 10);

	return end == text ? otherwise : n;
}

bool
program_says(const struct program *p, const char *name, const char *what)
{
	return strcmp(program_word(p, name), what) == 0;
}

bool
program_lists(const char *list, const char *what)
{
	size_t len = strlen(what);

	for (;; list++) {
		if (strncmp(list, what, len) == 0 &&
		    (list[len] == ',' || list[len] == '\0'))
			return true;
		list = strchr(list, ',');
		if (list == NULL)
			return false;
	}
}

/* --- chance --------------------------------------------------------------- */

/* splitmix64; a part of one. */
static double
unit(struct program *p)
{
	uint64_t z = p->chance += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

/* Of mean 1, as draw.c does it. */
static double
exponential(struct program *p)
{
	double first, last, next;
	unsigned whole, falls;

	for (whole = 0;; whole++) {
		first = last = unit(p);
		for (falls = 1; (next = unit(p)) < last; falls++)
			last = next;
		if (falls % 2 == 1)
			return whole + first;
	}
}

static size_t
numbers(const char *dist)
{
	size_t n = 0;

	for (; *dist != '\0'; dist++)
		n += *dist == ':';
	return n;
}

/* Of NAME:A:B:..., from 0; 0 where there is none. */
static double
number_at(const char *dist, size_t n)
{
	const char *at = strchr(dist, ':');

	for (; n > 0 && at != NULL; n--)
		at = strchr(at + 1, ':');
	return at != NULL ? strtod(at + 1, NULL) : 0;
}

double
program_draw(struct program *p, const char *dist)
{
	size_t n = numbers(dist);
	double a = number_at(dist, 0), b = number_at(dist, 1), x;

	if (n == 0)		/* a number alone */
		return strtod(dist, NULL);
	switch (*dist) {
	case 'u':		/* uniform */
		return n < 2 ? a : a + (b - a) * unit(p);
	case 'e':		/* exp */
		x = a * exponential(p);
		if (n > 1 && x < b)
			x = b;
		b = number_at(dist, 2);
		return b > 0 && x > b ? b : x;
	case 'c':		/* choice, const */
		return number_at(dist, (size_t)(unit(p) * (double)n));
	default:
		return a;
	}
}
