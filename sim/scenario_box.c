/* SPDX-License-Identifier: ISC */
#include "scenario_lua.h"

#include <lauxlib.h>
#include <lua.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/*
 * One instruction may take milliseconds (a comparison of two long texts), so
 * time is looked at often too.
 */
#define LOOK_EVERY 100
#define LINES_FROM (4u << 20)	/* bytes in use: then each line is noted */
#define FAILURES_MAX 8u		/* each costs a full collection */
#define MATCHING 1e9		/* steps of patterns, a call */
#define CALL_NS (10 * INT64_C(1000000000))
#define TEXT 700
#define NO_ROOM \
	"it needs more than 64 MiB of memory; make its texts and tables smaller"

struct scenario *
scenario_of(lua_State *L)
{
	void *s;

	lua_getallocf(L, &s);
	return s;
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

static void *
limited(void *arg, void *old, size_t old_size, size_t size)
{
	struct scenario *s = arg;
	void *new;

	if (old == NULL)
		old_size = 0;	/* it is a type's number */
	if (size == 0) {
		free(old);
		s->used -= old_size;
		return NULL;
	}
	if (size > old_size && size - old_size > SCENARIO_MEMORY - s->used) {
		s->failures++;
		return NULL;
	}
	new = realloc(old, size);
	if (new != NULL)
		s->used += size - old_size;
	if (s->used > LINES_FROM && !s->lines && s->L != NULL) {
		s->lines = true;
		lua_sethook(s->L, look, LUA_MASKCOUNT | LUA_MASKLINE,
		    LOOK_EVERY);
	}
	return new;
}

/* Chunks of ours are called "?a", "?b", ... by their source. */
static bool
is_ours(const lua_Debug *ar)
{
	return ar->currentline > 0 && ar->short_src[0] == '?' &&
	    ar->short_src[1] >= 'a' && ar->short_src[2] == '\0';
}

struct scenario_place
scenario_here(lua_State *L)
{
	struct scenario_place place = { -1, 0 };
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
push_place(lua_State *L, struct scenario_place place)
{
	if (place.source >= 0)
		lua_pushfstring(L, "?%c:%d: ", 'a' + place.source, place.line);
	else
		lua_pushliteral(L, "");
}

/* Which limit is passed; NULL: none. */
static const char *
over(const struct scenario *s)
{
	if (s->left <= 0)
		return "it runs too long: over its 50,000,000 steps; is there "
		    "a loop without an end?";
	if (s->failures > FAILURES_MAX)
		return NO_ROOM;
	if (processor_ns() > s->until_ns)
		return "it runs too long: over 10 s; is there a loop without "
		    "an end?";
	return NULL;
}

/*
 * Once it is over its limits it is stopped at its every instruction, however
 * often it catches the error.  Lines are noted for an error that cannot look
 * for its own: that there is no memory.  That is slow, so only where it may
 * come.
 */
static void
look(lua_State *L, lua_Debug *ar)
{
	struct scenario *s = scenario_of(L);

	lua_getinfo(L, "lS", ar);
	if (is_ours(ar)) {
		s->place.source = ar->short_src[1] - 'a';
		s->place.line = ar->currentline;
	}
	if (ar->event == LUA_HOOKCOUNT) {
		s->left -= LOOK_EVERY;
		if (s->stopped == NULL)
			s->stopped = over(s);
	}
	if (s->stopped == NULL)
		return;
	lua_sethook(L, look, LUA_MASKCOUNT, 1);
	push_place(L, scenario_here(L));
	lua_pushstring(L, s->stopped);
	lua_concat(L, 2);
	lua_error(L);
}

static void
allow(struct scenario *s)
{
	s->left = SCENARIO_STEPS;
	s->steps = MATCHING;
	s->until_ns = processor_ns() + CALL_NS;
	s->failures = 0;
	s->stopped = NULL;
	s->lines = s->used > LINES_FROM;
	lua_sethook(s->L, look, s->lines ? LUA_MASKCOUNT | LUA_MASKLINE :
	    LUA_MASKCOUNT, LOOK_EVERY);
}

/* --- what is wrong -------------------------------------------------------- */

/*
 * What is said wrong is not forgotten because the file itself has caught the
 * error.
 */
void
scenario_raise(lua_State *L, struct scenario_place place, const char *format,
    ...)
{
	struct scenario *s = scenario_of(L);
	char text[TEXT];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	luaL_checkstack(L, 8, NULL);
	push_place(L, place);
	lua_pushstring(L, text);
	lua_concat(L, 2);
	if (s->loading && s->wrong[0] == '\0')
		snprintf(s->wrong, sizeof s->wrong, "%s", lua_tostring(L, -1));
	lua_error(L);
	abort();	/* not reached */
}

/* Put file and line before an error that lacks them. */
static int
handler(lua_State *L)
{
	const char *why = lua_tostring(L, 1);

	if (why == NULL) {
		lua_pushliteral(L, "an error that is no text was raised");
		lua_replace(L, 1);
		why = lua_tostring(L, 1);
	}
	if (why[0] == '?' && why[1] >= 'a' && why[2] == ':')
		return 1;
	push_place(L, scenario_here(L));
	lua_insert(L, 1);
	lua_concat(L, 2);
	return 1;
}

/* "?a:12: ..." with the file's path; on one line. */
static void
tell(const struct scenario *s, const char *why, char *wrong, size_t size)
{
	size_t i;
	int source = why[0] == '?' ? why[1] - 'a' : -1;

	if (source >= 0 && source < s->sources_n && why[2] == ':')
		snprintf(wrong, size, "%s%s", s->sources[source].path, why + 2);
	else
		snprintf(wrong, size, "%s: %s", s->file, why);
	for (i = 0; i < size && wrong[i] != '\0'; i++)
		if ((unsigned char)wrong[i] < ' ' || wrong[i] == 0x7f)
			wrong[i] = ' ';
}

static void
tell_memory(const struct scenario *s, char *wrong, size_t size)
{
	char text[200];

	snprintf(text, sizeof text, "?%c:%d: " NO_ROOM,
	    s->place.source >= 0 ? 'a' + s->place.source : '?',
	    s->place.line);
	tell(s, s->place.source >= 0 ? text : text + 6, wrong, size);
}

bool
scenario_call(struct scenario *s, int args, int results, char *wrong,
    size_t wrong_size)
{
	lua_State *L = s->L;
	int answer;

	lua_pushcfunction(L, handler);
	lua_insert(L, 1);
	allow(s);
	answer = lua_pcall(L, args, results, 1);
	lua_sethook(L, NULL, 0, 0);
	/* The first fault counts, also if the file went on after it. */
	if (s->wrong[0] != '\0')
		tell(s, s->wrong, wrong, wrong_size);
	else if (answer == LUA_ERRMEM)
		tell_memory(s, wrong, wrong_size);
	else if (answer != LUA_OK)
		tell(s, lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) :
		    "an error that cannot be told", wrong, wrong_size);
	else {
		lua_remove(L, 1);
		return true;
	}
	lua_settop(L, 0);
	return false;
}

/* --- life ----------------------------------------------------------------- */

static int
set_up(lua_State *L)
{
	scenario_sandbox(L);
	scenario_history_open(L);
	return 0;
}

int
scenario_box_open(struct scenario *s)
{
	s->place.source = -1;
	s->L = lua_newstate(limited, s);
	if (s->L == NULL)
		return -1;
	lua_pushcfunction(s->L, set_up);
	return lua_pcall(s->L, 0, 0, 0) == LUA_OK ? 0 : -1;
}

void
scenario_box_close(struct scenario *s)
{
	if (s->L == NULL)
		return;
	lua_sethook(s->L, NULL, 0, 0);
	lua_close(s->L);
	s->L = NULL;
}
