import { Column, Entity, ForeignKey, Index } from 'typeorm';
import { User } from '../../access/workspaces/user.entity.js';
import { Workspace } from '../../access/workspaces/workspace.entity.js';
import { Big, CreatedAt, Id, Timestamp } from '../../platform/database/columns.js';

/** Bytes that wait up to 24 hours for a task or a message to refer to them (reference §7). */
@Entity('uploads')
@Index('uploads_expiry', ['expiresAt'])
@Index('uploads_bytes', ['workspaceId', 'sha256'])
export class Upload {
  @Id() id: string;
  @ForeignKey(() => Workspace, { onDelete: 'CASCADE' })
  @Column('uuid')
  workspaceId: string;
  @ForeignKey(() => User, { onDelete: 'CASCADE' })
  @Column('uuid')
  userId: string;
  @Column('text') name: string;
  @Column('text') mediaType: string;
  /** Bytes. */
  @Big() size: number;
  @Column('text') sha256: string;
  @CreatedAt() createdAt: Date;
  @Timestamp() expiresAt: Date;
}
