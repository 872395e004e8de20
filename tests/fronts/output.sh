# SPDX-License-Identifier: ISC
#
# All that programs do with their output, and what a client sees of it through
# every front alike.  To be read by suite.sh.

# odd NAME WANTED TEXT [FRONT WANTED]...: an output of odd.cgi, without a key,
# with one, and once more.  WANTED: status, Location, what the body is.
odd() {
	name=$1 text=$3
	wanted=$2
	shift 3
	wanted=$(of_front "$wanted" "$@")
	ask GET "/cgi-bin/odd.cgi?$name"
	got=$(shape)
	ours_alone || got=${wanted%%,*}
	keyed "$name" POST "/cgi-bin/odd.cgi?$name" -d x
	keep first
	got="$got, $(shape) $said"
	keyed "$name" POST "/cgi-bin/odd.cgi?$name" -d x
	got="$got, $(shape) $said"
	same first >/dev/null && got="$got, same"
	case $wanted in
	*,*)	;;
	502*problem)
		wanted="$wanted, $wanted unknown, 409 - problem unknown" ;;
	*)	wanted="$wanted, $wanted stored, $wanted replayed, same" ;;
	esac
	is "$got, $(begun "$name")" "$wanted, 1" "$front: $text"
}

check_heads() {
	odd lf "200 - hello" "lines may end in LF [R20]"
	odd crlf "200 - hello" "or in CRLF [R20]"
	odd mixed "200 - hello" "or in both [R20]"
	odd case "202 - hello" "names of fields are in any case [R16]"
	odd no-head "502 - problem" "no head is 502 [cgi:C10 R15]"
	odd blank-first "502 - problem" "an empty head is 502 [cgi:C10 R15]"
	odd nothing "502 - problem" "nothing is 502 [cgi:C10 R14]"
	odd no-end "502 - problem" "a head that never ends is 502"
	odd no-colon "502 - problem" "a line without colon is 502 [cgi:C42]"
	odd blank-colon "502 - problem" "so is a blank before it [R16]"
	odd folded "502 - problem" "so is a folded line [R16]"
	odd nul "502 - problem" "so is a NUL [R24]"
	odd line-7k "200 - hello" "a line of 7 KB passes [R25]"
	odd line-9k "200 - hello" \
	    "one of 9 KB passes, or is too long for the front [R25]" \
	    apache-proxy_fcgi "500 - empty, 500 - empty -, 500 - empty -, same" \
	    apache-mod_fcgid "500 - other, 500 - other -, 500 - other -, same" \
	    apache-cgi "500 - other, 500 - other -, 500 - other -, same"
	odd line-70k "502 - problem" "one of 70 KB is 502 [R25]"
}

check_statuses() {
	odd http-404 "404 - hello" \
	    "a first line of HTTP is the status [cgi:C86 R13 F18]"
	odd status-same "404 - hello" "the same status twice is one [cgi:C86]"
	odd status-twice "502 - problem" "two that differ are 502 [cgi:C86 R16]"
	odd status-abc "502 - problem" "so is one that is no number [cgi:C86]"
	odd status-99 "502 - problem" "or below 200: 99 [cgi:C86]"
	odd status-100 "502 - problem" "or 100 [cgi:C86]"
	odd status-418 "418 - hello" "any other stays what it is"
	odd status-500 "500 - hello" "500 too, and it is kept"
	odd 204 "204 - empty" "204 stays 204"
	odd 204-body "204 - empty" "and loses a body"
	odd 304-body "304 - empty" "and so does 304"
	odd empty "200 - empty" "an empty body is an answer"
	odd exit-3 "200 - hello, 502 - problem unknown, 409 - problem unknown" \
	    "what ended with 3 is not known to be whole"
	odd stderr "200 - hello" "what goes to the log is no part of it [cgi:C13]"
}

check_redirects() {
	echo thanks >"$www/thanks.txt"
	# Apache's ETag of a file that has just changed is a weak one.
	touch -d '1 minute ago' "$www/thanks.txt"
	odd absolute "302 http://other.example/x?a=b empty" \
	    "an absolute Location alone is 302 [cgi:C29 R19]"
	odd moved "301 http://other.example/x hello" \
	    "with a status it keeps it [cgi:C29 R19]"
	odd see-other "303 /thanks empty" "a local one too"
	odd created "201 /order/7 hello" "and 201 is no redirect [cgi:C29]"
	odd local "302 /thanks.txt empty" \
	    "a local one without a status, as documented [cgi:C29 R18]" \
	    apache-proxy_fcgi "200 /thanks.txt empty" \
	    apache-mod_fcgid "200 - other" apache-cgi "200 - other"
}

# Less than it said: without a key the head may be out before that is known.
check_short() {
	ask GET '/cgi-bin/odd.cgi?length-long' --max-time 2
	! ours_alone ||
	    holds "$front: less than the length is never a whole answer [cgi:C85]" \
	    [ "$(shape)" != "200 - hello" ]
	for wanted in "502 - problem unknown" "409 - problem unknown"; do
		keyed long POST '/cgi-bin/odd.cgi?length-long' -d x
		is "$(shape) $said $(begun length-long)" "$wanted 1" \
		    "$front: with a key it is ${wanted%% *} [cgi:C85 R1]"
	done
}

