/* SPDX-License-Identifier: ISC */
#include "chance.h"
#include "tap.h"
#include "token.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char hex_a[] =
    "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
static const char hex_b[] =
    "F0F1F2F3F4F5F6F7F8F9FAFBFCFDFEFFf0f1f2f3f4f5f6f7f8f9fafbfcfdfeff";

/* --- HMAC ----------------------------------------------------------------- */

/* RFC 4231, 4.2 to 4.8: n times the byte, or the text. */
struct repeated {
	uint8_t byte;
	size_t n;
	const char *text;
};

static const struct {
	struct repeated key, data;
	const char *mac;
} vectors[] = {
	{ { 0x0b, 20, NULL }, { 0, 0, "Hi There" },
	  "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7" },
	{ { 0, 0, "Jefe" }, { 0, 0, "what do ya want for nothing?" },
	  "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843" },
	{ { 0xaa, 20, NULL }, { 0xdd, 50, NULL },
	  "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe" },
	{ { 0, 0, "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e"
	  "\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19" }, { 0xcd, 50, NULL },
	  "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b" },
	{ { 0x0c, 20, NULL }, { 0, 0, "Test With Truncation" },
	  "a3b6167473100ee06e0c796c2955552b" },
	{ { 0xaa, 131, NULL },
	  { 0, 0, "Test Using Larger Than Block-Size Key - Hash Key First" },
	  "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54" },
	{ { 0xaa, 131, NULL }, { 0, 0, "This is a test using a larger than "
	  "block-size key and a larger than block-size data. The key needs to "
	  "be hashed before being used by the HMAC algorithm." },
	  "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2" },
};

static struct idem_bytes
bytes_of(const struct repeated *r, uint8_t room[200])
{
	if (r->text != NULL)
		return idem_bytes_text(r->text);
	memset(room, r->byte, r->n);
	return (struct idem_bytes){ room, r->n };
}

static void
test_hmac(void)
{
	uint8_t key[200], data[200], want[IDEM_DIGEST_LEN];
	struct idem_digest mac;
	size_t i, len;

	for (i = 0; i < sizeof vectors / sizeof *vectors; i++) {
		len = strlen(vectors[i].mac) / 2;
		idem_unhex(vectors[i].mac, want, len);
		ok(idem_hmac(bytes_of(&vectors[i].key, key),
		    bytes_of(&vectors[i].data, data), &mac),
		    "example %zu of RFC 4231 has an HMAC", i + 1);
		is_bytes(mac.at, len, want, len, "which is the published one");
	}
	ok(idem_secret_equal("abc", "abc", 3) &&
	    !idem_secret_equal("abc", "abd", 3), "secrets are compared");
}

/* --- keys ----------------------------------------------------------------- */

static bool
read_keys(struct idem_token_keys *keys, const char *text, char *error,
    size_t error_size)
{
	return idem_token_keys_read(keys, idem_bytes_text(text), error,
	    error_size);
}

/* Bails out. */
static void
need_keys(struct idem_token_keys *keys, const char *text)
{
	char error[200];

	if (!read_keys(keys, text, error, sizeof error))
		bail_out("%s", error);
}

static const char base64_24[] = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYX";
static const char base64_40[] =
    "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJw";

static void
test_keys(void)
{
	struct idem_token_keys keys;
	char text[900];
	size_t i;

	snprintf(text, sizeof text, "# by hand\n\n \t\n  # too\n"
	    "2026 %s\r\n\tnew\t %s \nshort %s\nlong %s", hex_a, hex_b,
	    base64_24, base64_40);
	need_keys(&keys, text);
	is_int((long long)keys.len, 4, "every line with a key is read, the "
	    "last without an end too");
	is_int((long long)keys.at[0].len, 32, "64 hex digits are 32 bytes");
	for (i = 0; i < 32; i++)
		if (((const uint8_t *)keys.at[0].at)[i] != i ||
		    ((const uint8_t *)keys.at[1].at)[i] != 0xf0 + i % 16)
			break;
	is_int((long long)i, 32, "whichever their case");
	ok(keys.at[2].len == 24 && keys.at[3].len == 40 &&
	    memcmp(keys.at[2].at, keys.at[0].at, 24) == 0 &&
	    memcmp(keys.at[3].at, keys.at[0].at, 32) == 0,
	    "base64url is read as its bytes");
	idem_token_keys_free(&keys);
	ok(keys.len == 0 && keys.room.at == NULL, "and freed");
	idem_token_keys_free(&keys);
}

