-- Three instances that fall back to a memory of their own start one key three
-- times, and say so; those that refuse do not.
-- Reported: https://github.com/go-chi/httprate-redis/pull/15
-- When Redis was away each instance counted requests in its own memory, so that the
-- limit of all together was as many times higher as there were instances.
local sim = require "idemsim"
sim.api(1)

local on_outage = sim.param("on_outage", "reject", { "reject", "memory" })

return sim.scenario {
  name  = "three instances without Redis (" .. on_outage .. ")",
  modes = { "model", "live" },

  topology = {
    redis = { a = { persistence = "aof_always" } },
    gates = { n = 3, arbiter = "redis", store = "a",
              config = { lease = "600ms", wait = "50ms", store_timeout = "100ms",
                         probe_every = "100ms", on_outage = on_outage } },
  },

  handler = sim.handler { effect = "append", service = sim.const(50) },

  load = {
    sim.script {
      { at = 0,   client = "c1", send = { key = "k", to = "g1" } },
      { at = 0,   client = "c2", send = { key = "k", to = "g2" } },
      { at = 0,   client = "c3", send = { key = "k", to = "g3" } },
      -- within one instance even a memory of its own is enough
      { at = 200, client = "c4", send = { key = "k", to = "g1" } },
      { at = 900, client = "c1", send = { key = "k", to = "g1" } },
    },
  },

  faults = {
    sim.on(sim.at(0), sim.net.refuse("*->a"), sim.after(500, sim.net.heal("*->a"))),
  },

  expect = {
    eventually = { "resolves", "new_keys_succeed" },
    by_param   = {
      on_outage = {
        reject = { holds = { "at_most_once", "no_false_definite", "same_answer", "ack_durable" },
                   sometimes = {
                     all_refused = function(h)
                       return h:count { kind = "reply", status = 503, mark = "not-started" } >= 3
                     end } },
        memory = { violates = { "at_most_once" },
                   holds = { "divergence_reported" },
                   sometimes = {
                     three_runs_all_marked = function(h)
                       return #h:effects("k") >= 3 and
                              h:count { kind = "reply", mark = "unprotected" } >= 3
                     end } },
      },
    },
  },

  explore = { exhaustive = { gates = 2, clients = 2, keys = 1, attempts = 1 },
              live = { runs = 2 } },
}
