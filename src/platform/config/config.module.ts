// What the process was told: environment, CONFIG_FILE, data folder and the keys that derive from SECRET_KEY.
import { type DynamicModule, Global, Module } from '@nestjs/common';
import type { ExtensionSet } from '../plugins/extension-set.js';
import { DataDir } from './data-dir.js';
import { Env } from './env.js';
import { Safeguards } from './safeguards.js';
import { Sealing } from './sealing.js';
import { Secrets } from './secrets.js';

@Global()
@Module({})
export class ConfigModule {
  static with(env: Env, extensions: ExtensionSet): DynamicModule {
    const ofExtensions = extensions.providers(env);
    return {
      module: ConfigModule,
      providers: [{ provide: Env, useValue: env }, DataDir, Safeguards, Sealing, Secrets, ...ofExtensions],
      exports: [Env, DataDir, Safeguards, Sealing, Secrets, ...ofExtensions],
    };
  }
}
