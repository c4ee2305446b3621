// The names of what the service takes and answers. The shapes are generated (schema.ts); what is open is said here.
import type { components } from './schema.js';

type Schemas = components['schemas'];

export type AuthContext = Schemas['AuthContext'];
export type AuditEntry = Schemas['AuditEntry'];
export type Automation = Schemas['Automation'];
export type AutomationRehearsal = Schemas['AutomationRehearsal'];
export type AutomationRun = Schemas['AutomationRun'];
export type BillingSummary = Schemas['BillingSummary'];
export type Checkout = Schemas['Checkout'];
export type PaymentPage = Schemas['PaymentPage'];
export type Portal = Schemas['Portal'];
export type File = Schemas['File'];
export type Snapshot = Schemas['Snapshot'];
export type FolderEntry = Schemas['FolderEntry'];
export type Integration = Schemas['Integration'];
export type IntegrationConnection = Schemas['IntegrationConnection'];
export type IntegrationDelivery = Schemas['IntegrationDelivery'];
export type Interaction = Schemas['PendingInteraction'];
export type Key = Schemas['Key'];
export type Member = Schemas['Member'];
export type Invitation = Schemas['Invitation'];
export type Model = Schemas['Model'];
/** A server whose tools a task may have. */
export type McpServer = Schemas['McpServer'];
/** Which pages of the web agents may read. */
export type WebAccess = Schemas['Web'];
export type Notices = Schemas['Notices'];
export type PushState = Schemas['PushState'];
export type PushSubscription = Schemas['PushSubscription'];
export type ChangeNotices = Schemas['ChangeNotices'];
export type Project = Schemas['Project'];
export type Repository = Schemas['ListedRepository'];
export type RepositoryConnection = Schemas['RepositoryConnection'];
export type RepositoryBranch = Schemas['RepositoryBranch'];
export type Secret = Schemas['Secret'];
export type NetworkUse = Schemas['NetworkUse'];
export type SecretUse = Schemas['SecretUse'];
export type Agent = Schemas['Agent'];
export type AgentVersion = Schemas['AgentVersion'];
export type AgentStats = Schemas['AgentStats'];
export type Evaluate = Schemas['Evaluate'];
export type Evaluation = Schemas['Evaluation'];
export type Environment = Schemas['Environment'];
export type EnvironmentVersion = Schemas['EnvironmentVersion'];
export type EnvironmentBuild = Schemas['EnvironmentBuild'];
export type EnvironmentTest = Schemas['EnvironmentTestResponse'];
export type Skill = Schemas['Skill'];
export type SkillVersion = Schemas['SkillVersion'];
export type ServiceAccount = Schemas['ServiceAccount'];
export type Task = Schemas['Task'];
export type TaskCheck = Schemas['TaskCheck'];

/** A command of the agent that goes on, or went on, beyond its call. */
export type TaskCommand = Schemas['TaskCommand'];
export type TaskProof = Schemas['Proof'];
export type TaskStatus = Task['status'];
export type Upload = Schemas['Upload'];
export type UsageRow = Schemas['UsageRow'];
export type Webhook = Schemas['Webhook'];
export type WebhookDelivery = Schemas['WebhookDelivery'];
export type WholeWebhookDelivery = Schemas['WholeWebhookDelivery'];

export type CreateRepositoryConnection = Schemas['CreateRepositoryConnection'];
export type ChangeRepositoryConnection = Schemas['ChangeRepositoryConnection'];
export type CreateTask = Schemas['CreateTask'];
export type ChangeTask = Schemas['ChangeTask'];
export type ForkTask = Schemas['ForkTask'];
export type PauseTask = Schemas['PauseTask'];
export type SendMessage = Schemas['SendMessage'];
export type ReviewComment = Schemas['ReviewComment'];
export type Answer = Schemas['Answer'];
export type CreateProject = Schemas['CreateProject'];
export type ChangeProject = Schemas['ChangeProject'];
export type CreateAutomation = Schemas['CreateAutomation'];
export type ChangeAutomation = Schemas['ChangeAutomation'];
export type CreateKey = Schemas['CreateKey'];
export type AddMember = Schemas['AddMember'];
export type ChangeMember = Schemas['ChangeMember'];
export type CreateServiceAccount = Schemas['CreateServiceAccount'];
export type CreateServiceKey = Schemas['CreateServiceKey'];
export type Connect = Schemas['Connect'];
export type RotateConnection = Schemas['RotateConnection'];
export type CreateSecret = Schemas['CreateSecret'];
export type ChangeSecret = Schemas['ChangeSecret'];
export type CreateAgent = Schemas['CreateAgent'];
export type ChangeAgent = Schemas['ChangeAgent'];
export type CreateEnvironment = Schemas['CreateEnvironment'];
export type ChangeEnvironment = Schemas['ChangeEnvironment'];
export type ChangeSkill = Schemas['ChangeSkill'];
export type CreateWebhook = Schemas['CreateWebhook'];
export type ChangeWebhook = Schemas['ChangeWebhook'];

/** What a list of tasks is narrowed by, and how it is sorted: see `GET /v1/tasks`. */
export interface ListTasks {
  /** One or several. */
  status?: TaskStatus | readonly TaskStatus[];
  projectId?: string;
  automationId?: string;
  /** Those that the agent of this task has made; `any`: these and all others. Default: those that no other task has made. */
  parentTaskId?: string;
  /** Pairs that the task's own metadata have, all of them. */
  metadata?: Record<string, string>;
  tag?: string;
  /** A time, or a day. */
  createdAfter?: string;
  createdBefore?: string;
  /** Words, or beginnings of words, of the title and the first message. */
  q?: string;
  /** Default: those that are not archived. */
  archived?: 'false' | 'true' | 'all';
  /** Newest first, by this time. Default: `createdAt`. */
  sort?: 'createdAt' | 'updatedAt';
  limit?: number;
}

/** `{deleted: true, id}` */
export type Deleted = Schemas['Deleted'];

/** A part of a message. New types may come: a `switch` over them needs a `default` that ignores. */
export type MessagePart = Schemas['MessagePart'];

/** A message of a task, as `GET …/messages` lists it. */
export type Message = Schemas['Message'];

/** A numbered event of a task. New types may come: a `switch` over them needs a `default` that ignores. */
export type TaskEvent = Schemas['TaskEvent'];

/** An event of the workspace. New types may come. */
export type WorkspaceEvent = Schemas['WorkspaceEvent'];

/** What is still being made: without number, never stored. An event of its message replaces it, and so does a new connection. */
export type Delta =
  | { type: 'message.delta'; messageId: string; index: number; part: 'text' | 'reasoning'; offset: number; delta: string }
  | { type: 'tool.progress'; messageId: string; toolCallId: string; stream: 'stdout' | 'stderr'; offset: number; delta: string }
  | { type: 'tool.progress'; check: string; phase: 'before' | 'after'; round: number; stream: 'stdout' | 'stderr'; offset: number; delta: string }
  | { type: 'command.output'; commandId: string; offset: number; delta: string }
  | { type: 'message.discarded'; messageId: string }; // prettier-ignore

const FINAL: readonly string[] = ['completed', 'failed', 'cancelled'];

/** Whether nothing more happens to a task unless somebody sends a message. */
export const isFinal = (status: string): boolean => FINAL.includes(status);
