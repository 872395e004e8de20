#!/bin/sh
# SPDX-License-Identifier: ISC
#
# idemsim check says of a stored history what the run said, whatever that was;
# and what is no history, or was cut or damaged, is refused with its line.

. "${top_srcdir:-$(dirname "$0")/..}/tests/idemsim.sh"

# --- the same verdict ----------------------------------------------------------

# scenario FILE FAULTS EXPECT: one key, asked for twice.
scenario() {
	cat >"$1.lua" <<END
local sim = require "idemsim"
sim.api(1)
return sim.scenario {
  name = "$1",
  modes = { "live" },
  topology = { gates = { n = 1, arbiter = "ledger", ledger = "shared",
                         config = { lease = "1s" } } },
  handler = sim.handler { effect = "append", service = sim.const(5) },
  load = { sim.script {
    { at = 0, client = "c1", send = { key = "k" } },
    { at = 600, client = "c2", send = { key = "k" } } } },
  faults = { $2 },
  heal = { quiet = 3000 },
  expect = { $3 },
}
END
}

# again FILE STATUS VERDICT SENTENCE: run, stored, and judged again.
again() {
	tries=0
	# What the machine holds up may be cut: then there is another run.
	while [ $tries -lt 5 ]; do
		tries=$((tries + 1))
		rm -rf "out-$1"
		timeout 120 "$idemsim" run --out "out-$1" "$1.lua" >tap 2>err
		got=$?
		[ "$3" != inconclusive ] &&
		    grep -q '^  verdict: inconclusive' tap || break
	done
	history=$(find "out-$1" -name history.jsonl)
	[ "$got" = "$2" ] && grep -q "^  verdict: $3" tap && [ -n "$history" ]
	ok $? "$4: $3"
	"$idemsim" check "$history" >out 2>err
	[ $? = "$2" ] && grep -q "^not ok 1 - " out &&
	    grep -q "^  verdict: $3" out
	ok $? 'and so does who reads its history'
}

never='sim.on(sim.label("g1", "effect.before", { nth = 9 }), sim.proc.kill("g1"))'
scenario mine '' 'holds = { "at_most_once",
    sim.invariant("mine", function(h) return false, "so it is" end) }'
scenario forever '' 'holds = { "at_most_once",
    sim.invariant("mine", function(h) while true do end end) }'
scenario sometimes '' 'holds = { "at_most_once" },
    sometimes = { once = function(h) return h:count { kind = "fault" } > 0 end }'
scenario idle "$never" 'holds = { "at_most_once" }'
scenario unexercised '' 'holds = { "at_most_once", "busy_honest" }'
scenario control '' 'violates = { "at_most_once" }'

again mine 1 fail "an invariant of the scenario's own does not hold"
again forever 2 inconclusive "one comes to no end"
again sometimes 2 vacuous 'it was never so'
again idle 2 vacuous 'a fault never happens'
again unexercised 2 vacuous 'an invariant is not put to the test'
again control 1 fail 'a control shows nothing'

# The history of the first, without what had a say.
history=$(find out-mine -name history.jsonl)
mv mine.lua elsewhere.lua
"$idemsim" check "$history" >out 2>err
[ $? = 2 ] && grep -q '^  verdict: inconclusive' out && grep -q 'is not here' err
ok $? 'a history whose scenario is not here is not passed'
sed 's/service = sim.const(5)/service = sim.const(6)/' elsewhere.lua >mine.lua
"$idemsim" check "$history" >out 2>err
[ $? = 2 ] && grep -q '^  verdict: inconclusive' out && grep -q 'has changed since' err
ok $? 'nor is one whose scenario has changed'
mkfifo pipe.lua
sed "1s|\"file\":\"[^\"]*\"|\"file\":\"$dir/pipe.lua\"|" "$history" >piped
timeout 20 "$idemsim" check piped >out 2>err
[ $? = 2 ] && grep -q 'is not here' err
ok $? 'and nobody waits for a pipe that is called like one'

