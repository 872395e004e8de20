/* SPDX-License-Identifier: ISC */
#include "mistake.h"
#include "tap.h"

/* What a scenario gets wrong in its plan: who, what, when, and what is to
   hold. */
static const struct mistake rows[] = {
	/* --- topology --- */
	{ "no topology", TOP NAME LOAD EXPECT "}", 3,
	  { "topology: it is missing", "gates = {" } },
	{ "no arbiter", GATES("n = 2"), 7, { "arbiter: it is missing",
	  "\"ledger\", \"token\" or \"redis\"" } },
	{ "an unknown arbiter", GATES("arbiter = 'sqlite'"), 7,
	  { "arbiter: \"sqlite\" is not one of", NULL } },
	{ "an arbiter that is not there", GATES("arbiter = 'redis'"), 7,
	  { "store: it is the arbiter, and is missing", "store = \"a\"" } },
	{ "an unknown store", GATES("arbiter = 'redis', store = 'b'"), 7,
	  { "there is no store \"b\"; there is a", NULL } },
	{ "no ledger said", GATES("n = 2, arbiter = 'ledger'"), 7,
	  { "ledger: whose is it?", "shared" } },
	{ "a gate without a ledger", GATES("n = 2, arbiter = 'ledger', ledger "
	  "= { g1 = 'h' }"), 7, { "g2 has none", "g2 = \"host2\"" } },
	{ "the ledger of a gate that is not there", GATES("n = 2, arbiter = "
	  "'ledger', ledger = { g3 = 'h' }"), 7, { "there is no gate \"g3\"",
	  "g1 to g2" } },
	{ "too many gates", GATES("n = 99, arbiter = 'ledger'"), 7,
	  { "n: 99 is not a whole number from 1 to 16", NULL } },
	{ "another front", GATES("arbiter = 'ledger', front = 'nginx'"), 7,
	  { "\"nginx\" is not one of: lighttpd", NULL } },
	{ "a store of a gate's name", TOP NAME LOAD EXPECT "topology = { redis "
	  "= { g1 = {} }, gates = { arbiter = 'ledger' } } }", 6,
	  { "not a store's name", NULL } },
	{ "its own replica", TOP NAME LOAD EXPECT "topology = { redis "
	  "= { a = { replica_of = 'a' } }, gates = { arbiter = 'ledger' } } }",
	  6, { "its own replica", NULL } },
	{ "memory without a unit", TOP NAME LOAD EXPECT "topology = { redis "
	  "= { a = { maxmemory = '4' } }, gates = { arbiter = 'ledger' } } }",
	  6, { "no unit", "4mb" } },
	{ "another way to make room", TOP NAME LOAD EXPECT "topology = { redis "
	  "= { a = { maxmemory_policy = 'lru' } }, gates = { arbiter = "
	  "'ledger' } } }", 6, { "maxmemory_policy: \"lru\" is not one of",
	  "did you mean \"" } },
	{ "two lines of redis.conf", TOP NAME LOAD EXPECT "topology = { redis "
	  "= { a = { config = { hz = '1\\nport 1' } } }, gates = { arbiter = "
	  "'ledger' } } }", 6, { "hz: a line's end", NULL } },
	{ "a line of redis.conf in its name", TOP NAME LOAD EXPECT "topology = "
	  "{ redis = { a = { config = { ['port 1\\n'] = 'x' } } }, gates = { "
	  "arbiter = 'ledger' } } }", 6, { "no word of redis.conf", NULL } },
	{ "another persistence", TOP NAME LOAD EXPECT "topology = { redis "
	  "= { a = { persistence = 'aof' } }, gates = { arbiter = 'ledger' "
	  "} } }", 6, { "\"aof\" is not one of", "did you mean \"aof_" } },

	/* --- configuration --- */
	{ "an unknown word of idem.conf", CONFIG("leese = '3s'"), 8,
	  { "config: leese: there is no such word", "`lease`" } },
	{ "a time without a unit", CONFIG("lease = 3"), 8,
	  { "lease: 3 has no unit", "\"3ms\" or \"3s\"" } },
	{ "a time in quotes without a unit", CONFIG("lease = '3'"), 8,
	  { "3 has no unit", NULL } },
	{ "a time that is a word", CONFIG("limit = 'long'"), 8,
	  { "\"long\" is not a time", "250ms" } },
	{ "too short a lease", CONFIG("lease = '10ms'"), 8,
	  { "\"10ms\" is not between 100ms", NULL } },
	{ "too long a lease", CONFIG("lease = '16d'"), 8,
	  { "\"16d\" is more than 15d", NULL } },
	{ "a size of a disk's maker", CONFIG("kept_max = '16MB'"), 8,
	  { "\"16MB\" is not a size", "16MiB" } },
	{ "another policy", CONFIG("on_unknown = 'ignore'"), 8,
	  { "\"ignore\" is not one of \"block\", \"retry\"",
	  "retry 3" } },
	{ "a probe without its program", CONFIG("on_unknown = 'probe'"), 8,
	  { "\"probe\" is not one of \"block\", \"retry\"", NULL } },
	{ "more than is kept", CONFIG("keep = '1h', keep_min = '2h'"), 8,
	  { "keep_min: it is not within keep", NULL } },
	{ "one word twice", CONFIG("kept_max = '1KiB', max_kept = '1KiB'"), 8,
	  { "it is kept_max, which is said too", NULL } },
	{ "more than Redis keeps", TOP NAME LOAD EXPECT "topology = { redis = "
	  "{ a = {} }, gates = { arbiter = 'redis', store = 'a', config = {"
	  "\nkept_max = '49MiB' } } } }", 7, { "kept_max: Redis keeps",
	  "48MiB" } },
	{ "too many starts", CONFIG("on_unknown = 'retry 9999'"), 8,
	  { "\"retry 9999\" is not", NULL } },
	{ "an answer that is none", CONFIG("in_progress = '404'"), 8,
	  { "\"404\" is not one of \"wait\", \"409\", \"202\"", "250ms" } },
	{ "a policy of another arbiter", CONFIG("on_outage = 'pass'"), 8,
	  { "on_outage: it is of arbiter = \"redis\" only", NULL } },
	{ "a number that is none", CONFIG("programs = 'many'"), 8,
	  { "\"many\" is not a whole number", NULL } },
	{ "a flag that is none", CONFIG("spool = 'yes'"), 8,
	  { "\"yes\" is neither true nor false", NULL } },
	{ "a renewal that is no third", CONFIG("lease = '600ms', renew_every = "
	  "'100ms'"), 8, { "renewed every 200 ms, a third of it",
	  "leave it out" } },
	{ "a renewal without a lease", CONFIG("renew_every = '100ms'"), 8,
	  { "a third of it", "say lease = \"300ms\"" } },
	{ "what the topology says", CONFIG("workers = 2"), 8,
	  { "workers: it is not said here", "topology.gates.workers" } },
	{ "a store's word without a store", TOP NAME LOAD EXPECT "topology = { "
	  "gates = { arbiter = 'ledger', config = { look = '1ms' } } } }", 6,
	  { "the gates have no store", NULL } },
	{ "a database that is not there", TOP NAME LOAD EXPECT "topology = { "
	  "redis = { a = {} }, gates = { arbiter = 'redis', store = 'a', "
	  "config = { on_outage = 'database' } } } }", 6,
	  { "ledger: on_outage = \"database\" needs one", NULL } },

	/* --- load --- */
	{ "no load", TOP NAME TOPOLOGY EXPECT "}", 3, { "load: it is missing",
	  NULL } },
	{ "an empty load", TOP NAME TOPOLOGY EXPECT "load = {} }", 7,
	  { "load: it is empty", "sim.closed" } },
	{ "a load that is none", TOP NAME TOPOLOGY EXPECT "load = { 7 } }", 7,
	  { "load[1]: 7 is not a load", "sim.storm" } },
	{ "a load in the list's place", TOP NAME TOPOLOGY EXPECT
	  "load = sim.open { rate = 1 } }", 7,
	  { "a sim.open is not a table", NULL } },
	{ "a hole in it", TOP NAME TOPOLOGY EXPECT "load = { nil, sim.open "
	  "{} } }", 7, { "a list with a hole", NULL } },
	{ "no keys", TOP NAME TOPOLOGY EXPECT "load = { sim.closed { clients = "
	  "2 } } }", 7, { "closed: keys: it is missing", "sim.keys" } },
	{ "no clients", TOP NAME TOPOLOGY EXPECT "load = { sim.storm { keys = "
	  "sim.keys { n = 1 } } } }", 7, { "storm: clients: it is missing",
	  NULL } },
	{ "no rate", TOP NAME TOPOLOGY EXPECT "load = { sim.open { for_ms = "
	  "1 } } }", 7, { "rate: it is missing", NULL } },
	{ "half a client", TOP NAME TOPOLOGY EXPECT "load = { sim.closed { "
	  "clients = 2.5 } } }", 7, { "2.5 is not a whole number", NULL } },
	{ "an unknown field of retry", RETRY("backof = 'exp'"), 8,
	  { "retry: backof", "`backoff`" } },
	{ "an unknown backoff", RETRY("backoff = 'linear'"), 8,
	  { "\"linear\" is not one of: none const exp", NULL } },
	{ "a backoff without its pause", RETRY("backoff = 'exp'"), 8,
	  { "its pause is missing", "base = 100" } },
	{ "a pause that nobody makes", RETRY("base = 5"), 8,
	  { "nobody pauses without a backoff", NULL } },
	{ "another reason", RETRY("on = { 'timeouts' }"), 8,
	  { "on[1]: \"timeouts\" is not one of", "\"timeout\"" } },
	{ "no list of reasons", RETRY("on = 'timeout'"), 8,
	  { "on: \"timeout\" is not a table", NULL } },
	{ "bounds the wrong way round", RETRY("timeout = sim.uniform(5, 1)"),
	  8, { "uniform: 5 is more than 1", NULL } },
	{ "a choice among too many", RETRY("max = 2, timeout = sim.choice("
	  "(function() local t = {} for i = 1, 1001 do t[i] = i end return t "
	  "end)())"), 8, { "1001 are too many to choose among", NULL } },
	{ "an empty choice", RETRY("timeout = sim.choice {}"), 8,
	  { "choice: an empty list", NULL } },
	{ "a time for a distribution", RETRY("timeout = sim.keys { n = 1 }"),
	  8, { "a sim.keys is not a time", "sim.const" } },
	{ "a client of another name", TOP NAME TOPOLOGY EXPECT "load = { "
	  "sim.script { { client = 'bob', send = {} } } } }", 7,
	  { "client: \"bob\" is not a client's name", "c1" } },
	{ "a request without its send", TOP NAME TOPOLOGY EXPECT "load = { "
	  "sim.script { { client = 'c1' } } } }", 7,
	  { "send: it is missing", NULL } },
	{ "a request to nobody", TOP NAME TOPOLOGY EXPECT "load = { "
	  "sim.script { { client = 'c1', send = { to = 'g9' } } } } }", 7,
	  { "to: there is no gate \"g9\"", "g1 to g2" } },

	{ "a connection left after its timeout", TOP NAME TOPOLOGY EXPECT
	  "load = { sim.script { { client = 'c1', timeout = 500, give_up = "
	  "500, send = {} } } } }", 7, { "give_up: its timeout comes before",
	  NULL } },
	{ "one left after the usual timeout", TOP NAME TOPOLOGY EXPECT
	  "load = { sim.script { { client = 'c1', give_up = '10s', send = {} "
	  "} } } }", 7, { "give_up: its timeout comes before", NULL } },
	{ "a key of two lines", TOP NAME TOPOLOGY EXPECT "load = { sim.script "
	  "{ { client = 'c1', send = {\nkey = 'a\\nX: b' } } } } }", 8,
	  { "key: a line's end", NULL } },
	{ "a key of two words", TOP NAME TOPOLOGY EXPECT "load = { sim.script "
	  "{ { client = 'c1', send = {\nkey = 'order 7' } } } } }", 8,
	  { "key: \"order 7\" is no name", "\"order-7\"" } },
	{ "a key that stands for none", TOP NAME TOPOLOGY EXPECT "load = { "
	  "sim.script { { client = 'c1', send = { key = '-' } } } } }", 7,
	  { "key: \"-\" is no name", NULL } },
	{ "a key that is too long", TOP NAME TOPOLOGY EXPECT "load = { "
	  "sim.script { { client = 'c1', send = { key = ('k'):rep(65) } } } } "
	  "}", 7, { "key: a name of 65 bytes", "say 64" } },
	{ "a key that is not", TOP NAME TOPOLOGY EXPECT "load = { "
	  "sim.script { { client = 'c1', send = { key = ('k'):rep(64) } } } } "
	  "}", 0, { NULL, NULL } },
	{ "a header of two lines", TOP NAME TOPOLOGY EXPECT "load = { "
	  "sim.script { { client = 'c1', send = { headers = {\nA = 'b\\r' } } "
	  "} } } }", 8, { "A: a line's end", NULL } },
	{ "a header's name that is none", TOP NAME TOPOLOGY EXPECT "load = { "
	  "sim.script { { client = 'c1', send = { headers = { ['A: b'] = 'c' "
	  "} } } } } }", 7, { "\"A: b\" is no name", NULL } },
	{ "a method that is none", TOP NAME TOPOLOGY EXPECT "load = { "
	  "sim.script { { client = 'c1', send = { method = 'PO ST' } } } } }",
	  7, { "method: \"PO ST\" is no name", NULL } },
	{ "a method that is too long", TOP NAME TOPOLOGY EXPECT "load = { "
	  "sim.script { { client = 'c1', send = { method = ('M'):rep(25) } } } "
	  "} }", 7, { "method: 25 bytes", NULL } },
	{ "a token where none are issued", TOP NAME TOPOLOGY EXPECT "load = { "
	  "sim.script { { client = 'c1', send = { key = 'k', from = 'mint' } "
	  "} } } }", 7, { "from: no tokens are issued",
	  "arbiter = \"token\"" } },
	{ "tokens in a load where none are issued", TOP NAME TOPOLOGY EXPECT
	  "load = { sim.storm { clients = 1, keys = sim.keys {\nn = 1, from = "
	  "'form' } } } }", 8, { "from: no tokens are issued", NULL } },
	{ "a key of a client where they are", TOKENS("{ client = 'c1', send = {"
	  "\nkey = 'k', from = 'uuid' } }"), 8, { "what a client makes is no "
	  "key", "\"mint\" or \"form\"" } },
	{ "a source that is none", TOKENS("{ client = 'c1', send = { key = 'k',"
	  " from = 'endpoint' } }"), 7, { "from: \"endpoint\" is not one of",
	  NULL } },
	{ "a source of no key", TOKENS("{ client = 'c1', send = { from = "
	  "'mint' } }"), 7, { "key: it is missing", "key = \"k\"" } },
	{ "two sources of one key", TOKENS("{ client = 'c1', send = { key = 'k'"
	  ", from = 'mint' } },\n{ client = 'c1', send = { key = 'k', from = "
	  "'form' } }"), 7, { "k is from form here, and from mint elsewhere",
	  NULL } },
	{ "a form by another method", TOKENS("{ client = 'c1', send = { key = "
	  "'k', from = 'form', method = 'PUT' } }"), 7, { "method: a form is "
	  "sent with POST", NULL } },
	{ "a form of another type", TOKENS("{ client = 'c1', get = { key = 'k',"
	  " from = 'form' } },\n{ client = 'c1', send = { key = 'k', headers = "
	  "{ ['content-type'] = 'a/b' } } }"), 8, { "headers: a form has a "
	  "Content-Type of its own", NULL } },
	{ "a token that is asked for and sent", TOKENS("{ client = 'c1', get = "
	  "{ key = 'k', from = 'mint' }, send = { key = 'k' } }"), 7,
	  { "send: the token is asked for here", NULL } },
	{ "a token that is asked of nobody", TOKENS("{ client = 'c1', get = { "
	  "key = 'k' } }"), 7, { "from: it says nobody to ask", NULL } },
	{ "a token that is asked for with a body",
	  TOKENS("{ client = 'c1', get "
	  "= { key = 'k', from = 'mint', body = 'x' } }"), 7,
	  { "there is no such field", NULL } },
	{ "a client that goes away from a token", TOKENS("{ client = 'c1', "
	  "give_up = 10, get = { key = 'k', from = 'mint' } }"), 7,
	  { "give_up: who asks for a token waits", NULL } },
	{ "a forged token where there are none", TOP NAME TOPOLOGY EXPECT
	  "load = { sim.script { { client = 'c1', send = { key = 'k', token = "
	  "'forged' } } } } }", 7, { "token: there are none", NULL } },
	{ "a token in another way", TOKENS("{ client = 'c1', send = { key = 'k'"
	  ", token = 'old' } }"), 7, { "token: \"old\" is not one of", NULL } },
	{ "a forged token of none", TOKENS("{ client = 'c1', send = { token = "
	  "'forged' } }"), 7, { "key: it is missing", NULL } },
	{ "a business id with a colon", TOP NAME TOPOLOGY EXPECT "load = { "
	  "sim.script { { client = 'c1', send = { key = 'a:b', from = "
	  "'business' } } } } }", 7, { "key: \"a:b\" cannot be a business id",
	  NULL } },
	{ "a handler's business id with a blank", TOP NAME TOPOLOGY EXPECT
	  "handler = sim.handler { business_id = 'order 7' },\nload = { "
	  "sim.storm { clients = 1, keys = sim.keys { n = 1, from = "
	  "'composite' } } } }", 8,
	  { "from: \"order 7\" cannot be a business id in a key", NULL } },
	{ "a key of two scripts from two places", TOP NAME TOPOLOGY EXPECT
	  "load = { sim.script { { client = 'c1', send = { key = 'k' } } }, "
	  "sim.script { { client = 'c2', send = { key = 'k', from = 'uuid' } "
	  "} } } }", 7, { "load: k is a key of two scripts", NULL } },
	{ "k1 from two places", TOP NAME TOPOLOGY EXPECT "load = { sim.storm { "
	  "clients = 1, keys = sim.keys { n = 1, from = 'uuid' } }, sim.storm {"
	  " clients = 1, keys = sim.keys { n = 2 } } } }", 7,
	  { "load: k1 is a key of two loads", NULL } },
	{ "k2 of a script from another place", TOP NAME TOPOLOGY EXPECT "load ="
	  " { sim.script { { client = 'c1', send = { key = 'k2' } } }, "
	  "sim.storm { clients = 1, keys = sim.keys { n = 2, from = 'uuid' } } "
	  "} }", 7, { "load: k2 is a key of a script", NULL } },
	{ "a token's life where there are none", CONFIG("token_life = '2s'"),
	  8, { "token_life: there are none", NULL } },
	{ "a form of another's program", TOP NAME EXPECT "topology = { redis = "
	  "{ a = {} }, gates = { arbiter = 'token', store = 'a' } }, handler = "
	  "sim.handler { effect = 'external', command = '/bin/true' },\nload = "
	  "{ sim.storm { clients = 1, keys = sim.keys { n = 1, from = 'form' } "
	  "} } }", 6, { "from: the page is idemsim's program's", NULL } },
	{ "keys of one's own that are chosen among", TOP NAME TOPOLOGY EXPECT
	  "load = { sim.storm { clients = 1, keys = sim.keys { once = true, "
	  "zipf = 1 } } } }", 7, { "zipf: each request has a key of its own",
	  NULL } },
	{ "keys of one's own without a number", TOP NAME TOPOLOGY EXPECT
	  "load = { sim.storm { clients = 1, keys = sim.keys { once = true } "
	  "} } }", 0, { NULL, NULL } },
	{ "tries that are not counted", RETRY("on = { 'busy' }"), 7,
	  { "max: it is missing", "max = 3" } },
	{ "tries after nothing", RETRY("max = 2, on = {}"), 8,
	  { "on: after nothing it never tries again", NULL } },
	{ "chance in no pause", RETRY("max = 2, jitter = 'full'"), 8,
	  { "jitter: nobody pauses", "backoff =" } },
	{ "the longest of equal pauses", RETRY("max = 2, backoff = 'const', "
	  "base = 1, cap = 5"), 8, { "cap: no pause grows", "exp" } },
	{ "the longest pause that is asked for", RETRY("max = 2, cap = 5, "
	  "honour_retry_after = true"), 0, { NULL, NULL } },

	/* --- the program --- */
	{ "what an effect is on, too long", HANDLER("business_id = ('o'):rep("
	  "101)"), 8, { "business_id: a name of 101 bytes", NULL } },
	{ "what an external program is not told", HANDLER("effect = "
	  "'external', command = '/bin/true',\nservice = 5"), 9,
	  { "service: an external program does what it does", "leave it out"
	  } },
	{ "a cut behind its end", HANDLER("partial_output = 5000"), 8,
	  { "partial_output: the answer is not so long", "output_bytes" } },
	{ "a cut before it", HANDLER("partial_output = 5000, output_bytes = "
	  "70000"), 0, { NULL, NULL } },
	{ "an unknown effect", HANDLER("effect = 'apend'"), 8,
	  { "\"apend\" is not one of", "\"append\"" } },
	{ "an external program without a path", HANDLER("effect = 'external'"),
	  8, { "command: an external program's path is missing", NULL } },
	{ "an output that is no text", HANDLER("output = function(r) return "
	  "{} end"), 8, { "output: a table is not a text", NULL } },
	{ "an exit status that is none", HANDLER("exit = 300"), 8,
	  { "exit: 300 is not a whole number from 0 to 255", NULL } },
	{ "a crash without its place", HANDLER("crash = 'output'"), 8,
	  { "after how many bytes", "partial_output" } },

	/* --- faults --- */
	{ "an action without a rule", WITH("faults = { sim.proc.kill 'g1' }"),
	  8, { "faults[1]: a sim.proc.kill is not a rule", "sim.on" } },
	{ "a trigger in an action's place", FAULT("sim.at(2)"), 8,
	  { "a sim.at is not an action", NULL } },
	{ "an action in a trigger's place", WHEN("sim.proc.kill 'g1'"), 8,
	  { "a sim.proc.kill is not a trigger", "sim.label" } },
	{ "a gate that is not there", FAULT("sim.proc.kill 'g3'"), 8,
	  { "proc.kill: there is no gate \"g3\"", "g1 to g2" } },
	{ "a part that is not there", FAULT("sim.proc.kill 'g1.worker'"), 8,
	  { "no part of a gate", "g1.keeper" } },
	{ "the start of a part", FAULT("sim.proc.restart 'g1.lobby'"), 8,
	  { "say \"g1\"", NULL } },
	{ "a store that is not there", FAULT("sim.store.kill 'redis'"), 8,
	  { "store.kill: there is no store \"redis\"", "there are a b" } },
	{ "a link that is none", FAULT("sim.net.drop 'g1'"), 8,
	  { "\"g1\" is not a link", "g1->a" } },
	{ "a link of nobody", FAULT("sim.net.drop 'g7->a'"), 8,
	  { "there is no gate \"g7\"", NULL } },
	{ "a replica's link the wrong way", FAULT("sim.net.refuse 'a->b'"), 8,
	  { "b connects to a", "say \"b->a\"" } },
	{ "commands of a replica's link", FAULT("sim.net.hold('b->a', { script "
	  "= 'claim' })"), 8, { "a replica's link has no commands", NULL } },
	{ "the second of a replica's link", FAULT("sim.net.hold('b->a', { nth "
	  "= 2 })"), 8, { "nth: a replica's link has no commands", NULL } },
	{ "a message of a replica's link", FAULT("sim.net.drop 'b->a'"), 8,
	  { "a replica's link has no messages", "sim.net.hold" } },
	{ "a slice of a replica's link", FAULT("sim.net.slice('b->a', 1)"), 8,
	  { "a replica's link has no messages", NULL } },
	{ "a link's unknown field", FAULT("sim.net.drop('g1->a', { direction = "
	  "'reply' })"), 8, { "net.drop: direction", NULL } },
	{ "a way that is none", FAULT("sim.net.drop('g1->a', { dir = "
	  "'replies' })"), 8, { "\"replies\" is not one of", "\"reply\"" } },
	{ "an error that is none", FAULT("sim.net.error('g1->a', 'oom')"), 8,
	  { "\"oom\" is no error's word", "\"OOM\"" } },
	{ "the lag of a master", FAULT("sim.store.lag('a', 'freeze')"), 8,
	  { "a follows nobody", NULL } },
	{ "a lag that is none", FAULT("sim.store.lag('b', 'freez')"), 8,
	  { "\"freez\" is not a time", NULL } },
	{ "a failover to no replica", FAULT("sim.store.failover('b', 'a')"), 8,
	  { "a is no replica of b", NULL } },
	{ "a failover that is to lose nothing", FAULT("sim.store.failover('a', "
	  "'b', { lose = 0 })"), 8, { "store.failover: lose", "1" } },
	{ "a rejoin without a master", FAULT("sim.store.rejoin('a', { as = "
	  "'replica_of' })"), 8, { "of: it is missing", NULL } },
	{ "a restart that is both", FAULT("sim.store.restart('a', { empty = "
	  "true, older = true })"), 8, { "cannot be empty too", NULL } },
	{ "a jump of nothing", FAULT("sim.clock.jump('a', 0)"), 8,
	  { "a jump of 0 ms is none", NULL } },
	{ "a clock of nobody", FAULT("sim.clock.jump('x', 5)"), 8,
	  { "there is no gate \"x\"", NULL } },
	{ "a client that is not there", FAULT("sim.client.abort 'c2'"), 8,
	  { "there is no client \"c2\"", "the last is c1" } },
	{ "an operator's word that is none", FAULT("sim.operator.resolve('k', "
	  "'undone')"), 8, { "\"undone\" is not one of: done not-done forget",
	  NULL } },
	{ "an errno at no label", FAULT("sim.proc.fail('g1', 'EIO')"), 8,
	  { "sim.proc.fail is of a label", NULL } },
	{ "an errno where nothing fails", FAILS("claim.ok", "'g1', 'EIO'"), 8,
	  { "nothing can be told to fail at \"claim.ok\"", "note.write" } },
	{ "an errno of another gate", FAILS("note.write", "'g2', 'EIO'"), 8,
	  { "who comes to the label fails", "sim.proc.fail(\"*\"" } },
	{ "an errno that is none", FAILS("note.write", "'g1', 'ENONE'"), 8,
	  { "is no error's word", NULL } },
	{ "an errno of a part", WITH("faults = { "
	  "sim.on(sim.label('g1', 'program.spawn'), sim.proc.fail("
	  "'g1.keeper', 'EIO')) }"), 8, { "say the gate alone", NULL } },
	{ "one way of a slow replica's link",
	  FAULT("sim.net.delay('b->a', 200, "
	  "{ dir = 'reply' })"), 8, { "of a replica's link all is meant",
	  NULL } },
	{ "a reset of so many of what?", FAULT("sim.net.reset('g1->a', { nth "
	  "= 3 })"), 8, { "of which messages?", "leave them out" } },
	{ "an operation that is none", FAULT("sim.net.drop('g1->a', { script "
	  "= 'clame' })"), 8, { "script: \"clame\" is not one of",
	  "\"claim\"" } },
	{ "an operation of a frame that is none", WHEN("sim.frame('g1->a', { "
	  "script = 'GET' })"), 8, { "script: \"GET\" is not one of",
	  NULL } },
	{ "a script where there is none", TOP NAME LOAD EXPECT "topology = { "
	  "redis = { a = {} }, gates = { arbiter = 'redis', store = 'a', "
	  "config = { scheme = 'setnx' } } },\nfaults = { sim.on(sim.at(1), "
	  "sim.net.drop('g1->a', { script = 'claim' })) } }", 7,
	  { "script: scheme = \"setnx\" has none", "cmd" } },
	{ "a disk without a ledger", TOP NAME LOAD EXPECT "topology = { "
	  "redis = { a = {} }, gates = { n = 2, arbiter = 'redis', store = "
	  "'a', ledger = { g1 = 'x' } } },\nfaults = { sim.on(sim.at(1), "
	  "sim.disk.full 'g2') } }", 7, { "no ledger, no disk", NULL } },
	{ "a link that gates go past", TOP NAME LOAD EXPECT "topology = { "
	  "redis = { a = { sentinel = true } }, gates = { arbiter = 'redis', "
	  "store = 'a' } },\nfaults = { sim.on(sim.at(1), sim.store.slow("
	  "'a', 5)) } }", 7, { "gates find a by sentinels", NULL } },
	{ "frames of a link that gates go past", TOP NAME LOAD EXPECT
	  "topology = { redis = { a = { sentinel = true } }, gates = { "
	  "arbiter = 'redis', store = 'a' } },\nfaults = { sim.on("
	  "sim.frame('g1->a'), sim.store.kill 'a') } }", 7,
	  { "gates find a by sentinels", NULL } },
	{ "sentinels of nobody's store", TOP NAME LOAD EXPECT "topology = { "
	  "redis = { a = { sentinel = true } }, gates = { arbiter = 'ledger' "
	  "} } }", 6, { "a has sentinels", "leave sentinel out" } },
	{ "what was not put by", FAULT("sim.store.restart('a', { older = true "
	  "})"), 8, { "older: nothing was put by", "sim.store.save" } },
	{ "the end of whose pause?", FAULT("sim.proc.pause '*', sim.after(5, "
	  "sim.proc.resume '*')"), 8, { "which one?", "in both places" } },
	{ "the end of the pause of who came to a label", WHEN("sim.label('*', "
	  "'claim.ok'), sim.proc.pause '*', sim.after(5, sim.proc.resume '*')"
	  ), 0, { NULL, NULL } },
	{ "a fault after the end of all",
	  WITH("heal = { at = 100 }, faults = { "
	  "sim.on(sim.at(90), sim.after(20, sim.proc.kill 'g1')) }"), 8,
	  { "110 ms is after heal.at", "heal later" } },
	{ "an end of a fault after it", WITH("heal = { at = 100 }, faults = { "
	  "sim.on(sim.at(90), sim.proc.kill 'g1', sim.after(20, "
	  "sim.proc.restart 'g1')) }"), 0, { NULL, NULL } },
	{ "a window after the end of all", WITH("heal = { at = 100 }, faults = "
	  "{ sim.maybe(1, sim.proc.kill 'g1', { window = { 5, 110 } }) }"),
	  8, { "window: it ends after heal.at", NULL } },
	{ "an unknown label", WHEN("sim.label('g1', 'claim.okay')"), 8,
	  { "there is no label \"claim.okay\"", "\"claim.ok\"" } },
	{ "a label's unknown field", WHEN("sim.label('g1', 'claim.ok', { n = 1 "
	  "})"), 8, { "label: n: there is no such field", "key nth" } },
	{ "a phase that is none", WHEN("sim.frame('g1->a', { phase = 'answer' "
	  "})"), 8, { "\"answer\" is not one of: request reply", NULL } },
	{ "a class that is none", WHEN("sim.reply('c1', { class = 'okay' })"),
	  8, { "\"okay\" is not one of: ok fail busy unknown info", NULL } },
	{ "a client of no answer", WHEN("sim.reply('c9')"), 8,
	  { "there is no client \"c9\"", NULL } },
	{ "nothing to wait for", WHEN("sim.all {}"), 8,
	  { "all: an empty list", NULL } },
	{ "afters in afters without end", TOP "local a = sim.proc.kill 'g1'\n"
	  "for i = 1, 200000 do\na = sim.after(1, a) end\n" NAME TOPOLOGY LOAD
	  EXPECT "faults = { sim.on(sim.at(1), a) } }\n", 5,
	  { "after: one in another, 8 deep", "sum" } },
	{ "triggers in triggers without end", TOP "local t = sim.at(1)\n"
	  "for i = 1, 200000 do\nt = sim.all { t } end\n" NAME TOPOLOGY LOAD
	  EXPECT "faults = { sim.on(t, sim.proc.kill 'g1') } }\n", 5,
	  { "triggers in triggers, 8 deep", NULL } },
	{ "a window with one end", WITH("faults = { sim.maybe(1, "
	  "sim.proc.kill 'g1', { window = { 5 } }) }"), 8,
	  { "a window has two ends", NULL } },
	{ "a window that ends first", WITH("faults = { sim.maybe(1, "
	  "sim.proc.kill 'g1', { window = { 5, 5 } }) }"), 8,
	  { "it ends before it begins", NULL } },
	{ "a heal by chance", WITH("faults = { sim.maybe(1, sim.net.heal "
	  "'g1->a') }"), 8, { "what ends a fault is no choice", NULL } },
	{ "a restart of what lives", WITH("faults = { sim.maybe(1, "
	  "sim.net.drop 'g1->a', { restart_after = 5 }) }"), 8,
	  { "only what was killed is started again", NULL } },

	/* --- expectations --- */
	{ "no expectation", TOP NAME TOPOLOGY LOAD "}", 3,
	  { "expect: it is missing", NULL } },
	{ "an empty one", EXPECTED(""), 7, { "nothing is demanded", NULL } },
	{ "an unknown invariant", EXPECTED("holds = { 'at_most_onc' }"), 7,
	  { "there is no invariant \"at_most_onc\"", "\"at_most_once\"" } },
	{ "an invariant said twice", EXPECTED("holds = { 'resolves' }, "
	  "eventually = { 'resolves' }"), 7, { "\"resolves\" is said twice",
	  NULL } },
	{ "what is no matter of the end", EXPECTED("eventually = { "
	  "'at_most_once' }"), 7, { "put it into holds", NULL } },
	{ "what holds and is relaxed", EXPECTED("holds = { 'resolves' }, "
	  "relaxed = { resolves = 'no' }"), 7,
	  { "it cannot hold and be relaxed", NULL } },
	{ "what holds and is violated", EXPECTED("holds = { 'resolves' }, "
	  "violates = { 'resolves' }"), 7, { "cannot hold and be violated",
	  NULL } },
	{ "no reason", EXPECTED("relaxed = { resolves = '' }"), 7,
	  { "its reason is missing", NULL } },
	{ "an unknown bound", EXPECTED("bounds = { starts = 1 }"), 7,
	  { "bounds: starts", NULL } },
	{ "a bound of a text", EXPECTED("bounds = { queue_depth = 'deep' }"),
	  7, { "\"deep\" is not a whole number", NULL } },
	{ "a bound of an unknown fault", EXPECTED("bounds = { queue_depth = "
	  "sim.fault_count 'lease_expired' }"), 7,
	  { "there is no fault \"lease_expired\"", "\"lease_expiry\"" } },
	{ "a parameter that is not there", EXPECTED("by_param = { x = {} }"),
	  7, { "by_param: x: there is no such parameter", NULL } },
	{ "a value that is not there", TOP "sim.param('p', 1, { 1, 2 }) " NAME
	  TOPOLOGY LOAD "expect = { by_param = { p = { [3] = {} } } } }", 7,
	  { "p has no such value; there are 1 2", NULL } },
	{ "a fault in what is not chosen", TOP "sim.param('p', 1, { 1, 2 }) "
	  NAME TOPOLOGY LOAD "expect = { holds = { 'resolves' }, by_param = { "
	  "p = { [2] = { hold = {} } } } } }", 7,
	  { "hold: there is no such field", "`holds`" } },
	{ "two parameters that say two things", TOP "sim.param('p', 1) "
	  "sim.param('q', 1) " NAME TOPOLOGY LOAD "expect = { by_param = { p = "
	  "{ [1] = { holds = {\n'resolves' } } }, q = { [1] = { relaxed = { "
	  "resolves = 'no' } } } } } }", 8, { "\"resolves\": p says otherwise "
	  "of it", "one of the two" } },
	{ "two parameters that say the same", TOP "sim.param('p', 1) "
	  "sim.param('q', 1) " NAME TOPOLOGY LOAD "expect = { by_param = { p = "
	  "{ [1] = { holds = { 'resolves' } } }, q = { [1] = { holds = { "
	  "'resolves' } }, [2] = { relaxed = { resolves = 'no' } } } } } }", 0,
	  { NULL, NULL } },
	{ "a predicate that is none", EXPECTED("sometimes = { x = true }"), 7,
	  { "x: not a function", NULL } },
	{ "blame without a cause", EXPECTED("holds = { 'resolves' }, blames = "
	  "'client'"), 7, { "blames: nothing is to be violated", NULL } },
	{ "a bound that is over all", EXPECTED("bounds = { queue_depth = "
	  "sim.fault_count 'lease_expiry' - -1 }"), 7, { "arithmetic", NULL } },
	{ "a bound below nothing", EXPECTED("bounds = { queue_depth = "
	  "sim.fault_count 'lease_expiry' + -2 }"), 7,
	  { "queue_depth: its number is not from 0", NULL } },
	{ "a sum that is too large", EXPECTED("bounds = { queue_depth = "
	  "math.maxinteger + (1 + sim.fault_count 'lease_expiry') }"), 7,
	  { "cannot be added to", NULL } },
	{ "someone else to blame", EXPECTED("blames = 'server'"), 7,
	  { "\"server\" is not one of: client", NULL } },
	{ "another count of faults", EXPECTED("fired = 'some'"), 7,
	  { "\"some\" is not one of: all any none", NULL } },
	{ "an invariant of one's own twice", TOP "local function f() end\n"
	  "sim.invariant('x', f) sim.invariant('x', f)\n", 4,
	  { "there is a \"x\" already", NULL } },
};

int
main(void)
{
	mistake_begin();
	mistake_check(rows, sizeof rows / sizeof *rows);
	mistake_end();
	return done();
}
