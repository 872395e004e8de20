-- The handler is slower than the lease, the gate is paused so that it cannot renew,
-- and the clock of the Redis host jumps. The late owner then wakes up and completes.
-- Nobody takes a key over before lease, limit and grace are over, so the owner sleeps for
-- longer than those. If all of it sleeps its program does, too, and is cut by its limit
-- when it wakes up; if only the lobby sleeps the program comes to its end meanwhile.
local sim = require "idemsim"
sim.api(1)

local policy = sim.param("policy", "block", { "block", "retry" })
local asleep = sim.param("asleep", "all", { "all", "lobby" })
local who    = asleep == "all" and "g1" or "g1.lobby"

-- What it writes at last: that its run was cut, or an answer.
local late_word = asleep == "all" and "unknown" or "complete"

return sim.scenario {
  name  = "slow handler outlives its lease",
  modes = { "model", "live" },

  topology = { redis = { a = {} },
               gates = { n = 2, arbiter = "redis", store = "a",
                         config = { lease = "600ms", renew_every = "200ms",
                                    limit = asleep == "all" and "900ms" or "1200ms",
                                    on_unknown = policy } } },

  handler = sim.handler { effect = "append",
                          service = asleep == "all" and sim.choice { 100, 700, 1500 }
                                                     or sim.const(700),
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
           sim.proc.pause(who),                                   -- SIGSTOP: no renewal, no log
           sim.after(3500, sim.proc.resume(who))),
    -- NTP step on the store host; who sees one takes nothing over, so that it comes late
    -- where something is to be taken over
    sim.maybe(1, sim.clock.jump("a", 60000), policy == "retry" and { window = { 2800, 4400 } } or nil),
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
                    late_writer_refused = function(h)
                      return h:count { kind = "store", script = late_word, code = "lost" } > 0
                    end,
                  } },
      },
    },
    eventually = { "resolves" },
    sometimes  = {
      -- a program that was stopped before it could say that it begins has left no more
      -- than what its instance is told when it wakes up
      expired_while_running = function(h)
        return h:count { kind = "store", note = "lease_expired_running" } +
               h:count { kind = "store", script = "renew", code = "lost" } > 0
      end,
    },
  },

  explore = { exhaustive = { gates = 2, clients = 2, keys = 1, attempts = 2 },
              random = { schedules = 100000 }, live = { runs = 2 } },
}
