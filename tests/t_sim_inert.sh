#!/bin/sh
# SPDX-License-Identifier: ISC
#
# Faults that do nothing must not pass for faults that were survived: a point is
# vacuous, and idemsim ends with 2, where one never strikes.  Reported:
# https://github.com/freenet/freenet-core/issues/4727, where tests were green
# because what was to inject their faults was switched off.
#
# Two kinds: faults whose moment never comes, and whole injectors that are dead: an
# idemd without labels, a preloaded library that does nothing.

. "${top_srcdir:-$(dirname "$0")/..}/tests/idemsim.sh"
libexec=$IDEMSIM_LIBEXEC

# run LIBEXEC FILE STATUS: where all points are to pass, or to be vacuous.  What
# the machine holds up may be cut, or come past the moment of its fault: then
# it is run again, five times in all.  With STATUS "dead" they are vacuous as no
# fault can strike, however late: one that passes is not tried again.
run() {
	tries=0
	until [ $tries = 5 ]; do
		tries=$((tries + 1))
		IDEMSIM_LIBEXEC=$1 timeout 180 "$idemsim" run --runs 1 "$2" \
		    >out 2>err
		got=$?
		case $3.$got in
		0.2) ;;
		2.2) grep -Eq '^ok|^not ok .* inconclusive' out || break ;;
		dead.*)
			! grep -q '^ok' out &&
			    grep -q '^not ok .* inconclusive' out || break
			;;
		*) break ;;
		esac
	done
}

# The point of that name is vacuous because of that fault.
vacuous() {
	grep -Eq "^not ok [0-9]+ - $1 \[live\] vacuous: a fault never happened: " out
	ok $? "$2"
}

fine() {
	grep -Eq "^ok [0-9]+ - $1 \[live\] " out
	ok $? "$2"
}

