/* SPDX-License-Identifier: ISC */
#ifndef IDEM_LABEL_H
#define IDEM_LABEL_H

/*
 * Named points at which a test lets a process die, stop or be slow.  They are
 * there only in builds with --enable-failpoints; in all others the macro is
 * nothing, and this module is not in the library.
 *
 * IDEM_FAILPOINTS says what happens, in the form of FreeBSD's fail(9): labels
 * parted by ";", each with its terms in the order in which they are used up:
 *
 *	complete.done=2*off->1*kill;reply=sleep(50)
 *
 * off: nothing; kill: SIGKILL; stop: SIGSTOP; sleep(MS).  N* says how often, a
 * term without it is for ever, and after the last one nothing more happens.
 * The counts are shared by all processes forked after idem_label_init.
 */
#ifdef IDEM_FAILPOINTS
#define IDEM_LABEL(name) idem_label(name)
#define IDEM_LABELS_INIT() idem_label_init()
#else
#define IDEM_LABEL(name) ((void)0)
#define IDEM_LABELS_INIT() ((void)0)
#endif

/* Read the environment; ends the process with a message when it is wrong. */
void idem_label_init(void);
void idem_label(const char *name);

#endif
