-- The life of a key: issued or new, claimed, completed, replayed for as long as it is
-- kept, then a tombstone that refuses it without a run, then forgotten.
local sim = require "idemsim"
sim.api(1)
local seen = require "_seen"

local arbiter = sim.param("arbiter", "ledger", { "ledger", "token", "redis" })

local function got(client, status, mark)
  return function(h)
    return h:count { kind = "reply", client = client, status = status, mark = mark } > 0
  end
end

return sim.scenario {
  name  = "the life of a key (" .. arbiter .. ")",
  modes = { "model", "live" },

  topology = {
    redis = { a = {} },
    gates = { n = 2, arbiter = arbiter, store = "a", ledger = "shared",
              config = seen.patient { lease = "300ms", limit = "250ms", wait = "20ms",
                         keep = "450ms", keep_min = "450ms", tombstone = "1s" } },
  },

  handler = sim.handler { effect = "append", service = sim.const(100) },

  load = {
    sim.script {
      { at = 0,    client = "c1", send = { key = "k", to = "g1" } },   -- claimed, completed
      { at = 40,   client = "c2", send = { key = "k", to = "g2" } },   -- in progress
      { at = 250,  client = "c3", send = { key = "k", to = "g1" } },   -- kept
      { at = 300,  client = "c4", send = { key = "k", to = "g2" } },   -- there as well
      -- once a second an instance looks for what is past its time
      { at = 1100, client = "c5", send = { key = "k", to = "g1" } },   -- a tombstone
      { at = 1500, client = "c5", send = { key = "k", to = "g1" } },
      { at = 2300, client = "c6", send = { key = "k", to = "g2" } },   -- nothing
    },
  },

  expect = {
    holds     = { "at_most_once", "same_answer", "ack_durable", "no_false_definite",
                  "busy_honest", "answers_honest" },
    eventually = { "resolves" },
    sometimes = {
      completed   = got("c1", 200, "stored"),
      in_progress = got("c2", 409, "in-progress"),
      kept        = got("c3", 200, "replayed"),
      kept_there  = got("c4", 200, "replayed"),
      tombstone   = got("c5", 409, "expired"),
      -- a key that a client made is new again; a token nobody issued twice
      forgotten   = arbiter == "token" and got("c6", 409, "void-token") or
                    got("c6", 200, "stored"),
    },
  },

  explore = { exhaustive = { gates = 2, clients = 2, keys = 1, attempts = 1 },
              live = { runs = 1 } },
}
