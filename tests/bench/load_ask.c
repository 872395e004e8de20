/* SPDX-License-Identifier: ISC */
#include "load.h"

#include "rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_MAX 10000000u
#define LINE_MAX 255u

static const char zeroes[LOAD_DIGITS + 1] = "0000000000";

/* --- which key ------------------------------------------------------------ */

static bool
counted(const char *text, const char *name, uint32_t *count)
{
	size_t len = strlen(name);
	unsigned long n;
	char *end;

	if (strncmp(text, name, len) != 0 || text[len] != ':')
		return false;
	n = strtoul(text + len + 1, &end, 10);
	*count = (uint32_t)n;
	return *end == '\0' && n >= 1 && n <= COUNT_MAX;
}

/* With the newline. */
static size_t
line_size(const struct load_keys *keys)
{
	const uint8_t *at = keys->lines.at;
	const uint8_t *end = memchr(at, '\n', keys->lines.len);

	return end == NULL ? 0 : (size_t)(end - at) + 1;
}

static bool
all_alike(const struct load_keys *keys, size_t size)
{
	size_t i;

	for (i = 0; i < keys->lines.len; i += size)
		if (memchr(keys->lines.at + i, '\n', size) !=
		    keys->lines.at + i + size - 1)
			return false;
	return true;
}

static bool
read_lines(struct load_keys *keys, const char *path)
{
	FILE *file = fopen(path, "re");
	char some[4096];
	size_t n, size;

	if (file == NULL)
		return false;
	while ((n = fread(some, 1, sizeof some, file)) > 0)
		idem_buf_append(&keys->lines, some, n);
	fclose(file);
	if (!idem_buf_ok(&keys->lines) || keys->lines.len == 0)
		return false;
	size = line_size(keys);
	if (size < 2 || size > LINE_MAX + 1 || keys->lines.len % size != 0 ||
	    keys->lines.len / size > COUNT_MAX)
		return false;
	keys->count = (uint32_t)(keys->lines.len / size);
	return all_alike(keys, size);
}

static bool
read_pattern(struct load_keys *keys, const char *text)
{
	if (strcmp(text, "none") == 0) {
		keys->pattern = LOAD_NONE;
	} else if (strcmp(text, "fresh") == 0) {
		keys->pattern = LOAD_FRESH;
	} else if (strcmp(text, "one") == 0) {
		keys->pattern = LOAD_SET;
		keys->count = 1;
	} else if (counted(text, "set", &keys->count)) {
		keys->pattern = LOAD_SET;
	} else if (counted(text, "zipf", &keys->count)) {
		keys->pattern = LOAD_ZIPF;
	} else if (strncmp(text, "file:", 5) == 0) {
		keys->pattern = LOAD_FILE;
		return read_lines(keys, text + 5);
	} else {
		return false;
	}
	return true;
}

static int
add_up_shares(struct load_keys *keys)
{
	double sum = 0;
	uint32_t i;

	keys->share = calloc(keys->count, sizeof *keys->share);
	if (keys->share == NULL)
		return -1;
	for (i = 0; i < keys->count; i++)
		keys->share[i] = sum += 1 / (double)(i + 1);
	for (i = 0; i < keys->count; i++)
		keys->share[i] /= sum;
	return 0;
}

int
load_keys_init(struct load_keys *keys, const struct load_options *o)
{
	*keys = (struct load_keys){ .chance = o->seed * 2 + 1 };
	if (!read_pattern(keys, o->keys))
		return -1;
	if (keys->count > 0) {
		keys->digest = calloc(keys->count, sizeof *keys->digest);
		if (keys->digest == NULL)
			return -1;
	}
	return keys->pattern == LOAD_ZIPF ? add_up_shares(keys) : 0;
}

void
load_keys_free(struct load_keys *keys)
{
	free(keys->share);
	free(keys->digest);
	idem_buf_free(&keys->lines);
}

/* Between 0 and 1 (xorshift64*, Vigna 2016). */
static double
chance(struct load_keys *keys)
{
	uint64_t x = keys->chance;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	keys->chance = x;
	return (double)(x * 2685821657736338717u >> 11) / 9007199254740992.0;
}

