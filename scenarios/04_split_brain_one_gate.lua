-- One gate cannot reach Redis while the others can (asymmetric, and only one
-- direction at first), so "is Redis down?" has two honest and different answers.
-- Who goes on without it runs a key once more that another has run, and says so.
local sim = require "idemsim"
sim.api(1)

local ran_twice = { run_once_more = function(h) return #h:effects("m") >= 2 end }

return sim.scenario {
  name  = "split brain: g1 alone sees redis down",
  modes = { "model", "live" },

  topology = {
    redis = { a = { persistence = "aof_everysec" } },
    gates = { n = 3, arbiter = "redis", store = "a",
              -- the interesting deployment: one ledger per host, NOT shared
              ledger = { g1 = "host1", g2 = "host2", g3 = "host2" },
              config = { lease = "2000ms", store_timeout = "100ms",
                         on_outage = sim.param("on_outage", "reject",
                                                   { "reject", "database", "pass" }) } },
  },

  handler = sim.handler { effect = "append", service = sim.const(50) },

  load = {
    sim.script {
      { at = 0,    client = "c1", send = { key = "k", to = "g1" } },
      { at = 5,    client = "c2", send = { key = "k", to = "g2" } },
      { at = 300,  client = "c1", send = { key = "k", to = "g3" } },   -- retry lands elsewhere
      { at = 2600, client = "c1", send = { key = "k", to = "g1" } },   -- after the heal
      -- what g2 has done, asked for where nobody can know of it; twice, for g1 may just
      -- have been killed
      { at = 900,  client = "c5", send = { key = "m", to = "g2" } },
      { at = 1300, client = "c6", send = { key = "m", to = "g1" } },
      { at = 2100, client = "c6", send = { key = "m", to = "g1" } },
    },
    sim.closed { clients = 2, keys = sim.keys { n = 3 }, requests_per_client = 2,
                 retry = sim.retry { max = 4, timeout = sim.const(250), backoff = "const", base = 100,
                                     key = "reuse", on = { "timeout", "unavailable", "busy" } } },
  },

  faults = {
    sim.on(sim.at(0),    sim.net.oneway("g1->a", "request")),   -- requests vanish, socket stays open
    sim.on(sim.at(800),  sim.net.refuse("g1->a")),              -- then connection refused
    sim.on(sim.at(2400), sim.net.heal("g1->a")),
    sim.maybe(1, sim.proc.kill("g1"), { window = { 0, 2400 }, restart_after = 100 }),
  },

  heal = { at = 2400, quiet = 3000 },

  expect = {
    holds = { "no_false_definite", "no_cross_talk" },
    -- verdict depends on the policy under test: the simulator is told what is promised
    by_param = {
      on_outage = {
        reject      = { holds = { "at_most_once", "mutual_exclusion", "same_answer", "ack_durable" },
                        sometimes = { refused = function(h)
                          return h:count { kind = "reply", client = "c6", mark = "not-started" } > 0
                        end } },
        database    = { relaxed = { at_most_once = "ledgers are per host and not shared" },
                        holds = { "divergence_reported" }, sometimes = ran_twice },
        pass        = { relaxed = { at_most_once = "documented as at-least-once" },
                        holds = { "divergence_reported" }, sometimes = ran_twice },
      },
    },
    eventually = { "resolves" },
    sometimes  = { both_asked = function(h) return h:overlap("k", "g1", "g2") end },
  },

  explore = { exhaustive = { gates = 2, clients = 2, keys = 1, attempts = 2 },
              random = { schedules = 100000 }, live = { runs = 3 } },
}
