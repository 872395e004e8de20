#!/bin/sh
# SPDX-License-Identifier: ISC
#
# idemsim matrix: its tables, files and exit statuses, on few of its cells.

. "${top_srcdir:-$(dirname "$0")/..}/tests/idemsim.sh"
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
if ! command -v redis-server >/dev/null; then
	echo '1..0 # SKIP there is no redis-server'
	exit 0
fi

# run STATUS SENTENCE ARGUMENT...: it ends so.
run() {
	want=$1
	sentence=$2
	shift 2
	timeout 120 "$idemsim" matrix --quick "$@" >out 2>err
	got=$?
	[ "$got" = "$want" ]
	ok $? "$sentence"
}

has() {
	grep -Eq -- "$2" "$1"
	ok $? "$3"
}

# Its times are such that who is late breaks nothing.
plan=calm.lua
sed 's/lease = "400ms", limit = "3s"/lease = "10s", limit = "60s"/
s/config.probe_every = "100ms"/config.budget, config.probe_every = "10s", "20s"/
s/timeout = sim.const(400)/timeout = sim.const(30000)/
s/quiet = 2500/quiet = 60000/' "$src/scenarios/matrix/matrix.lua" >$plan
[ "$(grep -Ec '= "10s", |30000|60000' $plan)" = 4 ]
ok $? "the matrix can be given times of its own"

run 0 "a quiet Redis does what is promised of it" \
    --only 'script, none' --json json --html html --keep all "$plan"
has out '^idemsim matrix: 1 cell,' "it was one cell"
has out '^redis: script, reject +0/[1-9]' "no key started twice"
has out '^redis: script, reject +all held' "and every promise held"
has out '^ledger +- +- ' "other cells were not run"
has out '^Three ways to keep a key' "the schemes have their table"
has out '^What to do while Redis is away' "and the policies"
has out '^No promise was broken' "and that is said"
[ ! -e idemsim-out ]
ok $? "nothing is left of a run that was good"
has json '"situation": "none"' "the cell is in the JSON"
has json '"answers_lost": 0' "with its numbers"
has html '<title>idem' "and there is a page"
! grep -Eq '(src|href)=' html
ok $? "that needs nothing else"

# SET NX keeps no answer: as what is promised for the script it must not pass.
sed 's/deploy == "setnx"/deploy == "script"/
s/scheme = deploy/scheme = "setnx"/' "$plan" >wrong.lua
run 1 "a promise that is not kept makes it fail" \
    --only 'script, none' --out kept --html html wrong.lua
has out '^redis: script, reject +no: .*kept.*!!' "the cell says which one"
has out 'kept/matrix-script-none.jsonl' "and where its history is"
has html 'class="broken"' "the page marks it"
timeout 60 "$idemsim" check kept/matrix-script-none.jsonl >out 2>err
[ $? -le 2 ]
ok $? "its history can be read again"

timeout 60 "$idemsim" check all/matrix-script-none-1.jsonl >out 2>err
[ $? -le 2 ] && grep -q judged out
ok $? "so can that of any run, if it is to be kept"

# Nobody is killed after the 9999th effect.
sed 's/nth = 18/nth = 9999/' "$plan" >idle.lua
run 2 "a cell in which nothing went wrong says nothing" \
    --only 'script, killed' --json json idle.lua
has out '^redis: script, reject .* not shown' "which it says"
has out '^\?\? redis: script, reject, killed: it never came to this: kill g1' \
    "and what it did not come to"
has json '"says_nothing": "it never came' "in the JSON too"
! grep -q '^No promise was broken\.$' out
ok $? "and it is not taken for a good end"

sed 's/modes = { "live" }/modes = { "model" }/; s/ *explore = {.*},$//' "$plan" >model.lua
run 2 "a cell that is of the model only is not run" --require live \
    --only 'script, none' model.lua
has err '^idemsim: script, none: it is of the model only' "and why is said"
has out '^Nothing was run\.$' "and not that all went well"

run 64 "a scenario that is not there is a mistake" none.lua

echo "1..$count"
exit $failed
