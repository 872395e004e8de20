-- Asynchronous replication: the primary acknowledges the last N writes, dies, and a
-- replica without them is promoted. Ledger and tokens must survive it; client keys cannot:
-- there once, same answer and kept last as long as Redis remembers, so all three are relaxed.
local sim = require "idemsim"
sim.api(1)
local seen = require "_seen"

local lose = sim.param("lose", 1, { 1, 2 })
local arbiter = sim.param("arbiter", "ledger", { "ledger", "token", "redis" })
-- Under ledger nothing is written there at that moment: there is a cache.
local tail = arbiter ~= "ledger" and { lose = lose } or nil

local function acked_write_vanished(h)
  return h:count { kind = "store", note = "lost_ack" } > 0
end

return sim.scenario {
  name  = "failover loses the last " .. lose .. " acknowledged store writes",
  modes = { "model", "live" },

  topology = {
    redis = { a = {}, b = { replica_of = "a" } },
    gates = { n = 2, store = "a", arbiter = arbiter, ledger = "shared",
              config = { lease = "2500ms" } },
  },

  handler = sim.handler { effect = "append", service = sim.const(120) },

  load = {
    sim.script {
      { at = 0,   client = "c1", send = { key = "k" } },
      { at = 60,  client = "c2", send = { key = "k" } },
      { at = 900, client = "c3", send = { key = "k" } },
    },
  },

  faults = {
    sim.on(sim.label("*", lose == 1 and "claim.ok" or "complete.ok", { key = "k", nth = 1 }),
           sim.store.failover("a", "b", tail),                 -- kill a, promote b, repoint gates
           sim.after(400, sim.store.rejoin("a", { as = "replica_of", of = "b" }))),
    sim.maybe(1, sim.store.error("b", "READONLY"), { window = { 0, 500 } }),
    sim.maybe(1, sim.store.script_flush("b")),                 -- promoted node never saw the scripts
  },

  heal = { at = 1500, quiet = 4000 },

  expect = {
    holds      = { "same_answer", "no_false_definite", "no_cross_talk" },
    by_param   = {
      -- under ledger no Redis write happens at that moment, so none can vanish
      arbiter = { ledger = { holds = { "at_most_once", "mutual_exclusion" },
                             sometimes = { primary_died = seen.died("a") } },
                  token  = { holds = { "at_most_once", "mutual_exclusion" },     -- refused by history
                             sometimes = { acked_write_vanished = acked_write_vanished } },
                  redis  = { relaxed = { at_most_once = "Redis forgot an acknowledged claim",
                                         ack_durable = "the same", same_answer = "the same" },
                             sometimes = { acked_write_vanished = acked_write_vanished } } },
    },
    eventually = { "resolves", "new_keys_succeed" },
  },

  explore = { exhaustive = { gates = 2, clients = 2, keys = 1, attempts = 2 },
              random = { schedules = 100000 }, live = { runs = 3 } },
}
