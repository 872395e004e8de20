/* SPDX-License-Identifier: ISC */
#include "redis_desk.h"
#include "redis_fake.h"

#include "tap.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* What is said first on a connection, and who may pass. */
#define DEADLINE_MS 20000	/* never reached */

static const struct idem_bytes hello[][4] = {
	{ { "INFO", 4 }, { "server", 6 } },
	{ { "EVALSHA", 7 }, { "0123", 4 }, { "0", 1 } },
	{ { "PING", 4 } },
};

static const struct row {
	const char *what;
	const char *user, *password;	/* over the URL's */
	uint32_t database;
	size_t hello_len;
	const char *refuse;
	const char *script[10];
	int commands;		/* that the server has seen; -1: any */
	const char *saw;	/* by met, types by letters */
	const char *means, *text;
} rows[] = {
	{ "without a password and a hello nothing is said first",
	  NULL, NULL, 0, 0, NULL,
	  { "accept", "expect 1", "say +PONG\r\n", "left" },
	  1, "", "ok", "PONG" },
	{ "password and database come first", NULL, "secret", 3, 0, NULL,
	  { "accept", "expect 2", "say +OK\r\n+OK\r\n", "expect 3",
	  "say +PONG\r\n", "left" }, 3, "", "ok", "PONG" },
	{ "a user may go without a password", "idem", NULL, 0, 0, NULL,
	  { "accept", "expect 1", "say +OK\r\n", "expect 2", "say +PONG\r\n",
	  "left" }, 2, "", "ok", "PONG" },
	{ "what a server says to the hello is shown as it is",
	  "idem", "secret", 0, 3, NULL, { "accept", "expect 4",
	  "say +OK\r\n$6\r\nredis:\r\n-NOSCRIPT No\r\n+PONG\r\n", "expect 5",
	  "say +PONG\r\n", "left" }, 5, "set",
	  "ok", "PONG" },
	{ "replies to the hello may come one by one", NULL, NULL, 0, 3, NULL,
	  { "accept", "expect 3", "drip 1 $0\r\n\r\n*0\r\n:1\r\n", "expect 4",
	  "say +PONG\r\n", "left" }, 4, "sai", "ok", "PONG" },
	{ "who does not please is not used", NULL, NULL, 0, 3, "a replica",
	  { "accept", "expect 3", "say $0\r\n\r\n+a\r\n+b\r\n", "left" },
	  3, "stt", "refused anew drop counts", "a replica" },
	{ "a wrong password is everybody's answer [redis:20]",
	  NULL, "wrong", 1, 3, NULL, { "accept", "expect 5",
	  "say -WRONGPASS invalid username-password pair\r\n", "left" },
	  5, "", "config away", "WRONGPASS invalid" },
	{ "a password that nobody wants is no matter of time [redis:20]",
	  NULL, "secret", 0, 0, NULL, { "accept", "expect 1",
	  "say -ERR AUTH <password> called without any password configured "
	  "for the default user.\r\n", "left" },
	  1, "", "config away", "ERR AUTH <password>" },
	{ "no error to AUTH is passed over", NULL, "secret", 0, 0, NULL,
	  { "accept", "expect 1", "say -HUH what\r\n", "left" },
	  1, "", "config away", "HUH what" },
	{ "a server without AUTH does not make us say the password",
	  NULL, "secret", 0, 0, NULL, { "accept", "expect 1",
	  "say -ERR unknown command 'AUTH', with args beginning with: 'secret' "
	  "\r\n", "left" },
	  1, "", "config away", "ERR unknown command 'AUTH'" },
	{ "a database that is not there is no matter of time",
	  NULL, NULL, 99, 0, NULL, { "accept", "expect 1",
	  "say -ERR DB index is out of range\r\n", "left" },
	  1, "", "config away", "ERR DB index" },
	{ "a missing password is told by the hello [redis:20]",
	  NULL, NULL, 0, 3, NULL, { "accept", "expect 3",
	  "say -NOAUTH Authentication required.\r\n"
	  "-NOAUTH Authentication required.\r\n"
	  "-NOAUTH Authentication required.\r\n", "left" },
	  3, "", "config away", "NOAUTH Auth" },
	{ "too many clients are told instead of a greeting [redis:28]",
	  NULL, "secret", 0, 0, NULL, { "accept",
	  "say -ERR max number of clients reached\r\n", "expect 1", "close" },
	  -1, "", "refused pause drop counts", "ERR max number" },
	{ "a web server is no Redis [redis:6]", NULL, "secret", 0, 3, NULL,
	  { "accept", "expect 4", "say HTTP/1.1 400 Bad Request\r\n",
	  "left" }, 4, "", "config drop counts away", "what came is not" },
	{ "an end in the greeting is before the command [redis:5]",
	  NULL, "secret", 0, 3, NULL, { "accept", "expect 4",
	  "say +OK\r\n$6\r\nred", "close" },
	  4, "", "refused anew drop counts", "the server closed" },
	{ "a reset in the greeting is before the command [redis:4]",
	  NULL, "secret", 0, 3, NULL, { "accept", "expect 4", "reset" },
	  4, "", "refused anew drop counts", "" },
	{ "more than was asked for ends a greeting, too",
	  NULL, "secret", 0, 0, NULL, { "accept", "expect 1",
	  "say +OK\r\n+OK\r\n", "left" },
	  1, "", "refused anew drop counts", "a reply that nobody" },
};

