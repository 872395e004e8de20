-- A server without memory refuses a claim for sure: the program is not run, and
-- the client is told so.  What is running is completed all the same.
-- Reported: https://github.com/redis/redis/issues/8623
-- (and https://github.com/redis/redis/issues/6565)
-- At maxmemory the script that takes a lock got OOM, though allkeys-lru was set:
-- no key is evicted for a script's sake.
local sim = require "idemsim"
sim.api(1)
local seen = require "_seen"

return sim.scenario {
  name = "Redis is full while a program runs",

  topology = { redis = { a = {} },
               gates = { n = 2, store = "a",
                         arbiter = sim.param("arbiter", "redis",
                                             { "redis", "token" }),
                         config = { lease = "2s", store_timeout = "500ms",
                                    budget = "500ms", probe_every = "50ms",
                                    wait = "20ms" } } },

  handler = sim.handler { effect = "append", service = sim.const(600) },

  load = {
    sim.script {
      { at = 0,    client = "c1", send = { key = "running" } },
      { at = 300,  client = "c2", send = { key = "new" } },
      { at = 1200, client = "c2", send = { key = "running" } },
    },
  },

  faults = {
    sim.on(sim.label("g1", "program.spawned", { key = "running" }),
           sim.store.oom("a")),
  },

  heal = { at = 1400, quiet = 1000 },

  expect = {
    holds      = { "no_false_definite", "at_most_once", "same_answer", "ack_durable" },
    eventually = { "resolves", "new_keys_succeed" },
    sometimes  = {
      full = seen.error("OOM"),
      refused = function(h)
        return h:count { kind = "reply", class = "fail", mark = "not-started",
                         k = "new" } > 0
      end,
      completed_all_the_same = function(h)
        return h:count { kind = "reply", client = "c2", mark = "replayed" } > 0
      end,
    },
  },

  explore = { exhaustive = { gates = 2, clients = 2, keys = 2, attempts = 1 },
              live = { runs = 2 } },
}
