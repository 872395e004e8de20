# SPDX-License-Identifier: ISC
#
# What is measured with Redis: as the arbiter of keys and of tokens, as a cache
# beside the ledger, and by two instances that share nothing else.

package Redis;
use strict;
use warnings;
use IO::Socket::UNIX ();

my $tokens = 8000;	# of a round: more than are used up
# Keys that are replayed: more than clients, as those who ask for one key at the
# same time share one look-up.
my $kept = 500;
my $crowd = 1000;	# duplicates on another host
my $server = '';

# --- talking to it (RESP2) ---------------------------------------------------

sub words {
	return join '', '*' . @_ . "\r\n", map { "\$" . length($_) . "\r\n$_\r\n" } @_;
}

sub reply {
	my ($from) = @_;
	local $/ = "\r\n";
	chomp(my $line = <$from> // die "bench: Redis has gone\n");
	my ($kind, $rest) = (substr($line, 0, 1), substr $line, 1);
	die "bench: Redis says: $rest\n" if $kind eq '-';
	return [map { reply($from) } 1 .. $rest] if $kind eq '*';
	return $rest if $kind ne '$';
	return if $rest < 0;
	read $from, my $bytes, $rest + 2;
	return substr $bytes, 0, $rest;
}

sub say {
	my ($name, @command) = @_;
	my $to = IO::Socket::UNIX->new(Peer => Peers::path($name))
	    or die "bench: $name: $!\n";
	binmode $to;
	print $to words(@command);
	$to->flush;
	return reply($to);
}

# How often each of these commands was called, and how long that took it, in us.
sub calls {
	my ($name, @commands) = @_;
	my $stats = say($name, 'INFO', 'commandstats');
	my ($calls, $us) = (0, 0);
	for my $command (@commands) {
		$stats =~ /^cmdstat_$command:calls=(\d+),usec=(\d+)/m or next;
		$calls += $1;
		$us += $2;
	}
	return ($calls, $us);
}

# --- who is started ----------------------------------------------------------

my %instance = (
	shared => [
	    "route { path = '/**', arbiter = 'redis', scope = { name = 'all' },",
	    "    program = cgi { root = 'FOLDER' } }"],
	far => ["local_cache = 'none'",
	    "route { path = '/**', arbiter = 'redis', scope = { name = 'all' },",
	    "    program = cgi { 'FOLDER/order' } }"],
	alone => ["local_cache = 'none'",
	    "ledger = sqlite { path = 'FOLDER/alone.db', create = true }",
	    "route { path = '/**', program = cgi { 'FOLDER/order' } }"],
	cached => ["local_cache = 'none'", "cache = shared",
	    "ledger = sqlite { path = 'FOLDER/cached.db', create = true }",
	    "route { path = '/**', program = cgi { 'FOLDER/order' } }"],
	token => ["local_cache = 'none'",
	    "tokens = { keys = 'FOLDER/token.keys', rate = 1000000,",
	    "    burst = 1000000 }",
	    "route { path = '/**', arbiter = 'token', scope = { name = 'all' },",
	    "    program = cgi { 'FOLDER/order' } }"]);

# An instance NAME, as KIND, at a server.
sub instance {
	my ($name, $kind, $redis, @more) = @_;
	my $folder = Peers::folder();
	my $prefix = $name =~ s/[AB]$//r;
	my $text = join "\n", 'programs = 16', "run = 'FOLDER/$name-run'",
	    "shared = redis { url = 'unix:FOLDER/$redis', " .
	    "prefix = '$prefix:' }", @more, @{ $instance{$kind} }, '';
	$text =~ s/^shared.*\n//m if $kind eq 'alone';
	Peers::idemd_file($name, $text =~ s/FOLDER/$folder/gr);
	return Peers::await($name, main::answers($name, '-p', Plan::program()));
}

sub start_all {
	my @names = sort keys %instance;
	if (Peers::missing('redis')) {
		Peers::lost($_, Peers::missing('redis')) for @names;
		return;
	}
	Peers::write_file('token.keys', 'bench ' . '0123456789abcdef' x 4 .
	    "\n", 0600);
	instance($_, $_, 'redis') for @names;
	$server = say('redis', 'INFO', 'server') =~ /^redis_version:(\S+)/m ?
	    "Redis $1" : 'Redis';
}

sub note {
	return '' if $server eq '';
	return "($server on a unix socket, save \"\", appendonly no: it writes " .
	    "nothing to a disk)\n";
}

# --- what is measured --------------------------------------------------------

# Fresh tokens, a line each, in a file.
sub mint {
	my ($file, $count) = @_;
	my $answers = Peers::path('minted');
	main::load('token', '-k', '-u', '/.idem/token', '-S', 201, '-N', $count,
	    '-o', $answers);
	Peers::write_file($file, join '', map { "$_\n" }
	    Peers::slurp($answers) =~ /"token":"([^"]+)"/g);
}

