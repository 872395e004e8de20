-- A step of a clock starts nothing again: not of the server's, by which leases are
-- judged, nor of an instance's own.
-- Reported: https://github.com/valkey-io/valkey/issues/2651
-- (and https://github.com/redis/redis/issues/416)
-- Times to live are moments of the system's clock.  When it is set forward all
-- locks end at once, and others take what is still held.
-- No history shows what a clock says.  That they step is known from what breaks here if
-- leases go by the wall clock, or if a key past its lease is anybody's.
local sim = require "idemsim"
sim.api(1)
local seen = require "_seen"

local arbiter = sim.param("arbiter", "redis", { "redis", "token", "ledger" })

return sim.scenario {
  name = "clocks step while a program runs",

  topology = { redis = { a = {} },
               gates = { n = 2, arbiter = arbiter, store = "a",
                         ledger = arbiter == "ledger" and "shared" or nil,
                         config = seen.patient { lease = "900ms", wait = "20ms" } } },

  handler = sim.handler { effect = "append", service = sim.const(500) },

  load = {
    sim.script {
      { at = 0,   client = "c1", send = { key = "k" } },
      { at = 150, client = "c2", send = { key = "k" } },
      { at = 700, client = "c2", send = { key = "k" } },
    },
  },

  faults = {
    sim.on(sim.label("g1", "program.spawned", { key = "k" }),
           -- beyond the lease, though not beyond lease and limit: past those it would
           -- be said to be unknown, since it is the server that judges leases
           sim.clock.jump("a", 60000),
           -- these are asked by nobody
           sim.clock.jump("g1", -3600000),
           sim.clock.jump("g2", 3600000)),
  },

  expect = {
    holds      = { "at_most_once", "mutual_exclusion", "same_answer", "ack_durable",
                   "no_false_definite",
                   sim.invariant("a clock declares nobody dead", function(h)
                     return h:count { kind = "reply", class = "unknown" } == 0
                   end) },
    eventually = { "resolves" },
  },

  explore = { exhaustive = { gates = 2, clients = 2, keys = 1, attempts = 2 },
              live = { runs = 2 } },
}
