# SPDX-License-Identifier: ISC
#
# What is measured: who is started, what each is asked for, and what of it is
# compared with what.

package Plan;
use strict;
use warnings;

my @kept = ('-k', '-K', 'one', '-S', 201);
my @each = ('-K', 'one', '-S', 201);
my $many = 10000;		# keys; the cache of a worker holds more
my $large = 10240;		# bytes of an answer
my $full = 5000;		# large answers in the cache
my ($program, $sh, $perl);

sub program { $program }

sub programs {
	system('cp', $ENV{ORDER}, Peers::path('order')) == 0 or exit 111;
	$program = Peers::path('order');
	# They read their bodies: fcgiwrap fails where one does not.
	$sh = Peers::write_file('order.sh', "#!/bin/sh\nread -r body\n" .
	    "printf 'Status: 201 Created\\nContent-Type: text/plain\\n\\n" .
	    "order %s\\n' \$\$\n", 0755);
	$perl = Peers::write_file('order.pl', "#!/usr/bin/perl\n" .
	    "read STDIN, my \$body, \$ENV{CONTENT_LENGTH};\n" .
	    "print \"Status: 201 Created\\nContent-Type: text/plain\\n\\n" .
	    "order \$\$\\n\";\n", 0755);
}

# --- the peers ---------------------------------------------------------------

sub start_php {
	my @php = ('-p', Peers::path('hello.php'), '-u', '/hello.php');
	Peers::php_fpm('php') && Peers::await('php', main::answers('php', @php));
	if (Peers::missing('php')) {
		Peers::lost('idemphp', Peers::missing('php'));
	} elsif (Peers::php_fpm('php_behind') &&
	    Peers::idemd_before('idemphp', 'php_behind')) {
		Peers::await('idemphp', main::answers('idemphp', @php));
	}
}

sub start_all {
	my $folder = Peers::folder();
	programs();
	Peers::bare('bare');
	Peers::bare('bare10k', $large);
	Peers::idemd('idem', '-c', 16, '--', $program);
	Peers::idemd('dropin', '-c', 16, '--root', $folder);
	Peers::idemd('full', '-c', 16, '--', $program);
	Peers::await('bare', main::answers('bare')) &&
	    Peers::await('bare10k', main::answers('bare10k')) or die "bench: " .
	    "bare does not answer\n";
	Peers::await($_, main::answers($_, '-p', $program))
	    or die "bench: idemd does not answer: " . Peers::missing($_) . "\n"
	    for qw(idem dropin full);
	Peers::fcgiwrap('wrap') &&
	    Peers::await('wrap', main::answers('wrap', '-p', $program));
	# Connections that nginx keeps each occupy one of their processes.
	Peers::bare('bare_nginx');
	Peers::fcgiwrap('wrap_nginx');
	Peers::redis('redis') && Peers::await('redis', sub { 1 });
	Peers::nginx('nginx', $program, [idem => 'idem', 1],
	    [dropin => 'dropin', 1], [bare => 'bare_nginx', 1],
	    [wrap => 'wrap_nginx', 0]) &&
	    Peers::await('nginx', main::answers('nginx', '-H', '-u', '/bare/x'));
	Peers::lighttpd('lighttpd') &&
	    Peers::await('lighttpd', main::answers('lighttpd', '-H'));
	start_php();
	Redis::start_all();
}

# --- what is measured --------------------------------------------------------

# CGI, against fcgiwrap: without a key; fresh, by the ledger and by Redis.
sub plan_cgi {
	my @fresh = ('-K', 'fresh', '-w', 'stored');
	my @alone = ('-n', 1);
	for my $kind ([''  => $program], [_alone => $program, @alone],
	    [_sh => $sh], [_perl => $perl]) {
		my ($name, $at, @more) = @$kind;
		my @by = ('-S', 201, '-p', $at, @more);
		my @own = (@fresh, '-P', "f$name-ROUND");
		main::measure("wrap$name", 'wrap', @by);
		main::measure("keyless$name", 'dropin', @by);
		main::measure("fresh$name", 'dropin', @by, @own);
		main::measure("shared$name", 'shared', @by, @own);
	}
}

