import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The seal of the last row that was dropped with its month: the chain of its workspace goes on from it. */
@Entity('audit_cuts')
export class AuditAnchor {
  @PrimaryColumn('uuid') workspaceId: string;
  @PrimaryColumn('bigint') seq: number;
  @Column('bytea') hash: Buffer;
}
