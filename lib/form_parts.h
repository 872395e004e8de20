/* SPDX-License-Identifier: ISC */
#ifndef IDEM_FORM_PARTS_H
#define IDEM_FORM_PARTS_H

#include "form.h"
#include "multipart.h"

/*
 * Private to form*.c.  A reader (form_url.c, form_multipart.c) finds the fields
 * of the wanted name, and passes each one's value here: begin, any bytes, end.
 */
struct idem_form_field {
	const char *name;
	size_t name_len;
	uint8_t *first;		/* the first value; VALUE_MAX bytes of room */
	size_t first_len;
	size_t len;		/* of the present value, so far */
	bool found;		/* one is whole: `first` is its */
	bool other;		/* the present one is not like the first */
	bool differ, too_long, broken;
	struct idem_form_cut cut;
};

void idem_form_field_begin(struct idem_form_field *);
void idem_form_field_add(struct idem_form_field *, const uint8_t *at,
    size_t len);
void idem_form_field_end(struct idem_form_field *);

/* --- urlencoded ----------------------------------------------------------- */

enum idem_form_url_place { IDEM_FORM_URL_NAME, IDEM_FORM_URL_VALUE };

struct idem_form_url {
	enum idem_form_url_place place;
	size_t name_len;	/* so far */
	bool matches;		/* the name, so far */
	bool semicolon;		/* before this pair */
	bool stays;		/* one before it, with the cut made */
	uint64_t pair;		/* where this one begins in the body */
	uint64_t at;		/* where in the body we are */
	uint8_t escape[2];	/* "%" or "%x" held back */
	uint8_t escape_len;
};

void idem_form_url_init(struct idem_form_url *);
void idem_form_url_add(struct idem_form_url *, struct idem_form_field *,
    struct idem_bytes);
void idem_form_url_end(struct idem_form_url *, struct idem_form_field *);

/* --- multipart ------------------------------------------------------------ */

#define IDEM_FORM_LINE_MAX 2048u	/* of a part's header: names of files
					   go with it */

enum idem_form_part_place {
	IDEM_FORM_PART_CONTENT,		/* or before the first delimiter */
	IDEM_FORM_PART_DELIMITER,	/* after "--" and the boundary */
	IDEM_FORM_PART_HEAD,
	IDEM_FORM_PART_CLOSED
};

struct idem_form_multipart {
	struct idem_multipart scan;	/* is every mark a delimiter? */
	enum idem_form_part_place place;
	size_t matched;		/* bytes of CRLF and mark held back */
	uint64_t delimiters;	/* seen so far */
	uint64_t part;		/* where the last one begins in the body */
	uint64_t at;		/* where in the body we are */
	uint8_t line[IDEM_FORM_LINE_MAX];
	size_t line_len;	/* may go on over LINE_MAX */
	bool cr;		/* the line may end here */
	/* of this part */
	bool disposed;		/* it has a Content-Disposition */
	bool last_disposed;	/* as the last line so far */
	bool wanted;
	bool encoded;		/* its content is not itself the value */
};

void idem_form_multipart_init(struct idem_form_multipart *,
    struct idem_bytes boundary);
void idem_form_multipart_add(struct idem_form_multipart *,
    struct idem_form_field *, struct idem_bytes);
void idem_form_multipart_end(struct idem_form_multipart *,
    struct idem_form_field *);

/* What a Content-Disposition's value (RFC 7578, 4.2) says. */
enum idem_form_says {
	IDEM_FORM_SAYS_OTHER,	/* another field, or a file */
	IDEM_FORM_SAYS_WANTED,
	IDEM_FORM_SAYS_UNSURE	/* programs might read it differently */
};
enum idem_form_says idem_form_disposition(struct idem_bytes value,
    struct idem_bytes name);

#endif
