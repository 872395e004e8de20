-- A failover to a successor that has nothing takes no answer back that a client
-- has read.
-- Reported: https://jepsen.io/analyses/redis-raft-1b3fbf6
-- In development builds of Redis-Raft any failover lost all data that clients had
-- been told was committed; others split in two or answered with stale reads.
local sim = require "idemsim"
sim.api(1)
local seen = require "_seen"

local arbiter = sim.param("arbiter", "ledger", { "ledger", "token", "redis" })

return sim.scenario {
  name = "failover to an empty successor",

  topology = {
    redis = { a = {}, b = { replica_of = "a" } },
    gates = { n = 2, arbiter = arbiter, store = "a",
              ledger = arbiter == "ledger" and "shared" or nil,
              config = { lease = "600ms", store_timeout = "150ms",
                         probe_every = "50ms", local_cache = "none" } },
  },

  handler = sim.handler { effect = "append", service = sim.const(10) },

  load = {
    sim.script {
      { at = 0,   client = "c1", send = { key = "k" } },
      { at = 500, client = "c1", send = { key = "k" } },
      { at = 550, client = "c2", send = { key = "k" } },
    },
  },

  faults = {
    sim.on(sim.at(0), sim.store.lag("b", "freeze")),
    -- the ledger's answer is in the cache only after it was sent
    sim.on(sim.reply("c1", { class = "ok" }),
           sim.after(100, sim.store.failover("a", "b"))),
  },

  expect = {
    by_param = {
      arbiter = {
        ledger = { holds = { "at_most_once", "same_answer", "ack_durable" } },
        token  = { holds   = { "at_most_once", "no_false_definite" },
                   relaxed = { ack_durable = "Redis forgot: the token is void" } },
        redis  = { violates = { "ack_durable", "at_most_once" } },
      },
    },
    eventually = { "resolves" },
    sometimes  = { redis_died = seen.died("a") },
  },

  explore = { exhaustive = { gates = 2, clients = 2, keys = 1, attempts = 2 },
              live = { runs = 2 } },
}
