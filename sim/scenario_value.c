/* SPDX-License-Identifier: ISC */
#include "scenario_lua.h"

#include <lauxlib.h>
#include <lua.h>

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX 65536u		/* of one text of a plan */

/* --- texts ---------------------------------------------------------------- */

const char *
scenario_top_text(const struct scenario_at *at, const char *field)
{
	const char *text;
	size_t len;
	char *copy;

	if (lua_type(at->L, -1) != LUA_TSTRING)
		scenario_not(at, field, "a text in quotes");
	text = lua_tolstring(at->L, -1, &len);
	if (strlen(text) != len || len > TEXT_MAX)
		scenario_wrong(at, field, "a text with a NUL in it, or of "
		    "more than 64 KiB; make it another one");
	copy = scenario_get(at, len + 1);
	memcpy(copy, text, len);
	return copy;
}

const char *
scenario_text(const struct scenario_at *at, const char *field,
    const char *otherwise)
{
	const char *text;

	if (!scenario_has(at, field))
		return otherwise;
	text = scenario_top_text(at, field);
	lua_pop(at->L, 1);
	return text;
}

const char *
scenario_arg_text(const struct scenario_at *at, int argument)
{
	char field[SCENARIO_NTH];

	scenario_nth(field, (size_t)argument);
	return scenario_text(at, field, NULL);
}

int
scenario_one_of(const struct scenario_at *at, const char *field,
    const char *words, int otherwise)
{
	const char *text, *word;
	char near[60];
	size_t n;
	int i;

	if (!scenario_has(at, field))
		return otherwise;
	text = lua_type(at->L, -1) == LUA_TSTRING ? lua_tostring(at->L, -1) :
	    "";
	for (i = 0, word = words; *word != '\0'; i++, word += n +
	    (word[n] == ' ')) {
		n = strcspn(word, " ");
		if (n == strlen(text) && strncmp(word, text, n) == 0) {
			lua_pop(at->L, 1);
			return i;
		}
	}
	if (scenario_near(text, words, near, sizeof near) != NULL)
		scenario_not(at, field, "one of: %s; did you mean \"%s\"?",
		    words, near);
	scenario_not(at, field, "one of: %s", words);
}

bool
scenario_flag(const struct scenario_at *at, const char *field, bool otherwise)
{
	bool flag;

	if (!scenario_has(at, field))
		return otherwise;
	if (!lua_isboolean(at->L, -1))
		scenario_not(at, field, "true or false");
	flag = lua_toboolean(at->L, -1) != 0;
	lua_pop(at->L, 1);
	return flag;
}

/* --- numbers -------------------------------------------------------------- */

int64_t
scenario_whole(const struct scenario_at *at, const char *field, int64_t min,
    int64_t max, int64_t otherwise)
{
	lua_Integer n;
	int whole;

	if (!scenario_has(at, field))
		return otherwise;
	n = lua_type(at->L, -1) == LUA_TNUMBER ?
	    lua_tointegerx(at->L, -1, &whole) : (whole = 0);
	if (whole == 0 || n < min || n > max)
		scenario_not(at, field, "a whole number from %" PRId64 " to %"
		    PRId64, min, max);
	lua_pop(at->L, 1);
	return n;
}

double
scenario_real(const struct scenario_at *at, const char *field, double min,
    double max, double otherwise)
{
	double x;

	if (!scenario_has(at, field))
		return otherwise;
	x = lua_type(at->L, -1) == LUA_TNUMBER ? lua_tonumber(at->L, -1) : NAN;
	if (!(x >= min && x <= max))
		scenario_not(at, field, "a number from %g to %g", min, max);
	lua_pop(at->L, 1);
	return x;
}

static bool
read_time(const char *text, int64_t *ms)
{
	static const struct { const char *unit; int64_t ms; } units[] = {
		{ "ms", 1 }, { "s", 1000 }, { "m", 60000 }, { "h", 3600000 }
	};
	char *end;
	long n;
	size_t i;

	if (!isdigit((unsigned char)*text))
		return false;
	n = strtol(text, &end, 10);
	for (i = 0; i < sizeof units / sizeof *units; i++)
		if (strcmp(end, units[i].unit) == 0 && n <= 1000000000) {
			*ms = n * units[i].ms;
			return true;
		}
	return false;
}

int64_t
scenario_top_ms(const struct scenario_at *at, const char *field)
{
	int64_t ms = -1;
	int whole = 0;

	if (lua_type(at->L, -1) == LUA_TNUMBER)
		ms = lua_tointegerx(at->L, -1, &whole);
	else if (lua_type(at->L, -1) == LUA_TSTRING)
		whole = read_time(lua_tostring(at->L, -1), &ms);
	if (whole == 0)
		scenario_not(at, field, "a time; say milliseconds, as 250, or "
		    "a text with a unit, as \"250ms\" or \"2s\"");
	if (ms < 0 || ms > SCENARIO_MS_MAX)
		scenario_not(at, field, "a time from 0 to %" PRId64 " ms (one "
		    "day)", SCENARIO_MS_MAX);
	return ms;
}

int64_t
scenario_ms(const struct scenario_at *at, const char *field, int64_t otherwise)
{
	int64_t ms;

	if (!scenario_has(at, field))
		return otherwise;
	ms = scenario_top_ms(at, field);
	lua_pop(at->L, 1);
	return ms;
}

/* --- all of a table ------------------------------------------------------- */

static int
pair_by_name(const void *a, const void *b)
{
	return strcmp(((const struct plan_pair *)a)->name,
	    ((const struct plan_pair *)b)->name);
}

void
scenario_sort(struct plan_pair *all, size_t n)
{
	if (n > 0)
		qsort(all, n, sizeof *all, pair_by_name);
}

/* Values are texts; numbers and flags are made some. */
static const char *
as_text(const struct scenario_at *at, const char *field)
{
	const char *text;

	if (lua_isboolean(at->L, -1))
		return lua_toboolean(at->L, -1) ? "true" : "false";
	if (lua_type(at->L, -1) != LUA_TNUMBER)
		return scenario_top_text(at, field);
	lua_pushvalue(at->L, -1);
	lua_tostring(at->L, -1);
	text = scenario_top_text(at, field);
	lua_pop(at->L, 1);
	return text;
}

struct plan_pair *
scenario_pairs(const struct scenario_at *at, size_t *n)
{
	lua_State *L = at->L;
	struct plan_pair *all = NULL, *one;

	*n = 0;
	for (lua_pushnil(L); lua_next(L, at->table) != 0; lua_pop(L, 1)) {
		if (lua_type(L, -2) != LUA_TSTRING)
			scenario_wrong(at, NULL, "a value without a name; say "
			    "name = value");
		one = scenario_more(at, &all, n, sizeof *all);
		one->value = as_text(at, lua_tostring(L, -2));
		lua_pushvalue(L, -2);
		one->name = scenario_top_text(at, NULL);
		lua_pop(L, 1);
	}
	scenario_sort(all, *n);
	return all;
}
