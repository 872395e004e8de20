/* SPDX-License-Identifier: ISC */
#include "blob.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct idem_blob *
idem_blob_room(size_t len)
{
	struct idem_blob *blob;

	if (len > SIZE_MAX - sizeof *blob)
		return NULL;
	blob = malloc(sizeof *blob + len);
	if (blob == NULL)
		return NULL;
	atomic_init(&blob->refs, 1);
	blob->len = len;
	return blob;
}

struct idem_blob *
idem_blob_new(struct idem_bytes bytes)
{
	struct idem_blob *blob = idem_blob_room(bytes.len);

	if (blob != NULL && bytes.len > 0)
		memcpy(blob->at, bytes.at, bytes.len);
	return blob;
}

struct idem_blob *
idem_blob_take(struct idem_blob *blob)
{
	unsigned before;

	/* Whoever takes one holds one, so nothing need be ordered here. */
	before = atomic_fetch_add_explicit(&blob->refs, 1,
	    memory_order_relaxed);
	assert(before > 0);
	return blob;
}

void
idem_blob_drop(struct idem_blob *blob)
{
	unsigned before;

	if (blob == NULL)
		return;
	/* All that others did with it comes before the last one frees it. */
	before = atomic_fetch_sub_explicit(&blob->refs, 1,
	    memory_order_acq_rel);
	assert(before > 0);
	if (before == 1)
		free(blob);
}

struct idem_bytes
idem_blob_bytes(const struct idem_blob *blob)
{
	return (struct idem_bytes){ blob->at, blob->len };
}
