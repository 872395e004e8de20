-- A program that runs three times as long as its lease keeps its key, since the
-- lease is renewed; a time to live that nobody renews lets a second one begin.
local sim = require "idemsim"
sim.api(1)
local seen = require "_seen"

local how = sim.param("how", "ledger", { "ledger", "token", "redis", "auto", "setnx" })

local arbiter = (how == "ledger" or how == "token") and how or "redis"
local config  = { lease = how == "auto" and "auto" or "150ms", limit = "3s", wait = "50ms" }
if how == "setnx" then
  config.scheme = "setnx"
end

return sim.scenario {
  name  = "a lease shorter than its program (" .. how .. ")",
  modes = { "model", "live" },

  topology = {
    redis = { a = {} },
    gates = { n = 2, arbiter = arbiter, store = "a", ledger = "shared",
              config = seen.patient(config) },
  },

  handler = sim.handler { effect = "append", service = sim.const(500) },

  load = {
    sim.script {
      { at = 0,   client = "c1", send = { key = "k", to = "g1" } },
      { at = 250, client = "c2", send = { key = "k", to = "g2" } },
      { at = 400, client = "c3", send = { key = "k", to = "g2" } },
      { at = 650, client = "c2", send = { key = "k", to = "g1" } },
    },
  },

  expect = how == "setnx" and {
    violates = { "at_most_once", "mutual_exclusion" },
  } or {
    holds      = { "at_most_once", "mutual_exclusion", "same_answer", "ack_durable",
                   "no_false_definite", "busy_honest", "unknown_honest" },
    eventually = { "resolves" },
    sometimes  = {
      in_progress_after_its_lease = function(h)
        return h:count { kind = "reply", client = "c3", class = "busy" } > 0
      end,
    },
  },

  explore = { exhaustive = { gates = 2, clients = 2, keys = 1, attempts = 1 },
              live = { runs = 2 } },
}
