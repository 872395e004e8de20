-- However many acknowledged writes a failover loses, a token is run once at
-- most; a key of the client's own only as long as Redis remembers it.
-- Reported: https://github.com/redis/redis/issues/4819
-- A manual failover dropped what the old master had taken last.  The answer there
-- is Redis' own documentation: with asynchronous replication there is always a
-- window for losing acknowledged writes.
local sim = require "idemsim"
sim.api(1)

-- 1: the claim; 2: claim and completion; 3: and the claim of another key.
local lose = sim.param("lose", 1, { 1, 2, 3 })
local last = lose == 1 and sim.label("g1", "claim.ok", { key = "k" }) or
             lose == 2 and sim.label("g1", "complete.ok", { key = "k" }) or
             sim.all { sim.label("g1", "complete.ok", { key = "k" }),
                       sim.label("g1", "claim.ok", { key = "other" }) }

return sim.scenario {
  name = "failover loses the last " .. lose .. " acknowledged writes",

  topology = {
    redis = { a = {}, b = { replica_of = "a" } },
    gates = { n = 2, store = "a",
              arbiter = sim.param("arbiter", "token", { "token", "redis" }),
              config = { lease = "600ms", store_timeout = "150ms",
                         probe_every = "50ms" } },
  },

  handler = sim.handler { effect = "append", service = sim.const(30) },

  load = {
    sim.script {
      { at = 0,   client = "c1", send = { key = "k" } },
      { at = 80,  client = "c1", send = { key = "other" } },
      { at = 450, client = "c2", send = { key = "k" } },
    },
  },

  faults = {
    sim.on(sim.label("g1", "claim.sent", { key = "k" }),
           sim.store.lag("b", "freeze")),
    sim.on(last, sim.store.failover("a", "b", { lose = lose })),
  },

  expect = {
    holds    = { "no_cross_talk" },
    by_param = {
      arbiter = {
        token = { holds = { "at_most_once", "no_false_definite" } },
        redis = { relaxed = { at_most_once = "Redis forgot an acknowledged claim" } },
      },
    },
    eventually = { "resolves" },
    sometimes  = {
      acked_write_vanished = function(h)
        return h:count { kind = "store", note = "lost_ack" } > 0
      end,
    },
  },

  explore = { exhaustive = { gates = 2, clients = 2, keys = 2, attempts = 2 },
              live = { runs = 2 } },
}
