-- An effect that cannot be noted is not made again, however often its caller asks,
-- and nobody is told that nothing was started.
-- Reported: https://www.twilio.com/blog/2013/07/billing-incident-post-mortem-breakdown-analysis-and-root-cause.html
-- Redis had come back read-only and without the balances.  A customer's balance
-- was found to be zero, the card was charged, the balance could not be written;
-- and so again with each call.
local sim = require "idemsim"
sim.api(1)

-- Whose try it is waits for as long as its instance tries to note the end (5 s); the
-- others are told at once that it is in progress, or that nothing can be done.
local retry = sim.retry { max = 90, timeout = sim.const(8000), backoff = "const",
                          base = 60, jitter = "full", key = "reuse",
                          on = { "timeout", "reset", "busy", "unavailable" } }

return sim.scenario {
  name = "the charge goes through, and Redis is read-only",

  topology = { redis = { a = {} },
               gates = { n = 2, store = "a",
                         arbiter = sim.param("arbiter", "redis",
                                             { "redis", "token" }),
                         config = { lease = "300ms", grace = "100ms",
                                    store_timeout = "100ms", budget = "100ms",
                                    probe_every = "50ms", wait = "50ms" } } },

  handler = sim.handler { effect = "append", service = sim.const(30),
                          business_id = "card-7" },

  load = {
    sim.closed { clients = 2, keys = sim.keys { n = 1 }, requests_per_client = 3,
                 retry = retry },
  },

  faults = {
    sim.on(sim.label("*", "effect.after"), sim.store.error("a", "READONLY")),
  },

  heal = { at = 5600, quiet = 1500 },

  expect = {
    holds      = { "at_most_once", "at_most_once_per_business_id",
                   "no_false_definite", "unknown_honest" },
    eventually = { "resolves", "new_keys_succeed" },
    sometimes  = {
      not_served = function(h) return h:count { kind = "reply", class = "fail" } > 0 end,
      -- what was done is told, and that it could not be noted
      unrecorded = function(h) return h:count { kind = "reply", mark = "unrecorded" } > 0 end,
    },
  },

  explore = { exhaustive = { gates = 2, clients = 2, keys = 1, attempts = 2 },
              live = { runs = 1 } },
}
