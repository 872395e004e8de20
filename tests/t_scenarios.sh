#!/bin/sh
# SPDX-License-Identifier: ISC
#
# Scenarios against the gate as it is shipped, one run of each point, if it will
# do: the quick ones of each kind.  make check-scenarios runs all of them, as
# often as they say.

top_srcdir=${top_srcdir:-.}
top_builddir=${top_builddir:-.}
build=$(cd "$top_builddir" && pwd) || exit 1
idemsim=${IDEMSIM:-$build/idemsim}
IDEMSIM_LIBEXEC=${IDEMSIM_LIBEXEC:-$build}
export IDEMSIM_LIBEXEC
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT

set --
for name in 04 07 10 11 12 14 20 21 22 24 25 26 27 28 29 35 90 r0018 r0024 \
    r0025 r0029 r0036 r0052 r0056 r0061 r0066 r0074; do
	set -- "$@" "$top_srcdir/scenarios/$name"[_-]*.lua
done
"$idemsim" run --quick --tap 13 --out "$out/failed" "$@"
