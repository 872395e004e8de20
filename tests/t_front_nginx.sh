#!/bin/sh
# SPDX-License-Identifier: ISC
#
# Through nginx, with doc/fronts/nginx.conf as it is written; then as it must
# not be written, sending requests again and losing patience.

. "${top_srcdir:-.}/tests/fronts.sh"
. "$top_srcdir/tests/fronts/suite.sh"

# Two daemons with one ledger, and an nginx that asks the other one whenever it
# does not like an answer, or gets none for some seconds.
misuse() {
	front_stop
	first=$idemd_pid
	$as "$folder/idemd" -s "unix:$folder/two.sock" --root "$www/cgi-bin" \
	    --ledger "sqlite:$folder/ledger.db" --in-progress wait:60s \
	    2>>"$folder/idemd.log" &
	second=$!
	others="$others $second"
	until_true listens "$folder/two.sock"
	again="error timeout invalid_header http_500 http_503 non_idempotent"
	one="server unix:$folder/idem.sock max_fails=0;"
	two="server unix:$folder/two.sock max_fails=0;"
	front_edit="s|fastcgi_next_upstream off|fastcgi_next_upstream $again|
	    s|fastcgi_read_timeout 320s|fastcgi_read_timeout 8s|
	    s|fastcgi_pass unix:.*|fastcgi_pass two;|
	    \$a upstream two { $one $two }"
	front_start nginx
}

check_misuse() {
	misuse
	keyed again POST '/cgi-bin/hold.cgi?again' -d x &
	asker=$!
	until_true has_begun again
	for daemon in $first $second; do
		kill -9 $(cat "/proc/$daemon/task/$daemon/children") 2>/dev/null
	done
	wait "$asker"
	keyed again POST '/cgi-bin/hold.cgi?again' -d x
	is "$status $said $(begun again)" "409 unknown 1" \
	    "$front: sent to another daemon once more, it runs once [idem:G1 idem:G5]"
	: >"$folder/hold"
	keyed slow POST '/cgi-bin/take.cgi?slow&hold' -d x
	is "$status $said $(begun 'slow&hold')" "504 - 1" \
	    "$front: a front that loses patience hides the answer"
	rm "$folder/hold"
	until_true has_ended 'slow&hold'
	keyed slow POST '/cgi-bin/take.cgi?slow&hold' -d x
	is "$status $said $(begun 'slow&hold')" "201 replayed 1" \
	    "$front: a retry gets it all the same [idem:G4]"
}

front_needs nginx || skip_all "$lacking"
fronts_begin
idemd_start --create --root "$www/cgi-bin" --in-progress wait:60s
front_start nginx
check_all
is "$(grep -c '^ *fastcgi_next_upstream off;' "$folder/front.conf")" \
    "$(grep -c '^ *fastcgi_pass ' "$folder/front.conf")" \
    "$front: its file tells it to send nothing again [idem:G2]"
check_misuse
front_stop
front_edit=
front_start nginx
check_tokens
fronts_end
