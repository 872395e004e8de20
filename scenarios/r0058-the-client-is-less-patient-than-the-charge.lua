-- A client that waits two seconds for a charge of three is charged once, and so is
-- one that asks twice at once, is declined, or finds the key store down.
-- Reported: technewstoday.info, "Why an idempotency key isn't an idempotency
-- guarantee"
-- A card was charged twice because a timeout was taken for a failure; then the
-- claim of the key raced, a declined charge was repeated for ever from the store of
-- answers, and requests went on without protection while the store was away.
local sim = require "idemsim"
sim.api(1)

local variant = sim.param("variant", "timeout",
                          { "timeout", "race", "declined", "store_down" })

-- a tenth of the report's times
local patience, charge = 200, 300

local loads = {
  timeout = {
    sim.closed { clients = 1, keys = sim.keys { n = 1 }, requests_per_client = 1,
                 retry = sim.retry { max = 8, timeout = sim.const(patience),
                                     backoff = "const", base = 50, key = "reuse",
                                     on = { "timeout", "busy" } } },
  },
  race = {
    sim.storm { clients = 4, keys = sim.keys { n = 1 }, at = 0, within = 0,
                retry = sim.retry { max = 8, timeout = sim.const(2000), backoff = "const",
                                    base = 100, key = "reuse", on = { "busy" } } },
  },
  declined = {
    sim.script {
      { at = 0,   client = "c1", send = { key = "k", body = "amount=200" } },
      { at = 400, client = "c1", send = { key = "k", body = "amount=200" } },
      -- another card is another operation, so it has a key of its own
      { at = 450, client = "c1", send = { key = "k2", body = "amount=200&card=2" } },
    },
  },
  store_down = {
    sim.closed { clients = 2, keys = sim.keys { n = 1 }, requests_per_client = 1,
                 retry = sim.retry { max = 30, timeout = sim.const(2000), backoff = "const",
                                     base = 50, key = "reuse",
                                     on = { "timeout", "unavailable", "busy" } } },
  },
}

return sim.scenario {
  name  = "a charge that outlasts its client: " .. variant,
  modes = { "model", "live" },

  topology = {
    redis = { a = { persistence = "aof_always" } },
    gates = { n = 2, arbiter = "redis", store = "a",
              -- a busy host is not to look like a store that is down, nor a claim that is
              -- slow to come back like a charge
              config = { lease = "600ms", wait = variant == "race" and "200ms" or "50ms",
                         store_timeout = variant == "store_down" and "100ms" or "2s",
                         budget = variant == "store_down" and "300ms" or "4s",
                         probe_every = "100ms", on_outage = "reject" } },
  },

  handler = sim.handler { effect = "append", service = sim.const(charge),
                          status = variant == "declined" and 402 or 200 },

  load = loads[variant],

  faults = variant == "store_down" and {
    sim.on(sim.at(0), sim.store.kill("a"), sim.after(300, sim.store.restart("a"))),
  } or {},

  expect = {
    holds      = { "at_most_once", "same_answer", "ack_durable" },
    eventually = { "resolves", "new_keys_succeed" },
    by_param   = {
      variant = {
        timeout    = { sometimes = {
                         gave_up_and_was_answered = function(h)
                           return h:count { kind = "reply", client = "c1", how = "timeout" } > 0 and
                                  h:count { kind = "reply", client = "c1", mark = "replayed" } > 0
                         end } },
        race       = { holds = { "no_false_definite", "busy_honest", "mutual_exclusion" } },
        declined   = { sometimes = {
                         -- a decline is an answer as any other: it is told again
                         told_again = function(h)
                           return h:count { kind = "reply", client = "c1", status = 402,
                                            mark = "replayed" } > 0
                         end,
                         other_card_was_asked = function(h)
                           return h:count { kind = "reply", k = "k2", mark = "stored" } > 0
                         end } },
        store_down = { holds = { "no_false_definite" },
                       sometimes = {
                         refused_meanwhile = function(h)
                           return h:count { kind = "reply", status = 503,
                                            mark = "not-started" } > 0
                         end } },
      },
    },
  },

  explore = { exhaustive = { gates = 2, clients = 2, keys = 1, attempts = 2 },
              live = { runs = 2 } },
}
