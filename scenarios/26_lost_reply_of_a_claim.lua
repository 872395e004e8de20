-- Redis has carried out a claim, and its reply is lost.  Who asked asks again, and
-- is told that the key is his own: he is not kept waiting by himself.
local sim = require "idemsim"
sim.api(1)

local arbiter = sim.param("arbiter", "redis", { "redis", "token" })

return sim.scenario {
  name  = "the lost reply of a claim (" .. arbiter .. ")",
  modes = { "model", "live" },

  topology = {
    redis = { a = {} },
    gates = { n = 1, arbiter = arbiter, store = "a",
              config = { lease = "600ms", wait = "50ms",
                         store_timeout = "100ms", budget = "600ms", probe_every = "50ms" } },
  },

  handler = sim.handler { effect = "append", service = sim.const(200) },

  load = {
    sim.script {
      { at = 20,  client = "c1", send = { key = "k" } },
      { at = 250, client = "c2", send = { key = "k" } },   -- c1's run goes on
      { at = 900, client = "c2", send = { key = "k" } },
    },
  },

  faults = {
    sim.on(sim.at(0), sim.net.drop("g1->a", { script = "claim", dir = "reply" })),
  },

  expect = {
    holds      = { "busy_honest", "no_false_definite", "at_most_once", "same_answer" },
    eventually = { "resolves" },
    sometimes  = {
      it_was_his_own = function(h)
        return h:count { kind = "store", script = "claim", code = "OURS" } > 0 and
               h:count { kind = "reply", client = "c1", mark = "stored" } > 0
      end,
    },
  },

  explore = { exhaustive = { gates = 1, clients = 2, keys = 1, attempts = 1 },
              live = { runs = 2 } },
}
