-- A server that has forgotten our script is given it again: what is running is
-- completed, and new keys are served, without a restart of anybody.
-- Reported: https://github.com/resque/resque-scheduler/issues/298
-- After a change of the Redis server the scheduler's lock got NOSCRIPT each time,
-- and nothing was scheduled any more until the application was restarted.
local sim = require "idemsim"
sim.api(1)

return sim.scenario {
  name = "the scripts are flushed between claim and completion",

  topology = { redis = { a = {} },
               gates = { n = 2, store = "a",
                         arbiter = sim.param("arbiter", "redis",
                                             { "redis", "token" }),
                         config = { lease = "600ms", wait = "2s" } } },

  handler = sim.handler { effect = "append", service = sim.const(150) },

  load = {
    sim.script {
      { at = 0,   client = "c1", send = { key = "k" } },
      { at = 50,  client = "c2", send = { key = "k" } },
      { at = 100, client = "c2", send = { key = "other" } },
      { at = 300, client = "c2", send = { key = "k" } },
    },
  },

  faults = {
    sim.on(sim.label("g1", "program.spawned", { key = "k" }),
           sim.store.script_flush("a")),
  },

  expect = {
    holds = { "at_most_once", "same_answer", "ack_durable",
              sim.invariant("all are served", function(h)
                return h:count { kind = "reply", class = "ok" } ==
                       h:count { kind = "reply" }
              end) },
    eventually = { "resolves", "new_keys_succeed" },
    sometimes  = {
      script_was_missed = function(h)
        for e in h:each { kind = "store" } do
          if e.code and e.code:find("^-?NOSCRIPT") then return true end
        end
        return false
      end,
    },
  },

  explore = { exhaustive = { gates = 2, clients = 2, keys = 2, attempts = 1 },
              live = { runs = 2 } },
}
