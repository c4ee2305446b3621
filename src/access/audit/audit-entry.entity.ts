import { Check, Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** What was done, or refused. */
export type Outcome = 'done' | 'refused';

/**
 * A row of the audit log (reference §14), which is partitioned by month. A trigger refuses every change but the seal (keep-audit.function.ts). No foreign
 * keys: the row outlives what it records.
 */
@Entity('audit_log')
@Index('audit_log_unsealed', ['xid', 'id'], { where: 'hash IS NULL' })
@Index('audit_log_chain', ['workspaceId', 'seq'], { where: 'seq IS NOT NULL' })
// With at and id behind: what an actor did, and what was done of an action, the newest first.
@Index('audit_log_actor', ['workspaceId', 'actorId', 'at', 'id'])
@Index('audit_log_action', ['workspaceId', 'action', 'at', 'id'])
@Check('audit_log_outcome_check', `outcome IN ('done', 'refused')`)
@Check('audit_log_check', '(target_type IS NULL) = (target_id IS NULL)')
@Check('audit_log_check1', '(seq IS NULL) = (hash IS NULL)')
export class AuditEntry {
  /** {@link INSTALLATION} for what concerns no workspace, or one that is gone. */
  @PrimaryColumn('uuid') workspaceId: string;
  @PrimaryColumn('timestamptz', { precision: 3, default: () => 'clock_timestamp()' }) at: Date;
  @PrimaryColumn('uuid') id: string;
  /** `pg_current_xact_id()` of the transaction that wrote it. Rows are sealed in the order (xid, id). */
  @Column('bigint') xid: number;
  /** Null for the operator. */
  @Column('uuid', { nullable: true }) actorId: string | null;
  @Column('uuid', { nullable: true }) keyId: string | null;
  @Column('text', { nullable: true }) address: string | null;
  /** For example `task.create`. */
  @Column('text') action: string;
  @Column('text', { nullable: true }) targetType: string | null;
  @Column('text', { nullable: true }) targetId: string | null;
  @Column('text') outcome: Outcome;
  /** Of a change: the fields that were given, never what. */
  @Column('text', { array: true, nullable: true }) fields: string[] | null;
  /** The code of the error by which it was refused. */
  @Column('text', { nullable: true }) code: string | null;
  @Column('uuid', { nullable: true }) requestId: string | null;
  /** More than one: so many refusals of one key, counted together. */
  @Column('int', { default: 1 }) count: number;
  /** Its number in the chain of the workspace, from 1 on; null until it is sealed. */
  @Column('bigint', { nullable: true }) seq: number | null;
  /** SHA-256, {@link sealOf}; null until it is sealed. */
  @Column('bytea', { nullable: true }) hash: Buffer | null;
}

/** Instead of a workspace, for what concerns the installation itself: the nil UUID (RFC 9562 §5.9). */
export const INSTALLATION = '00000000-0000-0000-0000-000000000000';
