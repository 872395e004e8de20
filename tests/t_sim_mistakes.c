/* SPDX-License-Identifier: ISC */
#include "mistake.h"
#include "scenario.h"
#include "tap.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a file gets wrong as such: its Lua, its limits, what it returns. */
static const struct mistake rows[] = {
	/* --- Lua's --- */
	{ "a missing comma", TOP "return sim.scenario {\n name = 'x'\n modes = "
	  "{} }", 5, { "'}' expected", "comma" } },
	{ "an end that is missing", TOP "local function f()\n", 4,
	  { "'end' expected", NULL } },
	{ "a comment of another language", "// what\n", 1,
	  { "unexpected symbol", "--" } },
	{ "an error of Lua's", TOP "local x\nreturn x.y.z\n", 4,
	  { "attempt to index a nil value", NULL } },
	{ "an error of the file's own", TOP "error 'enough'\n", 3,
	  { "enough", NULL } },
	{ "an error that is a table", TOP "error {}\n", 3,
	  { "an error that is no text", NULL } },
	{ "a compiled file", "\033Lua", 1, { "this is compiled Lua",
	  "a scenario is a text" } },
	{ "a file that an editor made UTF-16", "\xff\xfer", 1, { "UTF-16",
	  "save it as UTF-8" } },

	/* --- the sandbox --- */
	{ "reading a file", TOP "local f = io.open('/etc/passwd')\n", 3,
	  { "there is no `io`", "reads and writes nothing" } },
	{ "the clock", TOP "local t = os.time()\n", 3,
	  { "there is no `os`", "sim.at(ms)" } },
	{ "printing", TOP "print 'x'\n", 3, { "there is no `print`",
	  "explain" } },
	{ "loading a text", TOP "load 'return 1'\n", 3,
	  { "there is no `load`", "require" } },
	{ "another file by its path", TOP "require '../x'\n", 3,
	  { "not a module's name", "beside the scenario" } },
	{ "a folder's file", TOP "require 'a/b'\n", 3,
	  { "not a module's name", NULL } },
	{ "a module that is not there", TOP "require 'nowhere'\n", 3,
	  { "No such file", "beside the scenario" } },
	{ "a module that requires itself", TOP "require 'itself'\n", 1,
	  { "it requires itself", "itself.lua:1:" } },
	{ "a module that gives nothing", TOP "require 'nothing'\n", 3,
	  { "it returns nothing", "return {" } },
	{ "a module with a fault", TOP "require 'faulty'\n", 2,
	  { "faulty.lua:2: ", "attempt to" } },
	{ "a global", TOP "retry = 1\n", 3, { "`retry` is not local",
	  "say local retry" } },
	{ "a name that is not there", TOP "return scenario {}\n", 3,
	  { "there is no `scenario`", "local" } },
	{ "a name that is nearly there", TOP "return tostrin(1)\n", 3,
	  { "did you mean `tostring`", NULL } },
	{ "a function of a library", TOP "string.dump(print)\n", 3,
	  { "there is no `string.dump`", NULL } },
	{ "a library that is changed", TOP "string.rep = nil\n", 3,
	  { "`string.rep` cannot be changed", NULL } },
	{ "sim that is changed", TOP "sim.at = nil\n", 3,
	  { "`sim.at` cannot be changed", NULL } },
	{ "metatables", TOP "setmetatable({}, {})\n", 3,
	  { "there is no `setmetatable`", "no metatables" } },
	{ "a seed of its own", TOP "math.randomseed(1)\n", 3,
	  { "there is no `math.randomseed`", NULL } },

	/* --- limits --- */
	{ "an endless loop", TOP "while true do end\n", 3,
	  { "it runs too long", "loop without an end" } },
	{ "one within pcall", TOP "while true do pcall(function() while true "
	  "do end end) end\n", 3, { "it runs too long", NULL } },
	{ "one within a coroutine", TOP "local f = coroutine.wrap(function()\n"
	  "while true do end end)\nwhile true do pcall(f) end\n", 0,
	  { "it runs too long", NULL } },
	{ "one without an end by recursion", TOP "local function f() return "
	  "1 + f() end\nf()\n", 3, { "s.lua:3: ", NULL } },
	{ "a text of 1 GB", TOP "local s = ('x'):rep(1 << 30)\n", 3,
	  { "more than 16 MiB", "make it shorter" } },
	{ "a text that grows to it", TOP "local s = 'x'\nwhile true do\ns = s "
	  ".. s end\n", 5, { "more than 64 MiB", "smaller" } },
	{ "a table that grows", TOP "local t = {}\nwhile true do\nt[#t + 1] = "
	  "{} end\n", 5, { "more than 64 MiB", "smaller" } },
	{ "one that catches it", TOP "while true do pcall(function() local s "
	  "= 'x' while true do s = s .. s end end) end\n", 3,
	  { "more than 64 MiB", NULL } },
	{ "a pattern that tries for ever", TOP "local s = ('a'):rep(100000)\n"
	  "s:find('.-.-.-.-b')\n", 4, { "this pattern may take too long",
	  "^" } },
	{ "a list without an end", TOP "table.concat({ [1] = '', [1 << 22] = "
	  "'' }, '', 1, 1 << 40)\n", 3, { "invalid value (nil)", NULL } },
	{ "long texts that are sorted", TOP "local s, t = ('x'):rep(1 << 24), "
	  "{}\nfor i = 1, 100000 do t[i] = s end\ntable.sort(t)\n", 5,
	  { "too long to sort", "shorter" } },
	{ "an error's handler without an end", TOP "xpcall(error, function() "
	  "while true do end end)\n", 3, { "there is no `xpcall` here",
	  "pcall" } },
	{ "a coroutine in another",
	  TOP "local w = coroutine.wrap w(function()\n"
	  "w(function()\nerror 'enough' end)() end)()\n", 5,
	  { "s.lua:5: enough", NULL } },
	{ "memory that few instructions take", TOP "local s = ('x'):rep(1 << "
	  "24) s = s .. s .. s .. s .. s\n", 3, { "more than 64 MiB", NULL } },
	{ "too many test points", TOP "for i = 1, 3 do sim.param('p' .. i, 1, "
	  "{ 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14 }) end\n" GOOD "}",
	  4, { "more than 2000 test points", "fewer" } },

	/* --- what a file is --- */
	{ "an empty file", "", 1, { "the file returns nothing",
	  "return sim.scenario" } },
	{ "a file that returns nothing", TOP "sim.scenario {}\n", 3,
	  { "the file returns nothing", "return sim.scenario" } },
	{ "a file that returns a number", TOP "return 7\n", 3,
	  { "the file returns 7", "return sim.scenario" } },
	{ "a file that returns a load", TOP "return sim.at(7)\n", 3,
	  { "the file returns a sim.at", NULL } },
	{ "no version", "local sim = require 'idemsim'\nsim.at(1)\n", 2,
	  { "sim.api(1) first", NULL } },
	{ "another version", "require('idemsim').api(2)\n", 1,
	  { "version 1", "say sim.api(1)" } },
	{ "an unknown word of sim", TOP "sim.scenrio {}\n", 3,
	  { "there is no `sim.scenrio`", "did you mean `sim.scenario`" } },
	{ "an unknown action", TOP "sim.proc.murder 'g1'\n", 3,
	  { "there is no `sim.proc.murder`", "kill" } },
	{ "a text for a table", TOP "sim.scenario 'x'\n", 3,
	  { "\"x\" is not a table", "say sim.scenario {" } },
	{ "a number for a text", TOP "sim.proc.kill(1)\n", 3,
	  { "1 is not a text in quotes", "say sim.proc.kill(\"g1\")" } },
	{ "an argument too many", TOP "sim.at(1, 2)\n", 3,
	  { "2 arguments are too many", "say sim.at(150)" } },
	{ "an argument too few", TOP "sim.label 'g1'\n", 3,
	  { "nothing is not a text", NULL } },
	{ "an action alone", TOP "sim.on(sim.at(1))\n", 3,
	  { "nothing is not something that sim.* makes", NULL } },
	{ "a sum of what is none", TOP "local x = sim.at(1) + 1\n", 3,
	  { "cannot be added", "fault_count" } },
	{ "a field of what sim made", TOP "local x = sim.at(1).ms\n", 3,
	  { "has no fields", NULL } },

	/* --- sim.scenario --- */
	{ "an unknown field", WITH("heel = {}"), 8,
	  { "sim.scenario: heel: there is no such field", "`heal`" } },
	{ "an unknown field that is near to none", WITH("xyzzy = {}"), 8,
	  { "xyzzy: there is no such field; there are name about", NULL } },
	{ "a value without a name", WITH("'x'"), 3,
	  { "\"x\" has no name", "name = value" } },
	{ "no name", TOP "return sim.scenario { " TOPOLOGY LOAD EXPECT "}", 3,
	  { "name: it is missing", "say name =" } },
	{ "a name of two lines", TOP "return sim.scenario { name = 'x\\ny', "
	  TOPOLOGY LOAD EXPECT "}", 3, { "a line's end", NULL } },
	{ "a name that clears the screen", TOP "return sim.scenario { name = "
	  "'x\\27[2J', " TOPOLOGY LOAD EXPECT "}", 3, { "sign that controls",
	  NULL } },
	{ "an unknown mode", WITH("modes = { 'alive' }"), 8,
	  { "modes[1]: \"alive\" is not one of: model live",
	  "did you mean \"live\"" } },
	{ "a search of a mode that is not wanted", WITH("modes = { 'live' "
	  "},\nexplore = { random = { schedules = 1 } }"), 9,
	  { "random: it is of mode \"model\"", "leave this out" } },
	{ "runs of a mode that is not wanted", WITH("modes = { 'model' "
	  "},\nexplore = { live = { runs = 1 } }"), 9,
	  { "live: it is of mode \"live\"", NULL } },
	{ "a heal of the wrong type", WITH("heal = 4000"), 8,
	  { "heal: 4000 is not a table", NULL } },
	{ "a time that is none", WITH("heal = { at = '4000' }"), 8,
	  { "heal: at: \"4000\" is not a time", "with a unit" } },
	{ "a time before the begin", WITH("heal = { at = -1 }"), 8,
	  { "at: -1 is not a time from 0", NULL } },
	{ "runs without end", WITH("explore = { live = { runs = 0 } }"), 8,
	  { "runs: 0 is not a whole number from 1", NULL } },
	{ "an unknown search", WITH("explore = { exhaustiv = {} }"), 8,
	  { "exhaustiv", "`exhaustive`" } },
	{ "two test points of one name", TOP "local function f(p) " GOOD
	  "} end\nreturn sim.matrix({ 'x', 'x ' }, f)\n", 0,
	  { NULL, NULL } },
	{ "a matrix of equal elements", TOP "return sim.matrix({ 'a', 'a' }, "
	  "function(p) end)\n", 3, { "two elements are called a", NULL } },
	{ "a matrix whose function gives nothing", TOP "return sim.matrix({ "
	  "'a' }, function(p) end)\n", 3, { "gave nothing for a",
	  "return sim.scenario" } },
	{ "a matrix of no list", TOP "return sim.matrix('a', print)\n", 3,
	  { "there is no `print`", NULL } },
	{ "a matrix without a list", TOP "return sim.matrix('a', "
	  "function(p) end)\n", 3, { "say sim.matrix({", NULL } },
	{ "a parameter twice", TOP "sim.param('a', 1) sim.param('a', 2)\n", 3,
	  { "there is a \"a\" already", "local" } },
	{ "a default that is none of its values", TOP "sim.param('a', 1, { 2, "
	  "3 })\n", 3, { "default 1 is none of its values", NULL } },
	{ "a value twice", TOP "sim.param('a', 1, { 1, 1 })\n", 3,
	  { "has 1 twice", NULL } },
	{ "a value that is a table", TOP "sim.param('a', 1, { 1, {} })\n", 3,
	  { "its value 2 is no text, number or boolean", NULL } },
	{ "a parameter without a default", TOP "sim.param('a')\n", 3,
	  { "say sim.param(\"name\", default", NULL } },
};

