import { Check, Column, Entity, Index } from 'typeorm';
import { Id } from '../database/columns.js';

/** A job that is not done: `JobQueue` inserts it, `JobRunner` claims it and deletes it when it is done (docs/decisions/0033). */
@Entity('jobs')
@Index('jobs_due', ['queue', 'share', 'dueAt', 'id'], { where: `status = 'queued'` })
@Index('jobs_leases', ['leaseUntil'], { where: `status = 'running'` })
@Index('jobs_failed', ['failedAt'], { where: `status = 'failed'` })
@Index('jobs_one_open', ['queue', 'key'], { unique: true, where: `key IS NOT NULL AND status <> 'failed'` })
@Check('jobs_status_check', `status IN ('queued', 'running', 'failed')`)
export class StoredJob {
  @Id() id: string;
  /** The name of its handler (`@JobHandler`). */
  @Column('text') queue: string;
  /** The workspace whose work it is; shares of one queue take turns. Empty for nobody's. */
  @Column('text', { default: '' }) share: string;
  /** At most one job of the queue that has not failed has it. */
  @Column('text', { nullable: true }) key: string | null;
  @Column('jsonb') data: object;
  @Column('text', { default: 'queued' }) status: 'queued' | 'running' | 'failed';
  /** The number of the claim: every write of a worker names it, so that one that was replaced writes nothing more. */
  @Column('int', { default: 0 }) epoch: number;
  /** How often it was begun; one that was handed back at the end of a process does not count. */
  @Column('int', { default: 0 }) attempts: number;
  @Column('timestamptz', { default: () => 'now()' }) dueAt: Date;
  @Column('timestamptz', { nullable: true }) leaseUntil: Date | null;
  @Column('text', { nullable: true }) lastError: string | null;
  @Column('timestamptz', { default: () => 'now()' }) createdAt: Date;
  @Column('timestamptz', { nullable: true }) failedAt: Date | null;
}
