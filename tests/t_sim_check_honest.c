/* SPDX-License-Identifier: ISC */
#include "sim_story.h"

#include "tap.h"

#define DEFINITE PLAN_NO_FALSE_DEFINITE
#define UNKNOWN PLAN_UNKNOWN_HONEST
#define BUSY PLAN_BUSY_HONEST
#define SAYS PLAN_ANSWERS_HONEST
#define GUARD PLAN_FINGERPRINT_GUARD

#define RAN "c1 inv a1 k1 f=x | h1 begin e1 k1 a1 | h1 commit e1 | " \
	"h1 end e1 | "			/* events 1 to 4 */

/* Events 1 to 4: cut, and the instance stays away; 5: the operator's word.
   TOLD: it comes back, and somebody was told; 8. */
#define CUT "c1 inv a1 k1 >g1 | h1 begin e1 k1 a1 on=g1 | " \
	"g1 fault proc.kill | c1 ret a1 info how=cut | "
#define AWAY CUT "- fault operator.resolve k1 | c5 inv a5 k1 >g2 | " \
	"c5 ret a5 fail | "
#define TOLD CUT "g1 heal proc.restart | c2 inv a2 k1 >g2 | " \
	"c2 ret a2 unknown | - fault operator.resolve k1 | "
#define AGAIN "c3 inv a3 k1 >g2 | h2 begin e2 k1 a3 x2 on=g2 | "

