#!/bin/sh
# SPDX-License-Identifier: ISC
#
# The rules of the house that a machine can see.  Each check prints what breaks
# its rule; nothing printed means that it holds.

top_srcdir=${top_srcdir:-.}
top_builddir=${top_builddir:-.}
build=$(cd "$top_builddir" && pwd) || exit 1
cd "$top_srcdir" || exit 1
LC_ALL=C
export LC_ALL
count=0
failed=0

holds() {
	sentence=$1
	shift
	count=$((count + 1))
	broken=$("$@" 2>&1)
	if [ -z "$broken" ]; then
		echo "ok $count - $sentence"
	else
		echo "not ok $count - $sentence"
		echo "$broken" | head -n 20 | sed 's/^/# /'
		failed=1
	fi
}

sources() { find lib fcgi sim tests -name '*.[ch]'; }
scripts() {
	find .ci bootstrap tests demo -type f ! -name '*.[ch]' ! -path '*/fuzz/*' \
	    ! -name 'Makefile*'
}
texts() {
	sources
	scripts
	find ./*.md configure.ac Makefile.am ./*/Makefile.inc doc sim scenarios \
	    -type f ! -name '*.[ch]'
}

# --- who includes whom -----------------------------------------------------

# includes FOLDER MAY...: quoted headers that are in none of those folders.
includes() {
	from=$1
	grep -Hn '^#include "' "$from"/*.[ch] | while IFS= read -r line; do
		name=${line#*\"}
		name=${name%\"*}
		found=
		for folder; do
			[ -e "$folder/$name" ] && found=yes
		done
		[ -n "$found" ] || echo "$line"
	done
}

# only_in PATTERN FILE-PATTERN: a library's header outside its one place.
only_in() {
	grep -HnE "^#include <($1)" lib/*.[ch] fcgi/*.[ch] sim/*.[ch] |
	    grep -vE "^($2):"
}

# Of fcgi the simulator has the event loop, which knows nothing of idemd.
sim_includes() {
	includes sim lib | grep -v '"loop\.h"$'
}

# What is planned, told, judged and reported is the same in every world.
worldless() {
	grep -HnE \
	    '^#include "(address|caller|child|instance|live[a-z_]*|loop|net|server|stops|world)[a-z_]*\.h"' \
	    sim/arena* sim/check* sim/draw* sim/effects* sim/explain* \
	    sim/history* sim/judge* sim/load* sim/names* sim/outcome* \
	    sim/plan* sim/report* sim/resp* sim/retry* sim/scenario*
}

# idemd-sim is idemd but for its labels: all files that have one are its own.
labelled() {
	grep -lE '(^|[^A-Z_])IDEM_LABEL(_|S_|\()' lib/*.c fcgi/*.c |
	    grep -vE '^(lib/label[a-z_]*|fcgi/idem_cgi)\.c$' |
	    while IFS= read -r file; do
		sed -n '/^idemd_sim_SOURCES/,/[^\\]$/p' sim/Makefile.inc |
		    grep -q "$file" || echo "$file is not in idemd-sim"
	done
}

# --- purity ----------------------------------------------------------------

# Modules without input, output, clock, chance and threads.
pure='breaker buf cache cgi_head fcgi_* form* gate* html_form* identity
idem_lua key multipart near params pattern* problem* record redis_class
redis_slot redis_url redis_value redis_wire_bound reply request_path route*
saved skew text token* verdict waiters'

# What they may call: each other, memory and strings of the C library, and
# what compilers put in.
may_call='idem_.*|mem(chr|cmp|cpy|mem|move|set)|(bcmp|strn?(casecmp|cmp|chr|len))'
may_call="$may_call|str(chr|rchr|spn|cspn|str|pbrk|toul|toull|tol|toll)"
may_call="$may_call|(m|c|re)alloc|free|abort|qsort|bsearch|gmtime_r"
may_call="$may_call|v?snprintf|vasprintf|__(isoc99|isoc23)_.*|__assert_fail|__stack_chk_fail"
may_call="$may_call|__.*_chk|__(asan|ubsan|tsan|sanitizer|sancov|start___sancov|stop___sancov)_.*"
may_call="$may_call|_GLOBAL_OFFSET_TABLE_"
must_not='idem_(random|boot_ms|wall_ms|boot_id|clock_real|store_.*|run_.*)'

pure_objects() {
	for module in $pure; do
		ls "$build"/lib/$module.o
	done
}

pure_calls() {
	pure_objects | while IFS= read -r object; do
		calls=$(${NM:-nm} -u "$object" | awk '{ print $NF }' |
		    sed 's/@.*//' | grep .)
		[ -n "$calls" ] || continue
		{
			echo "$calls" | grep -vxE "$may_call"
			# A digest, not a store.
			echo "$calls" | grep -xE "$must_not" |
			    grep -vx idem_store_key
		} | sed "s|^|$(basename "$object") calls |"
	done
}

