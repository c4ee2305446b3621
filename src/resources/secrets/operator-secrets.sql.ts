// The statements of `operator-secrets.ts`. Locks are taken as requests take them: workspace, secret.
import { sql, text, uuid } from '../../platform/database/sql.js';
import { SELECT_SECRETS, type SecretRow } from './secrets.sql.js';

const WORKSPACE_ID = uuid('workspaceId');
const OWN = sql`s.workspace_id = ${WORKSPACE_ID}`;

/** Of all scopes. */
export const LIST_IN_WORKSPACE = sql`
${SELECT_SECRETS} WHERE ${OWN} ORDER BY s.name, s.created_at, s.id`.rows<SecretRow>();
/** Of the workspace itself. Until the transaction ends it neither changes nor goes. */
export const LOCK_NAMED = sql`
${SELECT_SECRETS} WHERE ${OWN} AND s.scope = 'workspace' AND s.name = ${text('name')} FOR UPDATE OF s`.rows<SecretRow>();
/** No other secret is made until the transaction ends. */
export const LOCK_IN_WORKSPACE = sql`SELECT 1 FROM workspaces WHERE id = ${WORKSPACE_ID} FOR NO KEY UPDATE`.rows();
/** The other one of the workspace itself that has this variable. */
export const HOLDER_OF = sql`
SELECT s.name FROM secrets s
WHERE ${OWN} AND s.scope = 'workspace' AND s.env = ${text('env')} AND s.name <> ${text('name')} LIMIT 1`.rows<{
  name: string;
}>();
export const COUNT_IN_WORKSPACE = sql`SELECT count(*)::int AS count FROM secrets s WHERE ${OWN}`.rows<{
  count: number;
}>();
/** The owner of the longest standing; an admin where there is no owner. */
export const FIRST_OWNER = sql`
SELECT m.user_id AS id FROM memberships m WHERE m.workspace_id = ${WORKSPACE_ID} AND m.role IN ('owner', 'admin')
ORDER BY m.role = 'owner' DESC, m.created_at, m.user_id LIMIT 1`.rows<{ id: string }>();