#define H32 "0123456789abcdef0123456789abcdef"

/* What is wrong, and a piece of what is said; never a word of the file. */
static const struct {
	const char *what, *text, *says;
} mistakes[] = {
	{ "an empty file", "", "no key" },
	{ "a file of comments", "# secret\n\n", "no key" },
	{ "a key without a name", "# a\n" H32 "\n", "line 2: two words" },
	{ "a third word", "a " H32 " secret\n", "line 1: two words" },
	{ "a short key", "a secret\n", "line 1: a key has 32 to 128" },
	{ "a key of 31", "a 0123456789abcdef0123456789abcde\n",
	  "line 1: a key has 32 to 128" },
	{ "a key of 129", "a " H32 H32 H32 H32 "0\n", "line 1: a key has" },
	{ "name and key the wrong way round", H32 " secret\n",
	  "line 1: a key" },
	{ "an odd number of digits", "a " H32 "0\n", "line 1: the key has an" },
	{ "padding", "a AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGA==\n",
	  "line 1: the key is neither" },
	{ "base64 of the other alphabet",
	  "\na AAECAwQFBgcICQoLDA0ODx+/EhMUFRYX\n",
	  "line 2: the key is neither" },
	{ "stray bits", "a AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGB\n",
	  "line 1: the key is neither" },
	{ "a single character too many",
	  "a AAECAwQFBgcICQoLDA0ODxAREhMUFRYXA\n",
	  "line 1: the key is neither" },
	{ "a name twice", "a " H32 "\na " H32 "00\n", "line 2: this name" },
	{ "a key twice, written differently",
	  "a 0123456789ABCDEF0123456789ABCDEF\n#\nb " H32 "\n",
	  "line 3: this key" },
};

/* Whether some word of the file, of more than three letters, is in it. */
static bool
holds_a_word(const char *error, const char *text)
{
	char copy[600], *word, *save;

	snprintf(copy, sizeof copy, "%s", text);
	for (word = strtok_r(copy, " \n", &save); word != NULL;
	    word = strtok_r(NULL, " \n", &save))
		if (strlen(word) > 3 && strstr(error, word) != NULL)
			return true;
	return false;
}

static void
test_mistakes(void)
{
	struct idem_token_keys keys;
	char error[200];
	bool good;
	size_t i;

	for (i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
		memset(&keys, 1, sizeof keys);
		error[0] = '\0';
		good = read_keys(&keys, mistakes[i].text, error, sizeof error);
		ok(!good && strstr(error, mistakes[i].says) != NULL,
		    "%s is said: %s", mistakes[i].what, error);
		ok(keys.len == 0 && keys.room.at == NULL &&
		    !holds_a_word(error, mistakes[i].text),
		    "without a word of the file, and nothing is held");
	}
}

static void
test_too_many(void)
{
	struct idem_token_keys keys;
	char text[2000] = "", error[200];
	size_t len = 0;
	unsigned i;

	for (i = 0; i < IDEM_TOKEN_KEYS_MAX; i++)
		len += (size_t)snprintf(text + len, sizeof text - len,
		    "k%u " H32 "%02x\n", i, i);
	ok(read_keys(&keys, text, error, sizeof error) &&
	    keys.len == IDEM_TOKEN_KEYS_MAX, "there may be 16 keys");
	idem_token_keys_free(&keys);
	snprintf(text + len, sizeof text - len, "k " H32 "ff\n");
	ok(!read_keys(&keys, text, error, sizeof error) &&
	    strncmp(error, "line 17: at most 16", 19) == 0,
	    "and not 17: %s", error);
}

/* --- tokens --------------------------------------------------------------- */

static struct idem_token
example(void)
{
	struct idem_token token = {
		.arbiter = IDEM_TOKEN_REDIS,
		.store = { 1, 2, 3, 4 },
		.history = { { 11, 12, 13, 14, 15, 16, 17, 18 } },
		.minted_ms = INT64_C(0x018cc251f400),
		.random = { 0xff, 0xfe, 0xfd, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
		    0x7f, 0x80, 0x81 },
		.route = { 0xa0, 0xa1, 0xa2, 0xa3 },
	};

	return token;
}

