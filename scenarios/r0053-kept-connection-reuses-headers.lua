-- Of two requests on one kept FastCGI connection the second has nothing of the
-- first: no key, no body, no header field, no answer.
-- Reported: https://github.com/reyk/httpd/issues/49
-- On a persistent FastCGI connection the headers of the request before were sent
-- again with the next one.
local sim = require "idemsim"
sim.api(1)
local seen = require "_seen"

local arbiter = sim.param("arbiter", "ledger", { "ledger", "redis" })

local function send(key, body, headers)
  return { key = key, body = body, headers = headers, to = "g1", connection = "kept" }
end

-- whoever had the key of the request before would get its answer, or wait for it
local own_words = sim.invariant("without_a_key_it_just_runs", function(h)
  for e in h:each { kind = "ret" } do
    if e.k == nil and e.mark ~= nil then
      return false, "a request without a key was told " .. e.mark
    end
  end
  return true
end)

return sim.scenario {
  name  = "two requests on one kept connection (" .. arbiter .. ")",
  modes = { "model", "live" },

  topology = {
    redis = { a = {} },
    gates = { n = 1, arbiter = arbiter, store = "a", ledger = "shared",
              config = seen.patient { lease = "600ms" } },
  },

  handler = sim.handler { effect = "append", service = sim.const(10), output_bytes = 3000 },

  load = {
    sim.script {
      { at = 0,   client = "c1", send = send("k1", "a long body of the first request",
                                             { ["Content-Type"] = "text/html",
                                               Authorization = "Basic b25l", ["X-A"] = "1" }) },
      { at = 120, client = "c1", send = send("k2", "x") },
      { at = 240, client = "c1", send = send(nil, nil) },
      { at = 360, client = "c1", send = send("k2", "x") },
      { at = 480, client = "c1", send = send("k3", nil, { ["X-B"] = "2" }) },
      -- the same on connections of their own
      { at = 480, client = "c2", send = { key = "k2", body = "x", to = "g1" } },
    },
  },

  expect = {
    holds      = { "no_cross_talk", "at_most_once", "same_answer", own_words },
    eventually = { "resolves" },
    sometimes  = {
      kept = function(h)
        return h:count { kind = "note", p = "c1", what = "its connection is used again" } >= 4
      end,
      answered = function(h)
        return h:count { kind = "reply", client = "c1", mark = "stored" } == 3 and
               h:count { kind = "reply", client = "c1", mark = "replayed" } == 1 and
               h:count { kind = "reply", client = "c2", mark = "replayed" } == 1
      end,
    },
  },

  explore = { exhaustive = { gates = 1, clients = 1, keys = 2, attempts = 1 },
              live = { runs = 3 } },
}
