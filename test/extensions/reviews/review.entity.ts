import { CreatedAt, Id, Task, User, Workspace } from 'millwright';
import { Column, Entity, ForeignKey, Index, JoinColumn, ManyToOne, type Relation } from 'typeorm';

@Entity('reviews')
// Its order is in the migration: TypeORM describes none.
@Index('reviews_page', { synchronize: false })
export class Review {
  @Id() id: string;
  @ForeignKey(() => Workspace, { onDelete: 'CASCADE' })
  @Column('uuid')
  workspaceId: string;
  @Column('uuid') taskId: string;
  @ManyToOne(() => Task, { onDelete: 'CASCADE', nullable: false })
  @JoinColumn({ name: 'task_id' })
  task: Relation<Task>;
  @ForeignKey(() => User)
  @Column('uuid', { name: 'created_by' })
  createdById: string;
  @Column('int') rating: number;
  @Column('text') text: string;
  @CreatedAt() createdAt: Date;
}
