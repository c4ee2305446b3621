// What a caller sees of connections: the workspace's and its own.
import { USER, visible, WORKSPACE } from '../../access/auth/visibility.js';
import { sql, text } from '../../platform/database/sql.js';
import { NEWEST } from './connections.sql.js';
import type { Verdict } from './hook-delivery.entity.js';
import { type DeliveryRow, ENTRIES, ENTRY, LAST, RUNS } from './hooks/hook-deliveries.sql.js';

const OF_CALLER = sql`c.workspace_id = ${WORKSPACE} AND (c.user_id IS NULL OR c.user_id = ${USER})`;

export interface StateRow {
  slug: string;
  /** Whether it is the caller's own. */
  own: boolean;
  /** Of the newest entry of its log. */
  verdict: Verdict | null;
}

export const STATES = sql`
SELECT c.slug, c.user_id IS NOT NULL AS own, d.verdict FROM connections c ${NEWEST} WHERE ${OF_CALLER}`.rows<StateRow>();

/** The last 100 entries of a provider's connections, the newest first, with the runs of automations that the caller sees. */
export const LOG_OF_CALLER = sql`
SELECT ${ENTRY}, ARRAY(${RUNS} AND ${visible('a', 'owner_id')} ORDER BY r.id) AS "runIds" ${ENTRIES}
WHERE ${OF_CALLER} AND c.slug = ${text('slug')} ${LAST}`.jsonRows<DeliveryRow>();
