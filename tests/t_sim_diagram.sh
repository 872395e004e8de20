#!/bin/sh
# SPDX-License-Identifier: ISC
#
# Space-time diagrams in a real browser: nothing of them overlaps or is cut, they
# are read without script, and with it they can be asked.

top_srcdir=${top_srcdir:-.}
top_builddir=${top_builddir:-.}

skip_all() {
	echo "1..0 # SKIP $1"
	exit 0
}

for browser in chromium chromium-browser google-chrome none; do
	command -v $browser >/dev/null && break
done
[ $browser != none ] || skip_all "no Chromium is installed"
perl -MJSON::PP -MTest::More -e 1 2>/dev/null ||
    skip_all "perl has no JSON::PP or Test::More"
folder=$(mktemp -d "${TMPDIR:-/tmp}/t_sim_diagram.XXXXXX") || exit 1
trap 'rm -rf "$folder"' EXIT
if ! "$top_builddir/tests/report_pages" "$folder"; then
	echo "Bail out! no page was made"
	exit 1
fi
perl "$top_srcdir/tests/browser/diagrams.pl" "$folder" \
    "$(command -v $browser)"