/* --- choices -------------------------------------------------------------- */

#define CHOICE TOP "local a = sim.param('a', 1, { 1, 2 })\n" \
    "local b = sim.param('b', true)\n" \
    "return sim.matrix({ 'x', 'y' }, function(point)\n" GOOD "} end)\n"

static const struct choice {
	const char *name, *value;
	size_t points;		/* 0: it is told */
	const char *says;
} choices[] = {
	{ "a", "2", 2, NULL }, { "point", "y", 2, NULL },
	{ "b", "false", 4, NULL },
	{ "a", "3", 0, "--param a=3: not one of its values; there are: 1, 2" },
	{ "b", "7", 0, "--param b=7: not one of its values; there are: false, "
	  "true" },
	{ "point", "z", 0, "not one of its values; there are: x, y" },
	{ "c", "1", 0, "--param c=1: it has no such parameter; there are: a, "
	  "b, point" },
};

static void
check_choice(const struct choice *c)
{
	struct scenario_choice choice = { c->name, c->value };
	struct scenario *s;
	char wrong[1000] = "";

	s = scenario_open(mistake_path("s.lua"), &choice, 1, wrong,
	    sizeof wrong);
	if (c->points > 0)
		is_int(s != NULL ? (long long)scenario_points(s) : -1,
		    (long long)c->points, "--param %s=%s leaves %zu test "
		    "points", c->name, c->value, c->points);
	else if (!ok(s == NULL && strstr(wrong, c->says) != NULL,
	    "--param %s=%s is told", c->name, c->value))
		note("%s", wrong);
	scenario_close(s);
}

