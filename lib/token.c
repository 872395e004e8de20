/* SPDX-License-Identifier: ISC */
#include "token.h"

#include <stdio.h>
#include <string.h>

#define PACKED 56
#define SIGNED 40			/* what the HMAC is over */
#define MINTED_MAX ((INT64_C(1) << 48) - 1)

/* A key in the file: characters. */
#define KEY_MIN 32
#define KEY_MAX 128

_Static_assert(IDEM_TOKEN_TEXT == (PACKED * 8 + 5) / 6, "six bits a character");
_Static_assert(SIGNED == 2 + IDEM_TOKEN_STORE + IDEM_HISTORY_LEN + 6 +
    IDEM_TOKEN_RANDOM + IDEM_TOKEN_ROUTE, "all before the HMAC");

/* --- base64url (RFC 4648, 5), without padding ----------------------------- */

static const char alphabet[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static void
encode(const uint8_t *at, size_t len, char *text)
{
	uint32_t bits = 0;
	unsigned n = 0;
	size_t i;

	for (i = 0; i < len; i++) {
		bits = bits << 8 | at[i];
		for (n += 8; n >= 6; n -= 6)
			*text++ = alphabet[bits >> (n - 6) & 63];
	}
	if (n > 0)
		*text++ = alphabet[bits << (6 - n) & 63];
	*text = '\0';
}

static int
value(uint8_t c)
{
	const char *at = c != '\0' ? strchr(alphabet, c) : NULL;

	return at != NULL ? (int)(at - alphabet) : -1;
}

/*
 * Into at, which has room for len * 6 / 8 bytes.  False for other characters,
 * and for what encode would write otherwise: a last character that holds bits
 * of no byte, or a single one.
 */
static bool
decode(const uint8_t *text, size_t len, uint8_t *at)
{
	uint32_t bits = 0;
	unsigned n = 0;
	size_t i;
	int six;

	for (i = 0; i < len; i++) {
		six = value(text[i]);
		if (six < 0)
			return false;
		bits = bits << 6 | (uint32_t)six;
		n += 6;
		if (n >= 8) {
			n -= 8;
			*at++ = (uint8_t)(bits >> n);
		}
	}
	return n < 6 && (bits & ((1u << n) - 1)) == 0;
}

/* --- the file of keys ----------------------------------------------------- */

struct reading {
	struct idem_token_keys *keys;
	struct idem_bytes names[IDEM_TOKEN_KEYS_MAX];
	unsigned line;
	const char *wrong;
};

static bool
blank(uint8_t c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* The next word of a line, which is shortened; an empty one at its end. */
static struct idem_bytes
next_word(struct idem_bytes *line)
{
	const uint8_t *at = line->at;
	size_t from = 0, to;

	while (from < line->len && blank(at[from]))
		from++;
	for (to = from; to < line->len && !blank(at[to]); to++)
		;
	*line = (struct idem_bytes){ at + to, line->len - to };
	return (struct idem_bytes){ at + from, to - from };
}

static bool
is_hex(struct idem_bytes word)
{
	const uint8_t *at = word.at;
	size_t i;

	for (i = 0; i < word.len; i++)
		if (!((at[i] >= '0' && at[i] <= '9') ||
		    (at[i] >= 'a' && at[i] <= 'f') ||
		    (at[i] >= 'A' && at[i] <= 'F')))
			return false;
	return true;
}

/* What the word stands for, in `key`; NULL, or what is wrong with it. */
static const char *
read_key(struct idem_bytes word, uint8_t key[KEY_MAX], size_t *len)
{
	char text[KEY_MAX + 1];
	const char *wrong = NULL;

	if (word.len < KEY_MIN || word.len > KEY_MAX)
		return "a key has 32 to 128 hex digits or characters of "
		    "base64url; make one with \"idemctl token --make-key\"";
	memcpy(text, word.at, word.len);
	text[word.len] = '\0';
	if (!is_hex(word)) {
		*len = word.len * 6 / 8;
		if (!decode(word.at, word.len, key))
			wrong = "the key is neither hex digits nor base64url "
			    "without padding; make one with "
			    "\"idemctl token --make-key\"";
	} else {
		*len = word.len / 2;
		if (word.len % 2 != 0 || !idem_unhex(text, key, *len))
			wrong = "the key has an odd number of hex digits";
	}
	idem_secret_wipe(text, sizeof text);
	return wrong;
}

static const char *
add(struct reading *r, struct idem_bytes name, struct idem_bytes key)
{
	struct idem_token_keys *keys = r->keys;
	const uint8_t *at;
	size_t i;

	for (i = 0; i < keys->len; i++) {
		if (idem_bytes_equal(r->names[i], name))
			return "this name was used before; a new key gets a "
			    "name of its own";
		if (idem_bytes_equal(keys->at[i], key))
			return "this key was there before, under another name";
	}
	if (keys->len == IDEM_TOKEN_KEYS_MAX)
		return "at most 16 keys; remove the oldest, at the end";
	at = keys->room.at + keys->room.len;
	idem_buf_append(&keys->room, key.at, key.len);
	r->names[keys->len] = name;
	keys->at[keys->len++] = (struct idem_bytes){ at, key.len };
	return NULL;
}

/* NULL, or what is wrong. */
static const char *
read_line(struct reading *r, struct idem_bytes line)
{
	struct idem_bytes name = next_word(&line), word = next_word(&line);
	uint8_t key[KEY_MAX];
	const char *wrong;
	size_t len;

	if (name.len == 0 || *(const uint8_t *)name.at == '#')
		return NULL;
	if (word.len == 0 || next_word(&line).len > 0)
		return "two words are wanted, NAME KEY";
	wrong = read_key(word, key, &len);
	if (wrong == NULL)
		wrong = add(r, name, (struct idem_bytes){ key, len });
	idem_secret_wipe(key, sizeof key);
	return wrong;
}

static bool
read_lines(struct reading *r, struct idem_bytes text)
{
	const uint8_t *at = text.at, *end;
	size_t left = text.len, len;

	while (left > 0) {
		end = memchr(at, '\n', left);
		len = end != NULL ? (size_t)(end - at) : left;
		r->line++;
		r->wrong = read_line(r, (struct idem_bytes){ at, len });
		if (r->wrong != NULL)
			return false;
		len += end != NULL;
		at += len;
		left -= len;
	}
	return true;
}

/* Room for all at once: a buffer that grows leaves its bytes where it was. */
static bool
make_room(struct idem_buf *room, struct idem_bytes text)
{
	idem_buf_append(room, text.at, text.len);
	if (!idem_buf_ok(room))
		return false;
	if (room->len > 0)
		idem_secret_wipe(room->at, room->len);
	idem_buf_clear(room);
	return true;
}

bool
idem_token_keys_read(struct idem_token_keys *keys, struct idem_bytes text,
    char *error, size_t error_size)
{
	struct reading r = { .keys = keys };

	*keys = (struct idem_token_keys){ 0 };
	if (!make_room(&keys->room, text))
		snprintf(error, error_size, "out of memory");
	else if (!read_lines(&r, text))
		snprintf(error, error_size, "line %u: %s", r.line, r.wrong);
	else if (keys->len == 0)
		snprintf(error, error_size, "there is no key in it; one a line "
		    "is wanted, NAME KEY");
	else
		return true;
	idem_token_keys_free(keys);
	return false;
}

void
idem_token_keys_free(struct idem_token_keys *keys)
{
	if (keys->room.at != NULL)
		idem_secret_wipe(keys->room.at, keys->room.size);
	idem_buf_free(&keys->room);
	*keys = (struct idem_token_keys){ 0 };
}

/* --- tokens --------------------------------------------------------------- */

static void
put_big_endian(uint8_t *at, size_t len, uint64_t n)
{
	while (len-- > 0) {
		at[len] = (uint8_t)n;
		n >>= 8;
	}
}

static void
pack(const struct idem_token *token, uint8_t at[SIGNED])
{
	*at++ = IDEM_TOKEN_VERSION;
	*at++ = (uint8_t)token->arbiter;
	memcpy(at, token->store, IDEM_TOKEN_STORE);
	at += IDEM_TOKEN_STORE;
	memcpy(at, token->history.at, IDEM_HISTORY_LEN);
	at += IDEM_HISTORY_LEN;
	put_big_endian(at, 6, (uint64_t)token->minted_ms);
	at += 6;
	memcpy(at, token->random, IDEM_TOKEN_RANDOM);
	at += IDEM_TOKEN_RANDOM;
	memcpy(at, token->route, IDEM_TOKEN_ROUTE);
}

static bool
unpack(const uint8_t at[SIGNED], struct idem_token *token)
{
	struct idem_reader r = { .left = { at, SIGNED } };
	uint8_t version, arbiter;

	version = idem_read_u8(&r);
	arbiter = idem_read_u8(&r);
	if (version != IDEM_TOKEN_VERSION || (arbiter != IDEM_TOKEN_LEDGER &&
	    arbiter != IDEM_TOKEN_REDIS))
		return false;
	token->arbiter = (enum idem_token_arbiter)arbiter;
	idem_read_copy(&r, token->store, IDEM_TOKEN_STORE);
	idem_read_copy(&r, token->history.at, IDEM_HISTORY_LEN);
	token->minted_ms = (int64_t)idem_read_u16(&r) << 32;
	token->minted_ms |= idem_read_u32(&r);
	idem_read_copy(&r, token->random, IDEM_TOKEN_RANDOM);
	idem_read_copy(&r, token->route, IDEM_TOKEN_ROUTE);
	return true;
}

bool
idem_token_write(const struct idem_token *token,
    const struct idem_token_keys *keys, char text[IDEM_TOKEN_TEXT + 1])
{
	uint8_t packed[PACKED];
	struct idem_digest mac;

	if (keys->len == 0 || token->minted_ms < 0 ||
	    token->minted_ms > MINTED_MAX)
		return false;
	pack(token, packed);
	if (!idem_hmac(keys->at[0], (struct idem_bytes){ packed, SIGNED },
	    &mac))
		return false;
	memcpy(packed + SIGNED, mac.at, PACKED - SIGNED);
	encode(packed, PACKED, text);
	return true;
}

/* All keys are tried, whichever it is. */
static bool
signed_by(const uint8_t packed[PACKED], const struct idem_token_keys *keys)
{
	struct idem_digest mac;
	bool good = false;
	size_t i;

	for (i = 0; i < keys->len; i++)
		if (idem_hmac(keys->at[i],
		    (struct idem_bytes){ packed, SIGNED }, &mac) &&
		    idem_secret_equal(mac.at, packed + SIGNED,
		    PACKED - SIGNED))
			good = true;
	return good;
}

enum idem_token_read
idem_token_read(struct idem_bytes text, const struct idem_token_keys *keys,
    struct idem_token *token)
{
	uint8_t packed[PACKED];

	*token = (struct idem_token){ 0 };
	if (text.len != IDEM_TOKEN_TEXT ||
	    !decode(text.at, text.len, packed) || !signed_by(packed, keys) ||
	    !unpack(packed, token))
		return IDEM_TOKEN_FOREIGN;
	return IDEM_TOKEN_GOOD;
}

bool
idem_token_look(struct idem_bytes text, struct idem_token *token)
{
	uint8_t packed[PACKED];

	*token = (struct idem_token){ 0 };
	return text.len == IDEM_TOKEN_TEXT &&
	    decode(text.at, text.len, packed) && unpack(packed, token);
}

bool
idem_token_store_key(const struct idem_token *token, struct idem_digest *key)
{
	uint8_t packed[SIGNED];
	struct idem_digest d;
	struct idem_hash h;
	const size_t history = 2 + IDEM_TOKEN_STORE;
	const size_t minted = history + IDEM_HISTORY_LEN;

	pack(token, packed);
	idem_hash_init(&h);
	idem_hash_add(&h, packed, history);
	idem_hash_add(&h, packed + minted, SIGNED - minted);
	if (!idem_hash_final(&h, &d))
		return false;
	memcpy(key->at, packed + minted, 6);
	memcpy(key->at + 6, d.at, IDEM_DIGEST_LEN - 6);
	return true;
}

bool
idem_token_name(struct idem_bytes name, uint8_t out[4])
{
	struct idem_digest d;
	struct idem_hash h;

	idem_hash_init(&h);
	idem_hash_add(&h, name.at, name.len);
	if (!idem_hash_final(&h, &d))
		return false;
	memcpy(out, d.at, 4);
	return true;
}
