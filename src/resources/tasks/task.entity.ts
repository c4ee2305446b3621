import { Check, Column, Entity, ForeignKey, Index } from 'typeorm';
import { User } from '../../access/workspaces/user.entity.js';
import { Workspace } from '../../access/workspaces/workspace.entity.js';
import type { Approvals, Budget, WhenBlocked } from '../../engine/agent/agent-engine.js';
import type { EngineSession } from '../../engine/agent/engine-session.js';
import type { Wait } from '../../engine/agent/waits.js';
import type { ChangeCounts } from '../../engine/agent/input-repository.js';
import type { TaskChecks } from '../../engine/checks/check.js';
import type { OutputSchema } from '../../engine/agent/output/output-schema.js';
import type { JsonValue } from '../../engine/models/conversation.js';
import type { Effort } from '../../engine/models/model-provider.js';
import type { PushOfTask } from '../../engine/repositories/push-record.js';
import { Big, CreatedAt, Id, Timestamp } from '../../platform/database/columns.js';
import { AgentVersion } from '../agents/agent.entity.js';
import { EnvironmentBuild, EnvironmentVersion } from '../environments/environment.entity.js';
import { Project } from '../projects/project.entity.js';
import type { StatusReason, TaskStatus } from './task-status.js';

/** A figure that starts at 0. */
const Count = (): PropertyDecorator => Column('int', { default: 0 });

/** What a task works on (reference §15), in one column: it is read as a whole. */
export interface StoredRepository {
  url: string;
  /** As given: a branch, a tag or a commit; null for the default branch. */
  ref: string | null;
  /** What it is a clone of; null until it is cloned. */
  commit: string | null;
  /** The digest of the changes that its clone begins with, of the task that has made this one. Absent as null. */
  patch?: string | null;
  /** Absent as null: tasks of earlier versions. */
  push?: PushOfTask | null;
}

/** A skill of a task, in the version that it was made with; it may be deleted since. */
export interface TaskSkill {
  id: string;
  name: string;
  version: number;
}

/** What keeps a task from going on (reference §4); `since` is an instant in ISO 8601. */
export interface WaitingFor {
  code: 'place' | Wait['code'];
  message: string;
  since: string;
}

/** What has blocked a task that waits (docs/decisions/0090). */
export interface Block {
  /** The turn and the steps of the task, by which one sees whether it has come further since. */
  turn: number;
  steps: number;
  /** How often in a row, and since when. */
  times: number;
  since: string;
  /** The claim that was blocked. */
  runId: string;
  epoch: number;
}

/** What a fork began as. The task may be deleted since. */
export interface Fork {
  taskId: string;
  turn: number;
  /** Whether the original's commands might have no network: the fork reads what it has read. */
  isolated: boolean;
}

/** What holds for a task that another one has made, as it held for that. */
export interface ChildOf {
  /** Whether its commands may have no network. */
  isolated: boolean;
  /** The run of the automation that all of them began with; null without one. */
  automationRunId: string | null;
  /** The tools that those above it do not have, which its own agent may not say; absent: they have all. */
  deny?: string[];
}

/** How the checks of a turn stand. */
export interface Checked {
  turn: number;
  /** Of the last round. */
  passed: number;
  failed: number;
  /** How often the agent has gone on to mend its work. */
  repairs: number;
  /** `running` from the first one on. */
  status: 'running' | 'passed' | 'failed' | 'error';
}

