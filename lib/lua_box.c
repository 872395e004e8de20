/* SPDX-License-Identifier: ISC */
#include "lua_box.h"

#include <lauxlib.h>
#include <lua.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/*
 * One instruction may take milliseconds (a comparison of two long texts), so
 * time is looked at often too.
 */
#define LOOK_EVERY 100
#define FAILURES_MAX 8u		/* each costs a full collection */
#define ERROR "idem error"	/* in the registry */

struct idem_lua_box *
idem_lua_box_of(lua_State *L)
{
	void *box;

	lua_getallocf(L, &box);
	return box;
}

/* --- limits --------------------------------------------------------------- */

static int64_t
processor_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void look(lua_State *, lua_Debug *);

/* The next instruction says where it is, and each new line. */
static void
note_lines(struct idem_lua_box *box)
{
	box->lines = true;
	lua_sethook(box->L, look, LUA_MASKCOUNT | LUA_MASKLINE, 1);
}

static bool
must_note(const struct idem_lua_box *box)
{
	return box->limits->lines_from > 0 &&
	    box->used > box->limits->lines_from;
}

static void *
limited(void *arg, void *old, size_t old_size, size_t size)
{
	struct idem_lua_box *box = arg;
	void *new;

	if (old == NULL)
		old_size = 0;	/* it is a type's number */
	if (size == 0) {
		free(old);
		box->used -= old_size;
		return NULL;
	}
	if (size > old_size &&
	    size - old_size > box->limits->memory - box->used) {
		box->failures++;
		return NULL;
	}
	new = realloc(old, size);
	if (new != NULL)
		box->used += size - old_size;
	if (!box->lines && box->L != NULL && must_note(box))
		note_lines(box);
	return new;
}

/* --- places --------------------------------------------------------------- */

static bool
is_ours(const lua_Debug *ar)
{
	return ar->currentline > 0 && ar->short_src[0] == '?' &&
	    ar->short_src[1] >= 'a' && ar->short_src[2] == '\0';
}

struct idem_lua_place
idem_lua_box_here(lua_State *L)
{
	struct idem_lua_place place = { -1, 0 };
	lua_Debug ar;
	int level;

	for (level = 0; lua_getstack(L, level, &ar) == 1; level++) {
		lua_getinfo(L, "lS", &ar);
		if (is_ours(&ar)) {
			place.source = ar.short_src[1] - 'a';
			place.line = ar.currentline;
			break;
		}
	}
	return place;
}

static void
push_place(lua_State *L, struct idem_lua_place place)
{
	if (place.source >= 0)
		lua_pushfstring(L, "?%c:%d: ", 'a' + place.source, place.line);
	else
		lua_pushliteral(L, "");
}

/* What is behind "?a:12: "; NULL: it does not begin so. */
static const char *
behind_place(const char *why)
{
	const char *at;

	if (why[0] != '?' || why[1] < 'a' ||
	    why[1] >= 'a' + IDEM_LUA_SOURCES || why[2] != ':')
		return NULL;
	at = why + 3 + strspn(why + 3, "0123456789");
	return at > why + 3 && at[0] == ':' && at[1] == ' ' ? at + 2 : NULL;
}

/* --- the hook ------------------------------------------------------------- */

/* Which limit is passed; NULL: none. */
static const char *
over(const struct idem_lua_box *box)
{
	if (box->left <= 0)
		return "it runs too long: over its number of instructions; is "
		    "there a loop without an end?";
	if (box->failures > FAILURES_MAX)
		return box->no_room;
	if (processor_ns() > box->until_ns)
		return "it runs too long: over its time; is there a loop "
		    "without an end?";
	return NULL;
}

static void
count(struct idem_lua_box *box, lua_State *L)
{
	int every = lua_gethookcount(L);

	if (every != LOOK_EVERY && box->stopped == NULL)
		lua_sethook(L, look, lua_gethookmask(L), LOOK_EVERY);
	box->left -= every;
	if (box->stopped == NULL)
		box->stopped = over(box);
}

/*
 * Once it is over its limits it is stopped at its every instruction, however
 * often it catches the error.  Lines are noted for an error that cannot look
 * for its own: that there is no memory.
 */
static void
look(lua_State *L, lua_Debug *ar)
{
	struct idem_lua_box *box = idem_lua_box_of(L);

	lua_getinfo(L, "lS", ar);
	if (is_ours(ar)) {
		box->place.source = ar->short_src[1] - 'a';
		box->place.line = ar->currentline;
	}
	if (ar->event == LUA_HOOKCOUNT)
		count(box, L);
	if (box->stopped == NULL)
		return;
	lua_sethook(L, look, LUA_MASKCOUNT, 1);
	push_place(L, idem_lua_box_here(L));
	lua_pushstring(L, box->stopped);
	lua_concat(L, 2);
	lua_error(L);
}

