-- Clearing the cache while a program runs does not free its key, if more than
-- the cache knows of it.
-- Reported: https://github.com/laravel/framework/pull/45963
-- Locks lay where the cache lay, so whoever cleared the cache freed the locks of
-- jobs that were running.
local sim = require "idemsim"
sim.api(1)

local arbiter = sim.param("arbiter", "ledger", { "ledger", "token", "redis" })

return sim.scenario {
  name = "FLUSHALL while a program runs",

  topology = { redis = { a = {} },
               gates = { n = 2, arbiter = arbiter, store = "a",
                         ledger = arbiter == "ledger" and "shared" or nil,
                         config = { lease = "900ms", wait = "20ms" } } },

  handler = sim.handler { effect = "append", service = sim.const(500) },

  load = {
    sim.script {
      { at = 0,   client = "c4", send = { key = "done", to = "g1" } },
      { at = 600, client = "c1", send = { key = "k", to = "g1" } },
      { at = 800, client = "c2", send = { key = "k", to = "g2" } },
      { at = 850, client = "c3", send = { key = "done", to = "g2" } },
    },
  },

  faults = {
    sim.on(sim.label("g1", "program.spawned", { key = "k" }),
           sim.store.flush("a")),
  },

  expect = {
    by_param = {
      arbiter = {
        ledger = { holds = { "at_most_once", "mutual_exclusion", "no_false_definite",
                             "same_answer" },
                   sometimes = { the_cache_was_empty = function(h)
                     return h:count { kind = "reply", k = "done", source = "ledger" } > 0
                   end } },
        token  = { holds = { "at_most_once", "mutual_exclusion", "no_false_definite" },
                   sometimes = { it_was_gone = function(h)
                     return h:count { kind = "reply", client = "c2", mark = "void-token" } > 0
                   end } },
        redis  = { violates = { "at_most_once", "mutual_exclusion" } },
      },
    },
    eventually = { "resolves" },
  },

  explore = { exhaustive = { gates = 2, clients = 2, keys = 1, attempts = 1 },
              live = { runs = 2 } },
}
