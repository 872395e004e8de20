-- A run that has no time left when it is to begin is not begun, or ended at once;
-- none is taken for one without an end.
-- Reported: https://github.com/aws-powertools/powertools-lambda-python/issues/4759
-- In the last moments of a function the platform said that 0 ms were left.  That
-- was read as "nobody said", so the record got no end, and the key stayed in
-- progress when the function was killed a moment later.
local sim = require "idemsim"
sim.api(1)

local arbiter = sim.param("arbiter", "redis", { "redis", "ledger" })

-- lease: over before the program begins; limit: as short as it can be.
local gone = sim.param("gone", "lease", { "lease", "limit" })

return sim.scenario {
  name = "no time is left of the " .. gone,

  topology = { redis = { a = {} },
               gates = { n = 2, arbiter = arbiter, store = "a",
                         ledger = arbiter == "ledger" and "shared" or nil,
                         config = { lease = "200ms", grace = "100ms",
                                    wait = "20ms",
                                    limit = gone == "limit" and "1ms" or "1s" } } },

  handler = sim.handler { effect = "append", service = sim.const(150) },

  load = {
    sim.script {
      { at = 0,   client = "c1", send = { key = "k" } },
      { at = 100, client = "c2", send = { key = "k" } },
      { at = 700, client = "c2", send = { key = "k" } },
    },
  },

  faults = gone == "lease" and {
    sim.on(sim.label("g1", "claim.ok", { key = "k" }),
           sim.proc.pause("g1"), sim.after(350, sim.proc.resume("g1"))),
  } or {},

  expect = {
    holds    = { "no_false_definite" },
    by_param = {
      gone = {
        lease = { holds = { "at_most_once", "unknown_honest", "new_keys_succeed" },
                  sometimes = {
                    not_begun = function(h)
                      return h:count { kind = "reply", client = "c1", class = "fail",
                                       mark = "not-started" } > 0
                    end,
                  } },
        -- Its program may be ended before it has left a trace.
        limit = { holds = { "unknown_honest" },
                  sometimes = {
                    ended_at_once = function(h)
                      return h:count { kind = "reply", client = "c1", class = "info",
                                       status = 504 } > 0
                    end,
                  } },
      },
    },
    eventually = { "resolves" },
  },

  explore = { exhaustive = { gates = 2, clients = 2, keys = 1, attempts = 2 },
              live = { runs = 2 } },
}
