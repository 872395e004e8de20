#!/bin/sh
# SPDX-License-Identifier: ISC
#
# A ledger that idemd's user may only read, or not even that: idemd does not
# start with it, and the doctor finds it, also where root asks, who may write everything.

IDEMD=${IDEMD:-${top_builddir:-.}/idemd}
IDEMCTL=${IDEMCTL:-${top_builddir:-.}/idemctl}
count=0
failed=0
as=

work=$(mktemp -d "${TMPDIR:-/tmp}/idem-rights-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

ok() {
	count=$((count + 1))
	if [ "$1" = 0 ]; then
		echo "ok $count - $2"
	else
		echo "not ok $count - $2"
		sed 's/^/# /' "$work/out"
		failed=1
	fi
}

# says STATUS PATTERN SENTENCE COMMAND...
says() {
	want=$1 pattern=$2 sentence=$3
	shift 3
	"$@" >"$work/out" 2>&1 </dev/null
	got=$?
	[ "$got" = "$want" ] && grep -q "$pattern" "$work/out"
	bad=$?
	[ "$bad" = 0 ] || echo "# exit status $got, not $want, or no $pattern"
	ok "$bad" "$sentence"
}

cp "$IDEMD" "$IDEMCTL" "$work/" || exit 1
chmod 755 "$work"
mkdir "$work/l"
ledger=$work/l/ledger.db
if [ "$(id -u)" = 0 ]; then
	command -v setpriv >/dev/null || {
		echo "1..0 # SKIP setpriv is not installed"
		exit 0
	}
	as="setpriv --reuid=65534 --regid=65534 --clear-groups"
	chown 65534:65534 "$work/l"
	$as test -x "$work/idemd" || {
		echo "1..0 # SKIP nobody cannot get at $work"
		exit 0
	}
fi

doctor() {
	"$IDEMCTL" doctor --ledger "sqlite:$ledger"
}

start() {
	$as "$work/idemd" -s "unix:$work/l/s" --ledger "sqlite:$ledger" -- /x
}

unknown() {
	$as "$work/idemctl" unknown --ledger "sqlite:$ledger"
}

$as "$work/idemctl" init --ledger "sqlite:$ledger" >"$work/out" 2>&1
ok $? "a ledger is made"
says 0 '^ok    ledger: .* opened' "the doctor finds nothing wrong" doctor
chmod 400 "$ledger"
says 1 '^fail  ledger: .*ledger.db cannot be written by user .*chown it' \
    "a ledger that may only be read is a failure" doctor
says 111 '^idemd: the ledger .*ledger.db cannot be written by .*chown it' \
    "idemd does not start with it" start
rm -f "$ledger-wal" "$ledger-shm"
chmod 0 "$ledger"			# as one that root has made is to others
says 111 '^idemd: the ledger .*ledger.db cannot be read by user .*chown it' \
    "nor with one that it may not even read" start
says 111 'unknown: the ledger .*ledger.db cannot be read by .*chown it' \
    "and who asks of its keys is told the same" unknown
chmod 600 "$ledger"
rm -f "$ledger-wal" "$ledger-shm"	# SQLite's have the ledger's mode
chmod 500 "$work/l"
says 1 '^fail  ledger: .*/l cannot be written by user .*chown it' \
    "a folder in which SQLite can make nothing, too" doctor
says 111 '^idemd: the ledger .* cannot be written by user .*chown it' \
    "and idemd does not start there" start
chmod 700 "$work/l"
if [ -n "$as" ]; then
	chmod 700 "$work"
	says 1 '^fail  ledger: .*user 65534 may not enter one of its folders' \
	    "a folder above it that its owner may not enter, too" doctor
	chmod 755 "$work"
fi
echo "1..$count"
exit $failed
