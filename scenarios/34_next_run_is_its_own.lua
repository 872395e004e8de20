-- What became of a key's last run is not said of its next one, by the operator's word or
-- under retry: who asks while that goes on is told that it does, and later gets its answer.
local sim = require "idemsim"
sim.api(1)

local policy = sim.param("policy", "operator", { "operator", "retry" })

local faults = {
  -- it is away for a while, and back when all of them ask
  sim.on(sim.label("g1", "effect.before", { key = "k" }), sim.proc.kill("g1"),
         sim.after(300, sim.proc.restart("g1"))),
}
if policy == "operator" then
  faults[2] = sim.on(sim.reply("c2", { class = "unknown" }),
                     sim.operator.resolve("k", "not-done"))
end

local function runs(h)
  local begun, ended
  for e in h:each { kind = "effect", k = "k" } do
    if e.gate == "g2" and e.ph == "begin" then begun = e.ms end
    if e.gate == "g2" and e.ph == "end" then ended = e.ms end
  end
  return begun, ended
end

return sim.scenario {
  name  = "the next run is its own (" .. policy .. ")",
  modes = { "model", "live" },

  topology = {
    gates = { n = 2, arbiter = "ledger", ledger = "shared",
              config = { lease = "20s", limit = "15s", wait = "50ms",
                         on_unknown = policy == "retry" and "retry 3" or "block" } },
  },

  handler = sim.handler { effect = "append", service = sim.const(700) },

  load = {
    sim.script {
      { at = 0,    client = "c1", send = { key = "k", to = "g1" } },
      -- told that nobody knows; or it runs
      { at = 900,  client = "c2", send = { key = "k", to = "g2" } },
      { at = 1150, client = "c3", send = { key = "k", to = "g2" } },   -- runs, or is told so
      { at = 1400, client = "c4", send = { key = "k", to = "g1" } },
      { at = 2500, client = "c5", send = { key = "k", to = "g1" } },
    },
  },

  faults = faults,

  expect = {
    holds      = { "at_most_once", "mutual_exclusion", "same_answer", "unknown_honest",
                   "busy_honest" },
    eventually = { "resolves", "new_keys_succeed" },
    sometimes  = {
      asked_while_it_ran = function(h)
        local begun, ended = runs(h)
        for e in h:each { kind = "inv", client = "c4" } do
          if begun and ended and e.ms > begun and e.ms < ended then return true end
        end
        return false
      end,
    },
    by_param   = {
      policy = {
        operator = { holds = { "no_false_definite" },
                     sometimes = {
                       told_unknown = function(h)
                         return h:count { kind = "reply", client = "c2", class = "unknown" } > 0
                       end } },
        retry    = { sometimes = {
                       run_again = function(h)
                         return h:count { kind = "reply", client = "c2", mark = "stored" } > 0
                       end } },
      },
    },
  },

  explore = { exhaustive = { gates = 2, clients = 2, keys = 1, attempts = 2 },
              live = { runs = 2 } },
}
