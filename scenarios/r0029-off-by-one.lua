-- A reply that comes after its command was given up answers no other command.
-- Reported: https://github.com/redis/redis-py/issues/2624
-- (and https://github.com/redis/redis-py/issues/2665)
-- A command was cancelled between its sending and its reply, and the connection
-- went back to the pool.  From then on each command there was answered with the
-- reply to the one before.
local sim = require "idemsim"
sim.api(1)
local seen = require "_seen"

-- The key that is asked for next, on the connection where a reply is due.
local state = sim.param("next_key_is", "running", { "running", "completed" })

return sim.scenario {
  name = "a reply comes after its time, and the next key is " .. state,

  topology = { redis = { a = {} },
               gates = { n = 2, arbiter = "redis", store = "a",
                         config = { store_timeout = "60ms", budget = "1s",
                                    probe_every = "30ms", lease = "2s",
                                    local_cache = "none" } } },

  handler = sim.handler { effect = "append",
                          service = sim.const(state == "running" and 400 or 10) },

  load = {
    sim.script {
      { at = 0,   client = "c2", send = { key = "k2", to = "g2" } },
      { at = 50,  client = "c1", send = { key = "k1", to = "g1" } },
      -- k1's claim has been sent once more by now.
      { at = 130, client = "c3", send = { key = "k2", to = "g1" } },
      { at = 140, client = "c4", send = { key = "k4", to = "g1" } },
    },
  },

  faults = {
    sim.on(sim.frame("g1->a", { script = "claim", phase = "reply" }),
           sim.net.hold("g1->a", { dir = "reply" }),
           sim.after(120, sim.net.release("g1->a"))),
  },

  expect = {
    holds      = { "no_cross_talk", "at_most_once", "same_answer", "ack_durable" },
    by_param   = { next_key_is = { running = { holds = { "mutual_exclusion" } } } },
    eventually = { "resolves", "new_keys_succeed" },
    sometimes  = { its_reply_was_late = seen.message("recv", "held", "claim") },
  },

  explore = { exhaustive = { gates = 2, clients = 2, keys = 2, attempts = 1 },
              live = { runs = 2 } },
}
