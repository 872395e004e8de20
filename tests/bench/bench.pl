#!/usr/bin/perl
# SPDX-License-Identifier: ISC
#
# The goals of speed, measured side by side.  Every round takes all
# measurements one after the other, and what counts is the median of the
# rounds' ratios; beside it stand the two between which half of them lie.  A
# busy machine spoils them, and a row that it spoils too much to be judged says
# "noisy".  The CPU time a request takes, ours to theirs, it spoils less.
#
#	bench.pl [--rounds N] [--ms N] [--json FILE] [--only WORD]
#
# IDEMD and ORDER are the programs, BENCH the folder of load, bare and sync,
# CROWD tests/t_crowd (optional).  Of the folder BENCH_FOLDER, or TMPDIR, the
# disk is the ledger's.

use strict;
use warnings;
use File::Basename;
use Getopt::Long;

my $here = dirname(__FILE__);
require "$here/peers.pl";
require "$here/figures.pl";
require "$here/sizes.pl";

my ($rounds, $ms, $json, $only) = (5, 1000, $ENV{BENCH_JSON}, '');
GetOptions('rounds=i' => \$rounds, 'ms=i' => \$ms, 'json=s' => \$json,
    'only=s' => \$only) && $rounds > 0 && $ms > 0
    or die "usage: bench.pl [--rounds N] [--ms N] [--json FILE] [--only WORD]\n";

$ENV{IDEMD} ||= './idemd';
$ENV{ORDER} ||= 'tests/order';
$ENV{BENCH} ||= 'tests/bench';
for my $name (qw(IDEMD ORDER BENCH CROWD)) {
	next if !defined $ENV{$name} || $ENV{$name} eq '';
	-e $ENV{$name} || $name eq 'CROWD'
	    or die "bench: $ENV{$name} is not there: say where in $name\n";
	chomp($ENV{$name} = `realpath '$ENV{$name}'`);
}

my $clients = 16;
my @kept = ('-k', '-K', 'one', '-S', 201);
my @each = ('-K', 'one', '-S', 201);
my $many = 10000;		# keys; the cache of a worker holds more
my $large = 10240;		# bytes of an answer
my $full = 5000;		# large answers in the cache

# --- measuring ---------------------------------------------------------------

