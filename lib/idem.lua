-- SPDX-License-Identifier: ISC
--
-- A call of store.h's port on one record, in one step: the rules of
-- lib/verdict.c, where the data is.  Every check comes before the first write,
-- since a script that fails is not undone, and what is written is one SET.
--
-- The value of KEYS[1], numbers big endian:
--
--    1   1  version            75  32  guard
--    2   1  state             107   8  made at
--    3   4  attempt           115   8  ended at
--    7  16  owner             123   8  end of the lease
--   23  16  boot              131   8  renewed at
--   39   4  pid               139   8  expires at
--   43  32  fingerprint       147   8  how long its tombstone stays, ms
--                             155   8  history in which it was last started
--                             163  ..  the saved answer
--
-- ARGV: op, owner, attempt, fixed boot and wall clock (0: the server's TIME is
-- both), flags, then what the op needs, as redis_script.c writes it.  Flags:
--
--   t token: the server must be the master, and its history is asked for
--   l look_only   o take_over   a anew   i issued_only   s strict
--
-- Reply: verdict, the clock that judges leases (0 if it was not asked), length
-- of the saved answer (claim completed, peek), the record as it is now or "",
-- the history now or zeroes, the answer if it is no longer than was asked for.

local HEAD = 162
local ISSUED, IN_PROGRESS, COMPLETED, UNKNOWN, TOMBSTONE = 1, 2, 3, 4, 5
local NEVER = 9007199254740992  -- 2^53: numbers are exact up to there
local FOREVER = '\127\255\255\255\255\255\255\255'
local ZERO = '\0\0\0\0\0\0\0\0'

local ARGV, call, find = ARGV, redis.call, string.find
local key, op, by, flags = KEYS[1], ARGV[1], ARGV[2], ARGV[6]
local try = tonumber(ARGV[3])
local now, wall = tonumber(ARGV[4]), tonumber(ARGV[5])
local fixed = wall > 0
local token, look, take_over, anew, issued_only, strict
if flags ~= '' then
  token, look = find(flags, 't', 1, true), find(flags, 'l', 1, true)
  take_over, anew = find(flags, 'o', 1, true), find(flags, 'a', 1, true)
  issued_only, strict = find(flags, 'i', 1, true), find(flags, 's', 1, true)
end

-- --- the record --------------------------------------------------------------

-- Short answers come with it, long ones when somebody asks for them.
local inline = op == 'claim' and math.min(tonumber(ARGV[16]), 2147483647) or 0
local value = redis.pcall('GETRANGE', key, '0', HEAD + inline - 1)
local head, length, answer, history = '', 0, '', ZERO
local version, state, attempt, owner, boot, pid, print, guard
local made, ended, lease, renewed, expires, stays, started

if type(value) == 'table' and not find(value.err, 'WRONGTYPE', 1, true) then
  return value
elseif value == '' and (op == 'claim' and not look and not issued_only or
  not call('GET', key)) then
  state = 0  -- there may be an empty one: who takes it finds that out himself
elseif type(value) == 'string' and #value >= HEAD then
  head = string.sub(value, 1, HEAD)
  version, state, attempt, owner, boot, pid, print, guard, made, ended, lease,
    renewed, expires, stays, started = struct.unpack(
    '>BBI4c16c16c4c32c32c8c8c8c8I8I8c8', head)
end
if not state or state > TOMBSTONE or
  (head ~= '' and (version ~= 1 or state < ISSUED)) then
  return { 'BAD_RECORD', now, 0, '', ZERO, '' }
end

-- --- the clock, and the past -------------------------------------------------

-- A replay asks for neither.
if not fixed and (op ~= 'claim' or state ~= COMPLETED or anew) then
  local time = call('TIME')
  wall = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
  now = wall
end
if anew and (state == TOMBSTONE and struct.unpack('>I8', ended) <= wall or
  state == COMPLETED and expires <= wall)
then
  state, head = 0, ''
end

-- Only what a token may start depends on them; what is known does not.
if token and (op == 'issue' or
  (op == 'complete' and strict) or
  (op == 'claim' and (state == 0 or state == ISSUED or state == UNKNOWN)))