static bool
same(const struct idem_token *a, const struct idem_token *b)
{
	return a->arbiter == b->arbiter && a->minted_ms == b->minted_ms &&
	    memcmp(a->store, b->store, sizeof a->store) == 0 &&
	    memcmp(&a->history, &b->history, sizeof a->history) == 0 &&
	    memcmp(a->random, b->random, sizeof a->random) == 0 &&
	    memcmp(a->route, b->route, sizeof a->route) == 0;
}

static bool
reads(const char *text, size_t len, const struct idem_token_keys *keys)
{
	struct idem_token token;

	return idem_token_read((struct idem_bytes){ text, len }, keys,
	    &token) == IDEM_TOKEN_GOOD;
}

static void
test_round(const struct idem_token_keys *keys)
{
	struct idem_token token = example(), back;
	char text[IDEM_TOKEN_TEXT + 1];

	ok(idem_token_write(&token, keys, text), "a token is written");
	/* Reckoned by other means: a program of a few lines in Python. */
	is(text, "AQIBAgMECwwNDg8QERIBjMJR9AD__v0AAQIDBAUGBwgJf4CBoKGiozW"
	    "yHuQsV3vYV_GjYYJdyv8", "byte for byte as it is described");
	is_int((long long)strlen(text), IDEM_TOKEN_TEXT, "of 75 characters");
	ok(idem_token_read(idem_bytes_text(text), keys, &back) ==
	    IDEM_TOKEN_GOOD && same(&token, &back), "and read back the same");
	token.arbiter = IDEM_TOKEN_LEDGER;
	token.minted_ms = (INT64_C(1) << 48) - 1;
	ok(idem_token_write(&token, keys, text) &&
	    idem_token_read(idem_bytes_text(text), keys, &back) ==
	    IDEM_TOKEN_GOOD && same(&token, &back),
	    "at the end of time too, and of a ledger");
	token.minted_ms++;
	ok(!idem_token_write(&token, keys, text), "a later time has no room");
	token.minted_ms = -1;
	ok(!idem_token_write(&token, keys, text), "nor has one before 1970");
}

/* All other values of all its bytes. */
static void
test_flips(const struct idem_token_keys *keys)
{
	struct idem_token token = example();
	char text[IDEM_TOKEN_TEXT + 1], changed[IDEM_TOKEN_TEXT + 1];
	unsigned good = 0, by;
	size_t i;

	idem_token_write(&token, keys, text);
	for (i = 0; i < IDEM_TOKEN_TEXT; i++)
		for (by = 1; by < 256; by++) {
			memcpy(changed, text, sizeof changed);
			changed[i] = (char)(changed[i] ^ (int)by);
			good += reads(changed, IDEM_TOKEN_TEXT, keys);
		}
	is_int(good, 0, "no token with another byte anywhere is ours");
	ok(!reads(text, IDEM_TOKEN_TEXT - 1, keys), "nor a shorter one");
	ok(!reads(text, IDEM_TOKEN_TEXT + 1, keys), "nor a longer one");
	ok(!reads(NULL, 0, keys), "nor nothing");
	ok(reads(text, IDEM_TOKEN_TEXT, keys), "the token itself is");
}

/* What is signed by us and is no token of this version. */
static void
test_other_kinds(const struct idem_token_keys *keys)
{
	struct idem_token token = example();
	char text[IDEM_TOKEN_TEXT + 1];

	token.arbiter = (enum idem_token_arbiter)3;
	idem_token_write(&token, keys, text);
	ok(!reads(text, IDEM_TOKEN_TEXT, keys),
	    "a token of an arbiter that there is not is foreign");
	token.arbiter = (enum idem_token_arbiter)0;
	idem_token_write(&token, keys, text);
	ok(!reads(text, IDEM_TOKEN_TEXT, keys), "and one of none");
	/* As the example, but for its first byte. */
	ok(!reads("AgIBAgMECwwNDg8QERIBjMJR9AAAAQIDBAUGBwgJCgsMDQ4PoK"
	    "Gio5okskEYbWDJDRCXHHuYAjY", IDEM_TOKEN_TEXT, keys),
	    "and one of a later version, though we have signed it");
}

