# SPDX-License-Identifier: ISC
#
# A headless Chromium, driven by its DevTools protocol: JSON, each message with
# a NUL behind it, over two pipes that it has as descriptors 3 and 4.  It ends
# by itself when they are closed, so none is left when its driver dies.
#
#	my $b = DevTools->start(FOLDER, COMMAND...)	one window
#	$b->call(METHOD, {...})		what it answers
#	$b->await(WHAT, sub {...})	true, in time; or it dies
#	$b->value(EXPRESSION)		of the page, as JSON has it
#	$b->click(SELECTOR, 1 or 2)	the mouse, at the middle of an element
#	$b->fill(SELECTOR, TEXT)	its text is this, as if typed
#	$b->picture(FILE)
#	$b->processes			how many there are
#	$b->stop

package DevTools;
use strict;
use warnings;
use Carp qw(croak);
use JSON::PP ();
use POSIX ();
use Time::HiRes qw(sleep time);

my $patience = 60;	# seconds; then something hangs

# What a browser does of its own accord is nothing to a test: it calls nobody.
my @quiet = map { "--$_" } qw(headless=new no-sandbox disable-gpu no-first-run
    disable-background-networking disable-component-update disable-sync
    disable-extensions disable-breakpad disable-crash-reporter
    password-store=basic remote-debugging-pipe), 'window-size=800,600',
    'host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1';

# --- the process -------------------------------------------------------------

# What dup2 makes is not closed by exec; by way of 20 and 21, as the pipes may be
# 3 and 4 themselves.
sub become {
	my ($from, $to, $folder, @command) = @_;
	POSIX::dup2(fileno $from, 20);
	POSIX::dup2(fileno $to, 21);
	POSIX::dup2(20, 3);
	POSIX::dup2(21, 4);
	POSIX::close($_) for 20, 21;
	POSIX::setpgid(0, 0);
	open STDIN, '<', '/dev/null';
	open STDOUT, '>>', "$folder/browser.log";
	open STDERR, '>&', \*STDOUT;
	@ENV{qw(HOME TMPDIR)} = ($folder) x 2;
	exec { $command[0] } @command or POSIX::_exit(127);
}

sub start {
	my ($class, $folder, @command) = @_;
	pipe my $theirs, my $to or die "pipe: $!\n";
	pipe my $from, my $answers or die "pipe: $!\n";
	push @command, @quiet, "--user-data-dir=$folder/profile",
	    'about:blank';
	my $pid = fork // die "fork: $!\n";
	become($theirs, $answers, $folder, @command) if $pid == 0;
	$to->autoflush;
	my $self = bless { pid => $pid, group => $pid, to => $to,
	    from => $from, got => '', next => 1 }, $class;
	$self->attach;
	return $self;
}

sub gone {
	my ($self) = @_;
	return !$self->{pid} || waitpid($self->{pid}, POSIX::WNOHANG()) != 0;
}

# All are of one group, but for the handlers of crashes, which follow the others.
# A dead one counts no more, whoever is to reap it (proc(5), /proc/pid/stat).
sub processes {
	my ($self) = @_;
	my $count = 0;
	for my $file (glob '/proc/[0-9]*/stat') {
		open my $in, '<', $file or next;
		my $line = <$in> // next;	# it has just gone
		$count++ if $line =~ /\) ([A-Z]) \d+ $self->{group} / &&
		    $1 !~ /[ZX]/;
	}
	return $count;
}

# Of its own will, then of ours.
sub stop {
	my ($self) = @_;
	return if !$self->{pid};
	my $end = time + 5;
	eval { $self->send('Browser.close'); };
	close $self->{to};
	sleep 0.02 while !$self->gone && time < $end;
	kill KILL => -$self->{group};
	waitpid $self->{pid}, 0;
	$self->{pid} = 0;
	sleep 0.02 while $self->processes && time < $end + 5;
}

sub DESTROY {
	my ($self) = @_;
	local ($@, $?, $!);
	$self->stop;
}

# --- messages ----------------------------------------------------------------

