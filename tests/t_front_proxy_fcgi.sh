#!/bin/sh
# SPDX-License-Identifier: ISC
#
# Through Apache's mod_proxy_fcgi, with doc/fronts/apache-proxy_fcgi.conf as it
# is written: files (SetHandler), then URLs (ProxyPass).

. "${top_srcdir:-.}/tests/fronts.sh"
. "$top_srcdir/tests/fronts/suite.sh"

check_url() {
	ask GET '/programs/env.cgi/some%20where/b%c3%a9?a=%20b'
	is "$status $(told)" "200 /programs/env.cgi /some where/bé a=%20b" \
	    "$front: ProxyPass too: script, path and query are told apart [cgi:C48 R6]"
	is "$(variable SCRIPT_FILENAME)" "$www/cgi-bin/env.cgi" \
	    "$front: ProxyPass too: SCRIPT_FILENAME is the file"
	ask GET '/programs/none.cgi/some'
	is "$(shape)" "404 - problem" \
	    "$front: ProxyPass: a program that is not there is 404"
	ask GET '/programs/../../secret.cgi'
	holds "$front: ProxyPass: nothing outside is reached" \
	    [ "$status" = 400 -o "$status" = 404 ]
	for wanted in "201 stored" "201 replayed"; do
		keyed url POST '/programs/take.cgi/x?url' -d x
		is "$status $said $(begun url)" "$wanted 1" \
		    "$front: ProxyPass: a keyed POST is ${wanted#* }"
	done
}

front_needs apache-proxy_fcgi || skip_all "$lacking"
fronts_begin
idemd_start --create --root "$www/cgi-bin"
front_start apache-proxy_fcgi
check_all
check_url
check_tokens
fronts_end
