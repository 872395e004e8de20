-- Redis answers claims with an error: it is full, or no master, or says that it has
-- not got the script.  None of these means that the key is free.
local sim = require "idemsim"
sim.api(1)
local seen = require "_seen"

local word = sim.param("error", "OOM", { "OOM", "READONLY", "NOSCRIPT" })

return sim.scenario {
  name  = "Redis refuses the claim: " .. word,
  modes = { "model", "live" },

  topology = {
    redis = { a = {} },
    gates = { n = 2, arbiter = "redis", store = "a",
              config = { lease = "600ms", wait = "20ms", store_timeout = "100ms",
                         probe_every = "50ms", on_outage = "reject" } },
  },

  handler = sim.handler { effect = "append", service = sim.const(20) },

  load = {
    sim.script {
      { at = 20,  client = "c1", send = { key = "k", to = "g1" } },
      { at = 100, client = "c2", send = { key = "k", to = "g2" } },
      { at = 600, client = "c1", send = { key = "k", to = "g1" } },
    },
  },

  faults = {
    sim.on(sim.at(0), sim.net.error("g1->a", word, { script = "claim", times = "all" }),
           sim.net.error("g2->a", word, { script = "claim", times = "all" }),
           sim.after(400, sim.net.heal("g1->a"), sim.net.heal("g2->a"))),
  },

  expect = {
    holds      = { "at_most_once", "no_false_definite", "answers_honest", "same_answer" },
    eventually = { "resolves", "new_keys_succeed" },
    sometimes  = {
      refused = seen.error(word),
      told_so = word ~= "NOSCRIPT" and function(h)
        return h:count { kind = "reply", client = "c2", mark = "not-started" } > 0
      end or nil,
    },
  },

  explore = { exhaustive = { gates = 2, clients = 2, keys = 1, attempts = 1 },
              live = { runs = 2 } },
}
