import { Check, Column, Entity, ForeignKey, Index } from 'typeorm';
import { User } from '../../access/workspaces/user.entity.js';
import { Workspace } from '../../access/workspaces/workspace.entity.js';
import type { Approvals, Budget, WhenBlocked } from '../../engine/agent/agent-engine.js';
import type { Check as TaskCheck } from '../../engine/checks/check.js';
import type { Effort } from '../../engine/models/model-provider.js';
import { CreatedAt, Id, Timestamp } from '../../platform/database/columns.js';
import type { NamedEnvironment } from '../environments/definition.js';
import { Connection } from '../integrations/connection.entity.js';
import { Project } from '../projects/project.entity.js';
import type { AutomationRepository } from './automation-repository.js';

export const KINDS = ['recurring', 'one_time', 'webhook'] as const;
export type AutomationKind = (typeof KINDS)[number];
export const AUTOMATION_STATUSES = ['active', 'paused', 'completed'] as const;
export type AutomationStatus = (typeof AUTOMATION_STATUSES)[number];
export const OVERLAPS = ['skip', 'queue', 'allow'] as const;
export type Overlap = (typeof OVERLAPS)[number];

export const PAUSED_CODES = [
  'manual',
  'failures',
  'integration_disconnected',
  'subscription',
  'owner_removed',
] as const;
export interface PausedReason {
  code: (typeof PAUSED_CODES)[number];
  message: string;
}

/** Makes tasks by a schedule, at one time, or when a provider tells of an event (reference §12). */
@Entity('automations')
// (workspace_id, created_at DESC, id DESC): TypeORM describes no order.
@Index('automations_page', { synchronize: false })
@Index('automations_due', ['nextRunAt'], { where: `status = 'active'` })
@Index('automations_connection', ['connectionId'], { where: 'connection_id IS NOT NULL' })
@Index('automations_project', ['projectId'], { where: 'project_id IS NOT NULL' })
@Check('automations_kind_check', `kind IN ('recurring', 'one_time', 'webhook')`)
@Check('automations_status_check', `status IN ('active', 'paused', 'completed')`)
@Check('automations_approvals_check', `approvals IN ('none', 'writes', 'secrets')`)
@Check('automations_when_blocked_check', `when_blocked IN ('fail', 'wait')`)
@Check('automations_overlap_check', `overlap IN ('skip', 'queue', 'allow')`)
export class Automation {
  @Id() id: string;
  @ForeignKey(() => Workspace, { onDelete: 'CASCADE' })
  @Column('uuid')
  workspaceId: string;
  @ForeignKey(() => User)
  @Column('uuid')
  ownerId: string;
  @ForeignKey(() => Project, { onDelete: 'SET NULL' })
  @Column('uuid', { nullable: true })
  projectId: string | null;
  /** That brings the events of `triggerEvent`. */
  @ForeignKey(() => Connection, { onDelete: 'SET NULL' })
  @Column('uuid', { nullable: true })
  connectionId: string | null;
  @Column('text') name: string;
  @Column('text') kind: AutomationKind;
  @Column('text') status: AutomationStatus;
  @Column('jsonb', { nullable: true }) pausedReason: PausedReason | null;
  @Column('text') content: string;
  /** Null: chosen when it fires, as the effort. */
  @Column('text', { nullable: true }) model: string | null;
  @Column('text', { nullable: true }) effort: Effort | null;
  @Column('text', { default: 'none' }) approvals: Approvals;
  @Column('text', { default: 'fail' }) whenBlocked: WhenBlocked;
  /** Whether agents of its tasks may read pages of the web; null: they may, but for tasks that an event begins. */
  @Column('boolean', { nullable: true }) web: boolean | null;
  /** Of its tasks, as given; null: those that are so by default when it fires. */
  @Column('text', { array: true, nullable: true }) skills: string[] | null;
  /** Of its tasks, as given; null: those that a task has by default when it fires, of an event those in the sandbox. */
  @Column('text', { array: true, nullable: true }) mcpServers: string[] | null;
  @Column('jsonb', { nullable: true }) budget: Budget | null;
  @Column('jsonb', { nullable: true }) repository: AutomationRepository | null;
  /** That its tasks work in; null for that of their project. */
  @Column('jsonb', { nullable: true }) environment: NamedEnvironment | null;
  /** Of its tasks, as given: `slug`, `slug@3` or `slug@stable`. Null: the default of its workspace. */
  @Column('text', { nullable: true }) agent: string | null;
  /** Of its tasks; null: those of their project. */
  @Column('jsonb', { nullable: true }) checks: TaskCheck[] | null;
  @Column('int', { nullable: true }) maxRepairs: number | null;
  /** Names: its tasks have no others. Null: whatever there are, and for those of events none. */
  @Column('text', { array: true, nullable: true }) secrets: string[] | null;
  /** `recurring` has `cron` and `timezone`, `one_time` has `runAt`, `webhook` has `triggerEvent` and may have `filter`. */
  @Column('text', { nullable: true }) cron: string | null;
  @Column('text', { nullable: true }) timezone: string | null;
  @Timestamp({ nullable: true }) runAt: Date | null;
  @Column('text', { nullable: true }) triggerEvent: string | null;
  @Column('text', { nullable: true }) filter: string | null;
  @Column('text') overlap: Overlap;
  /** Null unless it is active and has a schedule. */
  @Timestamp({ nullable: true }) nextRunAt: Date | null;
  /** Failed tasks in a row. */
  @Column('int', { default: 0 }) consecutiveFailures: number;
  @CreatedAt() createdAt: Date;
  @Timestamp({ default: () => 'now()' }) updatedAt: Date;
}
