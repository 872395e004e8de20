# SPDX-License-Identifier: ISC
#
# Who is measured: each peer in the bench's folder, on a unix socket there.
# What is not installed is remembered with a reason.

package Peers;
use strict;
use warnings;
use POSIX ();

my (%pid, %missing, %children, $folder, $owner);

sub folder { $folder }
sub path { "$folder/$_[0]" }
sub missing { $missing{ $_[0] } }
sub all_missing { map { [$_, $missing{$_}] } sort keys %missing }

sub begin {
	my $where = $ENV{BENCH_FOLDER} || $ENV{TMPDIR} || '/tmp';
	$folder = `mktemp -d '$where/idem-bench-XXXXXX'`;
	chomp $folder;
	die "bench: no folder in $where\n" if !-d $folder;
	chmod 0755, $folder;
	$owner = $$;
	$SIG{INT} = $SIG{TERM} = sub { exit 130 };
}

sub installed {
	my ($tool) = @_;
	for my $at (split(/:/, $ENV{PATH}), '/usr/sbin', '/sbin') {
		return "$at/$tool" if -x "$at/$tool" && !-d _;
	}
	return;
}

sub write_file {
	my ($name, $text, $mode) = @_;
	open my $file, '>', path($name) or die "bench: $name: $!\n";
	print $file $text;
	close $file or die "bench: $name: $!\n";
	chmod $mode // 0644, path($name);
	return path($name);
}

sub slurp {
	open my $file, '<', $_[0] or return '';
	local $/;
	return scalar(<$file>) // '';
}

# start NAME, COMMAND...: in the folder, what it says to NAME.log.
sub start {
	my ($name, @command) = @_;
	my $pid = fork // die "bench: fork: $!\n";
	if ($pid == 0) {
		chdir $folder;
		open STDIN, '<', '/dev/null';
		open STDOUT, '>>', "$folder/$name.log";
		open STDERR, '>&', \*STDOUT;
		exec { $command[0] } @command or exit 127;
	}
	$pid{$name} = $pid;
	return $pid;
}

sub lost { $missing{ $_[0] } = $_[1]; stop($_[0]); return }

# Until its socket is there, and ask says that it answers.
sub await {
	my ($name, $ask) = @_;
	for (1 .. 200) {
		return 1 if -S path($name) && $ask->();
		last if waitpid($pid{$name}, 1) == $pid{$name};
		select undef, undef, undef, 0.05;
	}
	my $log = slurp(path("$name.log"));
	$log =~ s/\s+\z//;
	$log =~ s/.*\n//s;
	return lost($name, "does not answer ($log)");
}

