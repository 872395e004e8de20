# SPDX-License-Identifier: ISC
#
# Programs that nobody wrote for idem, each set up in $folder and put among the
# CGI programs; $have_... says that it is there.  To be read after fronts.sh.

have_git= have_gitweb= have_awstats= have_perl= have_php_cgi= have_fpm=

# first FILE...: the first that can be run.
first() {
	for file; do
		[ ! -x "$file" ] || { echo "$file"; return; }
	done
}

git_setup() {
	command -v git >/dev/null || return
	backend=$(first "$(git --exec-path)/git-http-backend" \
	    /usr/lib/git-core/git-http-backend)
	[ -n "$backend" ] || return
	ln -s "$backend" "$www/cgi-bin/git.cgi"
	mkdir "$folder/git" "$folder/plain"
	{
		git init -q -b main "$folder/seed"
		for n in 1 2 3; do
			echo "line $n" >>"$folder/seed/a.txt"
			git -C "$folder/seed" add a.txt
			GIT_COMMITTER_DATE="2020-01-0$n 00:00 +0000" \
			    git -C "$folder/seed" commit -q -m "commit $n" \
			    --date "2020-01-0$n 00:00 +0000"
		done
		git clone -q --bare "$folder/seed" "$folder/plain/base.git"
		git -C "$folder/plain/base.git" config http.receivepack true
		echo 'a base' >"$folder/plain/base.git/description"
		git -C "$folder/plain/base.git" update-server-info
	} || { echo "Bail out! git does not work"; exit 1; }
	# Every push that arrives, by whatever way.
	cat >"$folder/plain/base.git/hooks/post-receive" <<-END
	#!/bin/sh
	cat >>"$folder/pushes"
	END
	chmod +x "$folder/plain/base.git/hooks/post-receive"
	have_git=yes
}

gitweb_setup() {
	[ -n "$have_git" ] || return
	gitweb=$(first /usr/lib/cgi-bin/gitweb.cgi \
	    /usr/share/gitweb/gitweb.cgi)
	[ -n "$gitweb" ] || return
	ln -s "$gitweb" "$www/cgi-bin/gitweb.cgi"
	cat >"$folder/gitweb.conf" <<-END
	our \$projectroot = "$folder/git";
	our \$git_temp = "$folder/tmp";
	1;
	END
	have_gitweb=yes
}

awstats_setup() {
	awstats=$(first /usr/lib/cgi-bin/awstats.pl)
	[ -n "$awstats" ] || return
	ln -s "$awstats" "$www/cgi-bin/awstats.pl"
	mkdir "$folder/awstats"
	cat >"$www/cgi-bin/awstats.test.conf" <<-END
	LogFile="$folder/access.log"
	LogType=W
	LogFormat=1
	SiteDomain="www.example.org"
	HostAliases="localhost"
	DirData="$folder/awstats"
	DirCgi="/cgi-bin"
	DirIcons="/icon"
	DNSLookup=0
	AllowToUpdateStatsFromBrowser=0
	AllowFullYearView=3
	END
	for n in 1 2 3 4 5; do
		echo "10.0.0.$n - - [0$n/Jan/2024:10:00:00 +0000]" \
		    "\"GET /page$n.html HTTP/1.1\" 200 $n$n \"-\" \"Mozilla/5.0\""
	done >"$folder/access.log"
	(cd "$www/cgi-bin" && env -i PATH="$PATH" \
	    ./awstats.pl -config=test -update) \
	    >"$folder/awstats.log" 2>&1 || return
	have_awstats=yes
}

perl_setup() {
	perl -MCGI -e 1 2>/dev/null && have_perl=yes
}

php_setup() {
	php_cgi=$(command -v php-cgi) && {
		{
			echo "#!$php_cgi"
			cat "$top_srcdir/tests/fronts/page.php"
		} >"$www/cgi-bin/page.cgi"
		chmod 755 "$www/cgi-bin/page.cgi"
		have_php_cgi=yes
	}
	fpm_program=$(first /usr/sbin/php-fpm*)
	[ -n "$fpm_program" ] || return
	cp "$top_srcdir/tests/fronts/page.php" "$www/cgi-bin/"
	cat >"$folder/fpm.conf" <<-END
	[global]
	daemonize = no
	error_log = $folder/fpm.log
	[www]
	listen = $folder/fpm.sock
	pm = static
	pm.max_children = 2
	env[PAGE_BOOK] = $folder/orders
	END
	$as "$fpm_program" -n -F -y "$folder/fpm.conf" \
	    >"$folder/fpm.out" 2>&1 &
	fpm=$!
	others="$others $fpm"
	until_true listens "$folder/fpm.sock"
	have_fpm=yes
}

programs_setup() {
	mkdir "$folder/home"
	printf '[user]\n\tname = A\n\temail = a@example.org\n' \
	    >"$folder/home/.gitconfig"
	HOME=$folder/home
	export HOME
	git_setup
	gitweb_setup
	awstats_setup
	perl_setup
	[ -z "$as" ] || chown -R "$user" "$folder"
	php_setup
}
