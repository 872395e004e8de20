/* SPDX-License-Identifier: ISC */
#ifndef IDEM_CLASS_H
#define IDEM_CLASS_H

/* What is known of a call of a store. */
enum idem_class {
	IDEM_OK,
	IDEM_CLASS_REFUSED,	/* surely not applied */
	IDEM_CLASS_MAYBE,	/* applied, or will be, or not */
	IDEM_CLASS_CONFIG	/* not applied; trying again will not help */
};

#endif
