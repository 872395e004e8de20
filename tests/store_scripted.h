/* SPDX-License-Identifier: ISC */
#ifndef TESTS_STORE_SCRIPTED_H
#define TESTS_STORE_SCRIPTED_H

#include "store.h"

/*
 * A store that answers as it is told, a letter a call: r refused, a refused and
 * away, c config, l lost, since somebody else has issued it before, m maybe and
 * not applied; for p, and at the end, the store inside answers.
 */
#define STORE_SCRIPTED_MAX 4		/* at once, but for p */

struct store_scripted {
	struct idem_store base;		/* first: this is a store */
	struct idem_store *inner;
	const char *script;		/* what is left of it */
	unsigned calls;			/* of ISSUE */
	struct idem_store_call waiting[STORE_SCRIPTED_MAX];
	char letter[STORE_SCRIPTED_MAX];
	size_t n;
};

/* inner is closed with it; NULL bails out. */
struct idem_store *store_scripted(struct store_scripted *,
    struct idem_store *inner, const char *script);

#endif
