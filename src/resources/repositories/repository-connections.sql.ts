// The statements of repository connections. Locks are taken in the order workspace, connection.
import { WORKSPACE } from '../../access/auth/visibility.js';
import { columns } from '../../platform/database/columns.js';
import { bool, bytes, sql, text, textOrNull, uuid } from '../../platform/database/sql.js';
import { newestFirst } from '../../platform/http/pages.js';
import { RepositoryConnection } from './repository-connection.entity.js';

const CONNECTION = columns(RepositoryConnection, 'c', [
  'id',
  'host',
  'hosting',
  'kind',
  'account',
  'paths',
  'push',
  'status',
  'lastError',
  'createdBy',
  'createdAt',
]);
/** A connection with the name of who made it. */
export type ConnectionRow = typeof CONNECTION.row & { createdByName: string };

const ID = uuid('id');
const OWN = sql`c.workspace_id = ${WORKSPACE}`;
const SELECT = sql`
SELECT ${CONNECTION}, u.name AS "createdByName" FROM repository_connections c JOIN users u ON u.id = c.created_by`;

export const GET = sql`${SELECT} WHERE ${OWN} AND c.id = ${ID}`.rows<ConnectionRow>();
export const LIST = sql`${SELECT} WHERE ${OWN} ${newestFirst('c')}`.rows<ConnectionRow>();

/** One after the other, so that two of them do not both count one too few. */
export const LOCK_WORKSPACE = sql`SELECT 1 FROM workspaces WHERE id = ${WORKSPACE} FOR NO KEY UPDATE`.rows();
export const COUNT = sql`SELECT count(*)::int AS count FROM repository_connections c WHERE ${OWN}`.rows<{
  count: number;
}>();

const USED = columns(RepositoryConnection, 'c', [
  'id',
  'host',
  'hosting',
  'api',
  'kind',
  'secret',
  'account',
  'paths',
  'push',
  'status',
  'lastError',
]);
/** A connection as it is used: with its sealed credential. */
export type UsedRow = typeof USED.row;

/** Until the transaction ends it neither changes nor goes. */
export const LOCK = sql`
SELECT ${USED} FROM repository_connections c WHERE ${OWN} AND c.id = ${ID} FOR UPDATE`.rows<UsedRow>();

export const USE_ONE = sql`
SELECT ${USED} FROM repository_connections c WHERE ${OWN} AND c.id = ${ID}`.rows<UsedRow>();

/** Those of a workspace by its slug, oldest first. */
export const USE_ALL = sql`
SELECT ${USED} FROM repository_connections c JOIN workspaces w ON w.id = c.workspace_id
WHERE w.slug = ${text('slug')} ORDER BY c.created_at, c.id`.rows<UsedRow>();

/** As long as the connection has the credential that the host has spoken of. */
const WITH_SECRET = sql`WHERE id = ${ID} AND secret = ${bytes('secret')}`;
/** What the host has said of it: with null it is taken, else refused. */
export const SETTLE = sql`
UPDATE repository_connections
SET status = CASE WHEN ${textOrNull('lastError')} IS NULL THEN 'ready' ELSE 'failed' END, last_error = ${textOrNull('lastError')}
${WITH_SECRET} AND last_error IS DISTINCT FROM ${textOrNull('lastError')}`.rows();
/** The account stays as it was when the host has not said who it is, and so does the status when it has said nothing of the credential. */
export const SETTLE_TEST = sql`
UPDATE repository_connections
SET status = CASE WHEN ${textOrNull('account')} IS NOT NULL THEN 'ready' WHEN ${bool('refused')} THEN 'failed' ELSE status END,
  account = coalesce(${textOrNull('account')}, account), last_error = ${textOrNull('lastError')}
${WITH_SECRET}`.rows();
