// The table of contents: what one process is made of, by its role.
import type { ModuleMetadata } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { ConfigModule } from './config/config.module.js';
import type { Env } from './config/env.js';
import { DatabaseModule } from './database/database.module.js';
import { EXTENSIONS } from './extensions.js';
import { PluginsModule } from './plugins/plugins.module.js';

type Modules = NonNullable<ModuleMetadata['imports']>;

/** The modules of a process with this configuration. `AppModule` is this for the environment of the process. */
export function composeApp(env: Env): { imports: Modules } {
  const always: Modules = [ConfigModule.with(env), PluginsModule, DatabaseModule.with(), ScheduleModule.forRoot()];
  return { imports: [...always, ...EXTENSIONS] };
}
