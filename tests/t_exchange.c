/* SPDX-License-Identifier: ISC */
#include "exchange_world.h"

#include "tap.h"

#include <stdio.h>
#include <string.h>

#define TIMES .wait_ms = 10000, .queue_ms = 30000, .claim_ms = 10, \
	.background_ms = 400, .lease_ms = 60000

static const struct idem_policy block = { TIMES, .attempts_max = 1,
	.complete_ms = 0 };
static const struct idem_policy retry = { TIMES, .on_unknown = IDEM_RETRY,
	.attempts_max = 2 };
static const struct idem_policy once = { TIMES, .on_unknown = IDEM_RETRY,
	.attempts_max = 1 };
static const struct idem_policy probing = { TIMES,
	.on_unknown = IDEM_PROBING, .attempts_max = 1 };
static const struct idem_policy accepted = { TIMES, .attempts_max = 1,
	.in_progress = IDEM_ACCEPTED };
static const struct idem_policy journal = { TIMES, .attempts_max = 1,
	.journal = true };

#define FIRST "look slot claim "
#define RUN "run later:20000 "
#define STORED "complete ended:completed reply:stored:mine cache end"
/* A claim whose answer does not come within its 10 ms. */
#define CLAIM_MAYBE "look slot claim trouble unused wait:10 slot claim " \
	"trouble unused reply:store-away "
/* The same of a take-over. */
#define TAKE_MAYBE FIRST "claim:take-over trouble unused wait:10 slot " \
	"claim:take-over trouble unused reply:in-progress "

