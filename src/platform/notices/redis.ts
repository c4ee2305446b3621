import { Logger } from '@nestjs/common';
import { Redis, type RedisOptions } from 'ioredis';

const FAST: RedisOptions = { maxRetriesPerRequest: 0, enableOfflineQueue: false, commandTimeout: 1000 };
// Bull waits on these with blocking commands: they must neither time out nor give up.
const PATIENT: RedisOptions = { maxRetriesPerRequest: null, enableReadyCheck: false };

/** The connections of a process's Bull queues. Bull ends only those that it makes itself. */
export class BullConnections {
  private readonly logger = new Logger('Redis');
  private readonly all: Redis[] = [];
  private ended = false;

  constructor(private readonly url: string) {}

  /**
   * A connection for Bull. The one that requests use (`client`) fails at once while Redis is away; with ioredis' defaults
   * an `add` would hang in its offline queue, and on a frozen Redis for ever.
   */
  open(type: 'client' | 'subscriber' | 'bclient'): Redis {
    const redis = new Redis(this.url, {
      ...(type === 'client' ? FAST : PATIENT),
      retryStrategy: (attempt) => Math.min(attempt * 100, 1000),
    });
    redis.on('error', (error: Error) => this.logger.debug(`${type}: ${error.message}`));
    // Bull, at its end, opens the connection anew on which it waits for jobs: with a Redis that was frozen, after our end.
    redis.on('connect', () => this.ended && redis.disconnect());
    this.all.push(redis);
    return redis;
  }

  /** For good: one that is opened anew ends at once. */
  end(): void {
    this.ended = true;
    for (const redis of this.all) redis.disconnect();
  }
}
