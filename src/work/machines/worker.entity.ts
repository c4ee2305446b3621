import { Column, Entity } from 'typeorm';
import { Id, Timestamp } from '../../platform/database/columns.js';

/** A process that works on tasks. Those with one DATA_DIR are one machine (docs/decisions/0093). It keeps its row itself. */
@Entity('workers')
export class Worker {
  /** Of this process, from its boot to its end. */
  @Id() id: string;
  /** From the file `machine` in its DATA_DIR. */
  @Column('uuid') machineId: string;
  /** What the system is called. */
  @Column('text') host: string;
  /** How many tasks it works on at once. */
  @Column('int') places: number;
  @Column('text') version: string;
  /** Whether it was told to take no new run and to end. */
  @Column('boolean', { default: false }) draining: boolean;
  /** When it last said that it works, by the clock of the database. */
  @Timestamp({ default: () => 'now()' }) seenAt: Date;
}
