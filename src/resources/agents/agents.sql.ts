// The statements of agents. Locks are taken in the order membership, automation, agent, workspace: an automation that is written locks its agent,
// and then the workspace to count those that are active.
import { USER, visible, WORKSPACE } from '../../access/auth/visibility.js';
import { columns } from '../../platform/database/columns.js';
import { boolOrNull, int, intOrNull, sql, text, textOrNull, time, uuid } from '../../platform/database/sql.js';
import { newestFirst } from '../../platform/http/pages.js';
import { type Figures, figuresOf } from './figures.sql.js';
import { Agent, AgentVersion } from './agent.entity.js';

const AGENT = columns(Agent, 'a', ['id', 'slug', 'name', 'description', 'version', 'channels', 'archived', 'createdById', 'createdAt', 'updatedAt']); // prettier-ignore
const DEFINITION = columns(AgentVersion, 'v', ['definition']);
/** An agent with what its newest version is, and the name of who made it. */
export type AgentRow = typeof AGENT.row & typeof DEFINITION.row & { createdByName: string; default: boolean };

const SLUG = text('slug');
const SELECT = sql`
SELECT ${AGENT}, ${DEFINITION}, u.name AS "createdByName", w.default_agent IS NOT DISTINCT FROM a.slug AS default
FROM agents a JOIN agent_versions v ON v.agent_id = a.id AND v.version = a.version
JOIN users u ON u.id = a.created_by JOIN workspaces w ON w.id = a.workspace_id`;
const OWN = sql`a.workspace_id = ${WORKSPACE}`;
const NAMED = sql`${OWN} AND a.slug = ${SLUG}`;

export const GET = sql`${SELECT} WHERE ${NAMED}`.rows<AgentRow>();
const ARCHIVED = boolOrNull('archived');
export const LIST = sql`
${SELECT} WHERE ${OWN} AND (${ARCHIVED} IS NULL OR a.archived = ${ARCHIVED}) ${newestFirst('a')}`.rows<AgentRow>();
/** A row when the workspace has it. */
export const EXISTS = sql`SELECT 1 FROM agents a WHERE ${NAMED}`.rows();

/** Until the transaction ends it gets no other version, and no automation begins to name it. The row alone: after a wait for it the version that a join had found would be the old one. */
export const LOCK_TO_CHANGE = sql`SELECT 1 FROM agents a WHERE ${NAMED} FOR NO KEY UPDATE`.rows();
/** One after the other, so that two of them do not both count one too few, or have one slug. */
export const LOCK_WORKSPACE = sql`SELECT 1 FROM workspaces WHERE id = ${WORKSPACE} FOR NO KEY UPDATE`.rows();
/** Those of the workspace that are not archived. `taken`: one of all has the slug. */
export const OTHERS = sql`
SELECT count(*) FILTER (WHERE NOT a.archived)::int AS count, coalesce(bool_or(a.slug = ${SLUG}), false) AS taken
FROM agents a WHERE ${OWN}`.rows<{ count: number; taken: boolean }>();

/** The definition as JSON text. */
export const ADD_VERSION = sql`
INSERT INTO agent_versions (agent_id, version, definition, created_by)
VALUES (${uuid('id')}, ${int('version')}, ${text('definition')}::json, ${USER})`.rows();

/** The agent of the tasks that name none; null for none. */
export const SET_DEFAULT =
  sql`UPDATE workspaces SET default_agent = ${textOrNull('slug')} WHERE id = ${WORKSPACE}`.rows();

/** A row when an active automation names it. */
export const IN_USE = sql`
SELECT 1 FROM automations o WHERE o.workspace_id = ${WORKSPACE} AND o.status = 'active' AND split_part(o.agent, '@', 1) = ${SLUG}
LIMIT 1`.rows();

/** A version of an agent, as tasks take it. */
export interface FoundAgent {
  id: string;
  slug: string;
  archived: boolean;
  /** What was named; null: the agent has no such channel. */
  wanted: number | null;
  /** Null: it has no such version. */
  version: number | null;
  definition: AgentVersion['definition'] | null;
}

const VERSION_NAMED = intOrNull('version');
const CHANNEL = textOrNull('channel');
const WANTED = sql`coalesce(${VERSION_NAMED}, CASE WHEN ${CHANNEL} IS NULL THEN a.version ELSE (a.channels -> ${CHANNEL})::int END)`;

const FOUND = sql`
SELECT a.id, a.slug, a.archived, ${WANTED} AS wanted, v.version, v.definition
FROM agents a LEFT JOIN agent_versions v ON v.agent_id = a.id AND v.version = ${WANTED}`;
/** For a new task. Neither an agent nor a version of it ever goes. */
export const FIND = sql`${FOUND} WHERE ${NAMED}`.rows<FoundAgent>();
/** The same for a task that a run makes. */
export const FIND_FOR_RUN =
  sql`${FOUND} WHERE a.workspace_id = ${uuid('workspaceId')} AND a.slug = ${SLUG}`.rows<FoundAgent>();
/** Some of those that take new tasks. */
export const SLUGS = sql`
SELECT a.slug FROM agents a WHERE a.workspace_id = ${uuid('workspaceId')} AND NOT a.archived ORDER BY a.slug LIMIT 20`.rows<
  Pick<Agent, 'slug'>
>();

/** What a version says, for a task that has it. */
export const DEFINITION_OF = sql`
SELECT v.definition FROM agent_versions v WHERE v.agent_id = ${uuid('agentId')} AND v.version = ${int('agentVersion')}`.rows<
  typeof DEFINITION.row
>();

/** Until the transaction ends it is not archived. The row alone, as {@link LOCK_TO_CHANGE}. */
export const HOLD = sql`SELECT 1 FROM agents a WHERE ${NAMED} FOR SHARE`.rows();

/** The tasks of an agent that the caller sees, of those that were made in a period. */
export const STATS = figuresOf(sql`
  SELECT t.agent_version AS version, t.id, t.status, t.status_reason, t.duration_ms, t.checked, t.created_at
  FROM agents a JOIN tasks t ON t.agent_id = a.id
  WHERE ${NAMED} AND ${visible('t')} AND t.created_at >= ${time('from')} AND t.created_at < ${time('to')}`).rows<Figures>();

const VERSION = columns(AgentVersion, 'v', ['version', 'definition', 'createdById', 'createdAt']);
/** With the name of who made it. */
export type VersionRow = typeof VERSION.row & { createdByName: string };
const VERSION_SELECT = sql`
SELECT ${VERSION}, u.name AS "createdByName" FROM agents a JOIN agent_versions v ON v.agent_id = a.id
JOIN users u ON u.id = v.created_by WHERE ${NAMED}`;
const AFTER = intOrNull('after');
/** The newest first. */
export const VERSIONS = sql`${VERSION_SELECT} AND (${AFTER} IS NULL OR v.version < ${AFTER})
ORDER BY v.version DESC LIMIT ${int('limit')}`.rows<VersionRow>();
export const GET_VERSION = sql`${VERSION_SELECT} AND v.version = ${int('version')}`.rows<VersionRow>();
