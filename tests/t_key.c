/* SPDX-License-Identifier: ISC */
#include "key.h"
#include "tap.h"

#include <string.h>

#define FIELDS_MAX 3

#define GOOD IDEM_KEY_GOOD
#define EMPTY IDEM_KEY_EMPTY
#define BAD IDEM_KEY_MALFORMED
#define LONG IDEM_KEY_TOO_LONG
#define DIFFER IDEM_KEY_DIFFERENT
#define ABSENT IDEM_KEY_ABSENT

/* The fields of one request, and the key they name if they are good. */
static const struct {
	enum idem_key_state want;
	const char *key;
	const char *fields[FIELDS_MAX];
} rows[] = {
	/* one String */
	{ GOOD, "k1", { "\"k1\"" } },
	{ GOOD, "k1", { "  \"k1\"\t" } },
	{ GOOD, "k 1", { "\"k 1\"" } },
	{ GOOD, " ", { "\" \"" } },
	{ GOOD, "a,b;c", { "\"a,b;c\"" } },
	{ GOOD, "a\"b\\c", { "\"a\\\"b\\\\c\"" } },
	{ GOOD, "!#[]~", { "\"!#[]~\"" } },
	{ BAD, NULL, { "\"k1" } },
	{ BAD, NULL, { "\"" } },
	{ BAD, NULL, { "\"k1\\" } },
	{ BAD, NULL, { "\"k1\\\"" } },
	{ BAD, NULL, { "\"a\\bc\"" } },
	{ BAD, NULL, { "\"k1\"x" } },
	{ BAD, NULL, { "\"k1\" x" } },
	{ BAD, NULL, { "\"k1\"\"k1\"" } },
	{ BAD, NULL, { "\"a\tb\"" } },
	{ BAD, NULL, { "\"a\rb\"" } },
	{ BAD, NULL, { "\"a\nb\"" } },
	{ BAD, NULL, { "\"a\x7f\"" } },
	{ BAD, NULL, { "\"\xc3\xa4\"" } },

	/* its parameters */
	{ GOOD, "k1", { "\"k1\";a" } },
	{ GOOD, "k1", { "\"k1\";a=1; b=?0;c=tok/en;*d.e-f_9=:YQ==:" } },
	{ GOOD, "k1", { "\"k1\";a=\"x, \\\"y\"" } },
	{ GOOD, "k1", { "\"k1\";a=1, \"k1\"; a=2" } },
	{ BAD, NULL, { "\"k1\";" } },
	{ BAD, NULL, { "\"k1\" ;a" } },
	{ BAD, NULL, { "\"k1\";a=" } },
	{ BAD, NULL, { "\"k1\";A=1" } },
	{ BAD, NULL, { "\"k1\";1a" } },
	{ BAD, NULL, { "\"k1\";a=\"x" } },
	{ BAD, NULL, { "\"k1\";a=1 b" } },
	{ BAD, NULL, { "\"k1\";;a" } },

	/* bare */
	{ GOOD, "k1", { "k1" } },
	{ GOOD, "k1", { " \t k1 " } },
	{ GOOD, "8e03978e-40d5-43dd-bc93-6894a57f9324",
	    { "8e03978e-40d5-43dd-bc93-6894a57f9324" } },
	{ GOOD, "a{}*:/=b", { "a{}*:/=b" } },
	{ GOOD, "%s%n%b", { "%s%n%b" } },
	{ BAD, NULL, { "k 1" } },
	{ BAD, NULL, { "k\t1" } },
	{ BAD, NULL, { "k1;a=1" } },
	{ BAD, NULL, { "k\"1\"" } },
	{ BAD, NULL, { "k\\1" } },
	{ BAD, NULL, { "k1\r\nX: y" } },
	{ BAD, NULL, { "k1\n" } },
	{ BAD, NULL, { "k\x01" } },
	{ BAD, NULL, { "k\x7f" } },
	{ BAD, NULL, { "\xc3\xa4" } },
	{ BAD, NULL, { "\xff" } },
	{ BAD, NULL, { "'k1', 'k2" "\xe2\x80\x99" } },

	/* none, and nothing */
	{ ABSENT, NULL, { NULL } },
	{ EMPTY, NULL, { "" } },
	{ EMPTY, NULL, { " \t " } },
	{ EMPTY, NULL, { "\"\"" } },
	{ EMPTY, NULL, { "\"\";a=1" } },
	{ EMPTY, NULL, { "," } },
	{ EMPTY, NULL, { "", " , \"\"" } },

	/* several */
	{ GOOD, "k1", { "k1, k1" } },
	{ GOOD, "k1", { "k1,k1,k1" } },
	{ GOOD, "k1", { "\"k1\", k1" } },
	{ GOOD, "k1", { "k1", "\"k1\"" } },
	{ GOOD, "k1", { "k1", "k1", "\"k1\",k1" } },
	{ GOOD, "k1,k1", { "\"k1,k1\"" } },
	{ DIFFER, NULL, { "k1, k2" } },
	{ DIFFER, NULL, { "\"k1\", \"k2\"" } },
	{ DIFFER, NULL, { "\"k1\", k2" } },
	{ DIFFER, NULL, { "k1", "k2" } },
	{ DIFFER, NULL, { "k1", "k2", "k1" } },
	{ DIFFER, NULL, { "k1, k1", "\"k1, k1\"" } },
	{ DIFFER, NULL, { "k1", "K1" } },
	{ DIFFER, NULL, { "k1", "k11" } },
	{ DIFFER, NULL, { "k11", "k1" } },
	{ DIFFER, NULL, { "k1", "" } },
	{ DIFFER, NULL, { "", "k1" } },
	{ DIFFER, NULL, { "k1," } },
	{ DIFFER, NULL, { ",k1" } },
	{ BAD, NULL, { "k1, \"k1" } },
	{ BAD, NULL, { "k1", "k2", "\"" } },
	{ BAD, NULL, { "\"", "k1", "k2" } },
};

