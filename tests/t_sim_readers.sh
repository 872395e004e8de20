#!/bin/sh
# SPDX-License-Identifier: ISC
#
# What idemsim writes for other programs is read by them: TAP by prove's parser,
# JUnit's XML by xmllint, JSON by Perl.  Names of points bite.

top_builddir=${top_builddir:-.}

skip_all() {
	echo "1..0 # SKIP $1"
	exit 0
}

command -v perl >/dev/null || skip_all "no perl is installed"
perl -MTAP::Parser -MTAP::Parser::YAMLish::Reader -MJSON::PP -e 1 2>/dev/null ||
    skip_all "perl has no TAP::Parser or JSON::PP"
folder=$(mktemp -d "${TMPDIR:-/tmp}/t_sim_readers.XXXXXX") || exit 1
trap 'rm -rf "$folder"' EXIT
if ! "$top_builddir/tests/report_pages" "$folder"; then
	echo "Bail out! nothing was written"
	exit 1
fi

perl - "$folder" <<'END'
use strict;
use warnings;
use JSON::PP ();
use TAP::Parser;
use Test::More;

my ($folder) = @ARGV;
binmode Test::More->builder->$_, ':utf8' for qw(output failure_output);

sub text_of {
	my ($file) = @_;
	open my $in, '<:raw', "$folder/$file" or die "$file: $!\n";
	local $/;
	return scalar <$in>;
}

# Verdicts: pass, fail, inconclusive, vacuous, skip; each with a good name and
# with one that bites.
for my $version (13, 14) {
	my $parser = TAP::Parser->new({ tap => text_of("$version.tap") });
	my ($tests, @blocks, $wrong) = (0);
	while (my $result = $parser->next) {
		$tests++ if $result->is_test;
		$wrong .= $result->as_string . "\n" if $result->is_unknown;
		push @blocks, $result->data if $result->is_yaml;
	}
	is($wrong, undef, "TAP $version has no line that its reader does not know");
	is($tests, 10, "it finds each of the points");
	is(scalar $parser->passed, 4, 'those that passed or were skipped');
	is(scalar $parser->skipped, 2, 'of which two were skipped');
	is(scalar $parser->todo, 0, 'none is put off by its name');
	# A reader of version 13 says so of 14, and reads on.
	is(join('', grep { !/later than 13/ } $parser->parse_errors), '',
	    'and nothing to complain of');
	is(scalar @blocks, 6, 'each of the others has a block');
	is(join(' ', map { $_->{verdict} } @blocks), 'fail fail inconclusive ' .
	    'inconclusive vacuous vacuous', 'with its verdict');
	is($blocks[0]{message}, 'k1 was run twice: e2 at i=3 happened although ' .
	    'e1 at i=2 had committed', 'its message');
	is(scalar @{ $blocks[0]{events} }, 2, 'the events in conflict');
	is(scalar(() = $blocks[0]{schedule} =~ /\n./g), 2, 'three steps');
	is(scalar @{ $blocks[1]{artefacts} }, 4, 'and four artefacts');
}

my $json = eval { JSON::PP->new->utf8->decode(text_of('points.json')) };
is($@, '', 'JSON can be read');
is(scalar @{ $json->{points} }, 10, 'and has each of the points');
is($json->{points}[2]{finding}{invariant}, 'at_most_once',
    'with what was violated');
cmp_ok(length $json->{points}[1]{name}, '>', 9000, 'names are whole in it');

# As those who read it have it in their schemas: suites, a suite, cases; of a
# case at most one of four.
my $schema = <<'XSD';
<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
 <xs:complexType name="why" mixed="true">
  <xs:attribute name="type" type="xs:string" use="required"/>
  <xs:attribute name="message" type="xs:string"/>
 </xs:complexType>
 <xs:element name="testsuites"><xs:complexType><xs:sequence>
  <xs:element name="testsuite"><xs:complexType><xs:sequence>
   <xs:element name="testcase" maxOccurs="unbounded"><xs:complexType>
    <xs:choice minOccurs="0">
     <xs:element name="failure" type="why"/>
     <xs:element name="error" type="why"/>
     <xs:element name="skipped"><xs:complexType>
      <xs:attribute name="message" type="xs:string"/>
     </xs:complexType></xs:element>
     <xs:element name="system-out" type="xs:string"/>
    </xs:choice>
    <xs:attribute name="name" type="xs:string" use="required"/>
    <xs:attribute name="classname" type="xs:string" use="required"/>
    <xs:attribute name="time" type="xs:decimal" use="required"/>
   </xs:complexType></xs:element>
  </xs:sequence>
  <xs:attribute name="name" type="xs:string" use="required"/>
  <xs:attribute name="tests" type="xs:int" use="required"/>
  <xs:attribute name="failures" type="xs:int" use="required"/>
  <xs:attribute name="errors" type="xs:int" use="required"/>
  <xs:attribute name="skipped" type="xs:int" use="required"/>
  <xs:attribute name="time" type="xs:decimal" use="required"/>
  </xs:complexType></xs:element>
 </xs:sequence></xs:complexType></xs:element>
</xs:schema>
XSD

SKIP: {
	skip 'no xmllint is installed', 4 if system 'command -v xmllint >/dev/null';
	is(system('xmllint', '--noout', "$folder/junit.xml"), 0,
	    'JUnit is well-formed XML');
	open my $xsd, '>', "$folder/junit.xsd" or die "junit.xsd: $!\n";
	print $xsd $schema;
	close $xsd or die "junit.xsd: $!\n";
	is(system("xmllint --noout --schema '$folder/junit.xsd' " .
	    "'$folder/junit.xml' 2>/dev/null"), 0, 'and has its shape');
	for ([failure => 4], [error => 2]) {
		my ($what, $count) = @$_;
		my $got = `xmllint --xpath 'count(//testcase/$what)' "$folder/junit.xml"`;
		is($got + 0, $count, "it has each $what");
	}
}
done_testing;
END
