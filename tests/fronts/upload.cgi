#!/usr/bin/perl
# SPDX-License-Identifier: ISC
#
# An upload form as CGI.pm's manual has it: a GET shows it, a POST takes a file
# and says what came.

use strict;
use warnings;

use CGI ();
use Digest::MD5 ();

my $q = CGI->new;
my $file = $q->upload('file');

print $q->header(-type => 'text/html', -charset => 'utf-8',
    -status => $file ? '201 Created' : '200 OK');
print $q->start_html('Upload');
if ($file) {
	my $sum = Digest::MD5->new->addfile($file->handle)->hexdigest;
	my $times = 1;
	if (open my $book, '+>>', "$ENV{UPLOAD_BOOK}") {
		print $book "$sum\n";
		seek $book, 0, 0;
		$times = grep { $_ eq "$sum\n" } <$book>;
	}
	print $q->h1('Taken'), $q->p($q->escapeHTML(scalar $q->param('file')),
	    -s $file->handle, $sum, $q->escapeHTML(scalar $q->param('note')),
	    "time $times");
} else {
	print $q->start_multipart_form, $q->textfield('note'),
	    $q->filefield('file'), $q->submit, $q->end_multipart_form;
}
print $q->end_html;
