/* SPDX-License-Identifier: ISC */
#include "sim_story.h"

#include "tap.h"

#define AGREE PLAN_LEDGER_STORE_AGREE
#define TOLD PLAN_DIVERGENCE_REPORTED
#define STORM PLAN_STORM_BOUNDED
#define RESOLVES PLAN_RESOLVES
#define FRESH PLAN_NEW_KEYS_SUCCEED

#define RAN "c1 inv a1 k1 | h1 begin e1 k1 a1 on=g1 | h1 commit e1 | " \
	"h1 end e1 | c1 ret a1 ok d=D | "	/* events 1 to 5 */
#define TWICE "c1 inv a1 k1 | c2 inv a2 k1 | h1 begin e1 k1 a1 on=g1 | " \
	"h2 begin e2 k1 a2 on=g2 | h1 commit e1 | h2 commit e2 | " \
	"h1 end e1 | h2 end e2 | "		/* 1 to 8 */
/* Ten tries that were answered: 20 events, with tries from the one said on. */
#define GOOD1(a) "c1 inv a" #a " k" #a " | c1 ret a" #a " ok d=D | "
#define BAD1(a) "c1 inv a" #a " k" #a " | c1 ret a" #a " info | "
#define AGAIN1(a) "c1 inv a9" #a " k" #a " | c1 ret a9" #a " info | "
#define EIGHT(of, t) of(t##0) of(t##1) of(t##2) of(t##3) of(t##4) of(t##5) \
	of(t##6) of(t##7)
#define TEN(of, t) EIGHT(of, t) of(t##8) of(t##9)

static const struct story_row rows[] = {
	/* --- ledger_store_agree --- */
	{ "completed in Redis and in the ledger", AGREE, CHECK_HOLDS, NULL,
	  RAN "L ledger k1 completed | a record k1 completed", "", NULL },
	{ "completed in Redis and not in the ledger", AGREE, CHECK_VIOLATED,
	  NULL, RAN "L ledger k1 absent | a record k1 completed", "7 6",
	  NULL },
	{ "completed in Redis and unknown in the ledger", AGREE,
	  CHECK_VIOLATED, NULL,
	  RAN "a record k1 completed | L ledger k1 unknown", "6 7", NULL },
	{ "a tombstone has had the answer", AGREE, CHECK_HOLDS, NULL,
	  RAN "a record k1 completed | L ledger k1 tombstone", "", NULL },
	{ "of several ledgers one is enough", AGREE, CHECK_HOLDS, NULL,
	  RAN "L ledger k1 completed | M ledger k1 absent | "
	  "a record k1 completed", "", NULL },
	{ "a Redis that is the arbiter needs no ledger", AGREE,
	  CHECK_UNEXERCISED, "arbiter=redis",
	  RAN "L ledger k1 absent | a record k1 completed", "", NULL },
	{ "without a look at the ledger nothing is said", AGREE,
	  CHECK_UNEXERCISED, NULL, RAN "a record k1 completed", "", NULL },
	{ "what is not completed is not compared", AGREE, CHECK_UNEXERCISED,
	  NULL, RAN "L ledger k1 completed | a record k1 absent", "", NULL },

	{ "completed in both, of different attempts", AGREE, CHECK_VIOLATED,
	  "retry=3",
	  RAN "L ledger k1 completed x2 | a record k1 completed x1", "7 6",
	  NULL },
	{ "of two servers the second has what the ledger has not", AGREE,
	  CHECK_VIOLATED, NULL,
	  "c2 inv a2 k2 | " RAN "L ledger k1 completed | L ledger k2 absent | "
	  "a record k2 completed | b record k2 absent", "9 8", NULL },
	{ "of two ledgers each has its own attempt", AGREE, CHECK_HOLDS,
	  "apart",
	  RAN "L ledger k1 completed x1 | M ledger k1 completed x2 | "
	  "a record k1 completed x2", "", NULL },

	/* --- divergence_reported --- */
	{ "two runs, and a log that says so", TOLD, CHECK_HOLDS, NULL,
	  TWICE "g1 log two-runs k1", "", NULL },
	{ "two runs, and an answer that was logged as unprotected", TOLD,
	  CHECK_HOLDS, "arbiter=redis outage=pass",
	  TWICE "g2 log unprotected k1", "", NULL },
	{ "two runs, and nobody says so", TOLD, CHECK_VIOLATED, NULL, TWICE,
	  "5 6", NULL },
	{ "two runs, and a log of another key", TOLD, CHECK_VIOLATED, NULL,
	  "c3 inv a3 k2 | a fault store.kill | " TWICE "g1 log two-runs k2",
	  "7 8", NULL },
	{ "who could have told was killed", TOLD, CHECK_HOLDS, NULL,
	  "c3 inv a3 k2 | " TWICE "g1 fault proc.kill | g2 log unprotected k2",
	  "", NULL },
	{ "once before its tombstone ended, and once after it", TOLD,
	  CHECK_UNEXERCISED, "once=50",
	  RAN "@100 c2 inv a2 k1 | h2 begin e2 k1 a2 on=g1 | h2 commit e2 | "
	  "h2 end e2 | c2 ret a2 ok d=E of=e2", "", NULL },
	{ "once again by the operator's word", TOLD, CHECK_UNEXERCISED, NULL,
	  RAN "g1 fault operator.resolve k1 word=not-done | c2 inv a2 k1 | "
	  "h2 begin e2 k1 a2 x2 on=g1 | h2 commit e2 | h2 end e2", "", NULL },
	{ "but not if his word was that it had been done", TOLD,
	  CHECK_VIOLATED, NULL,
	  RAN "g1 fault operator.resolve k1 word=done | c2 inv a2 k1 | "
	  "h2 begin e2 k1 a2 x2 on=g1 | h2 commit e2 | h2 end e2", NULL,
	  NULL },
	{ "who was killed before he ran it could have told", TOLD,
	  CHECK_VIOLATED, NULL,
	  "g1 fault proc.kill | g1 heal proc.restart | " TWICE, "7 8", NULL },
	{ "who only slept could have told, too", TOLD, CHECK_VIOLATED, NULL,
	  TWICE "g1 fault proc.pause | g1 heal proc.resume", "5 6", NULL },
	{ "one line without a key is not of two keys", TOLD, CHECK_VIOLATED,
	  NULL,
	  TWICE "c3 inv a3 k2 | c4 inv a4 k2 | h3 begin e3 k2 a3 on=g1 | "
	  "h4 begin e4 k2 a4 on=g2 | h3 commit e3 | h4 commit e4 | "
	  "g1 log two-runs", "13 14", NULL },
	{ "that another instance was killed excuses nobody", TOLD,
	  CHECK_VIOLATED, NULL, TWICE "g3 fault proc.kill", "5 6", NULL },
	{ "a line of two runs where there was one", TOLD, CHECK_VIOLATED,
	  NULL, RAN "g1 log two-runs k1", "6 2", NULL },
	{ "with a fault a claim may have changed hands without a run", TOLD,
	  CHECK_HOLDS, NULL, "a fault store.flush | " RAN
	  "g1 log two-runs k1", "", NULL },
	{ "a line that cannot be read as any key's may be this one's", TOLD,
	  CHECK_HOLDS, NULL, TWICE "g1 log two-runs", "", NULL },
	{ "one run of each key and no line puts nothing to the test", TOLD,
	  CHECK_UNEXERCISED, NULL, RAN, "", NULL },

	/* --- storm_bounded --- */
	{ "one run of a key where one is the bound", STORM, CHECK_HOLDS,
	  "runs=1", RAN, "", NULL },
	{ "two runs of a key where one is the bound", STORM, CHECK_VIOLATED,
	  "runs=1", TWICE, "3 4", NULL },
	{ "the bound grows with leases that ended", STORM, CHECK_HOLDS,
	  "retry=3 runs+lease_expiry=1", TWICE "a expired k1", "", NULL },
	{ "a run after one that was cut shows a lease that ended", STORM,
	  CHECK_HOLDS, "retry=3 runs+lease_expiry=1",
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 on=g1 | g1 fault proc.kill | "
	  "c1 inv a2 k1 | h2 begin e2 k1 a2 x2", "", NULL },
	{ "no lease ended, and yet a second run", STORM, CHECK_VIOLATED,
	  "retry=3 runs+lease_expiry=1",
	  RAN "c1 inv a2 k1 | h2 begin e2 k1 a2 x2", "2 7", NULL },
	{ "the bound grows with each kill", STORM, CHECK_HOLDS, "runs+kill=1",
	  TWICE "g1 fault proc.kill", "", NULL },
	{ "two commands a try where two are the bound", STORM, CHECK_HOLDS,
	  "ops=2", RAN "g1 send m1 claim k1 >a | g1 send m2 complete k1 >a | "
	  "g1 send m3 renew k1 >a", "", NULL },
	{ "three commands a try where two are the bound", STORM,
	  CHECK_VIOLATED, "ops=2",
	  RAN "g1 send m1 claim k1 >a | g1 send m2 claim k1 >a | "
	  "g1 send m3 complete k1 >a", "8", NULL },
	{ "two tries at each of two instances", STORM, CHECK_HOLDS, "queue=2",
	  "c1 inv a1 k1 >g1 | c2 inv a2 k2 >g1 | c3 inv a3 k3 >g2 | "
	  "c4 inv a4 k4 >g2 | c1 ret a1 busy | c1 inv a5 k1 >g1", "", NULL },
	{ "three tries at one where two are the bound", STORM,
	  CHECK_VIOLATED, "queue=2",
	  "c1 inv a1 k1 >g1 | c2 inv a2 k2 >g1 | c3 inv a3 k3 >g1", "3",
	  NULL },
	{ "it is as good as before when the faults are over", STORM,
	  CHECK_HOLDS, "goodput=100",
	  TEN(GOOD1, 1) "a fault store.slow | " TEN(BAD1, 2) "- heal | "
	  "@500 - stall | " TEN(GOOD1, 3), "", NULL },
	{ "it stays down when the faults are over", STORM, CHECK_VIOLATED,
	  "goodput=100",
	  TEN(GOOD1, 1) "a fault store.slow | " TEN(GOOD1, 2) "- heal | "
	  "@500 - stall | " TEN(BAD1, 3), "42", NULL },
	{ "it was no better before", STORM, CHECK_HOLDS, "goodput=100",
	  TEN(BAD1, 1) TEN(GOOD1, 4) "a fault store.slow | - heal | "
	  "@500 - stall | " TEN(BAD1, 3) TEN(GOOD1, 5), "", NULL },
	{ "nothing was any good before: there is nothing to come back to",
	  STORM, CHECK_UNEXERCISED, "goodput=100",
	  TEN(BAD1, 1) "a fault store.slow | " TEN(GOOD1, 2) "- heal | "
	  "@500 - stall | " TEN(BAD1, 3), "", NULL },
	{ "who still tries what he began with before is to be served, too",
	  STORM, CHECK_VIOLATED, "goodput=100",
	  TEN(GOOD1, 1) "a fault store.slow | " TEN(BAD1, 2) "- heal | "
	  "@500 - stall | " TEN(AGAIN1, 2), "42", NULL },
	{ "nine of ten is as good as ten of ten", STORM, CHECK_HOLDS,
	  "goodput=100",
	  TEN(GOOD1, 1) "a fault store.slow | - heal | @500 - stall | "
	  EIGHT(GOOD1, 3) GOOD1(38) BAD1(39), "", NULL },
	{ "and eight is not", STORM, CHECK_VIOLATED, "goodput=100",
	  TEN(GOOD1, 1) "a fault store.slow | - heal | @500 - stall | "
	  EIGHT(GOOD1, 3) BAD1(38) BAD1(39), "22", NULL },
	{ "of two bounds one has nothing to measure", STORM,
	  CHECK_UNEXERCISED, "runs=1 goodput=100", RAN, "", NULL },
	{ "a few tries afterwards say nothing", STORM, CHECK_UNEXERCISED,
	  "goodput=100", TEN(GOOD1, 1) "a fault store.slow | - heal | "
	  "@500 - stall | " BAD1(30), "", NULL },
	{ "others do not wait long", STORM, CHECK_HOLDS, "p99=10",
	  "@10 c1 inv a1 k1 innocent | @12 c1 ret a1 ok d=D | "
	  "@20 c2 inv a2 k2 | @90 c2 ret a2 ok d=D", "", NULL },
	{ "others wait too long, were it for nothing", STORM, CHECK_VIOLATED,
	  "p99=10",
	  "@10 c1 inv a1 k1 innocent | @12 c1 ret a1 ok d=D | "
	  "@20 c2 inv a2 k2 innocent | @90 c2 ret a2 info", "3 4", NULL },
	{ "without a bound nothing is said", STORM, CHECK_UNEXERCISED, NULL,
	  TWICE, "", NULL },

	/* --- resolves --- */
	{ "every key is settled at every instance", RESOLVES, CHECK_HOLDS,
	  NULL,
	  RAN "- heal | @5000 u inv a2 k1 >g1 audit | u ret a2 ok d=D | "
	  "u inv a3 k1 >g2 audit | u ret a3 ok d=D", "", NULL },
	{ "unknown is settled, too", RESOLVES, CHECK_HOLDS, NULL,
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 on=g1 | g1 fault proc.kill | "
	  "c1 ret a1 info | - heal | @5000 u inv a2 k1 >g1 audit | "
	  "u ret a2 unknown", "", NULL },
	{ "a key that is in progress when lease and grace are over",
	  RESOLVES, CHECK_VIOLATED, NULL,
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 on=g1 | g1 fault proc.kill | "
	  "c1 ret a1 info | - heal | @5000 u inv a2 k1 >g1 audit | "
	  "u ret a2 busy", "7 2", NULL },
	{ "a key at which clients wait in vain", RESOLVES, CHECK_VIOLATED,
	  NULL,
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 on=g1 | g1 fault proc.kill | "
	  "c1 ret a1 info | - heal | @5000 u inv a2 k1 >g1 audit | "
	  "@15000 u ret a2 info", "7 2", NULL },
	{ "busy at first and settled at last", RESOLVES, CHECK_HOLDS, NULL,
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 on=g1 | g1 fault proc.kill | "
	  "c1 ret a1 info | - heal | @2000 u inv a2 k1 >g1 audit | "
	  "u ret a2 busy | u inv a3 k1 >g1 audit | u ret a3 unknown", "",
	  NULL },
	{ "settled at one instance and not at the other", RESOLVES,
	  CHECK_VIOLATED, NULL,
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 on=g1 | g1 fault proc.kill | "
	  "c1 ret a1 info | - heal | @2000 u inv a2 k1 >g1 audit | "
	  "u ret a2 busy | u inv a3 k1 >g2 audit | u ret a3 unknown", "7 2",
	  NULL },
	{ "lease and grace are not over yet", RESOLVES, CHECK_OPEN,
	  "lease=60000",
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 on=g1 | g1 fault proc.kill | "
	  "c1 ret a1 info | - heal | @5000 u inv a2 k1 >g1 audit | "
	  "u ret a2 busy", "7", NULL },
	{ "a run that may go on may be in progress", RESOLVES, CHECK_OPEN,
	  "limit=60000",
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 on=g1 | c1 ret a1 info | "
	  "@5000 u inv a2 k1 >g1 audit | u ret a2 busy", "5", NULL },
	{ "one that began after a kill of its instance's may go on, too",
	  RESOLVES, CHECK_OPEN, "limit=60000",
	  "g1 fault proc.kill | c1 inv a1 k1 | h1 begin e1 k1 a1 on=g1 | "
	  "c1 ret a1 info | - heal | @5000 u inv a2 k1 >g1 audit | "
	  "u ret a2 busy", "7", NULL },
	{ "but not beyond its limit", RESOLVES, CHECK_VIOLATED, "limit=1000",
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 on=g1 | c1 ret a1 info | "
	  "@5000 u inv a2 k1 >g1 audit | u ret a2 busy", "5 2", NULL },
	{ "something was left behind", RESOLVES, CHECK_VIOLATED, NULL,
	  RAN "g1 leak | u inv a2 k1 >g1 audit | u ret a2 ok d=D", "6",
	  NULL },
	{ "a try without an end leaves it open", RESOLVES, CHECK_OPEN, NULL,
	  RAN "c2 inv a3 k1 | @5000 u inv a2 k1 >g1 audit | u ret a2 ok d=D",
	  "6", NULL },
	{ "a key at which one is sent away without a word", RESOLVES,
	  CHECK_VIOLATED, NULL,
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 on=g1 | g1 fault proc.kill | "
	  "c1 ret a1 info | - heal | @5000 u inv a2 k1 >g1 audit | "
	  "u ret a2 info how=cut", "7 2", NULL },
	{ "but a program that ends badly by plan may do that", RESOLVES,
	  CHECK_UNEXERCISED, "fails",
	  "c1 inv a1 k1 | h1 begin e1 k1 a1 on=g1 | c1 ret a1 info | - heal | "
	  "@5000 u inv a2 k1 >g1 audit | u ret a2 info how=cut", "", NULL },
	{ "an answer without a word of idem's is none", RESOLVES,
	  CHECK_VIOLATED, NULL,
	  RAN "- heal | @5000 u inv a2 k1 >g1 audit | u ret a2 info how=whole "
	  "s=500", "8 3", NULL },
	{ "a key that is not served for ever", RESOLVES, CHECK_VIOLATED, NULL,
	  RAN "g1 fault proc.kill | - heal | @5000 u inv a2 k1 >g1 audit | "
	  "u ret a2 fail", "9 3", NULL },
	{ "an instance that takes no connection", RESOLVES, CHECK_VIOLATED,
	  NULL,
	  RAN "g1 fault proc.kill | - heal | @5000 u inv a2 k1 >g1 audit | "
	  "u ret a2 fail how=refused", "9 3", NULL },
	{ "it may take so long to see that a store is there again", RESOLVES,
	  CHECK_OPEN, "probe_ms=9000",
	  RAN "a fault store.kill | - heal | @5000 u inv a2 k1 >g1 audit | "
	  "u ret a2 fail", "9", NULL },
	{ "a refusal for the body says nothing of the key", RESOLVES,
	  CHECK_UNEXERCISED, NULL,
	  RAN "- heal | @5000 u inv a2 k1 >g1 audit | u ret a2 fail s=422 "
	  "mark=mismatch", "", NULL },
	{ "the ledger has it in progress, whatever was answered", RESOLVES,
	  CHECK_VIOLATED, NULL,
	  RAN "- heal | @5000 u inv a2 k1 >g1 audit | u ret a2 unknown | "
	  "L ledger k1 in-progress", "9", NULL },
	{ "what a ledger has that is no arbiter is not asked", RESOLVES,
	  CHECK_HOLDS, "arbiter=redis",
	  RAN "- heal | @5000 u inv a2 k1 >g1 audit | u ret a2 unknown | "
	  "L ledger k1 in-progress | a record k1 unknown", "", NULL },
	{ "the server has it in progress", RESOLVES, CHECK_VIOLATED,
	  "arbiter=redis",
	  RAN "- heal | @5000 u inv a2 k1 >g1 audit | u ret a2 unknown | "
	  "a record k1 in-progress", "9", NULL },
	{ "of two servers one may be behind", RESOLVES, CHECK_HOLDS,
	  "arbiter=redis",
	  RAN "- heal | @5000 u inv a2 k1 >g1 audit | u ret a2 ok d=D | "
	  "a record k1 completed | b record k1 in-progress", "", NULL },
	{ "of two ledgers none may be", RESOLVES, CHECK_VIOLATED,
	  "apart gates=1",
	  RAN "- heal | @5000 u inv a2 k1 >g1 audit | u ret a2 ok d=D | "
	  "L ledger k1 completed | M ledger k1 in-progress", "10", NULL },
	{ "a key that was looked at at one of two instances", RESOLVES,
	  CHECK_OPEN, "gates=2",
	  RAN "- heal | @5000 u inv a2 k1 >g1 audit | u ret a2 ok d=D", "",
	  NULL },
	{ "a key that was not looked at, though another was", RESOLVES,
	  CHECK_OPEN, "gates=1",
	  "c1 inv a3 k2 | c1 ret a3 info | " RAN "- heal | "
	  "@5000 u inv a2 k1 >g1 audit | u ret a2 ok d=D", "", NULL },
	{ "without a look nothing is said", RESOLVES, CHECK_UNEXERCISED, NULL,
	  RAN, "", NULL },

	/* --- new_keys_succeed --- */
	{ "each instance serves a fresh key", FRESH, CHECK_HOLDS, NULL,
	  "u inv a1 k1 >g1 fresh | u ret a1 ok d=D | u inv a2 k2 >g2 fresh | "
	  "u ret a2 ok d=D", "", NULL },
	{ "one does not", FRESH, CHECK_VIOLATED, NULL,
	  "u inv a1 k1 >g1 fresh | u ret a1 ok d=D | u inv a2 k2 >g2 fresh | "
	  "u ret a2 fail", "4 3", NULL },
	{ "it takes more than one try", FRESH, CHECK_HOLDS, NULL,
	  "u inv a1 k1 >g1 fresh | u ret a1 fail | u inv a2 k1 >g1 fresh | "
	  "u ret a2 ok d=D", "", NULL },
	{ "a fresh key that is in progress", FRESH, CHECK_VIOLATED, NULL,
	  "u inv a1 k1 >g1 fresh | u ret a1 busy", "2 1", NULL },
	{ "a fresh key that nobody ran and nobody answered", FRESH,
	  CHECK_VIOLATED, NULL,
	  RAN "u inv a2 k2 >g1 fresh | u ret a2 info", "7 6", NULL },
	{ "one that ran for longer than its client waited", FRESH, CHECK_OPEN,
	  NULL,
	  RAN "u inv a2 k2 >g1 fresh | h2 begin e2 k2 a2 | u ret a2 info", "8",
	  NULL },
	{ "stored without its body is served", FRESH, CHECK_HOLDS, NULL,
	  "u inv a1 k1 >g1 fresh | u ret a1 info how=whole s=200 "
	  "mark=stored-without-body", "", NULL },
	{ "a run that nobody knows the end of is not", FRESH, CHECK_VIOLATED,
	  NULL,
	  "u inv a1 k1 >g1 fresh | u ret a1 info how=whole s=504 "
	  "mark=unknown", "2 1", NULL },
	{ "soon after an outage a store may be taken for away", FRESH,
	  CHECK_OPEN, "probe_ms=10000",
	  "a fault store.kill | - heal | @5000 u inv a1 k1 >g1 fresh | "
	  "u ret a1 fail", "4", NULL },
	{ "but not for ever", FRESH, CHECK_VIOLATED, "probe_ms=10000",
	  "a fault store.kill | - heal | @15000 u inv a1 k1 >g1 fresh | "
	  "u ret a1 fail", "4 3", NULL },
	{ "an answer that does not say what happened serves nobody", FRESH,
	  CHECK_VIOLATED, NULL,
	  "u inv a1 k1 >g1 fresh | u ret a1 info how=whole s=500", "2 1",
	  NULL },
	{ "nor does one in a word that is not idem's", FRESH, CHECK_VIOLATED,
	  NULL,
	  "u inv a1 k1 >g1 fresh | u ret a1 info how=whole s=200 mark=later",
	  "2 1", NULL },
	{ "one of two instances was not asked", FRESH, CHECK_OPEN, "gates=2",
	  "u inv a1 k1 >g1 fresh | u ret a1 ok d=D", "", NULL },
	{ "without a fresh key nothing is said", FRESH, CHECK_UNEXERCISED,
	  NULL, RAN, "", NULL },
};

/* --- what a host explains that lets nobody run ---------------------------- */

#define WAIT "@10 c1 inv a1 k1 >g1 innocent | @12 c2 inv a2 k2 >g1 | " \
	"@50 c1 ret a1 ok d=D | c2 ret a2 ok d=D | "
#define LOOK RAN "@5000 u inv a7 k1 >g1 audit | u ret a7 "
#define ASK RAN "u inv a8 k8 >g1 fresh | u ret a8 "

static const struct {
	const char *what;
	enum plan_invariant invariant;
	bool of_time;
	const char *head, *story;
} delays[] = {
	{ "more that wait than may", STORM, true, "queue=1", WAIT },
	{ "others that wait for long", STORM, true, "p99=10", WAIT },
	{ "who stays down when the faults are over", STORM, true,
	  "goodput=100",
	  TEN(GOOD1, 1) "a fault store.slow | " TEN(GOOD1, 2) "- heal | "
	  "@500 - stall | " TEN(BAD1, 3) },
	{ "a key that starts twice, and more that wait than may", STORM,
	  false, "runs=1 queue=1",
	  WAIT "h1 begin e1 k1 a1 | h2 begin e2 k1 a1" },
	{ "more commands than a try may cost, and others that wait", STORM,
	  false, "ops=1 p99=10",
	  WAIT "g1 send m1 claim k1 >a | g1 send m2 claim k1 >a | "
	  "g1 send m3 complete k1 >a" },

	{ "a key that is in progress in the end", RESOLVES, true, NULL,
	  LOOK "busy" },
	{ "one at which nobody answers", RESOLVES, true, NULL, LOOK "info" },
	{ "one at which nobody is served", RESOLVES, true, NULL,
	  LOOK "fail" },
	{ "one that the ledger has in progress, too", RESOLVES, true, NULL,
	  LOOK "busy | L ledger k1 in-progress" },
	{ "one that it has so, and one of two instances was busy", RESOLVES,
	  true, "gates=2", LOOK "ok d=D | u inv a8 k1 >g2 audit | "
	  "u ret a8 busy | L ledger k1 in-progress" },
	{ "one that it has so, though each has said that it is done",
	  RESOLVES, false, "gates=2", LOOK "ok d=D | "
	  "u inv a8 k1 >g2 audit | u ret a8 ok d=D | "
	  "L ledger k1 in-progress" },
	{ "such a one behind one that is busy", RESOLVES, false, NULL,
	  "c3 inv a3 k3 | c3 ret a3 info | " LOOK "unknown | "
	  "u inv a8 k3 >g1 audit | u ret a8 busy | "
	  "L ledger k3 in-progress | L ledger k1 in-progress" },
	{ "what was left behind, where a key is busy", RESOLVES, false, NULL,
	  LOOK "busy | g1 leak" },

	{ "a fresh key that is not served for now", FRESH, true, NULL,
	  ASK "fail" },
	{ "one at which no connection is taken", FRESH, true, NULL,
	  ASK "fail how=refused" },
	{ "one that is in progress", FRESH, true, NULL, ASK "busy" },
	{ "one that nobody ran in time", FRESH, true, NULL, ASK "info" },
	{ "one that came to its limit", FRESH, true, NULL,
	  ASK "info how=whole s=504 mark=unknown" },
	{ "one that ended badly", FRESH, false, NULL,
	  ASK "info how=whole s=502 mark=unknown" },
	{ "one that is refused for good", FRESH, false, NULL,
	  ASK "fail s=422 mark=mismatch" },
	{ "one that nobody knows, and was never sent before", FRESH, false,
	  NULL, ASK "unknown" },
	{ "one that nobody knows, and was sent before", FRESH, true, NULL,
	  ASK "info | u inv a9 k8 >g1 fresh | u ret a9 unknown" },
	{ "one that is refused for good behind one that is for now", FRESH,
	  false, "gates=2", ASK "fail | u inv a9 k9 >g2 fresh | "
	  "u ret a9 fail s=422 mark=mismatch" },
};

static void
test_delays(void)
{
	struct check_finding f;
	struct history h;
	size_t i;

	for (i = 0; i < sizeof delays / sizeof *delays; i++) {
		story_tell(&h, delays[i].head, delays[i].story);
		check(&h, delays[i].invariant, &f);
		if (!ok(f.said == CHECK_VIOLATED &&
		    f.of_time == delays[i].of_time, "a delay explains%s: %s",
		    delays[i].of_time ? "" : " not", delays[i].what))
			note("%s", f.message);
		history_free(&h);
	}
}

int
main(void)
{
	story_check(rows, sizeof rows / sizeof *rows);
	test_delays();
	return done();
}
