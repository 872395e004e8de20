-- In progress, another body and unknown are three answers that a client can tell
-- apart by status and Idempotency-Status.
-- Reported: https://github.com/ietf-wg-httpapi/idempotency/issues/11
-- and https://github.com/useplunk/plunk/issues/484
-- With one 409 for "still running" and for "conflict" nobody knows whether to wait
-- and ask again, or to give up.
local sim = require "idemsim"
sim.api(1)

local in_progress = sim.param("in_progress", "409", { "409", "202" })

-- what a client may go by: status, mark, and whether it is to come back
local words = {
  ["in-progress"] = { status = tonumber(in_progress), class = "busy",    again = true },
  ["mismatch"]    = { status = 422,                   class = "fail",    again = false },
  ["unknown"]     = { status = 409,                   class = "unknown", again = false },
}

local told_apart = sim.invariant("told_apart", function(h)
  for e in h:each { kind = "ret" } do
    local word = words[e.mark]
    if word and (e.status ~= word.status or e.class ~= word.class or
                 (e.retry_after_s ~= nil) ~= word.again) and
       not (e.mark == "unknown" and e.class == "info") then
      return false, e.mark .. " was told as " .. e.status .. " (" .. e.class .. ")"
    end
  end
  return true
end)

local function told(mark)
  return function(h) return h:count { kind = "reply", mark = mark, class = words[mark].class } > 0 end
end

return sim.scenario {
  name  = "in progress, mismatch and unknown are told apart",
  modes = { "model", "live" },

  topology = {
    gates = { n = 2, arbiter = "ledger", ledger = "shared",
              config = { lease = "600ms", in_progress = in_progress } },
  },

  handler = sim.handler { effect = "append", service = sim.const(150) },

  load = {
    sim.script {
      { at = 0,   client = "c1", send = { key = "k1", body = "x", to = "g2" } },
      { at = 50,  client = "c2", send = { key = "k1", body = "x", to = "g2" } },  -- in progress
      { at = 60,  client = "c3", send = { key = "k1", body = "y", to = "g2" } },  -- and mismatch
      { at = 0,   client = "c4", send = { key = "k2", body = "x", to = "g1" } },
      { at = 400, client = "c5", send = { key = "k2", body = "x", to = "g2" } },  -- unknown
    },
  },

  faults = {
    sim.on(sim.label("g1", "effect.after", { key = "k2" }), sim.proc.kill("g1")),
  },

  expect = {
    holds      = { "at_most_once", "no_false_definite", "busy_honest", "fingerprint_guard",
                   "unknown_honest", "answers_honest", told_apart },
    eventually = { "resolves" },
    sometimes  = { in_progress = told("in-progress"), mismatch = told("mismatch"),
                   unknown = told("unknown") },
  },

  explore = { exhaustive = { gates = 2, clients = 3, keys = 2, attempts = 2 },
              live = { runs = 2 } },
}