static const struct story_row rows[] = {
	/* --- no_false_definite --- */
	{ "what was refused did not run", DEFINITE, CHECK_HOLDS, NULL,
	  RAN "c1 ret a1 ok d=D | c2 inv a2 k1 | c2 ret a2 busy", "", NULL },
	{ "told that it was not started, and it had run", DEFINITE,
	  CHECK_VIOLATED, NULL, RAN "c1 ret a1 fail", "5 2 3", NULL },
	{ "told that it was not started, and it ran afterwards", DEFINITE,
	  CHECK_VIOLATED, NULL,
	  "c1 inv a1 k1 | c1 ret a1 fail | h1 begin e1 k1 a1", "2 3", NULL },
	{ "told that nobody knows of an earlier run, and it was its own",
	  DEFINITE, CHECK_VIOLATED, NULL,
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | c1 ret a1 unknown", "3 2",
	  NULL },
	{ "busy, and it was its own run that it was busy with", DEFINITE,
	  CHECK_VIOLATED, NULL,
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | c1 ret a1 busy", "3 2", NULL },
	{ "an info try may have run", DEFINITE, CHECK_UNEXERCISED, NULL,
	  RAN "c1 ret a1 info", "", NULL },
	{ "502 says of its own try that it may have run", DEFINITE,
	  CHECK_HOLDS, NULL,
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | c1 ret a1 info how=whole s=502 "
	  "mark=unknown", "", NULL },
	{ "one that was served might have been told that it did not run",
	  DEFINITE, CHECK_HOLDS, NULL, RAN "c1 ret a1 ok d=D", "", NULL },
	{ "no connection, and yet a run", DEFINITE, CHECK_VIOLATED, NULL,
	  "c1 inv a1 k1 | c1 ret a1 fail how=refused | h1 begin e1 k1 a1",
	  "2 3", NULL },

	/* --- unknown_honest --- */
	{ "a kill within the run explains it", UNKNOWN, CHECK_HOLDS, NULL,
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | g1 fault proc.kill | "
	  "c1 ret a1 info how=cut | c1 inv a2 k1 | c1 ret a2 unknown", "",
	  NULL },
	{ "unknown without anything that happened", UNKNOWN, CHECK_VIOLATED,
	  NULL,
	  RAN "c1 ret a1 info | c2 inv a2 k1 | c2 ret a2 unknown", "7 2 3",
	  NULL },
	{ "a fault after the answer explains nothing", UNKNOWN,
	  CHECK_VIOLATED, NULL,
	  RAN "c1 ret a1 info | c2 inv a2 k1 | c2 ret a2 unknown | "
	  "g1 fault proc.kill", "7 2 3", NULL },
	{ "a client that gave up explains nothing", UNKNOWN, CHECK_VIOLATED,
	  NULL,
	  RAN "c1 fault client.give_up | c1 ret a1 info how=gave-up | "
	  "c2 inv a2 k1 | c2 ret a2 unknown", "8 2 3", NULL },
	{ "a fault that was over before the key was sent explains nothing",
	  UNKNOWN, CHECK_VIOLATED, NULL,
	  "a fault store.kill | a heal store.restart | "
	  "@5000 c1 inv a1 k1 | h1 begin e1 k1 a1 | h1 commit e1 | "
	  "h1 end e1 | c1 ret a1 info | c2 inv a2 k1 | c2 ret a2 unknown",
	  "9 4 5", NULL },
	{ "one that still lasts does", UNKNOWN, CHECK_HOLDS, "arbiter=redis",
	  "a fault store.kill | @5000 c1 inv a1 k1 | h1 begin e1 k1 a1 | "
	  "h1 commit e1 | h1 end e1 | c1 ret a1 info | c2 inv a2 k1 | "
	  "c2 ret a2 unknown", "", NULL },
	{ "what ends something elsewhere does not end it", UNKNOWN,
	  CHECK_HOLDS, "arbiter=redis",
	  "a fault store.kill | b heal store.restart | @5000 c1 inv a1 k1 | "
	  "h1 begin e1 k1 a1 | h1 end e1 | c1 ret a1 info | c2 inv a2 k1 | "
	  "c2 ret a2 unknown", "", NULL },
	{ "a run that came to no end explains it: it crashed, or ran too long",
	  UNKNOWN, CHECK_HOLDS, NULL,
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | h1 commit e1 | c1 ret a1 info "
	  "how=whole s=502 mark=unknown | c2 inv a2 k1 | c2 ret a2 unknown",
	  "", NULL },
	{ "a run that goes on is not unknown", UNKNOWN, CHECK_VIOLATED, NULL,
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | c2 inv a2 k1 | "
	  "c2 ret a2 unknown | h1 commit e1 | h1 end e1 | c1 ret a1 ok d=D",
	  "4 2 5", NULL },
	{ "a lease that ended explains it", UNKNOWN, CHECK_HOLDS, NULL,
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | a expired k1 | c2 inv a2 k1 | "
	  "c2 ret a2 unknown | h1 commit e1 | h1 end e1", "", NULL },
	{ "a machine that stood still explains it", UNKNOWN, CHECK_HOLDS,
	  NULL,
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | - stall | c2 inv a2 k1 | "
	  "c2 ret a2 unknown | h1 commit e1 | h1 end e1", "", NULL },
	{ "a program that ends badly by plan explains it", UNKNOWN,
	  CHECK_HOLDS, "fails",
	  RAN "c1 ret a1 info how=whole s=502 mark=unknown | c2 inv a2 k1 | "
	  "c2 ret a2 unknown", "", NULL },
	{ "answers that are not kept are not unknown ones", UNKNOWN,
	  CHECK_HOLDS, NULL,
	  RAN "c1 ret a1 info how=whole s=200 mark=stored-without-body | "
	  "c2 inv a2 k1 | c2 ret a2 unknown mark=not-kept", "", NULL },
	{ "an outage of Redis explains nothing where the ledger decides",
	  UNKNOWN, CHECK_VIOLATED, NULL,
	  RAN "a fault store.kill | c1 ret a1 info | c2 inv a2 k1 | "
	  "c2 ret a2 unknown", "8 2 3", NULL },
	{ "a clock that steps where the key was asked for explains nothing",
	  UNKNOWN, CHECK_VIOLATED, NULL,
	  "c1 inv a1 k1 >g1 | h1 begin e1 k1 a1 on=g1 | "
	  "g2 fault clock.jump ms=3600000 | c2 inv a2 k1 >g2 | "
	  "c2 ret a2 unknown | h1 commit e1 | h1 end e1", "5 2 6", NULL },
	{ "nor does one where it is run: a lease is not of the wall's time",
	  UNKNOWN, CHECK_VIOLATED, "arbiter=redis",
	  "c1 inv a1 k1 >g1 | h1 begin e1 k1 a1 on=g1 | "
	  "g1 fault clock.jump ms=3600000 | c2 inv a2 k1 >g2 | "
	  "c2 ret a2 unknown | h1 commit e1 | h1 end e1", "5 2 6", NULL },
	{ "the clock of the server that has the lease does", UNKNOWN,
	  CHECK_HOLDS, "arbiter=redis",
	  "c1 inv a1 k1 >g1 | h1 begin e1 k1 a1 on=g1 | "
	  "a fault clock.jump ms=60000 | c2 inv a2 k1 >g2 | "
	  "c2 ret a2 unknown | h1 commit e1 | h1 end e1", "", NULL },
	{ "but not one that steps by less than half of a lease", UNKNOWN,
	  CHECK_VIOLATED, "arbiter=redis",
	  "c1 inv a1 k1 >g1 | h1 begin e1 k1 a1 on=g1 | "
	  "a fault clock.jump ms=400 | c2 inv a2 k1 >g2 | "
	  "c2 ret a2 unknown | h1 commit e1 | h1 end e1", "5 2 6", NULL },
	{ "nor one that steps back", UNKNOWN, CHECK_VIOLATED,
	  "arbiter=redis",
	  "c1 inv a1 k1 >g1 | h1 begin e1 k1 a1 on=g1 | "
	  "a fault clock.jump ms=-60000 | c2 inv a2 k1 >g2 | "
	  "c2 ret a2 unknown | h1 commit e1 | h1 end e1", "5 2 6", NULL },
	{ "nor one that steps before the key was sent", UNKNOWN,
	  CHECK_VIOLATED, "arbiter=redis",
	  "a fault clock.jump ms=60000 | a heal clock.jump | "
	  "c1 inv a1 k1 >g1 | h1 begin e1 k1 a1 on=g1 | c2 inv a2 k1 >g2 | "
	  "c2 ret a2 unknown | h1 commit e1 | h1 end e1", "6 4 7", NULL },
	{ "a kill of an instance that does not run it explains nothing",
	  UNKNOWN, CHECK_VIOLATED, NULL,
	  "c1 inv a1 k1 >g1 | h1 begin e1 k1 a1 on=g1 | c2 inv a2 k1 >g2 | "
	  "g2 fault proc.kill | c2 ret a2 info how=cut | c3 inv a3 k1 >g1 | "
	  "c3 ret a3 unknown | h1 commit e1 | h1 end e1", "7 2 8", NULL },
	{ "before there is a run each that was asked may have had it", UNKNOWN,
	  CHECK_HOLDS, NULL,
	  "c1 inv a1 k1 >g1 | g1 fault proc.kill | c1 ret a1 info how=cut | "
	  "c2 inv a2 k1 >g2 | c2 ret a2 unknown", "", NULL },
	{ "who was not asked never had it", UNKNOWN, CHECK_VIOLATED, NULL,
	  "c1 inv a1 k1 >g1 | g3 fault proc.kill | c1 ret a1 info how=cut | "
	  "c2 inv a2 k1 >g2 | c2 ret a2 unknown", "5", NULL },
	{ "who sleeps may keep others from a ledger that is theirs, too",
	  UNKNOWN, CHECK_HOLDS, NULL,
	  "c1 inv a1 k1 >g1 | h1 begin e1 k1 a1 on=g1 | g2 fault proc.pause |"
	  " h1 commit e1 | h1 end e1 | c1 ret a1 info how=whole s=200 "
	  "mark=unrecorded | c2 inv a2 k1 >g1 | c2 ret a2 unknown", "", NULL },
	{ "and not from one that is not", UNKNOWN, CHECK_VIOLATED, "apart",
	  "c1 inv a1 k1 >g1 | h1 begin e1 k1 a1 on=g1 | g2 fault proc.pause |"
	  " h1 commit e1 | h1 end e1 | c1 ret a1 info how=whole s=200 "
	  "mark=unrecorded | c2 inv a2 k1 >g1 | c2 ret a2 unknown", "8 2 4",
	  NULL },
	{ "a fault after its final answer explains nothing", UNKNOWN,
	  CHECK_VIOLATED, NULL,
	  RAN "c1 ret a1 ok d=D of=e1 | g1 fault proc.kill | c2 inv a2 k1 | "
	  "c2 ret a2 unknown", "8 2 3", NULL },
	{ "but one that makes a store forget it", UNKNOWN, CHECK_HOLDS,
	  "arbiter=redis",
	  RAN "c1 ret a1 ok d=D of=e1 | a fault store.restart | "
	  "c2 inv a2 k1 | c2 ret a2 unknown", "", NULL },
	{ "an earlier answer is not explained by what came after it", UNKNOWN,
	  CHECK_VIOLATED, NULL,
	  "c1 inv a1 k1 >g1 | h1 begin e1 k1 a1 on=g1 | c2 inv a2 k1 >g1 | "
	  "c3 inv a3 k1 >g1 | c3 ret a3 unknown | g1 fault proc.kill | "
	  "c2 ret a2 unknown | h1 commit e1 | h1 end e1", "5 2 8", NULL },
	{ "a program that was killed before its first line, its time over",
	  UNKNOWN, CHECK_HOLDS, "limit=1",
	  "c1 inv a1 k1 | @5 c1 ret a1 info how=whole s=504 mark=unknown | "
	  "c2 inv a2 k1 | c2 ret a2 unknown", "", NULL },
	{ "it was not over yet", UNKNOWN, CHECK_VIOLATED, "limit=1000",
	  "c1 inv a1 k1 | @5 c1 ret a1 info how=whole s=504 mark=unknown | "
	  "c2 inv a2 k1 | c2 ret a2 unknown", "4", NULL },
	{ "who was told that he did not run was not killed", UNKNOWN,
	  CHECK_VIOLATED, "limit=1",
	  "c1 inv a1 k1 | @5 c1 ret a1 fail | c2 inv a2 k1 | "
	  "c2 ret a2 unknown", "4", NULL },
	{ "what has cut one run does not explain that the next is unknown",
	  UNKNOWN, CHECK_VIOLATED, NULL, TOLD AGAIN "c4 inv a4 k1 >g2 | "
	  "c4 ret a4 unknown | h2 commit e2 | h2 end e2", "12 10 13", NULL },
	{ "nor where it lasts: another instance runs it now", UNKNOWN,
	  CHECK_VIOLATED, NULL, AWAY AGAIN "c4 inv a4 k1 >g2 | "
	  "c4 ret a4 unknown | h2 commit e2 | h2 end e2", "11 9 12", NULL },
	{ "nor a kill of the one that runs it, before it did", UNKNOWN,
	  CHECK_VIOLATED, NULL,
	  "c1 inv a1 k1 >g2 | h1 begin e1 k1 a1 on=g2 | g2 fault proc.kill | "
	  "c1 ret a1 info how=cut | - fault operator.resolve k1 | " AGAIN
	  "c4 inv a4 k1 >g2 | c4 ret a4 unknown | h2 commit e2 | h2 end e2",
	  "9 7 10", NULL },
	{ "nor one of the first while the next claims it", UNKNOWN,
	  CHECK_VIOLATED, "retry=3",
	  "c1 inv a1 k1 >g1 | h1 begin e1 k1 a1 on=g1 | c3 inv a3 k1 >g2 | "
	  "g1 fault proc.kill | c1 ret a1 info how=cut | "
	  "h2 begin e2 k1 a3 x2 on=g2 | c4 inv a4 k1 >g2 | c4 ret a4 unknown |"
	  " h2 commit e2 | h2 end e2", "8 6 9", NULL },
	{ "one more kill does", UNKNOWN, CHECK_HOLDS, NULL, TOLD AGAIN
	  "h2 commit e2 | h2 end e2 | g2 fault proc.kill | c3 ret a3 info | "
	  "c4 inv a4 k1 >g2 | c4 ret a4 unknown", "", NULL },
	{ "and so does its own end, which never came", UNKNOWN, CHECK_HOLDS,
	  NULL, TOLD AGAIN "c3 ret a3 info | c4 inv a4 k1 >g2 | "
	  "c4 ret a4 unknown", "", NULL },
	{ "a disk that stays full explains one run after the other", UNKNOWN,
	  CHECK_HOLDS, NULL,
	  "c1 inv a1 k1 >g1 | h1 begin e1 k1 a1 on=g1 | g1 fault disk.full | "
	  "h1 end e1 | c1 ret a1 info | - fault operator.resolve k1 | " AGAIN
	  "h2 end e2 | c3 ret a3 info | c4 inv a4 k1 >g2 | c4 ret a4 unknown",
	  "", NULL },
	{ "who asked before the next run was told of the one before", UNKNOWN,
	  CHECK_HOLDS, NULL,
	  "c1 inv a1 k1 >g1 | h1 begin e1 k1 a1 on=g1 | g1 fault proc.kill | "
	  "c1 ret a1 info how=cut | c4 inv a4 k1 >g2 | "
	  "- fault operator.resolve k1 | " AGAIN
	  "c4 ret a4 unknown | h2 commit e2 | h2 end e2", "", NULL },
	{ "under retry each run that is unknown has its own fault", UNKNOWN,
	  CHECK_VIOLATED, "retry=3",
	  "c1 inv a1 k1 >g1 | h1 begin e1 k1 a1 on=g1 | g1 fault proc.kill | "
	  "c1 ret a1 info how=cut | g1 heal proc.restart | " AGAIN
	  "h2 commit e2 | h2 end e2 | c3 ret a3 info | c4 inv a4 k1 >g2 | "
	  "c4 ret a4 unknown", "12 7 8", NULL },
	{ "the lease that ended was of the run before", UNKNOWN,
	  CHECK_VIOLATED, "retry=3",
	  "c1 inv a1 k1 >g1 | h1 begin e1 k1 a1 on=g1 | a expired k1 | " AGAIN
	  "h2 commit e2 | h2 end e2 | c3 ret a3 info | c4 inv a4 k1 >g2 | "
	  "c4 ret a4 unknown", "10 5 6", NULL },
	{ "of each ledger's own run", UNKNOWN, CHECK_HOLDS, "apart gates=2",
	  TOLD AGAIN "h2 commit e2 | h2 end e2 | c3 ret a3 ok d=D of=e2 | "
	  "c4 inv a4 k1 >g1 | c4 ret a4 unknown", "", NULL },
	{ "a store that may have its past again speaks of any run", UNKNOWN,
	  CHECK_HOLDS, "arbiter=redis", "a fault store.restart | "
	  "a heal store.restart | " TOLD AGAIN
	  "h2 commit e2 | h2 end e2 | c3 ret a3 info | c4 inv a4 k1 >g2 | "
	  "c4 ret a4 unknown", "", NULL },
	{ "so does one that stood still, and may have been replaced", UNKNOWN,
	  CHECK_HOLDS, "arbiter=redis sentinels", "a fault store.pause | "
	  "a heal store.resume | " TOLD AGAIN
	  "h2 commit e2 | h2 end e2 | c3 ret a3 info | c4 inv a4 k1 >g2 | "
	  "c4 ret a4 unknown", "", NULL },
	{ "a kill after it was stored explains nothing", UNKNOWN,
	  CHECK_VIOLATED, NULL, RAN "g1 log request k1 mark=stored | "
	  "c1 ret a1 info | g1 fault proc.kill | c2 inv a2 k1 | "
	  "c2 ret a2 unknown", "9 2 3", NULL },
	{ "nor one after Redis had it", UNKNOWN, CHECK_VIOLATED,
	  "arbiter=redis", RAN "a store m1 complete k1 WRITTEN | "
	  "c1 ret a1 info | g1 fault proc.kill | c2 inv a2 k1 | "
	  "c2 ret a2 unknown", "9 2 3", NULL },
	{ "but one that makes it forget that", UNKNOWN, CHECK_HOLDS,
	  "arbiter=redis", RAN "a store m1 complete k1 WRITTEN | "
	  "c1 ret a1 info | a fault store.restart | c2 inv a2 k1 | "
	  "c2 ret a2 unknown", "", NULL },
	{ "but not after another ledger had it", UNKNOWN, CHECK_HOLDS,
	  "apart gates=2", RAN "g1 log request k1 mark=stored | "
	  "c1 ret a1 info | c2 inv a2 k1 >g2 | g2 fault proc.kill | "
	  "c2 ret a2 info how=cut | c3 inv a3 k1 >g2 | c3 ret a3 unknown", "",
	  NULL },
	{ "what could not be stored is another thing", UNKNOWN, CHECK_HOLDS,
	  NULL, RAN "g1 log request k1 mark=unrecorded | c1 ret a1 info | "
	  "g1 fault proc.kill | c2 inv a2 k1 | c2 ret a2 unknown", "", NULL },
	{ "once its tombstone has ended it may be cut again", UNKNOWN,
	  CHECK_HOLDS, "keep=10 once=20",
	  RAN "c1 ret a1 ok d=D of=e1 | @100 c2 inv a2 k1 >g1 | "
	  "g1 fault proc.kill | c2 ret a2 info how=cut | c3 inv a3 k1 >g2 | "
	  "c3 ret a3 unknown", "", NULL },
	{ "and so it may once the operator has freed it", UNKNOWN,
	  CHECK_HOLDS, NULL,
	  RAN "c1 ret a1 ok d=D of=e1 | - fault operator.resolve k1 | "
	  "c2 inv a2 k1 >g1 | g1 fault proc.kill | c2 ret a2 info how=cut | "
	  "c3 inv a3 k1 >g2 | c3 ret a3 unknown", "", NULL },
	{ "who was asked for what the operator freed may have it while a link "
	  "is cut", UNKNOWN, CHECK_HOLDS, "arbiter=redis",
	  "c1 inv a1 k1 >g1 | h1 begin e1 k1 a1 on=g1 | g2 fault net.oneway | "
	  "h1 end e1 | c1 ret a1 info | - fault operator.resolve k1 | "
	  "c2 inv a2 k1 >g2 | c2 ret a2 info | c3 inv a3 k1 >g1 | "
	  "c3 ret a3 unknown", "", NULL },
	{ "one try of a key puts nothing to the test", UNKNOWN,
	  CHECK_UNEXERCISED, NULL, RAN "c1 ret a1 ok d=D", "", NULL },

	/* --- busy_honest --- */
	{ "busy while another runs", BUSY, CHECK_HOLDS, NULL,
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | c2 inv a2 k1 | c2 ret a2 busy |"
	  " h1 commit e1 | h1 end e1 | c1 ret a1 ok d=D", "", NULL },
	{ "busy though another had ended before it asked", BUSY,
	  CHECK_VIOLATED, NULL,
	  RAN "c1 ret a1 ok d=D | c2 inv a2 k1 | c2 ret a2 busy", "7 6 5",
	  NULL },
	{ "busy though nobody else ever asked", BUSY, CHECK_VIOLATED, NULL,
	  "a fault net.drop | c1 inv a1 k1 | c1 ret a1 busy", "3 2", NULL },
	{ "two that were both told of each other", BUSY, CHECK_VIOLATED, NULL,
	  "c1 inv a1 k1 | c2 inv a2 k1 | c1 ret a1 busy | c2 ret a2 busy",
	  "3 1", NULL },
	{ "another that ended while it asked had it until then", BUSY,
	  CHECK_HOLDS, NULL,
	  "c1 inv a1 k1 | c2 inv a2 k1 | c1 ret a1 ok d=D | c2 ret a2 busy",
	  "", NULL },
	{ "another that is given what is kept has not got the key", BUSY,
	  CHECK_VIOLATED, NULL,
	  RAN "c1 ret a1 ok d=D | c2 inv a2 k1 | c3 inv a3 k1 | "
	  "c2 ret a2 busy | c3 ret a3 ok d=D mark=replayed", "8 6 5", NULL },
	{ "an info try whose program nobody can see may own it without end",
	  BUSY, CHECK_HOLDS, "external",
	  "c1 inv a1 k1 | c1 ret a1 info | @900000 c2 inv a2 k1 | "
	  "c2 ret a2 busy", "", NULL },
	{ "an info try owns it while its program runs", BUSY, CHECK_HOLDS,
	  NULL,
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | c1 ret a1 info | "
	  "@4000 c2 inv a2 k1 | c2 ret a2 busy | h1 commit e1 | h1 end e1",
	  "", NULL },
	{ "and a little longer: its end is to be written", BUSY, CHECK_HOLDS,
	  NULL,
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | c1 ret a1 info | h1 end e1 | "
	  "@1000 c2 inv a2 k1 | c2 ret a2 busy", "", NULL },
	{ "but not long after its program has ended", BUSY, CHECK_VIOLATED,
	  NULL,
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | c1 ret a1 info | h1 end e1 | "
	  "@1500 c2 inv a2 k1 | c2 ret a2 busy", "6 5", NULL },
	{ "nor beyond its program's limit", BUSY, CHECK_VIOLATED, NULL,
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | c1 ret a1 info | "
	  "@7000 c2 inv a2 k1 | c2 ret a2 busy", "5 4", NULL },
	{ "an info try that never had a run owns it no longer", BUSY,
	  CHECK_VIOLATED, NULL,
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | h1 end e1 | c3 inv a3 k1 | "
	  "c3 ret a3 info | c1 ret a1 ok d=D | @1500 c2 inv a2 k1 | "
	  "c2 ret a2 busy", "8 7 6", NULL },
	{ "a try of another key owns nothing here", BUSY, CHECK_VIOLATED,
	  NULL,
	  "c1 inv a1 k2 | c2 inv a2 k1 | c2 ret a2 busy | c1 ret a1 ok d=D",
	  "3 2", NULL },
	{ "one that was refused for its body never owned it", BUSY,
	  CHECK_VIOLATED, NULL,
	  "c1 inv a1 k1 f=y | c2 inv a2 k1 f=x | c1 ret a1 fail s=422 "
	  "mark=mismatch | c2 ret a2 busy", "4 2", NULL },
	{ "a claim that a fault kept from being taken back may stand", BUSY,
	  CHECK_HOLDS, "arbiter=redis",
	  "c1 inv a1 k1 | a fault net.drop | c1 ret a1 fail | c2 inv a2 k1 | "
	  "c2 ret a2 busy", "", NULL },
	{ "a fault that cannot have reached the key keeps no claim of it",
	  BUSY, CHECK_VIOLATED, NULL,
	  "c1 inv a1 k1 >g1 | g2 fault proc.kill | c1 ret a1 fail | "
	  "c2 inv a2 k1 >g1 | c2 ret a2 busy", "5 4 3", NULL },
	{ "nor one after the final answer was read", BUSY, CHECK_VIOLATED,
	  NULL,
	  RAN "c1 ret a1 ok d=D | g1 fault proc.kill | c2 inv a2 k1 | "
	  "c2 ret a2 busy", "8 7 5", NULL },
	{ "but a store that has its past again may have the claim again",
	  BUSY, CHECK_HOLDS, "arbiter=redis",
	  RAN "c1 ret a1 ok d=D | a fault store.restart | c2 inv a2 k1 | "
	  "c2 ret a2 busy", "", NULL },
	{ "without a fault it is taken back", BUSY, CHECK_VIOLATED, NULL,
	  "c1 inv a1 k1 | c1 ret a1 fail | c2 inv a2 k1 | c2 ret a2 busy",
	  "4 3 2", NULL },
	{ "without a busy answer nothing is said", BUSY, CHECK_UNEXERCISED,
	  NULL, RAN "c1 ret a1 ok d=D", "", NULL },

	/* --- answers_honest --- */
	{ "busy, and told when to come again", SAYS, CHECK_HOLDS, NULL,
	  "c1 inv a1 k1 | c2 inv a2 k1 | c2 ret a2 busy again=1", "", NULL },
	{ "busy, and not told when", SAYS, CHECK_VIOLATED, NULL,
	  "c1 inv a1 k1 | c2 inv a2 k1 | c2 ret a2 busy again=-1", "3 2",
	  NULL },
	{ "accepted, and not told when", SAYS, CHECK_VIOLATED, NULL,
	  "c1 inv a1 k1 | c2 inv a2 k1 | c2 ret a2 busy s=202 again=-1",
	  "3 2", NULL },
	{ "not served for now, and not told when to come again", SAYS,
	  CHECK_VIOLATED, NULL, "c1 inv a1 k1 | c1 ret a1 fail again=-1",
	  "2 1", NULL },
	{ "told to come again at once", SAYS, CHECK_VIOLATED, NULL,
	  "c1 inv a1 k1 | c1 ret a1 fail again=0", "2 1", NULL },
	{ "told to come again when a lease is over", SAYS, CHECK_HOLDS,
	  "lease=2500", "c1 inv a1 k1 | c1 ret a1 fail again=3", "", NULL },
	{ "told to come again long after it", SAYS, CHECK_VIOLATED,
	  "lease=2500", "c1 inv a1 k1 | c1 ret a1 fail again=4", "2 1", NULL },
	{ "a second is not too long for a short lease", SAYS, CHECK_HOLDS,
	  "lease=300", "c1 inv a1 k1 | c1 ret a1 fail again=1", "", NULL },
	{ "a lease that is not known bounds nothing", SAYS, CHECK_HOLDS,
	  "lease=0", "c1 inv a1 k1 | c1 ret a1 fail again=60", "", NULL },
	{ "told to come again, and nothing will have changed", SAYS,
	  CHECK_VIOLATED, NULL,
	  "c1 inv a1 k1 | c1 ret a1 unknown again=1", "2 1", NULL },
	{ "a program that is not there will not be there soon", SAYS,
	  CHECK_HOLDS, NULL,
	  "c1 inv a1 k1 | c1 ret a1 fail s=404 again=-1", "", NULL },
	{ "a program may tell its clients to come again", SAYS,
	  CHECK_UNEXERCISED, NULL,
	  RAN "c1 ret a1 ok s=503 d=D again=9999", "", NULL },
	{ "an answer that does not say what happened", SAYS, CHECK_VIOLATED,
	  NULL,
	  "c1 inv a1 k1 | c1 ret a1 info how=whole s=500 d=D", "2 1", NULL },
	{ "of a request without a key nothing need be said", SAYS,
	  CHECK_UNEXERCISED, NULL,
	  "c1 inv a1 | c1 ret a1 ok mark= s=200 d=D", "", NULL },
	{ "one that says it in no word of idem's", SAYS, CHECK_VIOLATED, NULL,
	  "c1 inv a1 k1 | c1 ret a1 info how=whole s=503 mark=later d=D",
	  "2 1", NULL },
	{ "what may have run is told by 502 and 504 alone", SAYS,
	  CHECK_VIOLATED, NULL,
	  "c1 inv a1 k1 | c1 ret a1 info how=whole s=503 mark=unknown d=D",
	  "2 1", NULL },
	{ "what was not started is not told by 504", SAYS, CHECK_VIOLATED,
	  NULL, "c1 inv a1 k1 | c1 ret a1 fail s=504", "2 1", NULL },
	{ "an answer that was cut has said nothing yet", SAYS,
	  CHECK_UNEXERCISED, NULL,
	  "c1 inv a1 k1 | c1 ret a1 info how=cut", "", NULL },
	{ "a web server that finds nobody has words of its own", SAYS,
	  CHECK_UNEXERCISED, "front",
	  "c1 inv a1 k1 | c1 ret a1 info how=whole s=503 d=D", "", NULL },
	{ "but a word of idem's is idem's behind one, too", SAYS,
	  CHECK_VIOLATED, "front",
	  "c1 inv a1 k1 | c1 ret a1 fail again=-1", "2 1", NULL },

	/* --- fingerprint_guard --- */
	{ "the second body is refused", GUARD, CHECK_HOLDS, NULL,
	  RAN "c1 ret a1 ok d=D | c2 inv a2 k1 f=y | c2 ret a2 fail s=422 "
	  "mark=mismatch", "", NULL },
	{ "the second body gets the first's answer", GUARD, CHECK_VIOLATED,
	  NULL,
	  RAN "c1 ret a1 ok d=D | c2 inv a2 k1 f=y | c2 ret a2 ok d=D",
	  "7 6 2", NULL },
	{ "the second body is run, too", GUARD, CHECK_VIOLATED, NULL,
	  RAN "c1 ret a1 ok d=D | c2 inv a2 k1 f=y | h2 begin e2 k1 a2 | "
	  "c2 ret a2 info", "2 7 1 6", NULL },
	{ "the body of an info try that ran is the first", GUARD,
	  CHECK_VIOLATED, NULL,
	  "c1 inv a1 k1 f=x | c2 inv a2 k1 f=y | h1 begin e1 k1 a1 | "
	  "c1 ret a1 info | c2 ret a2 ok d=D", "5 2 3", NULL },
	{ "busy is what the second may be told while the first runs", GUARD,
	  CHECK_HOLDS, NULL,
	  "c1 inv a1 k1 f=x | h1 begin e1 k1 a1 | c2 inv a2 k1 f=y | "
	  "c2 ret a2 busy | h1 commit e1 | c1 ret a1 ok d=D", "", NULL },
	{ "where no run is seen two bodies with final answers are enough",
	  GUARD, CHECK_VIOLATED, "external",
	  "c1 inv a1 k1 f=x | c1 ret a1 ok d=D | c2 inv a2 k1 f=y | "
	  "c2 ret a2 ok d=E", "4 3 1", NULL },
	{ "keys of their own may have bodies of their own", GUARD,
	  CHECK_UNEXERCISED, NULL,
	  RAN "c1 ret a1 ok d=D | c2 inv a2 k2 f=y | c2 ret a2 ok d=E", "",
	  NULL },
	{ "after its tombstone a key is another", GUARD, CHECK_UNEXERCISED,
	  "once=50",
	  RAN "c1 ret a1 ok d=D | @100 c2 inv a2 k1 f=y | h2 begin e2 k1 a2 |"
	  " c2 ret a2 ok d=E of=e2", "", NULL },
	{ "the operator's word lets another body be the first", GUARD,
	  CHECK_UNEXERCISED, NULL,
	  "c1 inv a1 k1 f=x | h1 begin e1 k1 a1 | c1 ret a1 info | "
	  "g1 fault operator.resolve k1 word=not-done | c2 inv a2 k1 f=y | "
	  "h2 begin e2 k1 a2 | h2 commit e2 | c2 ret a2 ok d=E of=e2", "",
	  NULL },
	{ "but not if it was that the first has been done", GUARD,
	  CHECK_VIOLATED, NULL,
	  "c1 inv a1 k1 f=x | h1 begin e1 k1 a1 | c1 ret a1 info | "
	  "g1 fault operator.resolve k1 word=done | c2 inv a2 k1 f=y | "
	  "h2 begin e2 k1 a2 | c2 ret a2 info", "2 6 1 5", NULL },
	{ "nor one that was run before it", GUARD, CHECK_VIOLATED, NULL,
	  "c1 inv a1 k1 f=x | h1 begin e1 k1 a1 | c1 ret a1 info | "
	  "c2 inv a2 k1 f=y | h2 begin e2 k1 a2 | h2 commit e2 | "
	  "c2 ret a2 info | g1 fault operator.resolve k1 word=not-done",
	  "2 5 1 4", NULL },
	{ "nor of another key", GUARD, CHECK_VIOLATED, NULL,
	  "c3 inv a3 k2 f=x | c1 inv a1 k1 f=x | h1 begin e1 k1 a1 | "
	  "c1 ret a1 info | g1 fault operator.resolve k2 word=not-done | "
	  "c2 inv a2 k1 f=y | h2 begin e2 k1 a2 | c2 ret a2 info", "3 7 2 6",
	  NULL },
	{ "the second body is shown what the first's program said, marked as "
	  "not recorded", GUARD, CHECK_VIOLATED, NULL,
	  RAN "c2 inv a2 k1 f=y | c1 ret a1 ok d=D | c2 ret a2 info how=whole "
	  "s=200 mark=unrecorded d=D of=e1", "7 5 2", NULL },
	{ "or a piece of it", GUARD, CHECK_VIOLATED, NULL,
	  RAN "c2 inv a2 k1 f=y | c1 ret a1 ok d=D | c2 ret a2 info how=cut "
	  "of=e1", "7 5 2", NULL },
	{ "a first try that left no run does not decide the body", GUARD,
	  CHECK_HOLDS, NULL,
	  "c1 inv a1 k1 f=y | c1 ret a1 info | c2 inv a2 k1 f=x | "
	  "h2 begin e2 k1 a2 | h2 commit e2 | h2 end e2 | "
	  "c2 ret a2 ok d=D of=e2 | c1 inv a3 k1 f=y | "
	  "c1 ret a3 fail s=422 mark=mismatch", "", NULL },
};

int
main(void)
{
	story_check(rows, sizeof rows / sizeof *rows);
	return done();
}
