/* SPDX-License-Identifier: ISC */
#include "tap.h"
#include "token.h"

#include <string.h>

#define NOW INT64_C(1704067200000)
#define TEN "0123456789"
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN

#define UUID .style = IDEM_TOKEN_UUID
#define BUSINESS .style = IDEM_TOKEN_BUSINESS
#define COMPOSITE .style = IDEM_TOKEN_COMPOSITE

/* What is made of what; NULL: nothing. */
static const struct {
	const char *what;
	struct idem_token_made made;
	const char *key;
} rows[] = {
	{ "a UUID has version 4 and no hyphens", { UUID },
	  "00000000000040008000000000000000" },
	{ "and else it is random", { UUID, .random = { 0xff, 0xff, 0xff, 0xff,
	  0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	  0xff } }, "ffffffffffff4fffbfffffffffffffff" },
	{ "a business key says what, which one, when, and four digits",
	  { BUSINESS, .type = "order", .id = "10001", .now_ms = NOW,
	  .random = { 0, 0, 0, 0, 0, 0, 0x22, 0x13 } },
	  "order:10001:1704067200000:8723" },
	{ "which stay four", { BUSINESS, .type = "r", .id = "2", .now_ms = 1,
	  .random = { 0, 0, 0, 0, 0, 0, 0x27, 0x10 } }, "r:2:1:0000" },
	{ "a composite key says on which machine, and its number there",
	  { COMPOSITE, .type = "order", .id = "10001", .now_ms = NOW,
	  .machine = "17", .sequence = 42 },
	  "order:10001:1704067200000:17:0042" },
	{ "which begins again after 9999", { COMPOSITE, .type = "order",
	  .id = "1", .now_ms = 0, .machine = "m", .sequence = 10000 },
	  "order:1:0:m:0000" },
	{ "however large it is", { COMPOSITE, .type = "order", .id = "1",
	  .now_ms = 0, .machine = "m", .sequence = UINT64_MAX },
	  "order:1:0:m:1615" },
	{ "visible ASCII may be in a part", { BUSINESS, .type = "!~#=?/",
	  .id = "a.b", .now_ms = 1 }, "!~#=?/:a.b:1:0000" },
	{ "a business key has a type", { BUSINESS, .id = "1" }, NULL },
	{ "and an id", { BUSINESS, .type = "order" }, NULL },
	{ "that are not empty", { BUSINESS, .type = "", .id = "1" }, NULL },
	{ "neither of them", { BUSINESS, .type = "order", .id = "" }, NULL },
	{ "a composite key has a machine", { COMPOSITE, .type = "order",
	  .id = "1", .sequence = 1 }, NULL },
	{ "and a type", { COMPOSITE, .id = "1", .machine = "m" }, NULL },
	{ "and an id", { COMPOSITE, .type = "order", .machine = "m" }, NULL },
	{ "a part with the sign between parts is none",
	  { BUSINESS, .type = "a:b", .id = "1" }, NULL },
	{ "nor one with a blank", { BUSINESS, .type = "a", .id = "1 2" },
	  NULL },
	{ "nor one with a comma, which a bare key may not hold",
	  { BUSINESS, .type = "a", .id = "1,2" }, NULL },
	{ "nor a semicolon", { BUSINESS, .type = "a;", .id = "1" }, NULL },
	{ "nor a quotation mark", { COMPOSITE, .type = "a", .id = "1",
	  .machine = "\"m\"" }, NULL },
	{ "nor a backslash", { BUSINESS, .type = "a\\b", .id = "1" }, NULL },
	{ "nor a line's end", { BUSINESS, .type = "a\n", .id = "1" }, NULL },
	{ "nor DEL", { BUSINESS, .type = "a", .id = "\x7f" }, NULL },
	{ "nor bytes beyond ASCII", { BUSINESS, .type = "\xc3\xa4",
	  .id = "1" }, NULL },
	{ "a time before 1970 is none", { BUSINESS, .type = "a", .id = "1",
	  .now_ms = -1 }, NULL },
	{ "for neither", { COMPOSITE, .type = "a", .id = "1", .machine = "m",
	  .now_ms = -1 }, NULL },
	{ "255 bytes are a key", { BUSINESS, .type = HUNDRED,
	  .id = HUNDRED TEN TEN TEN "01234", .now_ms = NOW },
	  HUNDRED ":" HUNDRED TEN TEN TEN "01234:1704067200000:0000" },
	{ "256 are none", { BUSINESS, .type = HUNDRED,
	  .id = HUNDRED TEN TEN TEN "012345", .now_ms = NOW }, NULL },
	{ "of either style", { COMPOSITE, .type = HUNDRED,
	  .id = HUNDRED TEN TEN TEN "012", .machine = "mm", .now_ms = NOW },
	  NULL },
};

/* What is made can be sent bare, and is read as itself. */
static bool
sendable(const struct idem_key *key)
{
	struct idem_bytes value = { key->at, key->len };
	struct idem_key read;

	return idem_key_parse(&value, 1, &read) == IDEM_KEY_GOOD &&
	    memcmp(&read, key, sizeof read) == 0;
}

int
main(void)
{
	static const struct idem_key nothing;
	struct idem_key key;
	bool made;
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		memset(&key, 1, sizeof key);
		made = idem_token_make(&rows[i].made, &key);
		if (rows[i].key == NULL) {
			ok(!made && memcmp(&key, &nothing, sizeof key) == 0,
			    "%s", rows[i].what);
			continue;
		}
		ok(made && sendable(&key), "%s: it can be sent bare",
		    rows[i].what);
		is_bytes(key.at, key.len, rows[i].key, strlen(rows[i].key),
		    "%s", rows[i].what);
	}
	return done();
}
