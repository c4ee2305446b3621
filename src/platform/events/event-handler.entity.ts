import { Column, Entity, PrimaryColumn } from 'typeorm';
import { Big, Timestamp } from '../database/columns.js';

/** How far a method with `@OnEvent` has read the log. */
@Entity('event_handlers')
export class EventHandler {
  /** `Class.method`. */
  @PrimaryColumn('text') name: string;
  /** The event that it has handled last. */
  @Big() xid: number;
  @Big() id: number;
  /** How often it has failed at the next one, and until when it rests. */
  @Column('int', { default: 0 }) failures: number;
  @Timestamp({ nullable: true }) retryAt: Date | null;
  /** When a process last had it. */
  @Timestamp({ default: () => 'now()' }) seenAt: Date;
}
