/* SPDX-License-Identifier: ISC */
#include "store_rows.h"

const struct store_row store_rows[] = {
	/* CLAIM, in the order of its checks */
	{ "a first claim wins attempt 1 and is in progress for others", false,
	  "claim k1 o1 f1 g1 -> won 1\n"
	  "claim k1 o2 f1 g1 -> in-progress 1\n"
	  "claim k2 o2 f1 g1 -> won 1\n" },
	{ "a claim repeated by its owner is ours, not a second start", false,
	  "claim k1 o1 f1 g1 -> won 1\n"
	  "claim k1 o1 f1 g1 -> ours 1\n"
	  "show k1 -> in-progress 1 o1 lease 61000 expires 0 answer 0\n" },
	{ "another request is a mismatch in every state but tombstone", false,
	  "claim k1 o1 f1 g1 -> won 1\n"
	  "claim k1 o2 f2 g1 -> mismatch 1\n"
	  "unknown k1 o1 1 -> written\n"
	  "claim k1 o2 f2 g1 -> mismatch 1\n"
	  "claim k1 o2 f2 g1 over=o1 -> mismatch 1\n"
	  "complete k1 o1 1 A -> written\n"
	  "claim k1 o2 f2 g1 -> mismatch 1\n"
	  "claim k1 o2 f2 g1 look -> mismatch 1\n"
	  "claim k2 o1 f1 g1 -> won 1\n"
	  "release k2 o1 1 -> written\n"
	  "claim k2 o2 f2 g1 -> mismatch 1\n" },
	{ "the mismatch is said before the guard's difference", false,
	  "claim k1 o1 f1 g1 -> won 1\n"
	  "claim k1 o2 f2 g2 -> mismatch 1\n" },
	{ "other credentials are withheld, and never run or see the answer",
	  false,
	  "claim k1 o1 f1 g1 -> won 1\n"
	  "claim k1 o2 f1 g2 -> withheld 1\n"
	  "complete k1 o1 1 A -> written\n"
	  "claim k1 o2 f1 g2 -> withheld 1\n"
	  "claim k1 o2 f1 g1 -> completed 1 A\n" },
	{ "a mismatch leaves the record alone, so the first request replays "
	  "[race:16]",
	  false,
	  "claim k1 o1 f1 g1 -> won 1\n"
	  "claim k1 o2 f2 g1 -> mismatch 1\n"
	  "complete k1 o1 1 A -> written\n"
	  "claim k1 o3 f2 g1 -> mismatch 1\n"
	  "claim k1 o4 f1 g1 -> completed 1 A\n" },
	{ "a look inserts nothing", false,
	  "claim k1 o1 f1 g1 look -> absent\n"
	  "show k1 -> absent\n"
	  "claim k1 o1 f1 g1 -> won 1\n"
	  "release k1 o1 1 -> written\n"
	  "claim k1 o2 f1 g1 look -> absent 1\n"
	  "show k1 -> issued 1 o1 lease 0 expires 1005000 answer 0\n" },
	{ "a look tells what is known", false,
	  "claim k1 o1 f1 g1 -> won 1\n"
	  "claim k1 o2 f1 g1 look -> in-progress 1\n"
	  "claim k1 o1 f1 g1 look -> ours 1\n"
	  "unknown k1 o1 1 -> written\n"
	  "claim k1 o2 f1 g1 look -> unknown 1\n"
	  "claim k1 o2 f1 g1 look over=o1 -> unknown 1\n"
	  "complete k1 o1 1 A -> written\n"
	  "claim k1 o2 f1 g1 look -> completed 1 A\n" },
	{ "a late claim wins nothing, but is told what is known", false,
	  "claim k1 o1 f1 g1 late -> late\n"
	  "show k1 -> absent\n"
	  "claim k1 o2 f1 g1 -> won 1\n"
	  "claim k1 o1 f1 g1 late -> in-progress 1\n"
	  "claim k1 o2 f1 g1 late -> ours 1\n"
	  "release k1 o2 1 -> written\n"
	  "claim k1 o1 f1 g1 late -> late 1\n"
	  "claim k1 o1 f1 g1 -> won 2\n"
	  "unknown k1 o1 2 -> written\n"
	  "claim k1 o3 f1 g1 over=o1 attempt=2 late -> late 2\n"
	  "claim k1 o3 f1 g1 over=o1 attempt=2 -> won 3\n" },
	{ "a call past its deadline is refused and changes nothing", false,
	  "claim k1 o1 f1 g1 overdue -> refused\n"
	  "show k1 -> absent\n"
	  "claim k1 o1 f1 g1 -> won 1\n"
	  "renew k1 o1 1 overdue -> maybe\n"
	  "complete k1 o1 1 A overdue -> refused\n"
	  "release k1 o1 1 overdue -> refused\n"
	  "unknown k1 o1 1 overdue -> refused\n"
	  "settle forget k1 o9 o1 1 overdue -> refused\n"
	  "list all overdue -> refused\n"
	  "sweep overdue -> refused\n"
	  "claim k1 o2 f1 g1 -> in-progress 1\n" },

	/* leases */
	{ "a lease says when, and its end gives the key to nobody", false,
	  "claim k1 o1 f1 g1 lease=500 -> won 1\n"
	  "show k1 -> in-progress 1 o1 lease 1500 expires 0 answer 0\n"
	  "boot +10000\n"
	  "claim k1 o2 f1 g1 -> in-progress 1\n"
	  "complete k1 o1 1 A -> written\n" },
	{ "a renewal moves the lease, for its owner and attempt alone", false,
	  "claim k1 o1 f1 g1 lease=500 -> won 1\n"
	  "boot +100\n"
	  "renew k1 o1 1 lease=500 -> renewed\n"
	  "show k1 -> in-progress 1 o1 lease 1600 expires 0 answer 0\n"
	  "renew k1 o2 1 -> lost\n"
	  "renew k1 o1 2 -> lost\n"
	  "renew k2 o1 1 -> lost\n"
	  "unknown k1 o1 1 -> written\n"
	  "renew k1 o1 1 -> lost\n"
	  "complete k1 o1 1 A -> written\n"
	  "renew k1 o1 1 -> lost\n" },

	/* COMPLETE */
	{ "a completed key gives its answer to every equal request", false,
	  "claim k1 o1 f1 g1 -> won 1\n"
	  "complete k1 o1 1 A -> written\n"
	  "claim k1 o2 f1 g1 -> completed 1 A\n"
	  "claim k1 o1 f1 g1 -> completed 1 A\n"
	  "show k1 -> completed 1 o1 lease 0 expires 1001000 answer 1\n" },
	{ "a completion repeated is written once: the first answer stays",
	  false,
	  "claim k1 o1 f1 g1 -> won 1\n"
	  "complete k1 o1 1 A -> written\n"
	  "wall +10\n"
	  "complete k1 o1 1 B -> written\n"
	  "claim k1 o2 f1 g1 -> completed 1 A\n"
	  "show k1 -> completed 1 o1 lease 0 expires 1001000 answer 1\n" },
	{ "only owner and attempt together complete", false,
	  "claim k1 o1 f1 g1 -> won 1\n"
	  "complete k1 o2 1 B -> lost\n"
	  "complete k1 o1 2 B -> lost\n"
	  "complete k2 o1 1 B -> lost\n"
	  "complete k1 o1 1 A -> written\n"
	  "complete k1 o2 1 B -> lost\n"
	  "claim k1 o2 f1 g1 -> completed 1 A\n" },
	{ "a late completion is taken from unknown", false,
	  "claim k1 o1 f1 g1 -> won 1\n"
	  "unknown k1 o1 1 -> written\n"
	  "complete k1 o1 1 A -> written\n"
	  "claim k1 o2 f1 g1 -> completed 1 A\n" },
	{ "an answer may be of any length", false,
	  "claim k1 o1 f1 g1 -> won 1\n"
	  "complete k1 o1 1 big:262144 -> written\n"
	  "claim k2 o1 f1 g1 -> won 1\n"
	  "complete k2 o1 1 big:262145 -> written\n"
	  "claim k3 o1 f1 g1 -> won 1\n"
	  "complete k3 o1 1 big:524288 -> written\n"
	  "claim k1 o2 f1 g1 -> completed 1 big:262144\n"
	  "claim k2 o2 f1 g1 -> completed 1 big:262145\n"
	  "settle forget k2 o9 o1 1 -> written\n"
	  "claim k4 o1 f1 g1 -> won 1\n"
	  "complete k4 o1 1 big:300000 -> written\n"
	  "claim k3 o2 f1 g1 -> completed 1 big:524288\n"
	  "claim k4 o2 f1 g1 -> completed 1 big:300000\n" },
	{ "an answer may be not kept, and short, and long", false,
	  "claim k1 o1 f1 g1 -> won 1\n"
	  "complete k1 o1 1 - -> written\n"
	  "claim k1 o2 f1 g1 -> completed 1 -\n"
	  "claim k2 o1 f1 g1 -> won 1\n"
	  "complete k2 o1 1 big:1024 -> written\n"
	  "claim k2 o2 f1 g1 -> completed 1 big:1024\n"
	  "claim k3 o1 f1 g1 -> won 1\n"
	  "complete k3 o1 1 big:1025 -> written\n"
	  "claim k3 o2 f1 g1 -> completed 1 big:1025\n"
	  "claim k4 o1 f1 g1 -> won 1\n"
	  "complete k4 o1 1 big:3000000 -> written\n"
	  "claim k4 o2 f1 g1 -> completed 1 big:3000000\n"
	  "show k4 -> completed 1 o1 lease 0 expires 1001000 answer 3000000\n"
	  "claim k2 o2 f1 g1 -> completed 1 big:1024\n" },

	/* RELEASE */
	{ "a released key is won again at the next attempt", false,
	  "claim k1 o1 f1 g1 -> won 1\n"
	  "release k1 o1 1 -> written\n"
	  "release k1 o1 1 -> written\n"
	  "claim k1 o2 f1 g1 -> won 2\n"
	  "release k1 o1 1 -> lost\n"
	  "complete k1 o1 1 A -> lost\n"
	  "complete k1 o2 2 B -> written\n"
	  "release k1 o2 2 -> lost\n" },
	{ "a ghost's release needs no attempt, and may find nothing", false,
	  "release k1 o1 0 -> written\n"
	  "show k1 -> absent\n"
	  "claim k1 o1 f1 g1 -> won 1\n"
	  "release k1 o2 0 -> lost\n"
	  "release k1 o1 0 -> written\n"
	  "claim k1 o2 f1 g1 -> won 2\n"
	  "release k1 o1 0 -> lost\n" },
	{ "an unknown key is released by its owner, who knows better", false,
	  "claim k1 o1 f1 g1 -> won 1\n"
	  "unknown k1 o1 1 -> written\n"
	  "release k1 o2 1 -> lost\n"
	  "release k1 o1 2 -> lost\n"
	  "release k1 o1 1 -> written\n"
	  "claim k1 o2 f1 g1 -> won 2\n" },

	/* UNKNOWN and take over */
	{ "unknown stays unknown for all who only claim", false,
	  "claim k1 o1 f1 g1 -> won 1\n"
	  "unknown k1 o2 1 -> lost\n"
	  "unknown k1 o1 2 -> lost\n"
	  "unknown k1 o1 1 -> written\n"
	  "unknown k1 o1 1 -> written\n"
	  "claim k1 o1 f1 g1 -> unknown 1\n"
	  "claim k1 o2 f1 g1 -> unknown 1\n"
	  "show k1 -> unknown 1 o1 lease 61000 expires 0 answer 0\n" },
	{ "what has ended is not made unknown", false,
	  "unknown k1 o1 1 -> lost\n"
	  "claim k1 o1 f1 g1 -> won 1\n"
	  "complete k1 o1 1 A -> written\n"
	  "unknown k1 o1 1 -> lost\n"
	  "claim k2 o1 f1 g1 -> won 1\n"
	  "release k2 o1 1 -> written\n"
	  "unknown k2 o1 1 -> lost\n" },
	{ "one taker takes over, and the first owner has lost "
	  "[race:11 race:15]", false,
	  "claim k1 o1 f1 g1 -> won 1\n"
	  "claim k1 o2 f1 g1 over=o1 -> in-progress 1\n"
	  "unknown k1 o1 1 -> written\n"
	  "claim k1 o2 f1 g1 over=o1 -> won 2\n"
	  "claim k1 o2 f1 g1 over=o1 -> ours 2\n"
	  "claim k1 o3 f1 g1 over=o1 -> in-progress 2\n"
	  "complete k1 o1 1 A -> lost\n"
	  "renew k1 o1 1 -> lost\n"
	  "release k1 o1 1 -> lost\n"
	  "unknown k1 o1 1 -> lost\n"
	  "complete k1 o2 2 B -> written\n"
	  "claim k1 o3 f1 g1 -> completed 2 B\n" },
	{ "a taker names owner and attempt, and stops at the last attempt",
	  false,
	  "claim k1 o1 f1 g1 -> won 1\n"
	  "unknown k1 o1 1 -> written\n"
	  "claim k1 o2 f1 g1 over=o3 -> unknown 1\n"
	  "claim k1 o2 f1 g1 over=o1 attempt=2 -> unknown 1\n"
	  "claim k1 o2 f1 g1 over=o1 max=1 -> exhausted 1\n"
	  "claim k1 o2 f1 g1 over=o1 max=2 -> won 2\n"
	  "unknown k1 o2 2 -> written\n"
	  "claim k1 o3 f1 g1 over=o2 attempt=2 max=2 -> exhausted 2\n"
	  "claim k1 o2 f1 g1 over=o1 max=3 -> ours 2\n"
	  "claim k1 o2 f1 g1 -> unknown 2\n" },
	{ "a take over of what is absent or released is a plain claim", false,
	  "claim k1 o2 f1 g1 over=o1 -> won 1\n"
	  "release k1 o2 1 -> written\n"
	  "claim k1 o3 f1 g1 over=o1 -> won 2\n" },

	/* SETTLE */
	{ "the operator's done completes an unknown key", false,
	  "claim k1 o1 f1 g1 -> won 1\n"
	  "unknown k1 o1 1 -> written\n"
	  "settle done k1 o9 o1 1 A -> written\n"
	  "settle done k1 o9 o1 1 A -> written\n"
	  "claim k1 o2 f1 g1 -> completed 1 A\n"
	  "complete k1 o1 1 B -> lost\n" },
	{ "the operator's done without an answer is not kept", false,
	  "claim k1 o1 f1 g1 -> won 1\n"
	  "settle done k1 o9 o1 1 - -> written\n"
	  "claim k1 o2 f1 g1 -> completed 1 -\n" },
	{ "the operator's not-done lets it run again, and fences the first",
	  false,
	  "claim k1 o1 f1 g1 -> won 1\n"
	  "settle not-done k1 o9 o1 1 -> written\n"
	  "settle not-done k1 o9 o1 1 -> written\n"
	  "renew k1 o1 1 -> lost\n"
	  "complete k1 o1 1 A -> lost\n"
	  "claim k1 o2 f1 g1 -> won 2\n" },
	{ "a forgotten key is a tombstone: never a run, never an answer",
	  false,
	  "claim k1 o1 f1 g1 -> won 1\n"
	  "complete k1 o1 1 big:2000 -> written\n"
	  "settle forget k1 o9 o1 1 -> written\n"
	  "settle forget k1 o9 o1 1 -> written\n"
	  "claim k1 o2 f1 g1 -> expired 1\n"
	  "claim k1 o2 f2 g2 -> expired 1\n"
	  "show k1 -> tombstone 1 o9 lease 0 expires 1005000 answer 0\n"
	  "complete k1 o1 1 A -> lost\n" },
	{ "forget takes every record, done and not-done only open ones", false,
	  "settle forget k1 o9 o1 1 -> lost\n"
	  "claim k1 o1 f1 g1 -> won 1\n"
	  "release k1 o1 1 -> written\n"
	  "settle done k1 o9 o1 1 A -> lost\n"
	  "settle not-done k1 o9 o1 1 -> lost\n"
	  "settle forget k1 o9 o1 1 -> written\n"
	  "settle done k1 o8 o9 1 A -> lost\n"
	  "claim k2 o1 f1 g1 -> won 1\n"
	  "complete k2 o1 1 A -> written\n"
	  "settle done k2 o9 o1 1 B -> lost\n"
	  "settle not-done k2 o9 o1 1 -> lost\n"
	  "settle forget k2 o9 o2 1 -> lost\n"
	  "settle forget k2 o9 o1 2 -> lost\n"
	  "claim k2 o2 f1 g1 -> completed 1 A\n"
	  "claim k3 o1 f1 g1 -> won 1\n"
	  "settle forget k3 o9 o1 1 -> written\n"
	  "claim k3 o1 f1 g1 -> expired 1\n" },
	{ "every word of the operator's that changes something is counted",
	  false,
	  "purges -> same\n"
	  "claim k1 o1 f1 g1 -> won 1\n"
	  "complete k1 o1 1 A -> written\n"
	  "purges -> same\n"
	  "settle forget k1 o9 o1 2 -> lost\n"
	  "purges -> same\n"
	  "settle forget k1 o9 o1 1 -> written\n"
	  "purges -> changed\n"
	  "claim k2 o1 f1 g1 -> won 1\n"
	  "settle done k2 o9 o1 1 A -> written\n"
	  "purges -> changed\n" },

	/* LIST */
	{ "a list has the states asked for, in the order of keys", false,
	  "claim k3 o1 f1 g1 -> won 1\n"
	  "claim k1 o1 f1 g1 -> won 1\n"
	  "claim k2 o1 f1 g1 -> won 1\n"
	  "claim k4 o1 f1 g1 -> won 1\n"
	  "unknown k2 o1 1 -> written\n"
	  "complete k4 o1 1 A -> written\n"
	  "list all -> k1 k2 k3 k4\n"
	  "list in-progress -> k1 k3\n"
	  "list unknown -> k2\n"
	  "list in-progress,unknown -> k1 k2 k3\n"
	  "list completed -> k4\n"
	  "list tombstone,issued -> \n" },
	{ "a list goes on after a key", false,
	  "claim k1 o1 f1 g1 -> won 1\n"
	  "claim k2 o1 f1 g1 -> won 1\n"
	  "claim k3 o1 f1 g1 -> won 1\n"
	  "list all rows=2 -> k1 k2 more\n"
	  "list all rows=2 after=k2 -> k3\n"
	  "list in-progress rows=2 after=k1 -> k2 k3 more\n"
	  "list in-progress after=k3 -> \n" },
};

const size_t store_rows_len = sizeof store_rows / sizeof *store_rows;
