import { Check, Column, Entity, PrimaryColumn } from 'typeorm';
import { CreatedAt } from '../database/columns.js';

/** What the processes on this database know each other by. One row, which the first boot makes (docs/decisions/0072). */
@Entity('installation')
@Check('installation_one_check', 'one')
export class StoredInstallation {
  @PrimaryColumn('boolean', { default: true }) one: boolean;
  /** The file `installation` in DATA_DIR has the same. */
  @Column('uuid') mark: string;
  /** `markOf` the secret. */
  @Column('text') secretMark: string;
  @CreatedAt() createdAt: Date;
}
