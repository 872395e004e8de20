-- kill -9 at EVERY labelled point of the request path, one at a time, including
-- the window "side effect durable, completion not recorded".
local sim = require "idemsim"
sim.api(1)
local seen = require "_seen"

local points = { "slot.taken", "claim.sent", "claim.ok", "program.spawned",
                 "program.out.first", "effect.before", "effect.after", "program.exited",
                 "ledger.begin", "ledger.committed", "complete.sent", "complete.ok",
                 "reply.first_byte", "reply.sent" }

return sim.matrix(points, function(point)
  return sim.scenario {
    name  = "crash at " .. point,
    modes = { "model", "live" },

    topology = {
      redis = { a = {} },
      gates = { n = 2, arbiter = "ledger", store = "a", ledger = "shared",
                config = { lease = "1500ms", on_unknown = "block" } },
    },

    handler = sim.handler { effect = "append", service = sim.const(40), output_bytes = 70000 },

    load = {
      sim.script {
        { at = 0,    client = "c1", send = { key = "k", body = "x" } },
        { at = 100,  client = "c2", send = { key = "k", body = "x" } },   -- overlaps the crash
        { at = 2500, client = "c3", send = { key = "k", body = "x" } },   -- after the lease
      },
    },

    faults = {
      sim.on(sim.label("g1", point, { key = "k", nth = 1 }),
             sim.proc.kill("g1"),                          -- SIGKILL, handler's group too
             sim.after(200, sim.proc.restart("g1"))),
    },

    heal = { at = 3000, quiet = 3000 },

    expect = {
      holds      = { "at_most_once", "same_answer", "ack_durable", "no_false_definite",
                     "unknown_honest", "no_partial_success" },
      eventually = { "resolves" },
      -- the label itself must have been reached, or this row of the matrix is vacuous
      fired      = "all",
      sometimes  = {
        it_died = seen.died("g1"),
        unknown_reported = point == "effect.after" and function(h)
          return h:count { kind = "reply", class = "unknown" } > 0
        end or nil,
      },
    },

    explore = { exhaustive = { gates = 2, clients = 2, keys = 1, attempts = 2 },
                random = { schedules = 50000 }, live = { runs = 2 } },
  }
end)