static const struct world_row rows[] = {
	/* --- a first run -------------------------------------------------- */
	{ "a first run is stored, replied and cached", &block,
	  "absent", "", "finished",
	  FIRST RUN "stop " STORED, "completed 1 A" },
	{ "a run that a port answers at once is as any other", &block,
	  "absent", "", "finished!",
	  FIRST RUN "stop " STORED, "completed 1 A" },
	{ "a journal is told first", &journal, "absent", "", "finished",
	  FIRST RUN "stop record " STORED, "completed 1 A" },
	{ "a client that leaves stops nothing", &block,
	  "absent", "", "gone finished",
	  FIRST RUN "stop " STORED, "completed 1 A" },
	{ "a run that did not start releases its key", &block,
	  "absent", "", "not-started",
	  FIRST RUN "stop release ended:released reply:no-program end",
	  "issued 1 A" },
	{ "a run that could not begin frees its slot and releases its key",
	  &block, "absent", "", "no-keeper not-started!",
	  FIRST RUN "stop unused release ended:released reply:no-program end",
	  "issued 1 A" },
	{ "a run that was cut is marked unknown", &block,
	  "absent", "", "cut",
	  FIRST RUN "stop unknown ended:unknown reply:cut end",
	  "unknown 1 A" },
	{ "without a key nothing is claimed or renewed", &block,
	  "absent", "", "keyless finished",
	  "slot:queued run:unkeyed reply:passed end", "absent" },
	{ "without a key and a slot there is no run", &block,
	  "absent", "", "keyless full", "slot:queued reply:busy end",
	  "absent" },

	/* --- a record that is there --------------------------------------- */
	{ "a completed record is replayed and its slot freed", &block,
	  "completed", "", "",
	  FIRST "unused reply:replayed:first cache end", "completed 1 B" },
	{ "it is replayed without a slot, too", &block,
	  "completed", "", "full",
	  "look slot claim:look reply:replayed:first cache end",
	  "completed 1 B" },
	{ "an answer that was not kept is not replayed", &block,
	  "not-kept", "", "",
	  FIRST "unused reply:not-kept cache end", "completed 1 B" },
	{ "a completed record without any answer was not kept either", &block,
	  "no-answer", "", "",
	  FIRST "unused reply:not-kept cache end", "completed 1 B" },
	{ "an answer that cannot be read is neither replayed nor run again",
	  &block, "garbage", "", "",
	  FIRST "unused reply:store-away end", "completed 1 B" },
	{ "a duplicate waits without a slot and gets the answer", &block,
	  "in-progress", "", "alive other-completes woken-completed",
	  FIRST "unused wait-key:10000 look claim:look reply:replayed:first "
	  "cache end", "completed 1 B" },
	{ "a duplicate is accepted where the route says so", &accepted,
	  "in-progress", "", "alive",
	  FIRST "unused reply:accepted end", "in-progress 1 B" },
	{ "under block an unknown record runs no more", &block,
	  "unknown", "", "", FIRST "unused reply:unknown end",
	  "unknown 1 B" },
	{ "a dead run is marked, as the other's, and told", &block,
	  "in-progress", "", "",
	  FIRST "unused unknown:other ended:unknown reply:unknown end",
	  "unknown 1 B" },
	{ "a mark that the store refuses is not told", &block,
	  "in-progress", ".r", "",
	  FIRST "unused unknown:other trouble reply:in-progress end",
	  "in-progress 1 B" },

	/* --- what a journal says ------------------------------------------ */
	{ "a run that ended without its lobby is completed, and replayed",
	  &block, "in-progress", "", "ended",
	  FIRST "unused complete:other ended:completed claim:look "
	  "reply:replayed:adopted cache end", "completed 1 B" },
	{ "... also one that was unknown by then", &block,
	  "unknown", "", "ended",
	  FIRST "unused complete:other ended:completed claim:look "
	  "reply:replayed:adopted cache end", "completed 1 B" },
	{ "... and if the store will not have it, it is in progress", &block,
	  "in-progress", ".r", "ended",
	  FIRST "unused complete:other trouble reply:in-progress end",
	  "in-progress 1 B" },
	{ "a run that had not begun is released, and runs here", &block,
	  "in-progress", "", "unbegun finished",
	  FIRST "unused release:other ended:released claim:look slot:queued "
	  "claim " RUN "stop " STORED, "completed 2 A" },
	{ "... also one that was unknown by then", &block,
	  "unknown", "", "unbegun finished",
	  FIRST "unused release:other ended:released claim:look slot:queued "
	  "claim " RUN "stop " STORED, "completed 2 A" },
	{ "a store that is short of room is given the answer", &block,
	  "absent", "", "finished pressed", FIRST RUN "stop " STORED,
	  "completed 1 A" },
	{ "a claim that cannot be noted is not sent", &block,
	  "absent", "", "unnoted unnoted unnoted",
	  "look slot unnoted unused claim:look slot:queued unnoted unused "
	  "wait:10 slot unnoted unused reply:no-space end", "absent" },
	{ "... and one that can be later is", &block,
	  "absent", "", "unnoted finished",
	  "look slot unnoted unused claim:look slot:queued claim " RUN "stop "
	  STORED, "completed 1 A" },
	{ "... and who has an answer gets it", &block,
	  "completed", "", "unnoted",
	  "look slot unnoted unused claim:look reply:replayed:first cache end",
	  "completed 1 B" },

	/* --- renewals ----------------------------------------------------- */
	{ "a renewed lease is renewed again", &block,
	  "absent", "", "renew renew finished",
	  FIRST RUN "renew later:20000 renew later:20000 stop " STORED,
	  "completed 1 A" },
	{ "a renewal without an answer is tried again soon", &block,
	  "absent", ".n", "renew finished",
	  FIRST RUN "renew trouble later:5000 stop " STORED,
	  "completed 1 A" },
	{ "a renewal under way is not stopped but waited for", &block,
	  "absent", "", "renew+ finished",
	  FIRST RUN "renew no-stop " STORED, "completed 1 A" },
	{ "the end waits for a renewal that is late", &block,
	  "absent", ".d", "renew finished deliver",
	  FIRST RUN "renew no-stop complete ended:completed "
	  "reply:stored:mine cache deliver end", "completed 1 A" },
	{ "a key that was forgotten is lost, and no end is told", &block,
	  "absent", "", "forget renew finished",
	  FIRST RUN "renew complete claim:look reply:lost end",
	  "tombstone 1 O" },
	{ "a key that was resolved is replied as it was resolved", &block,
	  "absent", "", "resolve renew finished",
	  FIRST RUN "renew complete claim:look reply:replayed:theirs cache end",
	  "completed 1 O" },
	{ "a lost run that was cut changes nothing", &block,
	  "absent", "", "forget cut",
	  FIRST RUN "stop unknown reply:cut end", "tombstone 1 O" },

	/* --- a store that fails ------------------------------------------- */
	{ "a refused claim is tried again, with a slot of its own", &block,
	  "absent", "r", "finished",
	  FIRST "trouble unused wait:10 slot claim " RUN "stop " STORED,
	  "completed 1 A" },
	{ "a store that is away is said to be so", &block,
	  "absent", "rr", "", CLAIM_MAYBE "end", "absent" },
	{ "a claim that landed unheard is ours", &block,
	  "absent", "m", "finished",
	  FIRST "trouble unused wait:10 slot claim " RUN "stop " STORED,
	  "completed 1 A" },
	{ "a claim that never landed is made anew", &block,
	  "absent", "n", "finished",
	  FIRST "trouble unused wait:10 slot claim " RUN "stop " STORED,
	  "completed 1 A" },
	{ "a ghost is released behind the reply and its key free", &block,
	  "absent", "mm", "",
	  CLAIM_MAYBE "release ended:released end", "issued 1 A" },
	{ "a ghost that never landed is released all the same", &block,
	  "absent", "nn", "",
	  CLAIM_MAYBE "release ended:released end", "absent" },
	{ "a release that fails is tried again behind the reply", &block,
	  "absent", "mmr", "",
	  CLAIM_MAYBE "release trouble wait:50 release ended:released end",
	  "issued 1 A" },
	{ "an answer that cannot be stored in time is stored later", &block,
	  "absent", ".n", "finished",
	  FIRST RUN "stop complete trouble reply:unrecorded:mine complete "
	  "ended:completed cache end", "completed 1 A" },
	{ "an answer that was stored unheard is told when it is known",
	  &block, "absent", ".m", "finished",
	  FIRST RUN "stop complete trouble reply:unrecorded:mine complete "
	  "ended:completed cache end", "completed 1 A" },

	/* --- taking over -------------------------------------------------- */
	{ "under retry an unknown record is taken over", &retry,
	  "unknown", "", "finished",
	  FIRST "claim:take-over " RUN "stop " STORED, "completed 2 A" },
	{ "under retry a dead run is marked, then taken over", &retry,
	  "in-progress", "", "finished",
	  FIRST "unused unknown:other ended:unknown slot:queued "
	  "claim:take-over " RUN "stop " STORED, "completed 2 A" },
	{ "a take-over is repeated after one that was refused", &retry,
	  "unknown", ".r", "finished",
	  FIRST "claim:take-over trouble unused wait:10 slot claim:take-over "
	  RUN "stop " STORED, "completed 2 A" },
	{ "a take-over that landed unheard is ours", &retry,
	  "unknown", ".m", "finished",
	  FIRST "claim:take-over trouble unused wait:10 slot claim:take-over "
	  RUN "stop " STORED, "completed 2 A" },
	{ "the ghost of a take-over is released", &retry,
	  "unknown", ".mm", "",
	  TAKE_MAYBE "release ended:released end", "issued 2 A" },
	{ "one that never landed leaves the record as it was", &retry,
	  "unknown", ".nn", "", TAKE_MAYBE "release end", "unknown 1 B" },
	{ "the last attempt is not taken over", &once,
	  "unknown", "", "", FIRST "unused reply:unknown end",
	  "unknown 1 B" },

	/* --- probes ------------------------------------------------------- */
	{ "what happened is stored and the slot not used", &probing,
	  "unknown", "", "happened",
	  FIRST "claim:take-over probe later:20000 stop unused complete "
	  "ended:completed reply:stored:probed cache end", "completed 2 A" },
	{ "what did not happen runs in the same slot, renewed on", &probing,
	  "unknown", "", "did-not renew finished",
	  FIRST "claim:take-over probe later:20000 stop run later:20000 "
	  "renew later:20000 stop " STORED, "completed 2 A" },
	{ "the ghost of a probe's take-over is unknown again", &probing,
	  "unknown", ".mm", "",
	  TAKE_MAYBE "unknown ended:unknown end", "unknown 2 A" },
	{ "one that never landed stays unknown as it was", &probing,
	  "unknown", ".nn", "", TAKE_MAYBE "unknown end", "unknown 1 B" },
};

