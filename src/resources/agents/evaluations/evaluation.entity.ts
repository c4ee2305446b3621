import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { User } from '../../../access/workspaces/user.entity.js';
import { Workspace } from '../../../access/workspaces/workspace.entity.js';
import { CreatedAt, Id } from '../../../platform/database/columns.js';
import { Task } from '../../tasks/task.entity.js';
import { Agent } from '../agent.entity.js';

/** Versions of an agent on the same cases, side by side (reference §27.5). */
@Entity('evaluations')
@Index('evaluations_agent', ['agentId'])
@Index('evaluations_workspace', ['workspaceId'])
export class Evaluation {
  @Id() id: string;
  @ForeignKey(() => Workspace, { onDelete: 'CASCADE' })
  @Column('uuid')
  workspaceId: string;
  @ForeignKey(() => Agent, { onDelete: 'CASCADE' })
  @Column('uuid')
  agentId: string;
  @Column('int', { array: true }) versions: number[];
  /** How many cases, and how often each of them in each version. */
  @Column('int') cases: number;
  @Column('int') repeat: number;
  @ForeignKey(() => User)
  @Column('uuid', { name: 'created_by' })
  createdById: string;
  @CreatedAt() createdAt: Date;
}

/** One case in one version. */
@Entity('evaluation_tasks')
@Index('evaluation_tasks_task', ['taskId'])
export class EvaluationTask {
  @ForeignKey(() => Evaluation, { onDelete: 'CASCADE' })
  @PrimaryColumn('uuid')
  evaluationId: string;
  /** From 0, as they were given. */
  @PrimaryColumn('int') caseNo: number;
  @PrimaryColumn('int') version: number;
  /** From 1. */
  @PrimaryColumn('int') attempt: number;
  /** Null when it has been deleted. */
  @ForeignKey(() => Task, { onDelete: 'SET NULL' })
  @Column('uuid', { nullable: true })
  taskId: string | null;
}
