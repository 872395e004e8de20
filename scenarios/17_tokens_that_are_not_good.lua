-- What is no token, or is no longer one, or is somebody else's, starts nothing and is
-- told nothing: neither while the good one runs nor when its owner has been killed, nor
-- when all is done.
local sim = require "idemsim"
sim.api(1)
local seen = require "_seen"

local what = sim.param("what", "forged",
                       { "forged", "unissued", "elsewhere", "twice", "session", "expired" })
local owner = sim.param("owner", "lives", { "lives", "dies" })

local alice = { ["Authorization"] = "Basic YWxpY2U6eA==" }
local mallory = { ["Authorization"] = "Basic bWFsbG9yeTp4" }

-- how it is sent, and what is the answer
local spoilt = {
  forged    = { send = { token = "forged" }, status = 403, mark = "rejected" },
  unissued  = { send = { token = "unissued" }, status = 409, mark = "void-token" },
  elsewhere = { send = { token = "elsewhere" }, status = 403, mark = "rejected" },
  twice     = { send = { body = "item=2" }, status = 422, mark = "mismatch" },
  session   = { send = { headers = mallory }, status = 409, mark = "withheld" },
  expired   = { send = { key = "old" }, status = 410, mark = "expired" },
}
local bad = spoilt[what]

local function good(to, from)
  return { key = "k", from = from, body = "item=1", headers = alice, to = to }
end
local function send(to)
  local s = good(to)
  for name, value in pairs(bad.send) do s[name] = value end
  return s
end

local script
if what ~= "expired" then
  script = {
    { at = 0,    client = "c1", send = good("g1", "mint") },
    -- one of them while it runs, however busy the host is
    { at = 150,  client = "c2", send = send("g2") },
    { at = 300,  client = "c2", send = send("g2") },
    { at = 450,  client = "c2", send = send("g2") },
    { at = 600,  client = "c2", send = send("g2") },
    { at = 1900, client = "c1", send = good("g2") },
    { at = 2000, client = "c2", send = send("g1") },
    { at = 2000, client = "c2", send = send("g2") },
  }
else
  -- Who has used it within its life has its answer long after it; who has not never
  -- will.
  script = {
    { at = 0,    client = "c1", send = good("g1", "mint") },
    { at = 0,    client = "c2", get = { key = "old", from = "mint", to = "g2" } },
    { at = 3500, client = "c2", send = send("g1") },
    { at = 3550, client = "c2", send = send("g2") },
    { at = 3600, client = "c1", send = good("g2") },
  }
end

local nothing = sim.invariant("nobody runs for it, and nobody is told", function(h)
  local of = bad.send.token and "k." .. bad.send.token or bad.send.key
  for e in h:each { kind = "effect", ph = "begin" } do
    if of and e.k == of then return false, of .. " was run" end
  end
  for e in h:each { kind = "reply" } do
    local theirs = e.client == "c2" and not e.get or of and e.k == of
    if theirs and (e.mark == "stored" or e.mark == "replayed" or e.says_effect) then
      return false, "try " .. e.a .. " was told of a run"
    end
  end
  return true
end)

local function replied(t)
  t.kind = "reply"
  return function(h) return h:count(t) > 0 end
end
-- the good one had begun, and had no answer yet
local function told_while_it_ran(h)
  local begun, over
  for e in h:each {} do
    if e.kind == "effect" and e.k == "k" and e.ph == "begin" then begun = true end
    if e.kind == "ret" and e.k == "k" and e.client == "c1" then over = true end
    if e.kind == "ret" and e.client == "c2" and e.mark == bad.mark and begun and not over then
      return true
    end
  end
  return false
end

local wanted = {
  holds = { "at_most_once", "same_answer", "no_false_definite", "fingerprint_guard",
            "answers_honest", nothing },
  eventually = { "resolves", "new_keys_succeed" },
  sometimes = {
    told_why = replied { client = "c2", status = bad.status, mark = bad.mark },
    told_while_it_ran = what ~= "expired" and told_while_it_ran or nil,
  },
}
if owner == "dies" then
  wanted.sometimes.it_died = seen.died("g1")
  wanted.sometimes.told_unknown = replied { k = "k", class = "unknown" }
else
  wanted.sometimes.had = replied { client = "c1", mark = "stored" }
  wanted.sometimes.told_again = replied { client = "c1", mark = "replayed" }
end

return sim.scenario {
  name  = what .. ", and the owner " .. owner,
  modes = { "model", "live" },

  topology = {
    redis = { a = {} },
    gates = { n = 2, arbiter = "token", store = "a",
              config = seen.patient { lease = "600ms", limit = "2s", wait = "50ms",
                                      token_life = what == "expired" and "2s" or nil } },
  },

  handler = sim.handler { effect = "append", service = sim.const(400) },

  load   = { sim.script(script) },
  faults = owner == "dies" and {
    sim.on(sim.label("g1", "effect.after", { key = "k" }), sim.proc.kill("g1"),
           sim.after(100, sim.proc.restart("g1"))),
  } or {},
  expect = wanted,

  explore = { exhaustive = { gates = 2, clients = 2, keys = 1, attempts = 2 },
              live = { runs = 1 } },
}
