-- A claim that the server evicts while its program runs lets nobody else start
-- it, if what was started can be told from what was not.
-- Reported: https://github.com/juicedata/juicefs/issues/1991
-- Where the policy is allkeys-lru a full Redis drops what it likes, here metadata
-- of a file system, and what is gone looks as if it had never been.  A warning was
-- all that there was against it.
local sim = require "idemsim"
sim.api(1)

return sim.scenario {
  name = "the claim of a running key is evicted",

  topology = { redis = { a = {} },
               gates = { n = 2, store = "a",
                         arbiter = sim.param("arbiter", "token",
                                             { "token", "redis" }),
                         config = { lease = "900ms", wait = "20ms" } } },

  handler = sim.handler { effect = "append", service = sim.const(500) },

  load = {
    sim.script {
      { at = 0,   client = "c1", send = { key = "k" } },
      { at = 200, client = "c2", send = { key = "k" } },
    },
  },

  faults = {
    sim.on(sim.label("g1", "program.spawned", { key = "k" }),
           sim.store.evict("a", "k")),
  },

  expect = {
    by_param = {
      arbiter = {
        token  = { holds = { "at_most_once", "mutual_exclusion", "no_false_definite" },
                   sometimes = { it_was_gone = function(h)
                     return h:count { kind = "reply", client = "c2", mark = "void-token" } > 0
                   end } },
        redis = { violates = { "at_most_once", "mutual_exclusion" } },
      },
    },
    eventually = { "resolves" },
  },

  explore = { exhaustive = { gates = 2, clients = 2, keys = 1, attempts = 1 },
              live = { runs = 2 } },
}
