import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { Metrics } from '../metrics/metrics.js';
import { markedMethods } from '../plugins/providers.js';
import { type ChoreMethod, type ChoreOptions, choreOptionsOf } from './chore.js';
import { ChoreLocks } from './chore-locks.js';

interface KnownChore extends ChoreOptions {
  /** `Class.method`, for the log, the metric and mistakes. */
  name: string;
  provider: object;
  method: string;
  work: ChoreMethod;
  running: { abort: AbortController; over: Promise<unknown> } | null;
  /** What the last run failed with, in words; null when it did not. */
  failure: string | null;
}

/** Carries out the chores of this process, each at its times (see `@Chore`). */
@Injectable()
export class ChoreRunner implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown {
  private readonly logger = new Logger('Chores');
  private chores: KnownChore[] = [];
  private timers: NodeJS.Timeout[] = [];
  private stopping = false;

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly locks: ChoreLocks,
    private readonly metrics: Metrics,
  ) {}

  onApplicationBootstrap(): void {
    this.chores = this.find();
    this.timers = this.chores.map((chore) => setInterval(() => void this.atItsTime(chore), chore.every));
  }

  onModuleDestroy(): void {
    this.stopping = true;
    for (const timer of this.timers) clearInterval(timer);
    for (const { running } of this.chores) running?.abort.abort();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.allSettled(this.chores.flatMap(({ running }) => running?.over ?? []));
  }

  /**
   * Carries a chore out now, as at its time. Resolves with what the method does, or with null when it is running already, here or
   * (with a lock) in another process. Rejects with what it throws. For tests, and for what knows that there is something to do.
   */
  async run(provider: object, method: string): Promise<unknown> {
    const chore = this.chores.find((one) => one.provider === provider && one.method === method);
    if (chore === undefined) throw new Error(`${provider.constructor.name}.${method} is no chore of this process.`);
    return this.once(chore);
  }

  private async atItsTime(chore: KnownChore): Promise<void> {
    try {
      await this.once(chore);
    } catch (error) {
      const failure = String(error);
      if (chore.failure !== failure) this.logger.warn(`The chore ${chore.name} failed, and is tried again: ${failure}`);
      chore.failure = failure;
    }
  }

  private async once(chore: KnownChore): Promise<unknown> {
    if (this.stopping || chore.running !== null) return null;
    const abort = new AbortController();
    const over = this.carryOut(chore, abort);
    chore.running = { abort, over };
    try {
      return await over;
    } catch (error) {
      this.metrics.chores.inc({ chore: chore.name, outcome: 'failed' });
      throw error;
    } finally {
      chore.running = null;
    }
  }

  private async carryOut(chore: KnownChore, abort: AbortController): Promise<unknown> {
    const work = async () => {
      const result = await chore.work(abort.signal);
      this.metrics.chores.inc({ chore: chore.name, outcome: 'succeeded' });
      if (chore.failure !== null) this.logger.log(`The chore ${chore.name} works again.`);
      chore.failure = null;
      return result;
    };
    return chore.lock === undefined ? work() : this.locks.withLock(chore.lock, () => abort.abort(), work);
  }

  private find(): KnownChore[] {
    const found = new Map<string, KnownChore>();
    const marked = markedMethods<ChoreMethod, ChoreOptions>(this.discovery, 'chore', choreOptionsOf);
    for (const { mark, call: work, ...one } of marked) {
      const chore = { ...mark, ...one, work, running: null, failure: null };
      const key = chore.lock === undefined ? `${found.size}` : `lock ${chore.lock}`;
      const other = found.get(key);
      if (other !== undefined) {
        throw new Error(`The chores ${other.name} and ${chore.name} have one lock, ${chore.lock}: give each its own.`);
      }
      found.set(key, chore);
    }
    return [...found.values()];
  }
}
