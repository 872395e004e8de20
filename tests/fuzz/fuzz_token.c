/* SPDX-License-Identifier: ISC */
#include "token.h"

#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

static const char key_file[] =
    "new 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n"
    "old f0f1f2f3f4f5f6f7f8f9fafbfcfdfefff0f1f2f3f4f5f6f7f8f9fafbfcfdfeff\n";

/* In memory of exactly its size, so that a read past its end shows. */
static enum idem_token_read
read_text(const uint8_t *at, size_t len, const struct idem_token_keys *keys,
    struct idem_token *token)
{
	uint8_t *copy = malloc(len > 0 ? len : 1);
	enum idem_token_read read;

	fuzz_must(copy != NULL);
	if (len > 0)
		memcpy(copy, at, len);
	read = idem_token_read((struct idem_bytes){ copy, len }, keys, token);
	free(copy);
	return read;
}

/* What is good is what we would write. */
static void
any_text(const uint8_t *at, size_t len, const struct idem_token_keys *keys)
{
	char text[IDEM_TOKEN_TEXT + 1];
	struct idem_token_keys one = { .len = 1 };
	struct idem_token token;
	bool written = false;
	size_t i;

	if (read_text(at, len, keys, &token) == IDEM_TOKEN_FOREIGN)
		return;
	for (i = 0; i < keys->len; i++) {
		one.at[0] = keys->at[i];
		fuzz_must(idem_token_write(&token, &one, text));
		if (memcmp(text, at, IDEM_TOKEN_TEXT) == 0)
			written = true;
	}
	fuzz_must(written && len == IDEM_TOKEN_TEXT);
}

/* What we write is good, and with another byte in it foreign. */
static void
any_token(const uint8_t *at, size_t len, const struct idem_token_keys *keys)
{
	struct idem_reader r = { .left = { at, len } };
	char text[IDEM_TOKEN_TEXT + 1];
	struct idem_token token = { 0 }, back;
	size_t where;
	uint8_t by;

	token.arbiter = idem_read_u8(&r) % 2 == 0 ? IDEM_TOKEN_LEDGER :
	    IDEM_TOKEN_REDIS;
	where = idem_read_u8(&r) % IDEM_TOKEN_TEXT;
	by = idem_read_u8(&r);
	idem_read_copy(&r, token.store, sizeof token.store);
	idem_read_copy(&r, token.history.at, sizeof token.history.at);
	token.minted_ms = (int64_t)(idem_read_u64(&r) >> 16);
	idem_read_copy(&r, token.random, sizeof token.random);
	idem_read_copy(&r, token.route, sizeof token.route);
	fuzz_must(idem_token_write(&token, keys, text));
	text[where] = (char)((uint8_t)text[where] ^ by);
	fuzz_must((read_text((uint8_t *)text, IDEM_TOKEN_TEXT, keys, &back) ==
	    IDEM_TOKEN_GOOD) == (by == 0));
	fuzz_must(by != 0 || (back.minted_ms == token.minted_ms &&
	    memcmp(back.random, token.random, sizeof back.random) == 0));
}

/* Keys are of the lengths said, or there is a sentence and nothing is held. */
static void
any_keys(const uint8_t *at, size_t len)
{
	struct idem_token_keys keys;
	char error[200] = "";
	size_t i;

	if (idem_token_keys_read(&keys, (struct idem_bytes){ at, len }, error,
	    sizeof error)) {
		fuzz_must(keys.len > 0 && keys.len <= IDEM_TOKEN_KEYS_MAX);
		for (i = 0; i < keys.len; i++)
			fuzz_must(keys.at[i].len >= 16 &&
			    keys.at[i].len <= 96);
	} else {
		fuzz_must(error[0] != '\0' && keys.len == 0 &&
		    keys.room.at == NULL);
	}
	idem_token_keys_free(&keys);
}

/* The first byte: t, any text; k, any file of keys; else any token. */
int
LLVMFuzzerTestOneInput(const uint8_t *at, size_t len)
{
	struct idem_token_keys keys;
	char error[200];

	fuzz_must(idem_token_keys_read(&keys, idem_bytes_text(key_file), error,
	    sizeof error));
	if (len > 0 && at[0] == 't')
		any_text(at + 1, len - 1, &keys);
	else if (len > 0 && at[0] == 'k')
		any_keys(at + 1, len - 1);
	else
		any_token(at, len, &keys);
	idem_token_keys_free(&keys);
	return 0;
}
