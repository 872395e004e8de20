-- A POST that the front sends to the next instance, because the first one died
-- with it, does not run again.
-- Reported: https://github.com/alibaba/tengine/issues/950
-- A FastCGI backend reset the connection after it had taken a POST; the front
-- passed the request to the next server, and its log shows both.
local sim = require "idemsim"
sim.api(1)

local arbiter = sim.param("arbiter", "ledger", { "ledger", "token", "redis" })

return sim.scenario {
  name  = "a POST is resent to the next instance (" .. arbiter .. ")",
  modes = { "model", "live" },

  topology = {
    redis = { a = {} },
    gates = { n = 2, arbiter = arbiter, store = "a", ledger = "shared",
              config = { lease = "600ms", wait = "50ms", on_unknown = "block" } },
  },

  handler = sim.handler { effect = "append", service = sim.const(20) },

  load = {
    -- after a reset the client is the front: at once, and to the other one
    sim.closed { clients = 1, keys = sim.keys { n = 1 }, requests_per_client = 1,
                 retry = sim.retry { max = 3, timeout = sim.const(1000), backoff = "none",
                                     key = "reuse", on = { "reset", "unavailable" } } },
  },

  faults = {
    sim.on(sim.label("g1", "effect.after"), sim.proc.kill("g1")),
  },

  expect = {
    holds      = { "at_most_once", "no_false_definite", "unknown_honest" },
    eventually = { "resolves" },
    sometimes  = {
      asked_at_both = function(h)
        return h:count { kind = "inv", client = "c1", to = "g2" } > 0
      end,
    },
  },

  explore = { exhaustive = { gates = 2, clients = 1, keys = 1, attempts = 2 },
              live = { runs = 2 } },
}
