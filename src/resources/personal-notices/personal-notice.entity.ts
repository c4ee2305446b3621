import { Check, Column, Entity, ForeignKey, Index } from 'typeorm';
import { Membership } from '../../access/workspaces/membership.entity.js';
import { Id, Timestamp } from '../../platform/database/columns.js';
import { Task } from '../tasks/task.entity.js';
import type { Channel } from './notice-settings.entity.js';

/** What is told of a task; `test` on request alone. */
export type NoticeKind = 'needs_you' | 'finished' | 'failed' | 'test';

/**
 * - `pending`: to be sent when it is due.
 * - `sending`: a process has begun to send it. Nobody ever begins a second time, unless that process says that the other side has not taken it.
 * - `sent`; `failed`: not taken, and not tried again; `dropped`: not sent, because it is no longer true or no longer wanted.
 * - `lost`: the process ended while it was sending. It may have arrived.
 */
export type NoticeStatus = 'pending' | 'sending' | 'sent' | 'failed' | 'dropped' | 'lost';

/** What one person is sent by one channel about one event (reference §21). */
@Entity('personal_notices')
@Index('personal_notices_one', ['eventId', 'userId', 'channel', 'target'], { unique: true })
@Index('personal_notices_due', ['workspaceId', 'dueAt'], { where: `status = 'pending'` })
@Index('personal_notices_sending', ['dueAt'], { where: `status = 'sending'` })
@Index('personal_notices_member', ['workspaceId', 'userId'])
@Index('personal_notices_task', ['taskId'], { where: 'task_id IS NOT NULL' })
@Index('personal_notices_old', ['createdAt'])
@Check('personal_notices_kind_check', `kind IN ('needs_you', 'finished', 'failed', 'test')`)
@Check('personal_notices_channel_check', `channel IN ('push', 'email', 'hook')`)
@Check('personal_notices_status_check', `status IN ('pending', 'sending', 'sent', 'failed', 'dropped', 'lost')`)
@ForeignKey(() => Membership, ['workspaceId', 'userId'], ['workspaceId', 'userId'], { onDelete: 'CASCADE' })
export class PersonalNotice {
  @Id() id: string;
  @Column('uuid') workspaceId: string;
  @Column('uuid') userId: string;
  /** Null for a test. */
  @ForeignKey(() => Task, { onDelete: 'CASCADE' })
  @Column('uuid', { nullable: true })
  taskId: string | null;
  @Column('text') eventId: string;
  @Column('text') kind: NoticeKind;
  /** What the task asks, for `needs_you`. */
  @Column('uuid', { nullable: true }) interactionId: string | null;
  @Column('text') channel: Channel;
  /** The subscription of a browser, else the person. */
  @Column('uuid') target: string;
  @Column('text', { default: 'pending' }) status: NoticeStatus;
  /** Those that have begun. */
  @Column('int', { default: 0 }) attempts: number;
  /** Of one that is pending; of one that is being sent, since when. */
  @Timestamp({ default: () => 'clock_timestamp()' }) dueAt: Date;
  @Timestamp({ default: () => 'clock_timestamp()' }) createdAt: Date;
}
