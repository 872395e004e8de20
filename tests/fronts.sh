# SPDX-License-Identifier: ISC
#
# Web servers for tests: each is started with its file of doc/fronts as it is
# written, but for port and paths, in a temporary folder.  Servers, idemd and
# programs all run as one ordinary user.  To be read by a test's shell:
#
#	fronts_begin NEEDED-COMMAND...	$folder, $www; or SKIP
#	idemd_start [OPTION...]		on $folder/idem.sock, with a ledger
#	idemd_with OPTION...		the same without one
#	redis_start			on $folder/redis.sock
#	token_keys			$folder/token.keys
#	front_needs NAME		or false, and $lacking says what
#	front_start NAME		on 127.0.0.1:$port
#	front_reload			it has begun to
#	front_stop, idemd_stop
#	front_gone			of one that was told to stop
#	fronts_stop			all of it
#	fronts_end			the same, and `1..N`
#
# NAME is that of a file of doc/fronts.

top_srcdir=${top_srcdir:-.}
IDEMD=${IDEMD:-${top_builddir:-.}/idemd}
IDEMCTL=${IDEMCTL:-${top_builddir:-.}/idemctl}
IDEM_CGI=${IDEM_CGI:-${top_builddir:-.}/idem-cgi}
PATH=$PATH:/usr/sbin:/sbin
LC_ALL=C
export LC_ALL

folder= www= as= port= front= front_edit= front_pid= idemd_pid= redis_pid=
others=
tests=0 failed=0

# --- TAP ----------------------------------------------------------------------

skip_all() {
	[ $tests = 0 ] || { echo "Bail out! $1"; exit 1; }
	echo "1..0 # SKIP $1"
	exit 0
}

# is GOT WANTED TEXT
is() {
	tests=$((tests + 1))
	if [ "$1" = "$2" ]; then
		echo "ok $tests - $3"
	else
		echo "not ok $tests - $3"
		printf '%s\n' "     got: $1" "expected: $2" | sed 's/^/# /'
		failed=$((failed + 1))
	fi
}

# holds TEXT COMMAND...
holds() {
	text=$1
	shift
	if "$@" >/dev/null; then
		is yes yes "$text"
	else
		is "not so: $*" yes "$text"
	fi
}

# skip TEXT REASON
skip() {
	tests=$((tests + 1))
	echo "ok $tests - $1 # SKIP $2"
}

until_true() {
	tries=0
	until "$@" 2>/dev/null; do
		tries=$((tries + 1))
		if [ $tries -ge 1200 ]; then
			logs
			echo "Bail out! $* does not come"
			exit 1
		fi
		sleep 0.05
	done
}

# listens SOCKET: its file is there a moment before somebody does.
listens() {
	perl -MIO::Socket::UNIX \
	    -e 'exit !IO::Socket::UNIX->new(Peer => shift)' "$1"
}

logs() {
	for log in "$folder"/*.log; do
		[ -f "$log" ] || continue
		tail -n 15 "$log" | sed "s|^|# ${log##*/}: |"
	done
}

# --- the folder ---------------------------------------------------------------

# An ordinary user for everything: Apache refuses to serve as root.
fronts_user() {
	[ "$(id -u)" = 0 ] || return 0
	command -v setpriv >/dev/null || skip_all "setpriv is not installed"
	user=www-data
	id -u $user >/dev/null 2>&1 || user=nobody
	as="setpriv --reuid=$user --regid=$(id -g $user) --clear-groups"
}

fronts_begin() {
	for tool in curl perl "$@"; do
		command -v "$tool" >/dev/null ||
		    skip_all "$tool is not installed"
	done
	fronts_user
	folder=$(mktemp -d "${TMPDIR:-/tmp}/idem-fronts-XXXXXX") || exit 1
	trap fronts_clean EXIT
	trap 'exit 143' INT TERM
	www=$folder/www
	mkdir -p "$www/cgi-bin" "$folder/tmp"
	cp "$IDEMD" "$folder/idemd" || exit 1
	cp "$IDEMCTL" "$folder/idemctl" || exit 1
	[ ! -x "$IDEM_CGI" ] || cp "$IDEM_CGI" "$folder/idem-cgi"
	cp "$top_srcdir"/tests/fronts/*.cgi "$www/cgi-bin/"
	chmod 755 "$www"/cgi-bin/*
	: >"$folder/begun"
	: >"$folder/ended"
	[ -z "$as" ] || chown -R "$user" "$folder"
	$as test -w "$folder/begun" || skip_all "$user cannot get at $folder"
}

# What is left of our own: all that is ours has the folder's name in it, but
# for this grep, which has it from a file.
left_over() {
	(cd "$folder" && echo "$folder/" >name &&
	    grep -lasFf name /proc/[0-9]*/cmdline) | sed 's|[^0-9]||g'
}
nothing_left() { [ -z "$(left_over)" ]; }

