-- When a stall of the store is over the load that came of it is, too: clients that
-- try again at once do not keep it up.
-- Reported: https://developer.squareup.com/blog/incident-summary-2017-03-16
-- A service tried a failing Redis transaction again, up to 500 times and without a
-- pause.  The retries kept Redis, and with it the log-in of all customers, down
-- for two hours after what had begun it was over.
local sim = require "idemsim"
sim.api(1)
local seen = require "_seen"

-- It answers late, or at once, with an error: only then is there nothing that a try waits
-- for but its own pauses.
local how = sim.param("store", "stalls", { "stalls", "errs" })

local retry = sim.retry { max = 500, timeout = sim.const(100), backoff = "none",
                          key = "reuse",
                          on = { "timeout", "reset", "busy", "unavailable" } }

return sim.scenario {
  name = "the store " .. how .. " for 700 ms, and retries without a pause",

  topology = { redis = { a = {} },
               gates = { n = 2, arbiter = "redis", store = "a",
                         config = { lease = "2s", store_timeout = "100ms",
                                    budget = "150ms", probe_every = "100ms",
                                    wait = "250ms" } } },

  handler = sim.handler { effect = "append", service = sim.const(15) },

  load = {
    sim.closed { clients = 12, keys = sim.keys { n = 240, once = true },
                 requests_per_client = 20, think = sim.uniform(40, 100),
                 retry = retry },
  },

  faults = how == "stalls" and {
    sim.on(sim.at(400), sim.store.slow("a", 700),
           sim.after(700, sim.store.slow("a", 0))),
  } or {
    sim.on(sim.at(400), sim.store.error("a", "BUSY"),
           sim.after(700, sim.net.heal("*->a"))),
  },

  heal = { at = 1150, quiet = 3000 },

  expect = {
    holds      = { "at_most_once", "storm_bounded", "no_false_definite" },
    bounds     = { handler_runs_per_key = 1, store_ops_per_attempt = 4,
                   goodput_recovers_within_ms = 700 },
    eventually = { "resolves", "new_keys_succeed" },
    sometimes  = { it_did = how == "stalls" and seen.unanswered or seen.error("BUSY") },
  },

  explore = { exhaustive = { gates = 2, clients = 2, keys = 1, attempts = 2 },
              live = { runs = 2, wall_s = 40 } },
}
