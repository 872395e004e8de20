-- What Redis acknowledged in the minority of a partition is gone when the
-- majority has promoted a replica: a key that was run is not run once more.
-- Reported: https://aphyr.com/posts/283-jepsen-redis
-- (and https://timothya.com/learning/jepsen-redis)
-- Clients went on writing to the old primary while Sentinel had promoted a
-- replica on the other side.  When the network was whole again the old one was
-- demoted and dropped its writes: 56 % of those that it had acknowledged.
local sim = require "idemsim"
sim.api(1)
local seen = require "_seen"

local arbiter = sim.param("arbiter", "ledger", { "ledger", "token", "redis" })

local retry = sim.retry { max = 6, timeout = sim.const(1000), backoff = "exp",
                          base = 20, cap = 200, jitter = "full", key = "reuse",
                          on = { "timeout", "reset", "busy", "unavailable" } }

local function acked_write_vanished(h)
  return h:count { kind = "store", note = "lost_ack" } > 0
end

return sim.scenario {
  name = "the minority's acknowledged writes are dropped",

  topology = {
    redis = { a = { persistence = "aof_always" }, b = { replica_of = "a" } },
    gates = { n = 2, arbiter = arbiter, store = "a",
              ledger = arbiter == "ledger" and "shared" or nil,
              config = { lease = "600ms", store_timeout = "150ms",
                         probe_every = "50ms", local_cache = "none" } },
  },

  handler = sim.handler { effect = "append", service = sim.const(20) },

  load = {
    sim.closed { clients = 4, keys = sim.keys { n = 24 },
                 requests_per_client = 12, think = sim.uniform(20, 80),
                 retry = retry },
  },

  faults = {
    sim.on(sim.at(200), sim.store.lag("b", "freeze")),  -- the partition
    sim.on(sim.at(500), sim.store.failover("a", "b"),   -- the majority's word
           sim.after(100, sim.store.rejoin("a", { as = "replica_of", of = "b" }))),
  },

  expect = {
    holds    = { "no_cross_talk" },
    by_param = {
      arbiter = {
        ledger = { holds = { "at_most_once", "same_answer", "ack_durable",
                             "mutual_exclusion" } },
        token  = { holds   = { "at_most_once", "same_answer", "no_false_definite" },
                   relaxed = { ack_durable = "Redis forgot: the token is void" },
                   sometimes = { acked_write_vanished = acked_write_vanished } },
        redis  = { relaxed = { at_most_once = "Redis forgot acknowledged claims",
                               same_answer = "the same", ack_durable = "the same" },
                   sometimes = { acked_write_vanished = acked_write_vanished } },
      },
    },
    eventually = { "resolves" },
    sometimes  = { redis_died = seen.died("a") },
  },

  explore = { exhaustive = { gates = 2, clients = 2, keys = 1, attempts = 2 },
              live = { runs = 2 } },
}
