import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import { Membership } from '../../access/workspaces/membership.entity.js';
import { Timestamp } from '../../platform/database/columns.js';
import { Sealed } from '../../platform/database/sealed.js';

export const CHANNELS = ['push', 'email', 'hook'] as const;
export type Channel = (typeof CHANNELS)[number];

/** When nothing is sent: from one time of the day, `22:00`, to another, by the clocks of an IANA time zone. */
export interface Quiet {
  from: string;
  to: string;
  timezone: string;
}

/** As whose the address of a hook, and the subscriptions of browsers, are sealed. */
export const ownerOfNotices = (workspaceId: string, userId: string): string => `notices ${workspaceId} ${userId}`;

/** What a member wants to be told outside of the page (reference §21). Without a row all is off. */
@Entity('notice_settings')
@ForeignKey(() => Membership, ['workspaceId', 'userId'], ['workspaceId', 'userId'], { onDelete: 'CASCADE' })
export class NoticeSettings {
  @PrimaryColumn('uuid') workspaceId: string;
  @PrimaryColumn('uuid') userId: string;
  /** That a task asks something. */
  @Column('text', { array: true }) needsYou: Channel[];
  @Column('text', { array: true }) finished: Channel[];
  @Column('text', { array: true }) failed: Channel[];
  /** Sealed (`Sealing`): an address of Slack is a credential. */
  @Sealed(ownerOfNotices, 'workspaceId', 'userId') @Column('bytea', { nullable: true }) hookUrl: Buffer | null;
  @Column('jsonb', { nullable: true }) quiet: Quiet | null;
  /** Whether the question is sent too. */
  @Column('boolean') detail: boolean;
  @Timestamp({ default: () => 'now()' }) updatedAt: Date;
}
