#!/bin/sh
# SPDX-License-Identifier: ISC
#
# idemsim's commands, options, output and exit statuses.

. "${top_srcdir:-$(dirname "$0")/..}/tests/idemsim.sh"

# run STATUS SENTENCE ARGUMENT...: it ends so.
run() {
	want=$1
	sentence=$2
	shift 2
	timeout 120 "$idemsim" "$@" >out 2>err
	got=$?
	[ "$got" = "$want" ]
	ok $? "$sentence"
}

has() {
	grep -Eq -- "$2" "$1"
	ok $? "$3"
}

# scenario FILE NAME FAULTS EXPECT
scenario() {
	cat >"$1" <<END
local sim = require "idemsim"
sim.api(1)
return sim.scenario {
  name = "$2",
  modes = { "live" },
  topology = { redis = { a = {} },
    gates = { n = 2, arbiter = "redis", store = "a",
      config = { store_timeout = "20s", budget = "40s" } } },
  handler = sim.handler { effect = "append", service = sim.const(10) },
  load = { sim.script {
    { at = 0, client = "c1", timeout = 60000,
      send = { key = "k", to = "g1" } },
    { at = 300, client = "c2", timeout = 60000,
      send = { key = "k", to = "g2" } } } },
  faults = { $3 },
  heal = { quiet = 3000 },
  expect = { $4 },
}
END
}

# However late c1 has its answer, c2 is heard only when that is forgotten.
flush='sim.on(sim.at(0), sim.proc.pause("g2")),
    sim.on(sim.reply("c1"), sim.store.flush("a"), sim.proc.resume("g2"))'
scenario good.lua 'all is well' '' 'holds = { "at_most_once" }'
scenario bad.lua 'it forgets' "$flush" 'holds = { "at_most_once" }'
scenario idle.lua 'nothing happens' \
    'sim.on(sim.label("g1", "effect.before", { nth = 9 }), sim.proc.kill("g1"))' \
    'holds = { "at_most_once" }'
scenario late.lua 'they wait' '' \
    'holds = { "storm_bounded" }, bounds = { queue_depth = 0 }'
echo 'local sim = require "idemsim" sim.api(1)
return sim.scenario { nam = "x" }' >wrong.lua

# --- words -------------------------------------------------------------------

run 0 'help is given' --help
has out '^usage: idemsim' 'help is on standard output'
run 0 'the version is told' --version
for command in run list explain check render matrix; do
	run 0 "help of $command is given" $command --help
	has out "^usage: idemsim \\[?$command\\]? " 'and is of that command'
done
! grep -q -e --junit out && grep -q -e --html out
ok $? "it has the command's options and no others"
run 64 'an unknown option is wrong use' --nonsense
has err '^idemsim: ' 'which idemsim says'
# An option that would do nothing must not look as if it did.
for line in 'list --junit x' 'explain --runs 2' 'check --quick' \
    'render --tap 13' 'matrix --junit x' 'run --html x'; do
	run 64 "an option of others is wrong use: $line" $line good.lua
	has err "is no option of ${line%% *}, but of" 'and which they are'
done
[ ! -e x ]
ok $? 'nothing is written for it'
for command in run matrix; do
	run 64 'few runs and two are two things' $command --quick --runs 2 \
	    good.lua
	has err '^idemsim: --quick --runs: it says how many runs; leave one' \
	    "of which one is left out of $command"
done
run 64 'an option without its value is wrong use' run --runs
run 64 'an empty value is wrong use' run --out '' good.lua
run 64 'a parameter is given once' list --param a=1 --param a=2 good.lua
run 64 'a number has one base' run --seed 0x good.lua
for place in '--junit no/j.xml' '--json .' '--out good.lua' \
    '--keep good.lua/k'; do
	run 64 "what cannot be written is wrong use: $place" run $place \
	    good.lua
	[ ! -s out ] && grep -q -e "$place: .*; name a " err
	ok $? 'which is told before anything is run'
done
run 64 'no scenario is wrong use' run
run 64 'a number that is none is wrong use' run --runs many good.lua
run 64 'a time without its unit is wrong use' run --wall 10 good.lua
run 64 'a scenario that is not there is wrong' run missing.lua
run 64 'a scenario with an unknown word is wrong' run wrong.lua
has err 'wrong.lua:[0-9]+: ' 'file and line of a mistake are told'
run 64 'no point that fits is wrong use' run --only 'no such*' good.lua
run 0 'points are listed' list good.lua bad.lua
has out 'all is well' 'a list has their names'
run 0 'a scenario is explained' explain good.lua
has out 'all is well' 'an explanation has its name'
run 64 'a history that is none is refused' check good.lua
has out '^not ok 1 ' 'and is not ok'
told=$src/tests/histories/told-apart.jsonl
run 0 'one of a run is judged' check "$told"
sed '/"e":"inv","a":1,/p' "$told" | awk '
    NR > 1 { sub(/"i":[0-9]+/, "\"i\":" NR - 1) } { print }' >twice.jsonl
