-- Of requests with one key that come at the same moment one runs; the others are
-- told that it does, or get its answer, and nobody gets an error of ours.
-- Reported: https://github.com/alphagov/pay-connector/pull/4460
-- Two payments with one key were both looked up before either was there.  Only
-- the unique index saw the second, and what it threw became a 500 until the
-- request was answered 409.
local sim = require "idemsim"
sim.api(1)
local seen = require "_seen"

local arbiter = sim.param("arbiter", "ledger", { "ledger", "token", "redis" })

return sim.scenario {
  name = "equal requests at the same moment",

  topology = { redis = { a = {} },
               gates = { n = 3, arbiter = arbiter, store = "a",
                         ledger = arbiter == "ledger" and "shared" or nil,
                         -- Who waits for a claim that is slow to come back is told that
                         -- the key is in progress: a slow link excuses that, a ledger
                         -- does not.
                         config = seen.patient { lease = "20s",
                                                 wait = arbiter == "ledger" and "10s"
                                                   or "20ms" } } },

  handler = sim.handler { effect = "append", service = sim.const(120) },

  load = {
    sim.storm { clients = 12, keys = sim.keys { n = 2 }, at = 0, within = 0,
                retry = sim.retry { max = 20, timeout = sim.const(20000),
                                    backoff = "const", base = 30, key = "reuse",
                                    on = { "busy" } } },
  },

  -- Answers of Redis come so late that nobody has his before all have asked.  At the
  -- ledger there is but one who writes at a time.
  faults = arbiter ~= "ledger" and {
    sim.on(sim.at(0), sim.net.delay("*->a", 100)),
  } or {},

  expect = {
    holds = { "at_most_once", "mutual_exclusion", "same_answer", "busy_honest",
              "no_false_definite", "no_cross_talk",
              sim.invariant("busy or an answer, and no error", function(h)
                return h:count { kind = "reply", class = "ok" } +
                       h:count { kind = "reply", class = "busy" } ==
                       h:count { kind = "reply" }
              end) },
    eventually = { "resolves" },
    -- of either key, as a busy host may be late with one instance
    sometimes  = { both_asked = arbiter ~= "ledger" and function(h)
                     return seen.both_asked("k1")(h) or seen.both_asked("k2")(h)
                   end or nil },
  },

  explore = { exhaustive = { gates = 2, clients = 2, keys = 1, attempts = 2 },
              live = { runs = 3 } },
}
