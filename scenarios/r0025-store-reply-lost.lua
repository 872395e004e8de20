-- A command whose reply was lost is sent again as the same one: the claim is not
-- mistaken for another's, and a completion counts once.
-- Reported: https://github.com/redis/redis-rb/issues/668
-- A command that took longer than the client's timeout was sent a second time by
-- the client library itself.  The server carried both out, and the caller got the
-- result of the second: nothing was left to remove.
local sim = require "idemsim"
sim.api(1)

local op = sim.param("op", "claim", { "claim", "complete" })

return sim.scenario {
  name = "the reply to a " .. op .. " is lost",

  topology = { redis = { a = {} },
               gates = { n = 2, arbiter = "redis", store = "a",
                         config = { lease = "20s", store_timeout = "1s",
                                    budget = "30s", probe_every = "30ms",
                                    wait = "20ms" } } },

  handler = sim.handler { effect = "append", service = sim.const(250) },

  load = {
    sim.script {
      { at = 0,    client = "c1", send = { key = "k" } },
      { at = 200,  client = "c2", send = { key = "k" } },
      { at = 1800, client = "c2", send = { key = "k" } },
    },
  },

  faults = {
    sim.on(sim.at(0), sim.net.drop("g1->a", { dir = "reply", script = op })),
  },

  expect = {
    holds = { "at_most_once", "busy_honest", "no_false_definite", "same_answer",
              sim.invariant("the one who asked first is served", function(h)
                return h:count { kind = "reply", client = "c1", mark = "stored" } == 1
              end) },
    eventually = { "resolves", "new_keys_succeed" },
    sometimes  = {
      known_again = function(h)
        return h:count { kind = "store", script = op,
                         code = op == "claim" and "OURS" or "SAME" } > 0
      end,
    },
  },

  explore = { exhaustive = { gates = 2, clients = 2, keys = 1, attempts = 2 },
              live = { runs = 2 } },
}
