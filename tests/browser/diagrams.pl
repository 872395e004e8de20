#!/usr/bin/perl
# SPDX-License-Identifier: ISC
#
# Diagrams as they are seen, for t_sim_diagram.sh:
#
#	diagrams.pl FOLDER BROWSER-COMMAND...
#
# Where PICTURES names a folder, what was looked at is left there.

use strict;
use warnings;

use File::Basename qw(dirname);
use JSON::PP ();
use Test::More;

require(dirname(__FILE__) . '/devtools.pl');

my ($folder, @command) = @ARGV;
my $browser;

$SIG{ALRM} = $SIG{TERM} = $SIG{INT} = sub { die "it takes too long\n" };
alarm 300;

sub look {
	my ($page, $scheme, $width, $height) = @_;
	$browser->call('Emulation.setDeviceMetricsOverride', {
	    width => $width // 1500, height => $height // 1100,
	    deviceScaleFactor => 1, mobile => JSON::PP::false });
	$browser->call('Emulation.setEmulatedMedia', { features => [ {
	    name => 'prefers-color-scheme', value => $scheme } ] });
	$browser->call('Page.navigate', {
	    url => "file://$folder/$page.html" });
	$browser->await("page $page", sub {
		$browser->value("location.pathname.endsWith('/$page.html') && " .
		    'document.readyState === "complete"');
	});
}

sub picture {
	my ($name) = @_;
	$browser->picture("$ENV{PICTURES}/$name.png") if $ENV{PICTURES};
}

# --- what is drawn -----------------------------------------------------------

# Texts that lie over each other, outside of the picture, or on their own arrow.
my $ugly = <<'END';
(() => {
	const svg = document.getElementById('pic').getBoundingClientRect();
	const all = [...document.querySelectorAll('#pic text')].map(t =>
	    ({ t: t.textContent, b: t.getBoundingClientRect() }));
	const bad = [];
	for (const { t, b } of all)
		if (b.left < svg.left || b.right > svg.right + .5)
			bad.push('cut: ' + t);
	for (let i = 0; i < all.length; i++)
		for (let j = i + 1; j < all.length; j++) {
			const a = all[i].b, b = all[j].b;
			if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
			    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2)
				bad.push(all[i].t + ' over ' + all[j].t);
		}
	for (const path of document.querySelectorAll('#pic g > path[class]')) {
		const [x1, y1, x2, y2] = (path.getAttribute('d').match(
		    /^M([-\d.]+) ([-\d.]+)L([-\d.]+) ([-\d.]+)$/) || []).slice(1)
		    .map(Number);
		for (const row of (path.parentNode.dataset.e || '').split(' ')) {
			const t = document.querySelector(`#pic .m[data-e="${row}"] text`);
			if (x2 === undefined || !t) continue;
			const b = t.getBBox();
			const from = Math.max(b.x, Math.min(x1, x2));
			const to = Math.min(b.x + b.width, Math.max(x1, x2));
			const y = y1 + ((from + to) / 2 - x1) / (x2 - x1) * (y2 - y1);
			if (to > from + 1 && y > b.y && y < b.y + b.height)
				bad.push('an arrow crosses ' + t.textContent);
		}
	}
	return bad.slice(0, 10).join('\n');
})()
END

# A line of the list stands where the row of the picture does.
my $askew = <<'END';
(() => {
	const rows = [...document.querySelectorAll('#pic .e')];
	const lines = [...document.querySelectorAll('.list li[data-e]')];
	if (rows.length !== lines.length) return 'not as many';
	return lines.filter((l, i) => {
		const a = l.getBoundingClientRect();
		const b = rows[i].firstElementChild.getBoundingClientRect();
		return Math.abs(a.top - b.top) > 1 || Math.abs(a.height - b.height) > 1;
	}).length;
})()
END

