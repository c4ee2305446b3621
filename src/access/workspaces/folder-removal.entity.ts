import { Check, Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A folder that is to be removed, on record since the deletion that made it useless: a kill at any moment only delays it. */
@Entity('folder_removals')
@Index('folder_removals_due', ['kind', 'notBefore'])
@Check('folder_removals_kind_check', `kind IN ('workdir', 'storage')`)
export class FolderRemoval {
  /** `workdir`: of the task with this id; `storage`: the stored bytes of the workspace with this id. */
  @PrimaryColumn('text') kind: 'workdir' | 'storage';
  @PrimaryColumn('uuid') id: string;
  @Column('timestamptz') notBefore: Date;
}
