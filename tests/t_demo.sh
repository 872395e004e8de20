#!/bin/sh
# SPDX-License-Identifier: ISC
#
# What a newcomer sees first.

top_srcdir=${top_srcdir:-.}
PATH=$PATH:/usr/sbin
for tool in lighttpd perl curl; do
	if ! command -v $tool >/dev/null; then
		echo "1..0 # SKIP $tool is not installed"
		exit 0
	fi
done

if output=$("$top_srcdir/demo/run" --once 2>&1); then
	verdict=ok
else
	verdict="not ok"
fi
echo "$output" | sed 's/^/# /'
echo "$verdict 1 - through lighttpd, 50 duplicates of one order and 1 of another place 2"
plain="2 - and a form without script, sent twice, places one more"
if ! command -v redis-server >/dev/null; then
	echo "ok $plain # SKIP redis-server is not installed"
elif echo "$output" | grep -q '^orders placed *3 (3 expected)'; then
	echo "ok $plain"
else
	echo "not ok $plain"
	verdict="not ok"
fi
echo "1..2"
[ "$verdict" = ok ]
