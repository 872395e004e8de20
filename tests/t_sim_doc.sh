#!/bin/sh
# SPDX-License-Identifier: ISC
#
# What is written about idemsim: examples are loaded, and run; idemsim(1) has
# every option and every word that there is; scenarios/README.md every file.

top_srcdir=${top_srcdir:-.}
top_builddir=${top_builddir:-.}
build=$(cd "$top_builddir" && pwd) || exit 1
idemsim=${IDEMSIM:-$build/idemsim}
IDEMSIM_LIBEXEC=${IDEMSIM_LIBEXEC:-$build}
LC_ALL=C
export IDEMSIM_LIBEXEC LC_ALL
page=$top_srcdir/doc/idemsim.1
text=$top_srcdir/doc/scenarios.md
sim=$top_srcdir/sim
count=0
failed=0

if [ ! -x "$idemsim" ]; then
	echo '1..0 # SKIP idemsim was not built'
	exit 0
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/t_sim_doc.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

ok() {
	count=$((count + 1))
	if [ "$1" = 0 ]; then
		echo "ok $count - $2"
	else
		echo "not ok $count - $2"
		head -n 40 "$work/out" 2>/dev/null | sed 's/^/# /'
		failed=1
	fi
}

skip() {
	count=$((count + 1))
	echo "ok $count - $2 # SKIP $1"
}

# --- examples ----------------------------------------------------------------

# example.N.lua of the text, then those of the manual's EXAMPLES.
take_examples() {
	awk -v to="$work" '
		/^```/ { n += inside = /^```lua$/; next }
		inside { print >(to "/text." n ".lua") }' "$text"
	awk -v to="$work" '
		/^\.Sh / { here = /EXAMPLES/ }
		/^\.Bd / { block = ""; next }
		/^\.Ed/ && here && block ~ /sim\.scenario/ {
			printf "%s", block >(to "/page." ++n ".lua")
		}
		{ block = block $0 "\n" }' "$page"
	awk '/^```/ { inside = /^```sh$/; next } inside' "$text" \
	    >"$work/order.cgi"
	chmod +x "$work/order.cgi"
	for file in "$work"/*.lua; do
		sed "s|/usr/lib/cgi-bin/order.cgi|$work/order.cgi|" "$file" \
		    >"$work/one" && mv "$work/one" "$file"
	done
}

examples() {
	take_examples
	[ "$(ls "$work"/text.*.lua | wc -l)" = 5 ] &&
	    [ "$(ls "$work"/page.*.lua | wc -l)" = 2 ]
	ok $? 'the texts have all their examples'
	head -n 1 "$work/order.cgi" >"$work/out"
	grep -q '^#!/bin/sh$' "$work/out"
	ok $? 'and a program'
	for file in "$work"/text.*.lua "$work"/page.*.lua; do
		name=$(basename "$file" .lua)
		"$idemsim" explain "$file" >"$work/out" 2>&1
		ok $? "example $name is read"
	done
}

# runs STATUS PATTERN SENTENCE FILE
runs() {
	tries=0
	# Those runs that are of no use are made again by it; not where one is
	# to fail.
	how=--quick
	[ "$1" = 0 ] || how='--runs 1'
	got=2
	# None is to be of no use; but the machine may hold one up.
	while [ $got = 2 ] && [ $tries -lt 5 ]; do
		tries=$((tries + 1))
		timeout 120 "$idemsim" run $how \
		    --out "$work/idemsim-out" "$work/$4.lua" \
		    >"$work/out" 2>&1
		got=$?
		! grep -q '# SKIP' "$work/out" || break
	done
	if grep -q '# SKIP' "$work/out"; then
		skip 'it cannot be run here' "$3"
		return
	fi
	[ "$got" = "$1" ] && grep -q "$2" "$work/out"
	ok $? "$3"
}

# --- options -----------------------------------------------------------------

# synopsis COMMAND: its options; those of run stand with what is in brackets.
synopsis() {
	awk -v command="$1" '
		/^\.Sh / { here = /SYNOPSIS/ }
		here && /^\.Nm/ { mine = 0 }
		here && $0 ~ "^\\.(Op )?Cm " command "$" { mine = 1 }
		mine && /^\.Op Fl -/ { print "-" $3 }' "$page" |
	    sort >"$work/synopsis"
}

options() {
	"$idemsim" --help | grep -oE -- '(^|[^-])--[a-z]+' |
	    sed 's/.*--//' | sort -u >"$work/helped"
	awk '/^\.Sh / { here = /OPTIONS/ }
		here && /^\.It Fl / {
			for (i = 1; i < NF; i++)
				if ($i == "Fl" && $(i + 1) ~ /^-/)
					print substr($(i + 1), 2)
				else if ($i == "," && $(i + 1) ~ /^-/)
					print substr($(i + 1), 2)
		}' "$page" | sort -u >"$work/written"
	sed -n '/^} known\[\]/,/^};/s/^.*{ "\([a-z]*\)", .*/\1/p' \
	    "$sim/idemsim_options.c" | sort -u >"$work/known"
	diff "$work/known" "$work/written" >"$work/out"
	ok $? 'and so has the program'
	for command in $(sed -n '/^} commands\[/,/^};/ {
		s/.*= { "\([a-z]*\)".*/\1/p
	}' "$sim/idemsim_options.c"); do
		grep -q "^\.It Cm $command\$" "$page"
		ok $? "the manual has the command $command"
		synopsis $command
		"$idemsim" $command --help | grep -oE -- '--[a-z]+' |
		    grep -Ev -- '--(help|version)' | sort |
		    diff - "$work/synopsis" >"$work/out"
		ok $? 'and in its synopsis the options that it takes'
	done
	for status in $(sed -n '/^enum idemsim_exit/,/^};/ {
		s/.* = \([0-9]*\).*/\1/p
	}' "$sim/idemsim.h"); do
		awk '/^\.Sh / { here = /EXIT STATUS/ } here' "$page" |
		    grep -q "^\.It $status\$"
		ok $? "the manual has the exit status $status"
	done
}

