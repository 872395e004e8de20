-- The wall clock of a host that asks for a key steps by an hour, forwards or back,
-- while another instance runs it.  Leases do not go by that clock: it is in progress.
local sim = require "idemsim"
sim.api(1)

local step = sim.param("step", "forwards", { "forwards", "back" })

local ends_no_lease = sim.invariant("a_step_ends_no_lease", function(h)
  return h:count { kind = "reply", class = "unknown" } == 0,
         "somebody was told that the end of k is unknown"
end)

return sim.scenario {
  name  = "a clock steps " .. step,
  modes = { "model", "live" },

  topology = {
    gates = { n = 2, arbiter = "ledger", ledger = "shared",
              config = { lease = "20s", wait = "20ms" } },
  },

  handler = sim.handler { effect = "append", service = sim.const(500) },

  load = {
    sim.script {
      { at = 0,   client = "c1", send = { key = "k", to = "g1" } },
      { at = 300, client = "c2", send = { key = "k", to = "g2" } },
      { at = 900, client = "c3", send = { key = "k", to = "g2" } },
    },
  },

  faults = {
    sim.on(sim.at(150), sim.clock.jump("g2", step == "back" and -3600000 or 3600000)),
  },

  expect = {
    holds      = { "at_most_once", "mutual_exclusion", "same_answer", "ack_durable",
                   "no_false_definite", "unknown_honest", ends_no_lease },
    eventually = { "resolves" },
    sometimes  = {
      in_progress = function(h)
        return h:count { kind = "reply", client = "c2", mark = "in-progress" } > 0
      end,
    },
  },

  explore = { exhaustive = { gates = 2, clients = 2, keys = 1, attempts = 1 },
              live = { runs = 2 } },
}
