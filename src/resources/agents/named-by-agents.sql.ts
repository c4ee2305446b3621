import { WORKSPACE } from '../../access/auth/visibility.js';
import { sql } from '../../platform/database/sql.js';

/** The agents `a` of the workspace with the versions `v` of each that new tasks may have: the newest one, and those of its channels. */
export const TAKEN = sql`
agents a JOIN agent_versions v ON v.agent_id = a.id
  AND (v.version = a.version OR EXISTS (SELECT 1 FROM jsonb_each(a.channels) c WHERE c.value = to_jsonb(v.version)))
WHERE a.workspace_id = ${WORKSPACE} AND NOT a.archived`;
