-- SPDX-License-Identifier: ISC
-- What `idemsim matrix` runs: each way to deploy idem, in each situation, under the
-- same load.  Its names are those of the rows and columns there.
local sim = require "idemsim"
sim.api(1)

local deploy = sim.param("deploy", "ledger", {
  "ledger", "ledger+cache", "token", "script", "setnx", "check",
  "memory", "database", "pass" })
-- The ledger alone has no Redis that could fail.
local fault = sim.param("fault", "none", deploy == "ledger"
  and { "none", "storm", "killed", "slow" }
  or { "none", "storm", "lost-reply", "away", "empty", "failover", "killed", "slow" })

-- What strikes does so at `from`; what of it is in the way of requests is over by `to`.
local from = sim.param("from_ms", 500, { 500 })
local to   = sim.param("to_ms", 1300, { 1300 })
local up   = 1000

local arbiter = deploy == "ledger+cache" and "ledger"
  or (deploy == "ledger" or deploy == "token") and deploy or "redis"

local config = { lease = "400ms", limit = "3s", grace = "300ms", wait = "200ms" }
if deploy ~= "ledger" then
  config.store_timeout, config.probe_every = "100ms", "100ms"
end
if deploy == "setnx" or deploy == "check" then
  config.scheme = deploy
elseif deploy == "memory" or deploy == "database" or deploy == "pass" then
  config.on_outage = deploy
end
if fault == "slow" then
  config.lease = "150ms"
end

local redis = { a = { persistence = fault == "away" and "aof_always" or "none" } }
if fault == "failover" then
  redis.b = { replica_of = "a" }
end

-- A client whose try ends without a final answer asks again with the same key.
local retry = sim.retry { max = 6, timeout = sim.const(400), backoff = "exp", base = 50,
                          cap = 400, jitter = "full", key = "reuse",
                          on = { "timeout", "reset", "busy", "unavailable" } }
local load = {
  sim.open { rate = 90, for_ms = 1600, arrivals = "even", keys = sim.keys { n = 60 },
             retry = retry },
}
if fault == "storm" then
  load[2] = sim.storm { clients = 120, keys = sim.keys { n = 6 }, at = from, within = 20,
                        retry = sim.retry { max = 12, timeout = sim.const(100),
                                            backoff = "none", key = "reuse",
                                            on = { "timeout", "reset", "busy", "unavailable" } } }
end

local strikes = {
  ["lost-reply"] = function()
    -- the command was carried out, and who sent it is not told
    return { sim.on(sim.at(from), sim.net.drop("*->a", { dir = "reply", times = 6 }),
                    sim.after(to - from, sim.net.heal("*->a"))) }
  end,
  away = function()
    return { sim.on(sim.at(from), sim.store.kill("a"),
                    sim.after(up - from, sim.store.restart("a"))) }
  end,
  empty = function()
    return { sim.on(sim.at(from), sim.store.kill("a"),
                    sim.after(up - from, sim.store.restart("a", { empty = true }))) }
  end,
  failover = function()
    -- the replica has all but the last writes, of about four keys, when its master dies
    return { sim.on(sim.at(from), sim.store.failover("a", "b", { lose = 8 })) }
  end,
  killed = function()
    -- the program has done what it is for, and nobody has noted it; so many have begun
    -- at g1 a little after `from`
    return { sim.on(sim.label("g1", "effect.after", { nth = 18 }),
                    sim.proc.kill("g1"), sim.after(200, sim.proc.restart("g1"))) }
  end,
  slow = function()
    return { sim.on(sim.at(from), sim.proc.pause("g1"),
                    sim.after(to - from, sim.proc.resume("g1"))) }
  end,
}

return sim.scenario {
  name  = deploy .. ", " .. fault,
  modes = { "live" },

  topology = {
    redis = redis,
    gates = { n = 2, arbiter = arbiter, store = deploy ~= "ledger" and "a" or nil,
              ledger = "shared", config = config },
  },

  handler = sim.handler { effect = "append",
                          service = fault == "slow" and sim.uniform(250, 350)
                                    or sim.uniform(20, 60) },

  load   = load,
  faults = strikes[fault] and strikes[fault]() or {},
  heal   = { at = to + 100, quiet = 2500 },

  expect = { fired = "none", eventually = { "resolves" } },

  explore = { live = { runs = 3, wall_s = 30 } },
}
