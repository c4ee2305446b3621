// Positions in the log of a workspace, as clients hold them: opaque, signed, and bound to workspace, user and filters.
import type { AuthContext } from '../../access/auth/auth-context.js';
import { type CursorBinding, decodeCursor, encodeCursor, type Mac } from '../../platform/http/pages.js';
import type { LogPlace } from './workspace-batch.sql.js';

/** What the events of a workspace are chosen by. */
export interface LogFilters {
  /** Null: all types. */
  types: string[] | null;
  projectId: string | null;
}

/** Writes and reads positions with these filters. */
export class LogPositions {
  private readonly binding: CursorBinding;

  constructor(
    private readonly mac: Mac,
    { workspaceId, userId }: Pick<AuthContext, 'workspaceId' | 'userId'>,
    { types, projectId }: LogFilters,
  ) {
    this.binding = { route: 'GET /v1/events', workspaceId, userId, filters: { types, projectId } };
  }

  write({ xid, id, at }: LogPlace): string {
    return encodeCursor(this.mac, this.binding, [String(xid), String(id), at ?? '']);
  }

  /** Throws 400 `invalid_cursor`. */
  read(text: string): LogPlace {
    const [xid, id, at] = decodeCursor(this.mac, this.binding, text);
    return { xid: Number(xid), id: Number(id), at: at === '' || at === undefined ? null : at };
  }
}
