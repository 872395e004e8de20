-- The claim of one instance never comes to Redis, which it cannot know: it starts
-- nothing, and when it takes the claim back the key is another's, and stays his.
local sim = require "idemsim"
sim.api(1)

return sim.scenario {
  name  = "a claim that never came",
  modes = { "model", "live" },

  topology = {
    redis = { a = {} },
    gates = { n = 2, arbiter = "redis", store = "a",
              config = { lease = "2s", wait = "50ms", store_timeout = "300ms",
                         probe_every = "50ms" } },
  },

  handler = sim.handler { effect = "append", service = sim.const(2000) },

  load = {
    sim.script {
      { at = 20,  client = "c1", send = { key = "k", to = "g1" } },
      { at = 50,  client = "c2", send = { key = "k", to = "g2" } },
      { at = 1600, client = "c3", send = { key = "k", to = "g1" } },   -- c2's run goes on
    },
  },

  faults = {
    sim.on(sim.at(0), sim.net.oneway("g1->a", "request"),
           sim.after(1000, sim.net.heal("g1->a"))),
  },

  expect = {
    holds      = { "at_most_once", "mutual_exclusion", "no_false_definite", "busy_honest" },
    eventually = { "resolves" },
    sometimes  = {
      not_started = function(h)
        return h:count { kind = "reply", client = "c1", mark = "not-started" } > 0
      end,
      in_progress = function(h)
        return h:count { kind = "reply", client = "c3", mark = "in-progress" } > 0
      end,
    },
  },

  explore = { exhaustive = { gates = 2, clients = 2, keys = 1, attempts = 2 },
              live = { runs = 2 } },
}