static void
try_row(const struct row *row)
{
	struct redis_fake f;
	struct redis_desk d;
	struct redis_told t;
	char means[64];

	redis_fake_tcp(&f, 5);
	redis_fake_play(&f, row->script);
	redis_desk_open(&d, f.url, NULL);
	d.url.database = row->database;
	d.options.user = row->user;
	d.options.password = row->password;
	d.options.hello = hello;
	d.options.hello_len = row->hello_len;
	d.redis.timeout_ms = DEADLINE_MS;
	d.refuse = row->refuse;
	redis_desk_ask(&d, &t, DEADLINE_MS, "PING");
	redis_desk_meaning(t.meaning, means, sizeof means);
	is(means, row->means, "%s", row->what);
	ok(t.answers == 1 &&
	    (row->commands == -1 || f.commands == row->commands) &&
	    strcmp(d.saw, row->saw) == 0 &&
	    strncmp(t.error[0] != '\0' ? t.error : t.text, row->text,
	    strlen(row->text)) == 0 && strstr(t.error, "secret") == NULL,
	    "said %d, met \"%s\", told \"%s\"", (int)f.commands, d.saw,
	    t.error[0] != '\0' ? t.error : t.text);
	redis_desk_close(&d);
	redis_fake_end(&f);
}

/* The words themselves, as they leave. */
static void
words(void)
{
	static const char *const script[] = { "accept", "expect 3",
		"say +OK\r\n+OK\r\n+PONG\r\n", "expect 4", "hold", NULL };
	struct redis_fake f;
	struct redis_desk d;
	struct redis_told t;
	char url[160];

	redis_fake_tcp(&f, 5);
	redis_fake_play(&f, script);
	snprintf(url, sizeof url, "redis://idem:s%%20x@127.0.0.1:%d/7", f.port);
	redis_desk_open(&d, url, NULL);
	d.redis.timeout_ms = DEADLINE_MS;
	d.options.hello = &hello[2];
	d.options.hello_len = 1;
	redis_desk_send(&d, &t, DEADLINE_MS, "SET k v");
	while (f.commands < 4)
		redis_desk_turn(&d, 10);
	is(f.said, "AUTH idem s x|SELECT 7|PING|SET k v|",
	    "the URL's user, password and database are said");
	redis_desk_close(&d);
	redis_fake_end(&f);
}

/* With another address to go to, one that does not please is left. */
static const char *
two(const char *host, struct idem_redis_addresses *found)
{
	struct idem_redis_names *names = idem_redis_names_new(&idem_clock_real,
	    NULL);
	const char *why = NULL;

	(void)host;
	if (names == NULL || idem_redis_names_look(names, "127.0.0.1", found,
	    &why) != IDEM_REDIS_NAME_KNOWN)
		bail_out("no address");
	found->at[1] = found->at[0];
	found->len = 2;
	idem_redis_names_free(names);
	return NULL;
}

static atomic_int resolved;

static const char *
counted(const char *host, struct idem_redis_addresses *found)
{
	resolved++;
	return two(host, found);
}

