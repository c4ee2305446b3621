// What clients see of snapshots.
import { visible } from '../../access/auth/visibility.js';
import { columns } from '../../platform/database/columns.js';
import { sql, uuid, uuidOrNull } from '../../platform/database/sql.js';
import { newestFirst } from '../../platform/http/pages.js';
import { TaskSnapshot } from './snapshot.entity.js';

const SNAPSHOT = columns(TaskSnapshot, 's', ['id', 'turn', 'step', 'files', 'bytes', 'createdAt']);
export type SnapshotRow = typeof SNAPSHOT.row;

const SEEN = sql`FROM snapshots s JOIN tasks t ON t.id = s.task_id WHERE ${visible('t')} AND t.id = ${uuid('taskId')}`;

/** Of a task that the caller sees. */
export const PAGE = sql`SELECT ${SNAPSHOT} ${SEEN} ${newestFirst('s')}`.rows<SnapshotRow>();

/** One snapshot of a task that the caller sees, by default the newest. */
export const GET = sql`
SELECT ${SNAPSHOT}, s.manifest ${SEEN} AND (${uuidOrNull('id')} IS NULL OR s.id = ${uuidOrNull('id')})
ORDER BY s.created_at DESC, s.id DESC LIMIT 1`.rows<SnapshotRow & { manifest: string }>();