# --- words -------------------------------------------------------------------

# What the manual's macros mark, a word a line.
marked() {
	awk '/^\./ && / ?(Ic|Cm|Li) / {
		for (i = 2; i <= NF; i++) {
			word = $i
			gsub(/\\\(dq|^[*{(]+|[,;})]+$/, "", word)
			print word
		}
	}' "$page" | sort -u
}

# has WHAT: each word of $work/found is marked.
has() {
	sort -u "$work/found" >"$work/words"
	cat "$work/words" >>"$work/coded"
	comm -23 "$work/words" "$work/marked" >"$work/out"
	[ -s "$work/words" ] && [ ! -s "$work/out" ]
	ok $? "the manual has $1"
}

# Of the C sources: adjacent texts are one, and comments are gone.
joined() {
	perl -0777 -pe 's{/\*.*?\*/}{}gs; s{"\s*\n?\s*"}{}g;
		s{\bNAMES " after_bytes"}{"script cmd dir nth times after_bytes"}g;
		s{\bNAMES\b}{"script cmd dir nth times"}g' "$@"
}

words() {
	marked >"$work/marked"
	joined "$sim/scenario_words.c" | perl -ne 'print "sim.$1\n"
	    if /^\s*(?:\{ |O[FR]_[A-Z]+\()"([a-z_.]+)", (?:SCENARIO|PLAN)_/' \
	    >"$work/found"
	has 'each function'
	printf 'sim.%s\n' api matrix param >"$work/found"
	has 'those of a file'
	joined "$sim/scenario_words.c" | perl -0777 -ne '
		while (/\{\s"[a-z_.]+",\sSCENARIO_\w+,\s*\w+,\s*"[^"]*",\s*
		    "(?:[^"\\]|\\.)*",\s*"([a-z_ ]+)"\s*\}/gx) {
			print "$_\n" for split " ", $1;
		}' >"$work/found"
	has 'each field of a function'
	# Fields of tables, and the words that they may be.
	joined "$sim"/scenario_[a-z]*.c | perl -0777 -ne '
		my $text = qr/"([a-z][a-z0-9_]*(?: [a-z][a-z0-9_-]*)*)"/;
		while (/\bscenario_(?:fields|one_of|text|whole|ms|real|flag|dist)
		    \((?:[^;"]|"[^"]*")*?[;{]/gx) {
			my $call = $&;
			next unless $call =~ /^scenario_\w+\(\s*[&\w.]+\s*,/;
			$call =~ s/scenario_(wrong|not)\b.*//s;
			while ($call =~ /$text/g) {
				print "$_\n" for split " ", $1;
			}
		}
		while (/(?:FIELDS|\bsizes\[\] =)\s*"([a-z_ ]+)"/g) {
			print "$_\n" for split " ", $1;
		}' >"$work/found"
	has 'each field of a table'
	perl -ne 'print "$1\n" if /^\t\{ "([a-z_]+)", "(route|top|redis)"/' \
	    "$sim/plan_config.c" >"$work/found"
	has 'each word of config'
	sed -n '/^plan_labels/,/^}/p' "$sim/plan.c" | grep -oE '"[a-z._]+"' |
	    tr -d '"' >"$work/found"
	has 'each label'
	sed -n 's/.*AT([A-Z]*, "\([a-z_]*\)".*/\1/p' \
	    "$sim/history_member.c" >"$work/found"
	has 'each field of an event'
	# Names that they have for scenarios alone.
	joined "$sim/scenario_event.c" | perl -0777 -ne '
		print "$_\n" for map { /"([a-z]+)"/g }
		    /\bown\[\] = \{.*?\};/gs, /\{ "[a-z]+", "[a-z]+" \}/g;' \
	    >"$work/found"
	has 'and its other names'
	perl -0777 -ne 'print "h:$_\n" for
	    map { /\{ "([a-z]+)", [a-z]+ \}/g } /lua_CFunction is; \} .*?\};/gs' \
	    "$sim/scenario_history.c" >"$work/found"
	has 'each function of a history'
	sed -n '/ kinds\[/,/^};/p' "$sim/history.c" |
	    grep -oE '"[a-z]+"' | tr -d '"' >"$work/found"
	has 'each kind of event'
	sed -n '/^outcome_end_text/,/^}/p; /words\[OUTCOMES\]/,/^};/p' \
	    "$sim/outcome.c" | grep -oE '"[a-z-]+"' | tr -d '"' |
	    grep -vx none >"$work/found"
	has 'each class, and how a try may end'
	sed -n '/^judge_text/,/^}/p' "$sim/judge.c" | grep -oE '"[a-z]+"' |
	    tr -d '"' >"$work/found"
	has 'each verdict'
	grep -oE '"E[A-Z]+"' "$sim/plan.c" | tr -d '"' >"$work/words"
	for word in $(cat "$work/words"); do
		grep -qw "$word" "$page" || echo "$word"
	done >"$work/out"
	[ -s "$work/words" ] && [ ! -s "$work/out" ]
	ok $? 'the manual has each errno'
}

# Members of what --json writes, both ways.
members() {
	{
		joined "$sim/report_json.c" | perl -0777 -ne '
			print "$_\n" for /put\(\w+(?:->\w+)?, "(\w+)"/g'
		joined "$sim/matrix_json.c" | perl -0777 -ne '
			print "$_\n" for
			    /put(?:_\w+)?\(&?s, \w+, "(\w+)"/g,
			    /\{ "(\w+)", c->/g'
	} | sort -u >"$work/found"
	awk '/^\.S[hs] / { here = /JUnit and JSON/ }
		here && /^The JSON of/ { begun = 1 }
		begun && here && /^\./ && / ?Li / {
			for (i = 2; i <= NF; i++)
				if ($i ~ /^[a-z_0-9]+$/) print $i
		}' "$page" | sort -u >"$work/words"
	diff "$work/found" "$work/words" >"$work/out"
	[ $? = 0 ] && [ "$(wc -l <"$work/found")" -gt 50 ]
	ok $? 'the manual has each member of the JSON, and no other'
}

# And the other way: what the manual has is there.
documented() {
	awk '/^\.S[hs] / { here = $1 == ".Sh" ? /SCENARIO FILES/ : here }
		here' "$page" >"$work/section"
	grep -oE '\bsim\.[a-z_]+(\.[a-z_]+)?' "$work/section" | sort -u |
	    awk '{ printf "assert(type(%s) == \"function\", \"no %s\")\n", $1,
		$1 }' >"$work/asked"
	{
		echo 'local sim = require "idemsim"'
		cat "$work/asked"
		echo 'sim.api(1)'
		sed '1,/sim.api(1)/d' "$work/text.4.lua"
	} >"$work/functions.lua"
	"$idemsim" explain "$work/functions.lua" >"$work/out" 2>&1
	[ $? = 0 ] && [ "$(wc -l <"$work/asked")" -gt 50 ]
	ok $? 'each function that the manual has is there'
	sort -u "$work/coded" >"$work/words"
	awk '/^\./ && / ?Ic / {
		for (i = 2; i <= NF; i++) {
			if ($i == "Ic") { on = 1; continue }
			if ($i !~ /^[a-z_:0-9.]+$/) { on = on && $i == ","; continue }
			if (on) print $i
		}
		on = 0
	}' "$work/section" | grep -v '^sim\.' | sort -u >"$work/found"
	comm -23 "$work/found" "$work/words" >"$work/out"
	[ -s "$work/found" ] && [ ! -s "$work/out" ]
	ok $? 'and each field'
}

# Name, promise and definition, as they are in the code.
invariants() {
	joined "$sim/check.c" | perl -0777 -ne '
		while (/\[PLAN_(\w+)\] = \{\s*\w+,\s*"([^"]*)",\s*"([^"]*)"/g) {
			print lc $1, "|$2|$3\n";
		}' | sort >"$work/coded"
	awk '/^\.Ss / { here = /^\.Ss Invariants/ }
		here && /^\.It Cm / {
			if (line != "") print line
			promise = $5
			for (i = 6; i <= NF; i++) promise = promise " " $i
			line = $3 "|" promise "|"; begun = 0; next
		}
		here && line != "" && !/^\./ {
			line = line (begun++ ? " " : "") $0
		}
		END { print line }' "$page" | sort >"$work/written"
	diff "$work/coded" "$work/written" >"$work/out"
	[ $? = 0 ] && [ "$(wc -l <"$work/coded")" -ge 17 ]
	ok $? 'the manual has each invariant, its promise and its definition'
}

# --- texts -------------------------------------------------------------------

formatted() {
	if command -v mandoc >/dev/null; then
		# Other pages need not be installed here.
		mandoc -T lint "$page" 2>&1 | grep -v 'referenced manual' |
		    grep -E '(STYLE|WARNING|ERROR|UNSUPP): ' >"$work/out"
		[ $? = 1 ]
		ok $? 'mandoc has nothing to say of the manual'
	else
		skip 'no mandoc here' 'mandoc has nothing to say of the manual'
	fi
}

# row FILE: its line of the table: number, what it shows, where it was reported.
row() {
	awk '
		!/^--/ { exit }
		{ sub(/^-- ?/, "") }
		/^Reported:/ { part = 1; sub(/^Reported: */, "") }
		{ said[part + 0] = said[part + 0] " " $0 }
		END {
			name = FILENAME
			sub(/.*\//, "", name)
			number = name
			sub(/[-_].*/, "", number)
			about = substr(said[0], 2)
			if (match(about, /[.] +[A-Z]/))
				about = substr(about, 1, RSTART)
			rest = said[1]
			while (match(rest, /https?:[^ ),]*/)) {
				url = substr(rest, RSTART, RLENGTH)
				rest = substr(rest, RSTART + RLENGTH)
				host = url
				sub(/^https?:\/\/(www\.)?/, "", host)
				if (host ~ /^github/) {
					split(host, in_path, "/")
					host = in_path[2] "/" in_path[3]
				} else
					sub(/\/.*/, "", host)
				from = from (from == "" ? "" : ", ") \
				    "[" host "](" url ")"
			}
			if (from == "" && match(rest, /^[^"]*"[^"]*"/))
				from = substr(rest, 2, RLENGTH - 1)
			gsub(/\|/, "\\|", about)
			printf "| [%s](%s) | %s | %s |\n", number, name, about,
			    from
		}' "$1"
}

table() {
	for file in "$top_srcdir"/scenarios/[!_]*.lua; do
		grep -q "^| \[[^]]*\](${file##*/}) |" \
		    "$top_srcdir/scenarios/README.md" ||
		    row "$file"
	done >"$work/out"
	[ -f "$file" ] && [ ! -s "$work/out" ]
	ok $? 'each scenario is in the table of scenarios/README.md'
	grep -oE '\([A-Za-z0-9_.-]+\.lua\)' "$top_srcdir/scenarios/README.md" |
	    tr -d '()' | while IFS= read -r name; do
		[ -f "$top_srcdir/scenarios/$name" ] || echo "no $name"
	done >"$work/out"
	[ ! -s "$work/out" ]
	ok $? 'and nothing else is'
}

job() {
	sh -n "$top_srcdir/doc/ci/idemsim.sh" 2>"$work/out"
	ok $? "the script of the CI job can be read"
	grep -oE -- '--[a-z]+' "$top_srcdir/doc/ci/idemsim.sh" | sed 's/--//' |
	    sort -u >"$work/words"
	comm -23 "$work/words" "$work/known" >"$work/out"
	[ -s "$work/words" ] && [ ! -s "$work/out" ]
	ok $? 'and its options are there'
}

examples
runs 1 'invariant: same_answer' 'the first example fails as it is said to' \
    text.1
runs 0 '^ok 1 ' 'the second one passes' text.2
runs 0 '^ok 1 ' 'the one with a kill passes' text.3
runs 0 'negative control' 'the negative control shows what it is to' text.4
runs 0 '^ok 2 ' "the one with a rule of one's own passes" text.5
options
if perl -e 1 2>/dev/null; then
	words
	documented
	members
	invariants
else
	skip 'no perl here' 'the manual has each word'
fi
formatted
table
job
echo "1..$count"
exit $failed