static void
check_row(const struct world_row *row)
{
	struct world w;
	char after[64];

	world_run(&w, row);
	is(w.asks, row->asks, "%s", row->what);
	is(world_after(&w, after, sizeof after), row->after,
	    "%s: the record after it", row->what);
	ok(w.ends == 1 && w.after_end == 0 && *w.happens == '\0',
	    "%s: it ends once, and nothing is asked after that", row->what);
	ok(w.got == w.used + w.unused,
	    "%s: each slot is used or freed once", row->what);
	world_free(&w);
}

/* The row that is called so, run to its end. */
static void
run_named(struct world *w, const char *what)
{
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++)
		if (strcmp(rows[i].what, what) == 0) {
			world_run(w, &rows[i]);
			world_free(w);
			return;
		}
	bail_out("no row \"%s\"", what);
}

/* What a claim carries to the store. */
static void
check_claims(void)
{
	static const char *const takes[] = {
		"under retry an unknown record is taken over",
		"under retry a dead run is marked, then taken over",
		"a take-over is repeated after one that was refused",
		"a take-over that landed unheard is ours",
	};
	struct world w;
	size_t i;

	run_named(&w, "a first run is stored, replied and cached");
	ok(w.last.deadline_ms == 110 && w.last.not_after_ms == 110 &&
	    w.last.lease_ms == 60000 && !w.last.take_over &&
	    w.last.guard.at[0] == 3,
	    "a claim has its deadline, its lease and its digests");
	is_int(w.claim_sent_ms, 100, "when it was sent is known");
	run_named(&w, "a claim that landed unheard is ours");
	is_int(w.claim_sent_ms, 100,
	    "of one that landed unheard, when it was sent first");
	run_named(&w, "a claim that never landed is made anew");
	is_int(w.claim_sent_ms, 110,
	    "of one that had to be repeated, when it was sent last");
	run_named(&w, "a key that was forgotten is lost, and no end is told");
	is_int(w.claim_sent_ms, 100, "a look does not count as a claim sent");
	for (i = 0; i < sizeof takes / sizeof *takes; i++) {
		run_named(&w, takes[i]);
		ok(w.last.take_over && w.last.attempt == 1 &&
		    w.last.other.at[0] == WORLD_OTHER &&
		    w.last.owner.at[0] == 'A' && w.last.attempts_max == 2,
		    "%s, by its owner and attempt", takes[i]);
		is_int(w.attempt, 2, "%s: as attempt 2", takes[i]);
	}
	run_named(&w, "what happened is stored and the slot not used");
	ok(w.last.attempts_max == UINT32_MAX,
	    "a probe may be asked as often as it takes");
	run_named(&w, "a run that ended without its lobby is completed, and "
	    "replayed");
	is_int(w.kept_ms, WORLD_ADOPTED_MS,
	    "another's answer is kept as its own route says");
	run_named(&w, "a first run is stored, replied and cached");
	is_int(w.kept_ms, WORLD_KEEP_MS, "an answer is kept its time");
	ok(w.settled == IDEM_COMPLETE && !w.others_now,
	    "what is surely in the store is known at the end");
	run_named(&w, "a store that is short of room is given the answer");
	is_int(w.kept_ms, WORLD_KEEP_MIN_MS,
	    "a store that is short of room keeps it as long as promised");
	is_int(w.kept_ms + w.stays_ms, WORLD_KEEP_MS + WORLD_TOMBSTONE_MS,
	    "... and remembers the key for no less time than others do");
	run_named(&w, "a dead run is marked, as the other's, and told");
	ok(w.settled == IDEM_ADMIT && !w.others_now,
	    "what was written for another is not ours");
	run_named(&w, "a lost run that was cut changes nothing");
	ok(w.settled == IDEM_ADMIT && w.others_now,
	    "a write that was lost is known at the end");
	run_named(&w, "under block an unknown record runs no more");
	is_int(w.since_ms, WORLD_WALL_MS + 100,
	    "since when a record is unknown is known");
}

int
main(void)
{
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++)
		check_row(&rows[i]);
	check_claims();
	return done();
}
