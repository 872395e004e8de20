# SPDX-License-Identifier: ISC
#
# Asking a front, and looking at what it said.  To be read after fronts.sh.

# ask METHOD PATH [CURL-OPTION...]: $status, $where (Location), $said
# (Idempotency-Status), $ended (curl's exit); $folder/head, $folder/body.
ask() {
	method=$1 path=$2
	shift 2
	rm -f "$folder/body" "$folder/head"
	line=$(curl -s -X "$method" --max-time 120 --path-as-is -H 'Expect:' \
	    -o "$folder/body" -D "$folder/head" \
	    -w '%{http_code}|%header{location}|%header{idempotency-status}' \
	    "$@" "http://127.0.0.1:$port$path")
	ended=$?
	[ "$method" != HEAD ] || rm -f "$folder/body"	# curl's copy of the head
	: >>"$folder/body"
	: >>"$folder/head"
	status=${line%%|*} line=${line#*|}
	where=${line%%|*} said=${line#*|}
	where=${where:--} said=${said:--}
}

# keyed KEY METHOD PATH [CURL-OPTION...]
keyed() {
	key=$1
	shift
	ask "$@" -H "Idempotency-Key: \"$key\""
}

# The answer as a test's row names it.
shape() {
	if [ ! -s "$folder/body" ]; then
		body=empty
	elif [ "$(tr -d '\0' <"$folder/body")" = hello ]; then
		body=hello
	elif grep -qi '^content-type: application/problem+json' \
	    "$folder/head"; then
		body=problem
	else
		body=other
	fi
	[ "$ended" = 0 ] || body="$body cut"
	echo "$status $where $body"
}

# Head and body for `same`, but for what may differ: $times, of programs that
# say the time, and whether Apache counts the body or sends it in chunks.
times=none
keep() {
	may="date|idempotency-status|idempotent-replayed|$times"
	case $front in apache-*)
		may="$may|content-length|transfer-encoding" ;;
	esac
	grep -viE "^($may):" \
	    "$folder/head" >"$folder/$1.head"
	cp "$folder/body" "$folder/$1.body"
}
same() {
	keep now
	cmp "$folder/now.head" "$folder/$1.head" &&
	    cmp "$folder/now.body" "$folder/$1.body"
}

field() { tr -d '\r' <"$folder/head" | sed -n "s/^$1: //Ip"; }
variable() { sed -n "s/^$1=//p" "$folder/body"; }
begun() { grep -cxF -e "$1" "$folder/begun"; }
has_begun() { [ "$(begun "$1")" -gt 0 ]; }
has_ended() { grep -qxF -e "$1" "$folder/ended"; }

# of_front DEFAULT [FRONT VALUE]...: what this front is to show.
of_front() {
	wanted=$1
	shift
	while [ $# -ge 2 ]; do
		case $front in $1) wanted=$2 ;; esac
		shift 2
	done
	echo "$wanted"
}

# Under plain CGI a program without a key is the server's own, as before us.
ours_alone() { case $front in *-cgi) false ;; esac; }

# file SIZE: of so many bytes, all different places.
file() {
	[ -f "$folder/$1" ] ||
	    perl -e 'my $n = shift; my $s = join "", map { sprintf "%07d\n", $_ }
	        1 .. $n / 8 + 1; print substr $s, 0, $n' "$1" >"$folder/$1"
}
