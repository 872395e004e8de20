/* SPDX-License-Identifier: ISC */
#include "conf_lua.h"

#include <lua.h>

#include <string.h>

#define ANSWER_MAX (UINT64_C(32) << 20)
#define RATE_MAX 1000000u

/* --- secrets -------------------------------------------------------------- */

/* A text that no message may hold, as a password is no message's. */
static void
secret(const struct conf_at *at, const char *field, const char **out)
{
	if (!conf_lua_has(at, field))
		return;
	if (lua_type(at->L, -1) != LUA_TSTRING || lua_rawlen(at->L, -1) == 0)
		conf_lua_wrong(at, field, "not a text in quotes");
	*out = conf_lua_copy(at, field, -1);
	lua_pop(at->L, 1);
}

static void
password(const struct conf_at *at, struct conf_redis *r)
{
	char error[400];

	secret(at, "password", &r->client.password);
	conf_lua_text(at, "password_file", conf_lua_absolute,
	    &r->password_file);
	if (r->password_file == NULL)
		return;
	if (r->client.password != NULL)
		conf_lua_wrong(at, "password_file", "password says it too; "
		    "keep one of them");
	r->client.password = conf_password_read(at->conf, r->password_file,
	    error, sizeof error);
	if (r->client.password == NULL)
		conf_lua_wrong(at, "password_file", "%s", error);
}

/* --- where it is ---------------------------------------------------------- */

static bool
servers(const struct conf_at *at, const char *field,
    enum idem_redis_topology topology, struct conf_redis *r)
{
	struct idem_words urls = { NULL, 0 };
	const char **one;

	if (!conf_lua_has(at, field))
		return false;
	lua_pop(at->L, 1);
	if (topology == IDEM_REDIS_SINGLE) {
		one = conf_get(at->conf, sizeof *one);
		if (one == NULL)
			conf_lua_no_memory(at->L);
		secret(at, field, one);
		urls = (struct idem_words){ one, 1 };
	} else
		conf_lua_texts(at, field, NULL, &urls);
	r->client.topology = topology;
	r->client.urls = urls.at;
	r->client.urls_len = urls.len;
	return true;
}

static void
where(const struct conf_at *at, struct conf_redis *r)
{
	int said = servers(at, "url", IDEM_REDIS_SINGLE, r);

	said += servers(at, "sentinels", IDEM_REDIS_SENTINEL, r);
	said += servers(at, "cluster", IDEM_REDIS_CLUSTER, r);
	if (said == 0)
		conf_lua_wrong(at, NULL, "it says no server; say url = "
		    "\"unix:/run/redis/redis.sock\", sentinels = { "
		    "\"HOST:PORT\", ... } or cluster = { \"HOST:PORT\", ... }");
	if (said > 1)
		conf_lua_wrong(at, NULL, "url, sentinels and cluster exclude "
		    "each other; keep one of them");
	conf_lua_text(at, "master", NULL, &r->client.master);
}

static void
tls(const struct conf_at *at, struct idem_redis_options *o)
{
	conf_lua_text(at, "ca", conf_lua_absolute, &o->ca);
	conf_lua_text(at, "certificate", conf_lua_absolute, &o->certificate);
	conf_lua_text(at, "private_key", conf_lua_absolute, &o->private_key);
	conf_lua_text(at, "server_name", NULL, &o->server_name);
}

/* A time that a request may spend. */
static void
call_time(const struct conf_at *at, const char *field, uint32_t *out)
{
	conf_lua_span(at, field, 1, out);
	if (*out > CONF_REDIS_CALL_MAX_MS)
		conf_lua_wrong(at, field, "over 60s: a request would hang as "
		    "long");
}

static void
fields(const struct conf_at *at, struct conf_redis *r)
{
	where(at, r);
	conf_lua_text(at, "user", NULL, &r->client.user);
	password(at, r);
	conf_lua_text(at, "sentinel_user", NULL, &r->client.sentinel_user);
	secret(at, "sentinel_password", &r->client.sentinel_password);
	tls(at, &r->client);
	conf_lua_text(at, "prefix", NULL, &r->prefix);
	conf_lua_text(at, "name", NULL, &r->name);
	call_time(at, "timeout", &r->client.timeout_ms);
	call_time(at, "budget", &r->budget_ms);
	call_time(at, "look", &r->look_ms);
	conf_lua_span(at, "probe", 10, &r->client.probe_ms);
	conf_lua_size(at, "answer_max", 0, ANSWER_MAX, &r->answer_max);
}

