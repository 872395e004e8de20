-- A lease is renewed for as long as its run goes on, also after a renewal that
-- failed.
-- Reported: https://github.com/redisson/redisson/issues/775
-- A renewal that met a failover got an error, and none was made after it: a lock
-- that was to be held for ever was gone thirty seconds later.
local sim = require "idemsim"
sim.api(1)
local seen = require "_seen"

local how = sim.param("how", "error", { "error", "silence" })

return sim.scenario {
  name = "one renewal fails (" .. how .. ")",

  topology = { redis = { a = {} },
               gates = { n = 2, arbiter = "redis", store = "a",
                         config = { lease = "700ms", grace = "100ms",
                                    store_timeout = "100ms",
                                    probe_every = "50ms", wait = "20ms" } } },

  handler = sim.handler { effect = "append", service = sim.const(1100) },

  load = {
    sim.script {
      { at = 0,   client = "c1", send = { key = "k" } },
      { at = 900, client = "c2", send = { key = "k" } },   -- the first lease is over
    },
  },

  faults = {
    sim.on(sim.at(0), how == "error"
           and sim.net.error("g1->a", "LOADING", { script = "renew" })
           or sim.net.drop("g1->a", { script = "renew", dir = "request" })),
  },

  expect = {
    holds = { "mutual_exclusion", "at_most_once", "no_false_definite",
              "busy_honest",
              sim.invariant("nobody is told that the run is lost", function(h)
                return h:count { kind = "reply", class = "unknown" } == 0
                   and h:count { kind = "store", note = "lease_expired_running" } == 0
              end) },
    eventually = { "resolves" },
    sometimes  = {
      one_failed = how == "error" and seen.error("LOADING") or
                   seen.message("send", "lost", "renew"),
      renewed_again = function(h)
        return h:count { kind = "store", script = "renew", code = "RENEWED", k = "k" } > 2
      end,
    },
  },

  explore = { exhaustive = { gates = 2, clients = 2, keys = 1, attempts = 1 },
              live = { runs = 2 } },
}