others_stop() {
	for pid in $others; do
		kill "$pid" 2>/dev/null && kill -CONT "$pid" 2>/dev/null &&
		    wait "$pid" 2>/dev/null
	done
	others=
}

fronts_clean() {
	front_stop
	idemd_stop
	others_stop
	for pid in $(left_over); do
		kill -9 "$pid" 2>/dev/null
	done
	rm -rf "$folder"
}

fronts_stop() {
	front_stop
	idemd_stop
	others_stop
	until_true nothing_left
}

fronts_end() {
	fronts_stop
	[ $failed = 0 ] || logs
	echo "1..$tests"
	[ $failed = 0 ]
	exit
}

# --- idemd --------------------------------------------------------------------

# Started in the front's place, or by it.
idemd_with() {
	rm -f "$folder/idem.sock"
	$as "$folder/idemd" -s "unix:$folder/idem.sock" "$@" \
	    2>>"$folder/idemd.log" &
	idemd_pid=$!
	until_true listens "$folder/idem.sock"
}

idemd_start() {
	idemd_with --ledger "sqlite:$folder/ledger.db" "$@"
}

idemd_stop() {
	[ -n "$idemd_pid" ] || return 0
	kill "$idemd_pid" 2>/dev/null
	wait "$idemd_pid" 2>/dev/null
	idemd_pid=
}

ledger_init() {
	$as "$folder/idemctl" init --ledger "sqlite:$folder/ledger.db" \
	    >/dev/null || { echo "Bail out! no ledger"; exit 1; }
}

# --- tokens -------------------------------------------------------------------

redis_start() {
	$as redis-server --port 0 --unixsocket "$folder/redis.sock" --save '' \
	    --dir "$folder/tmp" >>"$folder/redis.log" 2>&1 &
	redis_pid=$!
	others="$others $redis_pid"
	until_true listens "$folder/redis.sock"
}

token_keys() {
	(umask 077 && $as "$folder/idemctl" token --make-key \
	    >"$folder/token.keys") || { echo "Bail out! no keys"; exit 1; }
	[ -z "$as" ] || chown "$user" "$folder/token.keys"
}

# --- fronts -------------------------------------------------------------------

# $port is ours until the end; the fronts, which set SO_REUSEADDR, get it as well.
port_hold() {
	rm -f "$folder/port"
	perl "$top_srcdir/demo/hold-port.pl" >"$folder/port" &
	others="$others $!"
	until_true [ -s "$folder/port" ]
	port=$(cat "$folder/port")
}

# The file as an administrator would write it for this folder and port, with
# what a test wants to have changed.
as_written() {
	sed -e "s|/run/idem/|$folder/|g" -e "s|/var/lib/idem/|$folder/|g" \
	    -e "s|/etc/idem/|$folder/|g" -e "s|/srv/www|$www|g" \
	    -e "s|/usr/local/sbin/idemd|$folder/idemd|g" \
	    -e "s|/usr/local/bin/idem-cgi|$folder/idem-cgi|g" \
	    -e "s|listen 80;|listen 127.0.0.1:$port;|" \
	    -e "s|^server.port = 80\$|server.port = $port|" \
	    -e "s|<VirtualHost \*:80>|<VirtualHost 127.0.0.1:$port>|" \
	    -e "$front_edit" \
	    "$top_srcdir/doc/fronts/$1"
}

nginx_global() {
	cat <<-END
	daemon off;
	worker_processes 2;
	pid $folder/nginx.pid;
	error_log $folder/nginx.log;
	events { worker_connections 256; }
	http {
		access_log off;
		client_body_temp_path $folder/tmp/body;
		fastcgi_temp_path $folder/tmp/fastcgi;
		proxy_temp_path $folder/tmp/proxy;
		uwsgi_temp_path $folder/tmp/uwsgi;
		scgi_temp_path $folder/tmp/scgi;
		include $folder/front.conf;
	}
	END
}

lighttpd_global() {
	cat <<-END
	server.bind = "127.0.0.1"
	server.errorlog = "$folder/lighttpd.log"
	server.upload-dirs = ( "$folder/tmp" )
	include "$folder/front.conf"
	END
}

apache_program() {
	for apache in apache2 httpd; do
		command -v $apache >/dev/null && return
	done
	lacking="Apache is not installed"
	return 1
}

apache_modules() {
	for apache_modules in /usr/lib/apache2/modules \
	    /usr/lib64/httpd/modules /usr/lib/httpd/modules \
	    /usr/libexec/apache2 /etc/httpd/modules; do
		[ -d "$apache_modules" ] && return
	done
	lacking="Apache's modules are not where they are looked for"
	return 1
}

