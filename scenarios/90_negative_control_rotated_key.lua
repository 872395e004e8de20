-- NEGATIVE CONTROL: a client that changes its key after a timeout defeats any gate.
-- The suite passes only if the simulator REPORTS the duplicate.
local sim = require "idemsim"
sim.api(1)
return sim.scenario {
  name = "negative control: key rotated after an unknown outcome", modes = { "model", "live" },
  topology = { redis = { a = {} }, gates = { n = 1, arbiter = "ledger", store = "a", ledger = "shared" } },
  handler = sim.handler { effect = "append", service = sim.const(300), business_id = "order-7" },
  load = { sim.closed { clients = 1, keys = sim.keys { n = 1 }, requests_per_client = 1,
                        retry = sim.retry { max = 2, timeout = sim.const(100), backoff = "const", base = 10,
                                            key = "rotate", on = { "timeout" } } } },
  faults = {},
  -- the gate's own part: each of the keys starts once
  expect = { holds = { "at_most_once" }, violates = { "at_most_once_per_business_id" }, blames = "client" },
  explore = { exhaustive = { gates = 1, clients = 1, keys = 2, attempts = 2 }, live = { runs = 2 } },
}
