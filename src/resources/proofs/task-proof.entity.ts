import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import { CreatedAt } from '../../platform/database/columns.js';
import { Task } from '../tasks/task.entity.js';
import type { ProofEnvelope } from './envelope.js';

/** What the checks of a turn said, signed (reference §26). */
@Entity('task_proofs')
export class TaskProof {
  @ForeignKey(() => Task, { onDelete: 'CASCADE' })
  @PrimaryColumn('uuid')
  taskId: string;
  @PrimaryColumn('int') turn: number;
  @Column('jsonb') envelope: ProofEnvelope;
  @CreatedAt() createdAt: Date;
}
