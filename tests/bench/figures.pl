# SPDX-License-Identifier: ISC
#
# What the figures come to: medians, a table to read and JSON to keep.

package Figures;
use strict;
use warnings;

sub median {
	my @sorted = sort { $a <=> $b } @_;
	return 0 if !@sorted;
	return ($sorted[int($#sorted / 2)] + $sorted[int(@sorted / 2)]) / 2;
}

# Between which half of them lie.
sub quartiles {
	my @sorted = sort { $a <=> $b } @_;
	return (0, 0) if !@sorted;
	return map { $sorted[int($_ * $#sorted / 4 + 0.5)] } 1, 3;
}

# Of each round; a figure that is missing makes none.
sub ratios {
	my ($ours, $theirs, $of) = @_;
	my $last = $#$ours < $#$theirs ? $#$ours : $#$theirs;
	my @ratios;
	for my $i (0 .. $last) {
		my ($o, $t) = ($ours->[$i]{$of}, $theirs->[$i]{$of});
		push @ratios, $o / $t if defined $o && $t;
	}
	return @ratios;
}

sub of {
	my ($rounds, $of) = @_;
	return median(map { $_->{$of} // () } @$rounds);
}

sub shown {
	my ($number, $unit) = @_;
	return sprintf '%.0f%s', $number, $unit if $number >= 100;
	return sprintf '%.1f%s', $number, $unit;
}

# A row's verdict: "yes", "no" or "-"; at_most says which way its goal is.
# "noisy": more than a quarter of the rounds say the contrary.
sub met {
	my ($row, $value) = @_;
	return '-' if !defined $row->{goal} || !defined $value;
	return 'noisy' if defined $row->{low} &&
	    $row->{low} < $row->{goal} && $row->{goal} < $row->{high};
	return ($row->{at_most} ? $value <= $row->{goal} :
	    $value >= $row->{goal}) ? 'yes' : 'no';
}

my $format = "%-36s %-22s %9s %9s %6s %-11s %-8s %-5s %s\n";

sub head {
	printf $format, 'what', 'against', 'ours', 'theirs', 'ratio',
	    '(half of it)', 'goal', 'cpu', 'met';
}

sub line {
	my ($row) = @_;
	if (defined $row->{missing}) {
		printf "%-36s %-22s not measured: %s\n", $row->{what},
		    $row->{peer}, $row->{missing};
		return;
	}
	printf $format, $row->{what}, $row->{peer},
	    shown($row->{ours}, $row->{unit}),
	    defined $row->{theirs} ? shown($row->{theirs}, $row->{unit}) : '',
	    defined $row->{ratio} ? sprintf('%.2f', $row->{ratio}) : '',
	    defined $row->{ratio} ?
	    sprintf('(%.2f-%.2f)', $row->{low}, $row->{high}) : '',
	    defined $row->{goal} ? ($row->{at_most} ? '<= ' : '>= ') .
	    sprintf(defined $row->{ratio} ? '%.2f' : '%.0f', $row->{goal}) : '-',
	    defined $row->{cpu} ? sprintf('%.2f', $row->{cpu}) : '',
	    $row->{met} . ($row->{ours_wrong} || $row->{theirs_wrong} ?
	    "  (wrong answers: $row->{ours_wrong}, $row->{theirs_wrong})" : '');
}

# --- JSON (RFC 8259) ---------------------------------------------------------

sub json {
	my ($value) = @_;
	return 'null' if !defined $value;
	return '[' . join(',', map { json($_) } @$value) . ']'
	    if ref $value eq 'ARRAY';
	return '{' . join(',', map { json_text($_) . ':' . json($value->{$_}) }
	    sort keys %$value) . '}' if ref $value eq 'HASH';
	return $value if $value =~ /\A-?\d+(\.\d+)?(e[+-]?\d+)?\z/ &&
	    $value !~ /\A-?0\d/;
	return json_text($value);
}

sub json_text {
	my ($text) = @_;
	$text =~ s/(["\\])/\\$1/g;
	$text =~ s/([\x00-\x1f\x7f-\xff])/sprintf '\\u%04x', ord $1/ge;
	return "\"$text\"";
}

# One flat object of numbers, as load prints it.
sub read_json {
	my ($text) = @_;
	return { $text =~ /"(\w+)":(-?[0-9.]+)/g };
}

1;
