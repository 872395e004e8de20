-- When writes are possible again everybody notices by himself, on the connections
-- that he has or on new ones; and until then a key is refused, never run.
-- Reported: https://github.com/StackExchange/StackExchange.Redis/issues/2264
-- (and https://github.com/dragonflydb/dragonfly-operator/issues/278)
-- After a failover clients stayed connected to the node that had been the primary,
-- and got READONLY for each write until they were started anew.
local sim = require "idemsim"
sim.api(1)

-- stays: the node is made primary again; moves: another one takes over, and says
-- READONLY for a while, too.
local node = sim.param("primary", "stays", { "stays", "moves" })

return sim.scenario {
  name = "READONLY to all writes; the primary " .. node,

  topology = {
    redis = { a = {}, b = { replica_of = "a" } },
    gates = { n = 2, store = "a", arbiter = "redis",
              config = { lease = "600ms", store_timeout = "150ms",
                         budget = "150ms", probe_every = "50ms" } },
  },

  handler = sim.handler { effect = "append", service = sim.const(10) },

  load = {
    sim.script {
      { at = 250, client = "c1", send = { key = "k1" } },
      { at = 250, client = "c2", send = { key = "k2" } },
      { at = 800, client = "c1", send = { key = "k1" } },   -- writes are possible
      { at = 900, client = "c2", send = { key = "k1" } },
    },
  },

  faults = node == "stays" and {
    sim.on(sim.at(50), sim.store.error("a", "READONLY")),
  } or {
    sim.on(sim.at(50), sim.store.failover("a", "b"),
           sim.store.error("b", "READONLY")),
  },

  heal = { at = 500, quiet = 1000 },

  expect = {
    holds      = { "no_false_definite", "at_most_once", "ack_durable" },
    eventually = { "new_keys_succeed", "resolves" },
    sometimes  = {
      refused = function(h)
        return h:count { kind = "reply", class = "fail", mark = "not-started" } > 0
      end,
    },
  },

  explore = { exhaustive = { gates = 2, clients = 2, keys = 2, attempts = 1 },
              live = { runs = 2 } },
}
