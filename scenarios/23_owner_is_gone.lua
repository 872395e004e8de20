-- The owner of a key stands still after the effect, or is dead and stays so.  Its lease ends;
-- nobody starts the key, and soon everybody is told that its end is unknown.
local sim = require "idemsim"
sim.api(1)

local owner   = sim.param("owner", "asleep", { "asleep", "dead" })
local arbiter = sim.param("arbiter", "ledger", { "ledger", "redis" })

-- lease, limit and grace are over by then
local over = 1100

local told_in_time = sim.invariant("told_in_time", function(h)
  for e in h:each { kind = "reply", class = "busy" } do
    if e.ms > over then
      return false, "at " .. math.floor(e.ms) .. " ms k was still said to be in progress"
    end
  end
  return true
end)

return sim.scenario {
  name  = "the owner is " .. owner .. " (" .. arbiter .. ")",
  modes = { "model", "live" },

  topology = {
    redis = { a = {} },
    gates = { n = 2, arbiter = arbiter, store = "a", ledger = "shared",
              config = { lease = "300ms", limit = "400ms", grace = "100ms", wait = "20ms",
                         on_unknown = "block" } },
  },

  -- it is stopped between two renewals: one that is stopped in the middle of a write to the
  -- ledger keeps all of its host from writing
  handler = sim.handler { effect = "append", service = sim.const(50) },

  load = {
    sim.script {
      { at = 0,    client = "c1", send = { key = "k", to = "g1" } },
      { at = 650,  client = "c2", send = { key = "k", to = "g2" } },   -- past the lease
      { at = 1200, client = "c3", send = { key = "k", to = "g2" } },   -- past everything
      { at = 1300, client = "c4", send = { key = "k", to = "g2" } },
    },
  },

  faults = {
    sim.on(sim.label("g1", "effect.after", { key = "k" }),
           owner == "asleep" and sim.proc.pause("g1") or sim.proc.kill("g1")),
  },

  heal = { at = 1500, quiet = 2000 },

  expect = {
    holds      = { "at_most_once", "mutual_exclusion", "no_false_definite", "unknown_honest",
                   "answers_honest", told_in_time },
    eventually = { "resolves" },
    sometimes  = {
      told_unknown = function(h)
        return h:count { kind = "reply", client = "c4", class = "unknown" } > 0
      end,
    },
  },

  explore = { exhaustive = { gates = 2, clients = 2, keys = 1, attempts = 2 },
              live = { runs = 2 } },
}
