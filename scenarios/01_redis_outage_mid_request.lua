-- Redis goes away between "claim" and "complete", stays away longer than every
-- client timeout, then comes back EMPTY (no persistence) or INTACT.
local sim = require "idemsim"
sim.api(1)

local back = sim.param("redis_returns", "intact", { "intact", "empty" })

return sim.scenario {
  name  = "redis outage mid-request (" .. back .. ")",
  modes = { "model", "live" },

  topology = {
    redis = { a = { persistence = back == "empty" and "none" or "aof_always" } },
    gates = { n = 2, arbiter = "ledger", store = "a", ledger = "shared",
              config = { lease = "3s", store_timeout = "150ms", on_unknown = "block" } },
  },

  handler = sim.handler { effect = "append", service = sim.const(80) },

  load = {
    sim.closed { clients = 3, keys = sim.keys { n = 2 }, requests_per_client = 2,
                 retry = sim.retry { max = 6, timeout = sim.const(400), backoff = "exp",
                                     base = 50, cap = 800, jitter = "full", key = "reuse",
                                     on = { "timeout", "reset", "busy", "unavailable" } } },
  },

  faults = {
    -- the outage starts exactly when some gate holds a claim and its handler has begun
    sim.on(sim.label("*", "program.spawned", { nth = 1 }),
           sim.store.kill("a"),
           sim.after(2000, sim.store.restart("a", { empty = back == "empty" }))),
    -- and, as an explored choice, one store reply anywhere may be lost
    sim.maybe(1, sim.net.drop("*->a", { dir = "reply" })),
  },

  heal = { at = 4000, quiet = 4000 },

  expect = {
    holds      = { "at_most_once", "same_answer", "ack_durable", "no_false_definite",
                   "mutual_exclusion", "no_cross_talk", "ledger_store_agree" },
    eventually = { "resolves", "new_keys_succeed" },
    sometimes  = {
      served_by_ledger   = function(h) return h:count { kind = "reply", source = "ledger" } > 0 end,
    },
  },

  explore = {
    exhaustive = { gates = 2, clients = 2, keys = 1, attempts = 2, max_states = 20e6 },
    random     = { schedules = 200000 },
    live       = { runs = 5, wall_s = 60 },
  },
}
