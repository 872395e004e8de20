-- The program dies, and its instance lives: after the effect, or in the middle of
-- its answer, which is more than a pipe holds.  What there is of it is nobody's, and
-- nothing runs again.
local sim = require "idemsim"
sim.api(1)

local at = sim.param("at", "effect.after", { "effect.after", "program.out.first" })

return sim.scenario {
  name  = "the program is cut at " .. at,
  modes = { "model", "live" },

  topology = {
    gates = { n = 2, arbiter = "ledger", ledger = "shared",
              config = { lease = "2s", wait = "50ms" } },
  },

  handler = sim.handler { effect = "append", service = sim.const(20), output_bytes = 1000000 },

  load = {
    sim.script {
      { at = 0,   client = "c1", send = { key = "k0", to = "g1" } },   -- is not cut
      { at = 100, client = "c1", send = { key = "k", to = "g1" } },
      { at = 900, client = "c2", send = { key = "k", to = "g1" } },
      { at = 950, client = "c3", send = { key = "k", to = "g2" } },
    },
  },

  faults = {
    sim.on(sim.label("g1", at, { key = "k" }), sim.proc.kill("g1.program")),
  },

  expect = {
    holds      = { "at_most_once", "no_false_definite", "no_partial_success" },
    eventually = { "resolves" },
    sometimes  = {
      told_unknown = function(h)
        return h:count { kind = "reply", client = "c2", class = "unknown" } > 0 and
               h:count { kind = "reply", client = "c3", class = "unknown" } > 0
      end,
    },
  },

  explore = { exhaustive = { gates = 2, clients = 2, keys = 1, attempts = 1 },
              live = { runs = 2 } },
}
