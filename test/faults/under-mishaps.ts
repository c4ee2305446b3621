import type { TestDatabase } from '../harness/database.js';
import type { RedisServer } from '../harness/redis.js';
import { type Accepted, send } from './load.js';
import { type Happened, happen, mishapsOf } from './mishaps.js';
import { type Kind, type Order, orderOf, orders } from './orders.js';
import { settled } from './settled.js';
import type { World } from './world.js';

interface Ordeal {
  /** What the keys of the orders begin with. */
  name: string;
  /** Tasks of one round. */
  count: number;
  /** As many mishaps of each kind at least: with fewer, nothing was proved. */
  least: Happened;
  random: () => number;
  /** Null for an installation without one. */
  redis: RedisServer | null;
  freezeMs: number;
  /** Of the orders, in turn; default: as the load is mixed. */
  kinds?: readonly Kind[];
  /** Milliseconds that pass with each task that is over, and not with time: a busy machine has no more mishaps in its work than a fast one. */
  taskMs?: number;
}

interface Borne {
  load: Order[];
  accepted: Accepted[];
  happened: Happened;
  seconds: number;
}

/**
 * Sends tasks while mishaps happen, and resolves when all of them are over. Rounds and not a number of tasks: a fast machine is
 * through with one before a second worker was killed, and then begins another.
 */
export async function underMishaps(
  db: TestDatabase,
  world: World,
  { name, count, least, random, redis, freezeMs, kinds = [], taskMs }: Ordeal,
): Promise<Borne> {
  const over = new AbortController();
  const happened: Happened = { kills: 0, freezes: 0, flushes: 0 };
  const enough = () => (Object.keys(least) as (keyof Happened)[]).every((kind) => happened[kind] >= least[kind]);
  const began = Date.now();
  const list = mishapsOf(random, 3600, world.workers.length);
  const passed = async () => {
    const sql = 'SELECT count(*)::int AS n FROM tasks WHERE finished_at IS NOT NULL';
    const [over] = await db.query<{ n: number }>(sql).catch(() => []);
    return (over?.n ?? 0) * (taskMs ?? 0);
  };
  const surroundings = { redis, freezeMs, signal: over.signal, ...(taskMs === undefined ? {} : { passed }) };
  const mishaps = happen(list, world, surroundings, happened);
  const load: Order[] = [];
  const accepted: Accepted[] = [];
  do {
    const key = `${name}-${load.length}`;
    const round = kinds.length === 0 ? orders(key, count) : ofKinds(kinds, key, count);
    load.push(...round);
    accepted.push(...(await send(world, round)));
    await settled(db, name);
  } while (!enough());
  const seconds = (Date.now() - began) / 1000;
  over.abort();
  await mishaps;
  return { load, accepted, happened, seconds };
}

function ofKinds(kinds: readonly Kind[], key: string, count: number): Order[] {
  return Array.from({ length: count }, (_, n) => orderOf(`${key}-${n}`, kinds[n % kinds.length] ?? 'quick'));
}
