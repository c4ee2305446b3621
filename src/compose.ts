// The table of contents: what one process is made of, by its role.
import type { ModuleMetadata } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { ConfigModule } from './config/config.module.js';
import type { Env } from './config/env.js';
import { DatabaseModule } from './database/database.module.js';
import { EXTENSIONS } from './extensions.js';
import { ExecutionModule } from './execution/execution.module.js';
import { FilesModule } from './files/files.module.js';
import { HealthModule } from './health/health.module.js';
import { HttpModule } from './http/http.module.js';
import { MetricsModule } from './metrics/metrics.module.js';
import { ModelsModule } from './models/models.module.js';
import { PipelineModule } from './pipeline.js';
import { PluginsModule } from './plugins/plugins.module.js';
import { ProjectsModule } from './projects/projects.module.js';
import { ChannelModule } from './signals/channel.module.js';
import { SignalsModule } from './signals/signals.module.js';
import { TasksModule } from './tasks/tasks.module.js';
import { FirstBootModule } from './workspaces/first-boot.js';
import { WorkspacesModule } from './workspaces/workspaces.module.js';

type Modules = NonNullable<ModuleMetadata['imports']>;

/** The modules of a process with this configuration. `AppModule` is this for the environment of the process. */
export function composeApp(env: Env): { imports: Modules } {
  const ground: Modules = [
    ConfigModule.with(env),
    MetricsModule,
    PluginsModule,
    DatabaseModule.with(),
    ScheduleModule.forRoot(),
  ];
  const http: Modules = [HttpModule, PipelineModule, HealthModule];
  const signals: Modules = [ChannelModule, SignalsModule.with(env)];
  const resources: Modules = [
    WorkspacesModule,
    FirstBootModule,
    ModelsModule,
    ProjectsModule,
    FilesModule,
    TasksModule,
  ];
  const work: Modules = env.runsWork ? [ExecutionModule.with(env)] : [];
  return { imports: [...ground, ...http, ...signals, ...resources, ...work, ...EXTENSIONS] };
}
