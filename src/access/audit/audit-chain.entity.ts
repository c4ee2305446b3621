import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The end of a workspace's chain: the row of the audit log that was sealed last. */
@Entity('audit_chains')
export class AuditChain {
  @PrimaryColumn('uuid') workspaceId: string;
  @Column('bigint') seq: number;
  @Column('bytea') hash: Buffer;
}
