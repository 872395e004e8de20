#!/bin/sh
# SPDX-License-Identifier: ISC
#
# make cases says what the tests said, and no more.

top_srcdir=$(cd "${top_srcdir:-.}" && pwd) || exit 1
folder=$(mktemp -d "${TMPDIR:-/tmp}/idem-cases-XXXXXX") || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
mkdir old new
count=0
failed=0

# is SENTENCE GOT WANT
is() {
	count=$((count + 1))
	if [ "$2" = "$3" ]; then
		echo "ok $count - $1"
	else
		echo "not ok $count - $1"
		printf '%s\n' "$2" | sed 's/^/#      got: /'
		printf '%s\n' "$3" | sed 's/^/# expected: /'
		failed=1
	fi
}

# test_says NAME TAP: NAME is a test, and said so.
test_says() {
	: >"$1.sh"
	printf "$2" >"new/$1.tap"
}

cases() {
	perl "$top_srcdir/tests/cases.pl" list.tsv old new 2>errors
}

state() {
	cases | sed -n "s/^$1  *\(.*\)/\1/p" | sed 's/   */ | /'
}

tests_say_nothing() {
	rm -f ./*.sh old/* new/*
}

# --- a line a case ---------------------------------------------------------

printf 'R1\tone\nR2\ttwo\n' >list.tsv
for n in 3 4 5 6 7 8 9 10 11 12; do
	printf 'F%s\tmore\n' "$n"
done >>list.tsv
test_says t_more '1..1\nok 1 - all [F3 F4 F5 F6 F7 F8 F9 F10 F11 F12]\n'

test_says t_a '1..2\nok 1 - a [R1 R2]\nok 2 - b [R1]\n'
is "a case is ok with the test that shows it" \
    "$(state R1)" 'ok | one (t_a)'
test_says t_b '1..1\nok 1 - c [R1]\n'
is "or the tests" "$(state R1)" 'ok | one (t_a t_b)'
cases >/dev/null
is "if all are, so is the command" $? 0
is "and has no complaint" "$(cat errors)" ''
is "the cases are counted" "$(cases | grep -E '^ +[0-9]+ (ok|cases)' |
    tr -s ' \n' ' ')" ' 12 ok 12 cases '

test_says t_b '1..1\nnot ok 1 - c [R1]\n'
is "one that fails counts for more than one that does not" \
    "$(state R1)" 'not ok | one (t_b)'
cases >/dev/null
is "and the command fails" $? 1

test_says t_b '1..1\nok 1 - c [R1] # SKIP no server\n'
is "one that was passed over counts for less" \
    "$(state R1)" 'ok | one (t_a)'
test_says t_a '1..1\nok 1 - a [R2]\n'
is "alone it is said, with its reason" \
    "$(state R1)" 'skip | one (t_b: no server)'
echo 'ok "all of it [R1]"' >t_b.sh
echo '1..0 # SKIP no server at all' >new/t_b.tap
is "also of a test that was passed over as a whole" \
    "$(state R1)" 'skip | one (t_b: no server at all)'
cases >/dev/null
is "which is no failure" $? 0

rm t_b.sh
is "what is no test any more shows nothing" \
    "$(state R1)" 'missing | one (no test)'
cases >/dev/null
is "and a case that is missing is a failure" $? 1

# --- what must not pass ----------------------------------------------------

test_says t_b '1..2\nok 1 - c [R1]\n'
is "a test that did not come to its end has shown nothing" \
    "$(state R1)" 'not ok | one (t_b)'
is "and is named" "$(cat errors)" 'cases.pl: t_b did not come to its end'
test_says t_b 'ok 1 - c [R1]\n1..1\n# exit status 139\n'
is "nor has one that died after it" "$(state R1)" 'not ok | one (t_b)'
test_says t_b '1..1\nok 1 - c [R1 R77]\n'
cases >/dev/null
is "a case that is not in the list is a failure" \
    "$? $(cat errors)" '1 cases.pl: R77 is no case, says t_b'

test_says t_b '1..1\nok 1 - c [R1 idem:A7]\n'
cases >/dev/null
is "but of a part that is not there at all it is none" "$?" 0

printf 'R3\tthree\tdoes not apply: it is Tuesday\n' >>list.tsv
test_says t_b '1..1\nok 1 - c [R1]\n'
is "a case that does not apply has its reason" \
    "$(state R3)" 'does not apply | three (it is Tuesday)'
cases >/dev/null
is "which is no failure, if there are few" $? 0
printf 'R4\tfour\tdoes not apply: nor today\n' >>list.tsv
cases >/dev/null
is "but one in ten is" \
    "$? $(cat errors)" '1 cases.pl: one case in ten or more does not apply'
sed -i '/^R4/d' list.tsv
test_says t_b '1..1\nok 1 - c [R1 R3]\n'
cases >/dev/null
is "and a test that shows it all the same" \
    "$? $(cat errors)" '1 cases.pl: R3 does not apply, but t_b shows it'

# --- which of what is kept -------------------------------------------------

tests_say_nothing
test_says t_a '1..1\nnot ok 1 - a [R1]\n# exit status 1\n'
printf 'ok 1 - a [R1]\nPASS: tests/t_a 1 - a [R1]\n1..1\n' >old/t_a.log
touch -d '1 hour ago' new/t_a.tap
is "the newest counts, of make check too" "$(state R1)" 'ok | one (t_a)'
touch -d '2 hours ago' old/t_a.log
is "whichever that is" "$(state R1)" 'not ok | one (t_a)'
tests_say_nothing
cases >/dev/null
is "before any test there is nothing to tell" \
    "$? $(cat errors)" '2 cases.pl: no test has run: make check-prove'

# --- what check-prove keeps ------------------------------------------------

keep() {
	TAP_DIR=kept sh "$top_srcdir/tests/keep-tap.sh" "$1"
}

printf 'echo "ok 1 - a"; echo "# b" >&2; echo 1..1\n' >t_well.sh
is "a test's output is passed on" "$(keep ./t_well.sh 2>said)" "ok 1 - a
1..1"
is "and what it says of errors" "$(cat said)" "# b"
is "and kept, with its status" "$(cat kept/t_well.tap)" "ok 1 - a
1..1
# exit status 0"
keep ./t_well.sh >/dev/null 2>&1
is "its status is the test's" $? 0
printf 'echo "not ok 1 - a"; echo 1..1; exit 3\n' >t_ill.sh
keep ./t_ill.sh >/dev/null
is "also when that is a failure" $? 3
printf 'echo "ok 1 - a"; echo 1..1; kill -9 $$\n' >t_dead.sh
keep ./t_dead.sh >/dev/null 2>&1
is "or a signal" $? 137
cp /bin/true ./t_program
keep ./t_program
is "a program is run as well" "$? $(cat kept/t_program.tap)" \
    '0 # exit status 0'

echo "1..$count"
exit $failed
