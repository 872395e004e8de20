/* SPDX-License-Identifier: ISC */
#include "ctl_run.h"
#include "redis_rig.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Tokens and keys, made and read by idemctl. */
static char folder[] = "/tmp/t_idemctl_token.XXXXXX";
static char ledger[100], keys[100], others[100], conf[100];

static void
write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	if (f == NULL || fputs(text, f) == EOF || fclose(f) != 0)
		bail_out("%s cannot be written", path);
}

/* The first line that was said, without what was said on standard error. */
static const char *
first_line(const char *out)
{
	static char line[300];

	snprintf(line, sizeof line, "%.*s", (int)strcspn(out, "\n"), out);
	return line;
}

/* --- keys that sign ------------------------------------------------------- */

static void
make_keys(const char *path, const char *name)
{
	const char *out;
	char text[300];
	size_t hex;

	if (ctl_run(&out, "token --make-key --name %s", name) != 0)
		bail_out("no key: %s", out);
	snprintf(text, sizeof text, "%s", out);
	hex = strspn(text + strlen(name) + 1, "0123456789abcdef");
	ok(strncmp(text, name, strlen(name)) == 0 && hex == 64 &&
	    strcmp(text + strlen(name) + 65, "\n") == 0,
	    "--make-key prints a line of a file of keys");
	write_file(path, text);
}

static void
check_keys(void)
{
	const char *out;
	char first[200];

	make_keys(keys, "first");
	make_keys(others, "other");
	ctl_run_is(2, "without blanks", "its name has no blanks",
	    "token --make-key --name 'a b'");
	ctl_run(&out, "token --make-key");
	snprintf(first, sizeof first, "%s", out);
	ok(first[0] == 'k' && strchr(first, ' ') == first + 9,
	    "or is the day's");
	ctl_run(&out, "token --make-key");
	ok(strcmp(first, out) != 0, "no key comes twice");
}

/* --- keys of clients ------------------------------------------------------ */

static const struct {
	const char *args;
	int status;
	const char *pattern;	/* 9: a digit, x: a hexadecimal one */
	const char *what;
} styles[] = {
	{ "uuid", 0, "xxxxxxxxxxxx4xxxxxxxxxxxxxxxxxxx\n", "a UUID" },
	{ "business --type order --id 4711", 0,
	  "order:4711:9999999999999:9999\n", "type, id, time and chance" },
	{ "composite --type o --id 7 --machine m3", 0,
	  "o:7:9999999999999:m3:9999\n", "type, id, time, machine and number" },
	{ "business --type order", 2, NULL, "not without its id" },
	{ "composite --type 'a:b' --id 7", 2, NULL, "not of two types" },
	{ "other", 2, NULL, "not of another style" },
	{ "uuid --make-key", 2, NULL, "not two things at once" },
	{ "uuid /path", 2, NULL, "nor a path beside it" },
};

static bool
fits(const char *text, const char *pattern)
{
	for (; *pattern != '\0'; pattern++, text++)
		if (*pattern == '9' ? *text < '0' || *text > '9' :
		    *pattern == 'x' ? *text == '\0' ||
		    strchr("0123456789abcdef", *text) == NULL :
		    *pattern != *text)
			return false;
	return *text == '\0';
}

static void
check_styles(void)
{
	const char *out;
	char last[200] = "";
	bool good;
	size_t i;
	int status;

	for (i = 0; i < sizeof styles / sizeof *styles; i++) {
		status = ctl_run(&out, "token --style %s", styles[i].args);
		good = status == styles[i].status &&
		    (styles[i].pattern == NULL || fits(out, styles[i].pattern));
		if (!ok(good, "a client's key is %s", styles[i].what))
			note("%d: %s", status, out);
	}
	for (i = 0, good = true; i < 20; i++) {
		ctl_run(&out, "token --style composite --type o --id 7 "
		    "--machine m");
		good = good && strcmp(last, out) != 0;
		snprintf(last, sizeof last, "%s", out);
	}
	ok(good, "two that are made one after the other differ");
	setenv("HOST_IP", "10.1.2.33", 1);
	ctl_run_is(0, ":33:", "the machine is the last part of HOST_IP",
	    "token --style composite --type o --id 7");
	unsetenv("HOST_IP");
	ctl_run_is(0, "o:7:", "or the host's own name",
	    "token --style composite --type o --id 7");
}

/* --- tokens at a ledger --------------------------------------------------- */

