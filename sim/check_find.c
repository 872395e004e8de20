/* SPDX-License-Identifier: ISC */
#include "check_private.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool
check_is(const char *a, const char *b)
{
	return a != NULL && b != NULL && strcmp(a, b) == 0;
}

void
check_find(struct check_finding *f, enum check_said said, const char *key,
    const char *format, ...)
{
	va_list args;

	f->said = said;
	f->key = key;
	va_start(args, format);
	vsnprintf(f->message, sizeof f->message, format, args);
	va_end(args);
}

void
check_find_event(struct check_finding *f, const struct history_event *e)
{
	size_t i;

	if (e == NULL || f->events_n == CHECK_EVENTS)
		return;
	for (i = 0; i < f->events_n; i++)
		if (f->events[i] == e->i)
			return;
	f->events[f->events_n++] = e->i;
}

void
check_find_keep(struct check_finding *f, const struct check_finding *next)
{
	if (f->said != CHECK_VIOLATED || (f->of_time && !next->of_time))
		*f = *next;
}

bool
check_find_certain(const struct check_finding *f)
{
	return f->said == CHECK_VIOLATED && !f->of_time;
}

void
check_find_end(struct check_finding *f, bool exercised)
{
	f->said = exercised ? CHECK_HOLDS : CHECK_UNEXERCISED;
}
