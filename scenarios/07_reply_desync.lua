-- A store reply arrives after the gate gave up on it: the connection must not be reused.
-- The late one has k1's stored answer, and the next command on that connection, which waits
-- for its own reply, is k2's claim: it is asked once more on another one.
local sim = require "idemsim"
sim.api(1)

-- A command is given up after 400 ms.  k1 is asked for again at 250, which is given up
-- at 650; k2's claim is sent at 450, between the two, and would wait until 850.
local late = 500

return sim.scenario {
  name = "late store reply must not answer the next request", modes = { "model", "live" },
  topology = { redis = { a = {} }, gates = { n = 1, arbiter = "redis", store = "a",
                                             config = { store_timeout = "400ms", budget = "2s", look = "20ms",
                                                        lease = "2s", wait = "20ms",
                                                        probe_every = "50ms",
                                                        local_cache = "none" } } },
  handler = sim.handler { effect = "append", service = sim.const(5) },
  load = { sim.script { { at = 0,   client = "c1", send = { key = "k1" } },
                        { at = 250, client = "c2", send = { key = "k1" } },
                        { at = 450, client = "c3", send = { key = "k2" } },
                        { at = 1200, client = "c4", send = { key = "k2" } } } },
  faults = { sim.on(sim.frame("g1->a", { script = "claim", phase = "reply", nth = 2 }),
                    sim.net.hold("g1->a", { dir = "reply" }),
                    sim.after(late, sim.net.release("g1->a"))) },
  expect = { holds = { "no_cross_talk", "at_most_once", "same_answer", "no_false_definite" },
             eventually = { "resolves" },
             -- it waited on the connection that was given up, and was asked once more
             sometimes = { asked_once_more = function(h)
               return h:count { kind = "store", k = "k2", script = "claim", code = "OURS" } > 0
             end } },
  explore = { exhaustive = { gates = 1, clients = 2, keys = 2, attempts = 1 }, live = { runs = 3 } },
}
