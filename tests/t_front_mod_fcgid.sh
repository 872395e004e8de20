#!/bin/sh
# SPDX-License-Identifier: ISC
#
# Through Apache's mod_fcgid, with doc/fronts/apache-mod_fcgid.conf as it is
# written; Apache starts and stops idemd.

. "${top_srcdir:-.}/tests/fronts.sh"
. "$top_srcdir/tests/fronts/suite.sh"

long_is_over() {
	keyed long POST '/cgi-bin/hold.cgi?long' -d x
	[ "$said" != in-progress ]
}

# mod_fcgid gives its processes some seconds, then kills them: that is the
# master, and what runs goes on.
check_long_stop() {
	keyed long POST '/cgi-bin/hold.cgi?long' -d x &
	asker=$!
	until_true has_begun 'long'
	front_stop
	wait "$asker"
	front_resume
	until_true long_is_over
	is "$status $said $(begun 'long')" "200 replayed 1" \
	    "$front: a run goes on while it stops, and its answer is kept"
}

# What its file says of them is no comment then.
tokens_too() {
	front_stop
	tokens_begin
	front_edit='/#<Location/,/#<\/Location/s/^\t#/\t/
	    s|--ledger [^ ]* --root [^ ]*|--config '$folder'/idem.conf|'
	front_start apache-mod_fcgid
}

front_needs apache-mod_fcgid || skip_all "$lacking"
fronts_begin
ledger_init
front_start apache-mod_fcgid
check_all
check_long_stop
tokens_too
check_tokens
fronts_end
