# SPDX-License-Identifier: ISC
#
# What is measured once, and against a goal alone: memory, and a crowd of
# duplicates.

package Sizes;
use strict;
use warnings;

sub until_lines {
	my ($name, $lines) = @_;
	for (1 .. 400) {
		return 1 if (() = Peers::slurp(Peers::path($name)) =~ /\n/g) >=
		    $lines;
		select undef, undef, undef, 0.02;
	}
	return;
}

sub size_row {
	my ($what, $value, $goal, $unit, %more) = @_;
	my %row = (what => $what, peer => '', ours => $value, goal => $goal,
	    unit => $unit, at_most => 1, %more);
	$row{met} = Figures::met(\%row, $value);
	return \%row;
}

# An instance of its own, of one worker, whose program stands in a folder of
# its own, for the file "orders" counts what runs.
sub memory {
	my ($flight, $size, $first, $count) = (150, 1000, 4000, 6000);
	my $text_len = 66;	# of tests/order's answer, beside its size
	mkdir Peers::path('mem.d');
	system('cp', $ENV{ORDER}, Peers::path('mem.d/order')) == 0 or return;
	Peers::idemd('mem', '--workers', 1, '-c', $flight + 10, '--queue', 500,
	    '--', Peers::path('mem.d/order'));
	Peers::await('mem', main::answers('mem')) or return { what => 'memory',
	    peer => '', missing => Peers::missing('mem') };
	my ($worker) = Peers::workers('mem');
	return { what => 'memory', peer => '',
	    missing => 'its log names no lobby' } if !$worker;
	my $pss = sub { Peers::pss_kb($worker->{lobby}) };
	my $idle = $pss->() + Peers::pss_kb($worker->{keeper});

	# First what is in flight: later the heap has room left by others.
	main::load('mem', '-N', 10);
	my $orders = () = Peers::slurp(Peers::path('mem.d/orders')) =~ /\n/g;
	my $before = $pss->();
	my $pid = main::background('mem', '-n', $flight, '-N', $flight, '-q',
	    'sleep=1000');
	my $came = until_lines('mem.d/orders', $orders + $flight);
	my $flown = ($pss->() - $before) * 1024 / $flight;
	waitpid $pid, 0;

	# The ledger's pages, which SQLite keeps some of, are there before.
	main::load('mem', '-N', $first, '-K', 'fresh', '-P', 'first', '-q',
	    "size=$size");
	$before = $pss->();
	main::load('mem', '-N', $count, '-K', 'fresh', '-P', 'kept', '-q',
	    "size=$size");
	my $kept = ($pss->() - $before) * 1024 / $count - $size - $text_len;
	Peers::stop('mem');
	return (
	    size_row('an idle worker, Pss', $idle, 4096, ' kB'),
	    size_row('a cached answer, beside its body', $kept, 200, ' B'),
	    $came ? size_row('a request in flight', $flown, 12 * 1024, ' B') :
	    { what => 'a request in flight', peer => '',
	    missing => 'they do not all start' });
}

# What the suite's test of 10,000 duplicates says of itself.
sub crowd {
	my $what = '10,000 waiting duplicates';
	return { what => $what, peer => '', missing =>
	    'tests/t_crowd is not built' } if !$ENV{CROWD} || !-x $ENV{CROWD};
	my $said = `'$ENV{CROWD}' 2>&1`;
	return { what => $what, peer => '', missing => 'tests/t_crowd fails' }
	    if $said !~ /^# (-?\d+) bytes a waiter/m;
	my @rows = size_row("$what, memory each", $1, 512, ' B');
	my $last = qr/^# worker \d+(, the run's own)?: \d+ waited, the last was answered (\d+) ms/m;
	while ($said =~ /$last/g) {
		push @rows, size_row('the last of them, ' . ($1 ?
		    'same worker' : 'another worker'), $2, $1 ? 60 : 100, ' ms');
	}
	return @rows;
}

1;
