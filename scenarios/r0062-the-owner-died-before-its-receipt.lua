-- When a server dies between the effect and its receipt, the next one that asks
-- knows at once that the owner is dead: no lease is waited for, nothing is stuck.
-- Reported: https://github.com/hyperb1iss/sibyl/pull/349
-- Two writes stayed "pending" for ever after a crash. A time to live would have
-- freed them at some wrong moment; a lock that dies with its owner proves the death.
local sim = require "idemsim"
sim.api(1)

local policy = sim.param("policy", "block", { "block", "retry", "operator" })

-- long after the end of a run of this scenario
local lease = "20s"

local faults = {
  -- one has had its effect, the other is on its way to it; who asks first asks while g1 is
  -- still away, which would know by itself
  sim.on(sim.label("g1", "effect.after", { key = "k1" }), sim.proc.kill("g1"),
         sim.after(500, sim.proc.restart("g1"))),
}
if policy == "operator" then
  faults[2] = sim.on(sim.reply("*", { class = "unknown", nth = 2 }),
                     sim.operator.resolve("k1", "done"),
                     sim.operator.resolve("k2", "not-done"))
end

local function told_unknown(h)
  return h:count { kind = "reply", client = "c3", class = "unknown" } > 0 and
         h:count { kind = "reply", client = "c4", class = "unknown" } > 0
end

return sim.scenario {
  name  = "the owner died before its receipt (" .. policy .. ")",
  modes = { "model", "live" },

  topology = {
    gates = { n = 2, arbiter = "ledger", ledger = "shared",
              config = { lease = lease, limit = "15s", wait = "50ms",
                         on_unknown = policy == "retry" and "retry 2" or "block" } },
  },

  handler = sim.handler { effect = "append", service = sim.const(120) },

  load = {
    -- two writes, both cut by one crash
    sim.script {
      { at = 0,   client = "c1", send = { key = "k1", to = "g1" } },
      { at = 40,  client = "c2", send = { key = "k2", to = "g1" } },
      { at = 400, client = "c3", send = { key = "k1", to = "g2" } },
      { at = 420, client = "c4", send = { key = "k2", to = "g2" } },
      { at = 900, client = "c5", send = { key = "k1", to = "g2" } },
      { at = 920, client = "c6", send = { key = "k2", to = "g1" } },
    },
  },

  faults = faults,

  expect = {
    holds      = { "at_most_once", "unknown_honest" },
    eventually = { "resolves", "new_keys_succeed" },
    by_param   = {
      policy = {
        block    = { holds = { "no_false_definite" },
                     sometimes = { told_unknown = told_unknown } },
        -- one start more, after the proof of death
        retry    = { bounds = { handler_runs_per_key = 2 },
                     sometimes = {
                       run_again = function(h)
                         return h:count { kind = "reply", client = "c3", mark = "stored" } > 0 and
                                h:count { kind = "reply", client = "c4", mark = "stored" } > 0
                       end } },
        operator = { holds = { "no_false_definite" },
                     sometimes = {
                       told_unknown = told_unknown,
                       freed = function(h)
                         return h:count { kind = "reply", client = "c6", mark = "stored" } > 0
                       end } },
      },
    },
  },

  explore = { exhaustive = { gates = 2, clients = 2, keys = 1, attempts = 2 },
              live = { runs = 2 } },
}
