/* SPDX-License-Identifier: ISC */
#ifndef TESTS_BACKEND_FRONT_H
#define TESTS_BACKEND_FRONT_H

#include "ask.h"
#include "backend_app.h"

/*
 * An idemd in front of applications that do what a script says.  Its routes
 * name them "one" and "two": links, so that each may be another with every
 * request.
 */
struct front_rig {
	struct rig rig;
	struct app app[2];
};

/*
 * One worker.  `program` is what stands in fastcgi { }, with `one` and `two`
 * for the addresses; `route` are more fields of the one route, for all paths.
 */
void front_rig_begin(struct front_rig *, const char *program,
    const char *route, const char *option);
/* The same file again, with other words. */
void front_rig_write(struct front_rig *, const char *program,
    const char *route);
void front_rig_end(struct front_rig *);	/* two tests */

/* Let an application play that, at that address (0, 1). */
void front_rig_play(struct front_rig *, int which,
    const char *script);
/* It has played to its end; so many connections came.  Two tests. */
void front_rig_over(struct front_rig *, int which, int accepts);
/* Nobody is there. */
void front_rig_nobody(struct front_rig *, int which);

/* A POST with that key (NULL: none) to that path. */
struct rig_request front_rig_post(const char *path, const char *key);

#endif
