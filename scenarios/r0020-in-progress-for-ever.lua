-- A key whose owner was killed does not stay in progress: after lease and grace
-- everybody is told what is known of it.
-- Reported: https://github.com/aws-powertools/powertools-lambda-python/issues/1038
-- A function that ran into its time limit left its record in progress, and each
-- retry was refused as if it were still at work, until the record expired.
local sim = require "idemsim"
sim.api(1)

local lease, grace = 300, 100

-- Asked for it says so itself; that somebody looks for such keys now and then is for
-- those that nobody asks for.
local told = sim.invariant("after the lease nobody is told to wait", function(h)
  local over
  for e in h:each { kind = "exit" } do
    over = over or e.ms + lease + grace
  end
  for e in h:each { kind = "inv", client = "c2" } do
    if over and e.ms > over and h:count { kind = "reply", a = e.a, class = "busy" } > 0 then
      return false, "try " .. e.a .. ", after lease and grace, was told to wait"
    end
  end
  return true
end)

local arbiter = sim.param("arbiter", "redis", { "redis", "ledger", "token" })

return sim.scenario {
  name = "the owner is killed after the start",

  topology = { redis = { a = {} },
               gates = { n = 2, arbiter = arbiter, store = "a",
                         ledger = arbiter == "ledger" and "shared" or nil,
                         config = { lease = lease .. "ms", grace = grace .. "ms", wait = "20ms" } } },

  handler = sim.handler { effect = "append", service = sim.const(200) },

  load = {
    sim.script {
      { at = 0,    client = "c1", send = { key = "k", to = "g1" } },
      { at = 100,  client = "c2", send = { key = "k", to = "g2" } },
      -- lease and grace are over since a moment
      { at = 550,  client = "c2", send = { key = "k", to = "g2" } },
      { at = 600,  client = "c2", send = { key = "k", to = "g2" } },
      { at = 1000, client = "c2", send = { key = "k", to = "g2" } },
    },
  },

  faults = {
    sim.on(sim.label("g1", "program.spawned", { key = "k" }),
           sim.proc.kill("g1")),
  },

  heal = { at = 1100, quiet = 1000 },

  expect = {
    holds      = { "no_false_definite", "unknown_honest", told },
    eventually = { "resolves" },
    sometimes  = {
      left_in_progress = function(h)
        return h:count { kind = "reply", class = "unknown", mark = "unknown" } > 0
      end,
    },
  },

  explore = { exhaustive = { gates = 2, clients = 2, keys = 1, attempts = 2 },
              live = { runs = 2 } },
}
