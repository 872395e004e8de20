-- While one instance runs a key no other does, also when the primary that
-- acknowledged the claim dies before its replica has heard of it.
-- Reported: https://github.com/opsmill/infrahub/issues/9450
-- Locks lie on one Redis master.  If it fails over while a worker holds one, a
-- second worker gets the same lock from the new master, and both change the
-- schema.
local sim = require "idemsim"
sim.api(1)
local seen = require "_seen"

local arbiter = sim.param("arbiter", "ledger", { "ledger", "token", "redis" })

return sim.scenario {
  name = "the claim of a running key dies with its primary",

  topology = {
    redis = { a = {}, b = { replica_of = "a" } },
    gates = { n = 2, arbiter = arbiter, store = "a",
              ledger = arbiter == "ledger" and "shared" or nil,
              config = { lease = "600ms", store_timeout = "150ms",
                         probe_every = "50ms", wait = "20ms" } },
  },

  handler = sim.handler { effect = "append", service = sim.const(550) },

  load = {
    sim.script {
      { at = 0,   client = "c1", send = { key = "k" } },
      { at = 300, client = "c2", send = { key = "k" } },
    },
  },

  faults = {
    -- under ledger there is no claim in a Redis that could be lost
    sim.on(sim.label("g1", "program.spawned", { key = "k" }),
           sim.store.failover("a", "b", arbiter ~= "ledger" and { lose = 1 } or nil)),
  },

  expect = {
    by_param = {
      arbiter = {
        ledger = { holds = { "mutual_exclusion", "at_most_once" } },
        token  = { holds = { "mutual_exclusion", "at_most_once" } },
        redis  = { violates = { "mutual_exclusion", "at_most_once" } },
      },
    },
    eventually = { "resolves" },
    sometimes  = { redis_died = seen.died("a") },
  },

  explore = { exhaustive = { gates = 2, clients = 2, keys = 1, attempts = 2 },
              live = { runs = 2 } },
}
