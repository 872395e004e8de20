/* SPDX-License-Identifier: ISC */
#include "store.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

/*
 * A call's deadline is on the store's clock, which may be a test's: look again
 * this often whatever the clock that we would sleep by says.
 */
#define LOOK_MS 10

struct waiting {
	struct idem_store_answer *answer;
	bool answered;
};

/* An answer without its list or its error text still holds its verdict. */
static void
copy(void *arg, const struct idem_store_result *result)
{
	struct waiting *w = arg;
	struct idem_store_answer *to = w->answer;
	size_t size = result->count * sizeof *to->listed;

	to->result = *result;
	to->result.listed = NULL;
	to->result.error = NULL;
	if (result->answer != NULL)
		idem_blob_take(result->answer);
	if (result->listed != NULL && size > 0) {
		to->listed = malloc(size);
		if (to->listed != NULL)
			memcpy(to->listed, result->listed, size);
		else
			to->result.write = IDEM_WRITE_REFUSED;
		to->result.listed = to->listed;
	}
	if (result->error != NULL) {
		to->error = strdup(result->error);
		to->result.error = to->error;
	}
	w->answered = true;
}

void
idem_store_wait(struct idem_store *store, const struct idem_store_call *call,
    struct idem_store_answer *answer)
{
	struct waiting w = { .answer = answer };
	struct idem_store_call ours = *call;
	struct pollfd fd;

	*answer = (struct idem_store_answer){ 0 };
	ours.done = copy;
	ours.arg = &w;
	store->ops->start(store, &ours);
	for (;;) {
		store->ops->poll(store);
		if (w.answered)
			return;
		fd = (struct pollfd){
			.fd = store->ops->fd(store),
			.events = POLLIN,
		};
		poll(&fd, 1, LOOK_MS);
	}
}

void
idem_store_answer_free(struct idem_store_answer *answer)
{
	idem_blob_drop(answer->result.answer);
	free(answer->listed);
	free(answer->error);
	*answer = (struct idem_store_answer){ 0 };
}
