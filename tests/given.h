/* SPDX-License-Identifier: ISC */
#ifndef TESTS_GIVEN_H
#define TESTS_GIVEN_H

#include "params.h"

/* Parameters of these texts, NULL last, which stay the caller's. */
struct idem_params given(const char *const *texts);

/* "NAME=value|NAME=value|": one line, so that a difference is seen. */
const char *given_line(char *const *texts, char *to, size_t size);

#endif
