-- Nobody is ever shown the stored answer of another key, whatever happens to the
-- connection on which it is fetched.
-- Reported: https://openai.com/blog/march-20-chatgpt-outage
-- The fault of r0029 in production: users of ChatGPT saw titles of other users'
-- conversations, and some the payment details of somebody else.
local sim = require "idemsim"
sim.api(1)
local seen = require "_seen"

local arbiter = sim.param("arbiter", "redis", { "redis", "ledger" })

-- Who is not served goes on to another key, so that the next command on a connection is
-- mostly not of the key whose reply is due there.
local retry = sim.retry { max = 8, timeout = sim.choice { 15, 40, 1000 },
                          backoff = "const", base = 10, key = "reuse",
                          on = { "reset", "busy" } }

return sim.scenario {
  name = "stored answers are fetched over connections that stall",

  topology = { redis = { a = {} },
               gates = { n = 2, arbiter = arbiter, store = "a",
                         ledger = arbiter == "ledger" and "shared" or nil,
                         config = { store_timeout = "80ms", look = "20ms",
                                    budget = "80ms", probe_every = "30ms",
                                    lease = "2s", local_cache = "none" } } },

  handler = sim.handler { effect = "append", service = sim.const(5),
                          output_bytes = 3000,
                          output = function(r) return "the account of " .. r.key end },

  load = {
    sim.closed { clients = 6, keys = sim.keys { n = 6 }, requests_per_client = 40,
                 think = sim.uniform(5, 30), retry = retry },
  },

  faults = {
    -- Three replies on each link are kept back for longer than anybody waits.
    sim.on(sim.at(150), sim.net.hold("*->a", { dir = "reply", times = 3 }),
           sim.after(120, sim.net.release("*->a"))),
    sim.on(sim.at(400), sim.net.hold("*->a", { dir = "reply", times = 3 }),
           sim.after(120, sim.net.release("*->a"))),
    sim.on(sim.at(650), sim.net.hold("*->a", { dir = "reply", times = 3 }),
           sim.after(120, sim.net.release("*->a"))),
  },

  expect = {
    holds      = { "no_cross_talk", "same_answer", "at_most_once", "ack_durable" },
    eventually = { "resolves" },
    sometimes  = {
      stalled  = seen.message("recv", "held"),
      replayed = function(h) return h:count { kind = "reply", source = "replay" } > 20 end,
      gave_up  = function(h) return h:count { kind = "reply", class = "info" } > 0 end,
    },
  },

  explore = { exhaustive = { gates = 1, clients = 2, keys = 2, attempts = 2 },
              live = { runs = 2 } },
}
