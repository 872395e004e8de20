#!/bin/sh
# SPDX-License-Identifier: ISC
#
# What --keep keeps of test points that pass, that an interrupt is no verdict,
# and that nothing is left behind of a run that could not be.

. "${top_srcdir:-$(dirname "$0")/..}/tests/idemsim.sh"

# scenario NAME SERVICE-MS CLIENTS
scenario() {
	cat <<-END
	local sim = require "idemsim"
	sim.api(1)
	return sim.scenario {
	  name = "$1",
	  modes = { "live" },
	  topology = { gates = { arbiter = "ledger",
	    config = { lease = "60s" } } },
	  handler = sim.handler { service = sim.const($2) },
	  load = { sim.storm { clients = $3, keys = sim.keys { n = 1 } } },
	  heal = { quiet = 60000 },
	  expect = { holds = { "at_most_once" }, eventually = { "resolves" } },
	  explore = { live = { runs = 3 } },
	}
	END
}

scenario good 5 2 >good.lua
scenario slow 5000 2 >slow.lua
scenario many 300 60 >many.lua

# A run may be cut where the machine is held up: then all of it once more.
tries=0
got=2
while [ $got = 2 ] && [ $tries -lt 5 ]; do
	rm -rf kept idemsim-out
	tries=$((tries + 1))
	"$idemsim" run --keep kept good.lua >out 2>err
	got=$?
done
ok $got "a scenario passes"
[ -s kept/001-logs/history.jsonl ] && [ -s kept/001-logs/g1-log ]
ok $? "its history is kept beside its logs"
[ "$(ls kept)" = 001-logs ]
ok $? "once, however many runs there were"
"$idemsim" check kept/001-logs/history.jsonl >out 2>err
ok $? "and it is judged again as it was"
[ ! -e idemsim-out ]
ok $? "nothing else is"

"$idemsim" run slow.lua >out 2>err &
pid=$!
# Its program is there when the journal has a line.
tries=0
until grep -qs begin tmp/*/*/effects || [ $tries -gt 2000 ]; do
	sleep 0.02
	tries=$((tries + 1))
done
kill -INT $pid
wait $pid
[ $? = 130 ]
ok $? "an interrupt ends it with 130"
! grep -Eq '^(not )?ok' out
ok $? "and without a verdict on what was cut"

(
	ulimit -n 40
	exec "$idemsim" run many.lua
) >out 2>err
[ $? = 2 ] && grep -q 'inconclusive: .*a client could not connect: EMFILE' out
ok $? "without descriptors a run is inconclusive, and says so"

[ -z "$(ls tmp)" ]
ok $? "of none of these anything is left in the folder for runs"

echo "1..$count"
exit $failed
