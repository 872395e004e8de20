-- Everybody wants one key at once: it starts once, all others wait for it or are
-- served from what their instance knows, and the store is asked but a few times.
local sim = require "idemsim"
sim.api(1)
local seen = require "_seen"

local arbiter = sim.param("arbiter", "ledger", { "ledger", "token", "redis" })

return sim.scenario {
  name  = "hot key (" .. arbiter .. ")",
  modes = { "model", "live" },

  topology = {
    redis = { a = {} },
    gates = { n = 4, arbiter = arbiter, store = "a", ledger = "shared",
              config = seen.patient { lease = "20s", wait = "10s" } },
  },

  handler = sim.handler { effect = "append", service = sim.const(100), output_bytes = 4000 },

  load = {
    sim.storm { clients = 60, keys = sim.keys { n = 1 }, at = 0, within = 20 },
    sim.storm { clients = 60, keys = sim.keys { n = 1 }, at = 500, within = 20 },
    sim.open  { rate = 30, for_ms = 700, arrivals = "even",
                keys = sim.keys { n = 30, once = true } },
  },

  expect = {
    holds      = { "at_most_once", "mutual_exclusion", "same_answer", "ack_durable",
                   "no_cross_talk", "storm_bounded" },
    bounds     = { handler_runs_per_key = 1, store_ops_per_attempt = 1, innocent_p99_ms = 3000 },
    eventually = { "resolves", "new_keys_succeed" },
    sometimes  = {
      waited = function(h) return h:count { kind = "reply", source = "waited" } > 20 end,
      known_on_the_spot = function(h) return h:count { kind = "reply", source = "local" } > 20 end,
    },
  },

  explore = { exhaustive = { gates = 2, clients = 3, keys = 1, attempts = 1 },
              live = { runs = 2 } },
}
