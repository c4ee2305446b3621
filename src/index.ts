// The public surface for extension authors; the program itself imports from the files.
export { AgentEngine } from './engine/agent/agent-engine.js';
export type * from './engine/agent/agent-engine.js';
export { AgentTool, success } from './engine/agent/agent-tool.js';
export type * from './engine/agent/agent-tool.js';
export type { AuthContext, Role } from './access/auth/auth-context.js';
export { Auth } from './access/auth/auth.decorator.js';
export { composeApp } from './compose.js';
export { Env, readEnv } from './platform/config/env.js';
export { Database } from './platform/database/database.js';
export { columns } from './platform/database/columns.js';
export * from './platform/database/sql.js';
export { ApiError, notFound } from './platform/http/api-error.js';
export { configureHttp } from './platform/http/configure-http.js';
export { Documented } from './platform/http/documented.js';
export { type DocumentedAnswer, Endpoint, type EndpointContract, type Scope } from './platform/http/endpoint.js';
export { PageQuery, Pages } from './platform/http/pages.js';
export { deletedSchema, idSchema, named, pageSchema, personSchema, timestampSchema } from './platform/http/schema.js';
export { Tx } from './platform/http/tx.js';
export type { UnitOfWork } from './platform/database/unit-of-work.js';
export type * from './engine/models/conversation.js';
export { ModelError, ModelProvider } from './engine/models/model-provider.js';
export type * from './engine/models/model-provider.js';
export { StorageDriver } from './resources/files/storage/storage-driver.js';
export type * from './resources/files/storage/storage-driver.js';
export { TaskAccess } from './resources/tasks/task-access.js';
export { TasksModule } from './resources/tasks/tasks.module.js';
export type { LockedTask } from './resources/tasks/task.sql.js';
export { visible } from './access/auth/visibility.js';
export { Plugin, PluginRegistry } from './platform/plugins/plugin.js';
export {
  Sandbox,
  SandboxBusyError,
  SandboxError,
  SandboxFileError,
  SandboxReservation,
  SandboxSession,
} from './engine/sandbox/sandbox.js';
export type * from './engine/sandbox/sandbox.js';
export { type MemberRemoved, MembershipsService } from './access/workspaces/memberships.service.js';
export { type EmptyingStep, WorkspaceRemover } from './access/workspaces/workspace-remover.js';
export { Chore, type ChoreOptions } from './platform/chores/chore.js';
export { ChoreRunner } from './platform/chores/chore-runner.js';
