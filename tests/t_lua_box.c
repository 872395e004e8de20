/* SPDX-License-Identifier: ISC */
#include "lua_box.h"

#include "tap.h"

#include <lua.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ALARM_S 120		/* what has no end is not waited for */

static const struct idem_lua_limits narrow = {
	.memory = 64u << 20, .list_max = 1000, .text_max = 1u << 20,
	.lines_from = 4u << 20, .what = "a text",
};
static const struct idem_lua_limits plain = {
	.memory = 8u << 20, .list_max = 1000000, .secret = true,
	.what = "a text",
};
static const struct idem_lua_allowance some = {
	.instructions = 10000000, .steps = 1e7, .ms = 20000,
};

/* The first member, as each user has it. */
struct state {
	struct idem_lua_box box;
	const char *text;
	size_t len;
	int source;
	char gave[100];
};

static struct state *
open_state(const struct idem_lua_limits *limits)
{
	struct state *s = calloc(1, sizeof *s);

	if (s == NULL || idem_lua_box_open(&s->box, limits, "one") != 0)
		bail_out("no memory");
	s->box.paths[1] = "other";
	return s;
}

static void
close_state(struct state *s)
{
	idem_lua_box_close(&s->box);
	free(s);
}

/* fault "why": what a user of the box finds wrong. */
static int
fault(lua_State *L)
{
	lua_settop(L, 1);
	idem_lua_box_raise(L, idem_lua_box_here(L));
}

/* work(n): of C, which counts as well. */
static int
work(lua_State *L)
{
	idem_lua_box_of(L)->left -= lua_tointeger(L, 1);
	return 0;
}

static int
run(lua_State *L)
{
	struct state *s = (struct state *)idem_lua_box_of(L);

	idem_lua_text_load(L, s->source, s->text, s->len);
	idem_lua_words(L, "math.log coroutine.create coroutine.resume "
	    "coroutine.wrap coroutine.yield");
	lua_pushcfunction(L, fault);
	lua_setfield(L, -2, "fault");
	lua_pushcfunction(L, work);
	lua_setfield(L, -2, "work");
	lua_setupvalue(L, -2, 1);
	lua_call(L, 0, 1);
	return 1;
}

/* "": it went well. */
static const char *
say(struct state *s, const char *text, size_t len, char *why, size_t size)
{
	const char *gave;

	s->text = text;
	s->len = len;
	why[0] = '\0';
	lua_pushcfunction(s->box.L, run);
	if (idem_lua_box_call(&s->box, &some, 0, 1, why, size)) {
		gave = lua_tostring(s->box.L, -1);
		snprintf(s->gave, sizeof s->gave, "%s", gave != NULL ? gave :
		    "");
		lua_settop(s->box.L, 0);
	}
	return why;
}

/* --- what is refused ------------------------------------------------------ */

#define LOOP "it runs too long: over its number of instructions"
#define ROOM "it needs more than 64 MiB"

