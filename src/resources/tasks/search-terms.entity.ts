import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { Task } from './task.entity.js';

/** What a task is found by; a trigger on `tasks` keeps it (task-terms.function.ts, docs/decisions/0089). */
@Entity('search_terms')
@Index('search_terms_found', { synchronize: false })
export class SearchTerms {
  @ForeignKey(() => Task, { onDelete: 'CASCADE' })
  @PrimaryColumn('uuid')
  taskId: string;
  /** The words of title and opening, the tags, and the pairs of metadata, each with the mark of the workspace. */
  @Column('tsvector') terms: string;
}