static void
check_ledger(void)
{
	char token[300];
	const char *out;

	ctl_run_is(2, "no keys to sign with", "without keys there is no token",
	    "token /order --ledger %s", ledger);
	ctl_run_is(2, "for which route", "nor without a route",
	    "token --keys %s --ledger %s", keys, ledger);
	ctl_run_is(2, "say where", "nor without a store",
	    "token /order --keys %s", keys);
	ctl_run_is(0, "at the ledger", "a token is minted at the ledger",
	    "token /order --keys %s --ledger %s", keys, ledger);
	ctl_run(&out, "token /order --keys %s --ledger %s 2>/dev/null", keys,
	    ledger);
	snprintf(token, sizeof token, "%s", first_line(out));
	is_int((long long)strlen(out), 76, "alone on standard output");
	ctl_run_is(0, "records issued                    2",
	    "and its record is there", "stats --ledger %s", ledger);
	ctl_run_is(0, "signed    by one of our keys", "--read knows it as ours",
	    "token --read %s --keys %s --ledger %s", token, keys, ledger);
	ctl_run_is(0, "record    issued", "with its record",
	    "token --read %s --keys %s --ledger %s", token, keys, ledger);
	ctl_run_is(0, "arbiter   ledger", "and its arbiter",
	    "token --read %s --keys %s", token, keys);
	ctl_run_is(1, "by no key of ours", "other keys do not know it",
	    "token --read %s --keys %s", token, others);
	ctl_run_is(1, "minted    2", "but what it says is said",
	    "token --read %s", token);
	ctl_run_is(1, "\"signed\":false", "as JSON too",
	    "token --json --read %s", token);
	token[3] = token[3] == 'A' ? 'B' : 'A';
	ctl_run_is(1, "by no key of ours", "one that was changed is not ours",
	    "token --read %s --keys %s", token, keys);
	ctl_run_is(1, "no token", "and a text is none", "token --read hello");
	ctl_run_is(0, "\"expires_at\":", "JSON says until when it is good",
	    "token /order --json --keys %s --ledger %s", keys, ledger);
}

/* --- with a configuration ------------------------------------------------- */

static void
check_conf(const char *url)
{
	char text[1000], token[300];
	const char *out;

	snprintf(text, sizeof text,
	    "shared = redis { url = '%s', timeout = '30s', "
	    "budget = '30s' }\nrun = '%s'\n"
	    "tokens = { keys = '%s', life = '30m' }\n"
	    "route { path = '/shop/**', arbiter = 'token',\n"
	    "    scope = { name = 'shop' }, program = cgi { '/bin/true' } }\n"
	    "route { path = '/free', arbiter = 'redis',\n"
	    "    program = cgi { '/bin/true' } }\n", url, folder, keys);
	write_file(conf, text);
	ctl_run_is(0, "at the shared Redis", "a token is minted at Redis for "
	    "the route that has the path", "token /shop/a%%20b --config %s",
	    conf);
	ctl_run(&out, "token --config %s 2>/dev/null", conf);
	snprintf(token, sizeof token, "%s", first_line(out));
	is_int((long long)strlen(out), 76, "or for the only one that has "
	    "tokens");
	ctl_run_is(1, "token", "but not for one that has none",
	    "token /free --config %s", conf);
	ctl_run_is(0, "(ours) route at", "--read knows its route",
	    "token --read %s --config %s", token, conf);
	ctl_run_is(0, "!history   0000000000000000", "and its history",
	    "token --read %s --config %s", token, conf);
	ctl_run_is(0, "record    issued", "and its record",
	    "token --read %s --config %s", token, conf);
	ctl_run_is(0, "records issued                    2",
	    "the records are in Redis", "stats --config %s", conf);
	ctl_run_is(2, "nowhere", "a configuration that is not there is wrong "
	    "use", "token /shop/x --config %s/nowhere", folder);
}

static void
check_away(struct redis_rig *redis)
{
	redis_rig_kill(redis);
	ctl_run_is(111, "idemctl: token:", "without Redis no token is made "
	    "[redis:1]", "token /shop/x --config %s", conf);
}

static void
check_redis(void)
{
	struct redis_rig redis;

	if (redis_rig_missing() != NULL) {
		skip(redis_rig_missing(), "tokens at Redis");
		return;
	}
	redis_rig_start(&redis, NULL);
	check_conf(redis.url);
	check_away(&redis);
	redis_rig_end(&redis);
}

static void
remove_all(void)
{
	static const char *const ends[] = { "", "-lock", "-wal", "-shm" };
	char path[120];
	size_t i;

	for (i = 0; i < sizeof ends / sizeof *ends; i++) {
		snprintf(path, sizeof path, "%s%s", ledger, ends[i]);
		unlink(path);
	}
	unlink(keys);
	unlink(others);
	unlink(conf);
	if (rmdir(folder) != 0)
		note("%s is not empty", folder);
}

int
main(void)
{
	const char *out;

	unsetenv("IDEM_LEDGER");
	unsetenv("HOST_IP");
	umask(077);
	if (mkdtemp(folder) == NULL)
		bail_out("no folder");
	snprintf(ledger, sizeof ledger, "%s/ledger.db", folder);
	snprintf(keys, sizeof keys, "%s/keys", folder);
	snprintf(others, sizeof others, "%s/others", folder);
	snprintf(conf, sizeof conf, "%s/idem.conf", folder);
	if (ctl_run(&out, "init --ledger %s", ledger) != 0)
		bail_out("%s", out);
	check_keys();
	check_styles();
	check_ledger();
	check_redis();
	remove_all();
	return done();
}
