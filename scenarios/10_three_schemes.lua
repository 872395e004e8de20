-- The three ways to keep a key in Redis, in three situations: two requests at once,
-- many clients that retry, and a crash between claim and complete.  One script in one
-- step keeps its promises; SET NX keeps no answer, and nothing once its time is over;
-- a look before and a save after lets two run.
local sim = require "idemsim"
sim.api(1)
local seen = require "_seen"

local scheme    = sim.param("scheme", "script", { "setnx", "check", "script" })
local situation = sim.param("situation", "duplicates", { "duplicates", "storm", "crash" })

local loads = {
  duplicates = sim.script {
    { at = 0,   client = "c1", send = { key = "k", to = "g1" } },
    { at = 0,   client = "c2", send = { key = "k", to = "g2" } },
    { at = 900, client = "c3", send = { key = "k", to = "g1" } },
    { at = 900, client = "c4", send = { key = "k", to = "g2" } },
  },
  storm = sim.storm { clients = 30, keys = sim.keys { n = 2 }, at = 0, within = 20,
                      retry = sim.retry { max = 20, timeout = sim.const(2000),
                                          backoff = "const", base = 30, key = "reuse",
                                          on = { "timeout", "reset", "busy" } } },
  crash = sim.script {
    { at = 0,   client = "c1", send = { key = "k", to = "g1" } },
    { at = 600,  client = "c2", send = { key = "k", to = "g2" } },   -- within the lease
    { at = 2100, client = "c2", send = { key = "k", to = "g2" } },   -- and after it
  },
}

local faults = situation == "crash" and {
  sim.on(sim.label("g1", "effect.after", { key = "k" }), sim.proc.kill("g1"),
         sim.after(50, sim.proc.restart("g1"))),
} or {}

-- a lease is over in time only where that is the point: SET NX keeps nothing then
local lease = situation == "crash" and "1500ms" or "30s"
local limit = situation == "crash" and "1200ms" or "25s"

local kept = "SET NX keeps a word, and no answer"

-- what is certain of each, and what is not promised
local expect = {
  script = {
    duplicates = { holds = { "at_most_once", "mutual_exclusion", "same_answer", "ack_durable",
                             "busy_honest", "no_false_definite" } },
    storm      = { holds = { "at_most_once", "mutual_exclusion", "same_answer", "ack_durable",
                             "busy_honest", "no_false_definite" },
                   bounds = { handler_runs_per_key = 1 } },
    crash      = { holds = { "at_most_once", "no_false_definite", "unknown_honest" },
                   sometimes = {
                     told_unknown = function(h)
                       return h:count { kind = "reply", client = "c2", class = "unknown" } > 0
                     end } },
  },
  setnx = {
    duplicates = { holds = { "at_most_once", "mutual_exclusion", "no_false_definite" },
                   violates = { "ack_durable" } },
    storm      = { holds = { "at_most_once", "mutual_exclusion", "no_false_definite" },
                   violates = { "ack_durable" }, bounds = { handler_runs_per_key = 1 } },
    crash      = { violates = { "at_most_once" },
                   relaxed = { ack_durable = kept },
                   sometimes = {
                     claimed_as_long_as_it_lasts = function(h)
                       return h:count { kind = "reply", client = "c2", class = "busy" } > 0
                     end } },
  },
  check = {
    duplicates = { violates = { "at_most_once", "mutual_exclusion", "same_answer" } },
    storm      = { violates = { "at_most_once", "mutual_exclusion", "storm_bounded" },
                   bounds = { handler_runs_per_key = 1 } },
    crash      = { violates = { "at_most_once" } },
  },
}

local wanted = expect[scheme][situation]
wanted.eventually = { "new_keys_succeed" }

return sim.scenario {
  name  = scheme .. ": " .. situation,
  modes = { "model", "live" },

  topology = {
    redis = { a = {} },
    gates = { n = 2, arbiter = "redis", store = "a",
              config = seen.patient { scheme = scheme, lease = lease, limit = limit,
                                      -- whoever waits for a claim that is slow to come back
                                      -- is told that the key is in progress
                                      wait = scheme == "script" and situation == "storm" and "3s"
                                        or "50ms" } },
  },

  handler = sim.handler { effect = "append", service = sim.const(300) },

  load   = { loads[situation] },
  faults = faults,
  expect = wanted,

  explore = { exhaustive = { gates = 2, clients = 2, keys = 1, attempts = 2 },
              live = { runs = 2 } },
}
