import { Logger } from '@nestjs/common';
import { Redis, type RedisOptions } from 'ioredis';

const FAST: RedisOptions = { maxRetriesPerRequest: 0, enableOfflineQueue: false, commandTimeout: 1000 };
// Bull waits on these with blocking commands: they must neither time out nor give up.
const PATIENT: RedisOptions = { maxRetriesPerRequest: null, enableReadyCheck: false };

/**
 * A connection for Bull. The one that requests use (`client`) fails at once while Redis is away; with ioredis' defaults
 * an `add` would hang in its offline queue, and on a frozen Redis for ever.
 */
export function bullConnection(url: string, type: 'client' | 'subscriber' | 'bclient'): Redis {
  const redis = new Redis(url, {
    ...(type === 'client' ? FAST : PATIENT),
    retryStrategy: (attempt) => Math.min(attempt * 100, 1000),
  });
  const logger = new Logger('Redis');
  redis.on('error', (error: Error) => logger.debug(`${type}: ${error.message}`));
  return redis;
}
