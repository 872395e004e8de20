/* SPDX-License-Identifier: ISC */
#include "ctl.h"

#include "mint.h"
#include "text.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define KEY_BYTES 32
#define POLL_MS 10
#define HOST_SIZE 256

/* --- a key for the file of keys ------------------------------------------- */

static int
make_key(const struct ctl *c)
{
	uint8_t key[KEY_BYTES];
	char hex[2 * KEY_BYTES + 1], name[16];
	time_t now = time(NULL);
	struct tm tm;

	if (!idem_random(key, sizeof key) || gmtime_r(&now, &tm) == NULL)
		return ctl_say(c, CTL_FAILED, "no random bytes");
	if (c->name != NULL && (*c->name == '\0' || *c->name == '#' ||
	    strpbrk(c->name, " \t\r\n") != NULL))
		return ctl_say(c, CTL_WRONG, "--name %s: a word without "
		    "blanks", c->name);
	strftime(name, sizeof name, "k%Y%m%d", &tm);
	idem_hex(key, sizeof key, hex);
	printf("%s %s\n", c->name != NULL ? c->name : name, hex);
	idem_secret_wipe(key, sizeof key);
	idem_secret_wipe(hex, sizeof hex);
	return CTL_DONE;
}

/* --- keys as clients make them -------------------------------------------- */

/* The last part of HOST_IP; else of the host's own name, before its domain. */
static const char *
machine_of(const struct ctl *c, char host[HOST_SIZE])
{
	const char *ip = getenv("HOST_IP"), *last;

	if (c->machine != NULL)
		return c->machine;
	if (ip != NULL && *ip != '\0') {
		last = strrchr(ip, '.');
		last = last != NULL ? last : strrchr(ip, ':');
		return last != NULL ? last + 1 : ip;
	}
	if (gethostname(host, HOST_SIZE - 1) != 0)
		return "";
	host[HOST_SIZE - 1] = '\0';
	host[strcspn(host, ".")] = '\0';
	last = strrchr(host, '-');
	return last != NULL && last[1] != '\0' ? last + 1 : host;
}

static int
read_style(const struct ctl *c, enum idem_token_style *style)
{
	static const char *const names[] = {
		[IDEM_TOKEN_UUID] = "uuid",
		[IDEM_TOKEN_BUSINESS] = "business",
		[IDEM_TOKEN_COMPOSITE] = "composite",
	};
	unsigned i;

	for (i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(c->style, names[i]) == 0) {
			*style = (enum idem_token_style)i;
			return CTL_DONE;
		}
	return ctl_say(c, CTL_WRONG, "--style %s: say uuid, business or "
	    "composite", c->style);
}

/* No process remembers the last one's number, so it is the clock's: with the
   milliseconds before it two keys differ that are a microsecond apart. */
