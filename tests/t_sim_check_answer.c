/* SPDX-License-Identifier: ISC */
#include "sim_story.h"

#include "tap.h"

#define SAME PLAN_SAME_ANSWER
#define ACK PLAN_ACK_DURABLE
#define TALK PLAN_NO_CROSS_TALK
#define PART PLAN_NO_PARTIAL_SUCCESS
#define LATE PLAN_LATE_COMPLETER_HARMLESS

#define RAN "c1 inv a1 k1 f=x n=n1 | h1 begin e1 k1 a1 | h1 commit e1 | " \
	"h1 end e1 | "			/* events 1 to 4 */
#define ACKED RAN "c1 ret a1 ok d=D of=e1 | "	/* 5 */

static const struct story_row rows[] = {
	/* --- same_answer --- */
	{ "an answer and its replay", SAME, CHECK_HOLDS, NULL,
	  ACKED "c2 inv a2 k1 f=x | c2 ret a2 ok d=D mark=replayed of=e1", "",
	  NULL },
	{ "two final answers that differ", SAME, CHECK_VIOLATED, NULL,
	  ACKED "c2 inv a2 k1 f=x | c2 ret a2 ok d=E of=e1", "5 7", NULL },
	{ "the third differs from both", SAME, CHECK_VIOLATED, NULL,
	  ACKED "c2 inv a2 k1 f=x | c2 ret a2 ok d=D of=e1 | "
	  "c3 inv a3 k1 f=x | c3 ret a3 ok d=E of=e1", "5 9", NULL },
	{ "what an info try has read is no answer", SAME, CHECK_UNEXERCISED,
	  NULL,
	  ACKED "c2 inv a2 k1 f=x | c2 ret a2 info how=cut", "", NULL },
	{ "answers to two bodies need not be alike", SAME, CHECK_UNEXERCISED,
	  NULL,
	  ACKED "c2 inv a2 k1 f=y | c2 ret a2 ok d=E", "", NULL },
	{ "answers to each body are compared, also in turn", SAME,
	  CHECK_VIOLATED, "external",
	  "c1 inv a1 k1 f=x | c1 ret a1 ok d=D | c1 inv a2 k1 f=y | "
	  "c1 ret a2 ok d=E | c1 inv a3 k1 f=x | c1 ret a3 ok d=D | "
	  "c1 inv a4 k1 f=y | c1 ret a4 ok d=D", "4 8", NULL },
	{ "an answer that names another key's effect", SAME, CHECK_VIOLATED,
	  NULL,
	  ACKED "c2 inv a2 k2 f=x | h2 begin e2 k2 a2 | h2 commit e2 | "
	  "c2 ret a2 ok d=E of=e1", "9 2", NULL },
	{ "an answer that names an effect which nobody had", SAME,
	  CHECK_VIOLATED, NULL,
	  RAN "c1 ret a1 ok d=D of=e9", "5 1", NULL },
	{ "after its tombstone a key has an answer of its own", SAME,
	  CHECK_HOLDS, "once=50",
	  ACKED "@40 c1 inv a2 k1 f=x | @60 c1 ret a2 ok d=D of=e1 | "
	  "@70 c2 inv a3 k1 f=x | h2 begin e2 k1 a3 | h2 commit e2 | "
	  "h2 end e2 | c2 ret a3 ok d=E of=e2", "", NULL },
	{ "but not the earlier one again", SAME, CHECK_VIOLATED, "once=50",
	  ACKED "@70 c2 inv a2 k1 f=x | h2 begin e2 k1 a2 | h2 commit e2 | "
	  "h2 end e2 | c2 ret a2 ok d=E of=e2 | c1 inv a3 k1 f=x | "
	  "c1 ret a3 ok d=D of=e1", "10 12", NULL },
	{ "and after the operator's word as well", SAME, CHECK_HOLDS, NULL,
	  ACKED "- fault operator.resolve k1 word=forget | "
	  "c2 inv a2 k1 f=x | h2 begin e2 k1 a2 | h2 commit e2 | "
	  "h2 end e2 | c2 ret a2 ok d=E of=e2", "", NULL },
	{ "also to one who had asked before it", SAME, CHECK_HOLDS, NULL,
	  "c1 inv a1 k1 f=x | c2 inv a2 k1 f=x | h1 begin e1 k1 a2 | "
	  "h1 commit e1 | h1 end e1 | c2 ret a2 ok d=D of=e1 | "
	  "- fault operator.resolve k1 word=forget | c3 inv a3 k1 f=x | "
	  "h2 begin e2 k1 a3 | h2 commit e2 | h2 end e2 | "
	  "c3 ret a3 ok d=E of=e2 | c1 ret a1 ok d=E of=e2", "", NULL },
	{ "answers that failed to be final are not compared", SAME,
	  CHECK_UNEXERCISED, NULL,
	  RAN "c1 ret a1 info s=200 how=whole mark=unrecorded d=D | "
	  "c2 inv a2 k1 f=x | c2 ret a2 ok d=E of=e1", "", NULL },

	{ "a final answer that names no effect is not the program's", SAME,
	  CHECK_VIOLATED, NULL,
	  ACKED "c2 inv a2 k1 f=x | c2 ret a2 ok d=D of=none", "7 6", NULL },
	{ "even if all of them are such", SAME, CHECK_VIOLATED, NULL,
	  RAN "c1 ret a1 ok d=D of=none | c2 inv a2 k1 f=x | "
	  "c2 ret a2 ok d=D of=none", "5 1", NULL },
	{ "a program without an effect names none", SAME, CHECK_HOLDS, NULL,
	  "c1 inv a1 k1 f=x | h1 begin e1 k1 a1 | h1 end e1 | "
	  "c1 ret a1 ok d=D of=none | c2 inv a2 k1 f=x | "
	  "c2 ret a2 ok d=D of=none", "", NULL },
	{ "the operator's word on another key excuses no other answer", SAME,
	  CHECK_VIOLATED, NULL,
	  ACKED "c3 inv a3 k2 | g1 fault operator.resolve k2 word=forget | "
	  "c2 inv a2 k1 f=x | c2 ret a2 ok d=E", "5 9", NULL },

	/* --- ack_durable --- */
	{ "what was acknowledged is replayed", ACK, CHECK_HOLDS, NULL,
	  ACKED "c2 inv a2 k1 f=x | c2 ret a2 ok d=D", "", NULL },
	{ "another answer after an acknowledged one", ACK, CHECK_VIOLATED,
	  NULL,
	  ACKED "c2 inv a2 k1 f=x | c2 ret a2 ok d=E", "5 7 6", NULL },
	{ "unknown after an acknowledged answer, even while a fault lasts",
	  ACK, CHECK_VIOLATED, NULL,
	  ACKED "a fault store.kill | c2 inv a2 k1 f=x | c2 ret a2 unknown",
	  "5 8 7", NULL },
	{ "busy while a fault lasts is no loss", ACK, CHECK_HOLDS, NULL,
	  ACKED "a fault store.kill | c2 inv a2 k1 f=x | c2 ret a2 busy | "
	  "- heal | c2 inv a3 k1 f=x | c2 ret a3 ok d=D", "", NULL },
	{ "busy without a fault is one", ACK, CHECK_VIOLATED, NULL,
	  ACKED "c2 inv a2 k1 f=x | c2 ret a2 busy", "5 7 6", NULL },
	{ "busy long after the last fault is one", ACK, CHECK_VIOLATED, NULL,
	  "a fault store.kill | " ACKED "- heal | "
	  "@5000 c2 inv a2 k1 f=x audit | c2 ret a2 busy", "6 9 8", NULL },
	{ "busy soon after a fault is none: a lease and its grace may go on",
	  ACK, CHECK_HOLDS, NULL,
	  "a fault store.kill | " ACKED "- heal | "
	  "@500 c2 inv a2 k1 f=x | c2 ret a2 busy", "", NULL },
	{ "not served while an instance is down", ACK, CHECK_HOLDS, NULL,
	  ACKED "g1 fault proc.kill | c2 inv a2 k1 f=x | "
	  "c2 ret a2 fail how=refused | c2 inv a3 k1 f=x | c2 ret a3 fail",
	  "", NULL },
	{ "not served without a fault", ACK, CHECK_VIOLATED, NULL,
	  ACKED "c2 inv a2 k1 f=x | c2 ret a2 fail", "5 7 6", NULL },
	{ "refused for good, whatever fault there is", ACK, CHECK_VIOLATED,
	  NULL,
	  ACKED "a fault store.flush | c2 inv a2 k1 f=x | "
	  "c2 ret a2 fail s=422 mark=mismatch", "5 8 7", NULL },
	{ "a run after the acknowledged answer, though its client gave up",
	  ACK, CHECK_VIOLATED, NULL,
	  ACKED "c2 inv a2 k1 f=x | h2 begin e2 k1 a2 | c2 ret a2 info",
	  "5 7 6", NULL },
	{ "an answer that was sent and never read acknowledges nothing", ACK,
	  CHECK_UNEXERCISED, NULL,
	  RAN "c1 ret a1 info how=cut | c2 inv a2 k1 f=x | c2 ret a2 unknown",
	  "", NULL },
	{ "a try that began before the answer was read is not after it", ACK,
	  CHECK_UNEXERCISED, NULL,
	  RAN "c2 inv a2 k1 f=x | c1 ret a1 ok d=D | c2 ret a2 busy", "",
	  NULL },
	{ "an answer is kept for so long and no longer", ACK,
	  CHECK_UNEXERCISED, "keep=100",
	  ACKED "@200 c2 inv a2 k1 f=x | c2 ret a2 unknown mark=expired", "",
	  NULL },
	{ "an answer that went before its time", ACK, CHECK_VIOLATED,
	  "keep=1000",
	  ACKED "@200 c2 inv a2 k1 f=x | c2 ret a2 unknown mark=expired",
	  "5 7 6", NULL },
	{ "forgotten by the operator's word", ACK, CHECK_UNEXERCISED, NULL,
	  ACKED "- fault operator.resolve k1 word=forget | "
	  "c2 inv a2 k1 f=x | c2 ret a2 unknown mark=expired", "", NULL },
	{ "withheld from somebody with other credentials", ACK, CHECK_HOLDS,
	  NULL,
	  ACKED "c2 inv a2 k1 f=x | c2 ret a2 fail s=409 mark=withheld", "",
	  NULL },

	{ "a try at the very moment of the answer is not after it", ACK,
	  CHECK_UNEXERCISED, NULL,
	  RAN "@50 c1 ret a1 ok d=D | @50 c2 inv a2 k1 f=x | c2 ret a2 busy",
	  "", NULL },
	{ "but in a model, whose time stands still, it is", ACK,
	  CHECK_VIOLATED, "mode=model",
	  RAN "@50 c1 ret a1 ok d=D | @50 c2 inv a2 k1 f=x | c2 ret a2 busy",
	  "5 7 6", NULL },
	{ "in the end each instance has it", ACK, CHECK_HOLDS, NULL,
	  "a fault store.kill | " ACKED "- heal | "
	  "@500 u inv a2 k1 f=x >g1 audit | u ret a2 ok d=D | "
	  "u inv a3 k1 f=x >g2 audit | u ret a3 info how=cut | "
	  "u inv a4 k1 f=x >g2 audit | u ret a4 ok d=D", "", NULL },
	{ "in the end one instance hangs up on who asks", ACK,
	  CHECK_VIOLATED, NULL,
	  "g2 fault proc.kill | " ACKED "- heal | "
	  "@5000 u inv a2 k1 f=x >g1 audit | u ret a2 ok d=D | "
	  "u inv a3 k1 f=x >g2 audit | u ret a3 info how=cut", "6 11 10",
	  NULL },
	{ "in the end one does not serve it, though it may take so long", ACK,
	  CHECK_OPEN, "probe_ms=9000",
	  "a fault store.kill | " ACKED "- heal | "
	  "@5000 u inv a2 k1 f=x >g1 audit | u ret a2 fail", "9", NULL },
	{ "in the end one says that it is in progress", ACK, CHECK_VIOLATED,
	  NULL,
	  "a fault store.kill | " ACKED "- heal | "
	  "@1200 u inv a2 k1 f=x >g1 audit | u ret a2 busy", "6 9 8", NULL },
	{ "of another body's answer nothing is asked in the end", ACK,
	  CHECK_UNEXERCISED, NULL,
	  ACKED "- heal | @5000 u inv a2 k1 f=y >g1 audit | "
	  "u ret a2 fail s=422 mark=mismatch", "", NULL },

	/* --- no_cross_talk --- */
	{ "answers name their own keys and nonces", TALK, CHECK_HOLDS, NULL,
	  "c1 inv a1 k1 n=n1 | c2 inv a2 k2 n=n2 | "
	  "c1 ret a1 ok d=D key=k1 n=n1 | c2 ret a2 ok d=E key=k2 n=n2", "",
	  NULL },
	{ "a replay names the first request's nonce", TALK, CHECK_HOLDS, NULL,
	  "c1 inv a1 k1 n=n1 | c1 ret a1 ok d=D key=k1 n=n1 | "
	  "c2 inv a2 k2 n=n2 | c1 inv a3 k1 n=n3 | "
	  "c1 ret a3 ok d=D key=k1 n=n1", "", NULL },
	{ "an answer that names another key", TALK, CHECK_VIOLATED, NULL,
	  "c1 inv a1 k1 n=n1 | c2 inv a2 k2 n=n2 | "
	  "c1 ret a1 ok d=D key=k2", "3 1", NULL },
	{ "an answer with another request's nonce", TALK, CHECK_VIOLATED,
	  NULL,
	  "c1 inv a1 k1 n=n1 | c2 inv a2 k2 n=n2 | "
	  "c1 ret a1 ok d=D key=k1 n=n2", "3 1 2", NULL },
	{ "the first bytes of an info answer that were another's", TALK,
	  CHECK_VIOLATED, NULL,
	  "c1 inv a1 k1 n=n1 | c2 inv a2 k2 n=n2 | "
	  "c1 ret a1 info how=cut n=n2", "3 1 2", NULL },
	{ "a piece of a nonce says nothing", TALK, CHECK_HOLDS, NULL,
	  "c1 inv a1 k1 n=n17 | c2 inv a2 k2 n=n1 | "
	  "c1 ret a1 info how=cut n=n1", "", NULL },
	{ "a request without a key that got another's answer", TALK,
	  CHECK_VIOLATED, NULL,
	  "c1 inv a1 n=n1 | c2 inv a2 n=n2 | c1 ret a1 ok d=D n=n2", "3 1 2",
	  NULL },
	{ "a whole answer with a nonce that nobody sent", TALK,
	  CHECK_VIOLATED, NULL,
	  "c1 inv a1 k1 n=n1 | c2 inv a2 k2 n=n2 | "
	  "c1 ret a1 ok d=D n=n9", "3 1", NULL },
	{ "an answer that is not final and names another's effect", TALK,
	  CHECK_VIOLATED, NULL,
	  RAN "c2 inv a2 k2 | c2 ret a2 info how=whole s=200 "
	  "mark=unprotected d=E of=e1", "6 5 1", NULL },
	{ "a request without a key that is shown a run of somebody's", TALK,
	  CHECK_VIOLATED, NULL,
	  RAN "c2 inv a2 | c2 ret a2 ok mark= d=E of=e1", "6 5 1", NULL },
	{ "a request without a key whose program was given one", TALK,
	  CHECK_VIOLATED, NULL,
	  RAN "c2 inv a2 | c2 ret a2 ok mark= d=E key=k1", "6 5", NULL },
	{ "with one key there is nobody to be confused with", TALK,
	  CHECK_UNEXERCISED, NULL,
	  "c1 inv a1 k1 n=n1 | c1 ret a1 ok d=D key=k1 n=n1", "", NULL },

	/* --- no_partial_success --- */
	{ "a run that was cut became unknown", PART, CHECK_HOLDS, NULL,
	  ACKED "c1 inv a2 k2 | h2 begin e2 k2 a2 | g1 fault proc.kill | "
	  "c1 ret a2 info how=cut | c1 inv a3 k2 | c1 ret a3 unknown", "",
	  NULL },
	{ "a run that was cut became a final answer", PART, CHECK_VIOLATED,
	  NULL,
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | h1 commit e1 | "
	  "g1 fault proc.kill | c1 ret a1 info how=cut | c1 inv a2 k1 | "
	  "c1 ret a2 ok d=D of=e1", "7 3", NULL },
	{ "a final answer that is shorter than it says", PART,
	  CHECK_VIOLATED, NULL,
	  RAN "c1 ret a1 ok d=D short of=e1", "5 3", NULL },
	{ "an answer whose client saw the cut is none", PART, CHECK_HOLDS,
	  "external",
	  "c1 inv a1 k1 | c1 ret a1 info how=cut short | c1 inv a2 k1 | "
	  "c1 ret a2 ok d=D", "", NULL },
	{ "a run that was cut and an answer passed off as whole", PART,
	  CHECK_VIOLATED, NULL,
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | h1 commit e1 | "
	  "g1 fault proc.kill | c1 ret a1 info how=whole s=200 "
	  "mark=unrecorded d=D of=e1", "5 3", NULL },
	{ "where nothing was cut nothing is said", PART, CHECK_UNEXERCISED,
	  NULL, ACKED "c2 inv a2 k1 f=x | c2 ret a2 ok d=D of=e1", "", NULL },

	/* --- late_completer_harmless --- */
	{ "a completion that comes too late is refused", LATE, CHECK_HOLDS,
	  "arbiter=redis retry=3",
	  "c1 inv a1 k1 | g1 send m1 claim k1 tok=A.0 >a | a store m1 claim "
	  "k1 WON | c2 inv a2 k1 | g2 send m2 claim k1 tok=B.1 >a | a store "
	  "m2 claim k1 WON | g1 send m3 complete k1 tok=A.1 >a | a store m3 "
	  "complete k1 LOST", "", NULL },
	{ "a completion that comes too late is accepted", LATE,
	  CHECK_VIOLATED, "arbiter=redis retry=3",
	  "c1 inv a1 k1 | g1 send m1 claim k1 tok=A.0 >a | a store m1 claim "
	  "k1 WON | c2 inv a2 k1 | g2 send m2 claim k1 tok=B.1 >a | a store "
	  "m2 claim k1 WON | g1 send m3 complete k1 tok=A.1 >a | a store m3 "
	  "complete k1 WRITTEN", "6 8", NULL },
	{ "one that was held on its way is as late as it arrives", LATE,
	  CHECK_VIOLATED, "arbiter=redis retry=3",
	  "c1 inv a1 k1 | g1 send m1 claim k1 tok=A.0 >a | a store m1 claim "
	  "k1 WON | c2 inv a2 k1 | g1 send m3 complete k1 tok=A.1 >a "
	  "fate=held | g2 send m2 claim k1 tok=B.1 >a | a store m2 claim k1 "
	  "WON | a recv m3 | a store m3 complete k1 WRITTEN", "7 9", NULL },
	{ "of two on their way at once nobody knows which was first", LATE,
	  CHECK_HOLDS, "arbiter=redis retry=3",
	  "c1 inv a1 k1 | g1 send m1 claim k1 tok=A.0 >a | a store m1 claim "
	  "k1 WON | c2 inv a2 k1 | g1 send m3 complete k1 tok=A.1 >a | "
	  "g2 send m2 claim k1 tok=B.1 >a | a store m2 claim k1 WON | "
	  "a store m3 complete k1 WRITTEN", "", NULL },
	{ "a server that was started again may know an older owner", LATE,
	  CHECK_HOLDS, "arbiter=redis retry=3",
	  "c1 inv a1 k1 | g1 send m1 claim k1 tok=A.0 >a | a store m1 claim "
	  "k1 WON | c2 inv a2 k1 | g2 send m2 claim k1 tok=B.1 >a | a store "
	  "m2 claim k1 WON | a fault store.kill | a heal store.restart | "
	  "g1 send m3 complete k1 tok=A.1 >a | a store m3 complete k1 "
	  "WRITTEN", "", NULL },
	{ "one that stood still alone knows the owner", LATE, CHECK_VIOLATED,
	  "arbiter=redis retry=3",
	  "c1 inv a1 k1 | g1 send m1 claim k1 tok=A.0 >a | a store m1 claim "
	  "k1 WON | c2 inv a2 k1 | g2 send m2 claim k1 tok=B.1 >a | a store "
	  "m2 claim k1 WON | a fault store.pause | a heal store.resume | "
	  "g1 send m3 complete k1 tok=A.1 >a | a store m3 complete k1 "
	  "WRITTEN", "6 10", NULL },
	{ "one that sentinels may have replaced knows an older one", LATE,
	  CHECK_HOLDS, "arbiter=redis retry=3 sentinels",
	  "c1 inv a1 k1 | g1 send m1 claim k1 tok=A.0 >a | a store m1 claim "
	  "k1 WON | c2 inv a2 k1 | g2 send m2 claim k1 tok=B.1 >a | a store "
	  "m2 claim k1 WON | a fault store.pause | a heal store.resume | "
	  "g1 send m3 complete k1 tok=A.1 >a | a store m3 complete k1 "
	  "WRITTEN", "", NULL },
	{ "one that won the key back may complete it", LATE, CHECK_HOLDS,
	  "arbiter=redis retry=3",
	  "c1 inv a1 k1 | g1 send m1 claim k1 tok=A.0 >a | a store m1 claim "
	  "k1 WON | c2 inv a2 k1 | g2 send m2 claim k1 tok=B.1 >a | a store "
	  "m2 claim k1 WON | g1 send m3 claim k1 tok=A.2 >a | a store m3 "
	  "claim k1 WON | g1 send m4 complete k1 tok=A.3 >a | a store m4 "
	  "complete k1 WRITTEN", "", NULL },
	{ "a slow server forgets nothing", LATE, CHECK_VIOLATED,
	  "arbiter=redis retry=3",
	  "c1 inv a1 k1 | g1 send m1 claim k1 tok=A.0 >a | a store m1 claim "
	  "k1 WON | c2 inv a2 k1 | g2 send m2 claim k1 tok=B.1 >a | a store "
	  "m2 claim k1 WON | g1 fault store.slow | g1 send m3 complete k1 "
	  "tok=A.1 >a | a store m3 complete k1 WRITTEN", "6 9", NULL },
	{ "one who lost the key gives it back to others", LATE,
	  CHECK_VIOLATED, "arbiter=redis retry=3",
	  "c1 inv a1 k1 | g1 send m1 claim k1 tok=A.0 >a | a store m1 claim "
	  "k1 WON | c2 inv a2 k1 | g2 send m2 claim k1 tok=B.1 >a | a store "
	  "m2 claim k1 WON | g1 send m3 release k1 tok=A.1 >a | a store m3 "
	  "release k1 WRITTEN", "6 8", NULL },
	{ "or renews it", LATE, CHECK_VIOLATED, "arbiter=redis retry=3",
	  "c1 inv a1 k1 | g1 send m1 claim k1 tok=A.0 >a | a store m1 claim "
	  "k1 WON | c2 inv a2 k1 | g2 send m2 claim k1 tok=B.1 >a | a store "
	  "m2 claim k1 WON | g1 send m3 renew k1 tok=A.1 >a | a store m3 "
	  "renew k1 RENEWED", "6 8", NULL },
	{ "who owns it may give it back", LATE, CHECK_UNEXERCISED,
	  "arbiter=redis retry=3",
	  "c1 inv a1 k1 | g1 send m1 claim k1 tok=A.0 >a | a store m1 claim "
	  "k1 WON | c2 inv a2 k1 | g1 send m3 release k1 tok=A.1 >a | a store "
	  "m3 release k1 WRITTEN | g2 send m2 claim k1 tok=B.1 >a | a store "
	  "m2 claim k1 WON", "", NULL },
	{ "a completion after the operator has settled it", LATE,
	  CHECK_VIOLATED, "arbiter=redis",
	  "c1 inv a1 k1 | g1 send m1 claim k1 tok=A.0 >a | a store m1 claim "
	  "k1 WON | c2 inv a2 k1 | g2 send m2 settle k1 tok=O.1 >a | a store "
	  "m2 settle k1 WRITTEN | g1 send m3 complete k1 tok=A.1 >a | a store "
	  "m3 complete k1 WRITTEN", "6 8", NULL },
	{ "the answer of a run that the operator had settled", LATE,
	  CHECK_VIOLATED, NULL,
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | c1 ret a1 info | "
	  "g1 fault operator.resolve k1 word=done | h1 commit e1 | h1 end e1 |"
	  " c2 inv a2 k1 | c2 ret a2 ok d=D of=e1", "8 7 2", NULL },
	{ "who had asked before may have it still", LATE, CHECK_HOLDS, NULL,
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | c1 ret a1 info | "
	  "c2 inv a2 k1 | h1 commit e1 | h1 end e1 | "
	  "g1 fault operator.resolve k1 word=forget | "
	  "c2 ret a2 ok d=D of=e1", "", NULL },
	{ "a ledger that lost its power has not lost its past", LATE,
	  CHECK_VIOLATED, "retry=3",
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | g1 fault disk.power_loss | "
	  "c2 inv a2 k1 | h2 begin e2 k1 a2 x2 | h1 commit e1 | h1 end e1 | "
	  "c1 ret a1 ok d=D of=e1", "5 8 6", NULL },
	{ "the answer is that of the last attempt", LATE, CHECK_HOLDS,
	  "retry=3",
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | g1 fault proc.pause | "
	  "c2 inv a2 k1 | h2 begin e2 k1 a2 x2 | h2 commit e2 | h2 end e2 | "
	  "c2 ret a2 ok d=D of=e2 | h1 commit e1 | h1 end e1 | c1 ret a1 ok "
	  "d=D of=e2", "", NULL },
	{ "an earlier attempt's answer was stored after a later began", LATE,
	  CHECK_VIOLATED, "retry=3",
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | g1 fault proc.pause | "
	  "c2 inv a2 k1 | h2 begin e2 k1 a2 x2 | h1 commit e1 | h1 end e1 | "
	  "c1 ret a1 ok d=D of=e1", "5 8 6", NULL },
	{ "of two ledgers each counts its own attempts", LATE, CHECK_HOLDS,
	  "retry=3 apart gates=2",
	  ACKED "c2 inv a2 k1 | g1 send m1 claim k1 tok=A.0 >a | a store m1 "
	  "claim k1 WON | h2 begin e2 k1 a2 x2 | g1 send m2 complete k1 "
	  "tok=A.1 >a | a store m2 complete k1 WRITTEN", "", NULL },
	{ "an arbiter that lost its past may have both", LATE, CHECK_HOLDS,
	  "arbiter=redis retry=3",
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 | h1 commit e1 | h1 end e1 | "
	  "c1 ret a1 ok d=D of=e1 | a fault store.failover | c2 inv a2 k1 | "
	  "g1 send m1 claim k1 tok=B.0 >a | a store m1 claim k1 WON | "
	  "h2 begin e2 k1 a2 x2 | g1 send m2 complete k1 tok=B.2 >a | a store "
	  "m2 complete k1 WRITTEN", "", NULL },
	{ "without a completion nothing is said", LATE, CHECK_UNEXERCISED,
	  NULL, "c1 inv a1 k1 | c1 ret a1 fail | c1 inv a2 k1", "", NULL },
};

int
main(void)
{
	story_check(rows, sizeof rows / sizeof *rows);
	return done();
}
