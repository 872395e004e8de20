#!/bin/sh
# SPDX-License-Identifier: ISC
#
# A form without script in a real browser, through lighttpd, with tokens of a
# real Redis: a double click is one order.  doc/fronts/lighttpd.conf as it is
# written, and the routes of doc/tokens.md.

. "${top_srcdir:-.}/tests/fronts.sh"

chromium_needed() {
	for browser in chromium chromium-browser google-chrome; do
		command -v $browser >/dev/null && return
	done
	skip_all "no Chromium is installed"
}

front_needs lighttpd || skip_all "$lacking"
chromium_needed
fronts_begin redis-server
for name in order plain; do
	cp "$top_srcdir/tests/browser/order.cgi" "$www/cgi-bin/$name.cgi"
done
redis_start
token_keys
cat >"$folder/idem.conf" <<END
shared = redis {
  url = "unix:$folder/redis.sock",
  probe = "1s",
  timeout = "8s",
  budget = "8s",
}
tokens = { keys = "$folder/token.keys", life = "2h" }
run = "$folder/run"
local programs = cgi { root = "$www/cgi-bin" }
route {
  path = "/cgi-bin/order.cgi",
  arbiter = "token",
  form_token = true,
  required = true,
  program = programs,
}
rest = programs
END
idemd_with --config "$folder/idem.conf"
front_start lighttpd
perl "$top_srcdir/tests/browser/orders.pl" "$folder" "$port" "$redis_pid" \
    $as "$(command -v $browser)"
status=$?
fronts_stop
[ $status = 0 ] || logs
exit $status
