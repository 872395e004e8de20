#!/bin/sh
# SPDX-License-Identifier: ISC
#
# Through a real lighttpd: what idemd answers is what the client gets, also
# when it answers before it wanted the body.

top_srcdir=${top_srcdir:-.}
IDEMD=${IDEMD:-./idemd}
ORDER=${ORDER:-tests/order}
PATH=$PATH:/usr/sbin
for tool in lighttpd perl curl; do
	if ! command -v $tool >/dev/null; then
		echo "1..0 # SKIP $tool is not installed"
		exit 0
	fi
done

folder=$(mktemp -d "${TMPDIR:-/tmp}/idem-lighttpd-XXXXXX") || exit 1
idemd= lighttpd= holder= tests=0 failed=0

clean() {
	for pid in $lighttpd $idemd $holder; do
		kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null
	done
	rm -rf "$folder"
}
trap clean EXIT
trap 'exit 143' INT TERM

# is GOT WANTED TEXT
is() {
	tests=$((tests + 1))
	if [ "$1" = "$2" ]; then
		echo "ok $tests - $3"
	else
		echo "not ok $tests - $3"
		echo "#      got: $1"
		echo "# expected: $2"
		failed=$((failed + 1))
	fi
}

until_true() {
	tries=0
	until "$@"; do
		tries=$((tries + 1))
		[ $tries -lt 1000 ] || { echo "Bail out! $* does not come"; exit 1; }
		sleep 0.05
	done
}

# A socket is there a moment before somebody listens on it.
listens() {
	perl -MIO::Socket::UNIX \
	    -e 'exit !IO::Socket::UNIX->new(Peer => shift)' "$1"
}

# By idemd: lighttpd says 503 for a second where that does not listen yet.
answers() {
	curl -sf -o /dev/null --max-time 5 "http://127.0.0.1:$port/"
}

# post KEY FILE [FIELD]: status, Idempotency-Status
post() {
	curl -s --max-time 100 -o "$folder/body" -H 'Expect:' \
	    -H "${3:-Idempotency-Key}: $1" --data-binary "@$folder/$2" \
	    -H 'Content-Type: application/octet-stream' \
	    -w '%{http_code} %header{idempotency-status}' \
	    "http://127.0.0.1:$port/order?sleep=20"
}

# $port is ours until the end; lighttpd, which sets SO_REUSEADDR, gets it as well.
port_hold() {
	[ -z "$holder" ] || return
	perl "$top_srcdir/demo/hold-port.pl" >"$folder/port" &
	holder=$!
	until_true [ -s "$folder/port" ]
	port=$(cat "$folder/port")
}

# serve STREAM: lighttpd hands bodies on whole (0) or as they come (2).
serve() {
	port_hold
	cat >"$folder/conf" <<-END
	server.bind = "127.0.0.1"
	server.port = $port
	server.document-root = "$folder"
	server.errorlog = "$folder/lighttpd.log"
	server.upload-dirs = ( "$folder" )
	server.stream-request-body = $1
	server.modules = ( "mod_fastcgi" )
	fastcgi.server = ( "/" => (( "socket" => "$folder/sock",
	    "check-local" => "disable" )) )
	END
	lighttpd -D -f "$folder/conf" >>"$folder/lighttpd.log" 2>&1 &
	lighttpd=$!
	until_true answers
}

case $ORDER in /*) ;; *) ORDER=$PWD/$ORDER ;; esac
ln -s "$ORDER" "$folder/order"
echo "item=tea" >"$folder/small"
head -c 10485760 /dev/zero >"$folder/large"
"$IDEMD" -s "unix:$folder/sock" --ledger "sqlite:$folder/ledger.db" --create \
    --workers 2 -- "$folder/order" 2>"$folder/idemd.log" &
idemd=$!
until_true listens "$folder/sock"

for stream in 0 2; do
	serve $stream
	how="stream-request-body $stream"
	is "$(post "\"k$stream\"" small)" "201 stored" "$how: a first order"
	is "$(post "\"k$stream\"" small)" "201 replayed" "$how: its duplicate"
	is "$(post "\"k$stream\"" small iDEMPOTENCY-KEY)" "201 replayed" \
	    "$how: one whose field is spelled in another case [idem:D19]"
	is "$(post "\"k$stream\"" large)" "422 mismatch" \
	    "$how: another body of 10 MB under its key is refused"
	is "$(post '"k' large)" "400 rejected" \
	    "$how: a malformed key with 10 MB, refused before they are read"
	is "$(post "\"large$stream\"" large)" "201 stored" \
	    "$how: 10 MB that nobody reads are no trouble"
	kill "$lighttpd"
	wait "$lighttpd" 2>/dev/null
	lighttpd=
done
for key in '"k0"' '"k2"' '"large0"' '"large2"'; do
	is "$(grep -cxF "$key" "$folder/orders")" 1 "one start of $key"
done
[ $failed = 0 ] || sed 's/^/# log: /' "$folder/idemd.log" | tail -n 20
echo "1..$tests"
[ $failed = 0 ]
