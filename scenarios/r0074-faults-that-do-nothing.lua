-- Each kind of fault is seen by what comes of it, not by our word that it was done: an
-- instance dies, a reply is lost, a script is gone, a cache is empty, a client has left.
-- Reported: https://github.com/freenet/freenet-core/issues/4727
-- Tests of a network under faults were green for a long time, since what was to make
-- the faults made none.
local sim = require "idemsim"
sim.api(1)

-- A scenario cannot say of itself that it must come to nothing.  With an injector that
-- does nothing, or says that it does, this is to be vacuous.
local function seen(t)
  return function(h) return h:count(t) > 0 end
end

return sim.scenario {
  name  = "faults that do nothing",
  modes = { "live" },

  topology = {
    redis = { a = {} },
    gates = { n = 2, arbiter = "redis", store = "a",
              config = { lease = "600ms", wait = "20ms", store_timeout = "300ms", budget = "1s",
                         probe_every = "50ms", local_cache = "none" } },
  },

  handler = sim.handler { effect = "append", service = sim.const(20) },

  load = {
    sim.script {
      { at = 0,    client = "c1", send = { key = "k1", to = "g1" } },   -- its reply is lost
      { at = 900,  client = "c2", send = { key = "k2", to = "g1" } },   -- no script
      { at = 1400, client = "c3", send = { key = "k1", to = "g1" } },   -- nothing is known
      { at = 1600, client = "c4", send = { key = "k3", to = "g1" }, timeout = 3000 },
      { at = 1800, client = "c5", send = { key = "k4", to = "g2" } },   -- its instance dies
    },
  },

  faults = {
    sim.on(sim.at(0),   sim.net.drop("g1->a", { script = "claim", dir = "reply" })),
    sim.on(sim.at(800), sim.store.script_flush("a")),
    sim.on(sim.at(1200), sim.store.flush("a")),
    sim.on(sim.label("g1", "program.spawned", { key = "k3" }), sim.client.give_up("c4")),
    sim.on(sim.label("g2", "effect.after", { key = "k4" }), sim.proc.kill("g2")),
  },

  expect = {
    holds      = { "no_false_definite" },
    relaxed    = { at_most_once = "Redis was emptied" },
    eventually = { "resolves" },
    sometimes  = {
      a_reply_was_lost   = seen { kind = "store", k = "k1", script = "claim", code = "OURS" },
      a_script_was_gone  = function(h)
        for e in h:each { kind = "store" } do
          if e.code and e.code:find("^-?NOSCRIPT") then return true end
        end
        return false
      end,
      k1_was_forgotten   = function(h) return #h:effects("k1") == 2 end,
      a_client_has_left  = seen { kind = "reply", client = "c4", how = "gave-up" },
      an_instance_died   = seen { kind = "reply", client = "c5", how = "cut" },
    },
  },

  explore = { live = { runs = 1 } },
}