static void
test_rotation(void)
{
	struct idem_token_keys before, between, after, none = { 0 };
	struct idem_token token = example();
	char text[IDEM_TOKEN_TEXT + 1], new[IDEM_TOKEN_TEXT + 1], file[300];

	snprintf(file, sizeof file, "a %s\n", hex_a);
	need_keys(&before, file);
	snprintf(file, sizeof file, "b %s\na %s\n", hex_b, hex_a);
	need_keys(&between, file);
	snprintf(file, sizeof file, "b %s\n", hex_b);
	need_keys(&after, file);
	idem_token_write(&token, &before, text);
	idem_token_write(&token, &between, new);
	ok(reads(text, IDEM_TOKEN_TEXT, &between),
	    "a token of the old key is good while that is in the file");
	ok(strcmp(text, new) != 0 && reads(new, IDEM_TOKEN_TEXT, &after),
	    "the first key of the file signs");
	ok(!reads(text, IDEM_TOKEN_TEXT, &after),
	    "without the old key its tokens are foreign");
	ok(!reads(new, IDEM_TOKEN_TEXT, &before),
	    "as those of the new key are to who does not have it");
	ok(!idem_token_write(&token, &none, text) &&
	    !reads(new, IDEM_TOKEN_TEXT, &none), "without keys nothing goes");
	idem_token_keys_free(&before);
	idem_token_keys_free(&between);
	idem_token_keys_free(&after);
}

/* --- store keys ----------------------------------------------------------- */

static struct idem_digest
store_key(const struct idem_token *token)
{
	struct idem_digest key;

	if (!idem_token_store_key(token, &key))
		bail_out("no store key");
	return key;
}

static void
test_store_key(void)
{
	struct idem_token token = example(), other;
	struct idem_digest key = store_key(&token), changed;

	other = token;
	memset(&other.history, 9, sizeof other.history);
	changed = store_key(&other);
	ok(idem_digest_equal(&key, &changed),
	    "the history is not in a store key, since it is told after it");
	is_bytes(key.at, 6, "\x01\x8c\xc2\x51\xf4\x00", 6,
	    "a store key begins with the time");
	other = token;
	other.random[15] ^= 1;
	changed = store_key(&other);
	ok(!idem_digest_equal(&key, &changed), "another random has another");
	other = token;
	other.route[0] ^= 1;
	changed = store_key(&other);
	ok(!idem_digest_equal(&key, &changed), "so has another route");
	other = token;
	other.store[0] ^= 1;
	changed = store_key(&other);
	ok(!idem_digest_equal(&key, &changed), "and another store");
	other = token;
	other.arbiter = IDEM_TOKEN_LEDGER;
	changed = store_key(&other);
	ok(!idem_digest_equal(&key, &changed), "and another arbiter");
}

static void
test_order(void)
{
	struct idem_token token = example();
	struct idem_digest before, key;
	uint32_t chance = 1;
	int i, wrong = 0;
	size_t at;

	before = store_key(&token);
	for (i = 0; i < 2000; i++) {
		token.minted_ms += 1 + chance_below(&chance, 100000);
		for (at = 0; at < sizeof token.random; at++)
			token.random[at] = (uint8_t)chance_below(&chance, 256);
		key = store_key(&token);
		wrong += memcmp(before.at, key.at, sizeof key.at) >= 0;
		before = key;
	}
	is_int(wrong, 0, "store keys are in the order of minting");
}

static void
test_names(void)
{
	uint8_t a[4], b[4];

	ok(idem_token_name(idem_bytes_text("abc"), a), "a name has four bytes");
	is_bytes(a, 4, "\xba\x78\x16\xbf", 4, "the first of its SHA-256");
	ok(idem_token_name(idem_bytes_text(""), b) && memcmp(a, b, 4) != 0,
	    "an empty name has others");
}

int
main(void)
{
	struct idem_token_keys keys;
	char file[200];

	test_hmac();
	test_keys();
	test_mistakes();
	test_too_many();
	snprintf(file, sizeof file, "a %s\n", hex_a);
	need_keys(&keys, file);
	test_round(&keys);
	test_flips(&keys);
	test_other_kinds(&keys);
	idem_token_keys_free(&keys);
	test_rotation();
	test_store_key();
	test_order();
	test_names();
	return done();
}
