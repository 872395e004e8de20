#!/bin/sh
# SPDX-License-Identifier: ISC
#
# Plain CGI under Apache, with doc/fronts/apache-cgi.conf as it is written: an
# Action puts idem-cgi in front of each program.

. "${top_srcdir:-.}/tests/fronts.sh"
. "$top_srcdir/tests/fronts/suite.sh"

# Whoever calls idem-cgi by its own URL would choose the program.
check_direct() {
	for url in idem-cgi idem-cgi/cgi-bin/env.cgi "idem-cgi$www/cgi-bin/env.cgi"
	do
		ask GET "/idem-bin/$url"
		holds "$front: nobody calls /idem-bin/$url" \
		    [ "$status" = 403 -o "$status" = 404 ]
	done
}

front_needs apache-cgi || skip_all "$lacking"
fronts_begin
ledger_init
front_start apache-cgi
check_all
check_direct
fronts_end
