import { Check, Column, Entity, Unique } from 'typeorm';
import type { Plan } from '../../platform/config/rate-limits.js';
import { CreatedAt, Id } from '../../platform/database/columns.js';

/** A tenant (reference §3). */
@Entity('workspaces')
@Unique(['slug'])
@Check('workspaces_plan_check', `plan IN ('free', 'paid')`)
export class Workspace {
  @Id() id: string;
  @Column('text') slug: string;
  @Column('text') name: string;
  @Column('text') plan: Plan;
  /** The kinds of message parts that are exposed; null: as the deployment has it (reference §6). */
  @Column('text', { array: true, nullable: true }) transparency: string[] | null;
  @CreatedAt() createdAt: Date;
}