static void
allow(struct idem_lua_box *box, const struct idem_lua_allowance *a)
{
	box->left = a->instructions;
	box->steps = a->steps;
	box->until_ns = processor_ns() + a->ms * INT64_C(1000000);
	box->failures = 0;
	box->stopped = NULL;
	box->lines = false;
	if (must_note(box))
		note_lines(box);
	else
		lua_sethook(box->L, look, LUA_MASKCOUNT, LOOK_EVERY);
}

/* --- what is wrong -------------------------------------------------------- */

void
idem_lua_box_raise(lua_State *L, struct idem_lua_place place)
{
	struct idem_lua_box *box = idem_lua_box_of(L);

	luaL_checkstack(L, 8, NULL);
	push_place(L, place);
	lua_insert(L, -2);
	lua_concat(L, 2);
	if (box->loading && box->wrong[0] == '\0')
		snprintf(box->wrong, sizeof box->wrong, "%s",
		    lua_tostring(L, -1));
	lua_error(L);
	abort();	/* not reached */
}

/* Put the place before an error that lacks it. */
static int
handler(lua_State *L)
{
	const char *why = lua_tostring(L, 1);

	if (why == NULL) {
		lua_pushliteral(L, "an error that is no text was raised");
		lua_replace(L, 1);
		why = lua_tostring(L, 1);
	}
	/* A global that is none is told otherwise: this is a setting. */
	if (strstr(why, "attempt to call a nil value (global ") != NULL) {
		lua_pushliteral(L, "; say name = value");
		lua_concat(L, 2);
		why = lua_tostring(L, 1);
	}
	if (behind_place(why) != NULL)
		return 1;
	push_place(L, idem_lua_box_here(L));
	lua_insert(L, 1);
	lua_concat(L, 2);
	return 1;
}

/*
 * On one line, with the text's path.  A coroutine's error has the place of each
 * resume before its own: the innermost counts.
 */
static void
tell(const struct idem_lua_box *box, const char *why, char *out, size_t size)
{
	const char *behind = behind_place(why), *more;
	size_t i;

	for (; behind != NULL && (more = behind_place(behind)) != NULL;
	    behind = more)
		why = behind;
	if (behind != NULL && box->paths[why[1] - 'a'] != NULL)
		snprintf(out, size, "%s%s", box->paths[why[1] - 'a'], why + 2);
	else
		snprintf(out, size, "%s: %s", box->paths[0], why);
	for (i = 0; i < size && out[i] != '\0'; i++)
		if ((unsigned char)out[i] < ' ' || out[i] == 0x7f)
			out[i] = '?';
}

static void
tell_memory(const struct idem_lua_box *box, char *out, size_t size)
{
	char text[200];

	if (box->limits->lines_from == 0 || box->place.source < 0) {
		tell(box, box->no_room, out, size);
		return;
	}
	snprintf(text, sizeof text, "?%c:%d: %s", 'a' + box->place.source,
	    box->place.line, box->no_room);
	tell(box, text, out, size);
}

bool
idem_lua_box_call(struct idem_lua_box *box,
    const struct idem_lua_allowance *allowance, int args, int results,
    char *why, size_t why_size)
{
	lua_State *L = box->L;
	int answer;

	lua_pushcfunction(L, handler);
	lua_insert(L, 1);
	allow(box, allowance);
	answer = lua_pcall(L, args, results, 1);
	lua_sethook(L, NULL, 0, 0);
	/* The first fault counts, also if the file went on after it. */
	if (box->wrong[0] != '\0')
		tell(box, box->wrong, why, why_size);
	else if (answer == LUA_ERRMEM)
		tell_memory(box, why, why_size);
	else if (answer != LUA_OK)
		tell(box, lua_type(L, -1) == LUA_TSTRING ?
		    lua_tostring(L, -1) : "an error that cannot be told", why,
		    why_size);
	else {
		lua_remove(L, 1);
		return true;
	}
	lua_settop(L, 0);
	return false;
}

/* --- life ----------------------------------------------------------------- */

/* Lua makes this text where a failure could not be caught. */
static int
prepare(lua_State *L)
{
	lua_pushliteral(L, "error in error handling");
	lua_setfield(L, LUA_REGISTRYINDEX, ERROR);
	return 0;
}

int
idem_lua_box_open(struct idem_lua_box *box,
    const struct idem_lua_limits *limits, const char *path)
{
	box->limits = limits;
	box->paths[0] = path;
	box->place.source = -1;
	snprintf(box->no_room, sizeof box->no_room, "it needs more than %zu "
	    "MiB of memory; make its texts and tables smaller",
	    limits->memory >> 20);
	box->L = lua_newstate(limited, box);
	if (box->L == NULL)
		return -1;
	lua_pushcfunction(box->L, prepare);
	if (lua_pcall(box->L, 0, 0, 0) == LUA_OK)
		return 0;
	idem_lua_box_close(box);
	return -1;
}

void
idem_lua_box_close(struct idem_lua_box *box)
{
	if (box->L == NULL)
		return;
	lua_sethook(box->L, NULL, 0, 0);
	lua_close(box->L);
	box->L = NULL;
}
