/* SPDX-License-Identifier: ISC */
/*
 * The low-level interface: EVP's takes memory, a look-up and a lock for each
 * digest, three of which are made for every request (a tenth of a replay).
 * HMAC() is built on it, and its first caller waits a millisecond, which is
 * idem-cgi in each of its processes; so the two digests that it is are here.
 */
#define OPENSSL_SUPPRESS_DEPRECATED

#include "digest.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <string.h>
#include <sys/random.h>

_Static_assert(sizeof(SHA256_CTX) <= sizeof ((struct idem_hash *)0)->state,
    "the library's state fits");
_Static_assert(_Alignof(SHA256_CTX) <= _Alignof(uint64_t), "and is aligned");

static SHA256_CTX *
state(struct idem_hash *h)
{
	return (SHA256_CTX *)h->state;
}

void
idem_hash_init(struct idem_hash *h)
{
	h->begun = true;
	h->failed = SHA256_Init(state(h)) != 1;
}

void
idem_hash_add(struct idem_hash *h, const void *at, size_t len)
{
	if (!h->begun)
		h->failed = true;
	if (h->failed || len == 0)
		return;
	h->failed = SHA256_Update(state(h), at, len) != 1;
}

static void
put_u64(uint8_t at[8], uint64_t n)
{
	int i;

	for (i = 7; i >= 0; i--) {
		at[i] = (uint8_t)n;
		n >>= 8;
	}
}

void
idem_hash_u64(struct idem_hash *h, uint64_t n)
{
	uint8_t at[8];

	put_u64(at, n);
	idem_hash_add(h, at, sizeof at);
}

void
idem_hash_part(struct idem_hash *h, struct idem_bytes part)
{
	uint8_t at[128];	/* most are short; one call is half of two */

	if (part.len > sizeof at - 8) {
		idem_hash_u64(h, part.len);
		idem_hash_add(h, part.at, part.len);
		return;
	}
	put_u64(at, part.len);
	if (part.len > 0)
		memcpy(at + 8, part.at, part.len);
	idem_hash_add(h, at, 8 + part.len);
}

bool
idem_hash_final(struct idem_hash *h, struct idem_digest *digest)
{
	bool good;

	good = !h->failed && h->begun &&
	    SHA256_Final(digest->at, state(h)) == 1;
	if (!good)
		memset(digest, 0, sizeof *digest);
	idem_hash_free(h);
	return good;
}

void
idem_hash_free(struct idem_hash *h)
{
	*h = (struct idem_hash){ 0 };
}

/* --- HMAC ----------------------------------------------------------------- */

#define BLOCK 64	/* of SHA-256 */

/* The key as one block: a longer one is its digest (RFC 2104, 2). */
static bool
key_block(struct idem_bytes key, uint8_t block[BLOCK])
{
	struct idem_digest digest;
	struct idem_hash h;
	bool good;

	memset(block, 0, BLOCK);
	if (key.len <= BLOCK) {
		if (key.len > 0)
			memcpy(block, key.at, key.len);
		return true;
	}
	idem_hash_init(&h);
	idem_hash_add(&h, key.at, key.len);
	good = idem_hash_final(&h, &digest);
	memcpy(block, digest.at, sizeof digest.at);
	idem_secret_wipe(&digest, sizeof digest);
	return good;
}

/* The digest of the block under a mask, then of the text. */
static bool
half(const uint8_t block[BLOCK], uint8_t mask, struct idem_bytes text,
    struct idem_digest *digest)
{
	uint8_t masked[BLOCK];
	struct idem_hash h;
	bool good;
	size_t i;

	for (i = 0; i < BLOCK; i++)
		masked[i] = block[i] ^ mask;
	idem_hash_init(&h);
	idem_hash_add(&h, masked, sizeof masked);
	idem_hash_add(&h, text.at, text.len);
	good = idem_hash_final(&h, digest);
	idem_secret_wipe(masked, sizeof masked);
	idem_secret_wipe(&h, sizeof h);
	return good;
}

bool
idem_hmac(struct idem_bytes key, struct idem_bytes text,
    struct idem_digest *digest)
{
	uint8_t block[BLOCK];
	struct idem_digest inner;
	bool good;

	good = key_block(key, block) && half(block, 0x36, text, &inner) &&
	    half(block, 0x5c, (struct idem_bytes){ inner.at, sizeof inner.at },
	    digest);
	idem_secret_wipe(block, sizeof block);
	if (!good)
		memset(digest, 0, sizeof *digest);
	return good;
}

/* ------------------------------------------------------------------------- */

bool
idem_secret_equal(const void *a, const void *b, size_t len)
{
	return CRYPTO_memcmp(a, b, len) == 0;
}

void
idem_secret_wipe(void *at, size_t len)
{
	OPENSSL_cleanse(at, len);
}

bool
idem_digest_equal(const struct idem_digest *a, const struct idem_digest *b)
{
	return CRYPTO_memcmp(a->at, b->at, sizeof a->at) == 0;
}

bool
idem_sha1_hex(struct idem_bytes text, char hex[41])
{
	uint8_t digest[SHA_DIGEST_LENGTH];
	SHA_CTX sha;

	hex[0] = '\0';
	if (SHA1_Init(&sha) != 1 ||
	    (text.len > 0 && SHA1_Update(&sha, text.at, text.len) != 1) ||
	    SHA1_Final(digest, &sha) != 1)
		return false;
	idem_hex(digest, sizeof digest, hex);
	return true;
}

/* The kernel's own: OpenSSL's takes 2 ms of its first caller, which idem-cgi is
   in each of its processes. */
bool
idem_random(void *at, size_t len)
{
	size_t done = 0;
	ssize_t n;

	while (done < len) {
		n = getrandom((char *)at + done, len - done, 0);
		if (n == -1 && errno != EINTR)
			return false;
		if (n > 0)
			done += (size_t)n;
	}
	return true;
}
