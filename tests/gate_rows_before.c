/* SPDX-License-Identifier: ISC */
#include "gate_rows.h"

#include "gate_policies.h"

#include <stddef.h>

const struct gate_row gate_rows_before[] = {
	/* --- without a key -------------------------------------------- */
	{ "a request without a key passes through", &ledger,
	  "keyless got finished sent",
	  "slot:queued:30000 run:unkeyed reply:passed end" },
	{ "a missing key is refused where one is required", &required,
	  "keyless sent", "reply:key-missing end" },
	{ "a required key that is there is as any other", &required,
	  "keyed completed sent", "look@local reply:saved/replayed end" },
	{ "what no route covers passes through even where keys are required",
	  &required, "exempt got finished sent",
	  "slot:queued:30000 run:unkeyed reply:passed end" },
	{ "a key that no route wants is said to be ignored", &ledger,
	  "exempt:key got finished sent",
	  "slot:queued:30000 run:unkeyed reply:passed/ignored end" },
	{ "without a key a full queue is busy", &ledger, "keyless full sent",
	  "slot:queued:30000 reply:busy:1 end" },
	{ "without a route a full queue is busy", &ledger,
	  "exempt:key full nobody", "slot:queued:30000 reply:busy:1 end" },
	{ "a program without a key that is missing is said to be so", &ledger,
	  "keyless got not-started:no-program sent",
	  "slot:queued:30000 run:unkeyed reply:no-program end" },
	{ "a program without a key that died is said to be so", &ledger,
	  "keyless got cut:died sent",
	  "slot:queued:30000 run:unkeyed reply:died end" },
	{ "a program without a route that is cut off is said to be so",
	  &ledger, "exempt got cut:cut sent",
	  "slot:queued:30000 run:unkeyed reply:cut end" },
	{ "a bad key is refused with its reason", &ledger,
	  "refused:key-malformed sent", "reply:key-malformed end" },
	{ "a foreign token is refused", &token, "refused:foreign-token sent",
	  "reply:foreign-token end" },
	{ "a broken body is refused though its client has left", &ledger,
	  "refused:request-broken nobody", "reply:request-broken end" },

	/* --- the plain way -------------------------------------------- */
	{ "a first request runs once and is saved before the reply", &ledger,
	  "keyed nothing got won/1 finished stopped written sent done",
	  "look@local slot claim run+renew:20000 complete - reply:fresh/stored "
	  "cache@local end" },
	{ "a retry is replayed from this worker", &ledger,
	  "keyed completed sent", "look@local reply:saved/replayed end" },
	{ "a retry is replayed from the arbiter, and then kept here", &ledger,
	  "keyed nothing got completed sent done",
	  "look@local slot claim reply:saved/replayed cache@local end" },
	{ "a retry whose answer was not kept never runs", &ledger,
	  "keyed nothing got completed:unkept sent done",
	  "look@local slot claim reply:not-kept cache@local end" },
	{ "an answer known here as not kept is said to be so", &ledger,
	  "keyed completed:unkept sent", "look@local reply:not-kept end" },
	{ "an answer too large to keep is said to be so", &ledger,
	  "keyed nothing got won/1 finished:unkept written stopped sent done",
	  "look@local slot claim run+renew:20000 complete "
	  "reply:fresh/stored-without-body - cache@local end" },
	{ "an unsure look is as none", &ledger,
	  "keyed unsure got completed sent done",
	  "look@local slot claim reply:saved/replayed cache@local end" },
	{ "a client that leaves stops nothing", &ledger,
	  "gone keyed nothing gone got won/1 gone finished stopped written "
	  "nobody done",
	  "- look@local slot - claim run+renew:20000 - complete - "
	  "reply:fresh/stored cache@local end" },
	{ "a claim that was won before is a won one", &ledger,
	  "keyed nothing got ours/1 finished stopped written sent done",
	  "look@local slot claim run+renew:20000 complete - reply:fresh/stored "
	  "cache@local end" },
	{ "END waits for the last RENEW", &ledger,
	  "keyed nothing got won/1 finished written sent done renewed",
	  "look@local slot claim run+renew:20000 complete reply:fresh/stored "
	  "cache@local - end" },
	{ "END waits for a RENEW that is lost, too", &ledger,
	  "keyed nothing got won/1 finished written sent done gone renew-lost",
	  "look@local slot claim run+renew:20000 complete reply:fresh/stored "
	  "cache@local - - end" },

	/* --- the cache in Redis --------------------------------------- */
	{ "a completed record in Redis is replayed and kept here", &cached,
	  "keyed nothing completed sent done",
	  "look@local look@redis reply:saved/replayed cache@local end" },
	{ "Redis is not believed when it knows nothing", &cached,
	  "keyed nothing nothing got won/1 finished stopped written sent done "
	  "failed", "look@local look@redis slot claim run+renew:20000 "
	  "complete - reply:fresh/stored cache@local cache@redis end" },
	{ "Redis away costs a look", &cached,
	  "keyed nothing unsure got completed sent done failed",
	  "look@local look@redis slot claim reply:saved/replayed cache@local "
	  "cache@redis end" },
	{ "who waits looks into Redis before it asks the ledger", &cached,
	  "keyed led woken-unsure nothing nothing in-progress woken-unsure "
	  "nothing completed sent done", "look@local wait-key:10000 look@local "
	  "look@redis claim:look wait-key:10000 look@local look@redis "
	  "reply:saved/replayed cache@local end" },
	{ "where Redis is the arbiter it is no cache", &redis,
	  "keyed nothing got won/1 finished stopped written sent done",
	  "look@local slot claim run+renew:20000 complete - reply:fresh/stored "
	  "cache@local end" },
	{ "where a token names the arbiter Redis is no cache", &token,
	  "keyed nothing got completed sent done",
	  "look@local slot claim reply:saved/replayed cache@local end" },

	/* --- guards --------------------------------------------------- */
	{ "another request under the key is a mismatch", &ledger,
	  "keyed nothing got mismatch sent", "look@local slot claim "
	  "reply:mismatch end" },
	{ "another request is a mismatch while the first runs here", &ledger,
	  "keyed led-mismatch sent", "look@local reply:mismatch end" },
	{ "other credentials are withheld from", &ledger,
	  "keyed nothing got withheld sent", "look@local slot claim "
	  "reply:withheld end" },
	{ "other credentials are withheld from while the first runs here",
	  &ledger, "keyed led-withheld sent", "look@local reply:withheld end" },
	{ "a mismatch needs no slot", &ledger,
	  "keyed nothing full mismatch sent",
	  "look@local slot claim:look reply:mismatch end" },
	{ "a key within its tombstone is expired", &ledger,
	  "keyed nothing got expired sent",
	  "look@local slot claim reply:key-expired end" },
	{ "a record we cannot read never runs", &ledger,
	  "keyed nothing got bad-record sent",
	  "look@local slot claim reply:store-away:1 end" },
	{ "a token of another history is void", &token,
	  "keyed nothing got history sent",
	  "look@local slot claim reply:void-token end" },
	{ "a token never issued is void", &token,
	  "keyed nothing got no-token sent",
	  "look@local slot claim reply:void-token end" },

	/* --- slots ---------------------------------------------------- */
	{ "a replay needs no slot", &ledger,
	  "keyed nothing full completed sent done",
	  "look@local slot claim:look reply:saved/replayed cache@local end" },
	{ "only a key nobody has queues", &ledger,
	  "keyed nothing full absent got won/1 finished stopped written sent "
	  "done", "look@local slot claim:look slot:queued:30000 claim "
	  "run+renew:20000 complete - reply:fresh/stored cache@local end" },
	{ "a full queue is busy", &ledger,
	  "keyed nothing full absent full sent",
	  "look@local slot claim:look slot:queued:30000 reply:busy:1 end" },
	{ "who has queued may find the key taken", &ledger,
	  "keyed nothing full absent got in-progress/1 +10000 over sent",
	  "look@local slot claim:look slot:queued:30000 claim wait-key:10000 "
	  "reply:in-progress:10 end" },
	{ "nobody queues twice", &ledger,
	  "keyed nothing full absent got refused over full absent sent",
	  "look@local slot claim:look slot:queued:30000 claim wait:10 slot "
	  "claim:look reply:busy:1 end" },
	{ "time in the queue is none of the store's", &ledger,
	  "keyed nothing full absent +20000 got refused over got bad-record "
	  "sent", "look@local slot claim:look slot:queued:30000 claim wait:10 "
	  "slot claim reply:store-away:1 end" },
	{ "a duplicate waits without a slot", &ledger,
	  "keyed nothing full in-progress/1 released sent",
	  "look@local slot claim:look wait-key:10000 reply:released:1 end" },

	/* --- waiting -------------------------------------------------- */
	{ "a duplicate waits and is replayed", &ledger,
	  "keyed led +4000 woken-completed completed sent",
	  "look@local wait-key:10000 look@local reply:saved/replayed end" },
	{ "a duplicate on another worker is replayed by the arbiter", &ledger,
	  "keyed nothing got in-progress/1 +9 woken-completed nothing "
	  "completed sent done", "look@local slot claim wait-key:10000 "
	  "look@local claim:look reply:saved/replayed cache@local end" },
	{ "who wakes and is not sure looks again", &ledger,
	  "keyed led +1000 woken-unsure unsure completed sent done",
	  "look@local wait-key:10000 look@local claim:look "
	  "reply:saved/replayed cache@local end" },
	{ "who wakes too early waits for what is left", &ledger,
	  "keyed led +1000 woken-unsure led +9000 over sent",
	  "look@local wait-key:10000 look@local wait-key:9000 "
	  "reply:in-progress:10 end" },
	{ "who wakes too early waits, says the arbiter too", &ledger,
	  "keyed led +1000 woken-unsure nothing in-progress/1 +9000 over sent",
	  "look@local wait-key:10000 look@local claim:look wait-key:9000 "
	  "reply:in-progress:10 end" },
	{ "who wakes at the end of its time waits no more", &ledger,
	  "keyed led +10000 woken-unsure led sent", "look@local "
	  "wait-key:10000 look@local reply:in-progress:10 end" },
	{ "a waiter whose run was released does not run", &ledger,
	  "keyed led released sent",
	  "look@local wait-key:10000 reply:released:1 end" },
	{ "a waiter who finds the key released does not run", &ledger,
	  "keyed led woken-completed nothing absent sent",
	  "look@local wait-key:10000 look@local claim:look reply:released:1 "
	  "end" },
	{ "a waiter is told that the outcome is unknown", &ledger,
	  "keyed led woken-unknown sent",
	  "look@local wait-key:10000 reply:unknown end" },
	{ "under retry a waiter is told the same", &retry,
	  "keyed led woken-unknown sent",
	  "look@local wait-key:10000 reply:unknown end" },
	{ "a waiter never takes over", &retry,
	  "keyed nothing got in-progress/1 woken-unsure nothing "
	  "unknown:dead/1 sent", "look@local slot claim wait-key:10000 "
	  "look@local claim:look reply:unknown/1 end" },
	{ "a waiter marks a dead run unknown, but does not probe", &probe,
	  "keyed led woken-unsure nothing in-progress:dead/1 written sent",
	  "look@local wait-key:10000 look@local claim:look mark:others "
	  "reply:unknown/1 end" },
	{ "a waiter may find another request under the key", &ledger,
	  "keyed led woken-completed led-mismatch sent", "look@local "
	  "wait-key:10000 look@local reply:mismatch end" },
	{ "a waiter asks an unclear store again, without a slot", &ledger,
	  "keyed led woken-unsure nothing refused over completed sent done",
	  "look@local wait-key:10000 look@local claim:look wait:10 claim:look "
	  "reply:saved/replayed cache@local end" },
	{ "a waiter whose store is away still knows that it was begun", &brisk,
	  "keyed led woken-unsure nothing refused sent",
	  "look@local wait-key:90000 look@local claim:look "
	  "reply:in-progress:60 end" },
	{ "Retry-After is a second at least", &brief,
	  "keyed led +200 over sent",
	  "look@local wait-key:200 reply:in-progress:1 end" },
	{ "Retry-After is the lease at most", &brisk, "keyed led +90000 over "
	  "sent", "look@local wait-key:90000 reply:in-progress:60 end" },
	{ "where nobody waits a duplicate is told 409", &conflict,
	  "keyed led sent", "look@local reply:in-progress:1 end" },
	{ "where nobody waits the arbiter's word is 409, too", &conflict,
	  "keyed nothing got in-progress/1 sent",
	  "look@local slot claim reply:in-progress:1 end" },
	{ "where work is accepted a duplicate is told 202", &accepted,
	  "keyed led sent", "look@local reply:accepted:1 end" },
	{ "where work is accepted the arbiter's word is 202, too", &accepted,
	  "keyed nothing full in-progress/1 sent",
	  "look@local slot claim:look reply:accepted:1 end" },

	/* --- unknown -------------------------------------------------- */
	{ "under block an unknown key is never run again", &ledger,
	  "keyed nothing got unknown:dead/1 sent",
	  "look@local slot claim reply:unknown/1 end" },
	{ "a dead run is marked unknown", &ledger,
	  "keyed nothing got in-progress:dead/1 written sent",
	  "look@local slot claim mark:others reply:unknown/1 end" },
	{ "a lapsed run is marked unknown", &ledger,
	  "keyed nothing full in-progress:lapsed/2 written sent",
	  "look@local slot claim:look mark:others reply:unknown/2 end" },
	{ "a dead run that came back is looked at again", &ledger,
	  "keyed nothing got in-progress:dead/1 lost completed sent done",
	  "look@local slot claim mark:others claim:look reply:saved/replayed "
	  "cache@local end" },
	{ "a run that will not be marked is in progress in the end", &ledger,
	  "keyed nothing got in-progress:dead/1 lost in-progress:dead/1 lost "
	  "in-progress:lapsed/1 lost sent", "look@local slot claim mark:others "
	  "claim:look mark:others claim:look mark:others "
	  "reply:in-progress:1 end" },
	/* Not 503: it was begun. */
	{ "a dead run that cannot be marked is in progress", &retry,
	  "keyed nothing got in-progress:dead/1 refused sent",
	  "look@local slot claim mark:others reply:in-progress:1 end" },
	{ "a dead run that may be marked is in progress", &retry,
	  "keyed nothing got in-progress:dead/1 maybe sent",
	  "look@local slot claim mark:others reply:in-progress:1 end" },

	/* --- what a journal says --------------------------------------- */
	{ "a run whose lobby died is completed with its answer", &ledger,
	  "keyed nothing got in-progress:ended/1 written completed sent done",
	  "look@local slot claim complete:others claim:look "
	  "reply:saved/replayed cache@local end" },
	{ "... also one that was given up as unknown", &ledger,
	  "keyed nothing full unknown:ended/1 written completed sent done",
	  "look@local slot claim:look complete:others claim:look "
	  "reply:saved/replayed cache@local end" },
	{ "... and one that somebody else has completed meanwhile", &ledger,
	  "keyed nothing got in-progress:ended/1 lost completed sent done",
	  "look@local slot claim complete:others claim:look "
	  "reply:saved/replayed cache@local end" },
	{ "an answer that cannot be written now is in progress", &ledger,
	  "keyed nothing got in-progress:ended/1 refused sent",
	  "look@local slot claim complete:others reply:in-progress:1 end" },
	{ "a run that had not begun is released, and this one runs", &ledger,
	  "keyed nothing got in-progress:unbegun/1 written absent got won/2 "
	  "finished stopped written sent done", "look@local slot claim "
	  "release:others claim:look slot:queued:30000 claim "
	  "run+renew:20000 complete - reply:fresh/stored cache@local end" },
	{ "... also one that was given up as unknown, under block", &ledger,
	  "keyed nothing got unknown:unbegun/1 written absent got won/2 "
	  "finished stopped written sent done", "look@local slot claim "
	  "release:others claim:look slot:queued:30000 claim "
	  "run+renew:20000 complete - reply:fresh/stored cache@local end" },
	{ "who waited for it is told that it was released", &ledger,
	  "keyed led woken-unsure nothing in-progress:unbegun/1 written absent "
	  "sent", "look@local wait-key:10000 look@local claim:look "
	  "release:others claim:look reply:released:1 end" },
	{ "a token past its life is released, and starts nothing", &token,
	  "keyed:old nothing got in-progress:unbegun/1 written absent sent",
	  "look@local slot claim release:others claim:look "
	  "reply:token-expired end" },
	{ "a record that never comes to rest is in progress in the end",
	  &ledger, "keyed nothing got in-progress:unbegun/1 lost "
	  "in-progress:ended/2 lost in-progress:dead/3 lost sent",
	  "look@local slot claim release:others claim:look complete:others "
	  "claim:look mark:others reply:in-progress:1 end" },

	/* --- a full disk ----------------------------------------------- */
	{ "without room to write nothing is started", &ledger,
	  "keyed nothing full:no-space absent full:no-space sent",
	  "look@local slot claim:look slot:queued:30000 reply:no-space:1 "
	  "end" },
	{ "... but what is stored is replayed", &ledger,
	  "keyed nothing full:no-space completed sent done",
	  "look@local slot claim:look reply:saved/replayed cache@local end" },
	{ "... and no dead run is taken over", &retry,
	  "keyed nothing full:no-space unknown:dead/1 full:no-space sent",
	  "look@local slot claim:look slot:queued:30000 reply:in-progress:1 "
	  "end" },

	/* --- what may run again ---------------------------------------- */
	{ "under retry an unknown key with proof of death runs again", &retry,
	  "keyed nothing got unknown:dead/1 won/2 finished stopped written "
	  "sent done", "look@local slot claim claim:take-over "
	  "run+renew:20000 complete - reply:fresh/stored cache@local end" },
	{ "under retry a dead run is marked, then taken over with a slot",
	  &retry, "keyed nothing got in-progress:dead/1 written got won/2 "
	  "finished stopped written sent done", "look@local slot claim "
	  "mark:others slot:queued:30000 claim:take-over run+renew:20000 "
	  "complete - reply:fresh/stored cache@local end" },
	{ "under retry a lapsed run is not run again", &retry,
	  "keyed nothing got in-progress:lapsed/1 written sent",
	  "look@local slot claim mark:others reply:unknown/1 end" },
	{ "under retry nothing runs without proof of death", &retry,
	  "keyed nothing got unknown/1 sent",
	  "look@local slot claim reply:unknown/1 end" },
	{ "under retry the last attempt is the last", &retry,
	  "keyed nothing got unknown:dead/3 sent",
	  "look@local slot claim reply:unknown/3 end" },
	{ "under retry the store counts attempts, too", &retry,
	  "keyed nothing got unknown:dead/2 exhausted/3 sent",
	  "look@local slot claim claim:take-over reply:unknown/3 end" },
	{ "a take-over needs a slot", &retry,
	  "keyed nothing full unknown:dead/1 full sent", "look@local slot "
	  "claim:look slot:queued:30000 reply:in-progress:1 end" },
	{ "another's take-over is in progress", &retry,
	  "keyed nothing got unknown:dead/1 in-progress/2 +50 woken-completed "
	  "completed sent", "look@local slot claim claim:take-over "
	  "wait-key:10000 look@local reply:saved/replayed end" },
	{ "a take-over that is always late ends", &retry,
	  "keyed nothing got unknown:dead/1 unknown:dead/1 unknown:dead/1 "
	  "unknown:dead/1 sent", "look@local slot claim claim:take-over "
	  "claim:take-over claim:take-over reply:unknown/1 end" },
	{ "a take-over is repeated as what it is", &retry,
	  "keyed nothing got unknown:dead/1 maybe over got ours/2 finished "
	  "stopped written sent done", "look@local slot claim "
	  "claim:take-over wait:10 slot claim:take-over run+renew:20000 "
	  "complete - reply:fresh/stored cache@local end" },
	{ "a token is taken over where it lives", &token_retry,
	  "keyed nothing got unknown:dead/1 won/2 finished stopped written "
	  "sent done", "look@local slot claim claim:take-over "
	  "run+renew:20000 complete - reply:fresh/stored cache@local end" },

	/* --- probing -------------------------------------------------- */
	{ "a probe that says it happened gives the answer", &probe,
	  "keyed nothing got unknown:dead/1 won/2 happened stopped written "
	  "sent done", "look@local slot claim claim:take-over "
	  "probe+renew:20000 complete - reply:saved/stored cache@local end" },
	{ "a probe's answer may be too large to keep", &probe,
	  "keyed nothing got unknown:dead/1 won/2 happened:unkept stopped "
	  "written sent done", "look@local slot claim claim:take-over "
	  "probe+renew:20000 complete - reply:saved/stored-without-body "
	  "cache@local end" },
	{ "a probe that says it did not lets it run, under one lease", &probe,
	  "keyed nothing got unknown:dead/1 won/2 did-not renewed finished "
	  "stopped written sent done", "look@local slot claim "
	  "claim:take-over probe+renew:20000 run renew:20000 complete - "
	  "reply:fresh/stored cache@local end" },
	{ "a lease whose timer stopped with the probe goes on with the run",
	  &probe, "keyed nothing got unknown:dead/1 won/2 did-not stopped "
	  "finished stopped written sent done", "look@local slot claim "
	  "claim:take-over probe+renew:20000 run renew:20000 complete - "
	  "reply:fresh/stored cache@local end" },
	{ "a probe that does not know leaves it unknown", &probe,
	  "keyed nothing got unknown:dead/1 ours/2 unknown stopped written "
	  "sent",
	  "look@local slot claim claim:take-over probe+renew:20000 mark - "
	  "reply:unknown/2 end" },
	{ "a probe is asked about a dead run, too", &probe,
	  "keyed nothing got in-progress:dead/1 written got won/2 happened "
	  "stopped written sent done", "look@local slot claim mark:others "
	  "slot:queued:30000 claim:take-over probe+renew:20000 complete - "
	  "reply:saved/stored cache@local end" },
	{ "a first claim is not probed", &probe,
	  "keyed nothing got won/1 finished stopped written sent done",
	  "look@local slot claim run+renew:20000 complete - reply:fresh/stored "
	  "cache@local end" },
	{ "without proof of death nobody is asked", &probe,
	  "keyed nothing got unknown:lapsed/1 sent",
	  "look@local slot claim reply:unknown/1 end" },
	{ "a key that was lost during its probe does not run", &probe,
	  "keyed nothing got unknown:dead/1 won/2 renew-lost did-not "
	  "completed sent done", "look@local slot claim claim:take-over "
	  "probe+renew:20000 - claim:look reply:saved/replayed cache@local "
	  "end" },
	{ "after a probe said it did not a run may still not start", &probe,
	  "keyed nothing got unknown:dead/1 won/2 did-not "
	  "not-started:no-program stopped written sent",
	  "look@local slot claim claim:take-over probe+renew:20000 run "
	  "release - reply:no-program end" },
	{ NULL, NULL, NULL, NULL }
};
