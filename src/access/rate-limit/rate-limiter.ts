import type { Request } from 'express';
import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { rateLimitsOf } from '../../platform/config/config-file.js';
import { Env } from '../../platform/config/env.js';
import type { Plan, PlanRates, RateLimits } from '../../platform/config/rate-limits.js';
import { ApiError } from '../../platform/http/api-error.js';
import { networkOf } from '../../platform/http/network.js';
import { ExtensionSet } from '../../platform/plugins/extension-set.js';
import type { RateLimitPolicy } from '../../platform/http/endpoint.js';
import { type Bucket, bucketOf } from './gcra.js';
import { MemoryBuckets } from './memory-buckets.js';
import { type Charge, rateLimited } from './rate-limit-headers.js';
import { RedisBuckets } from './redis-buckets.js';

/** The buckets that each key of a workspace with this plan has. */
interface PlanBuckets {
  global: Bucket;
  policies: Record<string, Bucket>;
}

/**
 * Takes requests from buckets (reference §9): in Redis for all processes together, in memory without Redis and while it does
 * not answer. Never throws and never lets everything through.
 */
@Injectable()
export class RateLimiter implements OnModuleInit, OnApplicationShutdown {
  /** What the buckets are made of, and what is served as the configuration. */
  readonly rates: RateLimits;
  private readonly plans: Record<Plan, PlanBuckets>;
  private readonly address: readonly [Bucket];
  private readonly hook: readonly [Bucket];
  private readonly memory = new MemoryBuckets();
  private readonly redis: RedisBuckets | null;
  private inMemory = 0;

  constructor(
    private readonly env: Env,
    extensions: ExtensionSet,
  ) {
    const { REDIS_URL, AUTH_FAILURES_PER_MINUTE, HOOKS_PER_MINUTE } = env.variables;
    this.rates = rateLimitsOf(env.file, extensions.policies);
    this.plans = { free: planBuckets(this.rates.free), paid: planBuckets(this.rates.paid) };
    this.address = [bucketOf('address', { capacity: AUTH_FAILURES_PER_MINUTE, windowSeconds: 60 })];
    this.hook = [bucketOf('hook', { capacity: HOOKS_PER_MINUTE, windowSeconds: 60 })];
    this.redis = REDIS_URL === undefined || !env.servesApi ? null : new RedisBuckets(REDIS_URL);
  }

  async onModuleInit(): Promise<void> {
    if (this.env.variables.ROLE === 'api' && this.redis === null) {
      new Logger('RateLimits').warn(
        'Without REDIS_URL rate limits count per process: each api process grants them anew.',
      );
    }
    await this.redis?.open();
  }

  onApplicationShutdown(): void {
    this.redis?.close();
  }

  /** Decisions that were made in memory because Redis, although configured, did not decide. */
  get fallbacks(): number {
    return this.inMemory;
  }

  /** One request of a key. */
  charge(keyId: string, plan: Plan, policy: RateLimitPolicy): Promise<Charge> {
    const { policies, global } = this.plans[plan];
    const bucket = policies[policy];
    // The boot has checked the policies of all routes.
    if (bucket === undefined) throw new Error(`There is no rate-limit policy '${policy}'.`);
    return this.take(keyId, [bucket, global]);
  }

  /** One request without a valid credential. */
  chargeAddress(address: string): Promise<Charge> {
    return this.take(`address:${address}`, this.address);
  }

  /** Counts a 401 for the address of its request. Resolves with it, or with 429 when it is one too many; any other error stays as it is. */
  async counted(error: unknown, { ip = '' }: Request): Promise<unknown> {
    if (!(error instanceof ApiError && error.status === 401)) return error;
    const charge = await this.chargeAddress(networkOf(ip));
    return charge.allowed ? error : rateLimited('requests without a valid credential from this address', charge);
  }

  /** One delivery to a connection. */
  chargeHook(connectionId: string): Promise<Charge> {
    return this.take(`hook:${connectionId}`, this.hook);
  }

  /** One that is refused. It has a bucket of its own, of each address, so that nobody else uses up that of a provider. */
  chargeRefusedHook(connectionId: string, address: string): Promise<Charge> {
    return this.take(refusedHook(connectionId, address), this.hook);
  }

  /** Whether a refused delivery would be one too many, as far as this process knows. Takes nothing. */
  lookAtRefusedHook(connectionId: string, address: string): Charge {
    const decision = this.memory.look(refusedHook(connectionId, address), this.hook);
    return { ...decision, now: Date.now() * 1000, buckets: this.hook };
  }

  private async take(owner: string, buckets: readonly Bucket[]): Promise<Charge> {
    const decided = await this.redis?.take(owner, buckets);
    if (decided) {
      this.memory.adopt(owner, buckets, decided);
      return { ...decided, buckets };
    }
    if (this.redis !== null) this.inMemory++;
    return { ...this.memory.take(owner, buckets), now: Date.now() * 1000, buckets };
  }
}

function refusedHook(connectionId: string, address: string): string {
  return `refused-hook:${connectionId}:${address}`;
}

function planBuckets({ global, policies }: PlanRates): PlanBuckets {
  const buckets = Object.entries(policies).map(([name, rate]) => [name, bucketOf(name, rate)] as const);
  return { global: bucketOf('global', global), policies: Object.fromEntries(buckets) };
}
