/* SPDX-License-Identifier: ISC */
#include "key.h"

#include "fuzz.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS_MAX 4
#define QUOTED_MAX (2 + 2 * IDEM_KEY_MAX)

/* Each field in memory of its own, so that a read past its end shows. */
static size_t
split(const uint8_t *at, size_t len, uint8_t **copies,
    struct idem_bytes *fields)
{
	const uint8_t *end;
	size_t n, field_len;

	for (n = 0; n < FIELDS_MAX; n++) {
		end = n + 1 < FIELDS_MAX && len > 0 ?
		    memchr(at, '\n', len) : NULL;
		field_len = end != NULL ? (size_t)(end - at) : len;
		copies[n] = malloc(field_len > 0 ? field_len : 1);
		if (copies[n] == NULL)
			abort();
		if (field_len > 0)
			memcpy(copies[n], at, field_len);
		fields[n] = (struct idem_bytes){ copies[n], field_len };
		if (end == NULL)
			return n + 1;
		at += field_len + 1;
		len -= field_len + 1;
	}
	return n;
}

/* The key as a String, which must be read as the same key. */
static size_t
quote(const struct idem_key *key, uint8_t *out)
{
	size_t i, n = 0;

	out[n++] = '"';
	for (i = 0; i < key->len; i++) {
		if (key->at[i] == '"' || key->at[i] == '\\')
			out[n++] = '\\';
		out[n++] = key->at[i];
	}
	out[n++] = '"';
	return n;
}

static void
check_good(const struct idem_key *key)
{
	uint8_t quoted[QUOTED_MAX];
	struct idem_bytes value = { quoted, quote(key, quoted) };
	struct idem_key again;
	size_t i;

	assert(key->len > 0);
	for (i = 0; i < key->len; i++)
		assert(key->at[i] >= ' ' && key->at[i] < 0x7f);
	assert(idem_key_parse(&value, 1, &again) == IDEM_KEY_GOOD);
	assert(memcmp(key, &again, sizeof again) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *at, size_t len)
{
	struct idem_bytes fields[FIELDS_MAX], backward[FIELDS_MAX];
	uint8_t *copies[FIELDS_MAX];
	struct idem_key key, other;
	enum idem_key_state state;
	size_t i, n;

	n = split(at, len, copies, fields);
	for (i = 0; i < n; i++)
		backward[i] = fields[n - 1 - i];
	state = idem_key_parse(fields, n, &key);
	assert(idem_key_parse(backward, n, &other) == state);
	if (state == IDEM_KEY_GOOD) {
		assert(memcmp(&key, &other, sizeof key) == 0);
		check_good(&key);
	}
	assert(idem_key_state_text(state) != NULL);
	for (i = 0; i < n; i++)
		free(copies[i]);
	return 0;
}
