#!/bin/sh
# SPDX-License-Identifier: ISC
#
# Programs that nobody wrote for idem: git http-backend, gitweb, AWStats, CGI.pm
# and PHP, through lighttpd, nginx and Apache.  What they answer is, but for
# Date, what the same program answers under fcgiwrap, or php-fpm without us;
# keyed POSTs are replayed.

. "${top_srcdir:-.}/tests/fronts.sh"
. "$top_srcdir/tests/fronts/ask.sh"
. "$top_srcdir/tests/fronts/programs.sh"

wrap= side= number=

# --- the two sides ------------------------------------------------------------

variables() {
	cat <<-END
	GIT_PROJECT_ROOT=$folder/git
	GIT_HTTP_EXPORT_ALL=1
	GITWEB_CONFIG=$folder/gitweb.conf
	UPLOAD_BOOK=$folder/uploads
	PAGE_BOOK=$folder/orders
	REDIRECT_STATUS=200
	END
}

configuration() {
	cat <<-END
	listen = "unix:$folder/idem.sock"
	ledger = sqlite { path = "$folder/$front.db", create = true }
	route { path = "/cgi-bin/page.php/**",
	        program = fastcgi { "unix:$folder/fpm.sock" } }
	route { path = "/cgi-bin/**", program = cgi { set = {
	END
	variables | sed 's/\(.*\)=\(.*\)/	\1 = "\2",/'
	echo '} } }'
}

# Everything as at first, and the same requests to come.
begin_side() {
	side=$1 number=0
	rm -rf "$folder/git"
	[ -z "$have_git" ] || cp -R "$folder/plain" "$folder/git"
	: >"$folder/pushes"
	: >"$folder/orders"
	: >"$folder/uploads"
	[ -z "$as" ] || chown -R "$user" "$folder/git" "$folder/pushes" \
	    "$folder/orders" "$folder/uploads"
}

fcgiwrap_start() {
	$as env $(variables) fcgiwrap -c 2 -s "unix:$folder/idem.sock" \
	    2>>"$folder/fcgiwrap.log" &
	wrap=$!
	until_true listens "$folder/idem.sock"
}

# It leaves its children behind.
fcgiwrap_stop() {
	children=$(cat "/proc/$wrap/task/$wrap/children")
	kill "$wrap" $children
	wait "$wrap" 2>/dev/null
	rm -f "$folder/idem.sock"
	wrap=
}

configured_start() {
	configuration >"$folder/idem.conf"
	$as "$folder/idemd" --config "$folder/idem.conf" \
	    2>>"$folder/idemd.log" &
	idemd_pid=$!
	until_true listens "$folder/idem.sock"
}

# --- what is asked of both ----------------------------------------------------

# noted METHOD PATH [CURL-OPTION...]: the answer, kept under its number.
noted() {
	ask "$@"
	number=$((number + 1))
	keep "$side.$number"
	echo "$1 $2: $status, as without us" >"$folder/$number.what"
}
shows() { echo "$(cat "$folder/$number.what") [$1]" >"$folder/$number.what"; }

git_asked() {
	g=/cgi-bin/git.cgi/base.git
	noted GET "$g/HEAD"
	noted GET "$g/info/refs"
	noted GET "$g/info/refs?service=git-upload-pack"
	noted GET "$g/info/refs?service=git-upload-pack" \
	    -H 'Git-Protocol: version=2'
	noted GET "$g/info/refs?service=git-receive-pack"
	noted GET "$g/none"
	type='Content-Type: application/x-git-upload-pack-request'
	printf '0014command=ls-refs\n0000' >"$folder/ls-refs"
	gzip -nc "$folder/ls-refs" >"$folder/ls-refs.gz"
	noted POST "$g/git-upload-pack" -H "$type" \
	    -H 'Git-Protocol: version=2' --data-binary "@$folder/ls-refs"
	noted POST "$g/git-upload-pack" -H "$type" \
	    -H 'Git-Protocol: version=2' -H 'Content-Encoding: gzip' \
	    --data-binary "@$folder/ls-refs.gz"
	shows cgi:C45
	noted POST "$g/git-upload-pack" -H "$type" -d garbage
}

gitweb_asked() {
	w=/cgi-bin/gitweb.cgi
	noted GET "$w"
	noted GET "$w?p=base.git"
	noted GET "$w/base.git/shortlog"
	noted GET "$w/base.git/blob_plain/HEAD:/a.txt"
	noted GET "$w?p=none.git"
}

awstats_asked() {
	times='expires|last-modified'
	a='/cgi-bin/awstats.pl?year=2024&month=01&config'
	noted GET "$a=test"
	noted GET "$a=test&output=urldetail"
	noted GET "$a=none"
	times=none
}

perl_asked() {
	noted GET /cgi-bin/upload.cgi
	file 200000
	noted POST /cgi-bin/upload.cgi -F note='a <b>' \
	    -F "file=@$folder/200000;filename=two words.bin"
	noted POST /cgi-bin/upload.cgi -F note=empty
	# A body that lighttpd would count does not come to it (RFC 3875, 4.3.3).
	times=content-length
	noted HEAD /cgi-bin/upload.cgi -I
	times=none
}

# php_asked NAME
php_asked() {
	noted GET "/cgi-bin/$1/extra/path?a=b%20c&d[]=1" -H 'X-One: x'
	noted POST "/cgi-bin/$1?order=1" -d 'item=tea&n=2'
	noted POST "/cgi-bin/$1?order=2" -F note=c \
	    -F "file=@$folder/ls-refs;filename=x.bin"
	noted POST "/cgi-bin/$1?order=3" -H 'Content-Type: text/plain' \
	    -H 'Transfer-Encoding: chunked' -d 'some text'
	noted HEAD "/cgi-bin/$1" -I
}

# --- what both said -----------------------------------------------------------

alike() {
	total=$number
	for number in $(seq "$total"); do
		what_was=$(cat "$folder/$number.what")
		holds "$front: $what_was" alike_number "$number"
	done
}
alike_number() {
	cmp "$folder/without.$1.head" "$folder/with.$1.head" &&
	    cmp "$folder/without.$1.body" "$folder/with.$1.body" || {
		diff "$folder/without.$1.head" "$folder/with.$1.head" |
		    sed 's/^/# /' >&2
		diff -a "$folder/without.$1.body" "$folder/with.$1.body" |
		    head -n 10 | sed 's/^/# /' >&2
		false
	}
}

all_asked() {
	[ -z "$have_git" ] || git_asked
	[ -z "$have_gitweb" ] || gitweb_asked
	[ -z "$have_awstats" ] || awstats_asked
	[ -z "$have_perl" ] || perl_asked
	[ -z "$have_php_cgi" ] || php_asked page.cgi
}

# --- with a key ---------------------------------------------------------------

# again TEXT KEY METHOD PATH [CURL-OPTION...]: twice, as `noted` before.
again() {
	text=$1
	shift
	keyed "$@"
	keep first
	first="$status $said"
	keyed "$@"
	is "$first, $status $said" "${first% *} stored, ${first% *} replayed" \
	    "$front: $text, with a key: the second is a replay"
	holds "$front: $text: the same byte for byte" same first
}

programs_keyed() {
	[ -z "$have_perl" ] || {
		again "CGI.pm's upload" u POST /cgi-bin/upload.cgi \
		    -F note=keyed -F "file=@$folder/200000"
		is "$(field Content-Type) $(grep -c 'time 2' "$folder/body")" \
		    "text/html; charset=utf-8 1" \
		    "$front: it is the second upload of this file, not a third"
	}
	for page in ${have_php_cgi:+page.cgi} ${have_fpm:+page.php}; do
		again "$page" "$page" POST "/cgi-bin/$page?order=k$page" \
		    -d item=tea
		is "$(grep -cxF "k$page" "$folder/orders")" 1 \
		    "$front: $page has one order"
		again "$page with a file" "f$page" POST \
		    "/cgi-bin/$page?order=f$page" \
		    -F "file=@$folder/200000"
		is "$(grep -cxF "f$page" "$folder/orders")" 1 \
		    "$front: $page has one file"
	done
}

# As the user that serves, with a home of its own.
gits() { $as env HOME="$folder/home" GIT_TERMINAL_PROMPT=0 git "$@"; }

git_keyed() {
	url=http://127.0.0.1:$port/cgi-bin/git.cgi/base.git
	g=/cgi-bin/git.cgi/base.git
	work=$folder/clone-$front
	holds "$front: git clones" gits clone -q "$url" "$work"
	is "$(gits -C "$work" rev-parse HEAD)" \
	    "$(gits -C "$folder/git/base.git" rev-parse main)" \
	    "$front: what it cloned is what there is"
	echo more >"$work/b.txt"
	[ -z "$as" ] || chown "$user" "$work/b.txt"
	gits -C "$work" add b.txt
	gits -C "$work" commit -q -m 'one more'
	holds "$front: git pushes with a key" gits -C "$work" \
	    -c 'http.extraHeader=Idempotency-Key: "push-1"' push -q
	is "$(wc -l <"$folder/pushes") $(gits -C "$folder/git/base.git" \
	    rev-parse main)" "1 $(gits -C "$work" rev-parse HEAD)" \
	    "$front: and it is there, once"
	git_again
}

# The very bytes of a push, twice: git itself would not send them again.
git_again() {
	old=$(gits -C "$work" rev-parse HEAD)
	gits -C "$work" commit -q --allow-empty -m 'the last'
	new=$(gits -C "$work" rev-parse HEAD)
	{
		printf '%s %s refs/heads/main\0 report-status' "$old" "$new" |
		    perl -e '$_ = join "", <>; printf "%04x%s", 4 + length, $_'
		printf 0000
		printf '%s\n' "$new" "^$old" |
		    gits -C "$work" pack-objects -q --revs --stdout
	} >"$folder/push"
	again "a push" push-2 POST "$g/git-receive-pack" \
	    -H 'Content-Type: application/x-git-receive-pack-request' \
	    --data-binary "@$folder/push"
	is "$(tr -d '\0' <"$folder/body" | grep -c 'unpack ok')" 1 \
	    "$front: its replay says what git said"
	is "$(wc -l <"$folder/pushes")" 2 "$front: the repository got it once"
	ask POST "$g/git-receive-pack" \
	    -H 'Content-Type: application/x-git-receive-pack-request' \
	    --data-binary "@$folder/push"
	is "$(tr -d '\0' <"$folder/body" | grep -c 'unpack ok.*ng ')" 0 \
	    "$front: without a key git is asked again"
}

# --- a front ------------------------------------------------------------------

without_us() {
	begin_side without
	fcgiwrap_start
	all_asked
	fcgiwrap_stop
	[ -n "$have_fpm" ] || return 0
	ln -s "$folder/fpm.sock" "$folder/idem.sock"
	php_asked page.php
	rm "$folder/idem.sock"
}

with_us() {
	begin_side with
	configured_start
	all_asked
	[ -z "$have_fpm" ] || php_asked page.php
	alike
	programs_keyed
	[ -z "$have_git" ] || git_keyed
	idemd_stop
}

through() {
	if ! front_needs "$1"; then
		skip "through $1" "$lacking"
		return
	fi
	front_start "$1"
	without_us
	with_us
	front_stop
}

# lacks HAVE PROGRAM
lacks() {
	[ -n "$1" ] || skip "$2 answers as without us" "$2 is not installed"
}

command -v fcgiwrap >/dev/null || skip_all "fcgiwrap is not installed"
fronts_begin
programs_setup
lacks "$have_git" "git http-backend"
lacks "$have_gitweb" gitweb
lacks "$have_awstats" AWStats
lacks "$have_perl" CGI.pm
lacks "$have_php_cgi" php-cgi
lacks "$have_fpm" php-fpm
# PHP pages, and fcgiwrap wants a file that is there.
front_edit='s/(cgi|pl)/(cgi|pl|php)/'
through lighttpd
through nginx
through apache-proxy_fcgi
fronts_end
