#!/bin/sh
# SPDX-License-Identifier: ISC
#
# Takes a body and says how long it is and what it sums up to, and how often
# it was asked just this: take.cgi?NAME, take.cgi?NAME&sleep=SECONDS, or
# take.cgi?NAME&hold, which waits while the file "hold" is there.

here=${0%/*}
echo "$QUERY_STRING" >>"$here/../../begun"
case $QUERY_STRING in
*sleep=*) sleep "${QUERY_STRING##*sleep=}" ;;
*\&hold) while [ -e "$here/../../hold" ]; do sleep 0.05; done ;;
esac
sum=$(cksum)
printf 'Status: 201 Taken\nContent-Type: text/plain\nX-Run: %s\n\n' \
    "$(grep -cxF "$QUERY_STRING" "$here/../../begun")"
echo "length=${CONTENT_LENGTH-none} coding=${HTTP_TRANSFER_ENCODING-none} $sum"
echo "$QUERY_STRING" >>"$here/../../ended"
