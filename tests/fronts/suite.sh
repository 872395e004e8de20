# SPDX-License-Identifier: ISC
#
# What must hold through every web server alike, and where one cannot, what
# doc/fronts/README.md says of it.  To be read after fronts.sh by a test that
# has started idemd and its front.

. "$top_srcdir/tests/fronts/ask.sh"
. "$top_srcdir/tests/fronts/output.sh"

# --- what a program is told ---------------------------------------------------

told() {
	echo "$(variable SCRIPT_NAME) $(variable PATH_INFO)" \
	    "$(variable QUERY_STRING)"
}
has() { grep -cE "$1" "$folder/body"; }

check_told() {
	ask GET '/cgi-bin/env.cgi/some/where?a=b&c=%20d'
	is "$(told)" "/cgi-bin/env.cgi /some/where a=b&c=%20d" \
	    "$front: script, path and query are told apart"
	is "$(variable SCRIPT_FILENAME)" "$www/cgi-bin/env.cgi" \
	    "$front: SCRIPT_FILENAME is the file"
	is "$(variable REQUEST_METHOD) $(variable GATEWAY_INTERFACE)" \
	    "GET CGI/1.1" "$front: the method is told [R3]"
	! ours_alone || is "$(has '^CONTENT_LENGTH=')" 0 \
	    "$front: a GET has no CONTENT_LENGTH [R4]"
	ask GET '/cgi-bin/env.cgi'
	is "$(variable SCRIPT_NAME) $(has '^PATH_(INFO|TRANSLATED)=.')" \
	    "/cgi-bin/env.cgi 0" \
	    "$front: without an extra path there is no PATH_INFO [cgi:C30 R6]"
	is "$(has '^QUERY_STRING=$')" 1 \
	    "$front: QUERY_STRING is there when empty [R3]"
	check_escapes
	check_spoofs
}

check_escapes() {
	ask GET '/cgi-bin/env.cgi/a%20b%c3%a9%3f%25+c?x=%C3%A9'
	is "$(variable PATH_INFO) $(variable QUERY_STRING)" \
	    "/a bé?%+c x=%C3%A9" \
	    "$front: PATH_INFO is decoded once, the query never [cgi:C48 R6]"
	ask GET '/cgi-bin/env.cgi/a%2Fb'
	is "$status $(variable PATH_INFO)" "200 /a/b" \
	    "$front: %2F is a slash [cgi:C48]"
	ask GET '/cgi-bin/env.cgi/a%0Ab'
	is "$status $(variable PATH_INFO)" \
	    "$(of_front "200 /a$(printf '\001')b" 'lighttpd*' "400 ")" \
	    "$front: %0A is a newline, or refused, as documented [cgi:C48]"
	ask GET '/cgi-bin/env.cgi/a%00b'
	is "$status" "$(of_front 400 'apache-*' 404)" \
	    "$front: %00 never comes to a program [cgi:C48 R24]"
	cp "$www/cgi-bin/env.cgi" "$www/cgi-bin/a b.cgi"
	ask GET '/cgi-bin/a%20b.cgi/c%20d'
	is "$(variable SCRIPT_NAME)|$(variable PATH_INFO)" \
	    "/cgi-bin/a b.cgi|/c d" "$front: names may hold spaces"
}

check_spoofs() {
	ask GET '/cgi-bin/env.cgi' -H 'Proxy: http://evil.example/' \
	    -u 'foo:x' -H 'Remote_User: foo' -H 'X-One: a'
	is "$(variable HTTP_X_ONE) $(has '^HTTP_PROXY=')" \
	    "a 0" "$front: fields come, but no client chooses HTTP_PROXY"
	is "$(variable AUTH_TYPE)|$(variable REMOTE_USER)" "|" \
	    "$front: a password that nobody checked makes no user [cgi:C34 idem:D20]"
	keyed spoof POST '/cgi-bin/take.cgi?spoof' -d x -u 'foo:x'
	keyed spoof POST '/cgi-bin/take.cgi?spoof' -d x -u 'bar:x'
	is "$status $said $(begun spoof)" \
	    "$(of_front '409 withheld 1' 'apache-*' '201 replayed 1')" \
	    "$front: nor another scope: one run, whoever one claims to be [cgi:C34 idem:D11]"
}

# --- keys ---------------------------------------------------------------------

check_replay() {
	keyed one POST '/cgi-bin/take.cgi?one' -d item=tea
	keep first
	is "$status $said $(field X-Run)" "201 stored 1" \
	    "$front: a keyed POST runs the program"
	for time in second third; do
		keyed one POST '/cgi-bin/take.cgi?one' -d item=tea
		is "$status $said $(begun one)" "201 replayed 1" \
		    "$front: the $time one is a replay [idem:E4]"
		holds "$front: and the same byte for byte [idem:E1 idem:E5]" \
		    same first
	done
	keyed one POST '/cgi-bin/take.cgi?one' -d item=coffee
	is "$status $said $(begun one)" "422 mismatch 1" \
	    "$front: another body under the key is refused"
	ask POST '/cgi-bin/take.cgi?none' -d item=tea
	ask POST '/cgi-bin/take.cgi?none' -d item=tea
	is "$status $said $(begun none)" "201 - 2" \
	    "$front: without a key each POST runs, and none is marked"
}

