// Every entity of the product: the service, the operator command and the tests use this one list. It lies in the highest layer, which
// may know all tables, and the files that put a process together import it from there.
import { AuditChain } from '../access/audit/audit-chain.entity.js';
import { AuditAnchor } from '../access/audit/audit-anchor.entity.js';
import { AuditEntry } from '../access/audit/audit-entry.entity.js';
import { ApiKey } from '../access/auth/api-key.entity.js';
import { ConsoleCode } from '../access/auth/console-code.entity.js';
import { DeviceCode } from '../access/sign-in/device-code.entity.js';
import { SignInIdentity } from '../access/sign-in/sign-in-identity.entity.js';
import { ConsoleSession } from '../access/auth/console-session.entity.js';
import { IdempotencyRecord } from '../access/idempotency/idempotency-record.entity.js';
import { FolderRemoval } from '../access/workspaces/folder-removal.entity.js';
import { Membership } from '../access/workspaces/membership.entity.js';
import { User } from '../access/workspaces/user.entity.js';
import { Workspace } from '../access/workspaces/workspace.entity.js';
import { StoredInstallation } from '../platform/installation/installation.entity.js';
import { LastingKey } from '../platform/installation/lasting-key.entity.js';
import { StoredJob } from '../platform/jobs/job.entity.js';
import { EventHandler } from '../platform/events/event-handler.entity.js';
import { WorkspaceEvent } from '../platform/events/workspace-event.entity.js';
import { Agent, AgentVersion } from '../resources/agents/agent.entity.js';
import { Evaluation, EvaluationTask } from '../resources/agents/evaluations/evaluation.entity.js';
import { Automation } from '../resources/automations/automation.entity.js';
import { AutomationRun } from '../resources/automations/automation-run.entity.js';
import { UsageDay } from '../resources/billing/usage-day.entity.js';
import { UsageLedgerEntry } from '../resources/billing/usage-ledger.entity.js';
import { UsageClosed, UsageSum } from '../resources/billing/usage-sum.entity.js';
import { Environment, EnvironmentBuild, EnvironmentVersion } from '../resources/environments/environment.entity.js';
import { EnvironmentBuildUse } from '../resources/environments/environment-build-use.entity.js';
import { EnvironmentTrial } from '../resources/environments/environment-trial.entity.js';
import { StorageUsage } from '../resources/files/storage-usage.entity.js';
import { StoredFile } from '../resources/files/file.entity.js';
import { Upload } from '../resources/files/upload.entity.js';
import { Connection } from '../resources/integrations/connection.entity.js';
import { HookDelivery } from '../resources/integrations/hook-delivery.entity.js';
import { Project } from '../resources/projects/project.entity.js';
import { Skill, SkillVersion } from '../resources/skills/skill.entity.js';
import { SnapshotBlob, SnapshotObject, SnapshotUse, TaskSnapshot } from '../resources/snapshots/snapshot.entity.js';
import { TaskEvent } from '../resources/tasks/events/task-event.entity.js';
import { RepositoryConnection } from '../resources/repositories/repository-connection.entity.js';
import { TaskProof } from '../resources/proofs/task-proof.entity.js';
import { TaskCommand } from '../resources/tasks/commands/task-command.entity.js';
import { TaskChild } from '../resources/tasks/children/task-child.entity.js';
import { TaskCheck } from '../resources/tasks/checks/task-check.entity.js';
import { SeenMcpServer, StoredMcpOffer } from '../resources/mcp-servers/mcp-server.entity.js';
import { NetworkUseCount } from '../resources/network/network-use.entity.js';
import { SigningKey } from '../resources/proofs/signing-key.entity.js';
import { Secret } from '../resources/secrets/secret.entity.js';
import { SecretUseCount } from '../resources/secrets/secret-use.entity.js';
import { Interaction } from '../resources/tasks/interactions/interaction.entity.js';
import { StoredCut } from '../resources/tasks/messages/context-cut.entity.js';
import { Message } from '../resources/tasks/messages/message.entity.js';
import { ToolInvocation } from '../resources/tasks/messages/tool-invocation.entity.js';
import { Run } from '../resources/tasks/run.entity.js';
import { SearchTerms } from '../resources/tasks/search-terms.entity.js';
import { ScimGroup, ScimGroupMember } from '../access/provisioning/scim-group.entity.js';
import { ScimToken } from '../access/provisioning/scim-token.entity.js';
import { ScimUser } from '../access/provisioning/scim-user.entity.js';
import { Task } from '../resources/tasks/task.entity.js';
import { WebhookDelivery } from '../resources/webhooks/webhook-delivery.entity.js';
import { NoticeSettings } from '../resources/personal-notices/notice-settings.entity.js';
import { PersonalNotice } from '../resources/personal-notices/personal-notice.entity.js';
import { PushSubscription } from '../resources/personal-notices/push-subscription.entity.js';
import { MeterReport } from '../resources/billing/stripe/meter-report.entity.js';
import { Payment } from '../resources/billing/stripe/payment.entity.js';
import { PaymentContact } from '../resources/billing/stripe/payment-contact.entity.js';
import { PaymentCustomer } from '../resources/billing/stripe/payment-customer.entity.js';
import { Webhook } from '../resources/webhooks/webhook.entity.js';
import { Worker } from '../work/machines/worker.entity.js';
import { WorkspaceClaim } from '../work/runs/workspace-claim.entity.js';

export const ENTITIES = [
  Workspace,
  User,
  Membership,
  ApiKey,
  ConsoleSession,
  ConsoleCode,
  SignInIdentity,
  DeviceCode,
  IdempotencyRecord,
  FolderRemoval,
  AuditEntry,
  AuditChain,
  AuditAnchor,
  Environment,
  EnvironmentVersion,
  Agent,
  AgentVersion,
  Evaluation,
  EvaluationTask,
  EnvironmentBuild,
  Project,
  Task,
  SearchTerms,
  Run,
  Message,
  ToolInvocation,
  StoredCut,
  Interaction,
  Upload,
  StoredFile,
  StorageUsage,
  TaskSnapshot,
  SnapshotObject,
  SnapshotUse,
  SnapshotBlob,
  EnvironmentBuildUse,
  EnvironmentTrial,
  Skill,
  SkillVersion,
  WorkspaceClaim,
  Worker,
  Connection,
  HookDelivery,
  Automation,
  AutomationRun,
  StoredInstallation,
  LastingKey,
  SigningKey,
  StoredJob,
  TaskEvent,
  WorkspaceEvent,
  EventHandler,
  UsageLedgerEntry,
  UsageDay,
  UsageSum,
  UsageClosed,
  PaymentCustomer,
  Payment,
  PaymentContact,
  MeterReport,
  Webhook,
  WebhookDelivery,
  RepositoryConnection,
  SeenMcpServer,
  StoredMcpOffer,
  NetworkUseCount,
  TaskCheck,
  TaskCommand,
  TaskChild,
  TaskProof,
  Secret,
  SecretUseCount,
  ScimToken,
  ScimUser,
  ScimGroup,
  ScimGroupMember,
  NoticeSettings,
  PushSubscription,
  PersonalNotice,
];
