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
# IDEMD and ORDER are the programs, BENCH the folder of load, bare, raw and sync,
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
require "$here/redis.pl";
require "$here/plan.pl";

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

sub here { $here }

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

# A measurement: whom it asks, and with what options of load; ROUND in one is the
# round's number.  More of it: needs, another peer; through, whose CPU time
# counts as well; beside, a load meanwhile; before, what is done first, and not
# measured; by, what measures it instead of load.
my (%measure, @order);

sub measure {
	my ($name, $socket, @options) = @_;
	push @order, $name;
	return $measure{$name} = { socket => $socket, options => \@options,
	    rounds => [] };
}

sub measured { $measure{ $_[0] } }

sub take {
	my ($name, $round) = @_;
	my $m = $measure{$name};
	return if Peers::missing($m->{socket}) ||
	    ($m->{needs} && Peers::missing($m->{needs}));
	$m->{before}->($round) if $m->{before};
	my $beside = $m->{beside} ? background(@{ $m->{beside} }) : 0;
	my @peers = ($m->{socket}, @{ $m->{through} // [] });
	my $before_ms = Peers::cpu_ms(@peers);
	my $got = $m->{by} ? $m->{by}->() :
	    load($m->{socket}, '-t', $ms, '-n', $clients,
	    map { s/ROUND/$round/r } @{ $m->{options} });
	my $cpu_ms = Peers::cpu_ms(@peers) - $before_ms;
	waitpid $beside, 0 if $beside;
	$got->{cpu_us} = $cpu_ms * 1000 / $got->{requests}
	    if $got && $got->{requests} && !$beside &&
	    !grep { /^wrap/ } @peers;	# it does not wait for its children
	push @{ $m->{rounds} }, $got if $got;
}

sub warm_up {
	take($_, 0) for @_;
	$_->{rounds} = [] for values %measure;
}

# --- the rows ----------------------------------------------------------------

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
	$row{missing} = why_missing($ours) //
	    (defined $theirs ? why_missing($theirs) : undef);
	return \%row if defined $row{missing};
	my $o = $measure{$ours}{rounds};
	$row{ours} = Figures::of($o, $of);
	$row{ours_wrong} += $_->{errors} for @$o;
	$row{theirs_wrong} = 0;
	$row{met} = '-';
	return \%row if !defined $theirs;
	my $t = $measure{$theirs}{rounds};
	my @ratios = sort { $a <=> $b } Figures::ratios($o, $t, $of);
	$row{theirs} = Figures::of($t, $of);
	$row{ratio} = Figures::median(@ratios);
	$row{ratios} = \@ratios;
	@row{qw(low high)} = Figures::quartiles(@ratios);
	my @cpu = Figures::ratios($o, $t, 'cpu_us');
	$row{cpu} = Figures::median(@cpu) if @cpu;
	if ($more{synced}) {	# 0.9 times theirs, and two durable writes
		$row{goal} = 0.9 + 2 * $_[1] / $row{theirs};
	}
	$row{theirs_wrong} += $_->{errors} for @$t;
	$row{met} = Figures::met(\%row, $row{ratio});
	return \%row;
}

# --- all of it ---------------------------------------------------------------

sub wanted {
	my ($row) = @_;
	return $only eq '' || grep { defined && /\Q$only\E/ } @$row[0 .. 3];
}

sub rounds {
	my %used = map { $_ => 1 } grep { defined } map { @$_[0, 2] } @_;
	my @used = grep { $used{$_} } @order;
	for my $round (1 .. $rounds) {
		take($_, $round) for $round % 2 ? @used : reverse @used;
	}
}

Peers::begin();
Plan::start_all();
Plan::plan($ms);
Plan::warm();
chomp(my $sync_us = `'$ENV{BENCH}/sync' '@{[Peers::folder()]}'`);
my @rows = grep { wanted($_) } Plan::rows();
rounds(@rows);

my @judged = map { judge($_, $sync_us) } @rows;
push @judged, Redis::trips() if $only eq '' || 'trips' =~ /\Q$only\E/;
push @judged, Redis::crowd() if $only eq '' || 'crowd' =~ /\Q$only\E/;
push @judged, Sizes::memory(), Sizes::crowd() if $only eq '';
my ($busy) = split ' ', Peers::slurp('/proc/loadavg');
chomp(my $cpus = `nproc`);
print "$rounds rounds of $ms ms, $clients clients, $cpus CPUs, load $busy, " .
    "fdatasync $sync_us us (median)\n";
Figures::head();
Figures::line($_) for @judged;
print "(the goals of fresh keyed rows are for a fdatasync of at most 300 us)\n"
    if $sync_us > 300;
print Redis::note();
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
