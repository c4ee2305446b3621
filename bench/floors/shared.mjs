// What the floors share: the pool, the script of two token buckets, the three looks of an authenticated read.
import { createHash } from 'node:crypto';
import { Redis } from 'ioredis';
import pg from 'pg';

export const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 });

// Two token buckets, checked and charged in one step. KEYS: the buckets. ARGV: capacity and window (ms) of each.
const TAKE = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local left, allowed = {}, 1
for i = 1, 2 do
  local capacity, window = tonumber(ARGV[2 * i - 1]), tonumber(ARGV[2 * i])
  local state = redis.call('HMGET', KEYS[i], 'left', 'at')
  local at = tonumber(state[2]) or now
  left[i] = math.min(capacity, (tonumber(state[1]) or capacity) + (now - at) * capacity / window)
  if left[i] < 1 then allowed = 0 end
end
for i = 1, 2 do
  left[i] = left[i] - allowed
  redis.call('HSET', KEYS[i], 'left', left[i], 'at', now)
  redis.call('PEXPIRE', KEYS[i], ARGV[2 * i])
  left[i] = tostring(left[i])
end
return { allowed, left[1], left[2], now }`;

const redis = new Redis(process.env.REDIS_URL);
redis.defineCommand('take', { numberOfKeys: 2, lua: TAKE });

const KEY = 'SELECT user_id, workspace_id, scopes, revoked_at FROM floor.keys WHERE hash = $1';
const TASK = 'SELECT id, project_id, status, title, pending, created_at, updated_at FROM floor.tasks WHERE id = $1';

/** Adds the key that the bench sends. */
export async function addKey() {
  const values = [hashOf(`Bearer ${process.env.KEY}`), ['tasks:read']];
  await pool.query(
    `INSERT INTO floor.keys VALUES ($1, gen_random_uuid(), gen_random_uuid(), $2) ON CONFLICT DO NOTHING`,
    values,
  );
}

/** A read as the service has to do it: the key, uncached; two buckets; the row. Null for an unknown key. */
export async function read(id, authorization) {
  const key = await pool.query({ name: 'key', text: KEY, values: [hashOf(authorization ?? '')] });
  if (key.rows[0] === undefined) return null;
  await redis.take('floor:global', 'floor:resource_read', 1e9, 60_000, 1e9, 60_000);
  return (await pool.query({ name: 'task', text: TASK, values: [id] })).rows[0] ?? null;
}

function hashOf(text) {
  return createHash('sha256').update(text).digest();
}
