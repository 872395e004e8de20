/* SPDX-License-Identifier: ISC */
#include "buf.h"
#include "tap.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void
test_append(void)
{
	static const uint8_t bytes[1000] = { 7 };
	struct idem_buf b = { 0 };
	size_t i;

	ok(idem_buf_ok(&b) && b.len == 0, "zeroes are an empty buf");
	idem_buf_append(&b, NULL, 0);
	ok(idem_buf_ok(&b) && b.at == NULL, "nothing takes no memory");
	for (i = 0; i < 1000; i++)
		idem_buf_u8(&b, (uint8_t)i);
	is_int((long long)b.len, 1000, "a thousand appends are 1000 bytes");
	for (i = 0; i < b.len && b.at[i] == (uint8_t)i; i++)
		;
	is_int((long long)i, 1000, "and each is what was appended");
	idem_buf_drop(&b, 990);
	ok(b.len == 10 && b.at[0] == (uint8_t)990, "drop takes from the front");
	idem_buf_drop(&b, 11);
	is_int((long long)b.len, 0, "dropping more than there is empties it");
	i = b.size;
	ok(i < 2048, "and takes little more room than they need");
	idem_buf_clear(&b);
	ok(b.size == i && b.at != NULL, "clear keeps the room");
	idem_buf_free(&b);
	ok(b.at == NULL && b.size == 0, "free leaves zeroes");
	idem_buf_free(&b);
	ok(b.at == NULL, "free of an empty buf does nothing");
	idem_buf_append(&b, bytes, 1000);
	is_int((long long)b.size, 1000,
	    "a long first append takes as much room as it needs");
	idem_buf_u8(&b, 1);
	ok(b.size >= 2000 && b.at[0] == 7, "and the next one twice that");
	idem_buf_free(&b);
}

static void
test_max(void)
{
	struct idem_buf b = { .max = 5 };

	idem_buf_text(&b, "12345");
	ok(idem_buf_ok(&b), "as many bytes as max are taken");
	idem_buf_u8(&b, '6');
	ok(!idem_buf_ok(&b) && b.len == 5, "one more fails and adds nothing");
	idem_buf_drop(&b, 5);
	idem_buf_text(&b, "1");
	ok(!idem_buf_ok(&b) && b.len == 0, "the error sticks");
	idem_buf_clear(&b);
	idem_buf_printf(&b, "%d", 12345);
	ok(idem_buf_ok(&b) && b.len == 5, "printf may end just at max");
	idem_buf_printf(&b, "%s", "");
	ok(idem_buf_ok(&b), "and nothing more is not over it");
	idem_buf_printf(&b, "%c", 'x');
	ok(!idem_buf_ok(&b), "but a byte is");
	idem_buf_free(&b);

	b = (struct idem_buf){ 0 };
	idem_buf_u8(&b, 'x');
	idem_buf_append(&b, "", SIZE_MAX);
	ok(!idem_buf_ok(&b) && b.len == 1, "a length past all memory fails");
	idem_buf_free(&b);
}

static void
test_printf(void)
{
	struct idem_buf b = { 0 };
	char text[1001];
	size_t len;

	memset(text, 'x', 1000);
	for (len = 254; len < 258; len++) {
		text[len] = '\0';
		idem_buf_clear(&b);
		idem_buf_printf(&b, "%s", text);
		is_bytes(b.at, b.len, text, len,
		    "printf writes %zu bytes, without NUL", len);
		text[len] = 'x';
	}
	text[1000] = '\0';
	idem_buf_clear(&b);
	idem_buf_text(&b, "a");
	idem_buf_printf(&b, "%s=%d", text, -7);
	ok(b.len == 1004 && memcmp(b.at, "axxx", 4) == 0 &&
	    memcmp(b.at + 1001, "=-7", 3) == 0, "a long printf goes behind");
	idem_buf_free(&b);
}

