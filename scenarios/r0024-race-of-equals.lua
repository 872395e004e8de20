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

-- busy_honest but for this: who comes when the key is done may wait for another at the
-- same instance whom the ledger has not told so yet.  A slow link excuses that there, a
-- ledger at which all wait for the one that writes does not.  So it is enough that
-- somebody else was still asking.
local busy_of_another = sim.invariant("busy because of another", function(h)
  local from, to = {}, {}
  for e in h:each { kind = "inv" } do from[e.a] = e end
  for e in h:each { kind = "ret" } do to[e.a] = e end
  local function meet(a, b)
    return from[a].k == from[b].k and from[a].i < (to[b] and to[b].i or math.huge) and
           from[b].i < to[a].i
  end
  for e in h:each { kind = "reply", class = "busy" } do
    local other = false
    for b in pairs(from) do other = other or (b ~= e.a and meet(e.a, b)) end
    if not other then
      return false, "try " .. e.a .. " was told to wait, and nobody else asked"
    end
  end
  return true
end)

return sim.scenario {
  name = "equal requests at the same moment",

  topology = { redis = { a = {} },
               gates = { n = 3, arbiter = arbiter, store = "a",
                         ledger = arbiter == "ledger" and "shared" or nil,
                         config = seen.patient { lease = "20s", wait = "20ms" } } },

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
    holds = { "at_most_once", "mutual_exclusion", "same_answer",
              "no_false_definite", "no_cross_talk",
              arbiter == "ledger" and busy_of_another or "busy_honest",
              sim.invariant("busy or an answer, and no error", function(h)
                return h:count { kind = "reply", class = "ok" } +
                       h:count { kind = "reply", class = "busy" } ==
                       h:count { kind = "reply" }
              end) },
    eventually = { "resolves" },
    sometimes  = { told_busy = function(h)
                     return h:count { kind = "reply", class = "busy" } > 0
                   end,
                   -- of either key, as a busy host may be late with one instance
                   both_asked = arbiter ~= "ledger" and function(h)
                     return seen.both_asked("k1")(h) or seen.both_asked("k2")(h)
                   end or nil },
  },

  explore = { exhaustive = { gates = 2, clients = 2, keys = 1, attempts = 2 },
              live = { runs = 3 } },
}