# scenarios FILE ARBITER: a point for each line "NAME|FAULT" of standard input.
scenarios() {
	cat <<-END
	local sim = require "idemsim"
	sim.api(1)
	local arbiter = "$2"
	local faults = {
	END
	while IFS='|' read -r name fault; do
		echo "  [\"$name\"] = function() return $fault end,"
	done
	cat <<-'END'
	}
	local names = {}
	for name in pairs(faults) do names[#names + 1] = name end
	return sim.matrix(names, function(point)
	  return sim.scenario {
	    name = point, modes = { "live" },
	    topology = { redis = arbiter == "redis" and { a = {} } or nil,
	      gates = { n = 1, arbiter = arbiter, ledger = "shared",
	                store = arbiter == "redis" and "a" or nil,
	                config = { lease = "600ms", wait = "50ms" } } },
	    handler = sim.handler { service = sim.const(10) },
	    load = { sim.script {
	      { at = 0,   client = "c1", send = { key = "k" } },
	      { at = 300, client = "c2", send = { key = "k" } } } },
	    faults = { faults[point]() },
	    heal = { at = 700, quiet = 2000 },
	    expect = { holds = { "at_most_once" } },
	  }
	end)
	END
}

# --- a moment that never comes -----------------------------------------------

scenarios redis <<'END' >control.lua redis
a delay|sim.on(sim.at(0), sim.net.delay("g1->a", 5))
END
run "$libexec" control.lua 0
if grep -q '# SKIP' out; then
	sed -n 's/.*# SKIP/1..0 # SKIP/p' out | head -n 1
	exit 0
fi
[ $got = 0 ]
ok $? 'a point whose fault strikes passes'

cat >moments <<'END'
unreached label|sim.on(sim.label("g1", "complete.err"), sim.proc.kill("g1"))
label of no key|sim.on(sim.label("g1", "claim.ok", { key = "other" }), sim.proc.kill("g1"))
ninth time|sim.on(sim.label("g1", "claim.ok", { nth = 9 }), sim.proc.kill("g1"))
late moment|sim.on(sim.effect("k"), sim.after(5000, sim.proc.kill("g1")))
frame of none|sim.on(sim.frame("g1->a", { cmd = "WAIT" }), sim.net.reset("g1->a"))
no such answer|sim.on(sim.reply("c1", { class = "unknown" }), sim.proc.pause("g1"))
effect of none|sim.on(sim.effect("other"), sim.store.kill("a"))
drop of none|sim.on(sim.at(0), sim.net.drop("g1->a", { script = "settle" }))
hold of none|sim.on(sim.at(0), sim.net.hold("g1->a", { dir = "reply", script = "settle" }))
ninety-ninth|sim.on(sim.at(0), sim.net.error("g1->a", "OOM", { script = "claim", nth = 99 }))
quiet oneway|sim.on(sim.at(690), sim.net.oneway("g1->a", "request"))
evict of none|sim.on(sim.at(600), sim.store.evict("a", "other"))
expiry of none|sim.on(sim.at(600), sim.store.expire("a", "other"))
client gone|sim.on(sim.at(600), sim.client.give_up("c1"))
never drawn|sim.on(sim.all { sim.at(50), sim.effect("other") }, sim.store.flush("a"))
END
scenarios redis redis <moments >moments.lua
run "$libexec" moments.lua 2
[ $got = 2 ]
ok $? 'points whose faults never strike end with 2'
while IFS='|' read -r name fault; do
	vacuous "$name" "a fault is missed: $name"
done <moments

# --- a dead injector ---------------------------------------------------------

# Everything as it is, but for one file.
without() {
	rm -rf dead && mkdir dead
	for file in idemd-sim idemsim-program idemsim-preload.so idemctl; do
		ln -s "$libexec/$file" "dead/$file"
	done
	rm "dead/$1"
	cp "$2" "dead/$1"
}

cat >labels <<'END'
at claim.ok|sim.on(sim.label("g1", "claim.ok"), sim.proc.pause("g1"), sim.after(20, sim.proc.resume("g1")))
at reply.sent|sim.on(sim.label("g1", "reply.sent", { nth = 2 }), sim.proc.kill("g1"))
END
cat >disks <<'END'
full|sim.on(sim.at(0), sim.disk.full("g1"), sim.after(280, sim.disk.full("g1", false)))
busy|sim.on(sim.at(0), sim.disk.busy("g1"), sim.after(280, sim.disk.busy("g1", false)))
ioerr|sim.on(sim.at(0), sim.disk.ioerr("g1"), sim.after(280, sim.disk.ioerr("g1", false)))
power loss|sim.on(sim.at(200), sim.disk.power_loss("g1"))
clock jump|sim.on(sim.at(50), sim.clock.jump("g1", 60000))
clock rate|sim.on(sim.at(50), sim.clock.rate("g1", 2))
END
scenarios ledger ledger <labels >labels.lua
scenarios ledger ledger <disks >disks.lua

run "$libexec" labels.lua 0
[ $got = 0 ]
ok $? 'labels strike'
run "$libexec" disks.lua 0
[ $got = 0 ]
ok $? 'faults of disks and clocks strike'

if grep -q IDEMSIM_LABELS "$libexec/idemd"; then
	count=$((count + 1))
	echo "ok $count # SKIP all of this build's idemd have labels"
else
	without idemd-sim "$libexec/idemd"
	run "$dir/dead" labels.lua dead
	[ $got = 2 ]
	ok $? 'an idemd without labels ends with 2'
	while IFS='|' read -r name fault; do
		vacuous "$name" "an idemd without labels is noticed: $name"
	done <labels
fi

# Some library that is there anyway, and touches nothing.
library=$(ldd "$idemsim" | sed -n 's/.*libjansson[^ ]* => \([^ ]*\).*/\1/p')
without idemsim-preload.so "$library"
run "$dir/dead" disks.lua dead
[ $got = 2 ]
ok $? 'a preloaded library that does nothing ends with 2'
while IFS='|' read -r name fault; do
	vacuous "$name" "a library that does nothing is noticed: $name"
done <disks

echo "1..$count"
exit $failed
