#!/usr/bin/perl
# SPDX-License-Identifier: ISC
#
# usage: cases.pl LIST FOLDER...
#
# What the last run of the tests says of each case in LIST: a line a case, with
# its id, its state, its title and the tests that show it.  Counts at the end.
#
# LIST has a line a case: id, title and, of one that no test will ever show,
# "does not apply: " and why, with tabs between; # begins a remark.  A test names
# the cases that it shows in its text, in brackets: [cgi:C17 R23].  FOLDER holds
# what the tests said: NAME.tap of make check-prove, NAME.log of make check; of
# both, in whichever folder, the newest counts.  The tests' sources are beside
# LIST: what has none is no test any more, and what a test shows that was passed
# over as a whole is read there.
#
# Exit status 2: wrong use, or nothing to tell of.  1 if a case is missing or not
# ok, if one in ten or more do not apply, if a test did not come to its end, or
# if it names a case that does not apply or, of a part that LIST holds, is not
# there.

use strict;
use warnings;

use File::Basename;

my $ID = qr/(?:(?:cgi|idem):[A-Z]\d+|idem:CR-\d+|[RF]\d+)/;

my ($list, @folders) = @ARGV;

sub fail {
	print STDERR "cases.pl: @_\n";
	exit 2;
}

@folders or fail('usage: cases.pl LIST FOLDER...');

# --- the list --------------------------------------------------------------

my (@ids, %title, %excuse, %part);

sub part_of {
	my ($id) = @_;
	return $id =~ s/\d+$//r;
}

open my $in, '<', $list or fail("$list: $!");
while (<$in>) {
	chomp;
	next if /^#/;
	my ($id, $title, $excuse, @more) = split /\t/;
	fail("$list: $.: not ID<TAB>TITLE")
	    if !defined $title || @more || $id !~ /^$ID$/;
	fail("$list: $.: $id is there twice") if exists $title{$id};
	push @ids, $id;
	$title{$id} = $title;
	$part{part_of($id)} = 1;
	next if !defined $excuse;
	fail("$list: $.: not \"does not apply: \" and why")
	    if $excuse !~ /^does not apply: (\S.*)/;
	$excuse{$id} = $1;
}
close $in;

# --- what the tests said ---------------------------------------------------

my (%newest, %said, %reason, @complaints);

sub source_of {
	my ($name) = @_;
	my ($source) = grep { -f $_ }
	    map { dirname($list) . "/$name.$_" } 'c', 'sh', 't';
	return $source;
}

sub ids_in {
	my ($text) = @_;
	return map { split ' ', $_ } $text =~ /\[($ID(?: +$ID)*)\]/g;
}

sub say_of {
	my ($id, $state, $name, $why) = @_;
	push @{ $said{$id}{$state} }, $name;
	$reason{$id} //= $why;
}

# Passed over as a whole: it has said nothing but why.
sub skip_test {
	my ($name, $why) = @_;

	open my $source, '<', source_of($name) or fail("$name: $!");
	local $/;
	say_of($_, 'skip', $name, $why) for ids_in(<$source>);
	close $source;
}

sub read_test {
	my ($name, $file) = @_;
	my ($planned, $run, $failed, $status, $broken) = (-1, 0, 0, 0, 0);
	my @found;

	open my $tap, '<', $file or fail("$file: $!");
	while (<$tap>) {
		chomp;
		return skip_test($name, $1) if /^1\.\.0 *# *skip\S* *(.*)/i;
		$planned = $1 if /^1\.\.(\d+)/;
		$status = $1 if /^# exit status (\d+)$/;
		$status = $1 if /^ERROR: .* exited with status (\d+)/;
		$broken = 1 if /^Bail out!/;
		next if !/^(not )?ok\b(.*)/;
		my ($not, $text) = ($1, $2);
		my $why = $text =~ s/\s*# *skip\S* *(.*)//i ? $1 : undef;
		my $state = defined $why ? 'skip' : $not ? 'not ok' : 'ok';
		$run++;
		$failed++ if $state eq 'not ok';
		push @found, [$_, $state, $why] for ids_in($text);
	}
	close $tap;
	# One that did not come to its end has shown nothing.
	$broken ||= $run != $planned || ($status != 0 && $failed == 0);
	push @complaints, "$name did not come to its end" if $broken;
	say_of($$_[0], $broken ? 'not ok' : $$_[1], $name, $$_[2]) for @found;
}

for my $folder (@folders) {
	for my $file (glob "'$folder'/*.tap '$folder'/t_*.log") {
		my ($name) = $file =~ m{([^/]+)\.(?:tap|log)$};
		my $best = $newest{$name};
		next if !defined source_of($name);
		$newest{$name} = $file if !defined $best || -M $file < -M $best;
	}
}
fail('no test has run: make check-prove') if !%newest;
read_test($_, $newest{$_}) for sort keys %newest;

for my $id (sort keys %said) {
	my @tests = map { @$_ } values %{ $said{$id} };
	push @complaints, "$id is no case, says $tests[0]"
	    if !exists $title{$id} && $part{part_of($id)};
	push @complaints, "$id does not apply, but $tests[0] shows it"
	    if exists $excuse{$id};
}

# --- a line a case ---------------------------------------------------------

my @states = ('ok', 'not ok', 'skip', 'missing', 'does not apply');
my %count = map { $_ => 0 } @states;

sub state_and_proof {
	my ($id) = @_;
	my $of = $said{$id};
	my %once;

	return ('does not apply', $excuse{$id}) if exists $excuse{$id};
	for my $state ('not ok', 'ok', 'skip') {
		next if !exists $of->{$state};
		my @tests = grep { !$once{$_}++ } @{ $of->{$state} };
		my $proof = join ' ', @tests;
		$proof .= ": $reason{$id}" if $state eq 'skip';
		return ($state, $proof);
	}
	return ('missing', 'no test');
}

for my $id (@ids) {
	my ($state, $proof) = state_and_proof($id);
	$count{$state}++;
	printf "%-9s %-14s  %s (%s)\n", $id, $state, $title{$id}, $proof;
}
print "\n";
printf "%4d %s\n", $count{$_}, $_ for @states;
printf "%4d cases\n", scalar @ids;

push @complaints, 'one case in ten or more does not apply'
    if $count{'does not apply'} * 10 >= @ids;
print STDERR "cases.pl: $_\n" for @complaints;
exit(@complaints || $count{'missing'} || $count{'not ok'} ? 1 : 0);