static uint64_t
sequence(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static int
make_style(const struct ctl *c)
{
	char host[HOST_SIZE] = "";
	struct idem_token_made made = {
		.type = c->type,
		.id = c->id,
		.machine = machine_of(c, host),
		.now_ms = idem_wall_ms(&idem_clock_real),
		.sequence = sequence(),
	};
	struct idem_key key;
	int status = read_style(c, &made.style);

	if (status != CTL_DONE)
		return status;
	if (!idem_random(made.random, sizeof made.random))
		return ctl_say(c, CTL_FAILED, "no random bytes");
	if (!idem_token_make(&made, &key))
		return ctl_say(c, CTL_WRONG, "--style %s wants --type and --id "
		    "(and a machine) of visible ASCII without : \" , ; and \\, "
		    "and all of it at most %d bytes", c->style, IDEM_KEY_MAX);
	printf("%.*s\n", key.len, (const char *)key.at);
	return CTL_DONE;
}

/* --- one of ours ---------------------------------------------------------- */

struct minted {
	const struct ctl *c;
	bool done;
	int status;
};

static void
say_json(const struct mint_made *made)
{
	printf("{\"token\":\"%s\",\"arbiter\":\"%s\",\"expires_at\":%lld}\n",
	    made->text, made->arbiter == IDEM_TOKEN_REDIS ? "redis" : "ledger",
	    (long long)made->expires_ms);
}

/* The token alone on standard output, so that a script can take it. */
static void
minted(void *arg, const struct mint_made *made)
{
	struct minted *m = arg;
	char when[32];

	m->done = true;
	if (made->problem != IDEM_PROBLEM_NONE) {
		m->status = ctl_say(m->c, CTL_FAILED, "%s", made->error != NULL
		    ? made->error : idem_problem_form(made->problem)->title);
		return;
	}
	if (m->c->json) {
		say_json(made);
		return;
	}
	printf("%s\n", made->text);
	ctl_say(m->c, CTL_DONE, "good until %s, at the %s",
	    ctl_stamp(made->expires_ms, when, sizeof when),
	    made->arbiter == IDEM_TOKEN_REDIS ? "shared Redis" : "ledger");
}

static void
wait_for(struct ctl *c, struct minted *m)
{
	struct pollfd fds[CTL_KINDS];
	size_t i;

	while (!m->done) {
		for (i = 0; i < c->stores_len; i++) {
			c->stores[i].store->ops->poll(c->stores[i].store);
			fds[i] = (struct pollfd){
				.fd = c->stores[i].store->ops->fd(
				    c->stores[i].store),
				.events = POLLIN,
			};
		}
		if (!m->done)
			poll(fds, (nfds_t)c->stores_len, POLL_MS);
	}
}

static int
mint(struct ctl *c, const struct idem_route *route)
{
	struct mint mint = { .clock = &idem_clock_real };
	struct minted m = { .c = c };
	struct mint_order order = {
		.conf = c->conf, .route = route, .done = minted, .arg = &m
	};
	enum idem_problem why;
	size_t i;

	for (i = 0; i < c->stores_len; i++)
		if (c->stores[i].kind == CTL_REDIS)
			order.redis = c->stores[i].store;
		else
			order.ledger = c->stores[i].store;
	if (mint_start(&mint, &order, &why) == NULL)
		return ctl_say(c, CTL_FAILED, "%s",
		    idem_problem_form(why)->title);
	wait_for(c, &m);
	mint_close(&mint);
	return m.status;
}

/* --- for which route ------------------------------------------------------ */

/* The path as the endpoint would be given it. */
static void
write_query(const char *path, struct idem_buf *query)
{
	idem_buf_text(query, "path=");
	for (; *path != '\0'; path++)
		if (strchr("%&+=;#", *path) != NULL || *path <= ' ')
			idem_buf_printf(query, "%%%02X", (uint8_t)*path);
		else
			idem_buf_u8(query, (uint8_t)*path);
}

static int
mint_by_conf(struct ctl *c)
{
	struct mint door = { .clock = &idem_clock_real };
	struct idem_buf query = { .at = NULL };
	struct mint_wanted wanted = { .route = NULL };
	enum idem_problem problem;

	if (c->args_len == 1)
		write_query(c->args[0], &query);
	problem = mint_admit(&door, c->conf, "POST", idem_buf_bytes(&query),
	    &wanted);
	idem_buf_free(&query);
	if (problem != IDEM_PROBLEM_NONE)
		return ctl_say(c, CTL_NO, "%s",
		    idem_problem_form(problem)->title);
	return mint(c, &wanted.route->route);
}

static int
mint_one(struct ctl *c)
{
	struct idem_route route = idem_route_default;
	int status = ctl_open(c, false, true);

	if (status != CTL_DONE)
		return status;
	if (c->conf->tokens == NULL || c->conf->tokens->keys.len == 0)
		return ctl_say(c, CTL_WRONG, "there are no keys to sign with: "
		    "say --keys FILE, or tokens = { keys = ... } in the "
		    "configuration");
	if (c->config != NULL)
		return mint_by_conf(c);
	route.name = c->route;
	route.path = c->args[0];
	if (c->args_len == 0 && c->route == NULL)
		return ctl_say(c, CTL_WRONG, "say for which route: its "
		    "pattern, or --route NAME if its scope has one");
	return mint(c, &route);
}

int
ctl_token(struct ctl *c)
{
	int kinds;

	c->of_tokens = true;
	kinds = c->make_key + (c->style != NULL) + (c->read != NULL);

	if (kinds > 1 || (kinds == 1 && c->args_len > 0))
		return ctl_say(c, CTL_WRONG, "PATH, --read, --make-key and "
		    "--style: one of them at a time");
	if (c->args_len > 1)
		return ctl_say(c, CTL_WRONG, "one path at a time");
	if (c->make_key)
		return make_key(c);
	if (c->style != NULL)
		return make_style(c);
	return c->read != NULL ? ctl_read(c) : mint_one(c);
}
