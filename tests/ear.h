/* SPDX-License-Identifier: ISC */
#ifndef TESTS_EAR_H
#define TESTS_EAR_H

#include "rig.h"

/*
 * What a FastCGI peer hears, in words, so that a row of a test can hold it:
 *
 *	201/1		an answer to request 1 with that Status, and its end
 *	end/1		END_REQUEST alone
 *	role/1 cant/1	UNKNOWN_ROLE, CANT_MPX_CONN,
 *	full/1		OVERLOADED
 *	values:A=1,B=2	GET_VALUES_RESULT
 *	unknown:99	UNKNOWN_TYPE
 *	closed		the connection
 *
 * What it says are the words of fcgi_words.h.
 */
#define EAR_IDS 16		/* ids of requests are below it */
#define EAR_MS 10000		/* for all that is waited for */

struct ear {
	int fd;
	char words[2048];	/* heard so far */
	struct idem_buf text;	/* all of STDOUT */
	bool closed;

	/* Private. */
	struct idem_buf raw;	/* of a record that is not whole */
	int status[EAR_IDS];	/* of its STDOUT; 0: none came */
};

void ear_open(struct ear *, struct rig *);	/* connect, or bail out */
void ear_say(struct ear *, const char *words);
/* Until these words are all that has been heard, or it is closed, or EAR_MS
   are over.  True: they are. */
bool ear_hears(struct ear *, const char *words);
void ear_close(struct ear *);

#endif
