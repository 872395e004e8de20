/* SPDX-License-Identifier: ISC */
#include "identity.h"

#include "multipart.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
begin(struct idem_hash *h, const char *name)
{
	idem_hash_init(h);
	idem_hash_part(h, idem_bytes_text(name));
}

static void
add_list(struct idem_hash *h, const struct idem_bytes *parts, size_t n)
{
	size_t i;

	idem_hash_u64(h, n);
	for (i = 0; i < n; i++)
		idem_hash_part(h, parts[i]);
}

bool
idem_store_key(const struct idem_scope *scope, const struct idem_key *key,
    struct idem_digest *digest)
{
	struct idem_hash h;

	begin(&h, "idem store key 1");
	idem_hash_part(&h, scope->route);
	idem_hash_part(&h, scope->method);
	idem_hash_part(&h, scope->user);
	add_list(&h, scope->named, scope->named_len);
	idem_hash_part(&h, (struct idem_bytes){ key->at, key->len });
	return idem_hash_final(&h, digest);
}

bool
idem_guard(const struct idem_bytes *parts, size_t n, struct idem_digest *digest)
{
	struct idem_hash h;

	begin(&h, "idem guard 1");
	add_list(&h, parts, n);
	return idem_hash_final(&h, digest);
}

/* --- hints ---------------------------------------------------------------- */

static const struct {
	unsigned part;
	const char *name;
} parts[] = {	/* those with a hint first, in the order of their hints */
	{ IDEM_PART_METHOD, "method" },
	{ IDEM_PART_PATH, "path" },
	{ IDEM_PART_QUERY, "query" },
	{ IDEM_PART_TYPE, "Content-Type" },
	{ IDEM_PART_ENCODING, "Content-Encoding" },
	{ IDEM_PART_BODY, "body" }
};

/* FNV-1a, folded: it tells people what to look at, and protects nothing. */
static void
hint(struct idem_fingerprint *f, unsigned part, struct idem_bytes bytes)
{
	const uint8_t *at = bytes.at;
	uint32_t h = 2166136261u;
	size_t i;

	for (i = 0; i < bytes.len; i++)
		h = (h ^ at[i]) * 16777619u;
	for (i = 0; i < IDEM_HINTS; i++)
		if (parts[i].part == part)	/* of a part in two: both */
			f->hints[i] = (uint16_t)(f->hints[i] * 31u +
			    (h ^ h >> 16));
}

static void
put_hints(const struct idem_fingerprint *f, struct idem_digest *digest)
{
	uint8_t *at = digest->at + sizeof digest->at - 2 * IDEM_HINTS;
	size_t i;

	for (i = 0; i < IDEM_HINTS; i++) {
		*at++ = (uint8_t)(f->hints[i] >> 8);
		*at++ = (uint8_t)f->hints[i];
	}
}

unsigned
idem_fingerprint_differs(const struct idem_digest *a,
    const struct idem_digest *b)
{
	size_t from = sizeof a->at - 2 * IDEM_HINTS, i;
	unsigned differ = 0;

	for (i = 0; i < IDEM_HINTS; i++)
		if (memcmp(a->at + from + 2 * i, b->at + from + 2 * i, 2) != 0)
			differ |= parts[i].part;
	if (differ == 0 && !idem_digest_equal(a, b))
		differ = IDEM_PART_BODY;
	return differ;
}

void
idem_parts_text(unsigned chosen, char *text, size_t size)
{
	size_t i, len = 0;

	text[0] = '\0';
	for (i = 0; i < sizeof parts / sizeof *parts && len < size; i++)
		if ((chosen & parts[i].part) != 0)
			len += (size_t)snprintf(text + len, size - len, "%s%s",
			    len > 0 ? ", " : "", parts[i].name);
}

/* --- the fingerprint ------------------------------------------------------ */

static void
canonicalise(struct idem_fingerprint *f, struct idem_bytes boundary)
{
	f->multipart = malloc(sizeof *f->multipart);
	if (f->multipart == NULL)
		f->hash.failed = true;
	else
		idem_multipart_init(f->multipart, boundary);
}

/* Without its boundary it is in two parts. */
static void
add_type(struct idem_fingerprint *f, struct idem_bytes whole)
{
	struct idem_multipart_type type;

	if (!idem_multipart_type(whole, &type)) {
		idem_hash_part(&f->hash, idem_bytes_text("as it stands"));
		idem_hash_part(&f->hash, whole);
		hint(f, IDEM_PART_TYPE, whole);
		return;
	}
	hint(f, IDEM_PART_TYPE, type.before);
	hint(f, IDEM_PART_TYPE, type.after);
	idem_hash_part(&f->hash, idem_bytes_text("multipart"));
	idem_hash_part(&f->hash, type.before);
	idem_hash_part(&f->hash, type.after);
	if (f->body_counts)
		canonicalise(f, type.boundary);
}

static void
add_part(struct idem_fingerprint *f, const struct idem_asked *asked,
    unsigned part, struct idem_bytes bytes)
{
	if ((asked->parts & part) == 0)
		return;
	idem_hash_part(&f->hash, bytes);
	hint(f, part, bytes);
}

static void
add_path(struct idem_fingerprint *f, const struct idem_asked *asked)
{
	struct idem_hash *h = &f->hash;

	hint(f, IDEM_PART_PATH, asked->path);
	idem_hash_part(h, asked->path);
	idem_hash_u64(h, asked->script.len + asked->info.len);
	idem_hash_add(h, asked->script.at, asked->script.len);
	idem_hash_add(h, asked->info.at, asked->info.len);
}

void
idem_fingerprint_init(struct idem_fingerprint *f,
    const struct idem_asked *asked)
{
	*f = (struct idem_fingerprint){ 0 };
	f->body_counts = (asked->parts & IDEM_PART_BODY) != 0;
	begin(&f->hash, "idem fingerprint 2");
	idem_hash_u64(&f->hash, asked->parts);
	add_part(f, asked, IDEM_PART_METHOD, asked->method);
	if ((asked->parts & IDEM_PART_PATH) != 0)
		add_path(f, asked);
	add_part(f, asked, IDEM_PART_QUERY, asked->query);
	add_part(f, asked, IDEM_PART_ENCODING, asked->encoding);
	if ((asked->parts & IDEM_PART_TYPE) != 0)
		add_type(f, asked->type);
}

void
idem_fingerprint_body(struct idem_fingerprint *f, const void *at, size_t len)
{
	f->body_len += len;
	if (!f->body_counts)
		return;
	if (f->multipart != NULL)
		idem_multipart_add(f->multipart, &f->hash, at, len);
	else
		idem_hash_add(&f->hash, at, len);
}

bool
idem_fingerprint_final(struct idem_fingerprint *f, struct idem_digest *digest)
{
	bool good;

	/* The body's length is known only now, and does as well behind it. */
	if (f->multipart != NULL)
		idem_multipart_end(f->multipart, &f->hash);
	else if (f->body_counts)
		idem_hash_u64(&f->hash, f->body_len);
	good = idem_hash_final(&f->hash, digest);
	if (good)
		put_hints(f, digest);
	idem_fingerprint_free(f);
	return good;
}

void
idem_fingerprint_free(struct idem_fingerprint *f)
{
	idem_hash_free(&f->hash);
	free(f->multipart);
	*f = (struct idem_fingerprint){ 0 };
}
