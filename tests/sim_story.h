/* SPDX-License-Identifier: ISC */
#ifndef TESTS_SIM_STORY_H
#define TESTS_SIM_STORY_H

#include "check.h"

/*
 * Histories in few words, for tests.  A story is events parted by "|"; each is
 * a lane, what happened there, and more words in any order:
 *
 *	c1 inv a1 k1 >g1 f=x n=7	try 1 of key k1 at g1, body x, nonce 7;
 *					also: audit, fresh, innocent
 *	c1 ret a1 ok d=x of=e1		class; its usual status, mark and run
 *					(of=none: it names none) are
 *					set; also: s=502 mark=unknown
 *					how=timeout key=k1 n=7 again=1
 *					(Retry-After; -1: none) short (of its
 *					length)
 *	h1 begin e1 k1 a1 x2 on=g1	a run; x2: attempt 2; b=order-7; then
 *	h1 commit e1 | h1 end e1	its other lines, of the same key and try
 *	g1 fault proc.kill		also: id=0, k1, word=not-done ms=60000
 *	- heal | a heal store.restart	of all, or of one
 *	g1 send m1 claim k1 tok=A.0 >a	a command, with fate=held
 *	a recv m1 | a store m1 claim k1 WON tok=A.0
 *	a record k1 completed		at the end; "in-progress"; of a ledger:
 *	L ledger k1 absent
 *	a expired k1			a lease, beside its run
 *	g1 log two-runs k1		or unprotected
 *	g1 note | - stall | - oom | g1 leak
 *	a exit SIGKILL | g1 exit SIGKILL wanted
 *	cut				the history has no end
 *
 * "@500" before a lane: at 500 ms; else 1 ms after the event before.  Events
 * are numbered from 1 as they stand, where times do not go back.
 *
 * head: words such as retry=3 (on_unknown and its number), probe, lease=1000
 * grace= wait= limit= keep= once= probe_ms= mode=model arbiter=redis
 * outage=pass gates=2 own=1 others
 * apart (a ledger each) front fails external business runs=1
 * runs+lease_expiry=1 ops= queue= goodput= p99= holds=at_most_once relaxed=
 * violates=
 * blames=client, and for each fault of the plan fault=proc.kill (maybe=,
 * heals=); fired_any, fired_none.
 */
void story_tell(struct history *, const char *head, const char *story);

struct story_row {
	const char *what;	/* a sentence that is true */
	enum plan_invariant invariant;
	enum check_said said;
	const char *head, *story;
	const char *events;	/* those in conflict: "4 7"; NULL: not said */
	const char *blames;
};
/* A test each; also that each finding reads the same from a stored history. */
void story_check(const struct story_row *, size_t n);

#endif
