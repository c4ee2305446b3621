// How parts of the service tell one another that something happened: in this process by a call, to others by PostgreSQL's NOTIFY, to a worker by Bull where there is a Redis.
import { BullModule } from '@nestjs/bull';
import { type DynamicModule, Global, Module } from '@nestjs/common';
import type { Env } from '../config/env.js';
import { BULL_QUEUES, BullQueues } from './bull-queues.js';
import { Notices } from './notices.js';
import { PgChannel } from './pg-channel.js';
import { BullConnections } from './redis.js';

/** Every process needs it, the operator command too, which is to start without Bull. */
@Global()
@Module({ providers: [PgChannel, Notices], exports: [Notices] })
export class NoticesModule {}

/** With REDIS_URL. */
@Global()
@Module({})
export class BullQueuesModule {
  static with({ variables: { REDIS_URL } }: Env): DynamicModule {
    if (REDIS_URL === undefined) return { module: BullQueuesModule };
    const connections = new BullConnections(REDIS_URL);
    const imports = [
      BullModule.forRoot({ createClient: (type) => connections.open(type) }),
      BullModule.registerQueue(
        ...Object.values(BULL_QUEUES).map((name) => ({
          name,
          defaultJobOptions: { removeOnComplete: true, removeOnFail: true, attempts: 1 },
          // A job is only a notice: one that stalls is brought again rather than failed for ever after the first time.
          settings: { maxStalledCount: 1_000_000 },
        })),
      ),
    ];
    return {
      module: BullQueuesModule,
      imports,
      providers: [BullQueues, { provide: BullConnections, useValue: connections }],
      exports: imports,
    };
  }
}