# --- the same as it was ---------------------------------------------------------

good=$src/tests/histories
for name in clock-steps crash-at-reply-sent told-apart two-ask-at-once; do
	"$idemsim" check "$good/$name.jsonl" >out 2>err
	[ $? = 0 ] && grep -q "^ok 1 - " out
	ok $? "$name passes, as it did"
done
# Nothing has happened to the run before the second one of its key.
sed '11s/"e":"fault"/"e":"note"/; 35s/"e":"heal"/"e":"note"/
12s/"note":"lease_expired_running"/"note":"nothing"/' \
    "$good/wakes-up.jsonl" >twice
"$idemsim" check twice >out 2>err
[ $? = 0 ] && grep -q '^ok .* at_most_once did not hold, which is relaxed' out
ok $? 'what is relaxed is told of'
sed '1s/"relaxed":{[^}]*}/"relaxed":{}/
1s/"violates":\[\]/"violates":["at_most_once"]/
1s/"must":1/"must":0/' twice >control
"$idemsim" check control >out 2>err
[ $? = 0 ] && grep -q '^ok .* at_most_once: e' out
ok $? 'a negative control shows what it is to'
head -n 30 "$good/wakes-up.jsonl" >cut
"$idemsim" check cut >out 2>err
[ $? = 2 ] && grep -q '^  verdict: inconclusive' out
ok $? 'a history that was cut between two lines is not passed'

# --- what is none ----------------------------------------------------------------

# refused SENTENCE LINE PATTERN: the file "bad", with its line and why.
refused() {
	timeout 20 "$idemsim" check bad >out 2>err
	[ $? = 64 ] && grep -Eq "^idemsim: bad:$2: .*$3" err &&
	    grep -q '^not ok 1 - bad ' out
	ok $? "$1"
}

one=$good/told-apart.jsonl
head -c 3000 "$one" >bad
refused 'one that was cut within a line' '[0-9]+' 'column'
: >bad
refused 'an empty file' 1 'empty'
head -c 4000 /dev/zero >bad
refused 'a file of zeroes' 1 'column'
sed '1d' "$one" >bad
refused 'one without its head' 1 'no history'
sed '1s/"fmt":1/"fmt":2/' "$one" >bad
refused 'one of another format' 1 'its format is 2'
sed '1s/"holds":\[/"holds":["nonsense",/' "$one" >bad
refused 'one that claims what nobody knows' 1 'nonsense'
sed '1s/"holds":\[[^]]*\]/"holds":"at_most_once"/' "$one" >bad
refused 'one whose claims are no list' 1 '"holds" is not a list'
sed '1s/"violates":\[\]/"violates":7/' "$one" >bad
refused 'one whose controls are no list' 1 '"violates" is not a list'
sed '1s/"relaxed":{}/"relaxed":["x"]/' "$one" >bad
refused 'one whose reasons are no object' 1 '"relaxed" is not an object'
sed '1s/"faults":\[/"faults":[7,/' "$one" >bad
refused 'one with a fault that is a number' 1 'a fault is an object'
sed '5s/"t":[0-9]*/"t":1/' "$one" >bad
refused 'one in which time goes back' 5 'its time'
sed '7d' "$one" >bad
refused 'one in which a line is missing' 7 '"i" is 7'
sed '8s/"e":"[a-z]*"/"e":"nothing"/' "$one" >bad
refused 'one with an event that is none' 8 'there is no event'
sed '10s/"class":"[a-z]*"/"class":"fine"/' "$one" >bad
refused 'one with a class that is none' 10 '"class" is not one of'
sed '4s/"a":[0-9]*/"a":99999999999/' "$one" >bad
refused 'one with a number that is too large' 4 'out of range'
sed '1s/"holds":\[[^]]*\],//' "$one" >unclaimed
"$idemsim" check unclaimed >out 2>err
[ $? = 2 ] && grep -q '^not ok .* nothing was to hold' out
ok $? 'one that claims nothing is not passed'

echo "1..$count"
exit "$failed"
