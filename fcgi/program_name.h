/* SPDX-License-Identifier: ISC */
#ifndef PROGRAM_NAME_H
#define PROGRAM_NAME_H

#include "program.h"

/* What becomes of a parameter on its way into an environment. */
enum program_name {
	PROGRAM_NAME_PASSED,
	PROGRAM_NAME_LEFT,	/* out: not asked for, or for us to say */
	PROGRAM_NAME_DROPPED	/* out, and counted: it may not enter one */
};

/* text is "NAME=value"; name_len is that of its name. */
enum program_name program_name_judge(const struct program_rule *,
    const char *text, size_t name_len);

/* What is said of the key, which nobody says for us. */
bool program_name_is_ours(const char *name, size_t name_len);
/* How the body came here; we say how long it is (RFC 3875, 4.1.2, 4.2). */
bool program_name_is_framing(const char *name, size_t name_len);
bool program_name_is(const char *name, size_t name_len, const char *other);

#endif
