#!/usr/bin/perl
# SPDX-License-Identifier: ISC
#
# People in front of an order form without script, played in a real browser.
# For t_browser.sh, which has started all the rest:
#
#	orders.pl FOLDER PORT REDIS-PID BROWSER-COMMAND...
#
# Where PICTURES names a folder, what a user sees is left there.

use strict;
use warnings;

use File::Basename qw(dirname);
use JSON::PP ();
use Test::More;

require(dirname(__FILE__) . '/devtools.pl');

my ($folder, $port, $redis, @command) = @ARGV;
my $cgi = "$folder/www/cgi-bin";
my $browser;

# All of it is over long before, or the rest of it never comes.
$SIG{ALRM} = $SIG{TERM} = $SIG{INT} = sub { die "it takes too long\n" };
alarm 300;

# --- what one can see --------------------------------------------------------

sub text_of {
	my ($file) = @_;
	open my $in, '<', $file or return '';
	local $/;
	return scalar <$in> // '';
}

sub lines { scalar split /\n/, text_of("$cgi/$_[0]") }

# How many requests idemd has answered so, of those that had a key.
sub said {
	my %said;
	$said{$_}++ for text_of("$folder/idemd.log") =~
	    / idempotency-status=([a-z].*?) /g;
	return join ' ', map { "$said{$_} $_" } sort keys %said;
}

# Those whose body has come.  -1: it cannot be said at the moment.
sub keyed {
	open my $in, '-|', "$folder/idemctl", qw(stats --json --config),
	    "$folder/idem.conf" or return -1;
	local $/;
	my $text = <$in> // '';
	return $text =~ /"keyed":(\d+)/ ? $1 : -1;
}

sub without_tokens {
	return scalar(() = text_of("$folder/idemd.log") =~ /without tokens/g);
}

# A line of the log may come a moment after the answer.
sub comes_to {
	my ($text, $wanted, $got) = @_;
	eval { $browser->await($wanted, sub { $got->() eq $wanted }, 30) };
	is($got->(), $wanted, $text);
}

sub title { $browser->value('document.title') }
sub text { $browser->value('document.body.innerText') =~ s/\s+/ /gr }
sub token { $browser->value('document.forms[0]?.idem_token?.value ?? ""') }
sub status {
	return $browser->value(
	    'performance.getEntriesByType("navigation")[0].responseStatus');
}

sub shown {
	my ($title) = @_;
	$browser->await("'$title'", sub { title() eq $title &&
	    $browser->value('document.readyState') eq 'complete' });
}

sub picture {
	my ($name) = @_;
	my $to = $ENV{PICTURES} or return;
	for my $colour (qw(light dark)) {
		$browser->call('Emulation.setEmulatedMedia', { features =>
		    [{ name => 'prefers-color-scheme', value => $colour }] });
		$browser->picture("$to/$name-$colour.png");
	}
}

# --- what one does -----------------------------------------------------------

sub open_form {
	my ($program) = @_;
	$browser->call('Page.navigate', {
	    url => "http://127.0.0.1:$port/cgi-bin/$program" });
	shown('Order form');
}

# One that has a token, for which Redis may have been late.
sub open_with_token {
	my $end = time + 60;
	do {
		open_form('order.cgi');
	} while token() eq '' && time < $end;
}

sub submit { $browser->click('button', 1) }

# As a user says yes to the question whether to send the form again.
sub resend {
	my $old = $browser->value('performance.timeOrigin');
	$browser->call('Page.reload');
	$browser->await('the page again', sub {
		$browser->value('performance.timeOrigin') != $old &&
		    $browser->value('document.readyState') eq 'complete' });
}

sub order {
	my ($item) = @_;
	$browser->fill('[name=item]', $item);
	submit();
}

sub back {
	$browser->back;
	shown('Order form');
}

# The second click comes when the first one's order is being placed, which it
# is until there are two more by this count: idemd has both.
sub double_click {
	my ($program, $count) = @_;
	my $before = lines("$program-begun");
	my $had;
	$browser->await('a count', sub { ($had = $count->()) >= 0 });
	open my $hold, '>', "$cgi/$program-hold" or die "hold: $!\n";
	$browser->click('button', 2, sub {
		$browser->await('the first click', sub {
			lines("$program-begun") > $before });
	});
	$browser->await('the second click', sub { $count->() >= $had + 2 });
	unlink "$cgi/$program-hold";
}

