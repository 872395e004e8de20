-- What a history has of a fault besides our word that it was done: for `sometimes`.
-- A scenario that would pass as well if nothing went wrong tests nothing.
local seen = {}

-- And the other way round: where nothing goes wrong a busy host is not to look like a
-- Redis that is away.  `config` with times that no answer takes, unless it has its own.
function seen.patient(config)
  config.store_timeout = config.store_timeout or "10s"
  config.budget        = config.budget or "20s"
  config.probe_every   = config.probe_every or "100ms"
  return config
end

-- It has ended, by whatever signal: an instance, a store.
function seen.died(p)
  return function(h) return h:count { kind = "exit", p = p } > 0 end
end

-- Redis, or a link to it, has answered with that error.
function seen.error(word)
  return function(h)
    for e in h:each { kind = "recv" } do
      if e.code and e.code:find("^-?" .. word) then return true end
    end
    return false
  end
end

-- A message, of that operation if one is named, was lost or held on its way:
-- kind is send or recv.
function seen.message(kind, fate, script)
  return function(h) return h:count { kind = kind, fate = fate, script = script } > 0 end
end

-- A command had no reply while its connection was there.
function seen.unanswered(h)
  return h:count { kind = "send" } > h:count { kind = "recv" }
end

-- Two instances had asked for a key before one of them was told whose it is.
function seen.both_asked(key)
  return function(h)
    local first
    for e in h:each { script = "claim", k = key } do
      if e.kind == "recv" then return false end
      if e.kind == "send" then
        if first and first ~= e.p then return true end
        first = e.p
      end
    end
    return false
  end
end

return seen
