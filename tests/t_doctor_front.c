/* SPDX-License-Identifier: ISC */
#include "doctor_front.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * What is found in web servers' configurations: in a few lines each, and in
 * those of doc/fronts, in which there is nothing to find.
 */
static const struct doctor_times times = {
	.run_ms = 305000, .wait_ms = 30000, .life_ms = DOCTOR_UNKNOWN
};
static const struct doctor_times with_tokens = {
	.run_ms = 305000, .wait_ms = 30000, .life_ms = 3600000
};

static bool found[DOCTOR_CHECKS];

/* "warn front.time:3", with the line if there is one; ok is "". */
static const char *
look_at(const struct doctor_times *t, const char *text)
{
	static char out[600];
	struct doctor_findings f = { .at = NULL };
	const char *colon;
	size_t i, len = 0;

	out[0] = '\0';
	doctor_front(t, "file", idem_bytes_text(text), &f);
	for (i = 0; i < f.len; i++) {
		found[f.at[i].check] = true;
		if (f.at[i].level == DOCTOR_OK)
			continue;
		colon = f.at[i].what + strlen("front file");
		len += (size_t)snprintf(out + len, sizeof out - len,
		    "%s%s %s%.*s", len > 0 ? " " : "",
		    doctor_level_text(f.at[i].level),
		    doctor_meaning(f.at[i].check)->name,
		    colon[1] == ' ' ? 0 : (int)strcspn(colon + 1, ":") + 1,
		    colon);
	}
	doctor_findings_free(&f);
	return out;
}

/* --- a few lines ---------------------------------------------------------- */

#define PASS "fastcgi_pass unix:/s; fastcgi_read_timeout 320s;\n"

static const struct {
	const char *text, *bad, *what;
} rows[] = {
	/* nginx */
	{ PASS, "", "nothing in what is right" },
	{ "fastcgi_pass unix:/s;\n", "warn front.time",
	  "nginx's own 60 s, where none are said" },
	{ PASS "fastcgi_read_timeout 20s;\n", "fail front.time-wait:2",
	  "a time that is shorter than a wait" },
	{ PASS "fastcgi_read_timeout 90;\n", "warn front.time:2",
	  "a time that is shorter than a run, in seconds" },
	{ "fastcgi_pass s;fastcgi_read_timeout 5m 5s;\n", "",
	  "none in one of two parts" },
	{ "proxy_pass http://a; proxy_read_timeout 1h;", "",
	  "nor before a second server" },
	{ "proxy_pass http://a;", "warn front.time", "unless it has 60 s" },
	{ PASS "fastcgi_next_upstream off;", "", "none where nothing is "
	  "repeated" },
	{ PASS "fastcgi_next_upstream error timeout;", "note "
	  "front.repeats-safe:2", "repeats of what is no POST" },
	{ PASS "\tproxy_next_upstream error\n\t    non_idempotent;",
	  "warn front.repeats:2", "repeats of POST, though on another line" },
	{ PASS "mirror /copy;\n", "warn front.copies:2", "copies" },
	{ PASS "mirror off;\n", "", "and none" },
	{ PASS "fastcgi_cache zone;\n", "warn front.cache:2", "a cache" },
	{ PASS "proxy_cache off;\n", "", "and none" },
	{ PASS "fastcgi_intercept_errors on;\n", "warn front.hides:2",
	  "pages instead of idemd's" },
	{ PASS "fastcgi_request_buffering off;", "note front.streams:2",
	  "uploads that are passed on as they come" },
	{ PASS "fastcgi_param REMOTE_USER $remote_user;", "warn front.user:2",
	  "a user whom nobody has checked" },
	{ PASS "fastcgi_param REMOTE_USER $remote_user;\nauth_basic \"x\";",
	  "", "but not one who was" },
	{ PASS "fastcgi_param REMOTE_USER $remote_user;\nauth_basic off;",
	  "warn front.user:2", "unless the password was switched off" },
	{ PASS "include /etc/nginx/fastcgi_params;\n"
	  "fastcgi_param SCRIPT_NAME $script;", "warn front.params:2",
	  "parameters that are sent twice" },
	{ PASS "include fastcgi_params;\nfastcgi_param SCRIPT_FILENAME "
	  "$document_root$fastcgi_script_name;", "", "but not the usual two" },
	{ "# fastcgi_pass x;\n" PASS "#fastcgi_cache z;\n", "",
	  "nothing in comments" },
	{ PASS "server { location / { mirror /c; } }", "warn front.copies:2",
	  "what is on one line with its blocks" },
	/* Apache */
	{ "ProxyPass /x unix:/s|fcgi://h/\nProxyTimeout 320\n", "",
	  "nothing before Apache, if it waits" },
	{ "ProxyPass /x unix:/s|fcgi://h/\n", "warn front.time",
	  "Apache's own 60 s" },
	{ "Timeout 400\nSetHandler \"proxy:unix:/s|fcgi://h/\"\n", "",
	  "but not another Timeout, which counts" },
	{ "ProxyPass /x unix:/s|fcgi://h/ timeout=20\n", "fail "
	  "front.time-wait:1", "a time of the worker's own" },
	{ "ProxyPass /x unix:/s|fcgi://h/ timeout=320 retry=60\n",
	  "note front.pause:1", "a pause after a refusal" },
	{ "ProxyPass /x unix:/s|fcgi://h/ timeout=320 retry=0\n", "",
	  "and none" },
	{ "<Proxy balancer://x>\nBalancerMember fcgi://h timeout=320\n"
	  "ProxySet failonstatus=503\n</Proxy>\n", "warn front.pause:3",
	  "a pause after an answer of ours" },
	{ "ProxyTimeout 320\nProxyErrorOverride On\n", "warn front.hides:2",
	  "Apache's pages instead of ours" },
	{ "proxytimeout 40\n", "warn front.time:1",
	  "names in any case, as Apache reads them" },
	{ "FcgidWrapper /usr/sbin/idemd virtual\n", "warn front.time "
	  "warn front.time warn front.upload", "mod_fcgid's own limits" },
	{ "FcgidWrapper idemd\nFcgidIOTimeout 320\nFcgidBusyTimeout 360\n"
	  "FcgidMaxRequestLen 104857600\n", "", "and none that were raised" },
	{ "CacheEnable disk /\n", "warn front.cache:1", "Apache's cache" },
	{ "Action idem-cgi /idem-bin/idem-cgi\nCGIDScriptTimeout 20\n",
	  "fail front.time-wait:2", "the time of plain CGI" },
	/* lighttpd */
	{ "fastcgi.server += ( \"/x\" => ((\n\"check-local\" => \"enable\",\n"
	  "\"disable-time\" => 60\n)) )\n", "note front.pause:3",
	  "lighttpd's pause after a refusal" },
	{ "fastcgi.server=(\"/x\"=>((\"disable-time\"=>1)))\n", "",
	  "and a short one, however it is written" },
	{ "server.stream-request-body = 1\n", "warn front.streams:1",
	  "bodies that are streamed" },
	{ "server.stream-request-body = 0\n", "", "and none" },
	{ "server.max-write-idle = 60\n", "warn front.time:1",
	  "lighttpd's patience" },
	{ "server.error-intercept = \"enable\"\n", "warn front.hides:1",
	  "lighttpd's pages instead of ours" },
	/* HAProxy */
	{ "  timeout server 30s\n", "warn front.time:1", "HAProxy's patience" },
	{ "  timeout server 5000\n", "fail front.time-wait:1",
	  "which is in milliseconds" },
	{ "  timeout client 1s\n  timeout server 10m\n", "",
	  "but not that with clients" },
	{ "  retry-on all-retryable-errors\n", "warn front.repeats:1",
	  "HAProxy's repeats" },
	{ "  retry-on conn-failure\n", "", "but not of what was not sent" },
	/* others */
	{ "", "warn front.file", "that there is nothing in it" },
	{ "\x7f" "ELF \xff\xfe no web server", "warn front.file",
	  "that nothing is known" },
	{ "fastcgi_pass \"unix:/s", "warn front.time",
	  "the same in what is cut off" },
};