sub plan_nginx {
	main::measure('nginx_idem', 'nginx', '-H', @kept, '-P', 'nginx', '-w',
	    'replayed', '-u', '/idem/x');
	main::measure('nginx_bare', 'nginx', '-H', @kept, '-u', '/bare/x');
	main::measure('nginx_lua', 'nginx', '-H', @kept, '-w', 'replayed', '-u',
	    '/lua/x')->{needs} = 'nginx_lua';
	main::measure('nginx_wrap', 'nginx', '-H', '-k', '-S', 201, '-u',
	    '/wrap/x')->{needs} = 'wrap_nginx';
	main::measure('nginx_keyless', 'nginx', '-H', '-k', '-S', 201, '-u',
	    '/dropin/x');
	# Whose time counts as well.
	main::measured('nginx_idem')->{through} = ['idem'];
	main::measured('nginx_bare')->{through} = ['bare_nginx'];
	main::measured('nginx_lua')->{through} = ['redis'];
	main::measured('nginx_keyless')->{through} = ['dropin'];
	main::measured('nginx_wrap')->{through} = ['wrap_nginx'];
}

# Each worker's cache forgets after a minute.
sub plan_sizes {
	my ($ms) = @_;
	my @fresh = ('-K', 'fresh', '-w', 'stored');
	main::measure('keys_1000', 'idem', '-k', '-K', 'set:1000', '-P', 'k1000',
	    '-S', 201, '-w', 'replayed')->{before} = sub {
		main::load('idem', '-k', '-K', 'set:1000', '-P', 'k1000', '-N',
		    8000);
	};
	# Beside those that are compared with it: a machine changes by the minute.
	main::measure('one_key', 'idem', @kept, '-w', 'replayed');
	main::measure('mixed', 'idem', @kept, '-w', 'replayed')->{beside} =
	    ['idem', '-n', 8, '-q', 'sleep=50', '-t', $ms + 100, '-S', 201];
	main::measure('keys_many', 'idem', '-k', '-K', "zipf:$many", '-P',
	    'many', '-S', 201, '-w', 'replayed')->{before} = sub {
		main::load('idem', '-k', '-K', "set:$many", '-P', 'many', '-N',
		    8 * $many);
	};
	main::measure('full', 'full', '-S', 201, @fresh, '-P', 'more-ROUND')
	    ->{before} = sub {
		main::load('full', '-k', '-K', "set:$full", '-P', 'full', '-q',
		    "size=$large", '-N', 8 * $full);
	};
	main::measure('small', 'idem', '-S', 201, @fresh, '-P', 'more-ROUND');
}

sub plan_php {
	my @php = ('-S', 201, '-p', Peers::path('hello.php'), '-u',
	    '/hello.php');
	main::measure('php', 'php', @php);
	main::measure('idemphp', 'idemphp', @php);
	main::measure('idemphp_fresh', 'idemphp', @php, '-K', 'fresh', '-w',
	    'stored', '-P', 'php-ROUND');
	main::measure('idemphp_replay', 'idemphp', @php, '-K', 'one', '-w',
	    'replayed');
	main::measured($_)->{through} = ['php_behind'] for qw(idemphp
	    idemphp_fresh idemphp_replay);
}

sub plan {
	my ($ms) = @_;
	main::measure('kept', 'idem', @kept, '-w', 'replayed');
	main::measure('bare_kept', 'bare', @kept);
	main::measure('each', 'idem', @each, '-w', 'replayed');
	main::measure('bare_each', 'bare', @each);
	main::measure('kept_10k', 'idem', @kept, '-w', 'replayed', '-P', 'large',
	    '-q', "size=$large");
	main::measure('bare_10k', 'bare10k', @kept);
	plan_nginx();
	plan_cgi();
	Redis::plan($ms);
	main::measure('lighttpd', 'lighttpd', '-H', '-k', '-S', 201);
	plan_sizes($ms);
	plan_php();
}

