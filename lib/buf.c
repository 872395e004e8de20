/* SPDX-License-Identifier: ISC */
#include "buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_FIRST 64	/* most of what we build fits in one or two of these */

static size_t
size_for(const struct idem_buf *b, size_t need)
{
	size_t size = b->size > 0 ? b->size : SIZE_FIRST;

	/* What comes first is often all. */
	if (b->size == 0 && need > size)
		size = need;
	while (size < need)
		size = size > SIZE_MAX / 2 ? need : size * 2;
	if (b->max > 0 && size > b->max)
		size = b->max;
	return size;
}

/* Room for more bytes after the present ones, or failed. */
static bool
make_room(struct idem_buf *b, size_t more)
{
	size_t most = b->max > 0 ? b->max : SIZE_MAX;
	size_t size;
	uint8_t *at;

	if (b->failed)
		return false;
	if (b->len > most || more > most - b->len) {
		b->failed = true;
		return false;
	}
	if (b->len + more <= b->size)
		return true;
	size = size_for(b, b->len + more);
	at = realloc(b->at, size);
	if (at == NULL) {
		b->failed = true;
		return false;
	}
	b->at = at;
	b->size = size;
	return true;
}

void
idem_buf_append(struct idem_buf *b, const void *at, size_t len)
{
	if (!make_room(b, len) || len == 0)
		return;
	memcpy(b->at + b->len, at, len);
	b->len += len;
}

void
idem_buf_text(struct idem_buf *b, const char *text)
{
	idem_buf_append(b, text, strlen(text));
}

__attribute__((format(printf, 2, 0)))
static void
format_long(struct idem_buf *b, const char *format, va_list args)
{
	char *text = NULL;
	int n = vasprintf(&text, format, args);

	if (n < 0) {
		b->failed = true;
		return;
	}
	idem_buf_append(b, text, (size_t)n);
	free(text);
}

void
idem_buf_printf(struct idem_buf *b, const char *format, ...)
{
	char text[256];		/* by far the most; longer ones take memory */
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text, sizeof text, format, args);
	va_end(args);
	if (n < 0) {
		b->failed = true;
	} else if ((size_t)n < sizeof text) {
		idem_buf_append(b, text, (size_t)n);
	} else {
		va_start(args, format);
		format_long(b, format, args);
		va_end(args);
	}
}

void
idem_buf_u8(struct idem_buf *b, uint8_t n)
{
	idem_buf_append(b, &n, 1);
}

void
idem_buf_u16(struct idem_buf *b, uint16_t n)
{
	const uint8_t at[2] = { (uint8_t)(n >> 8), (uint8_t)n };

	idem_buf_append(b, at, sizeof at);
}

static void
put_u32(uint8_t at[4], uint32_t n)
{
	at[0] = (uint8_t)(n >> 24);
	at[1] = (uint8_t)(n >> 16);
	at[2] = (uint8_t)(n >> 8);
	at[3] = (uint8_t)n;
}

void
idem_buf_u32(struct idem_buf *b, uint32_t n)
{
	uint8_t at[4];

	put_u32(at, n);
	idem_buf_append(b, at, sizeof at);
}

void
idem_buf_u64(struct idem_buf *b, uint64_t n)
{
	uint8_t at[8];

	put_u32(at, (uint32_t)(n >> 32));
	put_u32(at + 4, (uint32_t)n);
	idem_buf_append(b, at, sizeof at);
}

bool
idem_buf_ok(const struct idem_buf *b)
{
	return !b->failed;
}

struct idem_bytes
idem_buf_bytes(const struct idem_buf *b)
{
	return (struct idem_bytes){ b->at, b->len };
}

void
idem_buf_drop(struct idem_buf *b, size_t len)
{
	if (len >= b->len) {
		b->len = 0;
		return;
	}
	if (len == 0)
		return;
	b->len -= len;
	memmove(b->at, b->at + len, b->len);
}

void
idem_buf_clear(struct idem_buf *b)
{
	b->len = 0;
	b->failed = false;
}

void
idem_buf_free(struct idem_buf *b)
{
	free(b->at);
	*b = (struct idem_buf){ 0 };
}

struct idem_bytes
idem_bytes_text(const char *text)
{
	return (struct idem_bytes){ text, strlen(text) };
}

bool
idem_bytes_equal(struct idem_bytes a, struct idem_bytes b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.at, b.at, a.len) == 0);
}

bool
idem_bytes_is(struct idem_bytes b, const char *text)
{
	return idem_bytes_equal(b, idem_bytes_text(text));
}

/* tolower() asks the locale. */
static uint8_t
lower(uint8_t c)
{
	return c >= 'A' && c <= 'Z' ? (uint8_t)(c + ('a' - 'A')) : c;
}

bool
idem_bytes_is_nocase(struct idem_bytes b, const char *text)
{
	const uint8_t *at = b.at;
	size_t i;

	if (b.len != strlen(text))
		return false;
	for (i = 0; i < b.len; i++)
		if (lower(at[i]) != lower((uint8_t)text[i]))
			return false;
	return true;
}

struct idem_bytes
idem_read_bytes(struct idem_reader *r, size_t len)
{
	struct idem_bytes taken = { r->left.at, len };

	if (r->short_ || len > r->left.len) {
		r->short_ = true;
		return (struct idem_bytes){ NULL, 0 };
	}
	if (len == 0)
		return taken;
	r->left.at = (const uint8_t *)r->left.at + len;
	r->left.len -= len;
	return taken;
}

void
idem_read_copy(struct idem_reader *r, void *to, size_t len)
{
	struct idem_bytes from = idem_read_bytes(r, len);

	if (len == 0)
		return;
	if (r->short_)
		memset(to, 0, len);
	else
		memcpy(to, from.at, len);
}

static uint64_t
read_big_endian(struct idem_reader *r, size_t len)
{
	uint8_t at[8];
	uint64_t n = 0;
	size_t i;

	idem_read_copy(r, at, len);
	for (i = 0; i < len; i++)
		n = n << 8 | at[i];
	return n;
}

uint8_t
idem_read_u8(struct idem_reader *r)
{
	return (uint8_t)read_big_endian(r, 1);
}

uint16_t
idem_read_u16(struct idem_reader *r)
{
	return (uint16_t)read_big_endian(r, 2);
}

uint32_t
idem_read_u32(struct idem_reader *r)
{
	return (uint32_t)read_big_endian(r, 4);
}

uint64_t
idem_read_u64(struct idem_reader *r)
{
	return read_big_endian(r, 8);
}

void
idem_hex(const void *at, size_t len, char *out)
{
	static const char digits[] = "0123456789abcdef";
	const uint8_t *from = at;
	size_t i;

	for (i = 0; i < len; i++) {
		*out++ = digits[from[i] >> 4];
		*out++ = digits[from[i] & 15];
	}
	*out = '\0';
}

static int
digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

bool
idem_unhex(const char *text, void *out, size_t len)
{
	uint8_t *to = out;
	size_t i;
	int high, low;

	for (i = 0; i < len; i++) {
		high = digit(*text);
		if (high < 0)
			return false;
		low = digit(text[1]);
		if (low < 0)
			return false;
		to[i] = (uint8_t)(high << 4 | low);
		text += 2;
	}
	return *text == '\0';
}
