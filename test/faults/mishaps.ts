// What goes wrong while the load runs: a list that a seed determines, bounded in count, on processes of our own.
import { setTimeout as wait } from 'node:timers/promises';
import type { RedisServer } from '../harness/redis.js';
import type { ServiceProcess } from '../harness/service.js';
import type { World } from './world.js';

export interface Mishap {
  /** Milliseconds after the start. */
  at: number;
  what: 'kill' | 'freeze' | 'flush';
  /** Which of the workers. */
  place: number;
}

/** A worker is killed every 2 s, one is frozen every 5 s, Redis is emptied every 5 s. */
export function mishapsOf(random: () => number, seconds: number, workers: number): Mishap[] {
  const every = (what: Mishap['what'], first: number, step: number): Mishap[] =>
    Array.from({ length: Math.ceil((seconds - first) / step) }, (_, n) => {
      return { what, at: (first + n * step) * 1000, place: Math.floor(random() * workers) };
    });
  return [...every('kill', 2, 2), ...every('freeze', 1, 5), ...every('flush', 4.5, 5)].sort((a, b) => a.at - b.at);
}

export interface Happened {
  kills: number;
  freezes: number;
  flushes: number;
}

interface Surroundings {
  redis: RedisServer | null;
  /** How long a frozen worker stays so. */
  freezeMs: number;
  /** Aborted when the load is over. */
  signal: AbortSignal;
  /** Milliseconds since the start; default: as the clock says. */
  passed?: () => Promise<number>;
}

/**
 * Lets the mishaps happen, each at its time, until the list or the load is over; then everything runs again. One worker
 * of those that are up is always spared: on a machine where a boot takes long, nothing would ever be done otherwise. Counts in
 * `happened`.
 */
export async function happen(
  list: Mishap[],
  world: World,
  { redis, freezeMs, signal, passed }: Surroundings,
  happened: Happened,
): Promise<void> {
  const frozen = new Map<ServiceProcess, Promise<void>>();
  const victim = async (place: number): Promise<number | null> => {
    for (; !signal.aborted; await wait(50)) {
      const up = world.workers.flatMap((worker, at) => (world.isUp(worker) && !frozen.has(worker) ? [at] : []));
      if (up.length > 1) return up.find((at) => at >= place) ?? up[0] ?? null;
    }
    return null;
  };
  const began = Date.now();
  for (const { at, what, place } of list) {
    if (passed === undefined) await wait(began + at - Date.now(), undefined, { signal }).catch(() => undefined);
    while (passed !== undefined && !signal.aborted && (await passed()) < at) await wait(200);
    if (what === 'flush' && redis !== null && !signal.aborted) {
      await redis.command('FLUSHALL');
      happened.flushes++;
    }
    const chosen = what === 'flush' ? null : await victim(place);
    const worker = world.workers[chosen ?? -1];
    if (signal.aborted) break;
    if (chosen === null || worker === undefined) continue;
    if (what === 'kill') {
      await worker.end('SIGKILL');
      await world.startWorker(chosen);
      happened.kills++;
    } else {
      worker.child.kill('SIGSTOP');
      happened.freezes++;
      const woken = wait(freezeMs).then(() => {
        worker.child.kill('SIGCONT');
        frozen.delete(worker);
      });
      frozen.set(worker, woken);
    }
  }
  await Promise.all(frozen.values());
}