# WCAG 2.2, 1.4.3: pairs of colours whose contrast is below 4.5.
my $faint = <<'END';
(() => {
	const of = name => {
		const p = document.createElement('p');
		p.style.color = `var(--${name})`;
		document.body.append(p);
		const c = getComputedStyle(p).color.match(/[\d.]+/g).slice(0, 3);
		p.remove();
		const [r, g, b] = c.map(v => { v /= 255;
			return v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; });
		return .2126 * r + .7152 * g + .0722 * b;
	};
	const bad = [];
	const check = (a, b) => {
		const [x, y] = [of(a), of(b)].sort((m, n) => n - m);
		const ratio = (x + .05) / (y + .05);
		if (ratio < 4.5) bad.push(`${a} on ${b}: ${ratio.toFixed(2)}`);
	};
	for (const a of ['text', 'soft', 'q', 'c', 'u', 'f', 'h', 'n'])
		for (const b of ['bg', 'panel'])
			check(a, b);
	for (const b of ['band', 'bandh', 'mark'])
		check('text', b);
	check('soft', 'mark'); check('f', 'band'); check('h', 'bandh');
	return bad.join('\n');
})()
END

sub drawn {
	my ($page, $scheme, $rows) = @_;
	look($page, $scheme);
	is($browser->value($ugly), '', "$page, $scheme: no text is cut or covered");
	is($browser->value($askew), 0, 'lines and rows stand side by side');
	is($browser->value($faint), '', 'every colour can be read on its ground');
	is($browser->value('performance.getEntriesByType("resource").length'), 0,
	    'nothing is fetched');
	ok($browser->value('!document.getElementById("tools").hidden'),
	    'the script came to its end');
	picture("$page-$scheme");
}

# --- what can be done --------------------------------------------------------

sub dim { $browser->value('document.querySelectorAll(".list .dim").length') }
sub rows { $browser->value(
    'document.querySelectorAll(".list li[data-e]").length') }
sub key {
	my ($key) = @_;
	$browser->call('Input.dispatchKeyEvent', { type => $_, key => $key })
	    for qw(keyDown keyUp);
}

sub past {
	look('60', 'light');
	is($browser->value('document.querySelectorAll(".list .cf").length'), 2,
	    'the conflict is in the list');
	is(dim(), 0, 'all is bright');
	$browser->value('document.querySelector(".list .cf a")' .
	    '.scrollIntoView({ block: "center" }), 0');
	$browser->click('.list .cf a', 1);
	cmp_ok(dim(), '>', 3, 'an event that is chosen dims what it did not know');
	cmp_ok(dim(), '<', rows() - 1, 'but not its causes');
	is($browser->value('document.querySelector(".list .cf").className'),
	    'cf sel', 'nor itself');
	picture('past');
	key('Escape');
	is(dim(), 0, 'Escape brings all of them back');
	$browser->value('document.querySelector("#pic .m use").parentNode' .
	    '.dispatchEvent(new MouseEvent("click", { bubbles: true })), 0');
	cmp_ok(dim(), '>', 3, 'the picture can be asked, too');
	$browser->value('scrollTo(0, 0), 0');
	$browser->click('#all', 1);
	is(dim(), 0, 'and a button brings them back');
}

# What lies over a thing must not take its words from the pointer.
sub words {
	look('60', 'light');
	for (['#pic .le path', 'a lease'], ['#pic .paused', 'a lane that is paused'],
	    ['#pic path.q', 'a request']) {
		my ($thing, $what) = @$_;
		like($browser->value("(() => { const t = " .
		    "document.querySelector('$thing');" .
		    "t.scrollIntoView({ block: 'center', inline: 'center' });" .
		    "const b = t.getBoundingClientRect();" .
		    "const p = t.tagName === 'path' ? t.getPointAtLength(" .
		    "t.getTotalLength() / 2).matrixTransform(t.getScreenCTM()) :" .
		    "{ x: b.left + 3, y: b.top + b.height / 2 };" .
		    "let e = document.elementFromPoint(p.x, p.y);" .
		    "while (e && !e.querySelector(':scope > title'))" .
		    " e = e.parentElement;" .
		    "return e ? e.querySelector('title').textContent : ''; })()"),
		    { 'a lease' => qr/^the lease of k\d, which g\d had/,
		    'a request' => qr/^c\d \S+ g\d k\d/ }->{$what} // qr/ is paused$/,
		    "$what says what it is where it is pointed at");
	}
}