check_framing() {
	odd length "200 - hello" "a right length is right"
	odd length-short "200 - other" "more than the length is cut [cgi:C85]"
	check_short
	odd length-twice "502 - problem" "two lengths are 502 [cgi:C85]"
	odd length-bad "502 - problem" "no number is none [cgi:C85]"
	odd chunked "502 - problem" \
	    "a Transfer-Encoding of the program's is 502 [cgi:C84 R21]"
	odd server "200 - hello" "Date and Server are the front's [R21]"
	ask GET '/cgi-bin/odd.cgi?server'
	! ours_alone || is "$(grep -ci '^date:' "$folder/head")" 1 \
	    "$front: and there is one Date [R21]"
	! ours_alone || holds "$front: neither is the program's [R21]" \
	    [ -z "$(grep -iE '^(server: odd|date:.*1970)' "$folder/head")" ]
	odd binary "200 - other" "bytes are bytes [idem:E3]"
	is "$(od -An -tx1 <"$folder/body" | tr -d ' \n')" "6100620d0aff0a0d" \
	    "$front: each of them [R23 idem:E3]"
}

check_fields() {
	odd cookies "200 - hello, 200 - hello stored, 200 - hello replayed" \
	    "cookies are the first client's"
	is "$(field Set-Cookie)" "" "$front: and not replayed to another"
	ask GET '/cgi-bin/odd.cgi?cookies'
	is "$(field Set-Cookie | tr '\n' '|')" \
	    "a=1; expires=Thu, 01 Jan 2037 00:00:00 GMT|b=2|" \
	    "$front: two are two [idem:E1]"
	odd comma "200 - hello" "a comma in a field"
	is "$(field Content-Disposition)" 'attachment; filename="a,b.txt"' \
	    "$front: splits nothing, replayed neither [idem:E1]"
	odd twice "200 - hello" "a field twice"
	is "$(field X-Odd | tr '\n' '|')" "$(of_front 'a|b|' 'apache-*' 'a, b|')" \
	    "$front: stays two lines, or one joined, as documented"
	ask GET '/cgi-bin/odd.cgi?etag' -H 'If-None-Match: "a"'
	is "$(shape)" "$(of_front '200 - hello' 'apache-*' '304 - empty')" \
	    "$front: an ETag is compared by Apache only, as documented"
	ask GET '/cgi-bin/odd.cgi?etag-200' -H 'If-None-Match: "a"'
	is "$(shape)" "200 - hello" "$front: and not if there is a Status"
}

# What a HEAD brings, as bytes: the status, and how much behind the head.
head_of() {
	perl -MIO::Socket::INET -e '
		my ($port, $path) = @ARGV;
		my $s = IO::Socket::INET->new("127.0.0.1:$port") or exit 1;
		print $s "HEAD $path HTTP/1.1\r\nHost: localhost\r\n",
		    "Connection: close\r\n\r\n";
		my $all = do { local $/; <$s> };
		my ($head, $body) = split /\r\n\r\n/, $all, 2;
		my ($status) = $head =~ /^HTTP\S+ (\d+)/;
		print $status, " ", length $body' "$port" "$1"
}

# What a front obeys of a program's answer.
check_obeyed() {
	odd accel "200 - hello" "X-Accel-Redirect is nginx's, as documented" \
	    nginx "200 - other, 200 - other -, 200 - other -, same"
	odd sendfile "200 - hello" "X-Sendfile is nobody's, as documented"
	ask GET '/cgi-bin/odd.cgi?sendfile'
	is "$(field X-Sendfile)" "$(of_front /thanks.txt 'lighttpd*' '')" \
	    "$front: and who does not know it shows it"
	ask GET '/cgi-bin/none.cgi'
	is "$(shape)" "$(of_front '404 - problem' 'lighttpd*' '404 - other' \
	    '*-cgi' '404 - other')" \
	    "$front: a program that is not there is 404, ours or the front's"
}

# The body is what the encoding says, at each replay (idem:E9).
check_coded() {
	odd coded "200 - other" "a coded body"
	is "$(field Content-Encoding) $(gzip -dc <"$folder/body")" "gzip hello" \
	    "$front: has its encoding, replayed too [idem:E9]"
	keyed coded POST '/cgi-bin/odd.cgi?coded' -d x \
	    -H 'Accept-Encoding: identity'
	is "$said $(field Content-Encoding) $(gzip -dc <"$folder/body")" \
	    "replayed gzip hello" \
	    "$front: whatever the client accepts by then [idem:E9]"
}

# problem STATUS TEXT: what we said ourselves.
problem() {
	is "$status $ended $(field Content-Type) $(perl -MJSON::PP -0777 -ne \
	    'print decode_json($_)->{status}' "$folder/body")" \
	    "$1 0 application/problem+json $1" "$front: $2 [idem:E11]"
}

check_problems() {
	perl -MJSON::PP -e 1 2>/dev/null || {
		skip "$front: problems are well formed" "no JSON::PP"
		return
	}
	keyed '' POST '/cgi-bin/take.cgi?one' -d item=tea
	problem 400 "an empty key's problem is well formed"
	keyed one POST '/cgi-bin/take.cgi?one' -d item=milk
	problem 422 "so is a mismatch's"
	keyed nothing POST '/cgi-bin/odd.cgi?nothing' -d x
	problem 409 "so is an unknown key's"
}

check_head() {
	for name in lf length empty created absolute; do
		ask GET "/cgi-bin/odd.cgi?$name"
		is "$(head_of "/cgi-bin/odd.cgi?$name")" "$status 0" \
		    "$front: HEAD of '$name' is GET without a body [cgi:C44 R11]"
	done
}
