-- A run that another instance has taken over is not stored when it comes to its
-- end after all; and where nobody may run a key twice, nobody takes it over.
-- Reported: https://github.com/OptimalBits/bull/issues/308
-- A worker that was too slow to renew its lock was taken for stalled, and its job
-- was given to a second one.  Both came to the end, and the job was completed
-- twice.
local sim = require "idemsim"
sim.api(1)

local policy = sim.param("on_unknown", "block", { "block", "retry" })

return sim.scenario {
  name = "both the slow owner and its successor complete",

  topology = { redis = { a = {} },
               gates = { n = 2, arbiter = "redis", store = "a",
                         config = { lease = "200ms", limit = "500ms",
                                    grace = "100ms", wait = "20ms",
                                    on_unknown = policy } } },

  handler = sim.handler { effect = "append", service = sim.const(300) },

  load = {
    sim.script {
      { at = 0,    client = "c1", send = { key = "k" } },
      { at = 100,  client = "c2", send = { key = "k" } },
      { at = 500,  client = "c2", send = { key = "k" } },
      { at = 1100, client = "c2", send = { key = "k" } },
    },
  },

  faults = {
    -- The program comes to its end, and nobody is awake to say so.
    sim.on(sim.label("g1", "program.spawned", { key = "k" }),
           sim.proc.pause("g1.lobby"),
           sim.after(1250, sim.proc.resume("g1.lobby"))),
  },

  expect = {
    holds    = { "same_answer", "late_completer_harmless", "no_false_definite" },
    by_param = {
      on_unknown = {
        block = { holds = { "at_most_once", "mutual_exclusion", "unknown_honest" } },
        retry = { relaxed = { at_most_once = "a run nobody hears of may be run again" },
                  bounds = { handler_runs_per_key =
                             1 + sim.fault_count("lease_expiry") },
                  sometimes = {
                    late_completion_refused = function(h)
                      return h:count { kind = "store", script = "complete",
                                       code = "LOST" } > 0
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
              live = { runs = 2 } },
}