# Data that can change, of whatever scope; relocated constants are none.
pure_data() {
	pure_objects | while IFS= read -r object; do
		${NM:-nm} -f sysv "$object" | awk -F '|' \
		    '$7 ~ /^[.*]?(t?data|t?bss|COM)/ && $7 !~ /^\.data\.rel\.ro/ {
			sub(/ *$/, "", $1); print $1 }' | grep -vE 'asan|ubsan|tsan|sancov|__unnamed_' |
		    sed "s|^|$(basename "$object") changes |"
	done
}

# --- words -----------------------------------------------------------------

# The words are written so that this file does not hold them.
unfinished() {
	texts | xargs grep -HnwE 'TO''DO|FIX''ME|X''XX|HA''CK'
}

quoted_by_hand() {
	grep -HnE '=\\"%' fcgi/*.c
}

green_without_valgrind() {
	! PATH=/nowhere /bin/sh tests/memcheck.sh >/dev/null 2>&1 ||
	    echo "tests/memcheck.sh ends with 0"
}

unbounded() {
	sources | xargs grep -HnE \
	    '(^|[^A-Za-z0-9_])(strcpy|strcat|v?sprintf|gets|system|popen)\('
}

forks() {
	grep -HnE '(^|[^A-Za-z0-9_])fork\(' lib/*.[ch] fcgi/*.[ch] sim/*.[ch] |
	    grep -vE '^(fcgi/(workers|doctor_look|idem_cgi[a-z_]*)|sim/(idemsim_apart|warden))\.c:'
}

workplace() {
	texts | xargs grep -HnE \
	    '(^|[^A-Za-z0-9_.$}])/(wo''rk|ho''me|ro''ot)/|\.\./sha''red'
	texts | xargs grep -HniE \
	    '(this|our|another|earlier|next) ses''sion|sub-?ag''ent|the bri''ef'
}

# Texts that are named are there to be read.
not_there() {
	texts | xargs grep -HnoE '[A-Za-z0-9_./-]+\.md' |
	    while IFS= read -r line; do
		name=${line##*[:/]}
		[ -e "$name" ] || [ -e "doc/$name" ] ||
		    [ -e "$(dirname "${line%%:*}")/$name" ] || echo "$line"
	done
}

# --- form ------------------------------------------------------------------

no_licence() {
	for file in $(sources); do
		[ "$(head -n 1 "$file")" = "/* SPDX-License-Identifier: ISC */" ] ||
		    echo "$file"
	done
	for file in $(scripts); do
		case $file in
		*.html|*.conf.in|*/histories/*.jsonl)	;;
		*)	head -n 2 "$file" | grep -q 'SPDX-License-Identifier: ISC' ||
			    echo "$file" ;;
		esac
	done
}

long_files() {
	for file in $(sources; scripts); do
		lines=$(wc -l <"$file")
		[ "$lines" -le 600 ] || echo "$file: $lines lines"
	done
}

# A tab goes to the next multiple of 8; of a character one byte counts.
wide_lines() {
	sources | xargs awk '
		{
			line = $0
			gsub(/[\200-\277]/, "", line)
			while ((at = index(line, "\t")) > 0)
				line = substr(line, 1, at - 1) \
				    substr("        ", (at - 1) % 8 + 1) \
				    substr(line, at + 1)
		}
		length(line) > 80 {
			print FILENAME ":" FNR ": " length(line) " columns"
		}'
}

white_space() {
	texts | xargs grep -HnE '[ 	]+$'
	sources | xargs grep -HnE '^ {8}|	 +	'
}

# A file that the build does not know is not tested and not distributed.  A
# program of one file is listed by its own name.
unlisted() {
	for file in lib/*.[ch] fcgi/*.[ch] tests/*.[ch] tests/t_*.sh tests/t_*.t \
	    tests/bench/*.c tests/fuzz/*.c; do
		[ -f "$file" ] || continue
		grep -qE "^	(${file}|${file%.c})( |\$)" \
		    "${file%%/*}/Makefile.inc" ||
		    echo "$file is not in ${file%%/*}/Makefile.inc"
	done
}

no_seeds() {
	for file in tests/fuzz/fuzz_*.c; do
		seeds=${file#tests/fuzz/fuzz_}
		seeds=tests/fuzz/${seeds%.c}
		[ -n "$(ls "$seeds" 2>/dev/null)" ] || echo "$file has no seeds"
		grep -qE "^	$seeds( |\$)" tests/Makefile.inc ||
		    echo "$seeds is not in tests/Makefile.inc"
	done
}

holds "lib includes only its own headers" includes lib
holds "fcgi includes only its own headers and lib's" includes fcgi lib
holds "sim includes only its own headers, lib's and the event loop's" \
    sim_includes
holds "what judges knows no world" worldless
holds "idemd-sim has all labels" labelled
holds "OpenSSL is known to lib/digest.c and lib/redis_tls.c alone" \
    only_in 'openssl/' 'lib/(digest|redis_tls)\.c'
holds "hiredis is known to lib/redis_wire*.c alone" \
    only_in 'hiredis' 'lib/redis_wire[a-z_]*\.c'
holds "SQLite is known to lib/store_sqlite*.c alone" \
    only_in 'sqlite3' 'lib/store_sqlite[a-z_]*\.c'
holds "Lua is known to lib/lua_*.c and its two users alone" \
    only_in '(lua|lualib|lauxlib)\.h' '(lib/lua_(box|text|words)|fcgi/conf_lua[a-z_]*|sim/scenario[a-z_]*)\.[ch]'
holds "Jansson is known to what reads and writes JSON alone" \
    only_in 'jansson' 'sim/(history_[a-z_]*|report_json|matrix_json)\.[ch]'
holds "libfcgi is known to fcgi/front.c alone" \
    only_in 'fcgi(app|os|misc|_stdio|_config)\.h' 'fcgi/front\.c'
holds "pure modules call nothing that is not pure" pure_calls
holds "pure modules keep nothing between calls" pure_data
holds "what is put in quotes on a log line is escaped by log.c" \
    quoted_by_hand
holds "nothing is left unfinished" unfinished
holds "no call without a bound" unbounded
holds "only the master, idem-cgi, the doctor, the warden and who judges fork" \
    forks
holds "the text speaks of idem, not of where it was written" workplace
holds "every text that is named is in the repository" not_there
holds "every source names its licence" no_licence
holds "no file is longer than 600 lines" long_files
holds "no line of a source is wider than 80 columns" wide_lines
holds "indents are tabs, and no line ends in white space" white_space
holds "the build knows every source and test" unlisted
holds "every fuzz target has seeds that are distributed" no_seeds
holds "without valgrind check-memory is no pass" green_without_valgrind
echo "1..$count"
exit $failed