# The look-up that a replay is, as idemd sends it: `claim` of idem.lua, for the
# record that is there.
sub look_up {
	my ($key) = @_;
	open my $file, '<', main::here() . '/../../lib/idem.lua'
	    or die "bench: idem.lua: $!\n";
	my $sha1 = say('redis', 'SCRIPT', 'LOAD', join '', <$file>);
	my $record = say('redis', 'GETRANGE', $key, 0, 161);
	return ('EVALSHA', $sha1, 1, $key, 'claim', 'o' x 16, 0, 0, 0, '',
	    substr($record, 42, 32), substr($record, 74, 32), "\0" x 16,
	    "\0" x 4, 60000, 0, "\0" x 8, "\0" x 16, 1, 65536);
}

sub raw {
	my ($file, $ms) = @_;
	my ($socket, $command) = (Peers::path('redis'), Peers::path($file));
	return sub {
		my $errors = Peers::path('errors');
		return Figures::read_json(scalar `'$ENV{BENCH}/raw' '$socket' \\
		    '$command' 16 $ms 2>>'$errors'`);
	};
}

sub plan {
	my ($ms) = @_;
	my @fresh = ('-S', 201, '-K', 'fresh', '-P', 'f-ROUND', '-w', 'stored');
	my @replay = ('-k', '-S', 201, '-K', "set:$kept", '-w', 'replayed');
	main::measure('raw_get', 'redis')->{by} = raw('get.resp', $ms);
	main::measure('far', 'far', @replay);
	main::measure('raw_look', 'redis')->{by} = raw('look.resp', $ms);
	main::measure('alone_fresh', 'alone', @fresh);
	main::measure('cached_fresh', 'cached', @fresh);
	main::measure('alone_replay', 'alone', @replay);
	main::measure('cached_replay', 'cached', @replay);
	main::measure('token_fresh', 'token', '-S', 201, '-N', $tokens, '-K',
	    'file:' . Peers::path('fresh.tokens'), '-w', 'stored')->{before} =
	    sub { mint('fresh.tokens', $tokens) };
	main::measure('far_fresh', 'far', @fresh);
	main::measure('token_replay', 'token', '-k', '-S', 201, '-K',
	    'file:' . Peers::path('used.tokens'), '-w', 'replayed');
	main::measure('mint', 'token', '-k', '-S', 201, '-u', '/.idem/token');
	main::measured($_)->{through} = ['redis'] for qw(shared shared_alone
	    shared_sh shared_perl far far_fresh cached_fresh cached_replay
	    token_fresh token_replay mint);
}

sub warm {
	return if $server eq '';
	main::load($_, '-K', "set:$kept", '-N', $kept) for grep { !Peers::missing($_) }
	    qw(far cached alone);
	my ($key) = grep { /^far:[0-9a-f]{64}$/ }
	    @{ say('redis', 'KEYS', 'far:*') };
	if (defined $key) {
		Peers::write_file('get.resp', words('GET', $key));
		Peers::write_file('look.resp', words(look_up($key)));
	}
	return if Peers::missing('token');
	mint('used.tokens', $kept);
	main::load('token', '-N', $kept, '-K', 'file:' .
	    Peers::path('used.tokens'));
}