/* One value may be said twice: cache = shared.  So each use has all fields. */
const struct conf_redis *
conf_lua_redis(const struct conf_at *at, const char *name)
{
	static const char *const known[] = { "url", "sentinels", "cluster",
	    "master", "user", "password", "password_file", "sentinel_user",
	    "sentinel_password", "ca", "certificate", "private_key",
	    "server_name", "prefix", "name", "timeout", "budget", "look",
	    "probe", "answer_max", NULL };
	struct conf_at setting = *at, inside;
	struct conf_redis *r = conf_redis_new(at->conf);
	char error[400];

	setting.what = name;
	if (r == NULL)
		conf_lua_no_memory(at->L);
	conf_lua_has(at, name);
	if (conf_lua_word(at->L, -1) != CONF_WORD_REDIS)
		conf_lua_wrong(&setting, NULL, "say redis { url = "
		    "\"unix:/run/redis/redis.sock\" }");
	inside = conf_lua_word_inside(&setting);
	conf_lua_fields(&inside, known, true);
	if (lua_rawlen(at->L, inside.table) > 0)
		conf_lua_wrong(&inside, NULL, "a value in it has no name; say "
		    "url = \"unix:/run/redis/redis.sock\"");
	fields(&inside, r);
	if (!conf_redis_finish(at->conf, r, error, sizeof error))
		conf_lua_wrong(&inside, NULL, "%s", error);
	lua_pop(at->L, 1);
	return r;
}

/* --- tokens --------------------------------------------------------------- */

/* A path as requests have it once resolved (pattern.h), and no pattern. */
static const char *
endpoint(const char *path)
{
	size_t len = strspn(path, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "abcdefghijklmnopqrstuvwxyz0123456789._~/-");
	const char *at = path, *end;

	if (*path != '/' || path[len] != '\0' || len > 255)
		return "not a path of letters, digits and . _ ~ / -";
	while (*at == '/') {
		at++;
		end = at + strcspn(at, "/");
		if (end == at || strncmp(at, "./", 2) == 0 ||
		    strcmp(at, ".") == 0 || strncmp(at, "../", 3) == 0 ||
		    strcmp(at, "..") == 0)
			return "a part of it is empty, . or ..";
		at = end;
	}
	return NULL;
}

static void
endpoint_path(const struct conf_at *at, struct conf_tokens *t)
{
	if (!conf_lua_has(at, "path"))
		return;
	if (lua_isboolean(at->L, -1) && lua_toboolean(at->L, -1) == 0) {
		t->path = NULL;
		lua_pop(at->L, 1);
		return;
	}
	lua_pop(at->L, 1);
	conf_lua_text(at, "path", endpoint, &t->path);
}

void
conf_lua_tokens(const struct conf_at *at, const char *name, struct conf *c)
{
	static const char *const known[] = { "path", "keys", "life", "rate",
	    "burst", NULL };
	struct conf_tokens *t = conf_tokens_new(c);
	struct conf_at inside;
	char error[400];

	if (t == NULL)
		conf_lua_no_memory(at->L);
	conf_lua_has(at, name);
	inside = conf_lua_inside(at, name);
	conf_lua_fields(&inside, known, false);
	endpoint_path(&inside, t);
	conf_lua_text(&inside, "keys", conf_lua_absolute, &t->keys_file);
	conf_lua_time(&inside, "life", 1000, CONF_TIME_MAX_MS, &t->life_ms);
	conf_lua_number(&inside, "rate", 1, RATE_MAX, &t->rate);
	conf_lua_number(&inside, "burst", 1, RATE_MAX, &t->burst);
	if (t->keys_file == NULL)
		conf_lua_wrong(&inside, NULL, "there are no keys to sign with; "
		    "say keys = \"/etc/idem/token.keys\", and make the file: "
		    "(umask 077; idemctl token --make-key > FILE)");
	c->tokens = t;		/* before it owns keys */
	if (!conf_tokens_read(t, error, sizeof error))
		conf_lua_wrong(&inside, "keys", "%s", error);
	lua_pop(at->L, 1);
}
