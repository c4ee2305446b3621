import { Check, Column, Entity, ForeignKey, Index } from 'typeorm';
import { User } from '../../access/workspaces/user.entity.js';
import { Workspace } from '../../access/workspaces/workspace.entity.js';
import { CreatedAt, Id, Timestamp } from '../../platform/database/columns.js';
import { Sealed } from '../../platform/database/sealed.js';

export const WEBHOOK_STATUSES = ['enabled', 'disabled'] as const;
export type WebhookStatus = (typeof WEBHOOK_STATUSES)[number];

export const DISABLED_CODES = ['manual', 'failing', 'gone', 'owner_removed'] as const;
export interface DisabledReason {
  code: (typeof DISABLED_CODES)[number];
  message: string;
}

/** As whose a secret is sealed. */
export const ownerOfSecret = (webhookId: string): string => `webhook ${webhookId}`;

/** An address of a workspace's own that is told of events (reference §18). */
@Entity('webhooks')
@Index('webhooks_one', ['workspaceId', 'address'], { unique: true })
@Check('webhooks_status_check', `status IN ('enabled', 'disabled')`)
@Check('webhooks_check', `(status = 'disabled') = (disabled_reason IS NOT NULL)`)
export class Webhook {
  @Id() id: string;
  @ForeignKey(() => Workspace, { onDelete: 'CASCADE' })
  @Column('uuid')
  workspaceId: string;
  /** As it was given. */
  @Column('text') url: string;
  /** As requests are sent to it. */
  @Column('text') address: string;
  @Column('text', { nullable: true }) description: string | null;
  /** Types of events, and patterns of them. */
  @Column('text', { array: true }) types: string[];
  /** No foreign key: without its project it gets nothing more, where null would give it all that happens. */
  @Column('uuid', { nullable: true }) projectId: string | null;
  @Column('text', { default: 'enabled' }) status: WebhookStatus;
  @Column('jsonb', { nullable: true }) disabledReason: DisabledReason | null;
  /** Sealed (`Sealing`), as the previous one, which signs too until its time is over. */
  @Sealed(ownerOfSecret, 'id') @Column('bytea') secret: Buffer;
  @Column('text') secretPrefix: string;
  @Sealed(ownerOfSecret, 'id') @Column('bytea', { nullable: true }) previousSecret: Buffer | null;
  @Timestamp({ nullable: true }) previousSecretUntil: Date | null;
  /** The first failed attempt since the last success, and how many there were. */
  @Timestamp({ nullable: true }) failingSince: Date | null;
  @Column('int', { default: 0 }) failedAttempts: number;
  @Timestamp({ nullable: true }) lastSuccessAt: Date | null;
  @ForeignKey(() => User)
  @Column('uuid')
  createdBy: string;
  @CreatedAt() createdAt: Date;
  @Timestamp({ default: () => 'now()' }) updatedAt: Date;
}