# Those that are not built in.
apache_loads() {
	modules="unixd mpm_event authz_core setenvif"
	case $1 in
	apache-proxy_fcgi)	modules="$modules proxy proxy_fcgi" ;;
	apache-mod_fcgid)	modules="$modules fcgid" ;;
	apache-cgi)		modules="$modules actions cgid alias env" ;;
	esac
	built_in=$($apache -l)
	loads=
	for module in $modules; do
		case $built_in in *mod_$module.c*) continue ;; esac
		file=$apache_modules/mod_$module.so
		if [ ! -f "$file" ]; then
			lacking="Apache's mod_$module is not installed"
			return 1
		fi
		loads="${loads}LoadModule ${module}_module $file
"
	done
}

apache_global() {
	cat <<-END
	ServerRoot "$folder"
	ServerName localhost
	DefaultRuntimeDir "$folder/tmp"
	PidFile "$folder/apache.pid"
	ErrorLog "$folder/apache.log"
	LogLevel warn
	END
	printf '%s' "$loads"
	cat <<-END
	Listen 127.0.0.1:$port
	StartServers 1
	ThreadsPerChild 32
	MaxRequestWorkers 64
	GracefulShutdownTimeout 20
	END
	case $front in
	apache-mod_fcgid)
		echo "FcgidIPCDir $folder/tmp"
		echo "FcgidProcessTableFile $folder/tmp/fcgid" ;;
	apache-cgi)
		echo "ScriptSock $folder/tmp/cgid" ;;
	esac
	echo "Include $folder/front.conf"
}

front_needs() {
	lacking=
	case $1 in
	nginx|lighttpd|lighttpd-cgi)
		command -v "${1%-cgi}" >/dev/null ||
		    lacking="${1%-cgi} is not installed" ;;
	apache-*)
		apache_program && apache_modules && apache_loads "$1" ;;
	esac
	case $1 in *-cgi)
		[ -x "$IDEM_CGI" ] || lacking="idem-cgi is not built" ;;
	esac
	[ -z "$lacking" ]
}

front_command() {
	case $front in
	nginx)
		exec $as nginx -e "$folder/nginx.log" -p "$folder" \
		    -c "$folder/global.conf" ;;
	lighttpd|lighttpd-cgi)
		exec $as lighttpd -D -f "$folder/global.conf" ;;
	apache-*)
		exec $as $apache -DFOREGROUND -f "$folder/global.conf" ;;
	esac
}

front_global() {
	case $front in
	nginx)		nginx_global ;;
	lighttpd*)	lighttpd_global ;;
	apache-*)	apache_global ;;
	esac
}

front_answers() {
	kill -0 "$front_pid" 2>/dev/null || return 0
	curl -s -o /dev/null --max-time 5 "http://127.0.0.1:$port/none"
}

front_start() {
	front=$1
	port_hold
	as_written "${2:-$front}.conf" >"$folder/front.conf"
	front_global >"$folder/global.conf"
	front_resume
	kill -0 "$front_pid" 2>/dev/null && return
	logs
	echo "Bail out! $front does not start"
	exit 1
}

# The same once more, after front_stop.  A child that the one before has left,
# and that is held up, has the port until it ends.
front_resume() {
	resumes=0
	while [ $resumes -lt 100 ]; do
		begun_at=$(cat "$folder/front.log" 2>/dev/null | wc -l)
		front_command >>"$folder/front.log" 2>&1 &
		front_pid=$!
		until_true front_answers
		kill -0 "$front_pid" 2>/dev/null && return
		tail -n "+$((begun_at + 1))" "$folder/front.log" |
		    grep -q 'in use' || return
		resumes=$((resumes + 1))
		sleep 0.2
	done
}

reloads_logged() { grep -c "$1" "$folder/${front%%-*}.log"; }

# Of nginx, workers that are there: one with nothing to do leaves at once.
children_alive() {
	for pid in $1; do
		kill -0 "$pid" 2>/dev/null && echo "$pid"
	done
}

reloads() {
	case $front in
	nginx)		children_alive "$children" ;;
	lighttpd*)	reloads_logged 'graceful shutdown started' ;;
	apache-*)	reloads_logged 'resuming normal operations' ;;
	esac
}

# As an administrator does after a change; what is under way goes on.  A signal
# may be read late: wait until it was, but not for ever, as a front need not
# say so.
front_reload() {
	children=$(cat "/proc/$front_pid/task/$front_pid/children")
	before=$(reloads)
	case $front in
	nginx)		kill -HUP "$front_pid" ;;
	lighttpd*)	kill -USR1 "$front_pid" ;;
	apache-*)	kill -USR1 "$front_pid" ;;
	esac
	tries=0
	while [ "$(reloads)" = "$before" ] && [ $tries -lt 200 ]; do
		tries=$((tries + 1))
		sleep 0.05
	done
}

front_gone() {
	wait "$front_pid" 2>/dev/null
	front_pid=
}

# At once.
front_stop() {
	[ -n "$front_pid" ] || return 0
	kill -TERM "$front_pid" 2>/dev/null
	front_gone
}