/** A job and its conversation (reference §4). Its row is the mutex of all that moves it (docs/decisions/0004). */
@Entity('tasks')
// By workspace, creator, project and automation, each (but the creator's) with archived, all with created_at DESC, id DESC: TypeORM
// describes no order.
@Index('tasks_page', { synchronize: false })
@Index('tasks_creator_page', { synchronize: false })
@Index('tasks_project_page', { synchronize: false })
@Index('tasks_automation_page', { synchronize: false })
@Index('tasks_rested', { synchronize: false })
@Index('tasks_ended', { synchronize: false })
// With created_at DESC, id DESC: the tasks of a task.
@Index('tasks_parent_page', { synchronize: false })
@Index('tasks_waiting', ['id'], { where: 'waiting_since IS NOT NULL' })
@Index('tasks_resuming', ['resumesAt', 'id'], { where: 'resumes_at IS NOT NULL' })
// With created_at DESC, of tasks with a repository: which ones a workspace used last.
@Index('tasks_repository', { synchronize: false })
@Index('tasks_environment', ['environmentId', 'environmentVersion'], { where: 'environment_id IS NOT NULL' })
@Index('tasks_agent', ['agentId', 'agentVersion'], { where: 'agent_id IS NOT NULL' })
@Index('tasks_environment_build', ['environmentBuildId'], { where: 'environment_build_id IS NOT NULL' })
@Check('tasks_status_check', `status IN ('queued', 'running', 'awaiting_input', 'completed', 'cancelled', 'failed')`)
@Check('tasks_approvals_check', `approvals IN ('none', 'writes', 'secrets')`)
@Check('tasks_when_blocked_check', `when_blocked IN ('fail', 'wait')`)
@ForeignKey(() => EnvironmentVersion, ['environmentId', 'environmentVersion'], ['environmentId', 'version'], {
  onDelete: 'SET NULL',
})
@ForeignKey(() => AgentVersion, ['agentId', 'agentVersion'], ['agentId', 'version'], { onDelete: 'SET NULL' })
export class Task {
  @Id() id: string;
  @ForeignKey(() => Workspace, { onDelete: 'CASCADE' })
  @Column('uuid')
  workspaceId: string;
  @ForeignKey(() => Project, { onDelete: 'SET NULL' })
  @Column('uuid', { nullable: true })
  projectId: string | null;
  @ForeignKey(() => User)
  @Column('uuid', { name: 'created_by' })
  createdById: string;
  @Column('text') title: string;
  /** Whether the title is that of its first line, and the model may still make one. */
  @Column('boolean', { default: false }) untitled: boolean;
  @Column('text') status: TaskStatus;
  @Column('jsonb', { nullable: true }) statusReason: StatusReason | null;
  /** No worker claims it, because somebody has paused it or something blocks it; never true of a final task. While it is running its worker is about to stop. A trigger forgets it at the end of the turn. */
  @Column('boolean', { default: false }) paused: boolean;
  /** When it is resumed by itself; null unless it is paused. */
  @Timestamp({ nullable: true }) resumesAt: Date | null;
  @Column('text', { default: 'fail' }) whenBlocked: WhenBlocked;
  /** Whether its agent may read pages of the web, where the operator lets agents; not of a task that is older than this field. */
  @Column('boolean', { default: false }) web: boolean;
  /** Those that it was made with, by name or by default. */
  @Column('jsonb', { default: [] }) skills: TaskSkill[];
  /** The names of its servers (reference §28), by name or by default. */
  @Column('text', { array: true, default: '{}' }) mcpServers: string[];
  /** The session of the agent program that drives it (reference §30); null: none has. Nobody is shown it. */
  @Column('jsonb', { nullable: true }) engineSession: EngineSession | null;
  /** The last time that something blocked it; null when nothing has. */
  @Column('jsonb', { nullable: true }) blocked: Block | null;
  @Column('text') model: string;
  @Column('text', { nullable: true }) effort: Effort | null;
  @Column('jsonb', { nullable: true }) budget: Budget | null;
  @Column('jsonb', { default: {} }) metadata: Record<string, string>;
  @Column('text', { array: true, default: '{}' }) tags: string[];
  @Column('boolean', { default: false }) archived: boolean;
  /** The first 10,000 characters of the first message: with the title it is what a search looks through. */
  @Column('text', { default: '' }) opening: string;
  @Column('text', { nullable: true }) resultText: string | null;
  @Column('uuid', { array: true, nullable: true }) resultFileIds: string[] | null;
  /** As it was given, with its keys in their order: the model is sent it, and writes in that order. */
  @Column('json', { nullable: true }) outputSchema: OutputSchema | null;
  /** The JSON of the last answer; null without a schema. */
  @Column('json', { nullable: true }) resultOutput: JsonValue;
  @Big({ default: 0 }) inputTokens: number;
  @Big({ default: 0 }) outputTokens: number;
  @Big({ default: 0 }) cachedInputTokens: number;
  @Big({ default: 0 }) reasoningTokens: number;
  @Count() steps: number;
  @Count() toolCalls: number;
  @Big({ default: 0 }) durationMs: number;
  /** The number of the turn; the figures that begin with `turn` are its share of those above, for the budget. */
  @Count() turn: number;
  @Count() turnSteps: number;
  @Big({ default: 0 }) turnTokens: number;
  @Big({ default: 0 }) turnDurationMs: number;
  /** Millionths of a US dollar; null until a model with prices has answered. */
  @Big({ nullable: true }) costMicros: number | null;
  @Big({ default: 0 }) turnCostMicros: number;
  /** Whether the turn was started beyond the turns that the workspace may start in a window: a top-up pays all of it. */
  @Column('boolean', { default: false }) turnBeyond: boolean;
  /** Tokens of the last step, prompt and answer; null after a cut of the context, and before the first step. */
  @Big({ nullable: true }) contextTokens: number | null;
  @Count() messageCount: number;
  /** One counter gives messages their place in the list (`seq`) and in the model's reading (`readSeq`). */
  @Count() lastSeq: number;
  /** The number of its last event (reference §17). */
  @Count() lastEvent: number;
  /** After a cancel or a failure the next turn reads all that waits, up to `readUpto`. */
  @Column('boolean', { default: false }) readAll: boolean;
  @Column('int', { nullable: true }) readUpto: number | null;
  @Column('text', { default: 'none' }) approvals: Approvals;
  /** Tools that need no more asking in this task, and secrets that may be used in it, as `secret:NAME` (docs/decisions/0099). */
  @Column('text', { array: true, default: '{}' }) approvedTools: string[];
  /** Of the workdir, as last measured at the end of a command. */
  @Big({ default: 0 }) workdirBytes: number;
  /** The machine that has its folders: the id in its DATA_DIR. Null while none has: they are made, or restored, where the next run is. */
  @Column('uuid', { nullable: true }) machineId: string | null;
  /** Whether its folders may hold what no snapshot has: calls that may change them have ended since the last one. */
  @Column('boolean', { default: false }) folderAhead: boolean;
  /** What its commands reach, and the names of hosts that they were refused; null before the first one that has a network. */
  @Column('jsonb', { nullable: true }) network: { hosts: readonly string[]; refused: readonly string[] } | null;
  /** What made it, if an automation did. Both stay when the automation is deleted: they are no foreign keys. */
  @Column('uuid', { nullable: true }) automationId: string | null;
  @Column('uuid', { nullable: true }) automationRunId: string | null;
  /** The task whose agent has made it; null of all others. */
  @ForeignKey(() => Task)
  @Column('uuid', { nullable: true })
  parentTaskId: string | null;
  /** Null without a parent. */
  @Column('jsonb', { nullable: true }) childOf: ChildOf | null;
  /** How many tasks its agent has made, whatever became of them. */
  @Count() children: number;
  /** Since when its turn waits for tasks that its agent has made; null while it does not. */
  @Timestamp({ nullable: true }) waitingSince: Date | null;
  /** What those of its turn have used, and may still use: as of the last claim, and of what was made since. For the budget. */
  @Count() turnReservedSteps: number;
  @Big({ default: 0 }) turnReservedTokens: number;
  @Big({ default: 0 }) turnReservedCostMicros: number;
  /** Null unless it is a fork. */
  @Column('jsonb', { nullable: true }) forkedFrom: Fork | null;
  @Column('jsonb', { nullable: true }) repository: StoredRepository | null;
  /** Between the repository and its original commit, after the last turn; null when that is not known. */
  @Column('jsonb', { nullable: true }) changes: ChangeCounts | null;
  /** What it works in: a version of an environment. Both are null without one, and when it has been deleted. */
  @Column('uuid', { nullable: true }) environmentId: string | null;
  @Column('int', { nullable: true }) environmentVersion: number | null;
  /** What its folders began as; null before its first run, without an environment, and when the build has been deleted. */
  @ForeignKey(() => EnvironmentBuild, { onDelete: 'SET NULL' })
  @Column('uuid', { nullable: true })
  environmentBuildId: string | null;
  /** How it works: a version of an agent, which never goes. Both are null without one. */
  @Column('uuid', { nullable: true }) agentId: string | null;
  @Column('int', { nullable: true }) agentVersion: number | null;
  /** What it has to pass; null: nothing. */
  @Column('jsonb', { nullable: true }) checks: TaskChecks | null;
  /** How its last checks stand; null before the first one. */
  @Column('jsonb', { nullable: true }) checked: Checked | null;
  /** Null while the run goes on; a trigger forgets it when the status changes. */
  @Column('jsonb', { nullable: true }) waitingFor: WaitingFor | null;
  @CreatedAt() createdAt: Date;
  @Timestamp({ default: () => 'now()' }) updatedAt: Date;
  /** `updatedAt` as it is while no worker has the task; a trigger keeps it, and the next field (rest-task.function.ts). */
  @Timestamp({ default: () => 'now()' }) restedAt: Date;
  /** The status of a task that has ended; anything while a worker has it. */
  @Column('text', { nullable: true }) endedAs: 'completed' | 'cancelled' | 'failed' | null;
  /** The ten minutes that `updatedAt` lies in. Processes of earlier versions read it; a trigger keeps it (updated-slot.function.ts). */
  @Count() updatedSlot: number;
  @Timestamp({ nullable: true }) startedAt: Date | null;
  @Timestamp({ nullable: true }) finishedAt: Date | null;
}
