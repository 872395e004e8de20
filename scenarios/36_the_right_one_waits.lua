-- A key runs on one instance. Somebody sends it with another request to the other one,
-- and before the store has told that he is wrong two with the right request ask there:
-- they wait for the answer, as they would without him.
local sim = require "idemsim"
sim.api(1)
local seen = require "_seen"

local arbiter = sim.param("arbiter", "redis", { "redis", "token" })
local body    = "order=7&amount=200"

local function told(client, mark)
  return function(h) return h:count { kind = "reply", client = client, mark = mark } > 0 end
end

return sim.scenario {
  name  = "the right one waits (" .. arbiter .. ")",
  modes = { "model", "live" },

  topology = {
    redis = { a = {} },
    gates = { n = 2, arbiter = arbiter, store = "a",
              config = seen.patient { lease = "30s", limit = "20s", wait = "20s",
                                      local_cache = "none" } },
  },

  handler = sim.handler { effect = "append", service = sim.const(3000) },

  load = {
    sim.script {
      { at = 0,    client = "c1", send = { key = "k", body = body, to = "g2" } },
      { at = 1000, client = "c2", send = { key = "k", body = body .. "0", to = "g1" } },
      { at = 1200, client = "c3", send = { key = "k", body = body, to = "g1" } },
      { at = 1250, client = "c4", send = { key = "k", body = body, to = "g1" } },
    },
  },

  faults = {
    sim.on(sim.at(900), sim.net.delay("g1->a", 600), sim.after(4000, sim.net.heal("g1->a"))),
  },

  expect = {
    holds      = { "at_most_once", "same_answer", "fingerprint_guard", "no_false_definite" },
    eventually = { "resolves" },
    sometimes  = {
      refused = told("c2", "mismatch"),
      waited  = told("c3", "replayed"),
      waited_as_well = told("c4", "replayed"),
      -- while nobody knew that he is wrong
      asked_beside_him = function(h)
        for e in h:each {} do
          if e.kind == "inv" and e.client == "c3" then return true end
          if e.kind == "ret" and e.client == "c2" then return false end
        end
        return false
      end,
    },
  },

  explore = { exhaustive = { gates = 2, clients = 2, keys = 1, attempts = 2 },
              live = { runs = 2 } },
}