sub rows {
	my ($get, $look) = ('raw GETs, 1 connection', 'raw look-ups, the same');
	return (
	['shared', 'fresh keyed CGI, Redis', 'wrap', 'fcgiwrap -c4', 1.15],
	['shared_alone', 'the same, one client, mean', 'wrap_alone',
	    'fcgiwrap -c4', 0.90, of => 'mean_us', at_most => 1],
	['shared_sh', 'fresh keyed, shell, Redis', 'wrap_sh', 'fcgiwrap -c4',
	    0.95],
	['shared_perl', 'fresh keyed, perl, Redis', 'wrap_perl', 'fcgiwrap -c4',
	    0.95],
	# What a look-up costs that decides nothing; and the one that we make.
	['far', 'replay from Redis', 'raw_get', $get, undef],
	['far', 'replay from Redis', 'raw_look', $look, 0.40],
	['cached_fresh', 'fresh, ledger + Redis cache', 'alone_fresh',
	    'the ledger alone', undef],
	['cached_replay', 'replay from the cache in Redis', 'alone_replay',
	    'from the ledger alone', undef],
	['token_fresh', 'fresh token', 'far_fresh', 'client-made key, Redis',
	    undef],
	['token_replay', 'replay of a token, from Redis', 'far',
	    'client-made key, Redis', undef],
	['mint', 'tokens minted', undef, '', undef]);
}

# --- round trips -------------------------------------------------------------

# What a server is asked while that is done: how often for what.  An operation
# of the script counts by its name; what the script itself calls, which the
# server shows as "lua", does not.
sub asked {
	my ($name, $doing) = @_;
	my $to = IO::Socket::UNIX->new(Peer => Peers::path($name))
	    or die "bench: $name: $!\n";
	binmode $to;
	print $to words('MONITOR');
	$to->flush;
	reply($to);
	my $got = $doing->();
	say($name, 'ECHO', 'the end of it');
	my %count;
	while (defined(my $line = <$to>)) {
		last if $line =~ /"ECHO" "the end of it"/;
		$line =~ /^\+[0-9.]+ \[\d+ (?!lua)\S*\] "(\w+)"(.*)/s or next;
		my ($command, $rest) = (lc $1, $2);
		$command = $1 if $command =~ /^eval/ &&
		    $rest =~ /^ "(?:[^"\\]|\\.)*" "1" "[^"]*" "(\w+)"/s;
		$command .= ' of the cache' if $rest =~ /^ "[^"]*:c:/;
		$count{$command}++;
	}
	return ($got, \%count);
}

# A server for nobody else.  Those who sweep ask `peek` and `sweep`, and now and
# then whether it lives; that is not of any request.  Clients are fewer than
# slots, for who finds none asks once more.
sub trip {
	my ($what, $goal, $name, $commands, @options) = @_;
	my ($got, $count) = asked('counted', sub {
		main::load($name, '-k', '-n', 8, '-S', 201, '-N', $kept, @options);
	});
	return { what => $what, peer => '', missing => 'wrong answers' }
	    if !$got || $got->{errors};
	my $sum = 0;
	$sum += $count->{$_} // 0 for @$commands;
	return Sizes::size_row($what, $sum / $kept, $goal, '');
}

sub trips {
	return { what => 'round trips', peer => '', missing =>
	    Peers::missing('redis') } if Peers::missing('redis');
	Peers::redis('counted') && Peers::await('counted', sub { 1 }) or return;
	my @set = ('-K', "set:$kept", '-P', 'trips');
	my @fresh = ('-K', 'fresh', '-w', 'stored');
	my @calls = qw(claim complete release renew unknown);
	my @rows;
	if (instance('trips', 'shared', 'counted', 'workers = 1')) {
		my @program = ('-p', Plan::program());
		# The first call of a script brings its text.
		main::load('trips', @set, @program, '-N', $kept);
		push @rows, trip('round trips, fresh', 2, 'trips', \@calls,
		    @fresh, @program);
		push @rows, trip('round trips, replay from memory', 0, 'trips',
		    \@calls, @set, @program, '-w', 'replayed');
	}
	if (instance('tripsfar', 'far', 'counted')) {
		main::load('tripsfar', @set, '-N', $kept);
		push @rows, trip('round trips, replay from Redis', 1,
		    'tripsfar', \@calls, @set, '-w', 'replayed');
	}
	if (instance('tripscached', 'cached', 'counted')) {
		main::load('tripscached', @set, '-N', $kept);
		push @rows, trip('round trips, replay from the cache', 1,
		    'tripscached', ['get of the cache', 'set of the cache'],
		    @set, '-w', 'replayed');
	}
	push @rows, server_time();
	Peers::stop($_) for qw(trips tripsfar tripscached counted);
	return @rows;
}