sub send {
	my ($self, $method, $params) = @_;
	my %message = (id => $self->{next}++, method => $method,
	    params => $params // {});
	$message{sessionId} = $self->{session} if $self->{session};
	local $SIG{PIPE} = 'IGNORE';
	print { $self->{to} } JSON::PP::encode_json(\%message), "\0"
	    or die "the browser does not listen: $!\n";
	return $message{id};
}

sub hear {
	my ($self, $end) = @_;
	my $len;
	while (($len = index $self->{got}, "\0") < 0) {
		my $left = $end - time;
		my $ready = '';
		vec($ready, fileno $self->{from}, 1) = 1;
		croak 'the browser says nothing'
		    if $left <= 0 || !select $ready, undef, undef, $left;
		sysread $self->{from}, $self->{got}, 65536, length $self->{got}
		    or croak 'the browser has ended';
	}
	my $message = substr $self->{got}, 0, $len + 1, '';
	chop $message;
	return JSON::PP::decode_json($message);
}

# Events are left out: what they tell of is looked at until it is there.
sub call {
	my ($self, $method, $params) = @_;
	my $id = $self->send($method, $params);
	my $end = time + $patience;
	my $message;
	do {
		$message = $self->hear($end);
	} until ($message->{id} // 0) == $id;
	croak "$method: $message->{error}{message}" if $message->{error};
	return $message->{result};
}

sub attach {
	my ($self) = @_;
	my $targets = $self->call('Target.getTargets')->{targetInfos};
	my ($page) = grep { $_->{type} eq 'page' } @$targets;
	$page //= $self->call('Target.createTarget', { url => 'about:blank' });
	$self->{session} = $self->call('Target.attachToTarget', {
	    targetId => $page->{targetId}, flatten => JSON::PP::true
	})->{sessionId};
	$self->call('Page.enable');
}

# --- the page ----------------------------------------------------------------

sub await {
	my ($self, $what, $so, $seconds) = @_;
	my $end = time + ($seconds // $patience);
	while (time < $end) {
		my $is = eval { $so->() };	# between pages there is none to ask
		return $is if $is;
		die "the browser has ended\n" if $self->gone;
		sleep 0.02;
	}
	croak "$what does not come";
}

sub value {
	my ($self, $expression) = @_;
	my $got = $self->call('Runtime.evaluate', {
	    expression => $expression, returnByValue => JSON::PP::true
	});
	croak $got->{exceptionDetails}{text} if $got->{exceptionDetails};
	return $got->{result}{value};
}

sub literal {
	my ($text) = @_;
	return JSON::PP->new->allow_nonref->encode($text);
}

sub press {
	my ($self, $at, $count) = @_;
	$self->call('Input.dispatchMouseEvent', { type => $_, x => $at->[0],
	    y => $at->[1], button => 'left', clickCount => $count })
	    for qw(mousePressed mouseReleased);
}

sub middle {
	my ($self, $selector) = @_;
	return $self->value('(() => { const box = document.querySelector(' .
	    literal($selector) . ').getBoundingClientRect(); return ' .
	    '[box.x + box.width / 2, box.y + box.height / 2]; })()');
}

# Between the clicks of a double one `meanwhile` may wait for something.
sub click {
	my ($self, $selector, $count, $meanwhile) = @_;
	my $at = $self->middle($selector);
	for my $n (1 .. $count) {
		$self->press($at, $n);
		$meanwhile->() if $meanwhile && $n < $count;
	}
}

sub fill {
	my ($self, $selector, $text) = @_;
	$self->click($selector, 3);	# which marks all that it has
	$self->call('Input.insertText', { text => $text });
}

sub back {
	my ($self) = @_;
	my $history = $self->call('Page.getNavigationHistory');
	my $at = $history->{currentIndex} - 1;
	$self->call('Page.navigateToHistoryEntry', {
	    entryId => $history->{entries}[$at]{id} });
}

sub picture {
	my ($self, $file) = @_;
	require MIME::Base64;
	my $png = $self->call('Page.captureScreenshot', { format => 'png' });
	open my $out, '>:raw', $file or die "$file: $!\n";
	print $out MIME::Base64::decode_base64($png->{data});
	close $out or die "$file: $!\n";
}

1;