static uint64_t
by_share(const struct load_keys *keys, double at)
{
	uint32_t low = 0, high = keys->count - 1, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (keys->share[middle] < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint64_t
load_keys_next(struct load_keys *keys)
{
	uint64_t n = keys->asked++;

	switch (keys->pattern) {
	case LOAD_NONE:
	case LOAD_FRESH:
		return n;
	case LOAD_SET:
	case LOAD_FILE:
		return n % keys->count;
	case LOAD_ZIPF:
		return by_share(keys, chance(keys));
	}
	abort();
}

bool
load_keys_same(struct load_keys *keys, uint64_t key, uint64_t digest)
{
	if (keys->digest == NULL)
		return true;
	if (keys->digest[key] == 0)
		keys->digest[key] = digest;
	return keys->digest[key] == digest;
}

/* --- the request ---------------------------------------------------------- */

static char *
body_of(size_t len)
{
	static const char form[] = "item=tea&count=1&note=";
	char *body = malloc(len + 1);

	if (body == NULL)
		abort();
	memset(body, 'x', len);
	memcpy(body, form, len < sizeof form - 1 ? len : sizeof form - 1);
	return body;
}

static void
write_fcgi(struct idem_buf *out, const struct load_options *o, const char *key,
    struct idem_bytes body)
{
	rig_request_write(out, 1, &(struct rig_request){
		.method = o->method,
		.path = o->path,
		.query = o->query,
		.key = key,
		.program = o->program,
		.type = o->type,
		.body = body,
		.keep = o->keep
	});
}

static void
write_http(struct idem_buf *out, const struct load_options *o, const char *key,
    struct idem_bytes body)
{
	idem_buf_printf(out, "%s %s%s%s HTTP/1.1\r\nHost: localhost\r\n",
	    o->method, o->path, o->query != NULL ? "?" : "",
	    o->query != NULL ? o->query : "");
	if (!o->keep)
		idem_buf_text(out, "Connection: close\r\n");
	if (key != NULL)
		idem_buf_printf(out, "Idempotency-Key: %s\r\n", key);
	if (o->type != NULL && body.len > 0)
		idem_buf_printf(out, "Content-Type: %s\r\n", o->type);
	if (body.len > 0 || strcmp(o->method, "POST") == 0)
		idem_buf_printf(out, "Content-Length: %zu\r\n", body.len);
	idem_buf_text(out, "\r\n");
	idem_buf_append(out, body.at, body.len);
}

/* The first of all, as text. */
static void
first_key(const struct load_keys *keys, const char *prefix,
    char text[LINE_MAX + 1])
{
	if (keys->pattern == LOAD_FILE)
		snprintf(text, LINE_MAX + 1, "%.*s",
		    (int)line_size(keys) - 1, (const char *)keys->lines.at);
	else
		snprintf(text, LINE_MAX + 1, "%.100s-%s", prefix, zeroes);
}

void
load_request(struct idem_buf *out, const struct load_options *o,
    const struct load_keys *keys, uint8_t **place)
{
	char *body = body_of(o->body_len);
	const struct idem_bytes bytes = { body, o->body_len };
	char text[LINE_MAX + 1];
	const char *differs;

	*place = NULL;
	if (keys->pattern == LOAD_NONE) {
		(o->http ? write_http : write_fcgi)(out, o, NULL, bytes);
	} else {
		first_key(keys, o->prefix, text);
		(o->http ? write_http : write_fcgi)(out, o, text, bytes);
		differs = keys->pattern == LOAD_FILE ? text : zeroes;
		*place = memmem(out->at, out->len, differs, strlen(differs));
	}
	free(body);
}

static void
put_number(uint8_t *digits, uint64_t number)
{
	int i;

	for (i = LOAD_DIGITS - 1; i >= 0; i--) {
		digits[i] = (uint8_t)('0' + number % 10);
		number /= 10;
	}
}

void
load_key(const struct load_keys *keys, uint64_t key, uint8_t *place)
{
	size_t size;

	if (keys->pattern != LOAD_FILE) {
		put_number(place, key);
		return;
	}
	size = line_size(keys);
	memcpy(place, keys->lines.at + key * size, size - 1);
}
