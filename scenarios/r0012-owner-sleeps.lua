-- An owner that could not renew its lease for longer than it is, and wakes up
-- again, has not been run over: its key is run once.
-- Reported: https://github.com/redisson/redisson/issues/5698
-- Now and then a lock's watchdog did not renew it for more than its thirty
-- seconds.  Other threads got the lock of a holder that was well and working.
local sim = require "idemsim"
sim.api(1)

local arbiter = sim.param("arbiter", "redis", { "redis", "ledger" })

return sim.scenario {
  name = "the owner sleeps past its lease",

  topology = { redis = { a = {} },
               gates = { n = 2, arbiter = arbiter, store = "a",
                         ledger = arbiter == "ledger" and "shared" or nil,
                         config = { lease = "300ms", grace = "100ms",
                                    wait = "50ms" } } },

  handler = sim.handler { effect = "append", service = sim.const(700) },

  load = {
    sim.script {
      { at = 0,    client = "c1", send = { key = "k" } },
      { at = 500,  client = "c2", send = { key = "k" } },   -- its lease is over
      { at = 1000, client = "c2", send = { key = "k" } },   -- and it is awake again
    },
  },

  faults = {
    -- The program goes on; who should renew for it does not.
    sim.on(sim.label("g1", "program.spawned", { key = "k" }),
           sim.proc.pause("g1.lobby"),
           sim.after(600, sim.proc.resume("g1.lobby"))),
  },

  expect = {
    holds      = { "at_most_once", "mutual_exclusion", "same_answer",
                   "no_false_definite", "unknown_honest" },
    eventually = { "resolves" },
    sometimes  = {
      expired_while_running = function(h)
        return h:count { kind = "store", note = "lease_expired_running" } > 0
      end,
    },
  },

  explore = { exhaustive = { gates = 2, clients = 2, keys = 1, attempts = 2 },
              live = { runs = 2 } },
}
