/* SPDX-License-Identifier: ISC */
#ifndef PROGRAM_ENV_H
#define PROGRAM_ENV_H

#include "program.h"

/*
 * Could any run of this request be started (execve(2): one string at most 32
 * pages, a quarter of the stack for all)?  NONE, TOO_MUCH_HEAD, or BUSY without
 * memory.
 */
enum idem_problem program_env_fits(const struct program_rule *,
    const struct program *, const struct idem_params *);

#endif