# The CPU time that peers and all their descendants have had, in ms.
sub cpu_ms {
	my (%parent, %ticks, $sum);
	for my $at (glob '/proc/[0-9]*/stat') {
		my ($pid, $rest) = slurp($at) =~ /^(\d+) \(.*\) (.*)/s or next;
		my @field = split ' ', $rest;
		$parent{$pid} = $field[1];
		$ticks{$pid} = $field[11] + $field[12] + $field[13] + $field[14];
	}
	my %peer = map { $pid{$_} // 0 => 1 } @_;
	for my $pid (keys %ticks) {
		my $at = $pid;
		$at = $parent{$at} while $at && !$peer{$at};
		$sum += $ticks{$pid} if $at;
	}
	return ($sum // 0) * 1000 / POSIX::sysconf(POSIX::_SC_CLK_TCK());
}

# fcgiwrap leaves its children behind; all others see to their own.
sub stop {
	my ($name) = @_;
	my $pid = delete $pid{$name} or return;
	my @more = $children{$name} ?
	    split(' ', slurp("/proc/$pid/task/$pid/children")) : ();
	kill 'TERM', $pid, @more;
	waitpid $pid, 0;
}

END {
	if (defined $owner && $$ == $owner) {
		my $status = $?;
		stop($_) for keys %pid;
		system 'rm', '-rf', $folder;
		$? = $status;
	}
}

# --- each of them ------------------------------------------------------------

sub bare {
	my ($name, $bytes) = @_;
	start($name, "$ENV{BENCH}/bare", path($name), 16, $bytes // 0);
}

sub idemd {
	my ($name, @more) = @_;
	start($name, $ENV{IDEMD}, '-s', 'unix:' . path($name), '--ledger',
	    'sqlite:' . path("$name.db"), '--create', @more);
}

# Its lobbies and keepers, from its log, by worker.
sub workers {
	my ($name) = @_;
	my @workers;
	my $log = slurp(path("$name.log"));
	$workers[$1] = { keeper => $2, lobby => $3 }
	    while $log =~ / worker=(\d+) keeper=(\d+) started lobby=(\d+)/g;
	return @workers;
}

sub pss_kb {
	my ($pid) = @_;
	return slurp("/proc/$pid/smaps_rollup") =~ /^Pss:\s+(\d+) kB/m ? $1 : 0;
}

sub fcgiwrap {
	my ($name) = @_;
	my $tool = installed('fcgiwrap')
	    or return lost($name, 'fcgiwrap is not installed');
	$children{$name} = 1;
	start($name, $tool, '-c', 4, '-s', 'unix:' . path($name));
}

my $params = join '', map { "fastcgi_param $_->[0] $_->[1];\n" } (
	['QUERY_STRING', '$query_string'], ['REQUEST_METHOD', '$request_method'],
	['CONTENT_TYPE', '$content_type'], ['CONTENT_LENGTH', '$content_length'],
	['SCRIPT_NAME', '$fastcgi_script_name'], ['REQUEST_URI', '$request_uri'],
	['DOCUMENT_URI', '$document_uri'], ['DOCUMENT_ROOT', '$document_root'],
	['SERVER_PROTOCOL', '$server_protocol'], ['REQUEST_SCHEME', '$scheme'],
	['GATEWAY_INTERFACE', 'CGI/1.1'], ['SERVER_SOFTWARE', 'nginx'],
	['REMOTE_ADDR', '127.0.0.1'], ['SERVER_PORT', '80'],
	['SERVER_NAME', '$server_name'], ['SCRIPT_FILENAME', '$bench_program']);

# Nothing it has goes to a disk: what is measured is us, not the disk.
sub redis {
	my ($name) = @_;
	my $tool = installed('redis-server')
	    or return lost($name, 'redis-server is not installed');
	start($name, $tool, '--port', 0, '--unixsocket', path($name), '--save',
	    '', '--appendonly', 'no', '--dir', $folder);
}

# The modules that nginx needs for Lua and Redis, if all are there.
sub lua_modules {
	my @folders = qw(/usr/lib/nginx/modules /usr/lib64/nginx/modules);
	my @modules = map {
		my $name = $_;
		(grep { -e } map { "$_/$name" } @folders)[0] // ();
	} qw(ndk_http_module.so ngx_http_lua_module.so);
	return if @modules < 2 || !-e '/usr/share/lua/5.1/nginx/redis.lua';
	return join '', map { "load_module $_;\n" } @modules;
}

# What of idem nginx can do by itself, and as cheaply as it can: the answer that
# Redis has under the key (one GET, over a pool of connections), or the
# application's, which Redis gets then.  It reads the body, as it must, but makes
# no fingerprint of it; it keeps a body alone, no status and no fields; and two
# at once both run.  All of that idem does besides.
sub lua_location {
	my ($application, $socket) = @_;
	return <<"END";
location /lua/ { content_by_lua_block {
	local redis = require("nginx.redis"):new()
	local key = ngx.var.http_idempotency_key
	ngx.req.read_body()
	if not redis:connect("unix:$folder/$socket") then return ngx.exit(503) end
	local saved, says = redis:get(key), "replayed"
	if saved == ngx.null then
		local got = ngx.location.capture("/$application/x",
		    { method = ngx.HTTP_POST, always_forward_body = true })
		saved, says = got.body, "stored"
		redis:set(key, saved)
	end
	redis:set_keepalive(60000, 64)
	ngx.status = 201
	ngx.header["Content-Type"] = "text/plain"
	ngx.header["Content-Length"] = #saved
	ngx.header["Idempotency-Status"] = says
	ngx.print(saved)
} }
END
}

# nginx NAME, PROGRAM, [APPLICATION, SOCKET, KEEP]...: /APPLICATION/x goes there,
# over connections that are kept or not.
sub nginx {
	my ($name, $program, @to) = @_;
	my $tool = installed('nginx')
	    or return lost($name, 'nginx is not installed');
	my $user = $> == 0 ? 'user root;' : '';
	my ($upstreams, $locations, $modules) = ('', '', '');
	if (!missing('redis')) {
		$modules = lua_modules() // '';
		$locations = lua_location('bare', 'redis') if $modules ne '';
		lost('nginx_lua', 'nginx\'s Lua or lua-nginx-redis is not installed')
		    if $modules eq '';
	} else {
		lost('nginx_lua', missing('redis'));
	}
	for my $to (@to) {
		my ($as, $socket, $keep) = @$to;
		$upstreams .= "upstream $as { server unix:" . path($socket) .
		    ($keep ? "; keepalive 32; }\n" : "; }\n");
		$locations .= "location /$as/ { fastcgi_pass $as; " .
		    'fastcgi_keep_conn ' . ($keep ? 'on' : 'off') . "; }\n";
	}
	write_file("$name.conf", <<"END");
$modules
$user
daemon off;
worker_processes 1;
pid $folder/$name.pid;
error_log $folder/$name.log;
events { worker_connections 1024; }
http {
access_log off;
keepalive_requests 100000000;
client_body_temp_path $folder/$name-body;
fastcgi_temp_path $folder/$name-fcgi;
proxy_temp_path $folder/$name-proxy;
uwsgi_temp_path $folder/$name-uwsgi;
scgi_temp_path $folder/$name-scgi;
$upstreams
server {
listen unix:$folder/$name;
root $folder;
set \$bench_program $program;
$params
$locations
}
}
END
	start($name, $tool, '-p', $folder, '-c', path("$name.conf"));
}

sub lighttpd {
	my ($name) = @_;
	my $tool = installed('lighttpd')
	    or return lost($name, 'lighttpd is not installed');
	write_file("$name.conf", <<"END");
server.modules = ( "mod_cgi" )
server.document-root = "$folder"
server.bind = "$folder/$name"
server.upload-dirs = ( "$folder" )
server.errorlog = "$folder/$name.log"
server.max-keep-alive-requests = 0
cgi.assign = ( "" => "" )
END
	start($name, $tool, '-D', '-f', path("$name.conf"));
}

sub php_fpm {
	my ($name) = @_;
	my ($tool) = grep { -x } map { glob "$_/php-fpm*" }
	    qw(/usr/sbin /usr/local/sbin);
	return lost($name, 'php-fpm is not installed') if !defined $tool;
	my $user = $> == 0 ? "user = root\ngroup = root\n" : '';
	write_file('hello.php', "<?php http_response_code(201);\n" .
	    "header('Content-Type: text/plain');\n" .
	    "echo 'order by ', getmypid(), ' at ', microtime(true), \"\\n\";\n");
	write_file("$name.conf", <<"END");
[global]
error_log = $folder/$name.log
daemonize = no
[www]
${user}listen = $folder/$name
listen.backlog = 1024
pm = static
pm.max_children = 8
END
	start($name, $tool, $> == 0 ? '-R' : (), '-n', '-F', '-y',
	    path("$name.conf"));
}

# idemd by a file.
sub idemd_file {
	my ($name, $text) = @_;
	write_file("$name.conf", "listen = 'unix:$folder/$name'\n$text");
	start($name, $ENV{IDEMD}, '--config', path("$name.conf"));
}

# idemd in front of a FastCGI application.
sub idemd_before {
	my ($name, $to) = @_;
	idemd_file($name, <<"END");
ledger = sqlite { path = "$folder/$name.db", create = true }
route { path = "/**", methods = { "POST" },
  key = header { "Idempotency-Key" },
  program = fastcgi { "unix:$folder/$to" } }
END
}

1;
