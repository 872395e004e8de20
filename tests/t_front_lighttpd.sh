#!/bin/sh
# SPDX-License-Identifier: ISC
#
# Through lighttpd, with doc/fronts/lighttpd.conf as it is written.

. "${top_srcdir:-.}/tests/fronts.sh"
. "$top_srcdir/tests/fronts/suite.sh"

front_needs lighttpd || skip_all "$lacking"
fronts_begin
idemd_start --create --root "$www/cgi-bin"
front_start lighttpd
check_all
check_tokens
fronts_end
