#!/bin/sh
# SPDX-License-Identifier: ISC
#
# Breaks idemd in one place after the other and asks idemsim's scenarios whether
# they see it.  Each *.patch here is one such mutant; what its head says:
#
#	# Scenarios: FILE [PARAM=VALUE]... [; FILE ...]	in scenarios/; more lines
#	# Caught by: INVARIANT...	what is right to complain, see findings()
#
# FILE is the begin of a name that no other file has.  Those that begin with s
# break idemsim itself.
#
# In a copy of the sources it is built, in a folder that is removed at the end.
# First nothing is broken, and the same scenarios must pass.  Then each of a
# mutant's scenarios must catch it, in one of RUNS runs.  MUTANT=m06 tries only
# that one.  Prints TAP and, as comments, what was caught where and by what; at
# last for each scenario which mutants it catches.

top_srcdir=${top_srcdir:-$(dirname "$0")/../..}
top_builddir=${top_builddir:-.}
src=$(cd "$top_srcdir" && pwd) || exit 1
build=$(cd "$top_builddir" && pwd) || exit 1
here=$src/tests/mutants
idemsim=${IDEMSIM:-$build/idemsim}
unbroken=${IDEMSIM_LIBEXEC:-$build}
jobs=${JOBS:-2}
runs=${RUNS:-3}
count=0
failed=0

skip() {
	echo "1..0 # SKIP $1"
	exit 0
}

[ -x "$idemsim" ] || skip 'idemsim was not built'
[ -x "$src/configure" ] || skip 'there is no configure: run bootstrap'
command -v patch >/dev/null || skip 'there is no patch'
command -v redis-server >/dev/null || skip 'there is no redis-server'

dir=$(mktemp -d "${TMPDIR:-/tmp}/mutants.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
mkdir "$dir/b" "$dir/libexec" "$dir/out" || exit 1
: >"$dir/table"

now() {
	date +%s
}

# head_of PATCH WORD: what its head says of that.
head_of() {
	sed -n "/^---/q; s/^# $2: //p" "$1"
}

result() {
	count=$((count + 1))
	how=$1
	shift
	echo "$how $count - $*"
	[ "$how" = ok ] || failed=1
}

# --- building ------------------------------------------------------------------

copy_sources() {
	mkdir "$dir/src" &&
	(cd "$src" && tar cf - --exclude=./.git --exclude=./build \
	    --exclude=./idemsim-out --exclude='*.o' --exclude='*.a' .) |
	    (cd "$dir/src" && tar xf -) || return 1
	# A build in the sources would be in the way of one beside them.
	chmod -R u+w "$dir/src" &&
	    rm -f "$dir/src/config.status" "$dir/src/Makefile" \
	    "$dir/src/lib/idem_lua.c"
}

# build_it PATCH: what it breaks, idemd or idemsim.
build_it() {
	case $(basename "$1") in
	s*)
		broken=$dir/b/idemsim
		libexec=$unbroken
		make -C "$dir/b" -s "-j$jobs" idemsim >"$dir/make.log" 2>&1
		;;
	*)
		broken=$idemsim
		libexec=$dir/libexec
		make -C "$dir/b" -s "-j$jobs" idemd-sim \
		    >"$dir/make.log" 2>&1 &&
		    cp "$dir/b/idemd-sim" "$libexec/"
		;;
	esac
}

build_first() {
	copy_sources &&
	(cd "$dir/b" && ../src/configure -q CFLAGS='-O0' >"$dir/make.log" \
	    2>&1) && build_it m
}

# --- running -------------------------------------------------------------------

# run FILE [PARAM=VALUE]...: what idemsim says, in $dir/told.  A broken idemd is
# in libexec, all others are where idemsim itself is.
run() {
	set -- "$src/scenarios/$1"*.lua "$@"
	file=$1
	shift 2
	for param; do
		shift
		set -- "$@" --param "$param"
	done
	IDEMSIM_LIBEXEC=$libexec timeout 120 "$broken" run "$@" \
	    --runs 1 --out "$dir/out" "$file" >"$dir/told" 2>&1
}

# What is not as it was promised, a line each: "VERDICT WHAT".  WHAT is an
# invariant; of one that is the scenario's own its name with _ for all that is no
# letter; "sometimes", a situation that never came; "never_fired", a fault; or
# "not_violated", what a negative control was to show.
findings() {
	awk '
	/^(not )?ok /	{ end(); bad = /^not/
			  verdict = what = "-" }
	/^  verdict:/	{ verdict = $2 }
	/^  invariant:/	{ what = $2 }
	/^  message:/ && what == "-" { what = meant($0) }
	END		{ end() }
	function end()	{ if (bad) print verdict, what; bad = 0 }
	function meant(line) {
		if (line ~ /it was never so:/)
			return "sometimes"
		if (line ~ /a fault never happened:/)
			return "never_fired"
		if (line ~ /a negative control:/)
			return "not_violated"
		sub(/^  message: ./, "", line)
		sub(/:.*/, "", line)
		gsub(/[^a-z]+/, "_", line)
		return line
	}
	' "$dir/told"
}

