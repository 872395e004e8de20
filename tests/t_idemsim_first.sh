#!/bin/sh
# SPDX-License-Identifier: ISC
#
# What idemsim says of the mistakes of who uses it for the first time.

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

# scenario NAME TOPOLOGY HANDLER: two clients of much patience, each at its
# instance, the second when the first has long had its answer.
scenario() {
	cat >"$1.lua" <<END
local sim = require "idemsim"
sim.api(1)
return sim.scenario {
  name = "$1",
  modes = { "live" },
  topology = { $2 },
  handler = sim.handler { $3 },
  load = { sim.script {
    { at = 0, client = "c1", timeout = 600000,
      send = { key = "k", to = "g1" } },
    { at = 300, client = "c2", timeout = 600000,
      send = { key = "k", to = "g2" } } } },
  heal = { quiet = 3000 },
  expect = { holds = { "same_answer" } },
}
END
}

redis='redis = { a = {} }, gates = { n = 2, arbiter = "redis", store = "a" }'
ledger='gates = { n = 2, arbiter = "ledger", ledger = "shared" }'
ours='effect = "append", service = sim.const(10)'

# --- names -------------------------------------------------------------------

scenario good "$ledger" "$ours"
run 64 'a mistyped command is wrong use' lsit good.lua
has err '^idemsim: lsit: there is no such command, and no such file; did' \
    'it is no command, either'
has err 'did you mean list[?]$' 'which was meant is asked'
run 64 'a word that is near none is wrong use' zzzzz good.lua
has err 'zzzzz: there is no such command, and no such file$' \
    'and nothing is guessed'
run 64 'a path that is not there is wrong use' ./lsit
! grep -q command err
ok $? 'and is no command'
mkdir empty
echo 'return {}' >empty/_part.lua
run 64 'a folder without scenarios is wrong use' run empty
has err '^idemsim: empty: there is no scenario in it ' 'it is named'
cat good.lua | timeout 120 "$idemsim" run /dev/stdin >out 2>err
[ $? = 64 ]
ok $? 'a scenario that comes from a pipe is wrong use'
has err '^idemsim: /dev/stdin: it is a pipe or a device, and no file' \
    'it is told what it is'

# --- a program that gives no answer ------------------------------------------

timeout 120 "$idemsim" run --runs 1 good.lua >out 2>err
got=$?
if grep -q '# SKIP' out; then
	echo "1..$count"
	exit $failed
fi
[ $got = 0 ] && ! grep -q 'final answer' out
ok $? 'where there are final answers nothing is said of them'

# silent NAME TEXT ENDS: a program of that text is why nothing was tested.
silent() {
	printf "$2" >"$1.cgi"
	chmod +x "$1.cgi"
	scenario "$1" "$ledger" \
	    "effect = \"external\", command = \"$dir/$1.cgi\""
	run 2 "a program with $1 shows nothing" run --runs 1 --out "o-$1" \
	    "$1.lua"
	has out "vacuous: .*; none of the 2 tries had a final answer, and $3" \
	    'how its tries ended is told'
	run 2 'its history is judged the same' check "o-$1"/*/history.jsonl
	has out "; none of the 2 tries had a final answer, and $3" \
	    'and that is told again'
}

silent 'no-interpreter' '#!/no/such/interpreter\n' \
    '[12] had 50[03] with Idempotency-Status not-started: --keep FOLDER keeps'
silent 'no-header' '#!/bin/sh\necho hello\n' \
    '1 had (502|409) with Idempotency-Status unknown: --keep FOLDER keeps'
silent 'no-output' '#!/bin/sh\nexit 3\n' \
    '1 had (502|409) with Idempotency-Status unknown: --keep FOLDER keeps'

# --- few descriptors ---------------------------------------------------------

# few FILES SCENARIO: long before its clients' patience ends it is told why;
# what is enough depends on the system's libraries.
few() {
	(ulimit -n "$1"; exec timeout 120 "$idemsim" run --runs 1 --out few \
	    "$2.lua") >out 2>err
	got=$?
	if [ $got = 0 ]; then
		grep -q '^ok 1 ' out
	else
		[ $got = 2 ] || [ $got = 70 ]
	fi
	ok $? "with $1 descriptors $2 ends by itself"
	[ $got = 0 ] || grep -q "inconclusive: .*only $1 files .RLIMIT_NOFILE" \
	    out
	ok $? 'and if it is no pass they are why'
}

scenario redis "$redis" "$ours"
for files in 12 16 18 20 22 24 30 40 64; do
	few $files good
done
few 18 good
[ $got != 0 ]
ok $? 'with so few it is no pass'
timeout 120 "$idemsim" run --runs 1 redis.lua >out 2>err
if ! grep -q '# SKIP' out; then
	few 20 redis
	few 30 redis
	few 64 redis
fi

echo "1..$count"
exit $failed
