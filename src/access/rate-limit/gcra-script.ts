// The arithmetic of gcra.ts as one atomic step in Redis, version 5 or later. A state needs 16 digits: Lua's own conversion
// to text keeps 14 of them, hence string.format.

/** One clock for all processes. */
export const REDIS_CLOCK = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]`;

/** KEYS: the buckets. ARGV: interval and burst of each. Answers allowed (0 or 1), the clock, and the backlogs. */
export const DECIDE = `
local allowed, stored, backlogs = 1, redis.call('MGET', unpack(KEYS)), {}
for i = 1, #KEYS do
  local interval, burst = tonumber(ARGV[2 * i - 1]), tonumber(ARGV[2 * i])
  stored[i] = tonumber(stored[i] or '0') - now
  backlogs[i] = math.min(math.max(stored[i], 0), burst)
  if backlogs[i] + interval > burst then allowed = 0 end
end
for i = 1, #KEYS do
  if allowed == 1 then backlogs[i] = backlogs[i] + tonumber(ARGV[2 * i - 1]) end
  if allowed == 1 or stored[i] > backlogs[i] then
    redis.call('SET', KEYS[i], string.format('%.0f', now + backlogs[i]), 'PX', math.ceil(backlogs[i] / 1000))
  end
end
return { allowed, now, unpack(backlogs) }`;
