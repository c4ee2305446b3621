import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import { Big, Timestamp } from '../../platform/database/columns.js';
import { Task } from '../tasks/task.entity.js';

/** What a task did with a secret at one host (reference §24). It stays when the secret goes. */
@Entity('secret_uses')
export class SecretUseCount {
  @ForeignKey(() => Task, { onDelete: 'CASCADE' })
  @PrimaryColumn('uuid')
  taskId: string;
  @PrimaryColumn('uuid') secretId: string;
  @PrimaryColumn('text') host: string;
  /** Of the secret, at its last use. */
  @Column('text') name: string;
  /** Requests that had its value. */
  @Big({ default: 0 }) requests: number;
  /** Requests that were refused for where the placeholder stood. */
  @Big({ default: 0 }) refused: number;
  /** How often an answer had the value, and was masked. */
  @Big({ default: 0 }) masked: number;
  @Timestamp() firstAt: Date;
  @Timestamp() lastAt: Date;
}