static void
test_numbers(void)
{
	static const uint8_t want[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
	    13, 14, 15, 'z' };
	struct idem_reader r;
	struct idem_buf b = { 0 };
	uint8_t copy[2] = { 9, 9 };

	idem_buf_u8(&b, 1);
	idem_buf_u16(&b, 0x0203);
	idem_buf_u32(&b, 0x04050607);
	idem_buf_u64(&b, 0x08090a0b0c0d0e0f);
	idem_buf_u8(&b, 'z');
	is_bytes(b.at, b.len, want, sizeof want, "numbers are big endian");

	r = (struct idem_reader){ .left = idem_buf_bytes(&b) };
	is_int(idem_read_u8(&r), 1, "a byte is read back");
	is_int(idem_read_u16(&r), 0x0203, "two bytes are");
	is_int(idem_read_u32(&r), 0x04050607, "four bytes are");
	ok(idem_read_u64(&r) == 0x08090a0b0c0d0e0f, "eight bytes are");
	ok(!r.short_ && r.left.len == 1, "and one is left");
	is_int(idem_read_u16(&r), 0, "a short read gives zero");
	ok(r.short_, "and says so");
	is_int(idem_read_u8(&r), 0, "even if less would have been there");
	idem_read_copy(&r, copy, sizeof copy);
	ok(copy[0] == 0 && copy[1] == 0, "a short copy gives zeroes");
	ok(idem_read_bytes(&r, 0).at == NULL, "and short bytes are none");

	r = (struct idem_reader){ .left = idem_buf_bytes(&b) };
	ok(idem_bytes_equal(idem_read_bytes(&r, 3),
	    (struct idem_bytes){ want, 3 }), "bytes are read where they are");
	idem_read_bytes(&r, SIZE_MAX);
	ok(r.short_, "a length past all memory is short");
	r = (struct idem_reader){ 0 };
	idem_read_bytes(&r, 0);
	ok(!r.short_, "nothing can be read from nothing");
	idem_buf_free(&b);
}

static void
test_bytes(void)
{
	struct idem_bytes none = { NULL, 0 };

	ok(idem_bytes_equal(none, idem_bytes_text("")), "no bytes are equal");
	ok(idem_bytes_is(idem_bytes_text("abc"), "abc"), "abc is abc");
	ok(!idem_bytes_is(idem_bytes_text("abc"), "abd"), "abc is not abd");
	ok(!idem_bytes_is(idem_bytes_text("abc"), "ab"), "nor ab");
	ok(idem_bytes_is_nocase(idem_bytes_text("aBc-Z"), "AbC-z"),
	    "case does not matter where asked");
	ok(!idem_bytes_is_nocase(idem_bytes_text("[@"), "{`"),
	    "only letters have case");
	ok(!idem_bytes_is_nocase(idem_bytes_text("\xc4"), "\xe4"),
	    "and only ASCII ones");
}

static void
test_hex(void)
{
	static const struct {
		const char *text;
		bool good;
	} rows[] = {
		{ "00ff7F", true },
		{ "00ff7", false },
		{ "00ff7f0", false },
		{ "00ff7f00", false },
		{ "00ff7g", false },
		{ "00ff 7", false },
		{ "0x00ff", false },
		{ "", false },
	};
	static const uint8_t bytes[3] = { 0x00, 0xff, 0x7f };
	uint8_t got[3];
	char text[7];
	size_t i;

	idem_hex(bytes, sizeof bytes, text);
	is(text, "00ff7f", "hex is two lower-case digits a byte");
	idem_hex(NULL, 0, text);
	is(text, "", "and empty for nothing");
	for (i = 0; i < sizeof rows / sizeof *rows; i++)
		ok(idem_unhex(rows[i].text, got, sizeof got) == rows[i].good &&
		    (!rows[i].good || memcmp(got, bytes, sizeof got) == 0),
		    "\"%s\" is %sthree bytes", rows[i].text,
		    rows[i].good ? "" : "not ");
}

int
main(void)
{
	test_append();
	test_max();
	test_printf();
	test_numbers();
	test_bytes();
	test_hex();
	return done();
}
