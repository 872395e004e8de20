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

# A value that a parameter has only in that run, and functions of one's own.
one='sim.invariant("one", function(h) return #h:effects("k1") == 1 end)'
sed "s/^return/local ms = sim.param(\"ms\", 5) &/; s/sim.const(5)/sim.const(ms)/
    s/holds = {/& $one,/" good.lua >own.lua
tries=0
got=2
while [ $got = 2 ] && [ $tries -lt 5 ]; do
	rm -rf own
	tries=$((tries + 1))
	"$idemsim" run --keep own --param ms=7 own.lua >out 2>err
	got=$?
done
ok $got "one with a parameter and a function of its own passes"
"$idemsim" check own/001-logs/history.jsonl >out 2>err
ok $? "and is judged again with both"

# A program of the user's writes whatever it likes into the journal: here what
# idemsim's own has written, and something else of it.
cat >odd.cgi <<-END
	#!/bin/sh
	"$build/idemsim-program"
	awk -v does="\$(cat "$dir/does")" '
	\$2 == "begin" { begin = \$0 }
	\$2 == "commit" { commit = \$0 }
	function put(line, field, with,  word) {
		split(line, word, " ")
		word[field] = with
		line = word[1]
		for (field = 2; field <= 12; field++)
			line = line " " word[field]
		print line
	}
	END {
		if (does == "that begins twice") print begin
		if (does == "that commits twice") print commit
		if (does == "of another clock")
			put(commit, 1, "1700000000000000000")
		if (does == "with a long line")
			put(commit, 12, sprintf("%05000d", 1))
		if (does == "that is cut") printf "%s", commit
		if (does == "with bytes that are no text") {
			put(begin, 3, "x\\376" NR)
			put(begin, 3, "x\\377" NR)
		}
	}' "\$IDEMSIM_EFFECTS" >"$dir/more"
	cat "$dir/more" >>"\$IDEMSIM_EFFECTS"
END
chmod +x odd.cgi
command="effect = \"external\", command = \"$dir/odd.cgi\""
scenario odd 5 2 | sed "s|service = [^}]*|$command |
    s/holds = {[^}]*}/holds = { \"same_answer\" }/" >odd.lua
told='^  message: .*/effects: line'
for does in 'as it should be:0' 'with bytes that are no text:0' \
    'that begins twice:2told' 'that commits twice:2told' \
    'of another clock:2told' 'with a long line:2told' \
    'that is cut:2told'; do
	wanted=${does#*:}
	echo "${does%:*}" >does
	tries=0
	ran=1
	said=
	while [ "$ran${said:+told}" != "$wanted" ] && [ $tries -lt 5 ]; do
		rm -rf odd
		tries=$((tries + 1))
		"$idemsim" run --runs 1 --out odd/out --keep odd odd.lua \
		    >out 2>err
		ran=$?
		said=$(grep "$told" out)
	done
	[ "$ran${said:+told}" = "$wanted" ]
	ok $? "a journal ${does%:*} ends with ${wanted%told}"
	"$idemsim" check odd/001-logs/history.jsonl >out 2>err
	[ $? = $ran ] && [ "$(grep "$told" out)" = "$said" ]
	ok $? "and so does its history"
done

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

# Its clients or its instance, whoever has none first.
clients='a client could not connect: EMFILE'
instance='g1: it can open no more files'
(
	ulimit -n 40
	exec "$idemsim" run many.lua
) >out 2>err
[ $? = 2 ] && grep -Eq "inconclusive: .*($clients|$instance)" out
ok $? "without descriptors a run is inconclusive, and says so"

[ -z "$(ls tmp)" ]
ok $? "of none of these anything is left in the folder for runs"

echo "1..$count"
exit $failed
