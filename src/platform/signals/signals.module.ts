// How work is announced: Bull with REDIS_URL, else a direct call and PostgreSQL's NOTIFY.
import { BullModule } from '@nestjs/bull';
import { type DynamicModule, Global, Module } from '@nestjs/common';
import type { Env } from '../config/env.js';
import { BULL_QUEUES, BullSignal } from './bull-signal.js';
import { LocalSignal } from './local-signal.js';
import { BullConnections } from './redis.js';
import { WorkSignal } from './work-signal.js';

@Global()
@Module({})
export class SignalsModule {
  static with(env: Env): DynamicModule {
    const { REDIS_URL } = env.variables;
    if (REDIS_URL === undefined) {
      const signal = { provide: WorkSignal, useExisting: LocalSignal };
      return {
        module: SignalsModule,
        providers: [LocalSignal, signal],
        exports: [LocalSignal, WorkSignal],
      };
    }
    const connections = new BullConnections(REDIS_URL);
    const imports = [
      BullModule.forRoot({ createClient: (type) => connections.open(type) }),
      BullModule.registerQueue(
        ...Object.values(BULL_QUEUES).map((name) => ({
          name,
          defaultJobOptions: { removeOnComplete: true, removeOnFail: true, attempts: 1 },
          // A job is only the bell: one that stalls is rung again rather than failed for ever after the first time.
          settings: { maxStalledCount: 1_000_000 },
        })),
      ),
    ];
    const signal = { provide: WorkSignal, useClass: BullSignal };
    return {
      module: SignalsModule,
      imports,
      providers: [signal, { provide: BullConnections, useValue: connections }],
      exports: [...imports, WorkSignal],
    };
  }
}