run 64 'one that no run can have had is refused' check twice.jsonl
has err '^idemsim: twice.jsonl:5: try 1 is sent twice: ' \
    'and it is told where that shows'
has out '^not ok 1 .* inconclusive' 'nothing is said of what it holds'
run 64 'so is one that is not there' render none.jsonl
run 64 'one history is drawn at a time' render
sed 's/"live"/"model"/' good.lua >model.lua
run 0 'a point of the model only is passed over' run model.lua
has out '^ok 1 - all is well.* # SKIP it is of the model only, ' \
    'it is no pass, and why is told'
has out '^# nothing was run: all test points were skipped .1.; --require' \
    'a run of none but such says so'
has err '^idemsim: nothing was run: ' 'on standard error too'
run 2 'and where live is required it is none' run --require live model.lua
has err '^idemsim: nothing was run: all test points were skipped .1.$' \
    'which it says'
run 0 'it is explained' explain model.lua
has out 'it is skipped' 'which tells that, too'
run 64 'a model cannot be required' run --require model good.lua
has err 'there is no other world' 'as there is none'

# --- standard output ---------------------------------------------------------

# told STATUS SENTENCE: what could not be written is not passed over.
told() {
	[ "$got" = "$1" ] && grep -q '^idemsim: standard output: ' err
	ok $? "$2"
}

for command in --help 'list good.lua' 'explain good.lua'; do
	"$idemsim" $command >/dev/full 2>err
	got=$?
	told 70 "a full standard output ends with 70: $command"
	"$idemsim" $command >&- 2>err
	got=$?
	told 70 'and so does one that is closed'
done
: >out
timeout 60 "$idemsim" run --out o good.lua good.lua >/dev/full 2>err
got=$?
told 70 'nothing is run that nobody would be told of'
(ulimit -f 0; exec timeout 60 "$idemsim" run --out o good.lua >limited 2>&1)
[ $? = 70 ]
ok $? 'a file that may not grow is a full disk, and kills nobody'
timeout 60 "$idemsim" run --out o --json closed.json good.lua >&- 2>err
got=$?
told 70 'with a closed one neither'
grep -q TAP closed.json
[ $? = 1 ]
ok $? 'and no other file gets its lines'

# --- runs --------------------------------------------------------------------

timeout 120 "$idemsim" run --runs 2 --seed 7 --junit j.xml --json j.json \
    good.lua >out 2>err
got=$?
if grep -q '# SKIP' out; then
	echo "1..$count"
	exit $failed
fi
[ $got = 0 ]
ok $? 'a scenario that holds ends with 0'
! grep -q 'nothing was run' out err
ok $? 'and something was run'
has out '^TAP version 14' 'its output is TAP'
has out '^1\.\.1' 'which has a plan'
has out '^ok 1 - all is well' 'a point that passes is ok'
has out '# seed 0x0*7$' 'the seed is told'
! grep -Evq '^(TAP version 14|1\.\.1|ok |not ok |#|  )' out
ok $? 'nothing else is on standard output'
[ -s j.xml ] && [ -s j.json ]
ok $? 'JUnit and JSON are written'
[ ! -e idemsim-out ]
ok $? 'what passes leaves no folder'

run 1 'a violation ends with 1' run --runs 1 --out fails bad.lua
cp out fails.tap
has out '^not ok 1 - it forgets' 'a point that fails is not ok'
has out 'at_most_once' 'its invariant is named'
has out 'idemsim run .*bad.lua.* --seed 0x' 'how to do it again is told'
history=$(find fails -name history.jsonl | head -n 1)
[ -s "$history" ]
ok $? 'its history is kept'
find fails -name report.html -size +0 | grep -q .
ok $? 'its diagram is kept'
find fails -path '*logs*' -type f | grep -q .
ok $? 'logs are kept'
run 1 'its history is judged the same again' check "$history"
has out "^# $history" 'its file is told'
has out 'invariant: at_most_once' 'and what it violates'
sed -n 's/^    - \(.*\/.*\)$/\1/p' fails.tap >artefacts
grep -q report.html artefacts && xargs ls <artefacts >/dev/null 2>err
ok $? 'every file that was named is there'
# As it stands there: quotes of YAML are those of SQL.
sed -n "s/^  reproduce: '\(.*\)'\$/\1/p" fails.tap | sed "s/''/'/g" >again
sed -i "s|^idemsim run|'$idemsim' run --out again.d|" again
timeout 120 sh ./again >out 2>err
[ $? = 1 ] && grep -q 'at_most_once violated' out
ok $? 'the command that does it again does it again'
mkdir bin
ln -s "$idemsim" bin/idemsim
(PATH=$dir/bin:$PATH timeout 120 "${history%/*}/reproduce") >out 2>err
[ $? = 1 ] && grep -q 'at_most_once violated' out
ok $? 'and so does the script'
run 0 'its history can be drawn' render "$history"
has out '<svg' 'a drawing has a picture'
has out '<h2>Again</h2><pre>idemsim run --runs 1 bad.lua' \
    'and how to do it again'
