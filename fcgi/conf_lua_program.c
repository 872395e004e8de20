/* SPDX-License-Identifier: ISC */
#include "conf_lua.h"

#include "backend.h"

#include <lauxlib.h>
#include <lua.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ADDRESSES_MAX 64u
#define CONNECTIONS_MAX 65535u

/* --- names ---------------------------------------------------------------- */

const char *
conf_lua_absolute(const char *path)
{
	return path[0] == '/' ? NULL : "not an absolute path";
}

static const char *
passed_name(const char *name)
{
	char copy[256];
	size_t len = strlen(name);

	if (len == 0 || len >= sizeof copy)
		return "not a name, nor PREFIX_*";
	memcpy(copy, name, len + 1);
	if (copy[len - 1] == '*')
		copy[len - 1] = '\0';
	if (!conf_is_variable(copy))
		return "not a name, nor PREFIX_*; for all of them say "
		    "environment = \"fcgiwrap\"";
	return NULL;
}

/* --- cgi ------------------------------------------------------------------ */

/* A list as exec and its like have it: what is in it is ours alone. */
static char *const *
vector(const struct conf_at *at, const struct idem_words *words)
{
	char **all;
	size_t i;

	if (words->at == NULL)
		return NULL;
	all = conf_get(at->conf, (words->len + 1) * sizeof *all);
	if (all == NULL)
		conf_lua_no_memory(at->L);
	for (i = 0; i < words->len; i++) {
		all[i] = conf_copy(at->conf, idem_bytes_text(words->at[i]));
		if (all[i] == NULL)
			conf_lua_no_memory(at->L);
	}
	return all;
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* "NAME=value", of the pair on top; both stay there. */
static char *
pair(const struct conf_at *at)
{
	const char *name, *value;
	size_t size;
	char *text;

	if (lua_type(at->L, -2) != LUA_TSTRING)
		conf_lua_wrong(at, NULL, "say { NAME = \"text\" }");
	name = conf_lua_copy(at, "a name", -2);
	value = conf_lua_copy(at, name, -1);
	size = strlen(name) + strlen(value) + 2;
	text = conf_get(at->conf, size);
	if (text == NULL)
		conf_lua_no_memory(at->L);
	if (!conf_is_variable(name))
		conf_lua_wrong(at, NULL, "\"%.40s\" is not a variable's name",
		    name);
	if (strncmp(name, "IDEMPOTENCY_", 12) == 0)
		conf_lua_wrong(at, name, "idemd sets it");
	snprintf(text, size, "%s=%s", name, value);
	return text;
}

/* In order: that of a Lua table is chance. */
static void
set(const struct conf_at *at, struct program_rule *p)
{
	struct conf_at inside;
	char **all;
	size_t n = 0;

	if (!conf_lua_has(at, "set"))
		return;
	inside = conf_lua_inside(at, "set");
	for (lua_pushnil(at->L); lua_next(at->L, inside.table) != 0; n++)
		lua_pop(at->L, 1);
	all = conf_get(at->conf, (n + 1) * sizeof *all);
	if (all == NULL)
		conf_lua_no_memory(at->L);
	n = 0;
	for (lua_pushnil(at->L); lua_next(at->L, inside.table) != 0;
	    lua_pop(at->L, 1))
		all[n++] = pair(&inside);
	qsort(all, n, sizeof *all, by_name);
	lua_pop(at->L, 1);
	p->set = all;
}

static void
named(const struct conf_at *at, struct program_rule *p,
    const struct idem_words *words)
{
	const char *fault = conf_lua_absolute(words->at[0]);

	if (fault != NULL)
		conf_lua_wrong(at, NULL, "\"%.50s\": %s", words->at[0], fault);
	if (p->root != NULL || p->allowed != NULL)
		conf_lua_wrong(at, NULL, "root and allow are for programs that "
		    "the front names; this one is named here");
	p->kind = PROGRAM_NAMED;
	p->argv = vector(at, words);
}

static void
cgi(const struct conf_at *at, struct program_rule *p)
{
	static const char *const known[] = { "root", "allow", "pass", "set",
	    "environment", NULL };
	static const char *const environments[] = { "clean", "fcgiwrap", NULL };
	struct idem_words words = { NULL, 0 }, allowed = { NULL, 0 },
	    pass = { NULL, 0 };
	struct conf_at inside = conf_lua_word_inside(at);

	conf_lua_fields(&inside, known, true);
	conf_lua_text(&inside, "root", conf_lua_absolute, &p->root);
	conf_lua_texts(&inside, "allow", conf_lua_absolute, &allowed);
	conf_lua_texts(&inside, "pass", passed_name, &pass);
	set(&inside, p);
	p->allowed = vector(at, &allowed);
	p->pass = vector(at, &pass);
	p->all_params = conf_lua_one_of(&inside, "environment",
	    environments) == 1;
	p->kind = PROGRAM_BY_REQUEST;
	conf_lua_positional(&inside, NULL, &words);
	if (words.len > 0)
		named(&inside, p, &words);
	lua_pop(at->L, 1);
}

/* --- fastcgi -------------------------------------------------------------- */

static void
fastcgi(const struct conf_at *at, struct program_rule *p)
{
	static const char *const known[] = { "connections", "keep", "connect",
	    "first_byte", "set", NULL };
	struct idem_words addresses = { NULL, 0 };
	struct conf_at inside = conf_lua_word_inside(at);

	p->kind = PROGRAM_FASTCGI;
	p->backend_connections = 64;
	p->connect_ms = 1000;
	conf_lua_fields(&inside, known, true);
	conf_lua_positional(&inside, backend_address_wrong, &addresses);
	if (addresses.len == 0 || addresses.len > ADDRESSES_MAX)
		conf_lua_wrong(&inside, NULL, "say 1 to %u addresses, such as "
		    "\"unix:/run/php/php-fpm.sock\"", ADDRESSES_MAX);
	p->backends = vector(at, &addresses);
	conf_lua_number(&inside, "connections", 1, CONNECTIONS_MAX,
	    &p->backend_connections);
	conf_lua_number(&inside, "keep", 0, CONNECTIONS_MAX, &p->backend_kept);
	conf_lua_span(&inside, "connect", 1, &p->connect_ms);
	conf_lua_span(&inside, "first_byte", 1, &p->first_ms);
	set(&inside, p);
	lua_pop(at->L, 1);
}

bool
conf_lua_program(const struct conf_at *at, const char *field,
    struct program_rule *p)
{
	if (!conf_lua_has(at, field))
		return false;
	*p = (struct program_rule){ .kind = PROGRAM_BY_REQUEST };
	switch (conf_lua_word(at->L, -1)) {
	case CONF_WORD_CGI:
		cgi(at, p);
		return true;
	case CONF_WORD_FASTCGI:
		fastcgi(at, p);
		return true;
	case CONF_WORD_NONE: case CONF_WORD_SQLITE: case CONF_WORD_REDIS:
	case CONF_WORD_HEADER: case CONF_WORD_QUERY: case CONF_WORD_COOKIE:
	case CONF_WORD_FORM: case CONF_WORD_CONTENT: case CONF_WORD_WAIT:
	case CONF_WORD_RETRY: case CONF_WORD_AUTO:
		break;
	}
	conf_lua_wrong(at, field, "say cgi {}, cgi { \"/path\" } or fastcgi { "
	    "\"unix:/path\" }");
}
