/* SPDX-License-Identifier: ISC */
#include "gate_rows.h"

#include "gate_policies.h"

#include <stddef.h>

const struct gate_row gate_rows_after[] = {
	/* --- runs that end badly -------------------------------------- */
	{ "a program that was not started frees the key", &ledger,
	  "keyed nothing got won/1 not-started:no-program stopped written sent",
	  "look@local slot claim run+renew:20000 release - reply:no-program "
	  "end" },
	{ "a program that died makes the key unknown", &ledger,
	  "keyed nothing got won/1 cut:died stopped written sent",
	  "look@local slot claim run+renew:20000 mark - reply:died/1 end" },
	{ "a program that was cut off makes the key unknown", &journal,
	  "keyed nothing got won/1 cut:cut stopped written sent",
	  "look@local slot claim run+renew:20000 mark - reply:cut/1 end" },
	{ "what was not started does not say so of a key that it has lost",
	  &retry, "keyed nothing got won/1 not-started:busy stopped lost sent",
	  "look@local slot claim run+renew:20000 release - "
	  "reply:in-progress:1 end" },
	{ "nor if its first release came in, and the key was had again",
	  &retry, "keyed nothing got won/1 not-started:busy stopped maybe over "
	  "lost sent", "look@local slot claim run+renew:20000 release - "
	  "wait:50 release reply:in-progress:1 end" },
	{ "a mark that is lost changes nothing of the reply", &ledger,
	  "keyed nothing got won/1 cut:cut stopped lost sent",
	  "look@local slot claim run+renew:20000 mark - reply:cut/1 end" },
	{ "a release is repeated before the reply, and after it", &ledger,
	  "keyed nothing got won/1 not-started:busy stopped refused over "
	  "refused over maybe over refused over refused sent refused over "
	  "written", "look@local slot claim run+renew:20000 release - wait:50 "
	  "release wait:100 release wait:200 release wait:150 release "
	  "reply:busy:1 release:background wait:50 release:background end" },
	{ "a mark is repeated before the reply, and after it", &brief,
	  "keyed nothing got won/1 cut:died stopped maybe sent lost",
	  "look@local slot claim run+renew:300 mark - reply:died/1 "
	  "mark:background end" },
	{ "a release in the background ends some day", &brief,
	  "keyed nothing got won/1 not-started:broken-program stopped refused "
	  "sent refused", "look@local slot claim run+renew:300 release - "
	  "reply:broken-program release:background end" },

	/* --- an answer that says that nothing happened ---------------- */
	{ "the key of an answer that releases it is free before the reply",
	  &ledger, "keyed nothing got won/1 finished:nothing stopped written "
	  "sent", "look@local slot claim run+renew:20000 release - "
	  "reply:fresh/released end" },
	{ "the journal is not told of an answer that releases its key",
	  &journal, "keyed nothing got won/1 finished:nothing stopped written "
	  "sent", "look@local slot claim run+renew:20000 release - "
	  "reply:fresh/released end" },
	{ "an answer that releases a key which is lost is the client's still",
	  &ledger, "keyed nothing got won/1 finished:nothing stopped lost "
	  "sent", "look@local slot claim run+renew:20000 release - "
	  "reply:fresh/released end" },
	{ "a release that comes late goes on behind the reply", &brief,
	  "keyed nothing got won/1 finished:nothing stopped refused sent "
	  "written", "look@local slot claim run+renew:300 release - "
	  "reply:fresh/released release:background end" },

	/* --- completing ----------------------------------------------- */
	{ "the journal comes before the store", &journal,
	  "keyed nothing got won/1 finished stopped written written sent done",
	  "look@local slot claim run+renew:20000 record - complete "
	  "reply:fresh/stored cache@local end" },
	{ "a journal that refuses stops nothing", &journal,
	  "keyed nothing got won/1 finished stopped refused written sent done",
	  "look@local slot claim run+renew:20000 record - complete "
	  "reply:fresh/stored cache@local end" },
	{ "a completion is repeated", &ledger,
	  "keyed nothing got won/1 finished stopped refused over maybe over "
	  "written sent done", "look@local slot claim run+renew:20000 complete "
	  "- wait:50 complete wait:100 complete reply:fresh/stored "
	  "cache@local end" },
	{ "under block an answer that nobody took is sent, and said to be so",
	  &ledger, "keyed nothing got won/1 finished stopped refused +449 over "
	  "maybe over refused sent written done", "look@local slot claim "
	  "run+renew:20000 complete - wait:50 complete wait:1 complete "
	  "reply:fresh/unrecorded complete:background cache@local end" },
	{ "under retry an answer that nobody took is not sent", &retry,
	  "keyed nothing got won/1 finished stopped refused +600 over refused "
	  "sent lost", "look@local slot claim run+renew:20000 complete - "
	  "wait:50 complete reply:unrecorded/1 complete:background end" },
	{ "a probe's answer that nobody took is sent, and said to be so",
	  &probe, "keyed nothing got unknown:dead/1 won/2 happened stopped "
	  "maybe +600 over maybe sent maybe +400 over refused",
	  "look@local slot claim claim:take-over probe+renew:20000 complete - "
	  "wait:50 complete reply:saved/unrecorded complete:background wait:50 "
	  "complete:background end" },
	{ "who lost its key sends what is stored", &retry,
	  "keyed nothing got won/1 finished stopped lost completed sent done",
	  "look@local slot claim run+renew:20000 complete - claim:look "
	  "reply:saved/replayed cache@local end" },
	{ "who lost its key to a run sends 504", &retry,
	  "keyed nothing got won/1 finished stopped lost in-progress/2 sent",
	  "look@local slot claim run+renew:20000 complete - claim:look "
	  "reply:lost/1 end" },
	{ "who lost its key and whose store is away sends 504", &redis,
	  "keyed nothing got won/1 finished stopped lost refused sent",
	  "look@local slot claim run+renew:20000 complete - claim:look "
	  "reply:lost/1 end" },
	{ "who lost its key to an answer not kept sends 504", &ledger,
	  "keyed nothing got won/1 finished stopped lost completed:unkept sent",
	  "look@local slot claim run+renew:20000 complete - claim:look "
	  "reply:lost/1 end" },
	{ "who lost its key to an operator sends 504", &ledger,
	  "keyed nothing got won/1 finished stopped lost absent sent",
	  "look@local slot claim run+renew:20000 complete - claim:look "
	  "reply:lost/1 end" },

	/* --- the lease ------------------------------------------------ */
	{ "a lease is renewed as long as the program runs", &ledger,
	  "keyed nothing got won/1 renewed renew-maybe renewed finished "
	  "stopped written sent done", "look@local slot claim run+renew:20000 "
	  "renew:20000 renew:5000 renew:20000 complete - reply:fresh/stored "
	  "cache@local end" },
	{ "a lease that is lost is not renewed", &ledger,
	  "keyed nothing got won/1 renew-lost finished lost completed sent "
	  "done", "look@local slot claim run+renew:20000 - complete claim:look "
	  "reply:saved/replayed cache@local end" },
	{ "a lease that is renewed after the end is not renewed again", &ledger,
	  "keyed nothing got won/1 finished renew-maybe written sent done",
	  "look@local slot claim run+renew:20000 complete - reply:fresh/stored "
	  "cache@local end" },
	{ NULL, NULL, NULL, NULL }
};
