-- A reply with somebody's stored answer comes after it was given up, when the same
-- connection waits for the reply to another key's claim: nobody may be given it.
local sim = require "idemsim"
sim.api(1)
local seen = require "_seen"

return sim.scenario {
  name  = "a late reply on a busy link",
  modes = { "model", "live" },

  topology = {
    redis = { a = {} },
    gates = { n = 2, arbiter = "redis", store = "a",
              config = { lease = "2s", wait = "20ms", store_timeout = "100ms",
                         probe_every = "50ms", look = "20ms" } },
  },

  handler = sim.handler { effect = "append", service = sim.const(20) },

  load = {
    sim.script {
      { at = 0,   client = "c1", send = { key = "k1", to = "g1" } },
      { at = 200, client = "c2", send = { key = "k1", to = "g2" } },   -- its reply is late
      { at = 285, client = "c3", send = { key = "k2", to = "g2" } },   -- and this one waits
      { at = 800, client = "c4", send = { key = "k2", to = "g2" } },
    },
  },

  faults = {
    sim.on(sim.frame("g2->a", { script = "claim", phase = "reply", nth = 1 }),
           sim.net.hold("g2->a", { dir = "reply" }),
           sim.after(140, sim.net.release("g2->a"))),
  },

  expect = {
    holds      = { "no_cross_talk", "at_most_once", "no_false_definite" },
    eventually = { "resolves" },
    sometimes  = { its_reply_was_late = seen.message("recv", "held", "claim") },
  },

  explore = { exhaustive = { gates = 2, clients = 2, keys = 2, attempts = 1 },
              live = { runs = 3 } },
}
