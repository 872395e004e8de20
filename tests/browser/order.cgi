#!/usr/bin/perl
# SPDX-License-Identifier: ISC
#
# An order form of plain HTML, without a word of script: a GET shows it, a POST
# places the order, which takes as long as a file beside it is there that has
# its name and "-hold", but a minute at most.  It knows nothing of idem.  A line
# an order goes to "-orders", and "-begun" has one for each start.

use strict;
use warnings;

use Fcntl qw(:flock);

sub page {
	my ($title, $inside) = @_;
	print "Content-Type: text/html; charset=utf-8\n\n",
	    "<!DOCTYPE html>\n<html lang=\"en\">\n<title>$title</title>\n",
	    "<meta name=\"viewport\" content=\"width=device-width\">\n",
	    "<h1>$title</h1>\n$inside</html>\n";
}

sub add {
	my ($to, $text) = @_;
	open my $file, '+>>', "$0-$to" or die "$0-$to: $!\n";
	flock $file, LOCK_EX or die "$to: $!\n";
	seek $file, 0, 0;
	my $number = 1;
	$number++ while <$file>;
	print $file "$number $text\n";
	close $file or die "$to: $!\n";
	return $number;
}

if ($ENV{REQUEST_METHOD} eq 'POST') {
	read STDIN, my $body, $ENV{CONTENT_LENGTH} || 0;
	add('begun', $body);
	my $end = time + 60;
	select undef, undef, undef, 0.02 while -e "$0-hold" && time < $end;
	my ($item) = $body =~ /^item=([a-z]*)/;
	my $number = add('orders', $body);
	page("Order $number", "<p>Thank you: $item is ordered.</p>\n");
} else {
	page('Order form', <<'END');
<form method="post" action="?place">
<p><label>Item <input name="item" value="tea"></label></p>
<p><button>Order</button></p>
</form>
END
}
