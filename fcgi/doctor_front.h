/* SPDX-License-Identifier: ISC */
#ifndef DOCTOR_FRONT_H
#define DOCTOR_FRONT_H

#include "doctor.h"

/*
 * The words of web servers' configurations that matter: a statement is a name
 * and what follows it, up to the end of the line or one of ";{}(),".
 */
enum doctor_word {
	/* nginx */
	DOCTOR_WORD_FASTCGI_PASS, DOCTOR_WORD_NGINX_PROXY_PASS,
	DOCTOR_WORD_NEXT_UPSTREAM, DOCTOR_WORD_FASTCGI_TIME,
	DOCTOR_WORD_NGINX_PROXY_TIME, DOCTOR_WORD_BUFFERS, DOCTOR_WORD_MIRROR,
	DOCTOR_WORD_PARAM, DOCTOR_WORD_INCLUDE, DOCTOR_WORD_GUARD,
	/* Apache */
	DOCTOR_WORD_PROXY_PASS, DOCTOR_WORD_WORKER, DOCTOR_WORD_HANDLER,
	DOCTOR_WORD_PROXY_TIMEOUT, DOCTOR_WORD_FCGID, DOCTOR_WORD_FCGID_IO,
	DOCTOR_WORD_FCGID_BUSY, DOCTOR_WORD_FCGID_LEN, DOCTOR_WORD_CGI,
	DOCTOR_WORD_CGID_TIME,
	/* lighttpd */
	DOCTOR_WORD_LIGHTTPD, DOCTOR_WORD_CHECK_LOCAL, DOCTOR_WORD_DISABLE,
	DOCTOR_WORD_STREAMS, DOCTOR_WORD_WRITE_IDLE,
	/* HAProxy */
	DOCTOR_WORD_RETRY_ON,
	/* several */
	DOCTOR_WORD_TIMEOUT, DOCTOR_WORD_CACHE, DOCTOR_WORD_HIDES,
	DOCTOR_WORDS
};

struct doctor_statement {
	enum doctor_word word;
	const char *name;	/* as it is mostly written */
	unsigned line;		/* from 1 */
	char value[400];	/* without quotes, cut off at the end */
};

/* Zeroes but for text and line (1) are a beginning. */
struct doctor_scan {
	struct idem_bytes text;
	size_t at;
	unsigned line;
};

/* The next statement that is known; false: there are no more. */
bool doctor_front_next(struct doctor_scan *, struct doctor_statement *);

/* "300", "5m", "1m 30s", "90s"; a bare number counts units of unit_ms. */
bool doctor_front_time(const char *text, int64_t unit_ms, int64_t *ms);
bool doctor_front_number(const char *text, int64_t *number);

#endif
