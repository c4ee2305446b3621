import { Check, Column, Entity, ForeignKey, Index } from 'typeorm';
import { User } from '../../access/workspaces/user.entity.js';
import { Workspace } from '../../access/workspaces/workspace.entity.js';
import type { Approvals, Budget } from '../../engine/agent/agent-engine.js';
import type { Effort } from '../../engine/models/model-provider.js';
import { Big, CreatedAt, Id, Timestamp } from '../../platform/database/columns.js';
import { Project } from '../projects/project.entity.js';
import type { StatusReason, TaskStatus } from './task-status.js';

/** A figure that starts at 0. */
const Count = (): PropertyDecorator => Column('int', { default: 0 });

/** A job and its conversation (reference §4). Its row is the mutex of all that moves it (docs/decisions/0004). */
@Entity('tasks')
// By workspace, creator, project and automation, each with created_at DESC, id DESC: TypeORM describes no order.
@Index('tasks_page', { synchronize: false })
@Index('tasks_creator_page', { synchronize: false })
@Index('tasks_project_page', { synchronize: false })
@Index('tasks_automation_page', { synchronize: false })
@Check('tasks_status_check', `status IN ('queued', 'running', 'awaiting_input', 'completed', 'cancelled', 'failed')`)
@Check('tasks_approvals_check', `approvals IN ('none', 'writes')`)
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
  @Column('text') status: TaskStatus;
  @Column('jsonb', { nullable: true }) statusReason: StatusReason | null;
  @Column('text') model: string;
  @Column('text', { nullable: true }) effort: Effort | null;
  @Column('jsonb', { nullable: true }) budget: Budget | null;
  @Column('jsonb', { default: {} }) metadata: Record<string, string>;
  @Column('text', { nullable: true }) resultText: string | null;
  @Column('uuid', { array: true, nullable: true }) resultFileIds: string[] | null;
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
  @Count() messageCount: number;
  /** One counter gives messages their place in the list (`seq`) and in the model's reading (`readSeq`). */
  @Count() lastSeq: number;
  /** The number of its last event (reference §17). */
  @Count() lastEvent: number;
  /** After a cancel or a failure the next turn reads all that waits, up to `readUpto`. */
  @Column('boolean', { default: false }) readAll: boolean;
  @Column('int', { nullable: true }) readUpto: number | null;
  @Column('text', { default: 'none' }) approvals: Approvals;
  /** Tools that need no more asking in this task. */
  @Column('text', { array: true, default: '{}' }) approvedTools: string[];
  /** Of the workdir, as last measured at the end of a command. */
  @Big({ default: 0 }) workdirBytes: number;
  /** What made it, if an automation did. Both stay when the automation is deleted: they are no foreign keys. */
  @Column('uuid', { nullable: true }) automationId: string | null;
  @Column('uuid', { nullable: true }) automationRunId: string | null;
  @CreatedAt() createdAt: Date;
  @Timestamp({ default: () => 'now()' }) updatedAt: Date;
  @Timestamp({ nullable: true }) startedAt: Date | null;
  @Timestamp({ nullable: true }) finishedAt: Date | null;
}
