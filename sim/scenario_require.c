/* SPDX-License-Identifier: ISC */
#include "scenario_lua.h"

#include <lauxlib.h>
#include <lua.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MODULES "scenario modules"

/* --- files ---------------------------------------------------------------- */

/* All of a regular file that is not too large, in *text; or -1 and errno. */
static int
read_file(struct arena *a, const char *path, const char **text, size_t *len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	ssize_t n = -1;
	char *at;

	if (fd == -1)
		return -1;
	if (fstat(fd, &st) != 0)
		goto fail;
	errno = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
	if (!S_ISREG(st.st_mode))
		goto fail;
	errno = EFBIG;
	if (st.st_size > (off_t)SCENARIO_SOURCE_SIZE)
		goto fail;
	at = arena_get(a, (size_t)st.st_size + 1);
	*text = at;
	for (*len = 0; *len < (size_t)st.st_size; *len += (size_t)n) {
		n = read(fd, at + *len, (size_t)st.st_size - *len);
		if (n == -1)
			goto fail;
		if (n == 0)
			break;
	}
	close(fd);
	return 0;
fail:
	n = errno;
	close(fd);
	errno = (int)n;
	return -1;
}

int
scenario_source(struct scenario *s, const char *path, const char *module)
{
	struct scenario_source *new;
	int i;

	for (i = 0; i < s->sources_n; i++)
		if (strcmp(s->sources[i].path, path) == 0)
			return i;
	errno = EMFILE;
	if (s->sources_n == IDEM_LUA_SOURCES)
		return -1;
	new = &s->sources[s->sources_n];
	if (read_file(&s->arena, path, &new->text, &new->len) != 0)
		return -1;
	new->path = arena_text(&s->arena, path);
	s->box.paths[s->sources_n] = new->path;
	new->module = module != NULL ? arena_text(&s->arena, module) : NULL;
	return s->sources_n++;
}

void
scenario_chunk(lua_State *L, int source)
{
	const struct scenario_source *from = &scenario_of(L)->sources[source];
	const char *text = from->text;
	size_t len = from->len;

	if (len > 0 && text[0] == '#') {	/* "#!/usr/bin/idemsim run" */
		text += strcspn(text, "\n");
		len -= (size_t)(text - from->text);
	}
	idem_lua_text_load(L, source, text, len);
	lua_getfield(L, LUA_REGISTRYINDEX, SCENARIO_GLOBALS);
	lua_setupvalue(L, -2, 1);	/* _ENV */
}

/* --- require -------------------------------------------------------------- */

/* Letters, digits, _ and -: so it cannot leave the folder. */
static bool
is_module(const char *name, size_t len)
{
	return len > 0 && len <= 60 && strlen(name) == len &&
	    strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "abcdefghijklmnopqrstuvwxyz0123456789_-") == len;
}

static int
find_module(lua_State *L, const char *name)
{
	struct scenario *s = scenario_of(L);
	const char *slash = strrchr(s->file, '/');
	size_t folder = slash != NULL ? (size_t)(slash - s->file) + 1 : 0;
	char path[1024];
	int source;

	if (folder + strlen(name) + 5 > sizeof path)
		scenario_raise(L, scenario_here(L), "require \"%s\": its path "
		    "is too long; move the scenario", name);
	snprintf(path, sizeof path, "%.*s%s.lua", (int)folder, s->file, name);
	source = scenario_source(s, path, name);
	if (source == -1 && errno == EMFILE)
		scenario_raise(L, scenario_here(L), "require \"%s\": over %d "
		    "files; put some into one", name, IDEM_LUA_SOURCES);
	if (source == -1)
		scenario_raise(L, scenario_here(L), "require \"%s\": %s: %s; "
		    "it must lie beside the scenario", name, path,
		    strerror(errno));
	return source;
}

int
scenario_require(lua_State *L)
{
	size_t len = 0;
	const char *name = lua_type(L, 1) == LUA_TSTRING ?
	    lua_tolstring(L, 1, &len) : "";
	int source;

	if (strcmp(name, "idemsim") == 0) {
		lua_getfield(L, LUA_REGISTRYINDEX, SCENARIO_SIM);
		return 1;
	}
	if (!scenario_of(L)->box.loading)
		return luaL_error(L, "require \"%s\": a file's functions "
		    "cannot load others; say it at its begin", name);
	if (!is_module(name, len))
		scenario_raise(L, scenario_here(L), "require: not a module's "
		    "name; say \"idemsim\", or \"NAME\" for NAME.lua beside "
		    "the scenario (letters, digits, _ and -)");
	lua_getfield(L, LUA_REGISTRYINDEX, MODULES);
	if (lua_getfield(L, -1, name) != LUA_TNIL) {
		if (lua_islightuserdata(L, -1))
			scenario_raise(L, scenario_here(L), "require \"%s\": "
			    "it requires itself; take that out", name);
		return 1;
	}
	lua_pop(L, 1);
	source = find_module(L, name);
	scenario_chunk(L, source);
	lua_pushlightuserdata(L, L);	/* on its way */
	lua_setfield(L, -3, name);
	lua_call(L, 0, 1);
	if (lua_isnil(L, -1))
		scenario_raise(L, scenario_here(L), "require \"%s\": it "
		    "returns nothing; end it with return { ... }", name);
	lua_pushvalue(L, -1);
	lua_setfield(L, -3, name);
	return 1;
}

void
scenario_forget_modules(lua_State *L)
{
	lua_createtable(L, 0, 4);
	lua_setfield(L, LUA_REGISTRYINDEX, MODULES);
}
