import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import type { RefusalCode } from '../../engine/sandbox/network/refusals.js';
import { Big, Timestamp } from '../../platform/database/columns.js';
import { Task } from '../tasks/task.entity.js';

/** What the commands of a task did with one host (reference §4). */
@Entity('network_uses')
export class NetworkUseCount {
  @ForeignKey(() => Task, { onDelete: 'CASCADE' })
  @PrimaryColumn('uuid')
  taskId: string;
  /** `others`, with port 0, stands for hosts beyond those that are counted apart. */
  @PrimaryColumn('text') host: string;
  @PrimaryColumn('int') port: number;
  /** Connections that were made. */
  @Big({ default: 0 }) connections: number;
  /** Connections that could not be made. */
  @Big({ default: 0 }) failed: number;
  /** Connections, and requests with the placeholder of a secret, that were refused. */
  @Big({ default: 0 }) refused: number;
  /** Why the last of them was. */
  @Column('text', { nullable: true }) refusedFor: RefusalCode | null;
  /** To the commands, and from them. */
  @Big({ default: 0 }) bytesIn: number;
  @Big({ default: 0 }) bytesOut: number;
  @Timestamp() firstAt: Date;
  @Timestamp() lastAt: Date;
}
