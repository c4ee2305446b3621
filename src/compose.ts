// The table of contents: what one process is made of, by its role.
import type { ModuleMetadata } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { AgentsModule } from './resources/agents/agents.module.js';
import { AutomationsModule } from './resources/automations/automations.module.js';
import { BillingModule } from './resources/billing/billing.module.js';
import { BillingProvider } from './resources/billing/billing-provider.js';
import { ChoresModule } from './platform/chores/chores.module.js';
import { ConfigModule } from './platform/config/config.module.js';
import { DiskModule } from './platform/disk/disk.module.js';
import type { Env } from './platform/config/env.js';
import { DatabaseModule } from './platform/database/database.module.js';
import { ENTITIES } from './operator/entities.js';
import { historiesOf } from './operator/migrations/index.js';
import { EventLogModule } from './platform/events/event-log.module.js';
import { OccurrencesModule } from './work/occurrences/occurrences.module.js';
import { EventsModule } from './platform/events/events.module.js';
import { PullRequestsModule } from './work/pull-requests/pull-requests.module.js';
import { RunsModule } from './work/runs/runs.module.js';
import { AgentEngine } from './engine/agent/agent-engine.js';
import { Sandbox } from './engine/sandbox/sandbox.js';
import { EventStreamsModule } from './resources/events/event-streams.module.js';
import { FilesModule } from './resources/files/files.module.js';
import { StorageDriver } from './resources/files/storage/storage-driver.js';
import { HealthModule } from './operator/health/health.module.js';
import { HttpModule } from './platform/http/http.module.js';
import { MetricsModule } from './platform/metrics/metrics.module.js';
import { IntegrationsModule } from './resources/integrations/integrations.module.js';
import { ModelsModule } from './engine/models/models.module.js';
import { WebModule } from './engine/web/web.module.js';
import { PipelineModule } from './pipeline.js';
import type { ExtensionSet } from './platform/plugins/extension-set.js';
import { checkChoice } from './platform/plugins/plugin.js';
import { PluginsModule } from './platform/plugins/plugins.module.js';
import { JobsModule } from './platform/jobs/jobs.module.js';
import { RepositoryConnectionsModule } from './resources/repositories/repository-connections.module.js';
import { EnvironmentsModule } from './resources/environments/environments.module.js';
import { McpServersModule } from './resources/mcp-servers/mcp-servers.module.js';
import { NetworkModule } from './resources/network/network.module.js';
import { ProofsModule } from './resources/proofs/proofs.module.js';
import { SecretsModule } from './resources/secrets/secrets.module.js';
import { ProjectsModule } from './resources/projects/projects.module.js';
import { RepositoryListModule } from './resources/repositories/repository-list.module.js';
import { BullQueuesModule, NoticesModule } from './platform/notices/notices.module.js';
import { TaskAccessModule } from './resources/tasks/task-access.js';
import { TasksModule } from './resources/tasks/tasks.module.js';
import { FirstBootModule } from './access/workspaces/first-boot.js';
import { TracingModule } from './platform/tracing/tracing.module.js';
import { McpModule } from './surfaces/mcp/mcp.module.js';
import { ScimModule } from './surfaces/scim/scim.module.js';
import { ConsoleModule } from './surfaces/console/console.module.js';
import { PersonalNoticesModule } from './resources/personal-notices/personal-notices.module.js';
import { SkillsModule } from './resources/skills/skills.module.js';
import { StripeModule } from './resources/billing/stripe/stripe.module.js';
import { SnapshotsModule } from './resources/snapshots/snapshots.module.js';
import { WebhooksModule } from './resources/webhooks/webhooks.module.js';
import { DeliveriesModule } from './work/deliveries/deliveries.module.js';
import { MembersModule } from './access/workspaces/members.module.js';
import { NoticeSendingModule } from './work/personal-notices/notice-sending.module.js';
import { WorkspacesModule } from './access/workspaces/workspaces.module.js';

type Modules = NonNullable<ModuleMetadata['imports']>;

/**
 * The modules of a process with this configuration. `AppModule` is this for the environment of the process and the extensions
 * of `src/extensions.ts`.
 */
export function composeApp(env: Env, extensions: ExtensionSet): { imports: Modules } {
  checkChoices(env);
  const ground: Modules = [
    ConfigModule.with(env, extensions),
    DiskModule,
    MetricsModule,
    TracingModule,
    PluginsModule,
    DatabaseModule.with({ entities: extensions.entitiesBeside(ENTITIES), migrations: historiesOf(extensions) }),
    NoticesModule,
    EventLogModule,
    ScheduleModule.forRoot(),
    ChoresModule,
  ];
  const http: Modules = [HttpModule, PipelineModule, HealthModule];
  const background: Modules = [BullQueuesModule.with(env), JobsModule.with(env), EventsModule.with(env)];
  const resources: Modules = [
    WorkspacesModule,
    MembersModule,
    FirstBootModule,
    ModelsModule,
    WebModule,
    ProjectsModule,
    FilesModule,
    TasksModule,
    EventStreamsModule,
    TaskAccessModule,
    AutomationsModule,
    BillingModule,
    ...StripeModule.with(env),
    IntegrationsModule,
    RepositoryListModule,
    SnapshotsModule,
    WebhooksModule,
    RepositoryConnectionsModule,
    NetworkModule,
    McpServersModule,
    SecretsModule,
    EnvironmentsModule,
    AgentsModule,
    SkillsModule,
    ProofsModule,
    PersonalNoticesModule,
  ];
  const work: Modules = env.runsWork
    ? [RunsModule.with(env), PullRequestsModule, OccurrencesModule, DeliveriesModule, NoticeSendingModule]
    : [];
  const surfaces: Modules = [
    ...(env.servesApi ? [McpModule, ScimModule] : []),
    ...(env.servesConsole ? [ConsoleModule] : []),
  ];
  return { imports: [...ground, ...http, ...background, ...resources, ...work, ...surfaces, ...extensions.modules] };
}

/** Before the embedded database starts: what a variable chooses is a class that an import above, or an extension, has brought. */
function checkChoices({ runsWork, variables: { STORAGE, BILLING, SANDBOX, AGENT_ENGINE } }: Env): void {
  checkChoice(StorageDriver, 'STORAGE', STORAGE);
  checkChoice(BillingProvider, 'BILLING', BILLING);
  if (!runsWork) return;
  checkChoice(Sandbox, 'SANDBOX', SANDBOX, ['auto']);
  checkChoice(AgentEngine, 'AGENT_ENGINE', AGENT_ENGINE);
}
