-- A store reply arrives after the gate gave up on it: the connection must not be reused.
local sim = require "idemsim"
sim.api(1)
return sim.scenario {
  name = "late store reply must not answer the next request", modes = { "model", "live" },
  topology = { redis = { a = {} }, gates = { n = 1, arbiter = "redis", store = "a",
                                             config = { store_timeout = "50ms" } } },
  handler = sim.handler { effect = "append", service = sim.const(5) },
  load = { sim.script { { at = 0,   client = "c1", send = { key = "k1" } },
                        { at = 100, client = "c2", send = { key = "k2" } } } },
  faults = { sim.on(sim.frame("g1->a", { script = "claim", phase = "reply", nth = 1 }),
                    sim.net.hold("g1->a", { dir = "reply" }),
                    sim.after(80, sim.net.release("g1->a"))) },
  expect = { holds = { "no_cross_talk", "at_most_once", "same_answer" }, eventually = { "resolves" } },
  explore = { exhaustive = { gates = 1, clients = 2, keys = 2, attempts = 1 }, live = { runs = 5 } },
}
