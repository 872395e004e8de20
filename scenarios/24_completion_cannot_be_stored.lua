-- Redis goes away between the effect and its completion.  The client is not told
-- "not started", nor is it told that its answer is kept before it is.
local sim = require "idemsim"
sim.api(1)
local seen = require "_seen"

-- Redis comes back, or the instance is dead for good before it does.
local ends = sim.param("ends", "back", { "back", "dead" })

return sim.scenario {
  name  = "the completion cannot be stored (" .. ends .. ")",
  modes = { "model", "live" },

  topology = {
    redis = { a = {} },
    gates = { n = 2, arbiter = "redis", store = "a",
              config = { lease = "800ms", limit = "600ms", grace = "100ms", wait = "20ms",
                         store_timeout = "300ms", probe_every = "50ms" } },
  },

  handler = sim.handler { effect = "append", service = sim.const(20) },

  load = {
    sim.script {
      { at = 0,    client = "c1", send = { key = "k0", to = "g1" } },   -- stored in time
      { at = 400,  client = "c1", send = { key = "k", to = "g1" }, timeout = 10000 },
      { at = 2600, client = "c2", send = { key = "k", to = "g2" } },
      { at = 2700, client = "c2", send = { key = "k0", to = "g2" } },
    },
  },

  faults = {
    sim.on(sim.label("g1", "effect.after", { key = "k" }),
           sim.net.refuse("g1->a"),
           ends == "back" and sim.after(7000, sim.net.heal("g1->a"))
                          or sim.after(300, sim.proc.kill("g1"))),
  },

  -- the instance gives up after five seconds
  heal = { at = ends == "back" and 7800 or 3000, quiet = 2000 },

  expect = {
    holds      = { "at_most_once", "no_false_definite", "ack_durable", "same_answer" },
    eventually = { "resolves" },
    sometimes  = {
      owner_died = ends == "dead" and seen.died("g1") or nil,
      unrecorded = ends == "back" and function(h)
        return h:count { kind = "reply", client = "c1", mark = "unrecorded" } > 0
      end or nil,
      -- not only when all faults end
      came_back = ends == "back" and function(h)
        return h:count { kind = "heal", p = "g1" } > 0
      end or nil,
    },
  },

  explore = { exhaustive = { gates = 2, clients = 2, keys = 1, attempts = 1 },
              live = { runs = 2 } },
}