# load SOCKET, OPTION...: its figures, or undef if there are none.
sub load {
	my ($socket, @options) = @_;
	my @command = ("$ENV{BENCH}/load", '-s', 'unix:' . Peers::path($socket),
	    @options);
	my $pid = open(my $out, '-|') // die "bench: fork: $!\n";
	if ($pid == 0) {
		open STDERR, '>>', Peers::path('errors');
		exec { $command[0] } @command or exit 127;
	}
	my $text = join '', <$out>;
	close $out;
	return $text =~ /^\{/ ? Figures::read_json($text) : undef;
}

sub answers {
	my ($socket, @options) = @_;
	return sub {
		my $got = load($socket, '-N', 1, '-t', 500, '-S', 201, @options);
		return $got && $got->{requests} == 1;
	};
}

sub background {
	my ($socket, @options) = @_;
	my $pid = fork // die "bench: fork: $!\n";
	if ($pid == 0) {
		open STDERR, '>>', Peers::path('errors');
		open STDOUT, '>', '/dev/null';
		exec "$ENV{BENCH}/load", '-s', 'unix:' . Peers::path($socket),
		    @options or exit 127;
	}
	return $pid;
}

# A measurement: whom it needs, how many clients, what they ask for.  ROUND in
# an option is the round's number; before is done first, and not measured.
my (%measure, @order);

sub measure {
	my ($name, $socket, @options) = @_;
	$measure{$name} = { socket => $socket, options => \@options,
	    rounds => [] };
	push @order, $name;
}

sub take {
	my ($name, $round) = @_;
	my $m = $measure{$name};
	return if Peers::missing($m->{socket}) ||
	    ($m->{needs} && Peers::missing($m->{needs}));
	$m->{before}->($round) if $m->{before};
	my $beside = $m->{beside} ? background(@{ $m->{beside} }) : 0;
	my @peers = ($m->{socket}, @{ $m->{through} // [] });
	my $before_ms = Peers::cpu_ms(@peers);
	my $got = load($m->{socket}, '-t', $ms, '-n', $clients,
	    map { s/ROUND/$round/r } @{ $m->{options} });
	my $cpu_ms = Peers::cpu_ms(@peers) - $before_ms;
	waitpid $beside, 0 if $beside;
	$got->{cpu_us} = $cpu_ms * 1000 / $got->{requests}
	    if $got && $got->{requests} && !$beside &&
	    !grep { /^wrap/ } @peers;	# it does not wait for its children
	push @{ $m->{rounds} }, $got if $got;
}

# --- the peers ---------------------------------------------------------------

Peers::begin();
system('cp', $ENV{ORDER}, Peers::path('order')) == 0 or exit 111;
my $program = Peers::path('order');
# They read their bodies: fcgiwrap fails where one does not.
my $sh = Peers::write_file('order.sh', "#!/bin/sh\nread -r body\n" .
    "printf 'Status: 201 Created\\nContent-Type: text/plain\\n\\norder %s\\n'" .
    " \$\$\n", 0755);
my $perl = Peers::write_file('order.pl', "#!/usr/bin/perl\n" .
    "read STDIN, my \$body, \$ENV{CONTENT_LENGTH};\n" .
    "print \"Status: 201 Created\\nContent-Type: text/plain\\n\\n" .
    "order \$\$\\n\";\n", 0755);

sub start_all {
	my $folder = Peers::folder();
	Peers::bare('bare');
	Peers::bare('bare10k', $large);
	Peers::idemd('idem', '-c', 16, '--', $program);
	Peers::idemd('dropin', '-c', 16, '--root', $folder);
	Peers::idemd('full', '-c', 16, '--', $program);
	Peers::await('bare', answers('bare')) &&
	    Peers::await('bare10k', answers('bare10k')) or die "bench: " .
	    "bare does not answer\n";
	Peers::await($_, answers($_, '-p', $program))
	    or die "bench: idemd does not answer: " . Peers::missing($_) . "\n"
	    for qw(idem dropin full);
	Peers::fcgiwrap('wrap') &&
	    Peers::await('wrap', answers('wrap', '-p', $program));
	# Connections that nginx keeps each occupy one of their processes.
	Peers::bare('bare_nginx');
	Peers::fcgiwrap('wrap_nginx');
	Peers::redis('redis') && Peers::await('redis', sub { 1 });
	Peers::nginx('nginx', $program, [idem => 'idem', 1],
	    [dropin => 'dropin', 1], [bare => 'bare_nginx', 1],
	    [wrap => 'wrap_nginx', 0]) &&
	    Peers::await('nginx', answers('nginx', '-H', '-u', '/bare/x'));
	Peers::lighttpd('lighttpd') &&
	    Peers::await('lighttpd', answers('lighttpd', '-H'));
	my @php = ('-p', "$folder/hello.php", '-u', '/hello.php');
	Peers::php_fpm('php') && Peers::await('php', answers('php', @php));
	if (Peers::missing('php')) {
		Peers::lost('idemphp', Peers::missing('php'));
	} elsif (Peers::php_fpm('php_behind') &&
	    Peers::idemd_before('idemphp', 'php_behind')) {
		Peers::await('idemphp', answers('idemphp', @php));
	}
}

# --- what is measured --------------------------------------------------------

sub plan {
	my $folder = Peers::folder();
	my @by = ('-S', 201, '-p', $program);
	my @fresh = ('-K', 'fresh', '-w', 'stored');
	my @alone = ('-n', 1);
	my @php = ('-S', 201, '-p', "$folder/hello.php", '-u', '/hello.php');

	measure('kept', 'idem', @kept, '-w', 'replayed');
	measure('bare_kept', 'bare', @kept);
	measure('each', 'idem', @each, '-w', 'replayed');
	measure('bare_each', 'bare', @each);
	measure('kept_10k', 'idem', @kept, '-w', 'replayed', '-P', 'large',
	    '-q', "size=$large");
	measure('bare_10k', 'bare10k', @kept);
	measure('nginx_idem', 'nginx', '-H', @kept, '-P', 'nginx', '-w',
	    'replayed', '-u', '/idem/x');
	measure('nginx_bare', 'nginx', '-H', @kept, '-u', '/bare/x');
	measure('nginx_lua', 'nginx', '-H', @kept, '-w', 'replayed', '-u',
	    '/lua/x');
	measure('wrap', 'wrap', @by);
	measure('keyless', 'dropin', @by);
	measure('fresh', 'dropin', @by, @fresh, '-P', 'fresh-ROUND');
	measure('wrap_alone', 'wrap', @by, @alone);
	measure('keyless_alone', 'dropin', @by, @alone);
	measure('fresh_alone', 'dropin', @by, @alone, @fresh, '-P',
	    'alone-ROUND');
	for my $kind ([sh => $sh], [perl => $perl]) {
		my ($name, $at) = @$kind;
		my @at = ('-S', 201, '-p', $at);
		measure("wrap_$name", 'wrap', @at);
		measure("keyless_$name", 'dropin', @at);
		measure("fresh_$name", 'dropin', @at, @fresh, '-P',
		    "$name-ROUND");
	}
	measure('nginx_wrap', 'nginx', '-H', '-k', '-S', 201, '-u',
	    '/wrap/x');
	measure('nginx_keyless', 'nginx', '-H', '-k', '-S', 201, '-u',
	    '/dropin/x');
	measure('lighttpd', 'lighttpd', '-H', '-k', '-S', 201);
	measure('keys_1000', 'idem', '-k', '-K', 'set:1000', '-P', 'k1000',
	    '-S', 201, '-w', 'replayed');
	# Beside those that are compared with it: a machine changes by the minute.
	measure('one_key', 'idem', @kept, '-w', 'replayed');
	measure('mixed', 'idem', @kept, '-w', 'replayed');
	measure('keys_many', 'idem', '-k', '-K', "zipf:$many", '-P', 'many',
	    '-S', 201, '-w', 'replayed');
	measure('full', 'full', '-S', 201, @fresh, '-P', 'more-ROUND');
	measure('small', 'idem', '-S', 201, @fresh, '-P', 'more-ROUND');
	measure('php', 'php', @php);
	measure('idemphp', 'idemphp', @php);
	measure('idemphp_fresh', 'idemphp', @php, @fresh, '-P', 'php-ROUND');
	measure('idemphp_replay', 'idemphp', @php, '-K', 'one', '-w',
	    'replayed');

	$measure{nginx_wrap}{needs} = 'wrap_nginx';
	$measure{nginx_lua}{needs} = 'nginx_lua';
	$measure{mixed}{beside} = ['idem', '-n', 8, '-q', 'sleep=50', '-t',
	    $ms + 100, '-S', 201];
	# Whose time counts as well.
	$measure{nginx_idem}{through} = ['idem'];
	$measure{nginx_bare}{through} = ['bare_nginx'];
	$measure{nginx_lua}{through} = ['redis'];
	$measure{nginx_keyless}{through} = ['dropin'];
	$measure{nginx_wrap}{through} = ['wrap_nginx'];
	$measure{$_}{through} = ['php_behind'] for qw(idemphp idemphp_fresh
	    idemphp_replay);
	# Each worker's cache forgets after a minute.
	$measure{keys_1000}{before} = sub {
		load('idem', '-k', '-K', 'set:1000', '-P', 'k1000', '-N', 8000);
	};
	$measure{keys_many}{before} = sub {
		load('idem', '-k', '-K', "set:$many", '-P', 'many', '-N',
		    8 * $many);
	};
	$measure{full}{before} = sub {
		load('full', '-k', '-K', "set:$full", '-P', 'full', '-q',
		    "size=$large", '-N', 8 * $full);
	};
}

# Every key that is to be replayed has its answer, in each worker's cache.
sub warm {
	my @php = ('-p', Peers::path('hello.php'), '-u', '/hello.php');
	load('idem', @kept, '-N', 1);
	load('idem', @kept, '-N', 1, '-P', 'large', '-q', "size=$large");
	load('nginx', '-H', '-K', 'one', '-P', 'nginx', '-u', '/idem/x', '-N', 1)
	    if !Peers::missing('nginx');
	load('nginx', '-H', '-K', 'one', '-u', '/lua/x', '-N', 1)
	    if !Peers::missing('nginx') && !Peers::missing('nginx_lua');
	load('idemphp', '-K', 'one', '-N', 1, @php)
	    if !Peers::missing('idemphp');
	take($_, 0) for qw(kept each kept_10k nginx_idem);
	$_->{rounds} = [] for values %measure;
}

# --- the rows ----------------------------------------------------------------

# [ours, what, theirs, against, goal, options...]; of: the figure (rate).
my @rows = (
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

my %unit = (rate => '/s', mean_us => 'us', p99_us => 'us');

sub why_missing {
	my ($name) = @_;
	my $m = $measure{$name};
	for my $peer ($m->{socket}, $m->{needs}) {
		return Peers::missing($peer)
		    if defined $peer && Peers::missing($peer);
	}
	return @{ $m->{rounds} } ? undef : 'no figures (see errors below)';
}

sub judge {
	my ($ours, $what, $theirs, $peer, $goal, %more) = @{ $_[0] };
	my $of = $more{of} // 'rate';
	my %row = (what => $what, peer => $peer, goal => $goal, of => $of,
	    unit => $unit{$of}, at_most => $more{at_most});
	$row{missing} = why_missing($ours) // why_missing($theirs);
	return \%row if defined $row{missing};
	my ($o, $t) = map { $measure{$_}{rounds} } $ours, $theirs;
	my @ratios = sort { $a <=> $b } Figures::ratios($o, $t, $of);
	$row{ours} = Figures::of($o, $of);
	$row{theirs} = Figures::of($t, $of);
	$row{ratio} = Figures::median(@ratios);
	$row{ratios} = \@ratios;
	@row{qw(low high)} = Figures::quartiles(@ratios);
	my @cpu = Figures::ratios($o, $t, 'cpu_us');
	$row{cpu} = Figures::median(@cpu) if @cpu;
	if ($more{synced}) {	# 0.9 times theirs, and two durable writes
		$row{goal} = 0.9 + 2 * $_[1] / $row{theirs};
	}
	$row{ours_wrong} += $_->{errors} for @$o;
	$row{theirs_wrong} += $_->{errors} for @$t;
	$row{met} = Figures::met(\%row, $row{ratio});
	return \%row;
}

# --- all of it ---------------------------------------------------------------

sub wanted {
	my ($row) = @_;
	return $only eq '' || "@$row[0 .. 3]" =~ /\Q$only\E/;
}

sub rounds {
	my %used = map { $_->[0] => 1, $_->[2] => 1 } grep { wanted($_) } @rows;
	my @used = grep { $used{$_} } @order;
	for my $round (1 .. $rounds) {
		take($_, $round) for $round % 2 ? @used : reverse @used;
	}
}

start_all();
plan();
warm();
chomp(my $sync_us = `'$ENV{BENCH}/sync' '@{[Peers::folder()]}'`);
rounds();

my @judged = map { judge($_, $sync_us) } grep { wanted($_) } @rows;
push @judged, Sizes::memory(), Sizes::crowd() if $only eq '';
my ($busy) = split ' ', Peers::slurp('/proc/loadavg');
chomp(my $cpus = `nproc`);
print "$rounds rounds of $ms ms, $clients clients, $cpus CPUs, load $busy, " .
    "fdatasync $sync_us us (median)\n";
Figures::head();
Figures::line($_) for @judged;
print "(the goals of fresh keyed rows are for a fdatasync of at most 300 us)\n"
    if $sync_us > 300;
print "not measured: $_->[0]: $_->[1]\n" for Peers::all_missing();
my $errors = Peers::slurp(Peers::path('errors'));
print map { "# $_\n" } grep { defined } (split /\n/, $errors)[0 .. 19]
    if grep { $_->{ours_wrong} || $_->{theirs_wrong} } @judged;

if (defined $json && $json ne '') {
	open my $file, '>', $json or die "bench: $json: $!\n";
	print $file Figures::json({ rounds => $rounds, ms => $ms,
	    clients => $clients, cpus => $cpus, load => $busy,
	    fdatasync_us => $sync_us, rows => \@judged,
	    missing => { map { @$_ } Peers::all_missing() },
	    measured => { map { $_ => $measure{$_}{rounds} } @order } }), "\n";
	close $file or die "bench: $json: $!\n";
}