static enum idem_key_state
parse(const char *const *fields, struct idem_key *key)
{
	struct idem_bytes values[FIELDS_MAX];
	size_t n;

	for (n = 0; n < FIELDS_MAX && fields[n] != NULL; n++)
		values[n] = idem_bytes_text(fields[n]);
	return idem_key_parse(values, n, key);
}

static void
test_rows(void)
{
	struct idem_key key;
	size_t i;
	enum idem_key_state state;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		memset(&key, 'u', sizeof key);
		state = parse(rows[i].fields, &key);
		is_int(state, rows[i].want, "row %zu: %s", i,
		    idem_key_state_text(rows[i].want));
		if (rows[i].key != NULL)
			is_bytes(key.at, key.len, rows[i].key,
			    strlen(rows[i].key), "and it is %s", rows[i].key);
		else
			ok(key.len == 'u' && key.at[0] == 'u',
			    "and no key is set");
	}
}

static enum idem_key_state
parse_bytes(const void *at, size_t len, struct idem_key *key)
{
	struct idem_bytes value = { at, len };

	return idem_key_parse(&value, 1, key);
}

static void
test_lengths(void)
{
	char text[10002];
	struct idem_key key;
	size_t i;

	memset(text, 'k', sizeof text);
	text[0] = '"';
	is_int(parse_bytes(text + 1, 255, &key), GOOD, "255 bytes are a key");
	is_bytes(key.at, key.len, text + 1, 255, "which is all of them");
	is_int(parse_bytes(text + 1, 256, &key), LONG, "256 are too long");
	is_int(parse_bytes(text + 1, 10000, &key), LONG, "10,000 as well");
	text[256] = '"';
	is_int(parse_bytes(text, 257, &key), GOOD, "255 in quotes are a key");
	is_bytes(key.at, key.len, text + 1, 255, "without the quotes");
	text[256] = 'k';
	text[257] = '"';
	is_int(parse_bytes(text, 258, &key), LONG, "256 there are too long");
	for (i = 1; i < 511; i++)
		text[i] = i % 2 ? '\\' : '"';
	text[511] = '"';
	is_int(parse_bytes(text, 512, &key), GOOD, "an escape is one byte");
	is_int(key.len, 255, "so that 255 of them are a key");
	for (i = 0; i < 510; i++)
		text[i] = i % 2 ? '\xa4' : '\xc3';
	is_int(parse_bytes(text, 510, &key), BAD,
	    "255 characters of two bytes are not [idem:D21]");
}

static void
test_bytes(void)
{
	char longer[300];
	struct idem_bytes values[2];
	struct idem_key key, other;

	is_int(parse_bytes("k\0001", 3, &key), BAD, "a NUL in a bare key");
	is_int(parse_bytes("\"k\0\"", 4, &key), BAD, "a NUL in a String");
	is_int(parse_bytes("k\0", 2, &key), BAD, "a NUL behind a key");
	is_int(parse_bytes("\0", 1, &key), BAD, "a NUL alone");
	is_int(idem_key_parse(NULL, 0, &key), ABSENT, "no field is no key");

	memset(longer, 'k', sizeof longer);
	values[0] = (struct idem_bytes){ NULL, 0 };
	values[1] = idem_bytes_text("k1");
	is_int(idem_key_parse(values, 2, &key), GOOD,
	    "a field that is not there does not matter");
	values[0] = (struct idem_bytes){ longer, sizeof longer };
	is_int(idem_key_parse(values, 2, &key), LONG,
	    "too long comes before different");
	values[1] = values[0];
	values[0] = idem_bytes_text("k1");
	is_int(idem_key_parse(values, 2, &key), LONG, "in either order");
	values[0] = idem_bytes_text("\"");
	is_int(idem_key_parse(values, 2, &key), BAD,
	    "malformed comes before too long");

	memset(&key, 'u', sizeof key);
	parse_bytes("k1", 2, &key);
	memset(&other, 0, sizeof other);
	other.len = 2;
	memcpy(other.at, "k1", 2);
	ok(memcmp(&key, &other, sizeof key) == 0,
	    "behind its length a key is zeroes");
}

int
main(void)
{
	test_rows();
	test_lengths();
	test_bytes();
	return done();
}
