-- A restart of Redis that leaves nothing in it does not take back what clients
-- have read.
-- Reported: https://github.com/simstudioai/sim/pull/7446
-- A reviewer's word on Redis as the place for idempotency keys: what it was told
-- of completed work is gone with the next restart, and the work is done again.
local sim = require "idemsim"
sim.api(1)
local seen = require "_seen"

local arbiter = sim.param("arbiter", "ledger", { "ledger", "token", "redis" })

return sim.scenario {
  name = "Redis comes back empty after a completion",

  topology = { redis = { a = {} },
               gates = { n = 2, arbiter = arbiter, store = "a",
                         ledger = arbiter == "ledger" and "shared" or nil,
                         config = { lease = "600ms", store_timeout = "150ms",
                                    probe_every = "50ms", local_cache = "none" } } },

  handler = sim.handler { effect = "append", service = sim.const(10) },

  load = {
    sim.script {
      { at = 0,   client = "c1", send = { key = "k" } },
      { at = 600, client = "c1", send = { key = "k" } },
      { at = 650, client = "c2", send = { key = "k" } },
    },
  },

  faults = {
    sim.on(sim.reply("c1", { class = "ok" }),
           sim.store.kill("a"),
           sim.after(100, sim.store.restart("a", { empty = true }))),
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
