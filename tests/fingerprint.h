/* SPDX-License-Identifier: ISC */
#ifndef TESTS_FINGERPRINT_H
#define TESTS_FINGERPRINT_H

#include "identity.h"

/* Of a request whose body comes in pieces of that size; or bails out. */
struct idem_digest fingerprint_of(const struct idem_asked *,
    struct idem_bytes body, size_t piece);

#endif