static const struct row {
	const char *what, *text, *says;
} rows[] = {
	/* --- what can be done ends --- */
	{ "a loop", "while true do end", "one:1: " LOOP },
	{ "one that catches its end", "while true do pcall(function()\nwhile "
	  "true do end end) end", LOOP },
	{ "one in a coroutine", "\ncoroutine.wrap(function()\nwhile true do "
	  "end end)()", "one:3: " LOOP },
	{ "coroutines without end", "while true do coroutine.wrap(function() "
	  "while true do end end)() end", "one:1: " LOOP },
	{ "coroutines that resume each other", "local function f() "
	  "coroutine.wrap(f)() end f()", "one:1: C stack overflow" },
	{ "work of C", "\nwhile true do work(1000) end", "one:2: " LOOP },
	{ "recursion", "local function f() return f() end f()", LOOP },
	{ "a pattern", "\n(('a'):rep(9999)):find('.-.-.-b')",
	  "one:2: this pattern may take too long on a text of 9999 bytes" },
	{ "patterns one after the other", "local s = ('a'):rep(1000)\nfor i = "
	  "1, 20 do s:find('.-b') end", "one:2: this pattern" },
	{ "a search for a text", "(('a'):rep(1 << 20)):find(('a'):rep(1 << 19)"
	  " .. 'b', 1, true)", "this pattern" },
	{ "a list without end", "local t = {} for i = 60, 0, -1 do t[1 << i] "
	  "= 1 end\ntable.insert(t, 1, 1)", "one:2: a list of more than 1000" },
	{ "long texts that are sorted", "local s, t = ('x'):rep(1 << 20), {}\n"
	  "for i = 1, 999 do t[i] = s end\ntable.sort(t)",
	  "one:3: these texts take too long to sort" },
	{ "what is repeated", "local s = ('x'):rep((1 << 20) + 1)", "one:1: a "
	  "text of more than 1 MiB; make it shorter" },
	{ "what is repeated with something between", "local s = "
	  "(''):rep(1 << 18, 'xxxxx')", "a text of more than 1 MiB" },

	/* --- memory, and where it ended --- */
	{ "a text that doubles", "local s = 'x'\n\nwhile true do s = s .. s "
	  "end", "one:3: " ROOM },
	{ "a text that few instructions make", "\nlocal s = ('x'):rep(1 << 20) "
	  "s = s .. s .. s .. s .. s s = s .. s .. s s = s .. s .. s .. s .. s",
	  "one:2: " ROOM },
	{ "tables", "local t = {}\nwhile true do\nt = { t } end", "one:3: "
	  ROOM },
	{ "memory again and again", "local s = ('x'):rep(1 << 20)\nwhile true "
	  "do pcall(function() local t = {} while true do t[#t + 1] = s .. #t "
	  "end end) end", ROOM },
	{ "deep recursion", "local function f() return 1 + f() end f()",
	  "one:1: " },

	/* --- what is not there --- */
	{ "the handler of an error", "\nxpcall(error, function() while true do "
	  "end end)", "one:2: attempt to call a nil value (global 'xpcall')" },
	{ "files", "io.open('x')", "one:1: attempt to index a nil value" },
	{ "chunks", "load('x')", "one:1: attempt to call a nil value" },
	{ "compiled functions", "string.dump(type)", "one:1: attempt to" },
	{ "compiled ones of a text", "(''):dump()", "one:1: attempt to" },
	{ "metatables", "setmetatable({}, {})", "one:1: attempt to" },
	{ "an order that depends on addresses", "next({})", "one:1: attempt" },
	{ "words that were not asked for", "math.random()", "one:1: attempt" },

	/* --- what is no text --- */
	{ "a compiled chunk", "\033Lua", "one:1: this is compiled Lua, and "
	  "a text is a text" },
	{ "UTF-16 with its mark", "\xff\xfe-", "one:1: this is UTF-16, or no "
	  "text; save it as UTF-8" },
	{ "the other UTF-16", "\xfe\xff-", "one:1: this is UTF-16" },
	{ "a quote of a word processor", "\nx = \xe2\x80\x9cx\xe2\x80\x9d",
	  "one:2: unexpected symbol near '<\\226>'; is it a quote or a blank "
	  "of a word processor? Type it anew" },
	{ "a mark alone is none", "\xef\xbb\xbf?", "one:1: unexpected symbol "
	  "near '?'" },

	/* --- how it is told --- */
	{ "no Lua", "local x = {\n1 2 }",
	  "one:2: '}' expected (to close '{' at "
	  "line 1) near '2'; is a comma missing before it?" },
	{ "an error", "\nerror('so\nnot')", "one:2: unfinished" },
	{ "one of two lines", "\nerror('so\\nnot')", "one:2: so?not" },
	{ "one without a place", "\nerror('so not', 0)", "one:2: so not" },
	{ "one that is no text", "\nerror({})", "one:2: an error that is no "
	  "text" },
	{ "one that looks like a place", "error('?z:1: x', 0)",
	  "one:1: ?z:1: x" },
	{ "one of a text that is not there", "error('?f:1: x', 0)",
	  "one: ?f:1: x" },
	{ "one of a coroutine in another", "local w = coroutine.wrap\nw("
	  "function()\nw(function()\nerror 'so not' end)() end)()",
	  "one:4: so not" },
	{ "keys that have no order", "\npairs({ [{}] = 1 })", "one:2: pairs: a "
	  "key that is no text and no number" },
	{ "pairs of what is none", "\npairs('x')", "one:2: pairs: a string is "
	  "no table" },
};

static void
refuse(const struct row *r)
{
	struct state *s = open_state(&narrow);
	char why[300];

	say(s, r->text, strlen(r->text), why, sizeof why);
	if (!ok(why[0] != '\0' && strstr(why, r->says) != NULL,
	    "refused: %s", r->what))
		note("%s", why[0] != '\0' ? why : "it went well");
	close_state(s);
}

/* --- what is not ---------------------------------------------------------- */

static const struct row good[] = {
	{ "keys are in order", "local s = '' for k in pairs { b = 1, a = 2, "
	  "[2] = 3, [1] = 4 } do s = s .. k end return s", "12ab" },
	{ "texts know their functions", "return ('x'):rep(3, '-')", "x-x-x" },
	{ "nothing is repeated often", "return (''):rep(1 << 60) .. '.' .. "
	  "('x'):rep(-1)", "." },
	{ "a list is sorted", "local t = { 'c', 'a', 'b' } table.sort(t) "
	  "return table.concat(t)", "abc" },
	{ "a list is sorted by a function", "local t = { 1, 3, 2 } "
	  "table.sort(t, function(a, b) return a > b end) return "
	  "table.concat(t)", "321" },
	{ "words are added", "return math.log(1)", "0.0" },
	{ "a text is as long as it may be", "return #('x'):rep(1 << 20)",
	  "1048576" },
	{ "a mark of UTF-8 is passed over", "\xef\xbb\xbf" "return 1", "1" },
	{ "lines may end as elsewhere", "local x = 1\r\nreturn [[a\r\nb]]\r\n",
	  "a\nb" },
	{ "an error is caught", "return select(2, pcall(error, 'x'))", "x" },
};