/* As a name does that always is the master's. */
static void
moved_name(void)
{
	static const char *const script[] = { "accept", "expect 1",
		"say +no\r\n", "accept", "expect 1", "say +no\r\n", "left",
		"gone", NULL };
	int64_t end_ms = idem_boot_ms(&idem_clock_real) + DEADLINE_MS;
	struct redis_fake f;
	struct redis_desk d;
	struct redis_told t;
	char url[64];

	redis_fake_tcp(&f, 5);
	redis_fake_play(&f, script);
	snprintf(url, sizeof url, "redis://cache.example:%d", f.port);
	redis_desk_open(&d, url, counted);
	d.redis.timeout_ms = DEADLINE_MS;
	d.options.hello = hello;
	d.options.hello_len = 1;
	d.refuse = "it is not a master";
	redis_desk_ask(&d, &t, DEADLINE_MS, "PING");
	is(t.error, "it is not a master", "a server may not please");
	while (resolved < 2 && idem_boot_ms(&idem_clock_real) < end_ms) {
		redis_desk_turn(&d, 20);
		redis_desk_ask(&d, &t, DEADLINE_MS, "PING");
	}
	is_int(resolved, 2, "then its name is asked for again, soon");
	redis_desk_close(&d);
	redis_fake_end(&f);
}

static void
next_address(void)
{
	static const char *const script[] = { "accept", "expect 1", "close",
		"accept", "expect 1", "say +OK\r\n", "expect 2",
		"say +PONG\r\n", "left", NULL };
	struct redis_fake f;
	struct redis_desk d;
	struct redis_told t;
	char url[64];

	redis_fake_tcp(&f, 5);
	redis_fake_play(&f, script);
	snprintf(url, sizeof url, "redis://cache.example:%d", f.port);
	redis_desk_open(&d, url, two);
	d.redis.timeout_ms = DEADLINE_MS;
	d.options.password = "secret";
	redis_desk_ask(&d, &t, DEADLINE_MS, "PING");
	is(t.text, "PONG", "an address that fails in the greeting is followed "
	    "by the next");
	redis_desk_close(&d);
	redis_fake_end(&f);
}

/* Time stands still for the wire while this is not 0. */
static int64_t still_ms;

static int64_t
its_boot_ms(void *arg)
{
	(void)arg;
	return still_ms != 0 ? still_ms : idem_boot_ms(&idem_clock_real);
}

/* A password that is wrong, until somebody has mended that. */
static void
barred(void)
{
	static const char *const script[] = { "accept", "expect 1",
		"say -WRONGPASS invalid\r\n", "left", "accept", "expect 1",
		"say +OK\r\n", "expect 2", "say +PONG\r\n", "left", NULL };
	const struct idem_clock clock = { .boot_ms = its_boot_ms };
	int64_t end_ms = idem_boot_ms(&idem_clock_real) + DEADLINE_MS;
	struct redis_fake f;
	struct redis_desk d;
	struct redis_told t;
	int i, same = 0;

	redis_fake_tcp(&f, 5);
	redis_fake_play(&f, script);
	redis_desk_open(&d, f.url, NULL);
	d.redis.timeout_ms = DEADLINE_MS;
	d.redis.clock = &clock;
	d.options.password = "secret";
	still_ms = idem_boot_ms(&idem_clock_real);
	for (i = 0; i < 20; i++) {
		redis_desk_ask(&d, &t, DEADLINE_MS, "PING");
		same += t.meaning.class == IDEM_CLASS_CONFIG &&
		    t.meaning.away && strcmp(t.error, "WRONGPASS invalid") == 0;
	}
	ok(same == 20 && f.accepts == 1, "who turns us away is not asked again "
	    "for each command [redis:20]");
	still_ms = 0;
	do {
		redis_desk_turn(&d, 20);
		redis_desk_ask(&d, &t, DEADLINE_MS, "PING");
	} while (t.meaning.class == IDEM_CLASS_CONFIG &&
	    idem_boot_ms(&idem_clock_real) < end_ms);
	ok(strcmp(t.text, "PONG") == 0 && f.accepts == 2, "but soon");
	redis_desk_close(&d);
	redis_fake_end(&f);
}

int
main(void)
{
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++)
		try_row(&rows[i]);
	words();
	next_address();
	barred();
	moved_name();
	return done();
}
