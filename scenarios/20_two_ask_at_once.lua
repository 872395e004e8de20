-- Two instances ask for one key at the same moment, over links so slow that neither
-- has its answer before the other has asked: the key is one's, and starts once.
local sim = require "idemsim"
sim.api(1)
local seen = require "_seen"

local arbiter = sim.param("arbiter", "redis", { "redis", "token" })

return sim.scenario {
  name  = "two ask at once (" .. arbiter .. ")",
  modes = { "model", "live" },

  topology = {
    redis = { a = {} },
    gates = { n = 2, arbiter = arbiter, store = "a",
              config = seen.patient { lease = "20s", wait = "50ms" } },
  },

  handler = sim.handler { effect = "append", service = sim.const(200) },

  load = {
    sim.script {
      { at = 20,  client = "c1", send = { key = "k", to = "g1" } },
      { at = 20,  client = "c2", send = { key = "k", to = "g2" } },
      { at = 1800, client = "c3", send = { key = "k", to = "g1" } },
    },
  },

  faults = {
    sim.on(sim.at(0), sim.net.delay("g1->a", 150), sim.net.delay("g2->a", 150)),
  },

  expect = {
    holds      = { "at_most_once", "mutual_exclusion", "same_answer", "no_false_definite",
                   "busy_honest", "answers_honest" },
    eventually = { "resolves" },
    sometimes  = { both_asked = seen.both_asked("k") },
  },

  explore = { exhaustive = { gates = 2, clients = 2, keys = 1, attempts = 1 },
              live = { runs = 2 } },
}
