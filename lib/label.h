/* SPDX-License-Identifier: ISC */
#ifndef IDEM_LABEL_H
#define IDEM_LABEL_H

#include "digest.h"

#include <stdbool.h>

/*
 * Named points at which a test lets a process die, stop, fail or be slow.  They
 * are there only in builds with --enable-failpoints, and in the idemd-sim of
 * idemsim; in all others the macros are nothing, and this module is not there.
 *
 * IDEM_FAILPOINTS says what happens, in the form of FreeBSD's fail(9): labels
 * parted by ";", each with its terms in the order in which they are used up:
 *
 *	complete.ok=2*off->1*kill;reply=sleep(50)
 *
 * off: nothing; kill: SIGKILL; stop: SIGSTOP; sleep(MS).  N* says how often, a
 * term without it is for ever, and after the last one nothing more happens.
 * The counts are shared by all processes forked after idem_label_init.
 *
 * Or a simulator says it: at each label of the list IDEMSIM_LABELS (parted by
 * ",") the thread tells IDEMSIM_STOPS, the path of a unix socket of kind
 * SOCK_SEQPACKET, "LABEL KEY PID LANE" and waits for its word: "go", "kill",
 * "stop", "sleep MS", or "fail ERRNO", which only a label that can fail heeds.
 * KEY is the store key in hex, or "-"; LANE is IDEMSIM_LANE, or "-".  At one
 * that stands there as "LABEL!" it tells "LABEL KEY PID LANE told", if there is
 * room for it, and goes on.
 */
#ifdef IDEM_FAILPOINTS
#define IDEM_LABEL(name) ((void)idem_label(name, NULL))
#define IDEM_LABEL_OF(name, key) ((void)idem_label(name, key))
#define IDEM_LABEL_NOTE(name, file) ((void)idem_label_note(name, file))
#define IDEM_LABEL_FAILS(name) idem_label_fails(name, NULL)
#define IDEM_LABEL_FAILS_OF(name, key) idem_label_fails(name, key)
#define IDEM_LABEL_FAILS_NOTE(name, file) idem_label_note_fails(name, file)
#define IDEM_LABELS_INIT() idem_label_init()
#else
#define IDEM_LABEL(name) ((void)0)
#define IDEM_LABEL_OF(name, key) ((void)0)
#define IDEM_LABEL_NOTE(name, file) ((void)0)
#define IDEM_LABEL_FAILS(name) false
#define IDEM_LABEL_FAILS_OF(name, key) false
#define IDEM_LABEL_FAILS_NOTE(name, file) false
#define IDEM_LABELS_INIT() ((void)0)
#endif

/* Read the environment; ends the process with a message when it is wrong. */
void idem_label_init(void);
/* 0, or the errno with which what comes now is to fail.  key: NULL: of none. */
int idem_label(const char *name, const struct idem_digest *key);
/* Of the key of a run, by its note (journal.h); file -1: of none. */
int idem_label_note(const char *name, int file);
/* True: what comes now is to fail, and errno says how. */
bool idem_label_fails(const char *name, const struct idem_digest *key);
bool idem_label_note_fails(const char *name, int file);

/* --- the simulator's side (label_ask.c) ----------------------------------- */

bool idem_label_wanted(const char *name);
/* As idem_label; key is a text. */
int idem_label_ask(const char *name, const char *key);

#endif
