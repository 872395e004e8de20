-- Once what slowed it is over the load falls back by itself, though clients never
-- stop retrying.
-- Reported: https://www.usenix.org/conference/osdi22/presentation/huang-lexiang
-- A study of 22 public outages: a short trigger raised the load, retries kept it
-- high for long after the trigger was gone, and only shedding load ended it.
local sim = require "idemsim"
sim.api(1)

-- The arbiter is slow for a while, or the instances themselves stand still.
local trigger = sim.param("trigger", "store", { "store", "instances" })
local slow_store = trigger == "store"

return sim.scenario {
  name  = "a retry storm ends with its trigger (slow " .. trigger .. ")",
  modes = { "model", "live" },

  topology = {
    redis = { a = {} },
    gates = { n = 2, arbiter = slow_store and "redis" or "ledger", store = "a",
              ledger = "shared",
              config = { lease = "2s", wait = "100ms", store_timeout = "50ms",
                         probe_every = "100ms" } },
  },

  handler = sim.handler { effect = "append", service = sim.const(5) },

  load = {
    -- who is told to come back later comes back at once, again and again
    sim.open { rate = 40, for_ms = 1400, arrivals = "even",
               keys = sim.keys { n = 100 },
               retry = sim.retry { max = 100, timeout = sim.const(100), backoff = "const",
                                   base = 5, key = "reuse",
                                   on = { "timeout", "reset", "busy", "unavailable" } } },
  },

  faults = slow_store and {
    sim.on(sim.at(300), sim.store.slow("a", 400),
           sim.after(400, sim.store.slow("a", 0))),
  } or {
    sim.on(sim.at(300), sim.proc.pause("g1"), sim.proc.pause("g2"),
           sim.after(400, sim.proc.resume("g1"), sim.proc.resume("g2"))),
  },

  heal = { at = 750, quiet = 2000 },

  expect = {
    holds      = { "at_most_once", "storm_bounded" },
    bounds     = { handler_runs_per_key = 1, goodput_recovers_within_ms = 250 },
    eventually = { "new_keys_succeed" },
    sometimes  = {
      clients_retried_meanwhile = function(h)
        return h:count { kind = "reply", mark = "not-started" } +
               h:count { kind = "reply", how = "timeout" } > 12
      end,
    },
  },

  explore = { exhaustive = { gates = 2, clients = 2, keys = 1, attempts = 2 },
              live = { runs = 2 } },
}