then
  local info = call('INFO', 'replication')
  if not find(info, 'role:master', 1, true) then
    return redis.error_reply('READONLY this server is no master')
  end
  history = string.gsub(string.match(info, 'master_replid:(' ..
    string.rep('%x', 16) .. ')'), '%x%x', function(hex)
    return string.char(tonumber(hex, 16))
  end)
end

-- --- what is known of the key ------------------------------------------------

local verdict

-- A record that was only issued names no request yet.
if op == 'claim' and (state > ISSUED and state < TOMBSTONE or
  state == ISSUED and find(print, '[^%z]')) then
  verdict = print ~= ARGV[7] and 'MISMATCH' or guard ~= ARGV[8] and 'WITHHELD'
end
if verdict or op ~= 'claim' then
  -- not asked, or not to be told
elseif state == 0 then
  verdict = issued_only and 'NO_TOKEN'
elseif state == TOMBSTONE then
  verdict = 'EXPIRED'
elseif state == IN_PROGRESS then
  verdict = owner == by and 'OURS' or 'IN_PROGRESS'
elseif state == COMPLETED then
  verdict, answer = 'COMPLETED', string.sub(value, HEAD + 1)
  length = #answer
  if length == inline then  -- there may be more
    length = call('STRLEN', key) - HEAD
    answer = length == inline and answer or ''
  end
end
if op == 'peek' then
  verdict = 'PEEK'
  length = state == COMPLETED and call('STRLEN', key) - HEAD or 0
end
if verdict then
  return { verdict, now, length, head, history, answer }
end

-- --- the calls ---------------------------------------------------------------

-- Each comes to a verdict, and with `write` to what the record is to be.  They
-- are no functions: to make those anew took a fifth of the time of each call.
local write, saved = false, ''

local function u64(n)
  return n == 0 and ZERO or n < NEVER and struct.pack('>I8', n) or FOREVER
end

if op == 'claim' then
  local not_after = tonumber(ARGV[12])
  local late = not_after ~= 0 and now > not_after

  if state ~= UNKNOWN then
    verdict = look and 'ABSENT' or late and 'LATE' or
      state == ISSUED and issued_only and history ~= ARGV[13] and 'HISTORY'
  elseif look or not take_over then
    verdict = 'UNKNOWN'
  elseif attempt ~= try or owner ~= ARGV[14] then
    verdict = owner == by and 'OURS' or 'UNKNOWN'
  elseif attempt >= tonumber(ARGV[15]) then
    verdict = 'EXHAUSTED'
  elseif late then
    verdict = 'LATE'
  elseif strict and (history ~= ARGV[13] or history ~= started) then
    verdict = 'HISTORY'
  end
  if not verdict then
    verdict, write, renewed = 'WON', true, u64(now)
    if state == 0 then
      attempt, made = 0, fixed and u64(wall) or renewed
    end
    state, attempt, owner, started = IN_PROGRESS, attempt + 1, by, history
    print, guard, boot, pid = ARGV[7], ARGV[8], ARGV[9], ARGV[10]
    ended, expires, stays = ZERO, 0, 0
    lease = u64(now + tonumber(ARGV[11]))
  end

elseif op == 'renew' then
  verdict = 'LOST'
  if state == IN_PROGRESS and owner == by and attempt == try then
    verdict, write = 'RENEWED', true
    boot, lease, renewed = ARGV[8], u64(now + tonumber(ARGV[7])), u64(now)
  end

elseif op == 'complete' then
  if state <= ISSUED or owner ~= by or attempt ~= try then
    verdict = 'LOST'
  elseif state == COMPLETED or state == TOMBSTONE then
    verdict = 'SAME'
  elseif strict and (history ~= ARGV[10] or history ~= started) then
    verdict = 'LOST'
  else
    verdict, write, saved = 'WRITTEN', true, ARGV[9]
    state, ended, lease = COMPLETED, u64(wall), ZERO
    expires, stays = wall + tonumber(ARGV[7]), tonumber(ARGV[8])
  end

