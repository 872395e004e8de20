#!/bin/sh
# SPDX-License-Identifier: ISC
#
# Every fuzz target survives its seeds, with libFuzzer and without.

top_srcdir=${top_srcdir:-.}
top_builddir=${top_builddir:-.}
failed=0
count=0

for target in "$top_srcdir"/tests/fuzz/fuzz_*.c; do
	name=$(basename "$target" .c)
	seeds=$top_srcdir/tests/fuzz/${name#fuzz_}
	count=$((count + 1))
	if output=$("$top_builddir/tests/fuzz/$name" "$seeds"/* 2>&1); then
		echo "ok $count - $name survives its seeds"
	else
		echo "not ok $count - $name survives its seeds"
		echo "$output" | sed 's/^/# /'
		failed=1
	fi
done
echo "1..$count"
exit $failed