static void
give(const struct row *r)
{
	struct state *s = open_state(&narrow);
	char why[300];

	say(s, r->text, strlen(r->text), why, sizeof why);
	is(why[0] != '\0' ? why : s->gave, r->says, "%s", r->what);
	close_state(s);
}

/* A byte of zero: in UTF-16 without its mark every other is one. */
static void
check_zeroes(void)
{
	static const char little[] = "-\0-\0", big[] = "\0-\0-";
	static const char inside[] = "return '\0'";
	struct state *s = open_state(&narrow);
	char why[300];

	is(say(s, little, sizeof little - 1, why, sizeof why), "one:1: this is "
	    "UTF-16, or no text; save it as UTF-8",
	    "refused: UTF-16 without its mark");
	is(say(s, big, sizeof big - 1, why, sizeof why), "one:1: this is "
	    "UTF-16, or no text; save it as UTF-8",
	    "refused: the other one without");
	is(say(s, inside, sizeof inside - 1, why, sizeof why), "",
	    "a zero in quotes is one");
	is(say(s, NULL, 0, why, sizeof why), "", "nothing is a text");
	close_state(s);
}

/* --- more than one call, and limits --------------------------------------- */

static void
check_calls(void)
{
	static const char loop[] = "while true do end", one[] = "return 1";
	struct state *s = open_state(&narrow);
	char why[300];

	say(s, loop, strlen(loop), why, sizeof why);
	is(say(s, one, strlen(one), why, sizeof why), "", "each call has what "
	    "it may take for itself");
	ok(lua_gettop(s->box.L) == 0, "nothing is left on the stack");
	s->source = 1;
	ok(strncmp(say(s, "\nx()", 4, why, sizeof why), "other:2: ", 9) == 0,
	    "each text has its path");
	say(s, "coroutine.wrap(function() while true do end end)()", 50, why,
	    sizeof why);
	is(say(s, one, strlen(one), why, sizeof why), "", "nor does the end of "
	    "a coroutine last");
	close_state(s);
}

/* What is wrong in loading is not forgotten; later it is an error as others. */
static void
check_faults(void)
{
	static const char text[] = "\npcall(fault, 'so not')\nfault 'nor so'";
	struct state *s = open_state(&narrow);
	char why[300];

	is(say(s, text, strlen(text), why, sizeof why), "one:3: nor so",
	    "a fault that is caught is none");
	s->box.loading = true;
	is(say(s, text, strlen(text), why, sizeof why), "one:2: so not",
	    "but while the text is loaded, where the first one counts");
	close_state(s);
}

static void
check_limits(void)
{
	static const char grows[] = "local t = {} while true do t = { t } end";
	static const char secret[] = "x = { 1 's3cret' }";
	struct state *s = open_state(&plain);
	char why[300], tiny[8];

	is(say(s, grows, strlen(grows), why, sizeof why), "one: it needs more "
	    "than 8 MiB of memory; make its texts and tables smaller",
	    "memory has the limit that is said, and no line if none is to "
	    "be known");
	is(say(s, secret, strlen(secret), why, sizeof why), "one:1: '}' "
	    "expected near a text; is a comma missing before it?",
	    "an error shows no text that may be a secret");
	is(say(s, secret, strlen(secret), tiny, sizeof tiny), "one:1: ",
	    "a short buffer holds what fits");
	close_state(s);
	s = open_state(&narrow);
	ok(strstr(say(s, secret, strlen(secret), why, sizeof why), "s3cret") !=
	    NULL, "one that is none is shown");
	close_state(s);
}

/* Time ends what few instructions take long for. */
static void
check_time(void)
{
	static const struct idem_lua_allowance brief = {
		.instructions = INT64_C(1) << 40, .steps = 1e18, .ms = 50,
	};
	static const char text[] = "local s = ('x'):rep(1 << 20)\nwhile true "
	    "do local t = s:upper() end";
	struct state *s = open_state(&narrow);
	char why[300] = "";

	s->text = text;
	s->len = strlen(text);
	lua_pushcfunction(s->box.L, run);
	ok(!idem_lua_box_call(&s->box, &brief, 0, 1, why, sizeof why) &&
	    strstr(why, "one:2: it runs too long: over its time") != NULL,
	    "what takes long ends in time");
	note("%s", why);
	close_state(s);
}

static void
check_none(void)
{
	static const struct idem_lua_limits tiny = { .memory = 100,
		.what = "" };
	struct idem_lua_box box = { .L = NULL };

	ok(idem_lua_box_open(&box, &tiny, "x") == -1 && box.L == NULL,
	    "a box without room is none");
	idem_lua_box_close(&box);
}

int
main(void)
{
	size_t i;

	alarm(ALARM_S);
	for (i = 0; i < sizeof rows / sizeof *rows; i++)
		refuse(&rows[i]);
	for (i = 0; i < sizeof good / sizeof *good; i++)
		give(&good[i]);
	check_zeroes();
	check_calls();
	check_faults();
	check_limits();
	check_time();
	check_none();
	return done();
}
