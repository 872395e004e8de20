#!/bin/sh
# SPDX-License-Identifier: ISC
#
# The goals of speed, measured side by side: every round takes each pair one
# after the other, and what counts is the median of the rounds' ratios.  A busy
# machine spoils them: look at the spread beside each.
#
#	bench.sh [ROUNDS [MILLISECONDS]]	of each measurement (5, 1000)
#
# IDEMD, ORDER and BENCH say where idemd, tests/order and the folder of
# bench_replay, bare and sync are; FCGIWRAP and BENCH_FOLDER (for the ledger)
# are optional.

rounds=${1:-5}
ms=${2:-1000}
idemd=${IDEMD:-./idemd}
order=${ORDER:-tests/order}
bench=${BENCH:-tests/bench}
fcgiwrap=${FCGIWRAP:-fcgiwrap}
clients=16
pids=
wrap=

folder=$(mktemp -d "${BENCH_FOLDER:-${TMPDIR:-/tmp}}/idem-bench-XXXXXX") || exit 111

clean() {
	for pid in $pids; do
		# fcgiwrap leaves its children behind; idemd sees to its own.
		[ "$pid" = "$wrap" ] &&
		    pid="$pid $(cat "/proc/$pid/task/$pid/children")"
		kill $pid 2>/dev/null
	done
	wait
	rm -rf "$folder"
}
trap clean EXIT
trap 'exit 130' INT TERM

# await NAME: until something answers there.
await() {
	tries=0
	until [ -S "$folder/$1" ] && load "$1" 1 20 $2 >/dev/null 2>&1; do
		tries=$((tries + 1))
		if [ $tries -gt 100 ]; then
			echo "bench: $1 does not answer" >&2
			cat "$folder/log" >&2
			exit 1
		fi
		sleep 0.1
	done
}

# load SOCKET CLIENTS MILLISECONDS OPTION...
load() {
	socket=$1
	count=$2
	time=$3
	shift 3
	"$bench/bench_replay" -s "$folder/$socket" -n "$count" -t "$time" \
	    -w "Status: 201" "$@"
}

# measure ROW SIDE SOCKET CLIENTS OPTION...: a line "SIDE RATE MEAN" in ROW.
measure() {
	row=$1
	side=$2
	shift 2
	socket=$1
	count=$2
	shift 2
	out=$(load "$socket" "$count" "$ms" "$@" 2>>"$folder/errors")
	echo "$out" | sed -n "s/^rate=\([0-9]*\) mean_us=\([0-9.]*\).*failed=\([0-9]*\)\$/$side \1 \2 \3/p" \
	    >>"$folder/$row"
}

# ratio ROW COLUMN: medians of ours and theirs, of their ratio in each round,
# its least and greatest, and how many answers of each were wrong.
ratio() {
	awk -v c="$2" '
		function median(a, n,   i, j, t) {
			for (i = 2; i <= n; i++)
				for (j = i; j > 1 && a[j - 1] > a[j]; j--) {
					t = a[j]; a[j] = a[j - 1]; a[j - 1] = t
				}
			return n % 2 ? a[(n + 1) / 2] : (a[n / 2] + a[n / 2 + 1]) / 2
		}
		$1 == "ours" { ours[++n] = $c }
		$1 == "theirs" { theirs[++m] = $c }
		{ failed[$1] += $4 }
		END {
			if (n == 0 || n != m) exit 1
			for (i = 1; i <= n; i++)
				r[i] = theirs[i] > 0 ? ours[i] / theirs[i] : 0
			o = median(ours, n); t = median(theirs, n)
			q = median(r, n)
			print o, t, q, r[1], r[n], failed["ours"] + 0, failed["theirs"] + 0
		}' "$folder/$1"
}

# row ROW WHAT AGAINST GOAL: of rates, more is better.
row() {
	set -- "$1" "$2" "$3" "$4" $(ratio "$1" 2)
	if [ $# -lt 11 ]; then
		printf '%-28s not measured\n' "$2"
		return
	fi
	printf '%-28s %8.0f/s  %-17s %8.0f/s  %5.2f (%.2f-%.2f)  >= %.2f  %s' \
	    "$2" "$5" "$3" "$6" "$7" "$8" "$9" "$4" \
	    "$(awk -v r="$7" -v g="$4" 'BEGIN { print (r >= g ? "met" : "missed") }')"
	shift 9
	[ "$1$2" = 00 ] && echo || echo "  (wrong answers: $1, $2)"
}

"$bench/bare" "$folder/bare" &
pids="$pids $!"
cp "$order" "$folder/order" || exit 111
"$idemd" -s "unix:$folder/idem" --ledger "sqlite:$folder/ledger.db" --create \
    -c 16 -- "$folder/order" 2>"$folder/log" &
pids="$pids $!"
await bare
await idem
load idem 1 100 -f warm -r kept >/dev/null 2>&1	# the key, in both caches
load idem 16 300 -r kept >/dev/null 2>&1
if command -v "$fcgiwrap" >/dev/null; then
	(cd "$folder" && exec "$fcgiwrap" -c 4 -s "unix:$folder/wrap") \
	    2>/dev/null &
	wrap=$!
	pids="$pids $wrap"
	await wrap "-p $folder/order"
fi

sync_us=$("$bench/sync" "$folder")
i=0
while [ $i -lt "$rounds" ]; do
	i=$((i + 1))
	measure kept ours idem $clients -k -r kept -w replayed
	measure kept theirs bare $clients -k -r kept
	measure each ours idem $clients -r kept -w replayed
	measure each theirs bare $clients -r kept
	[ -n "$wrap" ] || continue
	measure keyless theirs wrap $clients -p "$folder/order"
	measure keyless ours idem $clients
	grep '^theirs' "$folder/keyless" | tail -n 1 >>"$folder/fresh"
	measure fresh ours idem $clients -f "fresh-$i" -w stored
	measure alone theirs wrap 1 -p "$folder/order"
	measure alone ours idem 1 -f "alone-$i" -w stored
done

echo "$rounds rounds of $ms ms, $clients clients, $(nproc) CPUs," \
    "load $(cut -d ' ' -f 1 /proc/loadavg), fdatasync $sync_us us (median)"
row kept "replay, kept connections" "bare libfcgi" 1.10
row each "replay, a connection each" "bare libfcgi" 1.00
if [ -n "$wrap" ]; then
	row keyless "CGI without a key" "fcgiwrap -c4" 1.30
	row fresh "fresh keyed CGI, ledger" "fcgiwrap -c4" 1.15
	set -- $(ratio alone 3)
	printf '%-28s %8.0f us  %-17s %8.0f us  goal <= %.0f us  %s\n' \
	    "the same, one client" "$1" "fcgiwrap -c4" "$2" \
	    $(awk -v o="$1" -v t="$2" -v s="$sync_us" 'BEGIN {
		g = 0.9 * t + 2 * s; print g, (o <= g ? "met" : "missed") }')
	[ "$sync_us" -le 300 ] ||
	    echo "(the goal of fresh ones is for a fdatasync of at most 300 us)"
else
	echo "fcgiwrap is not installed: nothing to measure CGI by"
fi
