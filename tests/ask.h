/* SPDX-License-Identifier: ISC */
#ifndef TESTS_ASK_H
#define TESTS_ASK_H

#include "rig.h"

/*
 * Requests whose answers are told in a few words, so that a row of a test can
 * hold them: "201 stored" is a Status and an Idempotency-Status, "200" has no
 * such field, "closed" and "silent" are no answer at all.
 */

/* Is that what it says?  One test. */
bool told(const struct rig_answer *, const char *want, const char *what, ...)
    __attribute__((format(printf, 3, 4)));

/* Send it and see.  One test. */
bool ask(struct rig *, const struct rig_request *, const char *want,
    const char *what, ...)
    __attribute__((format(printf, 4, 5)));

/* Send it whole and do not wait: a connection.  Bails out if it cannot. */
int ask_begin(struct rig *, const struct rig_request *);
/* Its answer, within the rig's time; closes it. */
void ask_end(struct rig *, int fd, struct rig_answer *);

/* Start idemd or bail out. */
void ask_start(struct rig *, const char *const *options);

/* How often a text stands in the log. */
int ask_logged(struct rig *, const char *text);
/* Until it stands there so often; false after a minute. */
bool ask_await_logged(struct rig *, const char *text, int times);

/* Programs of these tests append a line to the file "starts" beside them. */
#define COUNT "#!/bin/sh\necho \"$HTTP_X_ROW\" >>starts\n"
/* And wait while the file "hold" is there. */
#define HELD "while [ -e hold ]; do sleep 0.02; done\n"

long starts(struct rig *);
/* Until so many have been started; bails out after a minute. */
void await_starts(struct rig *, long count);
/*
 * A request for one that waits was sent: until so many have been started.
 * Where idemd was held up for longer than a lease between claim and start there
 * is no run, and it says "not-started"; then, and only then, it is sent again.
 * Bails out at any other answer.  The connection.
 */
int ask_await_starts(struct rig *, int fd, const struct rig_request *,
    long count);
/* It was answered: must be "not-started", or bails out. */
void ask_end_not_started(struct rig *, int fd);

#endif
