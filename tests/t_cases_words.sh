#!/bin/sh
# SPDX-License-Identifier: ISC
#
# Every answer that the manual has is one that a test expects; and the manuals
# have every word that a test expects.

top_srcdir=${top_srcdir:-.}
cd "$top_srcdir" || exit 1
LC_ALL=C
export LC_ALL
count=0
failed=0

ok() {
	count=$((count + 1))
	if [ -z "$2" ]; then
		echo "ok $count - $1"
	else
		echo "not ok $count - $1"
		echo "$2" | sed 's/^/# /'
		failed=1
	fi
}

# Lines "status word" of idemd(8), one for each status that a row has; of a
# program's own status only the word.
documented() {
	awk -F ' Ta ' '
	/^\.Sh ANSWERS/	{ on = 1 }
	/^\.El/		{ on = 0 }
	on && /^\.It Li / {
		sub(/^\.It Li /, "", $1)
		n = split($2, status, /, */)
		for (i = 1; i <= n; i++)
			print (status[i] ~ /^[0-9]+$/ ? status[i] : "*"), $1
	}' doc/idemd.8 | sort -u
}

# Texts of tests, as "409 unknown".
expected() {
	cat tests/t_*.c | grep -oE '"[1-5][0-9][0-9] [a-z-]+"' | tr -d '"' |
	    sort -u
}

known=$(documented)
seen=$(expected)
number=$(echo "$known" | grep -c .)

untested=$(echo "$known" | while read -r status word; do
	[ "$status" = '*' ] && status='[1-5][0-9][0-9]'
	echo "$seen" | grep -qx "$status $word" || echo "$status $word"
done)
ok "each of the $number documented answers is expected by a test [idem:A28]" \
    "$untested"

undocumented=$(echo "$seen" | while read -r status word; do
	grep -rqw -e "$word" doc/idemd.8 doc/idem.conf.5 doc/tokens.md ||
	    echo "$status $word"
done)
ok "each word of an answer that a test expects is documented [idem:A28]" \
    "$undocumented"
ok "the manual's table was read" "$([ "$number" -gt 15 ] || echo "$number")"
echo "1..$count"
exit $failed
