-- NEGATIVE CONTROL: a client that takes a new token for each retry asks for something
-- new each time.  No gate can help; the simulator must say whose doing it is.
local sim = require "idemsim"
sim.api(1)

return sim.scenario {
  name  = "negative control: a new token for each retry",
  modes = { "model", "live" },

  topology = {
    redis = { a = {} },
    gates = { n = 2, arbiter = "token", store = "a", ledger = "shared",
              config = { lease = "600ms" } },
  },

  handler = sim.handler { effect = "append", service = sim.const(200), business_id = "order-7" },

  load = {
    sim.closed { clients = 1, keys = sim.keys { n = 1 }, requests_per_client = 1,
                 retry = sim.retry { max = 3, timeout = sim.const(80), backoff = "const",
                                     base = 10, key = "rotate", on = { "timeout" } } },
  },

  expect = {
    -- the gate's own part: each of the tokens starts once
    holds    = { "no_cross_talk", "at_most_once" },
    violates = { "at_most_once_per_business_id" },
    blames   = "client",
  },

  explore = { exhaustive = { gates = 2, clients = 1, keys = 2, attempts = 2 },
              live = { runs = 2 } },
}
