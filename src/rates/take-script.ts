import { defineScript } from '@redis/client';
import { type RateRule, token } from '../domain/rates.ts';

/**
 * `takeToken` of `domain/rates.ts` as one step of the Redis server, by the server's clock: nodes
 * whose clocks differ share one bucket to the token.
 *
 * A bucket is a string, `<level> <at>`, in the domain's units. It expires in the millisecond in
 * which it is full again, so that names that do not come back take no room. All numbers are whole
 * and below 2^53, so Lua's doubles hold them exactly and nothing is rounded; `%.0f` since Lua
 * would print 15 digits and more as a power of ten.
 *
 * The server's clock may be set, or a replica with another one may take over: a step forward
 * refills as if the time had passed, and a step back refills nothing and takes nothing away, and
 * the refill goes on from where the clock now is. (In the domain it waits until the clock is where
 * it was; there the clock is one that nobody sets.)
 *
 * What another program left under the name counts as no bucket, whatever its type.
 *
 * KEYS[1]: the bucket. ARGV: tokens a minute, and burst. Answers 1 or 0 for admitted or not, and
 * the level after it.
 */
const script = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local perMinute = tonumber(ARGV[1])
local full = tonumber(ARGV[2]) * ${token}

local level = full
local kept = redis.pcall('GET', KEYS[1])
local keptLevel, at = string.match(type(kept) == 'string' and kept or '', '^(%d+) (%d+)$')
if at then
  local elapsed = math.max(0, now - at)
  if elapsed < math.ceil((full - keptLevel) / perMinute) then
    level = keptLevel + elapsed * perMinute
  end
end

local admitted = level >= ${token}
if admitted then level = level - ${token} end
local bucket = string.format('%.0f %.0f', level, now)
local millisToFull = math.ceil((full - level) / perMinute)
redis.call('SET', KEYS[1], bucket, 'PX', string.format('%.0f', millisToFull))
return { admitted and 1 or 0, level }
`;

/** Sent by its hash; whole when the server does not know it, as after a restart or a flush. */
export const takeScript = defineScript({
  SCRIPT: script,
  NUMBER_OF_KEYS: 1,
  parseCommand(parser, key: string, rule: RateRule) {
    parser.pushKey(key);
    parser.push(String(rule.perMinute), String(rule.burst));
  },
  transformReply(reply: unknown) {
    const [admitted, level] = reply as [admitted: 0 | 1, level: number];
    return { admitted: admitted === 1, level };
  },
});