/* --- files that are none -------------------------------------------------- */

static void
check_file(const char *path, const char *says)
{
	struct scenario *s;
	char wrong[1000] = "";

	s = scenario_open(path, NULL, 0, wrong, sizeof wrong);
	if (!ok(s == NULL && strstr(wrong, says) != NULL, "a scenario that "
	    "cannot be read is told: %s", says))
		note("%s", wrong);
	scenario_close(s);
}

int
main(void)
{
	size_t i;

	mistake_begin();
	mistake_put("itself.lua", "return require 'itself'\n");
	mistake_put("nothing.lua", "");
	mistake_put("faulty.lua", "local x\nreturn x.y\n");
	mistake_check(rows, sizeof rows / sizeof *rows);
	mistake_put("s.lua", CHOICE);
	for (i = 0; i < sizeof choices / sizeof *choices; i++)
		check_choice(&choices[i]);
	unlink(mistake_path("s.lua"));
	check_file(mistake_path("s.lua"), "No such file or directory; say the "
	    "path");
	check_file(mistake_path(""), "Is a directory");
	check_file("/dev/null", "it is a pipe or a device");
	mkfifo(mistake_path("s.lua"), 0600);
	check_file(mistake_path("s.lua"), "it is a pipe or a device");
	mistake_end();
	return done();
}
