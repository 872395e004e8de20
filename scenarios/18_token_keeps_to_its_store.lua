-- A token keeps to the store that issued it: one that the ledger of a host has issued
-- while Redis was away is good at that host, before and after Redis is back, and no
-- other host takes it for its own.  And nobody has a token before it is stored.
local sim = require "idemsim"
sim.api(1)
local seen = require "_seen"

local from  = sim.param("from", "mint", { "mint", "form" })
local fault = sim.param("fault", "away", { "away", "lost_reply" })

local function replied(t)
  t.kind = "reply"
  return function(h) return h:count(t) > 0 end
end

local cases = {
  away = {
    ledger = { g1 = "h1", g2 = "h2" },
    load = {
      { at = 400,  client = "c1", get = { key = "k", from = from, to = "g1" } },
      { at = 450,  client = "c1", send = { key = "k", body = "item=1", to = "g1" } },
      { at = 450,  client = "c2", get = { key = "later", from = from, to = "g1" } },
      { at = 800,  client = "c2", send = { key = "k", body = "item=1", to = "g2" } },
      -- Redis is there again
      { at = 2400, client = "c1", send = { key = "k", body = "item=1", to = "g1" } },
      { at = 2400, client = "c3", send = { key = "k", body = "item=1", to = "g2" } },
      { at = 2400, client = "c4", send = { key = "later", body = "item=2", to = "g1" } },
      { at = 2700, client = "c4", send = { key = "later", body = "item=2", to = "g1" } },
      { at = 2700, client = "c2", send = { key = "later", body = "item=2", to = "g2" } },
    },
    faults = {
      sim.on(sim.at(100), sim.store.kill("a")),
      sim.on(sim.reply("c1"), sim.after(400, sim.store.restart("a"))),
    },
    -- at the other host it never will be
    relaxed = { resolves = "another host's ledger has issued it" },
    sometimes = {
      it_died         = seen.died("a"),
      issued_meanwhile = function(h)
        local gone
        for e in h:each {} do
          if e.p == "a" and e.kind == "exit" then gone = true end
          if e.p == "a" and e.kind == "spawn" then gone = false end
          if gone and e.get and e.kind == "ret" and e.class == "ok" then return true end
        end
        return false
      end,
      good_at_once    = replied { client = "c1", k = "k", mark = "stored" },
      good_afterwards = replied { client = "c4", k = "later", mark = "stored" },
      told_again      = replied { client = "c1", k = "k", mark = "replayed" },
      not_at_another  = replied { client = "c3", k = "k", status = 503, mark = "not-started" },
    },
  },
  -- the record is there, and who issued it has not been told: another one is, or the same
  lost_reply = {
    ledger = nil,
    load = {
      { at = 0,    client = "c1", send = { key = "k", from = from, body = "item=1", to = "g1" } },
      { at = 2500, client = "c2", send = { key = "k", body = "item=1", to = "g2" } },
    },
    faults = {
      sim.on(sim.at(0), sim.net.drop("g1->a", { dir = "reply", script = "issue" })),
    },
    sometimes = {
      it_was_lost = seen.message("recv", "lost", "issue"),
      good        = replied { client = "c1", k = "k", mark = "stored" },
      told_again  = replied { client = "c2", k = "k", mark = "replayed" },
    },
  },
}
local case = cases[fault]

return sim.scenario {
  name  = from .. ": " .. fault,
  modes = { "model", "live" },

  topology = {
    redis = { a = {} },
    gates = { n = 2, arbiter = "token", store = "a", ledger = case.ledger,
              config = seen.patient { lease = "1s", wait = "50ms",
                                      store_timeout = fault == "lost_reply" and "200ms" or nil } },
  },

  handler = sim.handler { effect = "append", service = sim.const(40) },

  load   = { sim.script(case.load) },
  faults = case.faults,

  expect = {
    holds      = { "at_most_once", "same_answer", "no_false_definite", "answers_honest" },
    eventually = case.relaxed and { "new_keys_succeed" } or { "resolves", "new_keys_succeed" },
    relaxed    = case.relaxed,
    sometimes  = case.sometimes,
  },

  explore = { exhaustive = { gates = 2, clients = 2, keys = 1, attempts = 1 },
              live = { runs = 1 } },
}
