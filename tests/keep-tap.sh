#!/bin/sh
# SPDX-License-Identifier: ISC
#
# usage: keep-tap.sh TEST
#
# Runs a test for prove --exec and keeps what it says in tests/tap/NAME.tap of
# the build folder, for make cases.  Its exit status is the test's; the last
# line of the file tells it, so that a file without one is of a test that was
# killed.

set -u

test=$1
dir=${TAP_DIR:-tests/tap}
name=$(basename "$test")
name=${name%.*}
kept=$dir/$name.tap

run() {
	case $test in
	*.sh) ${SHELL:-/bin/sh} "$test" ;;
	*.t) perl "$test" ;;
	*) "$test" ;;
	esac
}

mkdir -p "$dir" || exit 111
# A pipe has the status of its last command: the test's comes by the file.
{
	run
	echo "# exit status $?" >"$kept.status"
} | tee "$kept"
cat "$kept.status" >>"$kept" && rm "$kept.status"
exit "$(sed -n '$s/^# exit status //p' "$kept")"
