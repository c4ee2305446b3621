import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import type { Query } from '../../platform/database/sql.js';
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
    const [beforeAt = null, beforeId = null] = after ?? [];
    const page = { workspaceId: workspaceId ?? INSTALLATION, since, until, beforeAt, beforeId, limit };
    // What an actor did of a rare action may be far down in the log.
    return this.database.reports.run(queryOf(page, actor, action));
  }
}

function queryOf(page: Parameters<typeof LIST.all>[0], actor: string | null, action: string): Query<EntryRow> {
  if (actor === null) return action === '' ? LIST.all(page) : LIST.ofAction({ ...page, action });
  return action === '' ? LIST.ofActor({ ...page, actor }) : LIST.ofBoth({ ...page, actor, action });
}
