-- One program at a time and a short queue: who finds it full is sent away at once and
-- told when to come back, so that no more wait than were meant to.
local sim = require "idemsim"
sim.api(1)

local load = {}
for i = 1, 12 do
  load[i] = { at = 40 * (i - 1), client = "c" .. i, send = { key = "k" .. i, to = "g1" } }
end

return sim.scenario {
  name  = "more than it can do",
  modes = { "model", "live" },

  topology = {
    gates = { n = 1, arbiter = "ledger", ledger = "shared",
              config = { lease = "20s", programs = 1, queue = 2, queue_wait = "2s" } },
  },

  handler = sim.handler { effect = "append", service = sim.const(250) },

  load = { sim.script(load) },

  expect = {
    holds     = { "storm_bounded", "no_false_definite", "answers_honest" },
    -- one runs, two wait, and one is being refused; on a busy host some more are. Without
    -- a bound nearly all of them would be there at once.
    bounds    = { queue_depth = 7 },
    eventually = { "new_keys_succeed" },
    sometimes = {
      refused = function(h)
        return h:count { kind = "reply", status = 503, mark = "not-started" } >= 3
      end,
    },
  },

  explore = { exhaustive = { gates = 1, clients = 3, keys = 3, attempts = 1 },
              live = { runs = 2 } },
}
