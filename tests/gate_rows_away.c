/* SPDX-License-Identifier: ISC */
#include "gate_rows.h"

#include "gate_policies.h"

#include <stddef.h>

/* A claim that is refused until its 200 ms are over, with its pauses. */
#define AWAY "got refused over got refused over got refused over got refused " \
	"over got refused over got refused"
#define ASKS "slot claim wait:10 slot claim wait:20 slot claim wait:40 slot " \
	"claim wait:80 slot claim wait:50 slot claim"
/* The same, unclear. */
#define GHOST "got maybe over got maybe over got maybe over got maybe over " \
	"got maybe over got maybe"

const struct gate_row gate_rows_away[] = {
	/* --- a store that is away ------------------------------------- */
	{ "a ledger that is away is 503, and nothing runs", &ledger,
	  "keyed nothing " AWAY " sent",
	  "look@local " ASKS " reply:store-away:1 end" },
	{ "a token's arbiter that is away is 503, whatever the policy",
	  &token_retry, "keyed nothing " AWAY " sent",
	  "look@local " ASKS " reply:store-away:1 end" },
	{ "Redis away is 503 under reject", &redis,
	  "keyed nothing " AWAY " sent",
	  "look@local " ASKS " reply:store-away:1 end" },
	{ "a store that comes back in time is as if it had not been away",
	  &ledger, "keyed nothing got refused over got won/1 finished stopped "
	  "written sent done", "look@local slot claim wait:10 slot claim "
	  "run+renew:20000 complete - reply:fresh/stored cache@local end" },
	{ "a pause frees the slot, and a look needs none", &ledger,
	  "keyed nothing got refused over full completed sent done",
	  "look@local slot claim wait:10 slot claim:look reply:saved/replayed "
	  "cache@local end" },
	{ "Redis away under memory: the host's memory decides", &memory,
	  "keyed nothing " AWAY " won/1 finished stopped written sent",
	  "look@local " ASKS " claim@memory run:unprotected+renew@memory:20000 "
	  "complete@memory - reply:fresh/unprotected end" },
	{ "what the host's memory has is told, and is no arbiter's word",
	  &memory, "keyed nothing " AWAY " completed sent", "look@local " ASKS
	  " claim@memory reply:saved/unprotected end" },
	{ "a run under memory that does not start is released there", &memory,
	  "keyed nothing " AWAY " won/1 not-started:no-program stopped written "
	  "sent", "look@local " ASKS " claim@memory "
	  "run:unprotected+renew@memory:20000 release@memory - "
	  "reply:no-program end" },
	{ "a run under memory that is cut is unknown there", &memory,
	  "keyed nothing " AWAY " won/1 cut:cut stopped written sent",
	  "look@local " ASKS " claim@memory "
	  "run:unprotected+renew@memory:20000 mark@memory - reply:cut/1 end" },
	{ "the host's memory can be away, too, and that is the end", &memory,
	  "keyed nothing " AWAY " refused +300 over got refused sent",
	  "look@local " ASKS " claim@memory wait:10 slot claim@memory "
	  "reply:store-away:1 end" },
	{ "a waiter under memory looks there and does not run", &memory,
	  "keyed led woken-unsure nothing refused +300 over refused absent "
	  "sent", "look@local wait-key:10000 look@local claim:look wait:10 "
	  "claim:look claim@memory:look reply:released:1 end" },
	{ "without a slot the host's memory is looked at first", &memory,
	  "keyed nothing full refused +300 over full refused absent got won/1 "
	  "finished stopped written sent",
	  "look@local slot claim:look wait:10 slot claim:look "
	  "claim@memory:look slot:queued:30000 claim@memory "
	  "run:unprotected+renew@memory:20000 complete@memory - "
	  "reply:fresh/unprotected end" },
	{ "under database the fallback is looked at before Redis", &database,
	  "keyed nothing completed sent",
	  "look@local look@fallback reply:saved/unprotected end" },
	{ "what was begun there is waited for there, though Redis is back",
	  &database, "keyed nothing known got in-progress/1 woken-unsure "
	  "nothing completed sent", "look@local look@fallback slot "
	  "claim@fallback wait-key:10000 look@local claim@fallback:look "
	  "reply:saved/unprotected end" },
	{ "what nobody knows the end of is not run again at Redis", &database,
	  "keyed nothing known got unknown/1 sent", "look@local look@fallback "
	  "slot claim@fallback reply:unknown/1 end" },
	{ "nor is another request under a key that was used there", &database,
	  "keyed nothing known full mismatch sent", "look@local look@fallback "
	  "slot claim@fallback:look reply:mismatch end" },
	{ "nor is Redis asked if that cannot tell any more", &database,
	  "keyed nothing known got refused +300 over got refused sent",
	  "look@local look@fallback slot claim@fallback wait:10 slot "
	  "claim@fallback reply:store-away:1 end" },
	{ "a waiter looks there before it asks Redis", &database,
	  "keyed led woken-unsure nothing known in-progress/1 woken-completed "
	  "nothing completed sent", "look@local wait-key:10000 look@local "
	  "look@fallback claim@fallback:look wait-key:10000 look@local "
	  "claim@fallback:look reply:saved/unprotected end" },
	{ "Redis away under database: the database decides", &database,
	  "keyed nothing nothing " AWAY " won/1 finished:unkept stopped "
	  "written sent", "look@local look@fallback " ASKS
	  " claim@fallback run:unprotected+renew@fallback:20000 "
	  "complete@fallback - reply:fresh/unprotected end" },
	{ "what the database does not take is unrecorded", &database,
	  "keyed nothing unsure " AWAY " won/1 finished stopped refused +600 "
	  "over refused sent written", "look@local look@fallback " ASKS
	  " claim@fallback run:unprotected+renew@fallback:20000 "
	  "complete@fallback - wait:50 complete@fallback "
	  "reply:fresh/unrecorded complete@fallback:background end" },
	{ "Redis away under pass: it runs without permission", &pass,
	  "keyed nothing " AWAY " finished sent", "look@local " ASKS
	  " run:unprotected reply:fresh/unprotected end" },
	{ "a run under pass that does not start is said to be so", &pass,
	  "keyed nothing " AWAY " not-started:no-program sent",
	  "look@local " ASKS " run:unprotected reply:no-program end" },
	{ "a run under pass that is cut is said to be so", &pass,
	  "keyed nothing " AWAY " cut:died sent",
	  "look@local " ASKS " run:unprotected reply:died end" },
	{ "a run under pass needs a slot", &pass,
	  "keyed nothing full refused +300 over full refused got finished sent",
	  "look@local slot claim:look wait:10 slot claim:look "
	  "slot:queued:30000 run:unprotected reply:fresh/unprotected end" },
	{ "a run under pass without a slot is busy", &pass,
	  "keyed nothing full refused +300 over full refused full sent",
	  "look@local slot claim:look wait:10 slot claim:look "
	  "slot:queued:30000 reply:busy:1 end" },
	{ "a waiter does not run under pass, either", &pass,
	  "keyed led woken-unsure nothing refused +300 over refused sent",
	  "look@local wait-key:10000 look@local claim:look wait:10 claim:look "
	  "reply:in-progress:10 end" },
	{ "a take-over never goes to another store", &memory_retry,
	  "keyed nothing got unknown:dead/1 refused +300 over got refused sent",
	  "look@local slot claim claim:take-over wait:10 slot "
	  "claim:take-over reply:in-progress:1 end" },
	{ "a key that the arbiter has shown goes to no other store",
	  &memory_retry, "keyed nothing got in-progress:dead/1 lost refused "
	  "+300 over full refused sent", "look@local slot claim mark:others "
	  "claim:look wait:10 slot claim:look reply:in-progress:1 end" },
	{ "an answer is written for another, and then the store is away",
	  &ledger, "keyed nothing got in-progress:ended/1 written away sent",
	  "look@local slot claim complete:others claim:look "
	  "reply:in-progress:1 end" },
	{ "a claim that cannot be noted is no outage", &pass,
	  "keyed nothing got refused:no-space absent got refused:no-space "
	  "+300 over got refused:no-space sent",
	  "look@local slot claim claim:look slot:queued:30000 claim wait:10 "
	  "slot claim reply:no-space:1 end" },
	{ "... and what is known of its key is told", &pass,
	  "keyed nothing got refused:no-space completed sent done",
	  "look@local slot claim claim:look reply:saved/replayed cache@local "
	  "end" },
	{ "... but nothing is taken over", &memory_retry,
	  "keyed nothing got refused:no-space unknown:dead/1 got "
	  "refused:no-space +300 over got refused:no-space sent",
	  "look@local slot claim claim:look slot:queued:30000 "
	  "claim:take-over wait:10 slot claim:take-over "
	  "reply:in-progress:1 end" },
	{ "... nor one that the host's memory is asked about", &memory,
	  "keyed nothing got refused:no-space absent got refused:no-space "
	  "over got won/1 finished stopped written sent done",
	  "look@local slot claim claim:look slot:queued:30000 claim wait:10 "
	  "slot claim run+renew:20000 complete - reply:fresh/stored "
	  "cache@local end" },
	{ "a store known to be away is not asked again", &ledger,
	  "keyed nothing got away sent",
	  "look@local slot claim reply:store-away:1 end" },
	{ "nor is Redis, before its stand-in decides", &memory,
	  "keyed nothing got away won/1 finished stopped written sent",
	  "look@local slot claim claim@memory "
	  "run:unprotected+renew@memory:20000 complete@memory - "
	  "reply:fresh/unprotected end" },
	{ "a store that went away behind an unclear claim leaves a ghost",
	  &memory, "keyed nothing got maybe over got away sent written",
	  "look@local slot claim wait:10 slot claim reply:store-away:1 "
	  "release:background end" },
	{ "who waited for a run under memory is told so", &memory,
	  "keyed led woken-completed completed:unprotected sent",
	  "look@local wait-key:10000 look@local reply:saved/unprotected end" },

	/* --- tokens past their life ----------------------------------- */
	{ "a token past its life replays what it has led to", &token,
	  "keyed:old nothing got completed sent done",
	  "look@local slot claim reply:saved/replayed cache@local end" },
	{ "a token past its life that nobody has used is over", &token,
	  "keyed:old nothing got no-token sent",
	  "look@local slot claim reply:token-expired end" },
	{ "nor does it start anything where it is still known", &token,
	  "keyed:old nothing got late sent",
	  "look@local slot claim reply:token-expired end" },
	{ "without a slot it is looked up, and does not queue", &token,
	  "keyed:old nothing full absent sent",
	  "look@local slot claim:look reply:token-expired end" },
	{ "a token past its life is void in another history, too", &token,
	  "keyed:old nothing got history sent",
	  "look@local slot claim reply:token-expired end" },
	{ "nor is a run taken over: what it has led to is unknown",
	  &token_retry, "keyed:old nothing got unknown:dead/1 sent",
	  "look@local slot claim reply:unknown/1 end" },
	{ "nor one that is found dead in progress", &token_retry,
	  "keyed:old nothing got in-progress:dead/1 written sent",
	  "look@local slot claim mark:others reply:unknown/1 end" },
	{ "a claim that came late is repeated", &redis,
	  "keyed nothing got late over got won/1 finished stopped written sent "
	  "done", "look@local slot claim wait:10 slot claim run+renew:20000 "
	  "complete - reply:fresh/stored cache@local end" },
	{ "a claim that is always late is 503, and no outage", &memory,
	  "keyed nothing got late +300 over got late sent",
	  "look@local slot claim wait:10 slot claim reply:store-away:1 end" },
	{ "a record that vanished is claimed again", &ledger,
	  "keyed nothing got absent over got mismatch sent",
	  "look@local slot claim wait:10 slot claim reply:mismatch end" },

	/* --- ghosts --------------------------------------------------- */
	{ "an unclear claim is repeated and found to be ours", &ledger,
	  "keyed nothing got maybe over got ours/1 finished stopped written "
	  "sent done", "look@local slot claim wait:10 slot claim "
	  "run+renew:20000 complete - reply:fresh/stored cache@local end" },
	{ "a claim that stays unclear is 503, and released afterwards", &ledger,
	  "keyed nothing " GHOST " sent refused over refused over refused over "
	  "maybe over refused", "look@local " ASKS " reply:store-away:1 "
	  "release:background wait:50 release:background wait:100 "
	  "release:background wait:200 release:background wait:50 "
	  "release:background end" },
	{ "a claim that stays unclear never leads to the host's memory",
	  &memory, "keyed nothing " GHOST " sent written",
	  "look@local " ASKS " reply:store-away:1 release:background end" },
	{ "nor to the database", &database,
	  "keyed nothing nothing got maybe +300 over got refused sent lost",
	  "look@local look@fallback slot claim wait:10 slot claim "
	  "reply:store-away:1 release:background end" },
	{ "nor to a run without permission", &pass,
	  "keyed nothing got maybe +300 over got refused nobody written",
	  "look@local slot claim wait:10 slot claim reply:store-away:1 "
	  "release:background end" },
	{ "a ghost does not queue for a slot", &ledger,
	  "keyed nothing got maybe over full sent written",
	  "look@local slot claim wait:10 slot reply:busy:1 "
	  "release:background end" },
	{ "who may have a ghost releases it behind another's answer", &ledger,
	  "keyed nothing got maybe over got completed sent done lost",
	  "look@local slot claim wait:10 slot claim reply:saved/replayed "
	  "cache@local release:background end" },
	{ "a waiter that finds its own ghost releases it", &ledger,
	  "keyed nothing got maybe over got in-progress/1 woken-unsure nothing "
	  "ours/2 written sent", "look@local slot claim wait:10 slot claim "
	  "wait-key:10000 look@local claim:look release reply:released:1 "
	  "end" },
	{ "who gives back what it took over does not say that nothing was done",
	  &probe, "keyed nothing got unknown:dead/1 maybe over got "
	  "in-progress/1 woken-unsure nothing ours/2 written sent",
	  "look@local slot claim claim:take-over wait:10 slot claim:take-over "
	  "wait-key:10000 look@local claim:look mark reply:in-progress:10 "
	  "end" },
	{ "a ghost in the host's memory is released there", &memory,
	  "keyed nothing " AWAY " maybe +300 over got maybe sent written",
	  "look@local " ASKS " claim@memory wait:10 slot claim@memory "
	  "reply:store-away:1 release@memory:background end" },
	{ "a ghost of a take-over is released under retry", &retry,
	  "keyed nothing got unknown:dead/1 maybe +300 over got maybe sent "
	  "written", "look@local slot claim claim:take-over wait:10 slot "
	  "claim:take-over reply:in-progress:1 release:background end" },
	{ "a ghost of a take-over stays unknown where a probe must be asked",
	  &probe, "keyed nothing got unknown:dead/1 maybe over full sent "
	  "written", "look@local slot claim claim:take-over wait:10 slot "
	  "reply:in-progress:1 mark:background end" },
	{ NULL, NULL, NULL, NULL }
};
