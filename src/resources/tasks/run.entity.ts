import { Check, Column, Entity, ForeignKey, Index } from 'typeorm';
import { Id } from '../../platform/database/columns.js';
import { Task } from './task.entity.js';

/** One stretch of work on a turn: what workers claim (docs/decisions/0002). The request that makes the work inserts it. */
@Entity('runs')
@Index('runs_task', ['taskId'])
@Index('runs_one_open', ['taskId'], { unique: true, where: `status IN ('queued', 'paused', 'running')` })
@Index('runs_leases', ['leaseUntil'], { where: `status = 'running'` })
@Index('runs_running', ['workspaceId'], { where: `status = 'running'` })
@Index('runs_paused', ['workspaceId'], { where: `status = 'paused'` })
// On (workspace_id, (kind = 'turn' AND epoch = 0), created_at, id): TypeORM describes no expressions.
@Index('runs_waiting', { synchronize: false })
@Check('runs_kind_check', `kind IN ('turn', 'continuation', 'checks')`)
@Check('runs_status_check', `status IN ('queued', 'paused', 'running', 'finished', 'cancelled')`)
export class Run {
  @Id() id: string;
  @ForeignKey(() => Task, { onDelete: 'CASCADE' })
  @Column('uuid')
  taskId: string;
  /** Of the task. */
  @Column('uuid') workspaceId: string;
  /** `turn` begins a turn, `continuation` goes on with one, `checks` runs the checks of one again that has ended. */
  @Column('text') kind: 'turn' | 'continuation' | 'checks';
  /** `paused`: as `queued`, of a task that is paused: no worker claims it. */
  @Column('text') status: 'queued' | 'paused' | 'running' | 'finished' | 'cancelled';
  /** The number of the claim: every write of a worker names it, so that one that was replaced writes nothing more. */
  @Column('int', { default: 0 }) epoch: number;
  @Column('timestamptz', { nullable: true }) leaseUntil: Date | null;
  @Column('int', { default: 0 }) recoveryCount: number;
  @Column('timestamptz', { nullable: true }) claimedAt: Date | null;
  /** Since when it waits: of one that was paused, when it was resumed; of one that was taken from a worker, when that was. */
  @Column('timestamptz', { default: () => 'now()' }) createdAt: Date;
  @Column('timestamptz', { nullable: true }) finishedAt: Date | null;
  /** The span of the transaction that made it (W3C Trace Context). */
  @Column('text', { nullable: true }) traceparent: string | null;
}
