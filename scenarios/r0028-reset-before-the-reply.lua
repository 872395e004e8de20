-- A connection that breaks between a claim's execution and its reply leaves no
-- doubt behind: nobody is told "not started" of a run that starts.
-- Reported: https://github.com/redis-rb/redis-client/issues/92
-- An end of file says nothing of whether the command was carried out.  The client
-- offers a call that tries again and one that does not, and leaves it to the
-- caller to know which of them is right.
local sim = require "idemsim"
sim.api(1)

-- Nothing of the reply comes through, or its first bytes.
local bytes = sim.param("bytes", 0, { 0, 3 })

return sim.scenario {
  name = "reset after " .. bytes .. " bytes of the claim's reply",

  topology = { redis = { a = {} },
               gates = { n = 2, arbiter = "redis", store = "a",
                         config = { lease = "1s", store_timeout = "150ms",
                                    budget = "1s", probe_every = "30ms",
                                    wait = "20ms" } } },

  handler = sim.handler { effect = "append", service = sim.const(250) },

  load = {
    sim.script {
      { at = 0,   client = "c1", send = { key = "k" } },
      { at = 150, client = "c2", send = { key = "k" } },
      { at = 600, client = "c2", send = { key = "k" } },
    },
  },

  faults = {
    sim.on(sim.at(0), sim.net.reset("g1->a", { dir = "reply", script = "claim",
                                               after_bytes = bytes })),
  },

  expect = {
    holds      = { "no_false_definite", "at_most_once", "busy_honest", "same_answer" },
    eventually = { "resolves", "new_keys_succeed" },
    sometimes  = {
      known_again = function(h)
        return h:count { kind = "store", script = "claim", code = "OURS" } > 0
      end,
    },
  },

  explore = { exhaustive = { gates = 2, clients = 2, keys = 1, attempts = 2 },
              live = { runs = 2 } },
}
