#!/bin/sh
# SPDX-License-Identifier: ISC
#
# Runs tests against an idemd under valgrind's memcheck: master, lobbies and
# keepers, not the programs that they run.  Only what memcheck says counts: it
# makes idemd so slow that a test may see an answer come too late, which is
# noted.  TESTS are their names without t_, SECONDS_MAX what each may take; one
# that is cut off has been looked at as far as it came, if its idemd has ended.
# Prints TAP.

top_builddir=${top_builddir:-.}
build=$(cd "$top_builddir" && pwd) || exit 1
seconds=${SECONDS_MAX:-90}
tests=${TESTS:-"replay content mint_front form_token unrecorded
    redis_arbiter unkeyed input_key stop"}
count=0
failed=0

# Who asks for it wants it done.
cannot() {
	echo "Bail out! $1"
	exit 1
}

command -v valgrind >/dev/null ||
    cannot 'there is no valgrind; ./bootstrap check-memory installs it'
command -v timeout >/dev/null || cannot 'there is no timeout (coreutils)'
! nm "$build/idemd" | grep -q __asan_init ||
    cannot 'idemd has sanitizers; configure without --enable-sanitizers'

dir=$(mktemp -d "${TMPDIR:-/tmp}/memcheck.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM

cat >"$dir/idemd" <<END
#!/bin/sh
exec valgrind -q --leak-check=full --errors-for-leak-kinds=definite \\
    --show-leak-kinds=definite --num-callers=20 \\
    --log-file='$dir/log.%p' '$build/idemd' "\$@"
END
chmod 755 "$dir/idemd"

for test in $tests; do
	count=$((count + 1))
	rm -f "$dir"/log.*
	if [ ! -x "$build/tests/t_$test" ]; then
		echo "not ok $count - there is no test $test"
		failed=1
		continue
	fi
	IDEMD="$dir/idemd" timeout -k 5 "$seconds" "$build/tests/t_$test" \
	    >"$dir/out" 2>&1
	status=$?
	cat "$dir"/log.* >"$dir/said" 2>/dev/null
	if [ ! -e "$(echo "$dir"/log.* | cut -d' ' -f1)" ]; then
		echo "not ok $count - $test: no idemd was started"
		failed=1
	elif [ -s "$dir/said" ]; then
		echo "not ok $count - $test: memcheck has nothing to say"
		sed 's/^/# /' "$dir/said"
		failed=1
	else
		echo "ok $count - $test: memcheck has nothing to say"
	fi
	[ $status -eq 0 ] || echo "# $test itself: status $status," \
	    "$(grep -c '^not ok' "$dir/out") came too late or failed"
done
echo "1..$count"
exit $failed
