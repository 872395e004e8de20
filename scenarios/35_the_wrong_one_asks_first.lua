-- A key is done.  Somebody sends it with another request, and before the store has
-- told his instance that he is wrong the first client asks there again: he gets his
-- answer, and is not told that he is the one who differs.
local sim = require "idemsim"
sim.api(1)
local seen = require "_seen"

local arbiter = sim.param("arbiter", "redis", { "redis", "token" })
local body    = "order=7&amount=200"

-- The first client has asked again when the other has no answer yet.
local function asked_between(h)
  local asked = 0
  for e in h:each { k = "k" } do
    if e.kind == "inv" and e.client == "c1" then asked = asked + 1 end
    if e.kind == "ret" and e.client == "c2" then return asked == 2 end
  end
  return false
end

return sim.scenario {
  name  = "the wrong one asks first (" .. arbiter .. ")",
  modes = { "model", "live" },

  topology = {
    redis = { a = {} },
    gates = { n = 1, arbiter = arbiter, store = "a",
              config = seen.patient { lease = "20s", limit = "10s", local_cache = "none" } },
  },

  handler = sim.handler { effect = "append", service = sim.const(20) },

  load = {
    sim.script {
      { at = 0,    client = "c1", send = { key = "k", body = body } },
      { at = 1000, client = "c2", send = { key = "k", body = body .. "0" } },
      { at = 1300, client = "c1", send = { key = "k", body = body } },
    },
  },

  -- who asks at 1000 has no answer when the other does
  faults = {
    sim.on(sim.at(900), sim.net.delay("g1->a", 1000), sim.after(2000, sim.net.heal("g1->a"))),
  },

  expect = {
    holds      = { "at_most_once", "same_answer", "ack_durable", "fingerprint_guard",
                   "no_false_definite" },
    eventually = { "resolves" },
    sometimes  = {
      asked_between = asked_between,
      replayed = function(h)
        return h:count { kind = "reply", client = "c1", mark = "replayed" } > 0
      end,
      refused = function(h)
        return h:count { kind = "reply", client = "c2", mark = "mismatch" } > 0
      end,
    },
  },

  explore = { exhaustive = { gates = 1, clients = 2, keys = 1, attempts = 2 },
              live = { runs = 2 } },
}
