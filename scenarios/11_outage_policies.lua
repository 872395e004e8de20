-- What is done while Redis is away: refuse, count in a memory of this host, ask the
-- ledger, or run everything.  Only the first keeps a key from starting twice; the
-- others answer, and mark and report each start that nobody permitted.
local sim = require "idemsim"
sim.api(1)

local on_outage = sim.param("on_outage", "reject", { "reject", "memory", "database", "pass" })

local function replies(t)
  t.kind = "reply"
  return function(h) return h:count(t) > 0 end
end

-- k2 is asked for only while Redis is away, and then again
local function starts_of_k2(n)
  return function(h) return #h:effects("k2") >= n end
end
local one_ledger = sim.invariant("the_ledger_knows_its_own_runs", function(h)
  return #h:effects("k2") == 1, "k2 ran " .. #h:effects("k2") .. " times"
end)

return sim.scenario {
  name  = "Redis is away: " .. on_outage,
  modes = { "model", "live" },

  topology = {
    redis = { a = {} },
    gates = { n = 2, arbiter = "redis", store = "a", ledger = "shared",
              config = { lease = "600ms", limit = "500ms", wait = "50ms",
                         store_timeout = "100ms", probe_every = "100ms",
                         on_outage = on_outage } },
  },

  handler = sim.handler { effect = "append", service = sim.const(40) },

  load = {
    sim.script {
      { at = 0,    client = "c1", send = { key = "k1", to = "g1" } },
      -- away
      { at = 250,  client = "c2", send = { key = "k1", to = "g2" } },
      { at = 250,  client = "c3", send = { key = "k2", to = "g1" } },
      { at = 250,  client = "c4", send = { key = "k2", to = "g2" } },
      { at = 550,  client = "c3", send = { key = "k2", to = "g2" } },
      -- back
      { at = 1000, client = "c1", send = { key = "k1", to = "g1" } },
      { at = 1000, client = "c3", send = { key = "k2", to = "g1" } },
    },
  },

  faults = {
    sim.on(sim.at(150), sim.net.refuse("*->a"), sim.after(550, sim.net.heal("*->a"))),
  },

  expect = {
    holds      = { "no_cross_talk" },
    eventually = { "resolves", "new_keys_succeed" },
    by_param   = {
      on_outage = {
        reject   = { holds = { "at_most_once", "mutual_exclusion", "same_answer", "ack_durable",
                               "no_false_definite" },
                     sometimes = {
                       refused = replies { status = 503, mark = "not-started" },
                       served_again = replies { client = "c3", mark = "stored" } } },
        -- two hosts, two memories; and neither knows what ran before
        memory   = { violates  = { "at_most_once" },
                     holds     = { "divergence_reported" },
                     sometimes = { marked = replies { mark = "unprotected" },
                                   once_a_host = starts_of_k2(2) } },
        -- one ledger, which does not know what Redis did before
        database = { violates  = { "at_most_once" },
                     holds     = { "divergence_reported", one_ledger },
                     sometimes = { marked = replies { mark = "unprotected" } } },
        -- whoever asks
        pass     = { violates  = { "at_most_once" },
                     holds     = { "divergence_reported" },
                     sometimes = { marked = replies { mark = "unprotected" },
                                   as_often_as_asked = starts_of_k2(3) } },
      },
    },
  },

  explore = { exhaustive = { gates = 2, clients = 2, keys = 1, attempts = 2 },
              live = { runs = 2 } },
}
