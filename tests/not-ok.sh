#!/bin/sh
# SPDX-License-Identifier: ISC
#
# usage: not-ok.sh TEST...
#
# Prints, of what keep-tap.sh has kept of these tests, each that is not ok with
# the comments below it, and who did not end as it should: prove's own summary
# has only numbers, and what was printed before it may be gone.

set -u

dir=${TAP_DIR:-tests/tap}

for test; do
	name=$(basename "$test")
	awk -v name="${name%.*}" '
		function say(line) { print name ": " line }
		{ last = $0 }
		/^ *not ok / && !/# ([T]ODO|SKIP)/ { shown = 8; say($0); next }
		/^Bail out!/ { say($0) }
		/^ *#/ && shown > 0 { shown--; say($0); next }
		{ shown = 0 }
		END {
			if (last !~ /^# exit status/)
				say("it was killed, after: " last)
			else if (last != "# exit status 0")
				say(last)
		}
	' "$dir/${name%.*}.tap"
done
