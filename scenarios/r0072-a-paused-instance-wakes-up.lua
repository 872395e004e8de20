-- An instance that was paused while another one took its key over does not answer
-- from what it remembers.
-- Reported: https://github.com/etcd-io/etcd/issues/20418
-- A paused process woke up, took its lease for valid still, and answered a read
-- with what had long been overwritten.
local sim = require "idemsim"
sim.api(1)

-- All of it sleeps while the program runs, or only the part that is to complete the
-- record; or all of it with the answer in its cache.
local asleep = sim.param("asleep", "running", { "running", "completing", "cached" })
local running = asleep ~= "cached"
local who = asleep == "completing" and "g1.lobby" or "g1"

local taken_over = {
  relaxed   = { at_most_once = "on_unknown = retry: one start more" },
  bounds    = { handler_runs_per_key = 2 },
  sometimes = {
    taken_over = function(h)
      return h:count { kind = "reply", client = "c2", mark = "stored" } > 0 and
             h:count { kind = "reply", client = "c3", mark = "replayed" } > 0
    end,
    the_sleeper_was_refused = function(h)
      return h:count { kind = "store", k = "k", code = "LOST" } > 0
    end,
  },
}

return sim.scenario {
  name  = "a paused instance wakes up (" .. asleep .. ")",
  modes = { "model", "live" },

  topology = {
    redis = { a = {} },
    gates = { n = 2, arbiter = "redis", store = "a",
              config = { lease = "200ms", limit = "300ms", grace = "100ms", wait = "50ms",
                         on_unknown = running and "retry 2" or "block" } },
  },

  handler = sim.handler { effect = "append", service = sim.const(60),
                          output = function(r) return "receipt " .. r.effect_id end },

  load = {
    sim.script(running and {
      { at = 0,    client = "c1", send = { key = "k", to = "g1" }, timeout = 4000 },
      -- lease and limit are over, and the first owner still sleeps
      { at = 750,  client = "c2", send = { key = "k", to = "g2" } },
      { at = 780,  client = "c3", send = { key = "k", to = "g2" } },
      { at = 1150, client = "c4", send = { key = "k", to = "g1" } },
    } or {
      { at = 0,    client = "c1", send = { key = "k", to = "g1" } },
      { at = 300,  client = "c2", send = { key = "k", to = "g1" }, timeout = 4000 },
      { at = 350,  client = "c3", send = { key = "k", to = "g2" } },
      { at = 700,  client = "c4", send = { key = "k", to = "g1" } },
    }),
  },

  faults = {
    sim.on(running and sim.label("g1", "program.spawned", { key = "k" }) or sim.at(250),
           sim.proc.pause(who),
           sim.after(running and 1000 or 350, sim.proc.resume(who))),
  },

  expect = {
    holds      = { "same_answer", "ack_durable", "late_completer_harmless", "no_cross_talk" },
    eventually = { "resolves" },
    by_param   = {
      asleep = {
        running    = taken_over,
        completing = taken_over,
        cached     = {
          holds     = { "at_most_once" },
          sometimes = {
            answered_when_it_woke = function(h)
              for e in h:each { kind = "reply", client = "c2", mark = "replayed" } do
                if e.ms >= 500 then return true end
              end
              return false
            end,
          },
        },
      },
    },
  },

  explore = { exhaustive = { gates = 2, clients = 2, keys = 1, attempts = 2 },
              live = { runs = 2 } },
}
