// What clients ask of builds: that one is made now, and that a command is tried in one (docs/decisions/0098).
import { WORKSPACE } from '../../access/auth/visibility.js';
import { columns } from '../../platform/database/columns.js';
import { int, jsonb, sql, text, uuid } from '../../platform/database/sql.js';
import { EnvironmentBuild } from './environment.entity.js';
import type { TrialResult } from './environment-trial.entity.js';

const BUILD = columns(EnvironmentBuild, 'b', ['id', 'version', 'key', 'driver', 'state', 'files', 'bytes', 'log', 'error', 'createdAt', 'finishedAt']); // prettier-ignore
export type AskedBuild = typeof BUILD.row;

const ENVIRONMENT_ID = uuid('environmentId');
const VERSION = int('version');
const ID = uuid('id');

/** One of this version that is being made, by whomever. */
export const UNDER_WAY = sql`
SELECT ${BUILD} FROM environment_builds b
WHERE b.environment_id = ${ENVIRONMENT_ID} AND b.version = ${VERSION} AND b.state = 'building'
ORDER BY b.created_at DESC LIMIT 1`.rows<AskedBuild>();

/** What it is made from, and under which sandbox, its worker knows: until then it has a key of its own. */
export const ASK = sql`
INSERT INTO environment_builds AS b (id, workspace_id, environment_id, version, key, driver, state)
VALUES (${ID}, ${WORKSPACE}, ${ENVIRONMENT_ID}, ${VERSION}, 'asked ' || ${ID}, '', 'building') RETURNING ${BUILD}`.rows<AskedBuild>();

/** The last one of this version that is ready. */
export const LAST_READY = sql`
SELECT b.id FROM environment_builds b
WHERE b.environment_id = ${ENVIRONMENT_ID} AND b.version = ${VERSION} AND b.state = 'ready'
ORDER BY b.finished_at DESC LIMIT 1`.rows<{ id: string }>();

/** A command that is to be tried. */
export const TRY = sql`
INSERT INTO environment_trials (id, workspace_id, build_id, command)
VALUES (${ID}, ${WORKSPACE}, ${uuid('buildId')}, ${text('command')})`.rows();

/** What came of it; null until then. */
export const TRIED = sql`SELECT t.result FROM environment_trials t WHERE t.id = ${ID}`.rows<{
  result: TrialResult | null;
}>();

export const RECORD_TRIAL = sql`
UPDATE environment_trials SET result = ${jsonb<TrialResult>()('result')} WHERE id = ${ID} AND result IS NULL`.rows();

export const FORGET_TRIAL = sql`DELETE FROM environment_trials WHERE id = ${ID}`.rows();

/** Those whose client has gone away. */
export const FORGET_TRIALS = sql`
DELETE FROM environment_trials WHERE created_at < now() - interval '10 minutes' RETURNING id`.rows<{ id: string }>();