elseif op == 'release' then
  if state == 0 then
    verdict = 'SAME'
  elseif owner ~= by or (try ~= 0 and attempt ~= try) then
    verdict = 'LOST'
  elseif state == ISSUED then
    verdict = 'SAME'
  elseif state ~= IN_PROGRESS and state ~= UNKNOWN then
    verdict = 'LOST'
  else
    verdict, write = 'WRITTEN', true
    state, ended, lease = ISSUED, ZERO, ZERO
    expires, stays = wall + tonumber(ARGV[7]), 0
  end

elseif op == 'unknown' then
  if state == 0 or owner ~= by or attempt ~= try then
    verdict = 'LOST'
  elseif state ~= IN_PROGRESS then
    verdict = state == UNKNOWN and 'SAME' or 'LOST'
  else
    verdict, write = 'WRITTEN', true
    state, ended = UNKNOWN, u64(wall)
  end

elseif op == 'settle' then
  local to = ARGV[7] == 'done' and COMPLETED or
    ARGV[7] == 'not-done' and ISSUED or TOMBSTONE

  if state == to and owner == by and attempt == try then
    verdict = 'SAME'
  elseif state == 0 or attempt ~= try or owner ~= ARGV[8] or
    (to ~= TOMBSTONE and state ~= IN_PROGRESS and state ~= UNKNOWN) then
    verdict = 'LOST'
  else
    verdict, write = 'WRITTEN', true
    state, owner, lease = to, by, ZERO
    ended = to == ISSUED and ZERO or u64(wall)
    expires, stays = wall + tonumber(ARGV[10]), 0
    if to == COMPLETED then
      expires, stays = wall + tonumber(ARGV[9]), tonumber(ARGV[10])
      saved = ARGV[11]
    end
  end

elseif op == 'issue' then
  if state ~= 0 then
    verdict = state == ISSUED and attempt == 0 and owner == by and 'SAME' or
      'LOST'
  else
    verdict, write = 'WRITTEN', true
    state, attempt, owner, boot, pid = ISSUED, 0, by, ARGV[8], '\0\0\0\0'
    print, guard = string.rep(ZERO, 4), string.rep(ZERO, 4)
    made, ended, renewed, started = u64(wall), ZERO, ZERO, ZERO
    lease, expires, stays = ZERO, wall + tonumber(ARGV[7]), 0
  end

elseif op == 'sweep' then
  -- What is past its keep becomes a tombstone, what is past that goes.  Where
  -- room is short a keep ends earlier, though not the tombstone.
  local shrink = tonumber(ARGV[7])

  if state == 0 or state == IN_PROGRESS or state == UNKNOWN or
    (expires == 0 or expires > wall) and not (state == COMPLETED and
    shrink > 0 and struct.unpack('>I8', ended) + shrink <= wall) then
    verdict = 'NOT'
  elseif state ~= COMPLETED then
    verdict = 'GONE'
    call('PEXPIRE', key, 0)
  else
    verdict, write = 'TOMBSTONE', true
    ended = u64(math.max(expires, wall))
    state, expires, stays = TOMBSTONE, expires + stays, 0
  end
end

-- --- writing -----------------------------------------------------------------

if write then
  head = struct.pack('>BBI4', 1, state, attempt) .. owner .. boot .. pid ..
    print .. guard .. made .. ended .. lease .. renewed .. u64(expires) ..
    u64(stays) .. started

  -- What is not new has to pass a full server: its check of memory ends with a
  -- script's first write, and this one needs none.
  if op ~= 'claim' and op ~= 'issue' then
    call('PERSIST', key)
  end

  -- How long the server keeps it: what is in progress or unknown for ever.
  local ends = state == COMPLETED and expires + stays or expires
  if not fixed and state ~= IN_PROGRESS and state ~= UNKNOWN and
    ends < NEVER then
    call('SET', key, head .. saved, 'PX',
      string.format('%.0f', math.max(ends - wall, 1)))
  elseif value ~= '' then
    call('SET', key, head .. saved)
  elseif not call('SET', key, head, 'NX') then
    return { 'BAD_RECORD', now, 0, '', ZERO, '' }
  end
end
return { verdict, now, length, head, history, answer }
