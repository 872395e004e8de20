#!/bin/sh
# SPDX-License-Identifier: ISC
#
# Scenarios against the gate as it is shipped, one run of each point, if it will
# do: the quick ones of each kind.  make check-scenarios runs all of them, as
# often as they say.  And each history that was made is judged again as it was.

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
"$idemsim" run --quick --tap 13 --out "$out/failed" --keep "$out/kept" \
    --json "$out/json" "$@" >"$out/tap"
status=$?

# One more point than it has.
points=$(sed -n 's/^1\.\.\([0-9]*\)$/\1/p' "$out/tap")
sed "s/^1\.\.$points\$/1..$((points + 1))/" "$out/tap"

# "NUMBER VERDICT", of those that one run was enough for: of several, one is kept.
awk -F '[",: ]+' '
/^   "point":/ { point = $3 }
/^   "verdict":/ { verdict = $3 }
/^   "runs": 1,/ { if (verdict != "skip") printf "%03d %s\n", point, verdict }
' "$out/json" >"$out/then"

# What each of those is when it is judged again, and how that ends.
while read -r point verdict; do
	"$idemsim" check "$out/kept/$point-logs/history.jsonl" >"$out/again" \
	    2>&1 </dev/null
	got=$?
	case $verdict in
	pass) want='0 ok' ;;
	fail) want='1 not' ;;
	*) want='2 not' ;;
	esac
	said=$(sed -n 's/^\(ok\|not\) .*/\1/p' "$out/again")
	[ "$got $said" = "$want" ] && continue
	echo "# $point was $verdict:"
	sed 's/^/# /' "$out/again"
done <"$out/then" >"$out/otherwise"
cat "$out/otherwise"
judged=$(wc -l <"$out/then")
if [ -s "$out/otherwise" ] || { [ "$judged" -eq 0 ] &&
    grep -q '^ok .* run,' "$out/tap"; }; then
	echo "not ok $((points + 1)) - $judged histories are judged as they were"
	[ "$status" != 0 ] || status=1
else
	echo "ok $((points + 1)) - $judged histories are judged as they were"
fi
exit $status
