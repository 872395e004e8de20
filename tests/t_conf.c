/* SPDX-License-Identifier: ISC */
#include "conf.h"

#include "tap.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ALARM_S 300	/* what is not stopped would run for ever */

/*
 * Texts that are no configuration: what is said of each.  P stands for a
 * program, so that a row holds one fault only.
 */
#define P " program = cgi {} }"
#define R "route { path = \"/x\", "

static const struct row {
	const char *what, *text;
	const char *says[3];
} rows[] = {
	/* --- of the language --- */
	{ "no Lua", "listen = = 1", { "c:1: ", "near '='" } },
	{ "bytecode", "\033Lua", { "c:1: ", "compiled Lua" } },
	{ "UTF-16", "\xff\xfel", { "c:1: ", "UTF-16", "UTF-8" } },
	{ "an error of its own", "\n\nerror(\"so not\")", { "c:3: so not" } },
	{ "one without a place", "\nerror(\"so not\", 0)", { "c:2: so not" } },
	{ "one that is no text", "error({})", { "c:1: ", "no text" } },
	{ "control characters in one", "error(\"a\\nb\\27c\")",
	  { "c:1: a?b?c" } },
	{ "nothing", "", { "c: no route", "route {" } },
	{ "a loop [idem:D7]", "while true do end",
	  { "c:1: ", "too long" } },
	{ "a loop that catches its end",
	  "while true do pcall(function() while true do end end) end",
	  { "c:1: ", "too long" } },
	{ "endless recursion", "local function f() return f() end f()",
	  { "c:1: ", "too long" } },
	{ "deep recursion", "local function f() return 1 + f() end f()",
	  { "c: ", "64 MiB" } },
	{ "a text that doubles", "local s = \"a\" while true do s = s .. s end",
	  { "c: ", "64 MiB" } },
	{ "memory that is asked for again and again",
	  "local t = {} while true do pcall(function() for i = 1, 1e9 do "
	  "t[i] = {} end end) end", { "c: ", "64 MiB" } },
	{ "a pattern that takes for ever",
	  "string.find(string.rep(\"a\", 1e6), \".-.-.-b\")",
	  { "c:1: ", "pattern", "too long" } },
	{ "a text searched for in another",
	  "string.find(string.rep(\"a\", 1e6), string.rep(\"a\", 5e5) .. \"b\","
	  " 1, true)", { "c:1: ", "too long" } },
	{ "long texts that are sorted",
	  "local s, t = (\"x\"):rep(1 << 24), {}\n"
	  "for i = 1, 100000 do t[i] = s end table.sort(t)",
	  { "c:2: ", "too long to sort" } },
	{ "an error's handler that takes for ever",
	  "xpcall(error, function() while true do end end)",
	  { "c:1: ", "`xpcall`" } },
	{ "a list whose end is nowhere",
	  "local t = {} for i = 60, 0, -1 do t[1 << i] = 1 end "
	  "table.insert(t, 1, 1)", { "c:1: ", "a list of more than" } },
	{ "long comparisons",
	  "local s = (\"x\"):rep(2e7) local t = s .. \"\"\n"
	  "while true do local b = s .. \"\" == t end", { "c:2: ",
	  "too long" } },
	{ "files", "io.open(\"/etc/passwd\")", { "c:1: ", "`io`" } },
	{ "programs", "os.execute(\"true\")", { "c:1: ", "`os`" } },
	{ "modules", "require(\"x\")", { "c:1: ", "`require`" } },
	{ "texts as programs", "load(\"x = 1\")", { "c:1: ", "`load`" } },
	{ "files as programs", "dofile(\"/x\")", { "c:1: ", "`dofile`" } },
	{ "the debugger", "debug.sethook()", { "c:1: ", "`debug`" } },
	{ "metatables", "setmetatable({}, {})", { "c:1: ", "`setmetatable`" } },
	{ "the collector", "collectgarbage(\"stop\")",
	  { "c:1: ", "`collectgarbage`" } },
	{ "all globals", "local x = _G", { "c:1: ", "`_G`" } },
	{ "chance", "math.random()", { "c:1: ", "random" } },
	{ "bytecode of a function", "string.dump(error)", { "c:1: ",
	  "dump" } },
	{ "what a text's metatable once had", "local x = (\"\").dump(error)",
	  { "c:1: ", "dump" } },
	{ "moving nothing for ever", "table.move({}, 1, 1 << 60, 2)",
	  { "c:1: ", "move" } },

	/* --- settings --- */
	{ "a setting misspelt", "lisen = \"/s\"", { "c:1: ", "`lisen`",
	  "did you mean `listen`?" } },
	{ "a setting nobody knows", "colour = 1", { "c:1: ", "`colour`",
	  "local colour" } },
	{ "a word misspelt", "local x = hedaer", { "c:1: ", "`hedaer`",
	  "did you mean `header`?" } },
	{ "a setting twice", "workers = 1\nworkers = 1", { "c:2: ", "`workers`",
	  "twice" } },
	{ "a socket of no kind", "listen = \"http://x\"", { "c:1: listen: ",
	  "http://x", "unix:PATH" } },
	{ "a socket that is no text", "listen = 80", { "c:1: listen: ",
	  "80 is not a text" } },
	{ "a ledger as a text", "ledger = \"sqlite:/x\"", { "c:1: ledger: ",
	  "sqlite {" } },
	{ "a ledger without a path", "ledger = sqlite {}", { "c:1: sqlite: ",
	  "path is missing" } },
	{ "a ledger's unknown field", "ledger = sqlite { file = \"/x\" }",
	  { "c:1: sqlite: ", "`file`" } },
	{ "a value without a name in it", "ledger = sqlite { \"/x\" }",
	  { "c:1: sqlite: ", "no name" } },
	{ "no programs", "programs = 0", { "c:1: programs: ",
	  "from 1 to 1024" } },
	{ "programs as a text", "programs = \"8\"", { "c:1: programs: ",
	  "\"8\" is not a number" } },
	{ "half a worker", "workers = 1.5", { "c:1: workers: ",
	  "from 1 to 64" } },
	{ "a grace without a unit [idem:F6]", "grace = 5", { "c:1: grace: ",
	  "a time with its unit" } },
	{ "yes for true", "stderr_to_front = \"yes\"",
	  { "c:1: stderr_to_front: ", "true or false" } },
	{ "a cache elsewhere", "cache = \"x\"", { "c:1: cache: ",
	  "redis {" } },
	{ "a size without a unit", "local_cache = { size = 1000 }",
	  { "c:1: local_cache: size: ", "64KiB" } },
	{ "a size of thousands", "local_cache = { size = \"1MB\" }",
	  { "c:1: local_cache: size: ", "1MB" } },
	{ "a cache of nothing", "local_cache = { size = \"0B\" }",
	  { "c:1: local_cache: size: ", "not 0" } },
	{ "a reserve without a unit", "reserve = 64", { "c:1: reserve: ",
	  "64 is not a size with its unit" } },
	{ "a reserve that is true", "reserve = true", { "c:1: reserve: ",
	  "a size with its unit" } },
	{ "a reserve of more than any disk", "reserve = \"2000GiB\"",
	  { "c:1: reserve: ", "1048576MiB" } },
	{ "a rest that is no program", "rest = \"/x.cgi\"",
	  { "c:1: rest: ", "cgi" } },
	{ "an error that is caught all the same",
	  "pcall(function() workers = 0 end)\n" R P,
	  { "c:1: workers: " } },

	/* --- routes --- */
	{ "a route of nothing", "route()", { "c:1: route: ", "route { path" } },
	{ "a route of a text", "route \"/x\"", { "c:1: route: " } },
	{ "no path", "route {" P, { "c:1: route: ", "no path" } },
	{ "a path that is none", "route { path = \"x\"," P,
	  { "c:1: route: path: ", "begins with /" } },
	{ "a NUL in a path", "route { path = \"/x\\0\"," P,
	  { "c:1: route: path: ", "NUL" } },
	{ "no program", "route { path = \"/x\" }", { "c:1: route \"/x\": ",
	  "no program" } },
	{ "a field misspelt [idem:D7]", "\n" R "leese = \"1s\"," P,
	  { "c:2: route: ", "`leese`", "did you mean `lease`?" } },
	{ "an exception that is no path", R "except = { \"x\" }," P,
	  { "except: ", "begins with /" } },
	{ "a method in small letters", R "methods = { \"post\" }," P,
	  { "methods: ", "capital" } },
	{ "no method", R "methods = {}," P, { "methods: ", "empty" } },
	{ "a list with a name in it", R "methods = { post = \"POST\" }," P,
	  { "methods: ", "`post`" } },
	{ "a list with a hole", R "methods = { \"A\", [9] = \"C\" }," P,
	  { "methods: ", "hole" } },
	{ "a lease without a unit [idem:F6]", R "lease = \"60\"," P,
	  { "lease: ", "a time with its unit", "at most 15d" } },
	{ "a lease too short", R "lease = \"99ms\"," P,
	  { "lease: ", "less than 100ms" } },
	{ "a measured lease with a field misspelt", R "lease = auto { mn = "
	  "\"1s\" }," P, { "c:1: route \"/x\": auto: ", "`mn`",
	  "did you mean `min`?" } },
	{ "one whose least is more than its most", R "lease = auto { max = "
	  "\"9s\" }," P, { "auto: min is 10000ms and max 9000ms" } },
	{ "the same by its tier", R "tier = \"batch\", lease = auto { max = "
	  "\"5m\" }," P, { "auto: min is 600000ms and max 300000ms" } },
	{ "one that would be too short", R "lease = auto { min = \"50ms\" },"
	  P, { "auto: min: ", "less than 100ms" } },
	{ "a retry without a unit [idem:F6]", R "lease = auto { retry_delay = "
	  "5 }," P, { "auto: retry_delay: ", "a time with its unit" } },
	{ "a lease that is not renewed, for there is none [idem:A5]",
	  R "lease = \"10s\", limit = \"60s\", renew = false," P,
	  { "there is no `renew`" } },
	{ "a tier nobody knows", R "tier = \"slow\"," P, { "tier: ",
	  "\"slow\"", "\"quick\", \"external\", \"batch\"" } },
	{ "a limit of a month", R "limit = \"31d\"," P, { "limit: ", "15d" } },
	{ "a keep that is a number [idem:F6]", R "keep = 24," P, { "keep: ",
	  "a time with its unit", "3650d" } },
	{ "an arbiter nobody knows", R "arbiter = \"mysql\"," P, { "arbiter: ",
	  "\"mysql\"", "\"ledger\"" } },
	{ "a probe of nothing", "\n" R "on_unknown = \"probe\"," P,
	  { "c:2: route \"/x\": on_unknown: ", "probe = \"/path" } },
	{ "a probe of no use", "\n" R "probe = \"/p\"," P, { "c:2: ",
	  "probe: ", "on_unknown = \"probe\" only" } },
	{ "a limit of a probe that is none", R "probe_limit = \"1s\"," P,
	  { "probe_limit: ", "on_unknown = \"probe\" only" } },
	{ "a relative probe", R "on_unknown = \"probe\", probe = \"p\"," P,
	  { "probe: ", "absolute path" } },
	{ "a probe without a unit [idem:F6]", R "on_unknown = \"probe\", probe "
	  "= \"/p\", probe_limit = 10," P, { "probe_limit: ",
	  "a time with its unit" } },
	{ "output that an application cannot leave behind",
	  R "spool = true, program = fastcgi \"unix:/s\" }", { "spool: ",
	  "not with fastcgi" } },
	{ "a spool that may be", R "spool = \"on\"," P, { "spool: ",
	  "true or false" } },
	{ "a signal to an application",
	  R "lost_signal = \"TERM\", program = fastcgi \"unix:/s\" }",
	  { "lost_signal: ", "not with fastcgi" } },
	{ "a signal by its other name", R "lost_signal = \"SIGTERM\"," P,
	  { "lost_signal: \"SIGTERM\"", "\"TERM\"" } },
	{ "a signal that nobody hears", R "lost_signal = \"KILL\"," P,
	  { "lost_signal: \"KILL\"", "\"none\"" } },
	{ "less than a keep that is more", R "keep = \"1h\", keep_min = "
	  "\"61m\"," P, { "keep_min: ", "longer than keep" } },
	{ "content that is forgotten within its window",
	  R "key = content { window = \"1h\" }, scope = { cookies = \"s\" }, "
	  "keep_min = \"1m\"," P, { "keep_min: ", "would run again" } },
	{ "no start at all", R "on_unknown = retry(0)," P, { "on_unknown: ",
	  "from 1 to 1000" } },
	{ "a retry of a text", R "on_unknown = retry(\"3\")," P,
	  { "c:1: retry: ", "retry(3)" } },
	{ "a retry in quotes", R "on_unknown = \"retry\"," P, { "on_unknown: ",
	  "retry(3)" } },
	{ "409 without quotes", R "in_progress = 409," P, { "in_progress: ",
	  "in quotes" } },
	{ "a wait without a unit", R "in_progress = wait \"10\"," P,
	  { "in_progress: ", "a time with its unit" } },
	{ "two waits", R "in_progress = wait \"1s\", wait = \"2s\"," P,
	  { "wait: ", "keep one of them" } },
	{ "a body of a plain number", R "body_max = 100," P, { "body_max: ",
	  "a size with its unit" } },
	{ "too much to be kept", R "kept_max = \"1GiB\"," P, { "kept_max: ",
	  "512MiB" } },
	{ "a status that is none", R "release = { 99 }," P, { "release: ",
	  "200 to 599" } },
	{ "a range backwards", R "release = { { 599, 500 } }," P,
	  { "release: ", "smaller one" } },
	{ "a range of three", R "release = { { 1, 2, 3 } }," P,
	  { "release: ", "two ends" } },
	{ "a field's name with a colon", R "not_replayed = { \"X:\" }," P,
	  { "not_replayed: ", "header field" } },
	{ "an exit status that counts", R "store_exit = 3," P,
	  { "store_exit: ", "\"any\"" } },

	/* --- keys --- */
	{ "a key as a text", R "key = \"Idempotency-Key\"," P,
	  { "key: ", "header {" } },
	{ "no source", R "key = {}," P, { "key: ", "empty" } },
	{ "a header without a name", R "key = header {}," P,
	  { "header: ", "no name" } },
	{ "a header that CGI cannot tell from another [idem:D20]",
	  R "key = header { \"Idempotency_Key\" }," P, { "header: ",
	  "letters, digits and \"-\"" } },
	{ "credentials as a key", R "key = header \"Authorization\"," P,
	  { "header: ", "never a key" } },
	{ "a borrowed header as a key [idem:D8]",
	  R "key = header { \"x-request-id\" }," P, { "header: ", "tracing",
	  "borrowed = true" } },
	{ "the same source twice", R "key = { header \"A-B\", header { \"a-b\" "
	  "} }," P, { "key: ", "twice" } },
	{ "two fields of a form", R "key = { form \"a\", form \"b\" }," P,
	  { "key: ", "more than one field" } },
	{ "two functions", R "key = { function() end, function() end }," P,
	  { "key: ", "more than one function" } },
	{ "a form's field without a name", R "key = form \"\"," P,
	  { "form: ", "1 to 255" } },
	{ "a cookie's name with a semicolon", R "key = cookie \"a;b\"," P,
	  { "cookie: ", "name of a cookie" } },
	{ "a function of Lua's own", R "key = tostring," P,
	  { "key: ", "without its value" } },
	{ "a program as a key", R "key = cgi {}," P, { "key: ", "header {" } },
	{ "a word in a word", R "key = header(query \"x\")," P,
	  { "header: ", "given query" } },
	{ "content without an identity [idem:D11]",
	  R "key = content { window = \"1m\" }," P, { "key: ",
	  "without an identity", "verified" } },
	{ "content whose identity is a header",
	  R "key = content { window = \"1m\" }, scope = { variables = "
	  "\"HTTP_USER\" }," P, { "scope: ", "HTTP_USER", "header" } },
	{ "content without a window", R "key = content {}," P,
	  { "content: ", "window = \"10m\"" } },
	{ "content beside a header", R "key = { content { window = \"1m\" }, "
	  "header \"A\" }, scope = { cookies = \"s\" }," P, { "key: ",
	  "stands alone" } },
	{ "content with a tombstone", R "key = content { window = \"1m\" }, "
	  "scope = { cookies = \"s\" }, tombstone = \"1d\"," P,
	  { "tombstone: ", "not with key = content" } },
	{ "content with a time to keep", R "key = content { window = \"1m\" }, "
	  "scope = { cookies = \"s\" }, keep = \"1d\"," P,
	  { "keep: ", "window" } },
	{ "content without a fingerprint",
	  R "key = content { window = \"1m\" }, scope = { cookies = "
	  "\"s\" }, fingerprint = \"none\"," P,
	  { "fingerprint: ", "all requests one" } },
	{ "a part that no request has", R "fingerprint = { \"colour\" }," P,
	  { "fingerprint: ", "\"colour\"", "\"content-type\"" } },
	{ "an empty fingerprint", R "fingerprint = {}," P, { "fingerprint: ",
	  "say \"none\"" } },
	{ "a user nobody has verified", R "scope = { user = \"any\" }," P,
	  { "scope: user: ", "\"verified\"" } },
	{ "a variable's name with a dash", R "scope = { variables = \"A-B\" },"
	  P, { "scope: variables: ", "variable's name" } },
	{ "a guard of a text", R "guard = \"all\"," P, { "guard: ",
	  "\"none\"" } },
	{ "a guard's unknown field", R "guard = { cookie = \"x\" }," P,
	  { "guard: ", "did you mean `cookies`?" } },

	/* --- programs --- */
	{ "a program as a text", R "program = \"/x\" }", { "program: ",
	  "cgi {" } },
	{ "a relative program", R "program = cgi \"x\" }", { "cgi: ",
	  "absolute path" } },
	{ "a root beside a program",
	  R "program = cgi { \"/x\", root = \"/\" } }",
	  { "cgi: ", "root and allow" } },
	{ "a root that is relative", R "program = cgi { root = \"x\" } }",
	  { "cgi: root: ", "absolute" } },
	{ "a list that allows less than a path",
	  R "program = cgi { allow = { \"x\" } } }", { "cgi: allow: ",
	  "absolute" } },
	{ "everything passed on", R "program = cgi { pass = \"*\" } }",
	  { "cgi: pass: ", "environment = \"fcgiwrap\"" } },
	{ "a variable that is no text", R "program = cgi { set = { X = 1 } } }",
	  { "cgi: set: X: ", "not a text" } },
	{ "a variable without a name", R "program = cgi { set = { \"X\" } } }",
	  { "cgi: set: ", "NAME =" } },
	{ "a variable of ours",
	  R "program = cgi { set = { IDEMPOTENCY_KEY = \"1\" } } }",
	  { "cgi: set: IDEMPOTENCY_KEY: ", "idemd sets it" } },
	{ "an environment of no kind",
	  R "program = cgi { environment = \"all\" } }", { "environment: ",
	  "\"fcgiwrap\"" } },
	{ "no address", R "program = fastcgi {} }", { "fastcgi: ",
	  "addresses" } },
	{ "an address without a port", R "program = fastcgi \"tcp:h\" }",
	  { "fastcgi: ", "its port is not" } },
	{ "a port that is none", R "program = fastcgi \"tcp:h:65536\" }",
	  { "fastcgi: ", "its port is not" } },
	{ "an application's host that has to be asked for",
	  R "program = fastcgi \"tcp:example.org:9000\" }",
	  { "fastcgi: ", "neither numeric nor localhost" } },
	{ "an application's host in half a bracket",
	  R "program = fastcgi \"tcp:[::1:9000\" }",
	  { "fastcgi: ", "in brackets" } },
	{ "an address of another kind", R "program = fastcgi \"http://h/\" }",
	  { "fastcgi: ", "unix:PATH nor tcp:HOST:PORT" } },
	{ "no connections",
	  R "program = fastcgi { \"unix:/s\", connections = 0 } }",
	  { "fastcgi: connections: ", "1 to 65535" } },
	{ "a time to connect without a unit",
	  R "program = fastcgi { \"unix:/s\", connect = 1 } }",
	  { "fastcgi: connect: ", "a time with its unit" } },
};