# What a call of the script costs the server, by its own count.
sub server_time {
	my ($what, @rows) = 'Redis\'s own time of ';
	my @before = calls('counted', 'evalsha');
	my $of = sub {
		my @now = calls('counted', 'evalsha');
		my ($calls, $us) = ($now[0] - $before[0], $now[1] - $before[1]);
		@before = @now;
		push @rows, Sizes::size_row($what . $_[0], $us / $calls, undef,
		    ' us') if $calls > 0;
	};
	return if Peers::missing('trips') || Peers::missing('tripsfar');
	main::load('tripsfar', '-k', '-K', "set:$kept", '-P', 'trips', '-N',
	    20000);
	$of->('a replay\'s call');
	main::load('trips', '-K', 'fresh', '-P', 'more', '-N', 1000, '-p',
	    Plan::program());
	$of->('a fresh one\'s two, each');
	return @rows;
}

# --- a crowd on another host -------------------------------------------------

# Milliseconds of the day at which lines of a log say that, once so many do.
sub moments {
	my ($name, $says, $count) = @_;
	my @at;
	for (1 .. 100) {
		@at = map { /T(\d+):(\d+):([0-9.]+)Z .*\Q$says\E/ ?
		    (($1 * 60 + $2) * 60 + $3) * 1000 : () }
		    split /\n/, Peers::slurp(Peers::path("$name.log"));
		last if @at >= $count;
		select undef, undef, undef, 0.02;
	}
	return @at;
}

sub until_open {
	my ($pid, $count) = @_;
	for (1 .. 500) {
		return 1 if (() = glob "/proc/$pid/fd/*") >= $count;
		select undef, undef, undef, 0.01;
	}
	return;
}

# What runs on A is waited for on B, which shares nothing with it but Redis.
sub crowd {
	my $what = "$crowd waiting on another host";
	my $lost = sub { return { what => $what, peer => '', missing => $_[0] } };
	return $lost->(Peers::missing('redis')) if Peers::missing('redis');
	for my $name (qw(crowdA crowdB)) {
		instance($name, 'far', 'redis', 'workers = 1')
		    or return $lost->(Peers::missing($name));
	}
	my ($worker) = Peers::workers('crowdB');
	return $lost->('its log names no lobby') if !$worker;
	my $lobby = $worker->{lobby};
	my @asks = ('-K', 'one', '-P', 'crowd', '-S', 201, '-q', 'sleep=3000');
	my $orders = () = Peers::slurp(Peers::path('orders')) =~ /\n/g;
	my $first = main::background('crowdA', @asks, '-N', 1);
	Sizes::until_lines('orders', $orders + 1);
	my $open = () = glob "/proc/$lobby/fd/*";
	my $before = Peers::pss_kb($lobby);
	my $others = main::background('crowdB', @asks, '-n', $crowd, '-N',
	    $crowd, '-w', 'replayed');
	my $came = until_open($lobby, $open + $crowd);
	select undef, undef, undef, 0.3;	# for the last to be parked
	my $each = (Peers::pss_kb($lobby) - $before) * 1024 / $crowd;
	waitpid $first, 0;
	waitpid $others, 0;
	return $lost->('some had a wrong answer') if $? != 0;
	my ($ended) = moments('crowdA', '=stored', 1);
	my @told = sort { $a <=> $b } moments('crowdB', '=replayed', $crowd);
	return $lost->('the logs do not say when') if !defined $ended ||
	    @told != $crowd;
	return ($came ? Sizes::size_row("$what, memory each", $each, 512, ' B') :
	    $lost->('they do not all come'),
	    Sizes::size_row('the last of them, by its poll', $told[-1] - $ended,
	    undef, ' ms'));
}

1;
