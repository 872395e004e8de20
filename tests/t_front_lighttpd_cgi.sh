#!/bin/sh
# SPDX-License-Identifier: ISC
#
# Plain CGI under lighttpd, with doc/fronts/lighttpd-cgi.conf as it is written:
# idem-cgi in front of each program, then in a program's own first line.

. "${top_srcdir:-.}/tests/fronts.sh"
. "$top_srcdir/tests/fronts/suite.sh"

# The programs themselves, run by lighttpd, call idem-cgi.
check_first_line() {
	front_stop
	for program in take env; do
		sed "1s|.*|#!$folder/idem-cgi /bin/sh|" \
		    "$top_srcdir/tests/fronts/$program.cgi" \
		    >"$www/cgi-bin/$program.cgi"
	done
	front_edit='s|".cgi" => "[^"]*"|".cgi" => ""|'
	front_start lighttpd-cgi
	ask GET '/cgi-bin/env.cgi/some/where?a=b'
	is "$(told)" "/cgi-bin/env.cgi /some/where a=b" \
	    "$front: a program whose first line is idem-cgi is told the same"
	for wanted in "201 stored" "201 replayed"; do
		keyed line POST '/cgi-bin/take.cgi?line' -d x
		is "$status $said $(begun line)" "$wanted 1" \
		    "$front: and with a key it is ${wanted#* }"
	done
}

front_needs lighttpd-cgi || skip_all "$lacking"
fronts_begin
ledger_init
front_start lighttpd-cgi
check_all
check_first_line
fronts_end
