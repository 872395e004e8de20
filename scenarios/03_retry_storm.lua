-- 400 clients, 8 hot keys, one slow second of Redis, synchronised retries.
-- Two arms: well-behaved jittered clients and a hostile client that retries at once.
local sim = require "idemsim"
sim.api(1)
local seen = require "_seen"

local arm = sim.param("clients", "hostile", { "jittered", "hostile" })
local retry = arm == "jittered"
  and sim.retry { max = 8, timeout = sim.exp(300, { min = 100, max = 2000 }), backoff = "exp",
                  base = 100, cap = 5000, jitter = "full", key = "reuse",
                  honour_retry_after = true, on = { "timeout", "busy", "unavailable", "reset" } }
  or  sim.retry { max = 30, timeout = sim.const(100), backoff = "none", key = "reuse",
                  honour_retry_after = false, on = { "timeout", "busy", "unavailable", "reset" } }

return sim.scenario {
  name  = "retry storm (" .. arm .. ")",
  modes = { "model", "live" },

  topology = { redis = { a = {} },
               gates = { n = 4, arbiter = "ledger", store = "a", ledger = "shared",
                         config = { lease = "5000ms", wait = "250ms" } } },

  handler = sim.handler { effect = "append", service = sim.uniform(100, 600) },

  load = {
    sim.storm { clients = 400, keys = sim.keys { n = 8 }, at = 200, within = 20, retry = retry },
    sim.open  { rate = 50, for_ms = 6000, arrivals = "poisson",
                keys = sim.keys { n = 300, once = true }, retry = retry },  -- innocent traffic
  },

  faults = {
    sim.on(sim.at(150),  sim.store.slow("a", 700)),
    sim.on(sim.at(1200), sim.store.slow("a", 0)),
    sim.maybe(2, sim.proc.kill("*"), { window = { 200, 1500 }, restart_after = 50 }),
  },

  heal = { at = 3000, quiet = 5000 },

  expect = {
    holds      = { "at_most_once", "same_answer", "ack_durable", "no_false_definite",
                   "mutual_exclusion", "storm_bounded" },
    bounds     = { handler_runs_per_key = 1, store_ops_per_attempt = 3,
                   goodput_recovers_within_ms = 2000,      -- not metastable after the trigger ends
                   innocent_p99_ms = 1500 },
    eventually = { "resolves", "new_keys_succeed" },
    sometimes  = { slow      = seen.unanswered,
                   coalesced = function(h) return h:count { kind = "reply", source = "waited" } > 0 end,
                   replayed  = function(h) return h:count { kind = "reply", source = "replay" } > 100 end },
  },

  -- 400 clients is for random and real; the exhaustive arm is the same plan scaled down
  explore = { exhaustive = { gates = 2, clients = 3, keys = 1, attempts = 2, max_states = 30e6 },
              random = { schedules = 2000 }, live = { runs = 2, wall_s = 40 } },
}
