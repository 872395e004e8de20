/* SPDX-License-Identifier: ISC */
#include "identity.h"

#include "multipart.h"

#include <stdlib.h>

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

/* The type without its boundary, in two parts, and the body's canonicaliser. */
static void
add_multipart(struct idem_fingerprint *f, const struct idem_multipart_type *t)
{
	idem_hash_part(&f->hash, idem_bytes_text("multipart"));
	idem_hash_part(&f->hash, t->before);
	idem_hash_part(&f->hash, t->after);
	f->multipart = malloc(sizeof *f->multipart);
	if (f->multipart == NULL)
		f->hash.failed = true;
	else
		idem_multipart_init(f->multipart, t->boundary);
}

void
idem_fingerprint_init(struct idem_fingerprint *f,
    const struct idem_asked *asked)
{
	struct idem_multipart_type type;

	*f = (struct idem_fingerprint){ 0 };
	begin(&f->hash, "idem fingerprint 1");
	idem_hash_part(&f->hash, asked->method);
	idem_hash_part(&f->hash, asked->path);
	idem_hash_part(&f->hash, asked->query);
	idem_hash_part(&f->hash, asked->encoding);
	if (idem_multipart_type(asked->type, &type)) {
		add_multipart(f, &type);
	} else {
		idem_hash_part(&f->hash, idem_bytes_text("as it stands"));
		idem_hash_part(&f->hash, asked->type);
	}
}

void
idem_fingerprint_body(struct idem_fingerprint *f, const void *at, size_t len)
{
	f->body_len += len;
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
	else
		idem_hash_u64(&f->hash, f->body_len);
	good = idem_hash_final(&f->hash, digest);
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
