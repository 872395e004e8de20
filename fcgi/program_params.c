/* SPDX-License-Identifier: ISC */
#include "program_name.h"
#include "program_ours.h"

#include "fcgi_rec.h"

#include <string.h>

static bool
same_name(const char *a, const char *b)
{
	size_t len = strcspn(a, "=");

	return strncmp(a, b, len) == 0 && b[len] == '=';
}

/* The operator's word goes before ours, and ours before the front's. */
static bool
is_set(char *const *set, size_t len, const char *text)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (same_name(set[i], text))
			return true;
	return false;
}

static bool
is_ours(const struct idem_buf *ours, const char *text)
{
	const char *at = NULL;

	while ((at = program_ours_next(ours, at)) != NULL)
		if (same_name(at, text))
			return true;
	return false;
}

/*
 * May the front say it?  No program believes a client about its proxy
 * (httpoxy), and nobody but us speaks of the key.
 */
static bool
may_say(const char *text, struct program_more *more)
{
	size_t name_len = strcspn(text, "=");

	if (program_name_is_ours(text, name_len) ||
	    program_name_is(text, name_len, "HTTP_PROXY")) {
		more->dropped++;
		return false;
	}
	return !program_name_is(text, name_len, "HTTP_TRANSFER_ENCODING");
}

static void
write_pair(struct idem_buf *stream, const char *text)
{
	const char *equals = strchr(text, '=');

	if (equals != NULL)
		idem_fcgi_pair_write(stream,
		    (struct idem_bytes){ text, (size_t)(equals - text) },
		    idem_bytes_text(equals + 1));
}

static void
write_all(const struct idem_params *params, struct program_more *more,
    const struct idem_buf *ours, struct idem_buf *stream)
{
	char *const *set = more->rule->set;
	const char *text = NULL;
	size_t set_len, i;

	for (i = 0; set != NULL && set[i] != NULL; i++)
		if (!is_set(set, i, set[i]))
			write_pair(stream, set[i]);
	set_len = i;
	while ((text = program_ours_next(ours, text)) != NULL)
		if (!is_set(set, set_len, text))
			write_pair(stream, text);
	for (i = 0; i < params->len; i++)
		if (may_say(params->at[i], more) &&
		    !is_set(set, set_len, params->at[i]) &&
		    !is_ours(ours, params->at[i]))
			write_pair(stream, params->at[i]);
}

void
program_params(const struct idem_params *params, struct program_more *more,
    struct idem_buf *stream)
{
	struct idem_buf ours = { 0 };

	more->dropped = 0;
	program_ours_write(&ours, more);
	if (idem_buf_ok(&ours))
		write_all(params, more, &ours, stream);
	else
		stream->failed = true;
	idem_buf_free(&ours);
}
