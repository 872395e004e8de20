#!/bin/sh
# SPDX-License-Identifier: ISC
#
# The probes and the alert of doc/operations.md are run as they stand there, and
# each configuration in the texts is read.

top_srcdir=${top_srcdir:-.}
text=$top_srcdir/doc/operations.md
IDEMD=${IDEMD:-${top_builddir:-.}/idemd}
IDEMCTL=${IDEMCTL:-${top_builddir:-.}/idemctl}
key=5f3a9c0177e2b1d45f3a9c0177e2b1d45f3a9c0177e2b1d45f3a9c0177e2b1d4
count=0
failed=0
server=

work=$(mktemp -d) || exit 1
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

ok() {
	count=$((count + 1))
	if [ "$1" = 0 ]; then
		echo "ok $count - $2"
	else
		echo "not ok $count - $2"
		sed 's/^/# /' "$work/out" 2>/dev/null
		failed=1
	fi
}

skip() {
	count=$((count + 1))
	echo "ok $count - $2 # SKIP $1"
}

# example LANGUAGE WORD: the block of that language in which the word stands.
example() {
	awk -v lang="$1" -v word="$2" '
		/^```/ && !inside { inside = 1; its = $0; block = ""; next }
		/^```$/ {
			inside = 0
			if (its == "```" lang && index(block, word))
				printf "%s", block
		}
		inside { block = block $0 "\n" }' "$text"
}

# says STATUS PATTERN SENTENCE COMMAND...: exit status and output.
says() {
	want=$1 pattern=$2 sentence=$3
	shift 3
	env - PATH="$work/bin:$PATH" "$@" >"$work/out" 2>&1 </dev/null
	got=$?
	[ "$got" = "$want" ] && { [ -z "$pattern" ] ||
	    grep -q "$pattern" "$work/out"; }
	bad=$?
	[ "$bad" = 0 ] || echo "# exit status $got, not $want, or no $pattern"
	ok "$bad" "$sentence"
}

# --- a table ---------------------------------------------------------------

probe_of_table() {
	example sh was-it-placed | sed "s|/var/lib/order|$work|" >"$work/placed"
	chmod +x "$work/placed"
	example '' 'ALTER TABLE' >"$work/alter"
	[ -s "$work/alter" ]
	ok $? "the text says how a table gets the key"
	{
		echo "CREATE TABLE orders (number INTEGER PRIMARY KEY);"
		cat "$work/alter"
		echo "INSERT INTO orders VALUES (4711, '$key');"
	} | sqlite3 "$work/orders.db" >"$work/out" 2>&1
	ok $? "and that can be done"
	sqlite3 "$work/orders.db" "INSERT INTO orders VALUES (4712, '$key');" \
	    >"$work/out" 2>&1
	[ $? != 0 ]
	ok $? "after which no order can be placed twice"
	says 0 '^Location: /orders/4711' "an order that was placed is found" \
	    IDEMPOTENCY_KEY="$key" IDEM_RECOVERY=1 "$work/placed"
	says 10 '' "one that was not is denied" \
	    IDEMPOTENCY_KEY="$(printf %064d 0)" IDEM_RECOVERY=1 "$work/placed"
	says 1 '' "without a key nobody knows" IDEM_RECOVERY=1 "$work/placed"
	says 1 '' "nor with one that is none" \
	    IDEMPOTENCY_KEY="' OR '1" "$work/placed"
	rm "$work/orders.db"
	says 1 '' "nor without the table" IDEMPOTENCY_KEY="$key" "$work/placed"
}

# --- another company -------------------------------------------------------

