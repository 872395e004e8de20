#!/bin/sh
# SPDX-License-Identifier: ISC
#
# Says what it was given, a variable a line; a newline in one is shown as \001.
# A POST is written down, as by the others.

here=${0%/*}
[ "$REQUEST_METHOD" = POST ] && echo "$QUERY_STRING" >>"$here/../../begun"
printf 'Content-Type: text/plain\n\n'
env -0 | tr '\n\0' '\001\n'
