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

/** A worker is killed every 2 s, one is frozen every 5 s, Redis is emptied every 5 s; `pace` times as slowly. */
export function mishapsOf(random: () => number, seconds: number, workers: number, pace = 1): Mishap[] {
  const every = (what: Mishap['what'], first: number, step: number): Mishap[] =>
    Array.from({ length: Math.ceil((seconds / pace - first) / step) }, (_, n) => {
      return { what, at: (first + n * step) * 1000 * pace, place: Math.floor(random() * workers) };
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
  /** How many workers of those that are up are left alone: on a machine where a boot takes long, nothing would ever be done otherwise. */
  spared?: number;
}

/**
 * Lets the mishaps happen, each at its time, until the list or the load is over; then everything runs again. Counts in `happened`.
 */
export async function happen(
  list: Mishap[],
  world: World,
  { redis, freezeMs, signal, spared = 1 }: Surroundings,
  happened: Happened,
): Promise<void> {
  const frozen = new Map<ServiceProcess, Promise<void>>();
  const victim = async (place: number): Promise<number | null> => {
    for (; !signal.aborted; await wait(50)) {
      const up = world.workers.flatMap((worker, at) => (world.isUp(worker) && !frozen.has(worker) ? [at] : []));
      if (up.length > spared) return up.find((at) => at >= place) ?? up[0] ?? null;
    }
    return null;
  };
  const began = Date.now();
  for (const { at, what, place } of list) {
    await wait(began + at - Date.now(), undefined, { signal }).catch(() => undefined);
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
