-- Whoever makes a key, and in whatever style, one run comes of it: when its owner is
-- killed between claim and complete, when Redis goes away, when two ask at the same
-- moment, and when all do.
-- A client that makes a new one for each retry asks for something new each time.
local sim = require "idemsim"
sim.api(1)
local seen = require "_seen"

-- the client makes it, or idem does: at the endpoint, or in the form of a page
local from = sim.param("from", "uuid", { "uuid", "business", "composite", "mint", "form" })
local situation = sim.param("situation", "crash", { "crash", "outage", "duplicates", "storm",
                                                   "new_key" })

local issued = from == "mint" or from == "form"
local all = { "timeout", "reset", "busy", "unavailable" }

local retries = sim.retry { max = 40, timeout = sim.const(2000), backoff = "const", base = 50,
                            key = "reuse", on = all }

local loads = {
  crash = {
    sim.script {
      { at = 0,    client = "c1", send = { key = "k", from = from, body = "item=1", to = "g1" } },
      { at = 400,  client = "c1", send = { key = "k", body = "item=1", to = "g2" } },
      { at = 1600, client = "c1", send = { key = "k", body = "item=1", to = "g1" } },
    },
  },
  -- it begins while k1 runs, and others come before, meanwhile and after
  outage = {
    sim.closed { clients = 1, keys = sim.keys { n = 1, from = from }, requests_per_client = 2,
                 retry = retries },
    sim.open { rate = 20, for_ms = 2000, keys = sim.keys { once = true, from = from },
               retry = retries },
  },
  -- with no fault, and nobody waits: whoever is told that it is in progress is right
  duplicates = {
    sim.script {
      { at = 0,    client = "c1", send = { key = "k", from = from, body = "item=1", to = "g1" } },
      { at = 0,    client = "c2", send = { key = "k", body = "item=1", to = "g2" } },
      { at = 1500, client = "c2", send = { key = "k", body = "item=1", to = "g2" } },
    },
  },
  storm = {
    sim.storm { clients = 30, keys = sim.keys { n = 3, from = from }, at = 0, within = 10,
                retry = retries },
  },
  new_key = {
    sim.closed { clients = 1, keys = sim.keys { n = 1, from = from }, requests_per_client = 1,
                 retry = sim.retry { max = 3, timeout = sim.const(100), backoff = "const",
                                     base = 20, key = "rotate", on = { "timeout" } } },
  },
}

local faults = {
  crash = {
    sim.on(sim.label("g1", "effect.after", { key = "k" }), sim.proc.kill("g1"),
           sim.after(100, sim.proc.restart("g1"))),
  },
  outage = {
    sim.on(sim.effect("k1"), sim.store.kill("a"), sim.after(700, sim.store.restart("a"))),
  },
}

local function replied(t)
  t.kind = "reply"
  return function(h) return h:count(t) > 0 end
end

-- What idem has issued is in nobody's hands before its store has it; and what was not
-- used before a restart of that store is void after it, as nobody can know.
local good_or_void = sim.invariant("a token is good, or its store was started again", function(h)
  local got = {}
  for e in h:each { kind = "reply" } do
    if e.get and e.class == "ok" then got[e.what] = e.ms end
  end
  for e in h:each { kind = "reply", mark = "void-token" } do
    local again
    for s in h:each { kind = "spawn", p = "a" } do
      again = again or (s.ms > (got[e.k] or 0) and s.ms < e.ms)
    end
    if not again then return false, e.k .. " was void, and a was there all the time" end
  end
  return true
end)

-- refused while it was away, and served when the same was asked again
local function served_later(refused, key_of)
  return function(h)
    local before = {}
    for e in h:each { kind = "reply", audit = false } do
      local key = key_of(e)
      if key and refused(e) then before[key] = true end
      if key and e.class == "ok" and before[key] then return true end
    end
    return false
  end
end

local away = {
  it_died = seen.died("a"),
  refused_then_served = issued
    and served_later(function(e) return e.class == "fail" end,
                     function(e) return e.get and e.what end)
    or served_later(function(e) return e.mark == "not-started" end,
                    function(e) return e.k end),
}

local expect = {
  crash = {
    holds = { "at_most_once", "no_false_definite", "unknown_honest", "answers_honest" },
    sometimes = { it_died = seen.died("g1"),
                  told_unknown = replied { k = "k", class = "unknown" } },
  },
  outage = {
    holds = { "at_most_once", "same_answer", "ack_durable", "no_false_definite", "answers_honest",
              good_or_void },
    sometimes = away,
  },
  duplicates = {
    holds = { "at_most_once", "mutual_exclusion", "same_answer", "ack_durable", "busy_honest",
              "no_false_definite" },
    sometimes = { told_busy = replied { class = "busy" },
                  told_again = replied { mark = "replayed" } },
  },
  storm = {
    holds = { "at_most_once", "mutual_exclusion", "same_answer", "ack_durable",
              "no_false_definite", "storm_bounded" },
    bounds = { handler_runs_per_key = 1 },
    sometimes = { others_wait = replied { source = "waited" },
                  told_again = replied { mark = "replayed" } },
  },
  new_key = {
    holds = { "at_most_once" },
    violates = { "at_most_once_per_business_id" },
    blames = "client",
  },
}

local wanted = expect[situation]
wanted.eventually = { "resolves", "new_keys_succeed" }

return sim.scenario {
  name  = from .. ": " .. situation,
  modes = { "model", "live" },

  topology = {
    redis = { a = { persistence = situation == "outage" and "aof_always" or "none" } },
    gates = { n = 2, arbiter = issued and "token" or "redis", store = "a",
              config = situation == "outage"
                and { lease = "3s", wait = "50ms", store_timeout = "200ms", probe_every = "100ms" }
                or seen.patient { lease = situation == "duplicates" and "3s" or "600ms",
                                  limit = situation == "duplicates" and "2s" or "500ms",
                                  -- who waits for a claim that is slow to come back is
                                  -- told that the key is in progress
                                  wait = situation == "storm" and "3s" or "50ms" } },
  },

  handler = sim.handler { effect = "append",
                          service = sim.const(situation == "duplicates" and 600 or 150),
                          business_id = situation == "new_key" and "order-7" or nil },

  load   = loads[situation],
  faults = faults[situation] or {},
  expect = wanted,

  explore = { exhaustive = { gates = 2, clients = 2, keys = 1, attempts = 2 },
              live = { runs = 1 } },
}
