/* SPDX-License-Identifier: ISC */
#include "conf_lua.h"

#include <lua.h>

#include <stdlib.h>

static const struct idem_lua_limits limits = {
	.memory = 64u << 20, .list_max = 100000, .secret = true,
	.what = "a configuration",
};

struct conf_lua *
conf_lua_of(lua_State *L)
{
	return (struct conf_lua *)idem_lua_box_of(L);
}

int
conf_lua_line(lua_State *L)
{
	return idem_lua_box_here(L).line;
}

void
conf_lua_raise(lua_State *L)
{
	idem_lua_box_raise(L, idem_lua_box_here(L));
}

struct conf_lua *
conf_lua_new(struct conf *c, const char *file)
{
	struct conf_lua *lua = calloc(1, sizeof *lua);

	if (lua == NULL)
		return NULL;
	lua->conf = c;
	lua->file = conf_copy(c, idem_bytes_text(file));
	if (lua->file == NULL ||
	    idem_lua_box_open(&lua->box, &limits, lua->file) != 0) {
		free(lua);
		return NULL;
	}
	return lua;
}

void
conf_lua_free(struct conf_lua *lua)
{
	if (lua == NULL)
		return;
	idem_lua_box_close(&lua->box);
	free(lua);
}