check_two_keys() {
	ask POST '/cgi-bin/take.cgi?equal' -d x \
	    -H 'Idempotency-Key: "k"' -H 'Idempotency-Key: "k"'
	is "$status $said" "201 stored" \
	    "$front: two equal keys are one [cgi:C73 R7]"
	keyed k POST '/cgi-bin/take.cgi?equal' -d x
	is "$status $said $(begun equal)" "201 replayed 1" \
	    "$front: and the same as one alone [cgi:C73]"
	ask POST '/cgi-bin/take.cgi?differ' -d x \
	    -H 'Idempotency-Key: "k1"' -H 'Idempotency-Key: "k2"'
	is "$status $said $(begun differ)" "400 rejected 0" \
	    "$front: two that differ are refused [cgi:C73 idem:D17]"
	ask POST '/cgi-bin/take.cgi?lower' -d x -H 'idempotency-key: "low"'
	ask POST '/cgi-bin/take.cgi?lower' -d x -H 'IDEMPOTENCY-KEY: low'
	is "$status $said $(begun lower)" "201 replayed 1" \
	    "$front: the field's case does not matter [idem:D19]"
	ask POST '/cgi-bin/take.cgi?alone' -d x -H 'Idempotency_Key: "alone"'
	is "$status $said" "$(of_front '201 -' 'lighttpd*' '201 stored')" \
	    "$front: Idempotency_Key is no key, or the same, as documented [idem:D20]"
	# A front drops the name, or makes it one of ours: never another key.
	ask POST '/cgi-bin/take.cgi?under' -d x \
	    -H 'Idempotency-Key: "u1"' -H 'Idempotency_Key: "u2"'
	keyed u2 POST '/cgi-bin/take.cgi?under' -d x
	is "$status $said" "201 stored" \
	    "$front: Idempotency_Key beside it chooses no key [idem:D20]"
}

# --- bodies -------------------------------------------------------------------

# took SIZE: what take.cgi says of that file.
took() { echo "length=$1 coding=none $(cksum <"$folder/$1")"; }

check_bodies() {
	for size in 65535 65536 65537 131071 131072 131073; do
		file $size
		ask POST "/cgi-bin/take.cgi?size$size" \
		    --data-binary "@$folder/$size"
		keep plain
		keyed "size$size" POST "/cgi-bin/take.cgi?size$size" \
		    --data-binary "@$folder/$size"
		is "$status $said $(cat "$folder/body")" \
		    "201 stored $(took $size)" \
		    "$front: $size bytes arrive with a key [cgi:C81]"
		is "$(cat "$folder/plain.body")" "$(took $size)" \
		    "$front: and without [cgi:C81]"
	done
	file 1350880
	ask POST '/cgi-bin/take.cgi?upload' -H 'Transfer-Encoding: chunked' \
	    --data-binary "@$folder/1350880"
	! ours_alone || is "$status $(cat "$folder/body")" \
	    "201 $(took 1350880)" \
	    "$front: a chunked upload gets its length [cgi:C22 R4 R10]"
	keyed upload POST '/cgi-bin/take.cgi?upload' \
	    -H 'Transfer-Encoding: chunked' --data-binary "@$folder/1350880"
	is "$status $said $(cat "$folder/body")" "201 stored $(took 1350880)" \
	    "$front: with a key as well [cgi:C22]"
	keyed upload POST '/cgi-bin/take.cgi?upload' \
	    --data-binary "@$folder/1350880"
	is "$status $said" "201 replayed" \
	    "$front: sent with a length it is the same request"
	head -c 10485760 /dev/zero >"$folder/large"
	keyed upload POST '/cgi-bin/take.cgi?upload' \
	    --data-binary "@$folder/large"
	is "$status $said" "422 mismatch" \
	    "$front: the client sees that another body, of 10 MB, is refused"
	check_cut_upload
}

# cut_upload NAME FIELD [CHUNK-SIZE]: a client that says more, sends this and leaves.
cut_upload() {
	perl -MIO::Socket::INET -e '
		my ($port, $name, $field, $chunk) = @ARGV;
		my $s = IO::Socket::INET->new("127.0.0.1:$port") or exit 1;
		print $s "POST /cgi-bin/take.cgi?$name HTTP/1.1\r\n",
		    "Host: localhost\r\nIdempotency-Key: \"$name\"\r\n",
		    "Content-Type: text/plain\r\n$field\r\n\r\n",
		    $chunk ? "$chunk\r\n" : "", "x" x 20000;
		$s->flush' "$port" "$@"
}

