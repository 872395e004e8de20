-- What a client has been told is kept when the power goes right after the commit.
-- Reported: https://github.com/WordPress/sqlite-database-integration/pull/483
-- and https://github.com/ohdearquant/khive/issues/1408
-- With a write-ahead log and synchronous=NORMAL the last commits are only in memory
-- that the power takes with it, though every test that kills processes passes.
local sim = require "idemsim"
sim.api(1)
local seen = require "_seen"

-- before anybody is told, or when the client has read it all
local when = sim.param("when", "answered", { "answered", "committed" })

return sim.scenario {
  name  = "power loss, " .. when,
  modes = { "model", "live" },

  topology = {
    gates = { n = 2, arbiter = "ledger", ledger = "shared",
              config = { lease = "600ms", wait = "50ms" } },
  },

  handler = sim.handler { effect = "append", service = sim.const(20) },

  load = {
    sim.script {
      { at = 0,    client = "c1", send = { key = "k", to = "g1" } },
      { at = 700,  client = "c2", send = { key = "k", to = "g2" } },
      { at = 750,  client = "c1", send = { key = "k", to = "g1" } },
    },
  },

  faults = {
    sim.on(when == "answered" and sim.reply("c1", { class = "ok" })
                              or sim.label("g1", "complete.ok", { key = "k" }),
           sim.disk.power_loss("g1")),
  },

  expect = {
    holds      = { "at_most_once", "same_answer", "ack_durable", "no_partial_success" },
    eventually = { "resolves", "new_keys_succeed" },
    sometimes  = {
      the_power_went = seen.died("g1"),
      known_after_the_loss = function(h)
        return h:count { kind = "reply", client = "c2", mark = "replayed" } > 0
      end,
    },
  },

  explore = { exhaustive = { gates = 2, clients = 2, keys = 1, attempts = 2 },
              live = { runs = 2 } },
}
