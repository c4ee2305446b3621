// The statements of connections. Locks are taken in the order membership, connection, automation.
import { columns } from '../../platform/database/columns.js';
import { bytes, doubleOrNull, raw, sql, text, uuid, uuidOrNull } from '../../platform/database/sql.js';
import { Connection } from './connection.entity.js';
import type { Verdict } from './hook-delivery.entity.js';

const CONNECTION = columns(Connection, 'c', ['id', 'slug', 'createdAt', 'previousSecretUntil']);
type Columns = typeof CONNECTION.row;

/** Of a connection `c`: the newest entry of its log, which is its state. */
export const NEWEST = raw(`LEFT JOIN LATERAL (
  SELECT verdict, created_at FROM hook_deliveries WHERE connection_id = c.id ORDER BY id DESC LIMIT 1) d ON true`);

const OWN = columns(Connection, 'c', ['userId']);
/** A connection with whose it is (all null: the workspace's) and the newest entry of its log (both null: none). */
export type ConnectionRow = Columns &
  typeof OWN.row & {
    userName: string | null;
    userEmail: string | null;
    verdict: Verdict | null;
    lastDeliveryAt: Date | null;
  };

export const LIST = sql`
SELECT ${CONNECTION}, ${OWN}, u.name AS "userName", u.email AS "userEmail", d.verdict, d.created_at AS "lastDeliveryAt"
FROM connections c LEFT JOIN users u ON u.id = c.user_id ${NEWEST}
WHERE c.workspace_id = ${uuid('workspaceId')} ORDER BY c.slug, c.user_id NULLS FIRST`.rows<ConnectionRow>();

/** Keeps a member from being removed until the transaction ends. */
export const HOLD_MEMBER = sql`
SELECT 1 FROM memberships WHERE workspace_id = ${uuid('workspaceId')} AND user_id = ${uuid('userId')} FOR KEY SHARE`.rows();

/** No row when there is one of this slug and user already. */
export const CONNECT = sql`
INSERT INTO connections AS c (id, workspace_id, user_id, slug, secret)
VALUES (${uuid('id')}, ${uuid('workspaceId')}, ${uuidOrNull('userId')}, ${text('slug')}, ${bytes('secret')})
ON CONFLICT DO NOTHING RETURNING ${CONNECTION}`.rows<Columns>();

/** `overlapSeconds`: for how long the secret of before is taken too; null for not at all. */
const UNTIL = sql`now() + make_interval(secs => ${doubleOrNull('overlapSeconds')})`;
export const ROTATE = sql`
UPDATE connections c SET secret = ${bytes('secret')}, previous_secret = CASE WHEN ${UNTIL} IS NOT NULL THEN c.secret END,
  previous_secret_until = ${UNTIL}
WHERE c.id = ${uuid('id')} RETURNING ${CONNECTION}`.rows<Columns>();

export const EXISTS = sql`SELECT 1 FROM connections WHERE id = ${uuid('id')}`.rows();

/** No delivery comes in and no automation is bound until the transaction ends. */
const LOCKED = columns(Connection, 'c', ['id', 'slug', 'workspaceId', 'userId']);
export type LockedConnection = typeof LOCKED.row;
export const LOCK = sql`SELECT ${LOCKED} FROM connections c WHERE c.id = ${uuid('id')} FOR UPDATE`.rows<
  typeof LOCKED.row
>();
/** The newest entry of its log, which is its state. */
export const NEWEST_OF = sql`
SELECT verdict, created_at AS "lastDeliveryAt" FROM hook_deliveries WHERE connection_id = ${uuid('id')}
ORDER BY id DESC LIMIT 1`.rows<{ verdict: Verdict; lastDeliveryAt: Date }>();
export const LOCK_OF_USER = sql`
SELECT id FROM connections WHERE workspace_id = ${uuid('workspaceId')} AND user_id = ${uuid('userId')}
ORDER BY id FOR UPDATE`.rows<{ id: string }>();

/**
 * The user's own before the workspace's. It stays until the end of a transaction that asks. One that is being ended is not waited for
 * (55P03): who ends it waits for the automations that are bound to it, of which the caller may hold one.
 */
export const FOR_OWNER = sql`
SELECT id FROM connections
WHERE workspace_id = ${uuid('workspaceId')} AND slug = ${text('slug')} AND (user_id = ${uuid('userId')} OR user_id IS NULL)
ORDER BY user_id NULLS LAST LIMIT 1 FOR KEY SHARE NOWAIT`.rows<{ id: string }>();

const SIGNER = columns(Connection, 'c', ['id', 'workspaceId', 'slug', 'secret']);
/** `previousSecret`: while it is taken too. */
export type SecretsRow = typeof SIGNER.row & Pick<Connection, 'previousSecret'>;
export const GET_SECRETS = sql`
SELECT ${SIGNER}, CASE WHEN c.previous_secret_until > now() THEN c.previous_secret END AS "previousSecret"
FROM connections c WHERE c.id = ${uuid('id')}`.rows<SecretsRow>();

/** Before the workspace goes: its cascade would take all entries in one statement. */
export const DELETE_SOME_DELIVERIES = sql`
DELETE FROM hook_deliveries WHERE id = ANY(ARRAY(
  SELECT d.id FROM hook_deliveries d JOIN connections c ON c.id = d.connection_id
  WHERE c.workspace_id = ${uuid('workspaceId')} LIMIT ${raw('2000')}))
RETURNING 1`.rows();
