/* SPDX-License-Identifier: ISC */
#include "params.h"

#include "fcgi_rec.h"

#include <stdlib.h>
#include <string.h>

/* --- from and to a PARAMS stream ------------------------------------------ */

static bool
has(struct idem_bytes bytes, int c)
{
	return bytes.len > 0 && memchr(bytes.at, c, bytes.len) != NULL;
}

static bool
is_cgi_text(const struct idem_fcgi_pair *pair)
{
	return pair->name.len > 0 && !has(pair->name, '=') &&
	    !has(pair->name, '\0') && !has(pair->value, '\0');
}

/*
 * Pointers, then text.  Their number is counted first; the text takes no more
 * than the stream, since '=' and NUL stand for two lengths.
 */
static size_t
count(struct idem_bytes left)
{
	struct idem_fcgi_pair pair;
	size_t n = 0;

	while (idem_fcgi_pair_next(&left, &pair) > 0)
		n++;
	return n;
}

static char *
put(char *at, struct idem_bytes bytes, char end)
{
	if (bytes.len > 0)
		memcpy(at, bytes.at, bytes.len);
	at[bytes.len] = end;
	return at + bytes.len + 1;
}

static enum idem_params_read
fill(struct idem_params *params, char *text, struct idem_bytes left)
{
	struct idem_fcgi_pair pair;
	int got;

	while ((got = idem_fcgi_pair_next(&left, &pair)) > 0) {
		if (!is_cgi_text(&pair))
			return IDEM_PARAMS_UNREADABLE;
		params->at[params->len++] = text;
		text = put(text, pair.name, '=');
		text = put(text, pair.value, '\0');
	}
	params->at[params->len] = NULL;
	return got == 0 ? IDEM_PARAMS_READ : IDEM_PARAMS_FAILED;
}

enum idem_params_read
idem_params_read(struct idem_bytes stream, struct idem_params *params)
{
	size_t pointers = count(stream) + 1;
	enum idem_params_read read = IDEM_PARAMS_FAILED;

	*params = (struct idem_params){ 0 };
	params->at = malloc(pointers * sizeof *params->at + stream.len);
	if (params->at != NULL)
		read = fill(params, (char *)(params->at + pointers), stream);
	if (read != IDEM_PARAMS_READ)
		idem_params_free(params);
	return read;
}

void
idem_params_write(const struct idem_params *params, struct idem_buf *stream)
{
	const char *equals;
	size_t i;

	for (i = 0; i < params->len; i++) {
		equals = strchr(params->at[i], '=');
		idem_fcgi_pair_write(stream, (struct idem_bytes){
		    params->at[i], (size_t)(equals - params->at[i]) },
		    idem_bytes_text(equals + 1));
	}
}

bool
idem_params_equal(const struct idem_params *a, const struct idem_params *b)
{
	size_t i;

	for (i = 0; i < a->len && i < b->len; i++)
		if (strcmp(a->at[i], b->at[i]) != 0)
			return false;
	return a->len == b->len;
}

/* --- values --------------------------------------------------------------- */

static const char *
value_if(const char *param, const char *name, size_t name_len)
{
	/* Most differ in the first byte: not worth a call. */
	if (*param != *name || strncmp(param, name, name_len) != 0 ||
	    param[name_len] != '=')
		return NULL;
	return param + name_len + 1;
}

const char *
idem_params_get(const struct idem_params *params, const char *name)
{
	const char *value = NULL;

	idem_params_all(params, name, &value, 1);
	return value;
}

size_t
idem_params_all(const struct idem_params *params, const char *name,
    const char **found, size_t max)
{
	size_t name_len = strlen(name), n = 0, i;
	const char *value;

	for (i = 0; i < params->len && n < max; i++) {
		value = value_if(params->at[i], name, name_len);
		if (value != NULL)
			found[n++] = value;
	}
	return n;
}

void
idem_params_free(struct idem_params *params)
{
	free(params->at);
	*params = (struct idem_params){ 0 };
}