static void
refuse(const struct row *r)
{
	char error[700] = "";
	struct conf *c = conf_read("c", (struct idem_bytes){ r->text,
	    strlen(r->text) }, error, sizeof error);
	size_t i, missing = 0;

	for (i = 0; i < 3 && r->says[i] != NULL; i++)
		missing += strstr(error, r->says[i]) == NULL;
	if (!ok(c == NULL && missing == 0, "refused, and why: %s", r->what))
		note("%s", c != NULL ? "it was read" : error);
	conf_drop(c);
}

/* A file's name of any length is in front, and the sentence fits. */
static void
check_names(void)
{
	char file[300], error[700], tiny[8];
	struct idem_bytes text = idem_bytes_text("\nworkers = 0");

	memset(file, 'f', sizeof file - 1);
	file[sizeof file - 1] = '\0';
	ok(conf_read(file, text, error, sizeof error) == NULL &&
	    strncmp(error, file, sizeof file - 1) == 0 &&
	    strncmp(error + sizeof file - 1, ":2: workers", 11) == 0,
	    "the file's whole name and the line are in front");
	ok(conf_read("c", text, tiny, sizeof tiny) == NULL &&
	    strcmp(tiny, "c:2: wo") == 0, "a short buffer holds what fits");
}

/* One list, shared by ten thousand routes, is copied ten thousand times. */
static void
check_memory(void)
{
	static const char text[] =
	    "local s, t = (\"/x\"):rep(500), {}\n"
	    "for i = 1, 1000 do t[i] = s end\n"
	    "for i = 1, 10000 do\n"
	    "  route { path = \"/\" .. i, except = t, program = cgi {} }\n"
	    "end\n";
	char error[700];

	ok(conf_read("c", idem_bytes_text(text), error, sizeof error) == NULL &&
	    strstr(error, "too much memory") != NULL,
	    "what routes hold has its limit too");
}

int
main(void)
{
	size_t i;

	alarm(ALARM_S);
	for (i = 0; i < sizeof rows / sizeof *rows; i++)
		refuse(&rows[i]);
	check_names();
	check_memory();
	return done();
}
