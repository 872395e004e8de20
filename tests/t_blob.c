/* SPDX-License-Identifier: ISC */
#include "blob.h"
#include "tap.h"

#include <pthread.h>
#include <string.h>

#define THREADS 4
#define ROUNDS 10000

static void
test_holders(void)
{
	struct idem_bytes from = idem_bytes_text("an answer");
	struct idem_blob *blob = idem_blob_new(from), *more;

	if (blob == NULL)
		bail_out("no memory");
	ok(idem_bytes_equal(idem_blob_bytes(blob), from), "a blob is a copy");
	ok(idem_blob_bytes(blob).at != from.at, "in memory of its own");
	more = idem_blob_take(blob);
	ok(more == blob, "a second holder has the same bytes");
	idem_blob_drop(blob);
	ok(idem_bytes_equal(idem_blob_bytes(more), from),
	    "which stay when the first lets go");
	idem_blob_drop(more);
	idem_blob_drop(NULL);
	ok(true, "dropping NULL does nothing");
}

static void
test_room(void)
{
	struct idem_blob *blob = idem_blob_room(3);

	if (blob == NULL)
		bail_out("no memory");
	memcpy(blob->at, "abc", 3);
	ok(idem_bytes_is(idem_blob_bytes(blob), "abc"), "room can be filled");
	idem_blob_drop(blob);
	blob = idem_blob_new((struct idem_bytes){ NULL, 0 });
	ok(blob != NULL && blob->len == 0, "a blob may be empty");
	idem_blob_drop(blob);
	ok(idem_blob_room(SIZE_MAX) == NULL, "all of memory is refused");
}

/* Each round holds one more, reads it and lets it go. */
static void *
hold_and_drop(void *arg)
{
	struct idem_blob *blob = arg, *mine;
	size_t right = 0;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		mine = idem_blob_take(blob);
		right += mine->at[mine->len - 1] == '!';
		idem_blob_drop(mine);
	}
	idem_blob_drop(blob);
	return right == ROUNDS ? arg : NULL;
}

static void
test_threads(void)
{
	struct idem_blob *blob = idem_blob_new(idem_bytes_text("shared!"));
	pthread_t threads[THREADS];
	int i, right = 0;
	void *got;

	if (blob == NULL)
		bail_out("no memory");
	for (i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, hold_and_drop,
		    idem_blob_take(blob)) != 0)
			bail_out("no thread");
	idem_blob_drop(blob);
	for (i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &got);
		right += got != NULL;
	}
	is_int(right, THREADS, "each of %d threads reads it whole %d times",
	    THREADS, ROUNDS);
}

int
main(void)
{
	test_holders();
	test_room();
	test_threads();
	return done();
}
