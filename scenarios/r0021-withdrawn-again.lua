-- After a run that took effect and was killed before anybody noted it, no retry
-- makes the effect a second time, however long it waits.
-- Reported: https://github.com/aws-powertools/powertools-lambda-python/issues/8049
-- So that keys would not stay in progress (see r0020) the time limit of the
-- function became the end of its record.  A withdrawal that had gone through when
-- the limit struck was then made again by the next retry.
local sim = require "idemsim"
sim.api(1)

local arbiter = sim.param("arbiter", "redis", { "redis", "ledger", "token" })

return sim.scenario {
  name = "killed after the effect, and asked again for long",

  topology = { redis = { a = {} },
               gates = { n = 2, arbiter = arbiter, store = "a",
                         ledger = arbiter == "ledger" and "shared" or nil,
                         config = { lease = "200ms", limit = "300ms",
                                    grace = "100ms", wait = "20ms",
                                    on_unknown = "block" } } },

  handler = sim.handler { effect = "append", service = sim.const(20) },

  load = {
    sim.script {
      { at = 0,    client = "c1", send = { key = "k" } },
      -- past the lease, and nobody has asked before
      { at = 280,  client = "c2", send = { key = "k", to = "g2" } },
      { at = 450,  client = "c1", send = { key = "k", to = "g2" } },
      { at = 800,  client = "c2", send = { key = "k" } },   -- and the limit
      { at = 1200, client = "c1", send = { key = "k" } },
    },
  },

  faults = {
    sim.on(sim.label("g1", "effect.after", { key = "k" }),
           sim.proc.kill("g1"),
           sim.after(600, sim.proc.restart("g1"))),
  },

  expect = {
    holds      = { "at_most_once", "no_false_definite", "unknown_honest" },
    eventually = { "resolves" },
    sometimes  = {
      said_unknown = function(h)
        return h:count { kind = "reply", class = "unknown", mark = "unknown" } > 0
      end,
    },
  },

  explore = { exhaustive = { gates = 2, clients = 2, keys = 1, attempts = 2 },
              live = { runs = 2 } },
}