static void
check_rows(void)
{
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++)
		is(look_at(&times, rows[i].text), rows[i].bad,
		    "in a configuration is found: %s", rows[i].what);
	is(look_at(&with_tokens, PASS "fastcgi_cache zone;\n"),
	    "warn front.cache:2 fail front.cache-tokens:2",
	    "in a configuration is found: a cache of pages with tokens");
}

/* --- times ---------------------------------------------------------------- */

static void
check_times(void)
{
	static const struct { const char *text; int64_t unit, ms; } all[] = {
		{ "30", 1000, 30000 }, { "30", 1, 30 }, { "5m", 1000, 300000 },
		{ "1m 30s", 1000, 90000 }, { "250ms", 1000, 250 },
		{ "2min", 1000, 120000 }, { "1d", 1, 86400000 },
		{ "1h2m3s", 1000, 3723000 }, { "x", 1000, -1 },
		{ "", 1000, -1 }, { "-5", 1000, -1 },
		{ "99999999999999999999999", 1000, -1 },
		{ "9999999999999 9999999999999", 1000, -1 },
	};
	int64_t ms;
	size_t i;

	for (i = 0; i < sizeof all / sizeof *all; i++)
		is_int(doctor_front_time(all[i].text, all[i].unit, &ms) ? ms :
		    -1, all[i].ms, "\"%s\" is read as a time", all[i].text);
}

/* --- those of doc/fronts -------------------------------------------------- */

static void
check_file(const char *name)
{
	const char *top = getenv("top_srcdir");
	char path[300], text[20000];
	size_t len;
	FILE *f;

	snprintf(path, sizeof path, "%s/doc/fronts/%s",
	    top != NULL ? top : ".", name);
	f = fopen(path, "re");
	if (f == NULL)
		bail_out("%s cannot be read", path);
	len = fread(text, 1, sizeof text - 1, f);
	text[len] = '\0';
	fclose(f);
	is(look_at(&times, text), "", "nothing is found in doc/fronts/%s",
	    name);
}

static void
check_found(void)
{
	bool all = true;
	unsigned c;

	for (c = DOCTOR_FRONT; c < DOCTOR_CHECKS; c++)
		if (!found[c]) {
			all = false;
			note("no row has %s", doctor_meaning(c)->name);
		}
	ok(all, "each finding was found once above");
}

int
main(void)
{
	check_rows();
	check_times();
	check_file("nginx.conf");
	check_file("lighttpd.conf");
	check_file("lighttpd-cgi.conf");
	check_file("apache-cgi.conf");
	check_file("apache-mod_fcgid.conf");
	check_file("apache-proxy_fcgi.conf");
	check_found();
	return done();
}
