-- A key that comes with another body or Content-Type neither runs nor sees the
-- answer; with another method it is another key, but a token is refused.
-- Reported: https://github.com/stripe/stripe-mock/issues/25
-- and https://github.com/fossasia/eventyay/issues/602
-- A key was taken for the whole of the request: with other parameters it got the
-- first request's answer as if that had been asked for.
local sim = require "idemsim"
sim.api(1)
local seen = require "_seen"

local arbiter = sim.param("arbiter", "ledger", { "ledger", "token" })
local differs = sim.param("differs", "body", { "body", "method" })
local body    = "order=7&amount=200&card=1"

local function got(client, status, mark)
  return function(h)
    return h:count { kind = "reply", client = client, status = status, mark = mark } > 0
  end
end

local loads = {
  body = {
    { at = 0,   client = "c1", send = { key = "k", to = "g1", body = body } },
    -- while the first runs, and when it is done, here and there
    { at = 120, client = "c2", send = { key = "k", to = "g1", body = "order=7&amount=500&card=1" } },
    { at = 150, client = "c3", send = { key = "k", to = "g2", body = "order=7&amount=200&card=2" } },
    { at = 500, client = "c4", send = { key = "k", to = "g1", body = body .. "0" } },
    { at = 520, client = "c5", send = { key = "k", to = "g2", body = body,
                                        headers = { ["Content-Type"] = "text/html" } } },
    { at = 600, client = "c1", send = { key = "k", to = "g2", body = body } },
  },
  method = {
    { at = 0,   client = "c1", send = { key = "k", to = "g1", body = body } },
    { at = 120, client = "c2", send = { key = "k", to = "g2", body = body, method = "PUT" } },
    { at = 600, client = "c1", send = { key = "k", to = "g2", body = body } },
  },
}

local sometimes = { the_first_is_replayed = got("c1", 200, "replayed") }
if differs == "body" then
  sometimes.refused_while_it_ran   = got("c2", 422, "mismatch")
  sometimes.refused_elsewhere      = got("c3", 422, "mismatch")
  sometimes.refused_afterwards     = got("c4", 422, "mismatch")
  sometimes.refused_for_its_type   = got("c5", 422, "mismatch")
elseif arbiter == "ledger" then
  sometimes.a_key_of_its_own       = got("c2", 200, "stored")
else
  sometimes.one_token_is_one_thing = got("c2", 422, "mismatch")
end

local holds = { "at_most_once", "same_answer", "ack_durable" }
if differs == "body" or arbiter == "token" then
  holds[#holds + 1] = "fingerprint_guard"
  holds[#holds + 1] = "no_false_definite"
end

return sim.scenario {
  name  = "a key with another " .. differs .. " (" .. arbiter .. ")",
  modes = { "model", "live" },

  topology = {
    redis = { a = {} },
    gates = { n = 2, arbiter = arbiter, store = "a", ledger = "shared",
              config = seen.patient { lease = "20s" } },
  },

  handler = sim.handler { effect = "append", service = sim.const(300) },

  load = { sim.script(loads[differs]) },

  expect = { holds = holds, eventually = { "resolves" }, sometimes = sometimes },

  explore = { exhaustive = { gates = 2, clients = 2, keys = 1, attempts = 2 },
              live = { runs = 3 } },
}
