-- The handler is slower than the lease, the gate is paused so that it cannot renew,
-- and the clock of the Redis host jumps. The late owner then wakes up and completes.
local sim = require "idemsim"
sim.api(1)

return sim.scenario {
  name  = "slow handler outlives its lease",
  modes = { "model", "live" },

  topology = { redis = { a = {} },
               gates = { n = 2, arbiter = "redis", store = "a",
                         config = { lease = "600ms", renew_every = "200ms", limit = "900ms",
                                    on_unknown = sim.param("policy", "block",
                                                                   { "block", "retry" }) } } },

  handler = sim.handler { effect = "append", service = sim.choice { 100, 700, 1500 },
                          output = function(r) return "receipt " .. r.effect_id end },

  load = {
    sim.script {
      { at = 0,    client = "c1", send = { key = "k" }, timeout = 500 },
      { at = 650,  client = "c1", send = { key = "k" }, timeout = 500 },
      { at = 1700, client = "c2", send = { key = "k" }, timeout = 700 },
      -- lease, limit and grace are over by now: who asks g2 finds out what it says
      { at = 2700, client = "c3", send = { key = "k", to = "g2" }, timeout = 1000 },
      { at = 4000, client = "c4", send = { key = "k" }, timeout = 1000 },
    },
  },

  faults = {
    sim.on(sim.label("g1", "program.spawned", { key = "k" }),
           sim.proc.pause("g1"),                                  -- SIGSTOP: no renewal, no log
           sim.after(3500, sim.proc.resume("g1"))),
    sim.maybe(1, sim.clock.jump("a", 60000)),                     -- NTP step on the store host
    sim.maybe(1, sim.clock.jump("g2", -3600000)),
  },

  heal = { at = 4500, quiet = 4000 },

  expect = {
    holds    = { "same_answer", "ack_durable", "no_false_definite", "late_completer_harmless" },
    by_param = {
      policy = {
        block     = { holds = { "at_most_once", "mutual_exclusion", "unknown_honest" } },
        -- at-least-once policy: duplicates are allowed but counted, answers must still agree
        retry = { relaxed = { at_most_once = "policy is at-least-once" },
                  bounds = { handler_runs_per_key = 1 + sim.fault_count("lease_expiry") },
                  sometimes = {
                    -- it writes an answer, or that it was cut by its limit; either comes too late
                    late_writer_refused = function(h)
                      return h:count { kind = "store", script = "complete", code = "lost" } +
                             h:count { kind = "store", script = "unknown", code = "lost" } > 0
                    end,
                  } },
      },
    },
    eventually = { "resolves" },
    sometimes  = {
      expired_while_running = function(h)
        return h:count { kind = "store", note = "lease_expired_running" } > 0
      end,
    },
  },

  explore = { exhaustive = { gates = 2, clients = 2, keys = 1, attempts = 2 },
              random = { schedules = 100000 }, live = { runs = 4 } },
}
