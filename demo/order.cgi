#!/usr/bin/perl
# SPDX-License-Identifier: ISC
#
# A small legacy order form, as they run in many cellars: a GET shows the form,
# a POST writes one line an order and confirms it.  It knows nothing of idem,
# and takes the same order twice when it is sent twice.  With ORDER_FORM=plain
# the form has no script.
#
# Orders go to the file that ORDERS_FILE names, or to "orders" beside this one.

use strict;
use warnings;

use Fcntl qw(:flock);
use File::Basename qw(dirname);
use Time::HiRes qw(sleep);

my $orders = $ENV{ORDERS_FILE} || dirname($0) . "/orders";

sub decoded {
	my ($text) = @_;
	$text =~ tr/+/ /;
	$text =~ s/%([0-9A-Fa-f]{2})/chr hex $1/ge;
	$text =~ s/[\x00-\x1f\x7f]/ /g;
	return $text;
}

sub escaped {
	my ($text) = @_;
	my %entity = ('&' => '&amp;', '<' => '&lt;', '>' => '&gt;', '"' => '&quot;');
	$text =~ s/([&<>"])/$entity{$1}/g;
	return $text;
}

sub page {
	my ($status, $title, $inside) = @_;
	print "Status: $status\r\n",
	    "Content-Type: text/html; charset=utf-8\r\n\r\n",
	    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n",
	    "<meta charset=\"utf-8\">\n<title>$title</title>\n</head>\n",
	    "<body>\n<h1>$title</h1>\n$inside</body>\n</html>\n";
}

my $form = <<'END';
<form method="post" action="?place" id="order">
<p><label>Item <input name="item" value="tea" required></label></p>
<p><label>Quantity <input name="quantity" type="number" min="1" value="1"
required></label></p>
<p><button>Submit</button> <span id="told" role="status"></span></p>
</form>
END

# The only lines that were added for idem: a key made once when the page is
# loaded, sent with each press of the button.
my $script = <<'END';
<script>
const form = document.getElementById("order");
const key = crypto.randomUUID ? crypto.randomUUID() :
    Array.from(crypto.getRandomValues(new Uint8Array(16)),
    byte => byte.toString(16).padStart(2, "0")).join("");

form.addEventListener("submit", async event => {
	event.preventDefault();
	document.getElementById("told").textContent = "One moment…";
	try {
		const answer = await fetch(location.href, {
			method: "POST",
			headers: {
				"Idempotency-Key": '"' + key + '"',
				"Accept": "text/html"
			},
			body: new URLSearchParams(new FormData(form))
		});
		const page = new DOMParser().parseFromString(
		    await answer.text(), "text/html");
		document.title = page.title;
		document.body.replaceWith(page.body);
	} catch (error) {
		document.getElementById("told").textContent =
		    "No answer. Submit again: it will not be ordered twice.";
	}
});
</script>
END

sub order {
	my $length = $ENV{CONTENT_LENGTH} || 0;
	my ($body, %field) = ('');

	while (length $body < $length) {
		read(STDIN, $body, $length - length $body, length $body) or last;
	}
	for my $pair (split /&/, $body) {
		my ($name, $value) = map { decoded($_) } split /=/, $pair, 2;
		$field{$name} = $value // '';
	}
	my $item = $field{item} // '';
	my $quantity = $field{quantity} // '';
	return page('400 Bad Request', 'Nothing ordered',
	    "<p>Please name an item and a quantity.</p>\n")
	    if $item !~ /\S/ || $quantity !~ /^[1-9][0-9]{0,5}$/;

	open my $file, '+>>', $orders or die "$orders: $!\n";
	flock $file, LOCK_EX or die "$orders: $!\n";
	seek $file, 0, 0;
	my $number = 1;
	$number++ while <$file>;
	print $file "$number\t$quantity\t$item\n";
	close $file or die "$orders: $!\n";

	sleep 0.3;	# the slow part of every such program
	page('200 OK', "Order $number",
	    "<p>Thank you: $quantity × " . escaped($item) . " is ordered.</p>\n" .
	    "<p><a href=\"?\">Another order</a></p>\n");
}

if (($ENV{REQUEST_METHOD} || 'GET') eq 'POST') {
	order();
} else {
	my $plain = ($ENV{ORDER_FORM} || '') eq 'plain';
	page('200 OK', 'Order form', $plain ? $form : $form . $script);
}
