-- Who has lost a key cannot free it: a release by its former owner changes
-- nothing for the present one.
-- Reported: https://github.com/zoolutions/sidekiq-unique-jobs/issues/94
-- A job that ran longer than its lock lived deleted, when it was done, the lock
-- that another job had taken since; nobody looked whose it was.
local sim = require "idemsim"
sim.api(1)

return sim.scenario {
  name = "a late owner releases what another has taken over",

  topology = { redis = { a = {} },
               gates = { n = 3, arbiter = "redis", store = "a",
                         config = { lease = "200ms", limit = "400ms",
                                    grace = "100ms", wait = "20ms",
                                    on_unknown = "retry" } } },

  handler = sim.handler { effect = "append", service = sim.const(300) },

  load = {
    sim.script {
      { at = 0,    client = "c1", send = { key = "k" } },
      { at = 500,  client = "c2", send = { key = "k" } },
      { at = 1000, client = "c2", send = { key = "k" } },
      { at = 1150, client = "c3", send = { key = "k" } },   -- is it free?
      { at = 1400, client = "c3", send = { key = "k" } },
    },
  },

  faults = {
    -- g1 has the key and sleeps before the program begins.  Awake again it finds
    -- that it is too late to begin, and gives back what is not its own any more.
    sim.on(sim.label("g1", "claim.ok", { key = "k" }), sim.proc.pause("g1")),
    sim.on(sim.label("g2", "program.spawned", { key = "k" }),
           sim.after(20, sim.proc.resume("g1"))),
  },

  expect = {
    holds      = { "at_most_once", "mutual_exclusion", "no_false_definite",
                   "same_answer", "late_completer_harmless" },
    eventually = { "resolves" },
    sometimes  = {
      release_refused = function(h)
        return h:count { kind = "store", script = "release", code = "LOST" } > 0
      end,
    },
  },

  explore = { exhaustive = { gates = 2, clients = 2, keys = 1, attempts = 2 },
              live = { runs = 2 } },
}
