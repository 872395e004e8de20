-- A claim that reaches the store after the key is completed gets the stored
-- answer, and runs nothing.
-- Reported: https://github.com/OptimalBits/bull/pull/377
-- Two workers learnt of one job at once.  By the time the second asked for the
-- lock the first had completed the job and let go, so it got the lock and did the
-- job again.
local sim = require "idemsim"
sim.api(1)
local seen = require "_seen"

-- late: the asker has given up by then, and asks again beside it.
local patience = sim.param("timeout", "2s", { "2s", "60ms" })

return sim.scenario {
  name = "a claim comes after the completion",

  topology = { redis = { a = {} },
               gates = { n = 2, arbiter = "redis", store = "a",
                         config = { lease = "1s", store_timeout = patience,
                                    budget = "2s", probe_every = "50ms" } } },

  handler = sim.handler { effect = "append", service = sim.const(150) },

  load = {
    sim.script {
      { at = 0, client = "c1", send = { key = "k" } },
      { at = 0, client = "c2", send = { key = "k" } },
    },
  },

  faults = {
    sim.on(sim.at(0),
           sim.net.hold("g2->a", { dir = "request", script = "claim" })),
    sim.on(sim.reply("c1", { class = "ok" }), sim.net.release("g2->a")),
  },

  expect = {
    holds      = { "at_most_once", "mutual_exclusion", "same_answer", "ack_durable" },
    eventually = { "resolves", "new_keys_succeed" },
    sometimes  = {
      it_came_late = seen.message("send", "held", "claim"),
      replayed = function(h)
        return h:count { kind = "reply", client = "c2", mark = "replayed" } > 0
      end,
    },
  },

  explore = { exhaustive = { gates = 2, clients = 2, keys = 1, attempts = 1 },
              live = { runs = 2 } },
}