show() {
	grep -E '^(not ok|  (verdict|invariant|message):|idemsim:)' "$1" |
	    head -n 30 | sed 's/^/# /'
}

# --- nothing is broken ---------------------------------------------------------

# lines_of PATCH...: the scenarios that are asked, a line each.
lines_of() {
	for patch; do
		head_of "$patch" Scenarios | tr ';' '\n'
	done | sed 's/^ *//; s/ *$//; /^$/d'
}

control() {
	# shellcheck disable=SC2086
	lines_of $mutants | sort -u >"$dir/all"
	while read -r line <&3; do
		began=$(now)
		# shellcheck disable=SC2086
		if run $line; then
			result ok "unbroken, $line passes"
		else
			result 'not ok' "unbroken, $line passes"
			show "$dir/told"
		fi
		echo "- | $line | pass | - | $(($(now) - began))" >>"$dir/table"
	done 3<"$dir/all"
}

# --- one mutant ----------------------------------------------------------------

# caught PATCH: is what was found among what it is to be caught by?
caught() {
	for want in $(head_of "$1" 'Caught by'); do
		found=$(findings | awk -v want="$want" '
		    $2 == want && ($1 == "fail" || $1 == "vacuous") {
			print; exit }')
		[ -z "$found" ] || return 0
	done
	return 1
}

# ask PATCH LINE: in as many runs as there may be.
ask() {
	n=0
	while [ "$n" -lt "$runs" ]; do
		n=$((n + 1))
		# shellcheck disable=SC2086
		run $2
		! caught "$1" || return 0
	done
	return 1
}

mutant() {
	name=$(basename "$1" .patch)
	title=$(echo "$name" | tr - ' ')
	lines_of "$1" >"$dir/lines"
	[ -s "$dir/lines" ] || result 'not ok' "$title names a scenario"
	while read -r line <&4; do
		began=$(now)
		if ask "$1" "$line"; then
			result ok "$title is caught by $line: ${found#* }"
		else
			found=nothing
			result 'not ok' "$title is caught by $line"
			show "$dir/told"
		fi
		echo "$name | $line | $found | $n | $(($(now) - began))" \
		    >>"$dir/table"
	done 4<"$dir/lines"
}

try() {
	if ! patch -d "$dir/src" -p1 -s <"$1" >"$dir/make.log" 2>&1 ||
	    ! build_it "$1"; then
		result 'not ok' "$(basename "$1" .patch) can be built"
		tail -n 20 "$dir/make.log" | sed 's/^/# /'
	else
		mutant "$1"
	fi
	restore "$1"
}

# As they were, whatever became of the patch; and newer, so that make sees it.
restore() {
	sed -n 's,^+++ b/\([^	]*\).*,\1,p' "$1" | while read -r file; do
		cp "$src/$file" "$dir/src/$file"
		touch "$dir/src/$file"
	done
	rm -f "$dir"/src/*.rej "$dir"/src/*/*.rej "$dir"/src/*/*.orig
}

# --- the table -----------------------------------------------------------------

table() {
	echo '# mutant | scenario | verdict, invariant | runs | seconds'
	sed 's/^/# /' "$dir/table"
	echo '#'
	echo '# scenario | catches'
	awk -F' [|] ' '
	$1 != "-" && $3 != "nothing" {
		split($2, word, " "); split($1, short, "-")
		if (!((word[1], short[1]) in seen))
			all[word[1]] = all[word[1]] " " short[1]
		seen[word[1], short[1]] = 1
	}
	END { for (name in all) print "# " name " |" all[name] }
	' "$dir/table" | sort
}

# -------------------------------------------------------------------------------

began_all=$(now)
mutants=
for patch in "$here/${MUTANT:-}"*.patch; do
	[ ! -f "$patch" ] || mutants="$mutants $patch"
done
if ! build_first; then
	result 'not ok' 'the unbroken sources can be built'
	tail -n 20 "$dir/make.log" | sed 's/^/# /'
	echo "1..$count"
	exit 1
fi
control
for patch in $mutants; do
	try "$patch"
done
echo "1..$count"
table
echo "# $(($(now) - began_all)) s in all"
[ "$failed" = 0 ] && [ "$count" -gt 0 ]