sub filters {
	my $some = sub { $browser->value("(() => { const s = " .
	    "document.getElementById('$_[0]'); s.value = '$_[1]'; s.onchange();" .
	    " return [...document.querySelectorAll('.list li[data-e]')].filter(" .
	    "l => l.classList.contains('dim') !== (l.getAttribute('$_[2]') !== " .
	    "'$_[1]')).length; })()") };
	is($some->('by-key', 'k1', 'data-k'), 0, 'a key can be chosen');
	cmp_ok(dim(), '>', 0, 'others go');
	$browser->click('#all', 1);
	is($some->('by-lane', 'g1 life 2', 'data-l'), 0, 'a lane can');
	$browser->click('#all', 1);
	is($some->('by-kind', 'fault', 'data-t'), 0, 'a kind can');
	$browser->click('#all', 1);
}

sub keyboard {
	is($browser->value('document.querySelectorAll(".list a[tabindex=\"0\"]")' .
	    '.length'), 1, 'the list is one stop of the keyboard');
	$browser->value('document.querySelector(".list a").focus(), 0');
	key('ArrowDown');
	key('ArrowDown');
	is($browser->value('document.activeElement.id'), 'r2',
	    'arrows go from event to event');
}

sub heads {
	look('wide', 'dark');
	$browser->value('scrollTo(400, 1500), 0');
	is_deeply($browser->value('["heads", "corner", "list"].map(c => ' .
	    'document.querySelector("." + c).getBoundingClientRect()).map((b, i) ' .
	    '=> Math.round(i < 2 ? b.top : b.left))'), [0, 0, 0],
	    'names of lanes and words stay in sight');
	picture('scrolled');
}

sub without_script {
	$browser->call('Emulation.setScriptExecutionDisabled',
	    { value => JSON::PP::true });
	look('60', 'light');
	ok($browser->value('document.getElementById("tools").hidden'),
	    'without script there are no tools');
	is($browser->value($ugly), '', 'and the picture is as good');
	ok($browser->value('[...document.querySelectorAll(".list a, .conflict a,' .
	    ' #table a")].every(a => document.querySelector(' .
	    'a.getAttribute("href")))'), 'every link leads somewhere');
	is($browser->value('document.querySelectorAll("#table tbody tr").length'),
	    rows(), 'the table has every event');
	$browser->call('Emulation.setScriptExecutionDisabled',
	    { value => JSON::PP::false });
}

sub hostile {
	look('hostile', 'light');
	is($browser->value('document.querySelectorAll("svg[onload], script")' .
	    '.length'), 1, 'a text that bites makes no element');
	is($browser->value($askew), 0, 'and moves none');
	is($browser->value($ugly), '', 'nor covers any');
	ok($browser->value('!document.getElementById("tools").hidden'),
	    'nor stops the script');
	picture('hostile');
}

my $started = eval {
	$browser = DevTools->start($folder, @command);
	1;
};
if (!$started) {
	plan skip_all => "Chromium cannot be started here: $@" =~ s/\s+/ /gr;
}
for my $page (qw(5 narrow 60 200 wide)) {
	drawn($page, $_) for qw(light dark);
}
past();
words();
filters();
keyboard();
heads();
without_script();
hostile();
look('5', 'light', 420, 800);
is($browser->value('document.querySelector(".list").getBoundingClientRect()' .
    '.width <= 130'), JSON::PP::true, 'a small screen has room for lanes');
picture('small');
$browser->stop;
done_testing;
