/* SPDX-License-Identifier: ISC */
#include "store_rows.h"

/* Of times: what is swept, what a clock that is set does, tokens. */
const struct store_row store_rows_timed[] = {
	/* SWEEP */
	{ "a key that ends with its answer is nobody's after it, but not "
	  "before",
	  false,
	  "claim k1 o1 f1 g1 anew -> won 1\n"
	  "complete k1 o1 1 A keep=1000 tombstone=5000 -> written\n"
	  "wall +999\n"
	  "claim k1 o2 f1 g1 anew -> completed 1 A\n"
	  "wall +1\n"
	  "claim k1 o2 f1 g1 -> completed 1 A\n"
	  "claim k1 o2 f1 g1 anew look -> absent\n"
	  "claim k1 o2 f2 g2 anew -> won 1\n"
	  "complete k1 o1 1 B -> lost\n"
	  "complete k1 o2 1 C keep=1000 -> written\n"
	  "claim k1 o3 f2 g2 -> completed 1 C\n" },
	{ "of such a key a tombstone stops nobody either", false,
	  "claim k1 o1 f1 g1 anew -> won 1\n"
	  "complete k1 o1 1 A keep=1000 tombstone=5000 -> written\n"
	  "wall +1000\n"
	  "sweep -> 1\n"
	  "claim k1 o2 f1 g1 -> expired 1\n"
	  "claim k1 o2 f1 g1 anew -> won 1\n"
	  "unknown k1 o2 1 -> written\n"
	  "claim k1 o3 f1 g1 anew -> unknown 1\n" },
	{ "a sweep makes tombstones of what was kept long enough", false,
	  "claim k1 o1 f1 g1 -> won 1\n"
	  "complete k1 o1 1 big:5000 keep=1000 tombstone=5000 -> written\n"
	  "wall +999\n"
	  "sweep -> 0\n"
	  "claim k1 o2 f1 g1 -> completed 1 big:5000\n"
	  "wall +1\n"
	  "sweep -> 1\n"
	  "claim k1 o2 f1 g1 -> expired 1\n"
	  "show k1 -> tombstone 1 o1 lease 0 expires 1006000 answer 0\n"
	  "complete k1 o1 1 A -> written\n"
	  "claim k1 o2 f1 g1 -> expired 1\n"
	  "wall +4999\n"
	  "sweep -> 0\n"
	  "wall +1\n"
	  "sweep -> 1\n"
	  "claim k1 o2 f1 g1 -> won 1\n" },
	{ "a sweep deletes released records in time, and no sooner", false,
	  "claim k1 o1 f1 g1 -> won 1\n"
	  "release k1 o1 1 tombstone=300 -> written\n"
	  "claim k2 o1 f1 g1 -> won 1\n"
	  "release k2 o1 1 tombstone=300 -> written\n"
	  "claim k2 o2 f1 g1 -> won 2\n"
	  "wall +299\n"
	  "sweep -> 0\n"
	  "wall +1\n"
	  "sweep -> 1\n"
	  "list all -> k2\n" },
	{ "no sweep ever touches what is in progress or unknown", false,
	  "claim k1 o1 f1 g1 lease=1 -> won 1\n"
	  "claim k2 o1 f1 g1 lease=1 -> won 1\n"
	  "unknown k2 o1 1 -> written\n"
	  "boot +100000000\n"
	  "wall +100000000000\n"
	  "sweep -> 0\n"
	  "claim k1 o2 f1 g1 -> in-progress 1\n"
	  "claim k2 o2 f1 g1 -> unknown 1\n" },
	{ "the boot clock moves no retention, the wall clock no lease", false,
	  "claim k1 o1 f1 g1 -> won 1\n"
	  "complete k1 o1 1 A -> written\n"
	  "boot +1000000000\n"
	  "sweep -> 0\n"
	  "claim k2 o1 f1 g1 lease=7 -> won 1\n"
	  "wall +5\n"
	  "renew k2 o1 1 lease=7 -> renewed\n"
	  "show k2 -> in-progress 1 o1 lease 1000001007 expires 0 answer 0\n" },
	{ "a sweep takes as many rows as it was told", false,
	  "claim k1 o1 f1 g1 -> won 1\n"
	  "claim k2 o1 f1 g1 -> won 1\n"
	  "claim k3 o1 f1 g1 -> won 1\n"
	  "complete k1 o1 1 A -> written\n"
	  "complete k2 o1 1 A -> written\n"
	  "complete k3 o1 1 A -> written\n"
	  "wall +1000\n"
	  "sweep rows=2 -> 2 more\n"
	  "sweep rows=2 -> 1\n"
	  "list tombstone -> k1 k2 k3\n" },

	{ "short of room, a sweep takes answers before their keep is over, and "
	  "leaves the tombstone its whole life [idem:B12 idem:B13]", false,
	  "claim k1 o1 f1 g1 -> won 1\n"
	  "complete k1 o1 1 A keep=10000 tombstone=5000 -> written\n"
	  "wall +299\n"
	  "sweep shrink=300 -> 0\n"
	  "wall +1\n"
	  "sweep -> 0\n"
	  "claim k1 o2 f1 g1 -> completed 1 A\n"
	  "sweep shrink=300 -> 1\n"
	  "claim k1 o2 f1 g1 -> expired 1\n"
	  "complete k1 o1 1 B -> written\n"
	  "claim k1 o2 f1 g1 -> expired 1\n"
	  "show k1 -> tombstone 1 o1 lease 0 expires 1015000 answer 0\n"
	  "wall +14699\n"
	  "sweep shrink=1 -> 0\n"
	  "claim k1 o2 f1 g1 -> expired 1\n"
	  "wall +1\n"
	  "sweep -> 1\n"
	  "claim k1 o2 f1 g1 -> won 1\n" },
	{ "of a key that ends with its answer, an answer that goes early is no "
	  "end", false,
	  "claim k1 o1 f1 g1 anew -> won 1\n"
	  "complete k1 o1 1 A keep=1000 tombstone=5000 -> written\n"
	  "wall +300\n"
	  "sweep shrink=300 -> 1\n"
	  "claim k1 o2 f1 g1 anew -> expired 1\n"
	  "wall +699\n"
	  "claim k1 o2 f1 g1 anew -> expired 1\n"
	  "wall +1\n"
	  "claim k1 o2 f2 g2 anew -> won 1\n" },
	{ "short of room, what has no answer is left alone, and what is kept "
	  "for ever is not", false,
	  "claim k1 o1 f1 g1 -> won 1\n"
	  "claim k2 o1 f1 g1 -> won 1\n"
	  "unknown k2 o1 1 -> written\n"
	  "claim k3 o1 f1 g1 -> won 1\n"
	  "release k3 o1 1 -> written\n"
	  "issue k4 o1 keep=4000 -> written\n"
	  "claim k5 o1 f1 g1 -> won 1\n"
	  "complete k5 o1 1 big:500000 keep=9223372036854775807"
	  " tombstone=9223372036854775807 -> written\n"
	  "wall +3000\n"
	  "claim k5 o2 f1 g1 -> completed 1 big:500000\n"
	  "sweep shrink=1 rows=1 -> 1 more\n"
	  "list tombstone -> k5\n"
	  "list in-progress -> k1\n"
	  "list unknown -> k2\n"
	  "list issued -> k3 k4\n"
	  "claim k5 o2 f1 g1 -> expired 1\n" },
	{ "short of room, rows that were too young once are found later", false,
	  "claim k1 o1 f1 g1 -> won 1\n"
	  "claim k2 o1 f1 g1 -> won 1\n"
	  "claim k3 o1 f1 g1 -> won 1\n"
	  "complete k3 o1 1 A keep=10000 -> written\n"
	  "sweep shrink=100 -> 0\n"
	  "complete k1 o1 1 A keep=10000 -> written\n"
	  "wall +100\n"
	  "complete k2 o1 1 A keep=10000 -> written\n"
	  "sweep shrink=100 -> 2\n"
	  "list tombstone -> k1 k3\n"
	  "wall +99\n"
	  "sweep shrink=100 -> 0\n"
	  "wall +1\n"
	  "sweep shrink=100 -> 1\n"
	  "claim k4 o1 f1 g1 -> won 1\n"
	  "complete k4 o1 1 A keep=10000 -> written\n"
	  "sweep shrink=100 -> 0\n"
	  "wall +100\n"
	  "sweep shrink=100 -> 1\n"
	  "sweep shrink=100 -> 0\n" },
	{ "short of room or not, what is past its keep is swept once", false,
	  "claim k1 o1 f1 g1 -> won 1\n"
	  "complete k1 o1 1 big:500000 keep=1000 -> written\n"
	  "claim k2 o1 f1 g1 -> won 1\n"
	  "complete k2 o1 1 A keep=9000 -> written\n"
	  "wall +2000\n"
	  "sweep shrink=1500 -> 2\n"
	  "sweep shrink=1500 -> 0\n"
	  "list tombstone -> k1 k2\n" },

	/* The wall clock is set. */
	{ "an hour forward shortens a keep by an hour at most, and no lease "
	  "[idem:F4]", false,
	  "claim k1 o1 f1 g1 lease=5000 -> won 1\n"
	  "claim k2 o1 f1 g1 -> won 1\n"
	  "complete k2 o1 1 A keep=3600001 -> written\n"
	  "wall +3600000\n"
	  "left k1 o2 f1 g1 -> 5000\n"
	  "claim k1 o2 f1 g1 -> in-progress 1\n"
	  "boot +4000\n"
	  "left k1 o2 f1 g1 -> 1000\n"
	  "renew k1 o1 1 lease=5000 -> renewed\n"
	  "left k1 o2 f1 g1 -> 5000\n"
	  "sweep -> 0\n"
	  "claim k2 o2 f1 g1 -> completed 1 A\n"
	  "wall +1\n"
	  "sweep -> 1\n"
	  "claim k1 o2 f1 g1 over=o1 -> in-progress 1\n"
	  "complete k1 o1 1 B keep=1000 -> written\n"
	  "claim k1 o2 f1 g1 -> completed 1 B\n" },
	{ "an hour back lengthens a keep by an hour at most, and no lease "
	  "[idem:F4]", false,
	  "wall +3600000\n"
	  "claim k1 o1 f1 g1 lease=5000 -> won 1\n"
	  "claim k2 o1 f1 g1 -> won 1\n"
	  "complete k2 o1 1 A keep=1000 -> written\n"
	  "wall -3600000\n"
	  "left k1 o2 f1 g1 -> 5000\n"
	  "boot +4999\n"
	  "left k1 o2 f1 g1 -> 1\n"
	  "renew k1 o1 1 lease=5000 -> renewed\n"
	  "left k1 o2 f1 g1 -> 5000\n"
	  "wall +3600999\n"
	  "sweep -> 0\n"
	  "claim k2 o2 f1 g1 -> completed 1 A\n"
	  "wall +1\n"
	  "sweep -> 1\n"
	  "claim k2 o2 f1 g1 -> expired 1\n" },
	{ "a completion between two settings of the clock is kept from its own "
	  "time on", false,
	  "claim k1 o1 f1 g1 -> won 1\n"
	  "wall +3600000\n"
	  "complete k1 o1 1 A keep=1000 tombstone=5000 -> written\n"
	  "show k1 -> completed 1 o1 lease 0 expires 4601000 answer 1\n"
	  "wall -3600000\n"
	  "sweep -> 0\n"
	  "sweep shrink=1 -> 0\n"
	  "claim k1 o2 f1 g1 -> completed 1 A\n"
	  "wall +3600001\n"
	  "sweep shrink=1 -> 1\n"
	  "claim k1 o2 f1 g1 -> expired 1\n" },

	/* tokens of ours */
	{ "an issued key is a record at attempt 0, with a life of its own",
	  false,
	  "issue k1 o1 keep=700 -> written\n"
	  "show k1 -> issued 0 o1 lease 0 expires 1000700 answer 0\n" },
	{ "a key is issued once, whatever became of it since", false,
	  "issue k1 o1 -> written\n"
	  "issue k1 o2 -> lost\n"
	  "claim k1 o3 f1 g1 issued -> won 1\n"
	  "issue k1 o1 -> lost\n"
	  "issue k1 o3 -> lost\n"
	  "unknown k1 o3 1 -> written\n"
	  "issue k1 o3 -> lost\n"
	  "complete k1 o3 1 A -> written\n"
	  "issue k1 o3 -> lost\n"
	  "settle forget k1 o9 o3 1 -> written\n"
	  "issue k1 o9 -> lost\n"
	  "claim k2 o1 f1 g1 -> won 1\n"
	  "release k2 o1 1 -> written\n"
	  "issue k2 o1 -> lost\n"
	  "claim k2 o1 f2 g1 -> mismatch 1\n" },
	{ "an issue whose answer was lost may be repeated, and changes nothing",
	  false,
	  "issue k1 o1 keep=700 -> written\n"
	  "wall +10\n"
	  "issue k1 o1 keep=700 -> written\n"
	  "show k1 -> issued 0 o1 lease 0 expires 1000700 answer 0\n" },
	{ "an issue past its deadline issues nothing", false,
	  "issue k1 o1 overdue -> refused\n"
	  "claim k1 o1 f1 g1 issued -> no-token\n" },
	{ "a token starts once, and then is a key as any other", false,
	  "issue k1 o1 -> written\n"
	  "claim k1 o2 f1 g1 issued look -> absent 0\n"
	  "claim k1 o2 f1 g1 issued -> won 1\n"
	  "claim k1 o2 f1 g1 issued -> ours 1\n"
	  "claim k1 o3 f1 g1 issued -> in-progress 1\n"
	  "claim k1 o3 f2 g1 issued -> mismatch 1\n"
	  "claim k1 o3 f1 g2 issued -> withheld 1\n"
	  "complete k1 o2 1 A -> written\n"
	  "claim k1 o3 f1 g1 issued -> completed 1 A\n"
	  "show k1 -> completed 1 o2 lease 0 expires 1001000 answer 1\n" },
	{ "a token that was never issued never starts [race:3]", false,
	  "claim k1 o1 f1 g1 issued -> no-token\n"
	  "claim k1 o1 f1 g1 issued look -> no-token\n"
	  "claim k1 o1 f1 g1 issued late -> no-token\n"
	  "claim k1 o1 f1 g1 issued history=other -> no-token\n"
	  "show k1 -> absent\n" },
	{ "a token of another history never starts [race:5 race:18]", false,
	  "issue k1 o1 -> written\n"
	  "claim k1 o2 f1 g1 issued history=other -> history 0\n"
	  "show k1 -> issued 0 o1 lease 0 expires 1001000 answer 0\n"
	  "claim k1 o2 f1 g1 issued history=other look -> absent 0\n"
	  "claim k1 o2 f1 g1 issued history=other late -> late 0\n"
	  "claim k1 o2 f1 g1 issued -> won 1\n" },
	{ "a released token starts again in its history only", false,
	  "issue k1 o1 -> written\n"
	  "claim k1 o2 f1 g1 issued -> won 1\n"
	  "release k1 o2 1 -> written\n"
	  "claim k1 o3 f2 g1 issued history=other -> mismatch 1\n"
	  "claim k1 o3 f1 g1 issued history=other -> history 1\n"
	  "claim k1 o3 f1 g1 issued -> won 2\n" },
	{ "what is known of a token is told in any history", false,
	  "issue k1 o1 -> written\n"
	  "claim k1 o2 f1 g1 issued -> won 1\n"
	  "claim k1 o2 f1 g1 issued history=other -> ours 1\n"
	  "claim k1 o3 f1 g1 issued history=other -> in-progress 1\n"
	  "unknown k1 o2 1 -> written\n"
	  "claim k1 o3 f1 g1 issued history=other -> unknown 1\n"
	  "complete k1 o2 1 A -> written\n"
	  "claim k1 o3 f1 g1 issued history=other -> completed 1 A\n"
	  "settle forget k1 o9 o2 1 -> written\n"
	  "claim k1 o3 f1 g1 issued history=other -> expired 1\n" },
	{ "a forgotten token is a tombstone, used or not", false,
	  "issue k1 o1 -> written\n"
	  "settle forget k1 o9 o1 0 -> written\n"
	  "claim k1 o2 f1 g1 issued -> expired 0\n" },
	{ "a strict take over is for the history of the last start [race:4]",
	  false,
	  "issue k1 o1 -> written\n"
	  "claim k1 o2 f1 g1 issued strict -> won 1\n"
	  "unknown k1 o2 1 -> written\n"
	  "claim k1 o3 f1 g1 issued strict history=other over=o2 -> history 1\n"
	  "claim k1 o3 f1 g1 issued strict history=other over=o4 -> unknown 1\n"
	  "claim k1 o3 f1 g1 issued strict history=other over=o2 max=1"
	  " -> exhausted 1\n"
	  "claim k1 o3 f1 g1 issued strict history=other over=o2 late"
	  " -> late 1\n"
	  "claim k1 o3 f1 g1 issued strict over=o2 -> won 2\n"
	  "unknown k1 o3 2 -> written\n"
	  "claim k1 o4 f1 g1 issued history=other over=o3 attempt=2 -> won 3\n"
	},
	{ "a strict completion is for the history of the last start [race:21]",
	  false,
	  "issue k1 o1 -> written\n"
	  "claim k1 o2 f1 g1 issued strict -> won 1\n"
	  "complete k1 o2 1 A strict history=other -> lost\n"
	  "unknown k1 o2 1 -> written\n"
	  "complete k1 o2 1 A strict history=other -> lost\n"
	  "complete k1 o2 1 A strict -> written\n"
	  "complete k1 o2 1 B strict history=other -> written\n"
	  "claim k1 o3 f1 g1 issued -> completed 1 A\n" },
	{ "who demands no history is asked for none", false,
	  "issue k1 o1 -> written\n"
	  "claim k1 o2 f1 g1 history=other -> won 1\n"
	  "complete k1 o2 1 A history=other -> written\n" },
	{ "a sweep deletes tokens that were not used in time, and no sooner",
	  false,
	  "issue k1 o1 keep=300 -> written\n"
	  "issue k2 o1 keep=300 -> written\n"
	  "claim k2 o2 f1 g1 issued -> won 1\n"
	  "wall +299\n"
	  "sweep -> 0\n"
	  "wall +1\n"
	  "sweep -> 1\n"
	  "list all -> k2\n"
	  "claim k1 o2 f1 g1 issued -> no-token\n" },

	/* stores that last */
	{ "a token issued before a restart starts after it", true,
	  "issue k1 o1 -> written\n"
	  "restart\n"
	  "claim k2 o2 f1 g1 issued -> no-token\n"
	  "claim k1 o2 f1 g1 issued -> won 1\n" },
	{ "a restart keeps everything", true,
	  "claim k1 o1 f1 g1 -> won 1\n"
	  "claim k2 o1 f1 g1 -> won 1\n"
	  "unknown k2 o1 1 -> written\n"
	  "claim k3 o1 f1 g1 -> won 1\n"
	  "complete k3 o1 1 big:70000 -> written\n"
	  "claim k4 o1 f1 g1 -> won 1\n"
	  "release k4 o1 1 -> written\n"
	  "claim k5 o1 f1 g1 -> won 1\n"
	  "settle forget k5 o9 o1 1 -> written\n"
	  "restart\n"
	  "show k1 -> in-progress 1 o1 lease 61000 expires 0 answer 0\n"
	  "claim k1 o1 f1 g1 -> ours 1\n"
	  "claim k2 o2 f1 g1 -> unknown 1\n"
	  "claim k3 o2 f1 g1 -> completed 1 big:70000\n"
	  "claim k3 o2 f2 g1 -> mismatch 1\n"
	  "claim k4 o2 f1 g1 -> won 2\n"
	  "claim k5 o2 f1 g1 -> expired 1\n"
	  "complete k1 o1 1 B -> written\n" },
	{ "the purge count outlives a restart", true,
	  "claim k1 o1 f1 g1 -> won 1\n"
	  "settle forget k1 o9 o1 1 -> written\n"
	  "purges -> changed\n"
	  "restart\n"
	  "purges -> same\n" },
	{ "a claim of another boot stays, with its boot's lease", true,
	  "claim k1 o1 f1 g1 -> won 1\n"
	  "reboot\n"
	  "claim k1 o2 f1 g1 -> in-progress 1\n"
	  "show k1 -> in-progress 1 o1 lease 61000 expires 0 answer 0\n"
	  "unknown k1 o1 1 -> written\n"
	  "claim k1 o2 f1 g1 over=o1 -> won 2\n"
	  "show k1 -> in-progress 2 o2 lease 60000 expires 0 answer 0\n" },
};

const size_t store_rows_timed_len =
    sizeof store_rows_timed / sizeof *store_rows_timed;
