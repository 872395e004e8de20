/* SPDX-License-Identifier: ISC */
#include "digest.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

#define MILLION 1000000

/* NIST's examples for FIPS 180-4, and the digest of nothing. */
static const struct {
	const char *text, *digest;
} vectors[] = {
	{ "",
	  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
	{ "abc",
	  "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
	{ "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
	  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
	{ "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
	  "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
	  "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1" },
};

static const char *
hex(const struct idem_digest *d)
{
	static char text[2 * IDEM_DIGEST_LEN + 1];

	idem_hex(d->at, sizeof d->at, text);
	return text;
}

static void
test_vectors(void)
{
	struct idem_digest d;
	struct idem_hash h;
	size_t i, at;

	for (i = 0; i < sizeof vectors / sizeof *vectors; i++) {
		idem_hash_init(&h);
		idem_hash_add(&h, vectors[i].text, strlen(vectors[i].text));
		ok(idem_hash_final(&h, &d), "example %zu has a digest", i);
		is(hex(&d), vectors[i].digest, "which is the published one");
		idem_hash_init(&h);
		for (at = 0; vectors[i].text[at] != '\0'; at++)
			idem_hash_add(&h, vectors[i].text + at, 1);
		idem_hash_final(&h, &d);
		is(hex(&d), vectors[i].digest, "byte by byte as well");
	}
}

static void
test_million(void)
{
	struct idem_digest d;
	struct idem_hash h;
	char *a = malloc(MILLION);

	if (a == NULL)
		bail_out("no memory");
	memset(a, 'a', MILLION);
	idem_hash_init(&h);
	idem_hash_add(&h, a, MILLION);
	idem_hash_final(&h, &d);
	free(a);
	is(hex(&d),
	    "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
	    "a million times \"a\" has the published digest");
}

static void
digest_parts(struct idem_digest *d, const char *a, const char *b)
{
	struct idem_hash h;

	idem_hash_init(&h);
	idem_hash_part(&h, idem_bytes_text(a));
	idem_hash_part(&h, idem_bytes_text(b));
	idem_hash_final(&h, d);
}

static void
test_parts(void)
{
	struct idem_digest a, b, whole;
	struct idem_hash h;

	digest_parts(&a, "ab", "c");
	digest_parts(&b, "a", "bc");
	ok(!idem_digest_equal(&a, &b), "a part's end is part of the digest");
	digest_parts(&b, "ab", "c");
	ok(idem_digest_equal(&a, &b), "equal parts have an equal digest");
	digest_parts(&a, "", "abc");
	digest_parts(&b, "abc", "");
	ok(!idem_digest_equal(&a, &b), "an empty part counts where it stands");

	digest_parts(&a, "x", "");
	idem_hash_init(&h);
	idem_hash_add(&h, "\0\0\0\0\0\0\0\1x\0\0\0\0\0\0\0\0", 17);
	idem_hash_final(&h, &whole);
	is_bytes(a.at, sizeof a.at, whole.at, sizeof whole.at,
	    "a part is its length in 8 bytes, big endian, and itself");
	b = a;
	b.at[31] ^= 1;
	ok(!idem_digest_equal(&a, &b), "the last bit of a digest counts");
}

static void
test_failures(void)
{
	static const struct idem_digest zeroes;
	struct idem_hash h = { 0 };
	struct idem_digest d;

	memset(&d, 1, sizeof d);
	idem_hash_add(&h, "x", 1);
	ok(h.failed, "adding to zeroes fails");
	ok(!idem_hash_final(&h, &d) && idem_digest_equal(&d, &zeroes),
	    "and their digest is false and zeroes");
	idem_hash_init(&h);
	h.failed = true;
	memset(&d, 1, sizeof d);
	idem_hash_add(&h, "x", 1);
	ok(!idem_hash_final(&h, &d) && idem_digest_equal(&d, &zeroes),
	    "an error sticks to the end");
	ok(!h.begun, "and nothing is left to go on with");
	idem_hash_init(&h);
	idem_hash_final(&h, &d);
	ok(!idem_hash_final(&h, &d), "a digest is given once");
	idem_hash_init(&h);
	idem_hash_free(&h);
	idem_hash_free(&h);
	ok(!h.begun, "free may come twice");
}

/* FIPS 180-4's example, and the digest of nothing. */
static void
test_sha1(void)
{
	char text[41];

	ok(idem_sha1_hex(idem_bytes_text("abc"), text),
	    "there is SHA-1, to name scripts by");
	is(text, "a9993e364706816aba3e25717850c26c9cd0d89d",
	    "as it is published");
	idem_sha1_hex((struct idem_bytes){ 0 }, text);
	is(text, "da39a3ee5e6b4b0d3255bfef95601890afd80709",
	    "of nothing too");
}

static void
test_random(void)
{
	uint8_t a[16] = { 0 }, b[16] = { 0 };

	ok(idem_random(a, sizeof a) && idem_random(b, sizeof b),
	    "there are random bytes");
	ok(memcmp(a, b, sizeof a) != 0, "which differ from call to call");
	ok(idem_random(a, 0), "none may be asked for");
}

int
main(void)
{
	test_vectors();
	test_million();
	test_parts();
	test_failures();
	test_sha1();
	test_random();
	return done();
}