run 2 'a fault that never happens ends with 2' run --runs 1 --out v idle.lua
has out 'vacuous' 'which is told'
run 0 'only those points are run whose names fit' run --runs 1 \
    --only 'all*' good.lua bad.lua
has out '^1\.\.1' 'the others are not counted'

# Kept, and kept again where something is already.
for sentence in 'what passes is kept, too' 'also where something is'; do
	run 0 "$sentence" run --quick --keep kept/here good.lua
	[ -s kept/here/001-logs/history.jsonl ] &&
	    [ -s kept/here/001-logs/history.txt ] &&
	    ls kept/here/001-logs/*-log >/dev/null
	ok $? 'with history and logs'
done
run 2 'what never happens is waited for five times' run --quick --out v \
    --keep kept/idle idle.lua
[ -s kept/idle/001-logs/history.jsonl ]
ok $? 'and one of them is kept'

# Somebody waits always; but a busy host may make him.
run 1 'what a busy host may do fails if it is always so' run --quick --wall 5m \
    --out busy late.lua
[ "$(grep -c 'run [1-4] does not count, as a busy host' err)" = 4 ] &&
    ! grep -q 'run 5 does' err
ok $? 'of five runs the last counts'
has out '^  run: 5$' 'and is the one that is told of'
run 1 'or if there is no time for another run' run --quick --wall 100ms \
    --out last late.lua
! grep -q 'does not count' err && grep -q '^  verdict: fail' out
ok $? 'as the last that was run it counts'
find last -path '*logs*' -type f | grep -q .
ok $? 'and its logs are kept'

run 0 'a history that was kept is judged again' check \
    kept/here/001-logs/history.jsonl
has out '^ok 1 - all is well \[live\] judged again' 'and holds'

# Away from what it starts, unless that is installed.
mkdir alone
cp "$idemsim" alone/idemsim
(unset IDEMSIM_LIBEXEC; timeout 60 alone/idemsim run good.lua) >out 2>err
got=$?
if grep -q '# SKIP' out; then
	[ $got = 0 ]
	ok $? 'what cannot be started is passed over'
	(unset IDEMSIM_LIBEXEC
	    timeout 60 alone/idemsim run --require live good.lua) >out 2>err
	[ $? = 69 ]
	ok $? 'with --require it ends with 69'
fi

# --- its end -----------------------------------------------------------------

# left: folders of runs, and processes that bear the mark of one in ours.
left() {
	{
		find "$dir/tmp" -maxdepth 1 -type d -name 'idemsim-*'
		grep -lsz "^IDEMSIM_RUN=.*" /proc/[0-9]*/environ 2>/dev/null |
		    xargs -r grep -lsz "$dir" 2>/dev/null
	} | wc -l
}

for signal in TERM KILL 'INT TWICE'; do
	echo stale >j.xml
	: >out
	"$idemsim" run --runs 1000 --wall 600s --junit j.xml good.lua \
	    >out 2>err &
	pid=$!
	n=0
	while [ $n -lt 600 ] && ! grep -q '# seed' out; do
		sleep 0.1
		n=$((n + 1))
	done
	if [ "$signal" = TERM ]; then
		[ -e j.xml ] && [ ! -s j.xml ]
		ok $? "an earlier run's results are gone once one begins"
	fi
	sleep 0.5
	kill -${signal% *} $pid
	# A shell's jobs in the background do not hear SIGINT; idemsim does.
	[ "$signal" = "${signal% *}" ] || kill -INT $pid
	wait $pid 2>/dev/null
	got=$?
	if [ "$signal" != KILL ]; then
		[ $got = 130 ]
		ok $? "SIG$signal ends it with 130"
	fi
	n=0
	while [ "$(left)" != 0 ] && [ $n -lt 300 ]; do
		sleep 0.1
		n=$((n + 1))
	done
	[ "$(left)" = 0 ]
	ok $? "soon after SIG$signal no process and no folder is left"
done

echo "1..$count"
exit $failed
