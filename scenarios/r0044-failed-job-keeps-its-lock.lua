-- A program that fails does not keep its key: nobody is told that it is in
-- progress once it has ended, and the operator can free it.
-- Reported: https://github.com/laravel/framework/issues/37060
-- A unique job that failed kept its lock, and a lock had no end unless one was
-- said: the job could not be queued any more.
local sim = require "idemsim"
sim.api(1)

local arbiter = sim.param("arbiter", "ledger", { "ledger", "redis" })

-- before, after its effect, or with an answer and a bad status.
local how = sim.param("fails", "before", { "before", "after", "exit" })

return sim.scenario {
  name = "the program fails (" .. how .. ")",

  topology = { redis = { a = {} },
               gates = { n = 2, arbiter = arbiter, store = "a",
                         ledger = arbiter == "ledger" and "shared" or nil,
                         config = { lease = "300ms", limit = "500ms",
                                    grace = "100ms", wait = "20ms" } } },

  handler = how == "exit" and
    sim.handler { effect = "append", service = sim.const(30), exit = 1 } or
    sim.handler { effect = "append", service = sim.const(30), crash = how },

  load = {
    sim.script {
      { at = 0,   client = "c1", send = { key = "k" } },
      { at = 150, client = "c2", send = { key = "k" } },
      { at = 400, client = "c2", send = { key = "k" } },
    },
  },

  faults = {
    sim.on(sim.reply("c2", { class = "unknown" }),
           sim.operator.resolve("k", "not-done")),
  },

  expect = {
    holds = { "no_false_definite",
              sim.invariant("who asks later is not told to wait", function(h)
                return h:count { kind = "reply", class = "busy" } == 0
              end),
              sim.invariant("a failure is nobody's final answer", function(h)
                return h:count { kind = "reply", class = "ok" } == 0
              end) },
    eventually = { "resolves" },
    sometimes  = {
      freed = function(h)
        return h:count { kind = "effect", ph = "begin", k = "k" } == 2
      end,
    },
  },

  explore = { exhaustive = { gates = 2, clients = 2, keys = 1, attempts = 2 },
              live = { runs = 2 } },
}