# Every key that is to be replayed has its answer, in each worker's cache.
sub warm {
	my @php = ('-p', Peers::path('hello.php'), '-u', '/hello.php');
	main::load('idem', @kept, '-N', 1);
	main::load('idem', @kept, '-N', 1, '-P', 'large', '-q', "size=$large");
	main::load('nginx', '-H', '-K', 'one', '-P', 'nginx', '-u', '/idem/x',
	    '-N', 1) if !Peers::missing('nginx');
	main::load('nginx', '-H', '-K', 'one', '-u', '/lua/x', '-N', 1)
	    if !Peers::missing('nginx') && !Peers::missing('nginx_lua');
	main::load('idemphp', '-K', 'one', '-N', 1, @php)
	    if !Peers::missing('idemphp');
	Redis::warm();
	main::warm_up(qw(kept each kept_10k nginx_idem));
}

# --- the rows ----------------------------------------------------------------

# [ours, what, theirs, against, goal, options...]; of: the figure (rate).
sub rows {
	return (
	['kept', 'replay, kept connections', 'bare_kept', 'bare libfcgi', 1.10],
	['each', 'replay, a connection each', 'bare_each', 'bare libfcgi', 1.00],
	['kept_10k', 'replay of 10 KiB, kept', 'bare_10k', 'bare libfcgi', 0.90],
	['nginx_idem', 'replay through nginx', 'nginx_bare',
	    'nginx + bare libfcgi', 0.90],
	['nginx_idem', 'replay through nginx', 'nginx_lua',
	    'nginx + Lua + Redis', 1.10],
	['keyless', 'CGI without a key', 'wrap', 'fcgiwrap -c4', 1.30],
	['keyless_alone', 'the same, one client, mean', 'wrap_alone',
	    'fcgiwrap -c4', undef, of => 'mean_us', at_most => 1],
	['fresh', 'fresh keyed CGI, ledger', 'wrap', 'fcgiwrap -c4', 1.15],
	['fresh_alone', 'the same, one client, mean', 'wrap_alone',
	    'fcgiwrap -c4', undef, of => 'mean_us', at_most => 1, synced => 1],
	['fresh_sh', 'fresh keyed, shell', 'wrap_sh', 'fcgiwrap -c4', 0.95],
	['keyless_sh', 'without a key, shell', 'wrap_sh', 'fcgiwrap -c4', 1.00],
	['fresh_perl', 'fresh keyed, perl', 'wrap_perl', 'fcgiwrap -c4', 0.95],
	['keyless_perl', 'without a key, perl', 'wrap_perl', 'fcgiwrap -c4',
	    1.00],
	Redis::rows(),
	['nginx_keyless', 'CGI without a key, nginx', 'nginx_wrap',
	    'nginx + fcgiwrap -c4', 1.00],
	['nginx_keyless', 'CGI without a key, nginx', 'lighttpd',
	    'lighttpd mod_cgi', undef],
	['idemphp', 'PHP without a key', 'php', 'php-fpm', undef],
	['idemphp_fresh', 'fresh keyed PHP, ledger', 'php', 'php-fpm', undef],
	['idemphp_replay', 'replay of PHP', 'php', 'php-fpm', undef],
	['keys_1000', 'replays of 1,000 keys, mean', 'one_key', 'of one key', 1.30,
	    of => 'mean_us', at_most => 1],
	['keys_many', "replays of 10,000 (zipf), mean", 'one_key', 'of one key',
	    1.30, of => 'mean_us', at_most => 1],
	['full', 'fresh keyed, cache of 50 MB', 'small', 'itself small', 0.95],
	['mixed', 'replays beside slow programs, p99', 'one_key',
	    'replays alone', 2.00, of => 'p99_us', at_most => 1]);
}

1;
