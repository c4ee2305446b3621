import { CreatedAt, ForwardMigration, Id, Task, User, Workspace } from 'millwright';
import { Column, Entity, ForeignKey, Index, JoinColumn, ManyToOne } from 'typeorm';
import type { Relation } from 'typeorm';

@Entity('reviews')
// Its order is in the migration: TypeORM describes none.
@Index('reviews_page', { synchronize: false })
export class Review {
  @Id() id: string;
  @ForeignKey(() => Workspace, { onDelete: 'CASCADE' }) @Column('uuid') workspaceId: string;
  @Column('uuid') taskId: string;
  @ManyToOne(() => Task, { onDelete: 'CASCADE', nullable: false })
  @JoinColumn({ name: 'task_id' })
  task: Relation<Task>;
  @ForeignKey(() => User) @Column('uuid', { name: 'created_by' }) createdById: string;
  @Column('int') rating: number;
  @Column('text') text: string;
  @CreatedAt() createdAt: Date;
}

/** The number in the name is the time in milliseconds: TypeORM runs migrations in its order. */
export class Reviews1795564800001 extends ForwardMigration {
  readonly sql = `
    CREATE TABLE reviews (
      id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      task_id uuid NOT NULL REFERENCES tasks ON DELETE CASCADE,
      created_by uuid NOT NULL REFERENCES users,
      rating int NOT NULL, text text NOT NULL, created_at timestamptz(3) NOT NULL DEFAULT now());
    CREATE INDEX reviews_page ON reviews (task_id, created_at DESC, id DESC)`;
}
