/* SPDX-License-Identifier: ISC */
#ifndef TESTS_FCGI_WORDS_H
#define TESTS_FCGI_WORDS_H

#include "buf.h"

/*
 * Append the FastCGI records that the words stand for.  A word is
 * KIND[/id][:text][+padding], the id 0 and the padding none if not given:
 *
 *	BEGIN CLOSING AUTHORIZER FILTER		BEGIN_REQUEST (CLOSING: a
 *						responder without KEEP_CONN)
 *	PARAMS/1:A=1,B=2  VALUES:A,B		pairs
 *	STDIN/1:text  STDOUT STDERR DATA ABORT	text; an empty record without
 *	END/1:7.0				app_status.protocolStatus
 *	TYPE99/1:text				any type
 *	RAW:0a0b				bytes that are no record
 */
void fcgi_words(struct idem_buf *, const char *words);

#endif
