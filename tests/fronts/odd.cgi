#!/bin/sh
# SPDX-License-Identifier: ISC
#
# All that programs do with their output, by name: odd.cgi?NAME or
# odd.cgi?NAME&ANYTHING.  A POST is written down first.

here=${0%/*}
[ "$REQUEST_METHOD" = POST ] && echo "$QUERY_STRING" >>"$here/../../begun"
type='Content-Type: text/plain'
# hello FIELDS: an answer with these first.
hello() { printf "$1%s\n\nhello\n" "$type"; }

case ${QUERY_STRING%%&*} in
lf)		printf '%s\n\nhello\n' "$type" ;;
crlf)		printf '%s\r\n\r\nhello\n' "$type" ;;
mixed)		printf '%s\r\nX-Odd: a\n\r\nhello\n' "$type" ;;
case)		printf 'CONTENT-TYPE:text/plain\nstatus:202 Fine\n\nhello\n' ;;
no-head)	printf 'hello\nworld\n' ;;
blank-first)	printf '\nhello\n' ;;
nothing)	;;
no-end)		printf '%s\nX-Odd: a\n' "$type" ;;
no-colon)	printf '%s\nX-Odd a\n\nhello\n' "$type" ;;
blank-colon)	printf '%s\nX-Odd : a\n\nhello\n' "$type" ;;
folded)		printf '%s\nX-Odd: a\n  b\n\nhello\n' "$type" ;;
nul)		printf '%s\nX-Odd: a\000b\n\nhello\n' "$type" ;;
http-404)	printf 'HTTP/1.1 404 Not Found\r\n%s\r\n\r\nhello\n' "$type" ;;
status-twice)	hello 'Status: 201 A\nStatus: 404 B\n' ;;
status-same)	hello 'Status: 404 A\nStatus: 404 A\n' ;;
status-abc)	hello 'Status: abc\n' ;;
status-99)	hello 'Status: 99\n' ;;
status-100)	hello 'Status: 100 Continue\n' ;;
status-418)	hello 'Status: 418 Short\n' ;;
status-500)	hello 'Status: 500 Sorry\n' ;;
absolute)	printf 'Location: http://other.example/x?a=b\n\n' ;;
see-other)	printf 'Status: 303 See Other\nLocation: /thanks\n\n' ;;
moved)		hello 'Status: 301 Moved\nLocation: http://other.example/x\n' ;;
local)		printf 'Location: /thanks.txt\n\n' ;;
created)	hello 'Status: 201 Created\nLocation: /order/7\n' ;;
empty)		printf '%s\n\n' "$type" ;;
204)		printf 'Status: 204 No Content\n\n' ;;
204-body)	hello 'Status: 204 No Content\n' ;;
304-body)	hello 'Status: 304 Not Modified\nETag: "a"\n' ;;
length)		printf '%s\nContent-Length: 6\n\nhello\n' "$type" ;;
length-short)	printf '%s\nContent-Length: 2\n\nhello\n' "$type" ;;
length-long)	printf '%s\nContent-Length: 60\n\nhello\n' "$type" ;;
length-twice)	hello 'Content-Length: 6\nContent-Length: 7\n' ;;
length-bad)	printf '%s\nContent-Length: 6x\n\nhello\n' "$type" ;;
chunked)
	printf '%s\nTransfer-Encoding: chunked\n\n' "$type"
	printf '6\r\nhello\n\r\n0\r\n\r\n' ;;
line-7k)	printf '%s\nX-Odd: %07000d\n\nhello\n' "$type" 0 ;;
line-9k)	printf '%s\nX-Odd: %09000d\n\nhello\n' "$type" 0 ;;
line-70k)	printf '%s\nX-Odd: %070000d\n\nhello\n' "$type" 0 ;;
etag)		hello 'ETag: "a"\n' ;;
etag-200)	hello 'Status: 200 OK\nETag: "a"\n' ;;
cookies)
	expires='expires=Thu, 01 Jan 2037 00:00:00 GMT'
	hello "Set-Cookie: a=1; $expires\nSet-Cookie: b=2\n" ;;
comma)		hello 'Content-Disposition: attachment; filename="a,b.txt"\n' ;;
twice)		hello 'X-Odd: a\nX-Odd: b\n' ;;
server)
	date='Thu, 01 Jan 1970 00:00:00 GMT'
	hello "Server: odd\nDate: $date\nConnection: close\n" ;;
binary)		printf 'Content-Type: application/octet-stream\n\na\000b\r\n\377\n\r' ;;
accel)		hello 'X-Accel-Redirect: /thanks.txt\n' ;;
sendfile)	hello 'X-Sendfile: /thanks.txt\n' ;;
coded)
	printf 'Content-Encoding: gzip\n%s\n\n' "$type"
	echo hello | gzip -nc ;;
exit-3)		printf '%s\n\nhello\n' "$type"; exit 3 ;;
stderr)		echo 'a word for the log' >&2; printf '%s\n\nhello\n' "$type" ;;
*)		printf 'Status: 404 Not Found\n%s\n\nno such output\n' "$type" ;;
esac