# --- the double click --------------------------------------------------------

sub check_double_click {
	open_with_token();
	is($browser->value('document.scripts.length'), 0,
	    'the page with the form has no script');
	like(token(), qr/^[\w-]{75}$/, 'its form has a token');
	picture('form');
	$browser->fill('[name=item]', 'coffee');
	double_click('order.cgi', \&keyed);
	shown('Order 1');
	is(text(), 'Order 1 Thank you: coffee is ordered.',
	    'a double click on it shows the confirmation');
	picture('confirmation');
	is(text_of("$cgi/order.cgi-begun") . text_of("$cgi/order.cgi-orders"),
	    "1 item=coffee\n" x 2, 'of one order, whose program ran once');
	comes_to('although it was sent twice', '1 replayed 1 stored', \&said);
	resend();
	is(text(), 'Order 1 Thank you: coffee is ordered.',
	    'the confirmation, loaded again, is the same');
	comes_to('which is sent a third time', '2 replayed 1 stored', \&said);
	is(lines('order.cgi-orders'), 1, 'and is no order');
}

sub check_without_token {
	open_form('plain.cgi');
	is(token(), '', 'the same form without a token');
	double_click('plain.cgi', sub { lines('plain.cgi-begun') });
	$browser->await('an order', sub { title() =~ /^Order [12]$/ });
	comes_to('is ordered twice by a double click', 2,
	    sub { lines('plain.cgi-orders') });
}

# --- back --------------------------------------------------------------------

sub check_back {
	open_with_token();
	my $token = token();
	order('tea');
	shown('Order 2');
	is(text(), 'Order 2 Thank you: tea is ordered.',
	    'the page of the form, loaded anew, is another order');
	back();
	is(token(), $token, 'the button "back" leads to it, and its token');
	order('tea');
	shown('Order 2');
	is(text(), 'Order 2 Thank you: tea is ordered.',
	    'sent once more as it is it has the same confirmation');
	comes_to('of the same order',
	    '3 replayed 2 stored', \&said);
	back();
	order('milk');
	shown('This key belongs to a different request');
	is(status(), 422, 'with something else in it, it is refused');
	like(text(), qr/Nothing was done now\. .* load the form again/,
	    'and a page says what to do');
	picture('mismatch');
	is(lines('order.cgi-orders'), 2, 'nothing is ordered by it');
}

# --- Redis -------------------------------------------------------------------

sub check_frozen {
	open_with_token();
	kill STOP => $redis;
	order('bread');
	shown('The request cannot be taken at the moment');
	is(status(), 503, 'while Redis does not answer, a token is refused');
	picture('away');
	kill CONT => $redis;
	my $end = time + 60;	# each worker finds out by itself
	resend() while title() !~ /^Order/ && time < $end;
	is(text() . lines('order.cgi-begun'),
	    'Order 3 Thank you: bread is ordered.3',
	    'sent again when it does, it is one order');
}

sub check_gone {
	my $before = without_tokens();
	kill KILL => $redis;
	open_form('order.cgi');
	is(status() . token(), 200,
	    'without Redis the page is shown, and has no token');
	comes_to('of which the log speaks', $before + 1, \&without_tokens);
	order('soap');
	shown('The request has no idempotency key');
	is(status(), 400, 'and its form is refused');
	like(text(), qr/Nothing was done\. .* load the form again/,
	    'with a page that says what to do');
	picture('missing');
	is(lines('order.cgi-begun'), 3, 'nothing is ordered then');
}

$browser = DevTools->start("$folder/tmp", @command);
# Not of ours either: what people would switch off does not work here.
$browser->call('Emulation.setScriptExecutionDisabled', {
    value => JSON::PP::true });
check_double_click();
check_without_token();
check_back();
check_frozen();
check_gone();
my $had = $browser->processes;
$browser->stop;
ok($had > 1 && $browser->processes == 0,
    'none of the processes of the browser is left');
done_testing();
