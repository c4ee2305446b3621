// The table of contents: what one process is made of, by its role.
import type { ModuleMetadata } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { KeysModule } from './auth/keys.module.js';
import { ConfigModule } from './config/config.module.js';
import type { Env } from './config/env.js';
import { DatabaseModule } from './database/database.module.js';
import { EXTENSIONS } from './extensions.js';
import { HttpModule } from './http/http.module.js';
import { PipelineModule } from './pipeline.js';
import { PluginsModule } from './plugins/plugins.module.js';
import { FirstBootModule } from './workspaces/first-boot.js';
import { WorkspacesModule } from './workspaces/workspaces.module.js';

type Modules = NonNullable<ModuleMetadata['imports']>;

/** The modules of a process with this configuration. `AppModule` is this for the environment of the process. */
export function composeApp(env: Env): { imports: Modules } {
  const always: Modules = [ConfigModule.with(env), PluginsModule, DatabaseModule.with(), ScheduleModule.forRoot()];
  const api: Modules = [HttpModule, WorkspacesModule, FirstBootModule, PipelineModule];
  return { imports: [...always, ...api, ...EXTENSIONS] };
}

/** The modules of the operator command: no workers, no HTTP. With the embedded database it joins the running server. */
export function composeCli(env: Env): { imports: Modules } {
  return { imports: [ConfigModule.with(env), DatabaseModule.with({ join: true }), WorkspacesModule, KeysModule] };
}
