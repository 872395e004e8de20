-- A client whose connection is reset after the program has succeeded retries and
-- gets the answer that it missed.
-- Reported: https://github.com/digitalocean/netbox-ip-controller/pull/14
-- The server answered a POST with "connection reset" though it had created the
-- address; the controller took that for a failure and created another one.
local sim = require "idemsim"
sim.api(1)

local arbiter = sim.param("arbiter", "ledger", { "ledger", "token", "redis" })

return sim.scenario {
  name  = "a reset after success (" .. arbiter .. ")",
  modes = { "model", "live" },

  topology = {
    redis = { a = {} },
    gates = { n = 2, arbiter = arbiter, store = "a", ledger = "shared",
              config = { lease = "600ms" } },
  },

  handler = sim.handler { effect = "append", service = sim.const(20), output_bytes = 2000 },

  load = {
    sim.closed { clients = 1, keys = sim.keys { n = 1 }, requests_per_client = 1,
                 retry = sim.retry { max = 3, timeout = sim.const(2000), backoff = "const",
                                     base = 20, key = "reuse", on = { "reset" } } },
  },

  faults = {
    -- it is recorded, and not a byte of it has been sent
    sim.on(sim.label("g1", "complete.ok"), sim.proc.kill("g1")),
  },

  expect = {
    holds      = { "at_most_once", "same_answer", "ack_durable", "no_partial_success" },
    eventually = { "resolves" },
    sometimes  = {
      reset_then_replayed = function(h)
        return h:count { kind = "reply", client = "c1", how = "cut" } > 0 and
               h:count { kind = "reply", client = "c1", mark = "replayed" } > 0
      end,
    },
  },

  explore = { exhaustive = { gates = 2, clients = 1, keys = 1, attempts = 2 },
              live = { runs = 2 } },
}
