/* SPDX-License-Identifier: ISC */
#include "problem.h"

#include <string.h>

#define WEIGHT_ONE 1000

/* The range that speaks most precisely of one type; zeroes: none does. */
struct choice {
	int precision;		/* 1: any type, 2: any of its kind, 3: itself */
	int weight;		/* thousandths */
};

struct range {
	struct idem_bytes type, subtype;
	int weight;
};

static void
skip(struct idem_bytes *in, size_t len)
{
	in->at = (const char *)in->at + len;
	in->len -= len;
}

static bool
eat(struct idem_bytes *in, char c)
{
	if (in->len == 0 || *(const char *)in->at != c)
		return false;
	skip(in, 1);
	return true;
}

static void
skip_blanks(struct idem_bytes *in)
{
	while (eat(in, ' ') || eat(in, '\t'))
		continue;
}

/* Up to the next delimiter.  Not only tokens: other words match nothing. */
static struct idem_bytes
take_word(struct idem_bytes *in)
{
	static const char delimiters[] = " \t,;/=\"";
	struct idem_bytes word = { in->at, 0 };
	const char *at = in->at;

	while (word.len < in->len && memchr(delimiters, at[word.len],
	    sizeof delimiters - 1) == NULL)
		word.len++;
	skip(in, word.len);
	return word;
}

/* The opening quote is gone; false if the closing one is missing. */
static bool
skip_quoted(struct idem_bytes *in)
{
	while (in->len > 0) {
		if (eat(in, '"'))
			return true;
		if (eat(in, '\\') && in->len == 0)
			return false;
		skip(in, 1);
	}
	return false;
}

/* RFC 9110, 12.4.2: "0", "0.5", "1.000" */
static bool
read_weight(struct idem_bytes text, int *weight)
{
	const char *at = text.at;
	int unit = WEIGHT_ONE, sum = 0;
	size_t i;

	if (text.len < 1 || text.len > 5 || (text.len > 1 && at[1] != '.'))
		return false;
	for (i = 0; i < text.len; i++) {
		if (i == 1)
			continue;
		if (at[i] < '0' || at[i] > '9')
			return false;
		sum += (at[i] - '0') * unit;
		unit /= 10;
	}
	*weight = sum;
	return sum <= WEIGHT_ONE;
}

static bool
read_parameter(struct idem_bytes *in, struct range *range)
{
	struct idem_bytes name = take_word(in), value;

	if (!eat(in, '='))
		return true;
	if (eat(in, '"'))
		return skip_quoted(in);
	value = take_word(in);
	return !idem_bytes_is_nocase(name, "q") ||
	    read_weight(value, &range->weight);
}

/* One range, with the comma after it. */
static bool
read_range(struct idem_bytes *in, struct range *range)
{
	range->weight = WEIGHT_ONE;
	range->type = take_word(in);
	if (!eat(in, '/'))
		return false;
	range->subtype = take_word(in);
	skip_blanks(in);
	while (eat(in, ';')) {
		skip_blanks(in);
		if (!read_parameter(in, range))
			return false;
		skip_blanks(in);
	}
	return in->len == 0 || eat(in, ',');
}

static int
precision_for(const struct range *range, const char *type,
    const char *subtype)
{
	bool any = idem_bytes_is(range->subtype, "*");

	if (any && idem_bytes_is(range->type, "*"))
		return 1;
	if (!idem_bytes_is_nocase(range->type, type))
		return 0;
	if (any)
		return 2;
	return idem_bytes_is_nocase(range->subtype, subtype) ? 3 : 0;
}

static void
weigh(struct choice *best, int precision, int weight)
{
	if (precision > best->precision)
		*best = (struct choice){ precision, weight };
	else if (precision == best->precision && precision > 0 &&
	    weight > best->weight)
		best->weight = weight;
}

bool
idem_problem_wants_html(struct idem_bytes accept)
{
	struct choice html = { 0 }, json = { 0 };
	struct range range;

	while (accept.len > 0) {
		skip_blanks(&accept);
		/* Nothing between commas is allowed (RFC 9110, 5.6.1). */
		if (accept.len == 0 || eat(&accept, ','))
			continue;
		if (!read_range(&accept, &range))
			return false;
		weigh(&html, precision_for(&range, "text", "html"),
		    range.weight);
		weigh(&json, precision_for(&range, "application", "json"),
		    range.weight);
		weigh(&json, precision_for(&range, "application",
		    "problem+json"), range.weight);
	}
	if (html.weight != json.weight)
		return html.weight > json.weight;
	return html.weight > 0 && html.precision > json.precision;
}
