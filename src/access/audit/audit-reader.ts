import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { INSTALLATION } from './audit-entry.entity.js';
import { type EntryRow, LIST } from './chain.sql.js';

export interface AuditFilter {
  /** From this time on. */
  since?: Date | null;
  /** Before this time. */
  until?: Date | null;
  /** The id of a user. */
  actor?: string | null;
  action?: string;
}

/** Reads the audit log. */
@Injectable()
export class AuditReader {
  constructor(private readonly database: Database) {}

  /**
   * Newest first.
   * @param workspaceId null for what concerns the installation itself.
   * @param after time and id of the row behind which to begin; null for the newest.
   */
  list(
    workspaceId: string | null,
    { since = null, until = null, actor = null, action = '' }: AuditFilter,
    limit: number,
    after: readonly string[] | null = null,
  ): Promise<EntryRow[]> {
    const filter = { since, until, actor, action };
    const [beforeAt = null, beforeId = null] = after ?? [];
    const cursor = { beforeAt, beforeId, limit };
    // The search for a rare action may read the whole log.
    return this.database.reports.run(LIST({ workspaceId: workspaceId ?? INSTALLATION, ...filter, ...cursor }));
  }
}
