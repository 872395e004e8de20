/* SPDX-License-Identifier: ISC */
#ifndef TESTS_RIG_CALL_H
#define TESTS_RIG_CALL_H

#include "rig.h"

/* One request on its way over a connection of its own; what rig_request and
   rig_many both drive.  A test uses rig.h. */
struct rig_call {
	int fd;
	struct idem_bytes left;		/* to be sent; borrowed */
	struct idem_fcgi_client_reader reader;
	struct rig_answer answer;
	int64_t begun_ms;
	bool over;
};

/* A connection that may still be under way (TCP); -1 and errno, EAGAIN: the
   queue of a unix socket is full. */
int rig_call_connect(const struct rig *);
void rig_call_init(struct rig_call *, int fd, uint16_t id,
    struct idem_bytes left);
/* What poll(2) should wait for. */
short rig_call_events(const struct rig_call *);
/* Send and read what can be; over when there is an answer, or an error. */
void rig_call_step(struct rig_call *);
void rig_call_fail(struct rig_call *, int error);
/* Its answer, head parsed; the caller's to free. */
struct rig_answer rig_call_answer(struct rig_call *);

#endif
