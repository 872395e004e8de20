/* SPDX-License-Identifier: ISC */
#include "sim_story.h"

#include "tap.h"

#define ONCE PLAN_AT_MOST_ONCE
#define BUSINESS PLAN_AT_MOST_ONCE_PER_BUSINESS_ID
#define ALONE PLAN_MUTUAL_EXCLUSION

static const struct story_row rows[] = {
	/* --- at_most_once --- */
	{ "a key that ran once and was replayed", ONCE, CHECK_HOLDS, NULL,
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | h1 commit e1 | h1 end e1 | "
	  "c1 ret a1 ok d=x | c2 inv a2 k1 | c2 ret a2 ok d=x mark=replayed",
	  "", NULL },
	{ "two effects of one key are one too many", ONCE, CHECK_VIOLATED,
	  NULL,
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | h1 commit e1 | h1 end e1 | "
	  "c1 ret a1 ok d=x | c2 inv a2 k1 | h2 begin e2 k1 a2 | "
	  "h2 commit e2 | h2 end e2 | c2 ret a2 ok d=x", "3 8 2 7", NULL },
	{ "an effect of an info try counts, and so does one that comes after "
	  "its client has gone", ONCE, CHECK_VIOLATED, NULL,
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | c1 ret a1 info | c1 inv a2 k1 | "
	  "h2 begin e2 k1 a2 | h2 commit e2 | h2 end e2 | c1 ret a2 ok d=x | "
	  "h1 commit e1 | h1 end e1", "9 6 2 5", NULL },
	{ "a crash before the effect and a run that has one are one effect",
	  ONCE, CHECK_HOLDS, "retry=3",
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | g1 fault proc.kill | "
	  "c1 ret a1 info how=cut | c1 inv a2 k1 | h2 begin e2 k1 a2 x2 | "
	  "h2 commit e2 | h2 end e2 | c1 ret a2 ok d=x", "", NULL },
	{ "under retry a run that was cut may be done again", ONCE,
	  CHECK_HOLDS, "retry=3",
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | h1 commit e1 | "
	  "g1 fault proc.kill | c1 ret a1 info how=cut | c1 inv a2 k1 | "
	  "h2 begin e2 k1 a2 x2 | h2 commit e2 | h2 end e2", "", NULL },
	{ "under retry a lease that ended beside its run may start another",
	  ONCE, CHECK_HOLDS, "retry=3",
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | h1 commit e1 | a expired k1 | "
	  "c1 ret a1 info | c1 inv a2 k1 | h2 begin e2 k1 a2 x2 | "
	  "h1 end e1 | h2 commit e2 | h2 end e2", "", NULL },
	{ "a lease of another key that ended starts nothing", ONCE,
	  CHECK_VIOLATED, "retry=3",
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | c3 inv a3 k2 | h1 commit e1 | "
	  "a expired k2 | h1 end e1 | c1 ret a1 info | c1 inv a2 k1 | "
	  "h2 begin e2 k1 a2 x2 | h2 commit e2 | h2 end e2", "4 10 2 9",
	  NULL },
	{ "under retry a run that came to its end is not done again", ONCE,
	  CHECK_VIOLATED, "retry=3",
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | h1 commit e1 | h1 end e1 | "
	  "c1 ret a1 info | c1 inv a2 k1 | h2 begin e2 k1 a2 x2 | "
	  "h2 commit e2 | h2 end e2", "3 8 2 7", NULL },
	{ "under retry there are no more starts than it says", ONCE,
	  CHECK_VIOLATED, "retry=2",
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | h1 commit e1 | "
	  "g1 fault proc.kill | c1 inv a2 k1 | h2 begin e2 k1 a2 x2 | "
	  "h2 commit e2 | g1 fault proc.kill | c1 inv a3 k1 | "
	  "h3 begin e3 k1 a3 x3 | h3 commit e3", "3 11 2 10", NULL },
	{ "under block a fault excuses nothing", ONCE, CHECK_VIOLATED, NULL,
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | h1 commit e1 | "
	  "g1 fault proc.kill | c1 inv a2 k1 | h2 begin e2 k1 a2 x2 | "
	  "h2 commit e2 | h2 end e2", "3 7 2 6", NULL },
	{ "under block a run that was cut before its effect is not started "
	  "again", ONCE, CHECK_VIOLATED, NULL,
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | g1 fault proc.kill | "
	  "c1 ret a1 info how=cut | c1 inv a2 k1 | h2 begin e2 k1 a2 x2 | "
	  "h2 commit e2 | h2 end e2 | c1 ret a2 ok d=x", "6 2", NULL },
	{ "under retry starts without an effect count as well", ONCE,
	  CHECK_VIOLATED, "retry=2",
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | g1 fault proc.kill | "
	  "c1 inv a2 k1 | h2 begin e2 k1 a2 x2 | g1 fault proc.kill | "
	  "c1 inv a3 k1 | h3 begin e3 k1 a3 x3 | h3 commit e3", "8 5", NULL },
	{ "under retry a fault elsewhere excuses no other start", ONCE,
	  CHECK_VIOLATED, "retry=3",
	  "c1 inv a1 k1 >g1 | h1 begin e1 k1 a1 on=g1 | h1 commit e1 | "
	  "h1 end e1 | g2 fault proc.kill | c1 ret a1 info | "
	  "c1 inv a2 k1 >g1 | h2 begin e2 k1 a2 x2 on=g1 | h2 commit e2 | "
	  "h2 end e2", "3 9 2 8", NULL },
	{ "nor one after its final answer was read", ONCE, CHECK_VIOLATED,
	  "retry=3",
	  "c1 inv a1 k1 >g1 | h1 begin e1 k1 a1 on=g1 | h1 commit e1 | "
	  "h1 end e1 | c1 ret a1 ok d=D | g1 fault proc.kill | "
	  "c1 inv a2 k1 >g2 | h2 begin e2 k1 a2 x2 on=g2 | h2 commit e2 | "
	  "h2 end e2", "3 9 2 8", NULL },
	{ "but one that makes the arbiter forget it is one", ONCE,
	  CHECK_HOLDS, "retry=3 arbiter=redis",
	  "c1 inv a1 k1 >g1 | h1 begin e1 k1 a1 on=g1 | h1 commit e1 | "
	  "h1 end e1 | c1 ret a1 ok d=D | a fault store.flush | "
	  "c1 inv a2 k1 >g2 | h2 begin e2 k1 a2 x2 on=g2 | h2 commit e2 | "
	  "h2 end e2", "", NULL },
	{ "a key that its program has released may be started again", ONCE,
	  CHECK_HOLDS, NULL,
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | h1 end e1 | c1 ret a1 info "
	  "how=whole s=503 mark=released | c1 inv a2 k1 | h2 begin e2 k1 a2 | "
	  "h2 commit e2 | h2 end e2 | c1 ret a2 ok d=x", "", NULL },
	{ "but not if it had its effect", ONCE, CHECK_VIOLATED, NULL,
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | h1 commit e1 | h1 end e1 | "
	  "c1 ret a1 info how=whole s=503 mark=released | c1 inv a2 k1 | "
	  "h2 begin e2 k1 a2 | h2 commit e2 | h2 end e2", "3 8 2 7", NULL },
	{ "the operator may say that a run has not happened", ONCE,
	  CHECK_HOLDS, NULL,
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | h1 commit e1 | "
	  "g1 fault proc.kill | - fault operator.resolve k1 word=not-done | "
	  "c1 inv a2 k1 | h2 begin e2 k1 a2 x2 | h2 commit e2 | h2 end e2",
	  "", NULL },
	{ "but not if he says that it has", ONCE, CHECK_VIOLATED, NULL,
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | h1 commit e1 | "
	  "g1 fault proc.kill | - fault operator.resolve k1 word=done | "
	  "c1 inv a2 k1 | h2 begin e2 k1 a2 x2 | h2 commit e2 | h2 end e2",
	  "3 8 2 7", NULL },
	{ "what was done before his word is not done again", ONCE,
	  CHECK_HOLDS, NULL,
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | h1 commit e1 | "
	  "g1 fault proc.kill | - fault operator.resolve k1 word=not-done | "
	  "c1 inv a2 k1 | h2 begin e2 k1 a2 x2 | h2 end e2 | c1 ret a2 info "
	  "how=whole s=503 mark=released | c1 inv a3 k1 | "
	  "h3 begin e3 k1 a3 x3 | h3 commit e3 | h3 end e3", "", NULL },
	{ "a new key has all its starts again", ONCE, CHECK_HOLDS,
	  "once=50 retry=2",
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | g1 fault proc.kill | "
	  "c1 inv a2 k1 | h2 begin e2 k1 a2 x2 | h2 commit e2 | h2 end e2 | "
	  "c1 ret a2 ok d=x | @100 c1 inv a3 k1 | h3 begin e3 k1 a3 | "
	  "g1 fault proc.kill | c1 inv a4 k1 | h4 begin e4 k1 a4 x2 | "
	  "h4 commit e4", "", NULL },
	{ "and not more", ONCE, CHECK_VIOLATED, "once=50 retry=2",
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | h1 commit e1 | h1 end e1 | "
	  "c1 ret a1 ok d=x | @100 c1 inv a3 k1 | h3 begin e3 k1 a3 | "
	  "g1 fault proc.kill | c1 inv a4 k1 | h4 begin e4 k1 a4 x2 | "
	  "g1 fault proc.kill | c1 inv a5 k1 | h5 begin e5 k1 a5 x3", "13 10",
	  NULL },
	{ "the operator's word on another key excuses nothing", ONCE,
	  CHECK_VIOLATED, NULL,
	  "c1 inv a1 k1 | c2 inv a2 k2 | h1 begin e1 k1 a1 | h1 commit e1 | "
	  "- fault operator.resolve k2 word=not-done | c1 inv a3 k1 | "
	  "h2 begin e2 k1 a3 x2 | h2 commit e2 | h2 end e2", "4 8 3 7",
	  NULL },
	{ "a key whose tombstone has ended is a new one", ONCE, CHECK_HOLDS,
	  "once=50",
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | h1 commit e1 | h1 end e1 | "
	  "c1 ret a1 ok d=x | @100 c1 inv a2 k1 | h2 begin e2 k1 a2 | "
	  "h2 commit e2 | h2 end e2", "", NULL },
	{ "a program without an effect has done it when it ends", ONCE,
	  CHECK_VIOLATED, NULL,
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | h1 end e1 | c1 inv a2 k1 | "
	  "h2 begin e2 k1 a2 | h2 end e2", "3 6 2 5", NULL },
	{ "one try of a key puts nothing to the test", ONCE,
	  CHECK_UNEXERCISED, NULL,
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | h1 commit e1 | h1 end e1 | "
	  "c1 ret a1 ok d=x", "", NULL },
	{ "a start without an effect, and another try, are a test", ONCE,
	  CHECK_HOLDS, NULL,
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | g1 fault proc.kill | "
	  "c1 ret a1 info how=cut | c1 inv a2 k1 | c1 ret a2 unknown", "",
	  NULL },
	{ "two tries without a start put nothing to the test", ONCE,
	  CHECK_UNEXERCISED, NULL,
	  "c1 inv a1 k1 | c1 ret a1 fail | c1 inv a2 k1 | c1 ret a2 fail", "",
	  NULL },
	{ "a history that was cut does not say that it holds", ONCE,
	  CHECK_OPEN, NULL,
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | h1 commit e1 | c2 inv a2 k1 | "
	  "cut", "", NULL },
	{ "a violation in a history that was cut is one", ONCE,
	  CHECK_VIOLATED, NULL,
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | h1 commit e1 | c2 inv a2 k1 | "
	  "h2 begin e2 k1 a2 | h2 commit e2 | cut", "3 6 2 5", NULL },

	/* --- at_most_once_per_business_id --- */
	{ "one order under two keys, of which one was refused", BUSINESS,
	  CHECK_HOLDS, "business",
	  "c1 inv a1 k1 | c1 ret a1 fail | c1 inv a2 k2 | "
	  "h1 begin e1 k2 a2 b=o7 | h1 commit e1 | h1 end e1 | "
	  "c1 ret a2 ok d=x", "", NULL },
	{ "two orders under two keys are two", BUSINESS, CHECK_HOLDS,
	  "business",
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 b=o7 | h1 commit e1 | "
	  "c1 ret a1 ok d=x | c1 inv a2 k2 | h2 begin e2 k2 a2 b=o8 | "
	  "h2 commit e2 | c1 ret a2 ok d=y", "", NULL },
	{ "a fresh key of the simulator's own is no second order", BUSINESS,
	  CHECK_HOLDS, "business",
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 b=o7 | h1 commit e1 | "
	  "c1 ret a1 ok d=x | u inv a2 k2 >g1 fresh | "
	  "h2 begin e2 k2 a2 b=o7 | h2 commit e2 | u ret a2 ok d=y", "", NULL },
	{ "a client that changes its key after a timeout is to blame",
	  BUSINESS, CHECK_VIOLATED, "business",
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 b=o7 | c1 ret a1 info | "
	  "c1 inv a2 k2 | h2 begin e2 k2 a2 b=o7 | h1 commit e1 | "
	  "h2 commit e2 | h2 end e2 | c1 ret a2 ok d=x", "6 7", "client" },
	{ "one key that ran twice is not the client's doing", BUSINESS,
	  CHECK_VIOLATED, "business",
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 b=o7 | c1 ret a1 info | "
	  "c1 inv a2 k1 | h2 begin e2 k1 a2 b=o7 | h1 commit e1 | "
	  "h2 commit e2", "6 7", NULL },
	{ "a client that changes its key after it was refused is not to blame "
	  "for a run of the first", BUSINESS, CHECK_VIOLATED, "business",
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 b=o7 | c1 ret a1 fail | "
	  "c1 inv a2 k2 | h2 begin e2 k2 a2 b=o7 | h1 commit e1 | "
	  "h2 commit e2", "6 7", NULL },
	{ "without a name of what it is on nothing is said", BUSINESS,
	  CHECK_UNEXERCISED, NULL,
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | h1 commit e1 | "
	  "c1 inv a2 k2 | h2 begin e2 k2 a2 | h2 commit e2", "", NULL },

	/* --- mutual_exclusion --- */
	{ "a second run after the first's commit", ALONE, CHECK_HOLDS, NULL,
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | c2 inv a2 k1 | h1 commit e1 | "
	  "h2 begin e2 k1 a2 | h1 end e1 | h2 commit e2", "", NULL },
	{ "a run that began while another was under way", ALONE,
	  CHECK_VIOLATED, NULL,
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | c2 inv a2 k1 | "
	  "h2 begin e2 k1 a2 | h1 commit e1 | h2 commit e2", "4 5 2", NULL },
	{ "runs without an effect must not overlap either", ALONE,
	  CHECK_VIOLATED, NULL,
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | c2 inv a2 k1 | "
	  "h2 begin e2 k1 a2 | h2 end e2 | h1 end e1", "4 6 2", NULL },
	{ "one that was killed is over, though nobody saw when", ALONE,
	  CHECK_HOLDS, "retry=2",
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | c2 inv a2 k1 | "
	  "g1 fault proc.kill | h2 begin e2 k1 a2 x2 | h2 commit e2", "",
	  NULL },
	{ "one that was paused and goes on was not over", ALONE,
	  CHECK_VIOLATED, "retry=2",
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | g1 fault proc.pause | "
	  "c2 inv a2 k1 | h2 begin e2 k1 a2 x2 | h2 commit e2 | h2 end e2 | "
	  "g1 heal proc.resume | h1 commit e1", "5 9 2", NULL },
	{ "a run within a long one is seen behind a short one", ALONE,
	  CHECK_VIOLATED, NULL,
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | h1 commit e1 | c2 inv a2 k1 | "
	  "h2 begin e2 k1 a2 | h3 begin e3 k1 a2 | h2 commit e2 | "
	  "h3 commit e3", "6 7 5", NULL },
	{ "one that had no reason to end was not over when another began",
	  ALONE, CHECK_VIOLATED, "retry=2",
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | c2 inv a2 k1 | "
	  "h2 begin e2 k1 a2 x2 | g1 fault proc.kill | h2 commit e2", "4 2",
	  NULL },
	{ "beyond its limit it may have been ended", ALONE, CHECK_HOLDS,
	  "retry=2 limit=50",
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | c2 inv a2 k1 | "
	  "@60 h2 begin e2 k1 a2 x2 | g1 fault proc.kill | h2 commit e2", "",
	  NULL },
	{ "a program that ends by itself may have ended by then", ALONE,
	  CHECK_HOLDS, "retry=2 fails",
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | c2 inv a2 k1 | "
	  "h2 begin e2 k1 a2 x2 | h2 commit e2", "", NULL },
	{ "runs of two keys may overlap", ALONE, CHECK_HOLDS, NULL,
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | c2 inv a2 k2 | c3 inv a3 k1 | "
	  "h2 begin e2 k2 a2 | h1 commit e1 | h2 commit e2", "", NULL },
	{ "equal times say nothing", ALONE, CHECK_HOLDS, NULL,
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | c2 inv a2 k1 | "
	  "@50 h2 begin e2 k1 a2 | @50 h1 commit e1 | h2 commit e2", "",
	  NULL },
};

int
main(void)
{
	story_check(rows, sizeof rows / sizeof *rows);
	return done();
}
