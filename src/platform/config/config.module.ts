import { type DynamicModule, Global, Module } from '@nestjs/common';
import { DataDir } from './data-dir.js';
import { Env } from './env.js';
import { Secrets } from './secrets.js';

@Global()
@Module({})
export class ConfigModule {
  static with(env: Env): DynamicModule {
    return {
      module: ConfigModule,
      providers: [{ provide: Env, useValue: env }, DataDir, Secrets],
      exports: [Env, DataDir, Secrets],
    };
  }
}
