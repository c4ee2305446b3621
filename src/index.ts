// The public surface for authors of extensions: `import … from 'millwright'`. The program itself imports from the files,
// and nothing here leads to its composition: what an extension loads does not load the list that it stands in.
export { recordOperator, type Target } from './access/audit/record.js';
export { recordStream } from './access/audit/sender.js';
export { Auth } from './access/auth/auth.decorator.js';
export { Page } from './access/auth/page.decorator.js';
export type { AuthContext, Role } from './access/auth/auth-context.js';
export { USER, visible, VISIBLE_PROJECT, WORKSPACE } from './access/auth/visibility.js';
export { OperatorError } from './access/auth/operator-error.js';
export { type MemberRemoved, MembershipsService } from './access/workspaces/memberships.service.js';
export { User } from './access/workspaces/user.entity.js';
export { UsersService } from './access/workspaces/users.service.js';
export { Workspace } from './access/workspaces/workspace.entity.js';
export { type EmptyingStep, WorkspaceRemover } from './access/workspaces/workspace-remover.js';
export { WorkspacesService } from './access/workspaces/workspaces.service.js';
export { AgentEngine } from './engine/agent/agent-engine.js';
export type * from './engine/agent/agent-engine.js';
export { PushError } from './engine/repositories/push-record.js';
export type * from './engine/repositories/push-record.js';
export { RepositoryError } from './engine/repositories/repository-error.js';
export { AgentTool, success } from './engine/agent/agent-tool.js';
export type * from './engine/agent/agent-tool.js';
export type * from './engine/models/conversation.js';
export { ModelError, ModelProvider } from './engine/models/model-provider.js';
export type * from './engine/models/model-provider.js';
export {
  Sandbox,
  SandboxBusyError,
  SandboxError,
  SandboxFileError,
  SandboxReservation,
  SandboxSession,
} from './engine/sandbox/sandbox.js';
export type * from './engine/sandbox/sandbox.js';
export type * from './engine/sandbox/shared-files.js';
export { type InputSkill, skillsOf, type SkillSources } from './engine/skills/task-skills.js';
export { Chore, type ChoreOptions } from './platform/chores/chore.js';
export { ChoreRunner } from './platform/chores/chore-runner.js';
export { Env } from './platform/config/env.js';
export { Big, columns, type ColumnList, CreatedAt, Id, Timestamp } from './platform/database/columns.js';
export { Database } from './platform/database/database.js';
export { ForwardMigration } from './platform/database/forward-migration.js';
export { isUuid, newId } from './platform/database/ids.js';
export * from './platform/database/sql.js';
export { Transactions } from './platform/database/transactions.js';
export type { UnitOfWork } from './platform/database/unit-of-work.js';
export { EventLog } from './platform/events/event-log.js';
export { type DomainEvent, OnEvent } from './platform/events/on-event.js';
export { ApiError, errorCode, type ExtensionError, notFound } from './platform/http/api-error.js';
export { Documented } from './platform/http/documented.js';
export { type DocumentedAnswer, Endpoint, type EndpointContract, type Scope } from './platform/http/endpoint.js';
export { byCreation, PageQuery, PageRequest, Pages, type CursorBinding, type Position } from './platform/http/pages.js';
export {
  deletedSchema,
  idSchema,
  named,
  pageSchema,
  personSchema,
  timestampSchema,
  timestampView,
} from './platform/http/schema.js';
export { Tx } from './platform/http/tx.js';
export { JobHandler, type Job, type JobOptions, JobWork } from './platform/jobs/job-handler.js';
export { JobQueue } from './platform/jobs/job-queue.js';
export { Metrics } from './platform/metrics/metrics.js';
export { configSection, defineExtension } from './platform/plugins/extension.js';
export type * from './platform/plugins/extension.js';
export { Plugin, PluginRegistry, type Seam } from './platform/plugins/plugin.js';
export { BillingProvider } from './resources/billing/billing-provider.js';
export type * from './resources/billing/billing-provider.js';
export type { WindowState } from './resources/billing/usage.sql.js';
export { StoredFile } from './resources/files/file.entity.js';
export {
  BytesDamagedError,
  BytesGoneError,
  StorageDriver,
  StorageUnavailableError,
} from './resources/files/storage/storage-driver.js';
export type * from './resources/files/storage/storage-driver.js';
export { headerOf, hexDigest, isFresh, isSigned } from './resources/integrations/catalogue/signatures.js';
export { IntegrationProvider } from './resources/integrations/integration-provider.js';
export type * from './resources/integrations/integration-provider.js';
export { Project } from './resources/projects/project.entity.js';
export { TaskAccess } from './resources/tasks/task-access.js';
export { Task } from './resources/tasks/task.entity.js';
export type { LockedTask } from './resources/tasks/task.sql.js';
