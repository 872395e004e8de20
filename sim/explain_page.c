/* SPDX-License-Identifier: ISC */
#include "explain_private.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#define WIDTH 78u

void
explain_say(struct explain_page *p, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(p->text + p->len, sizeof p->text - p->len, format, args);
	va_end(args);
	if (n > 0)
		p->len += (size_t)n;
	if (p->len >= sizeof p->text)
		p->len = sizeof p->text - 1;
}

void
explain_break(struct explain_page *p, unsigned indent, unsigned hang)
{
	const char *at = p->text, *end;
	size_t room, n;

	for (; *at != '\0'; indent += hang, hang = 0) {
		room = WIDTH - indent;
		n = strlen(at);
		if (n > room) {
			for (end = at + room; end > at && *end != ' ';)
				end--;
			n = end > at ? (size_t)(end - at) : strcspn(at, " ");
		}
		fprintf(p->out, "%*s%.*s\n", (int)indent, "", (int)n, at);
		at += n;
		at += strspn(at, " ");
	}
	p->text[0] = '\0';
	p->len = 0;
}

const char *
explain_number(int64_t n)
{
	static char places[4][32];
	static unsigned next;
	char digits[24], *to = places[next++ % 4], *at = to;
	size_t len, i;

	len = (size_t)snprintf(digits, sizeof digits, "%" PRId64, n);
	for (i = 0; i < len; i++) {
		if (i > 0 && (len - i) % 3 == 0 && digits[i - 1] != '-')
			*at++ = ',';
		*at++ = digits[i];
	}
	*at = '\0';
	return to;
}

const char *
explain_few(size_t n)
{
	static const char *const words[] = { "no", "one", "two", "three",
	    "four", "five", "six", "seven", "eight", "nine", "ten" };

	return n < sizeof words / sizeof *words ? words[n] :
	    explain_number((int64_t)n);
}

void
explain_dist(struct explain_page *p, const struct plan_dist *d)
{
	size_t i;

	switch (d->kind) {
	case PLAN_CONST:
		explain_say(p, "%s ms", explain_number((int64_t)d->a));
		break;
	case PLAN_UNIFORM:
		explain_say(p, "%s to %s ms", explain_number((int64_t)d->a),
		    explain_number((int64_t)d->b));
		break;
	case PLAN_EXP:
		explain_say(p, "%s ms on average",
		    explain_number((int64_t)d->a));
		if (d->max > 0)
			explain_say(p, " (%s to %s)",
			    explain_number((int64_t)d->min),
			    explain_number((int64_t)d->max));
		break;
	case PLAN_CHOICE:
		for (i = 0; i < d->n; i++)
			explain_say(p, "%s%s", i == 0 ? "" : i + 1 < d->n ?
			    ", " : " or ", explain_number((int64_t)d->of[i]));
		explain_say(p, " ms");
		break;
	}
}
