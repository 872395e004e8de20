/* SPDX-License-Identifier: ISC */
#ifndef IDEM_FORM_H
#define IDEM_FORM_H

#include "form_cut.h"

#define IDEM_FORM_NAME_MAX 255u
#define IDEM_FORM_VALUE_MAX 1024u	/* more is never a key */

/*
 * The value of one field of a submitted form, read while the body passes:
 * application/x-www-form-urlencoded (WHATWG URL, 5.1) or multipart/form-data
 * (RFC 7578).  Pure; bounded whatever the body is.  A body with a
 * Content-Encoding is not read here: it only looks like a form.
 *
 * Of several answers it is the first of broken, too long, differ.
 */
enum idem_form_state {
	IDEM_FORM_NONE,		/* no such field, or no such type of body */
	IDEM_FORM_ONE,		/* its value; several equal ones are one */
	IDEM_FORM_DIFFER,	/* several that differ, of which one may be
				   empty */
	IDEM_FORM_TOO_LONG,	/* over VALUE_MAX */
	IDEM_FORM_BROKEN	/* a body that is not what its type says, such
				   that programs might read it differently */
};

struct idem_form;	/* form.c */

/* NULL: without memory, or the name has not 1 to NAME_MAX bytes.  `type` is the
   Content-Type. */
struct idem_form *idem_form_new(struct idem_bytes type, const char *name);
void idem_form_add(struct idem_form *, struct idem_bytes);
/* At the body's end; *value is borrowed from the form. */
enum idem_form_state idem_form_end(struct idem_form *,
    struct idem_bytes *value);
/*
 * And then: what to leave out of the body, so that it has no such field.
 * Nothing of one that is BROKEN.  Borrowed from the form.
 */
const struct idem_form_cut *idem_form_cut(const struct idem_form *);
void idem_form_free(struct idem_form *);

/* The same of a query, which is whole and urlencoded; room holds VALUE_MAX. */
enum idem_form_state idem_form_query(struct idem_bytes query, const char *name,
    uint8_t *room, struct idem_bytes *value);

#endif
