import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The seal of a row that was dropped with its month, and on which the row behind it goes on. */
@Entity('audit_cuts')
export class AuditCut {
  @PrimaryColumn('uuid') workspaceId: string;
  @PrimaryColumn('bigint') seq: number;
  @Column('bytea') hash: Buffer;
}
