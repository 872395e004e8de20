/* SPDX-License-Identifier: ISC */
#ifndef FORM_STRIP_H
#define FORM_STRIP_H

#include "form_cut.h"
#include "spool.h"

/*
 * Leave out of a whole body what is to go (form_cut.h), before its program gets
 * it.  What is in memory stays there; a file is copied.  False: there is no
 * room, or it cannot be read, and the spool has failed.
 */
bool form_strip(struct spool *, const struct idem_form_cut *);

#endif