# It has heard of that key alone, and is ill at "ill".
start_company() {
	cat >"$work/company" <<-'END'
	use strict;
	use warnings;
	use IO::Socket::INET;
	my ($known, $file) = @ARGV;
	my $socket = IO::Socket::INET->new(Listen => 5,
	    LocalAddr => '127.0.0.1', LocalPort => 0) or die "no socket";
	alarm 600;
	open my $out, '>', "$file.new" or die "$file: $!";
	print $out $socket->sockport;
	close $out;
	rename "$file.new", $file;
	while (my $c = $socket->accept) {
		my $ask = <$c>;
		while (defined(my $line = <$c>)) { last if $line =~ /^\r?$/ }
		my $status = $ask =~ /reference=$known / ? "200 OK" :
		    $ask =~ /=ill / ? "503 Ill" : "404 Not Found";
		print $c "HTTP/1.1 $status\r\nContent-Length: 0\r\n",
		    "Connection: close\r\n\r\n";
		close $c;
	}
	END
	perl "$work/company" "$key" "$work/port" &
	server=$!
	tries=0
	while [ ! -e "$work/port" ] && [ $tries -lt 1200 ]; do
		sleep 0.05
		tries=$((tries + 1))
	done
	[ -e "$work/port" ]
}

probe_of_company() {
	start_company
	ok $? "a company is there"
	example perl was-it-paid |
	    sed "s|pay.example|127.0.0.1:$(cat "$work/port")|" >"$work/paid"
	chmod +x "$work/paid"
	says 0 '^paid, reference' "a payment that it knows is found" \
	    IDEMPOTENCY_KEY="$key" IDEM_RECOVERY=1 "$work/paid"
	says 10 '' "one that it does not is denied" \
	    IDEMPOTENCY_KEY="$(printf %064d 0)" "$work/paid"
	says 1 '' "when it is ill nobody knows" IDEMPOTENCY_KEY=ill "$work/paid"
	kill "$server"
	wait "$server" 2>/dev/null
	server=
	says 1 '' "nor when it is away" IDEMPOTENCY_KEY="$key" "$work/paid"
	says 1 '' "nor without a key" IDEM_RECOVERY=1 "$work/paid"
}

# --- the alert -------------------------------------------------------------

alert() {
	mkdir "$work/bin"
	cat >"$work/bin/mail" <<-'END'
	#!/bin/sh
	echo "to $3: $2"
	cat
	END
	chmod +x "$work/bin/mail"
	example sh IDEM_KEYS_LEFT_OUT >"$work/alert"
	chmod +x "$work/alert"
	says 0 '^idemctl show 0011223344556677$' "an alert's keys are told" \
	    IDEM_EVENT=unknown-key IDEM_WHAT='key "x"' IDEM_TIME=now \
	    IDEM_INSTANCE=here IDEM_LEFT_OUT=2 \
	    IDEM_KEYS='0011223344556677 8899aabbccddeeff' \
	    IDEM_KEYS_LEFT_OUT=1 "$work/alert" unknown-key
	grep -q '^and others: idemctl unknown$' "$work/out" &&
	    grep -q '^key "x"$' "$work/out" &&
	    grep -q ': idem: unknown-key at here$' "$work/out"
	ok $? "with what it is about, and that there are more"
}

# --- configurations --------------------------------------------------------

# Those that are a part of one have no ledger of their own.
configurations() {
	(umask 077; "$IDEMCTL" token --make-key >"$work/token.keys") || exit 1
	for file in README.md doc/operations.md doc/tokens.md; do
		awk -v to="$work/${file##*/}" '
			/^```lua$/ { n++; inside = 1; next }
			/^```$/ { inside = 0 }
			inside { print >(to "." n ".conf") }' "$top_srcdir/$file"
	done
	for file in "$work"/*.conf; do
		sed "s|/etc/idem/token.keys|$work/token.keys|" "$file" >"$work/conf"
		says 0 '^.*: ok, [12] route' "${file##*/} can be read" \
		    "$IDEMD" --config "$work/conf" --check-config \
		    --ledger "sqlite:$work/ledger.db"
	done
	[ "$count" -ge 5 ]
	ok $? "there are some"
}

configurations
if command -v sqlite3 >/dev/null; then
	probe_of_table
else
	skip "no sqlite3 here" "the probe of a table"
fi
if perl -MHTTP::Tiny -MIO::Socket::INET -e 1 2>/dev/null; then
	probe_of_company
else
	skip "no perl with HTTP::Tiny here" "the probe of a company"
fi
alert
echo "1..$count"
exit $failed