# A cut one that was run would make the whole one a mismatch.
check_cut_upload() {
	head -c 60000 /dev/zero | tr '\0' x >"$folder/60000x"
	cut_upload sized 'Content-Length: 60000'
	cut_upload chunk 'Transfer-Encoding: chunked' ea60
	for name in sized chunk; do
		keyed $name POST "/cgi-bin/take.cgi?$name" \
		    -H 'Content-Type: text/plain' \
		    --data-binary "@$folder/60000x"
		is "$status $said $(begun $name)" "201 stored 1" \
		    "$front: a cut upload ($name) is never run, a whole one is [cgi:C53 F17]"
	done
}

# --- clients and servers that leave -------------------------------------------

check_leaving() {
	rm -f "$folder/body"
	: >"$folder/hold"
	curl -s -o "$folder/body" -H 'Idempotency-Key: "gone"' -d x \
	    "http://127.0.0.1:$port/cgi-bin/take.cgi?gone&hold" &
	leaver=$!
	until_true has_begun 'gone&hold'
	kill "$leaver"
	wait "$leaver" 2>/dev/null
	holds "$front: a client leaves while its program runs" \
	    [ $? -gt 128 -a ! -e "$folder/body" ]
	sleep 1		# the front has had time to see it leave
	rm "$folder/hold"
	keyed gone POST '/cgi-bin/take.cgi?gone&hold' -d x
	is "$status $said $(begun 'gone&hold')" "201 replayed 1" \
	    "$front: the run went on, and its answer was kept [cgi:C70 F13]"
	# The front answers after it has begun to reload, not before.
	: >"$folder/hold"
	keyed turn POST '/cgi-bin/take.cgi?turn&hold' -d x &
	asker=$!
	until_true has_begun 'turn&hold'
	front_reload
	rm "$folder/hold"
	wait "$asker"
	until_true front_answers
	keyed turn POST '/cgi-bin/take.cgi?turn&hold' -d x
	is "$status $said $(begun 'turn&hold')" "201 replayed 1" \
	    "$front: a reload of the front loses no run"
	: >"$folder/hold"
	keyed stop POST '/cgi-bin/take.cgi?stop&hold' -d x &
	asker=$!
	until_true has_begun 'stop&hold'
	kill -TERM "$front_pid"
	sleep 0.5	# it has had time to see to that
	rm "$folder/hold"
	front_gone
	wait "$asker"
	front_resume
	keyed stop POST '/cgi-bin/take.cgi?stop&hold' -d x
	is "$status $said $(begun 'stop&hold')" "201 replayed 1" \
	    "$front: nor does its stop"
}

# The lobbies and keepers of idemd die, and with them what they run.
check_killed() {
	keyed dead POST '/cgi-bin/hold.cgi?dead' -d x &
	asker=$!
	until_true has_begun dead
	kill -9 $(cat "/proc/$idemd_pid/task/$idemd_pid/children") 2>/dev/null
	wait "$asker"
	keyed dead POST '/cgi-bin/hold.cgi?dead' -d x
	is "$status $said $(begun dead)" "409 unknown 1" \
	    "$front: a run that died with idemd's workers is unknown [cgi:C88]"
}

# --- tokens -------------------------------------------------------------------

# Of the ledger, as the Redis that is shared is not there.
tokens_begin() {
	token_keys
	cat >"$folder/idem.conf" <<-END
	ledger = sqlite { path = "$folder/ledger.db" }
	shared = redis { url = "unix:$folder/none.sock", budget = "8s" }
	tokens = { keys = "$folder/token.keys" }
	local programs = cgi { root = "$www/cgi-bin" }
	route {
	  path = "/cgi-bin/take.cgi",
	  arbiter = "token",
	  required = true,
	  program = programs,
	}
	rest = programs
	END
}

# With that file, on the same ledger.
check_tokens() {
	if [ -n "$idemd_pid" ]; then
		idemd_stop
		tokens_begin
		idemd_start --config "$folder/idem.conf"
	fi
	ask POST '/.idem/token?path=/cgi-bin/take.cgi' -d ''
	token=$(sed 's/^{"token":"\([^"]*\)",.*/\1/' "$folder/body")
	is "$status $(field Content-Type) ${#token}" \
	    "201 application/json 75" "$front: a token is given"
	for wanted in "201 stored" "201 replayed"; do
		keyed "$token" POST '/cgi-bin/take.cgi?token' -d x
		is "$status $said $(begun token)" "$wanted 1" \
		    "$front: a POST with it is ${wanted#* }"
	done
	ask GET '/.idem/token'
	is "$(shape) $(field Allow)" "405 - problem POST" \
	    "$front: a GET gives none"
	ask POST '/cgi-bin/take.cgi?none-given' -d x
	is "$status $said $(begun none-given)" "400 rejected 0" \
	    "$front: a POST without one is refused where it must have one"
}

# --- everything ---------------------------------------------------------------

# In this order: a front that was stopped must serve the rest.
check_all() {
	check_told
	check_replay
	check_two_keys
	check_leaving
	[ -z "$idemd_pid" ] || check_killed
	check_bodies
	check_heads
	check_statuses
	check_redirects
	check_framing
	check_fields
	check_obeyed
	check_coded
	check_problems
	check_head
}
