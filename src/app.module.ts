// The table of contents: what one process is made of, by its role.
import { Module, type ModuleMetadata } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { ConfigModule } from './config/config.module.js';
import { type Env, readEnv } from './config/env.js';
import { DatabaseModule } from './database/database.module.js';
import { EXTENSIONS } from './extensions.js';
import { PluginsModule } from './plugins/plugins.module.js';

/** The modules of a process with this configuration. Tests and extensions use it as `AppModule` does. */
export function composeApp(env: Env): ModuleMetadata {
  const always = [ConfigModule.with(env), PluginsModule, DatabaseModule.with(), ScheduleModule.forRoot()];
  return { imports: [...always, ...EXTENSIONS] };
}

@Module(composeApp(readEnv()))
export class AppModule {}
