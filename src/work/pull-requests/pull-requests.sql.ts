// What is read and recorded of the pull requests of tasks.
import type { PullRequestState } from '../../engine/repositories/hosting/host-client.js';
import { jsonb, raw, sql, text, uuid } from '../../platform/database/sql.js';

const TASK_ID = uuid('taskId');
const URL = raw(`t.repository #>> '{push,pullRequestUrl}'`);

/** Where the pull request of a task is. */
export interface PullRequestOfTask {
  workspaceId: string;
  /** The slug of its workspace. */
  workspace: string;
  repositoryUrl: string;
  branch: string;
  url: string;
}

/** No row without the task, and without a pull request. */
export const FIND = sql`
SELECT t.workspace_id AS "workspaceId", w.slug AS workspace, t.repository ->> 'url' AS "repositoryUrl",
  t.repository #>> '{push,branch}' AS branch, ${URL} AS url
FROM tasks t JOIN workspaces w ON w.id = t.workspace_id
WHERE t.id = ${TASK_ID} AND ${URL} IS NOT NULL`.rows<PullRequestOfTask>();

const STATE = jsonb<PullRequestState>()('state');
/** A row when the state is another one than before. The trigger of the table writes the event. */
export const RECORD = sql`
UPDATE tasks t SET updated_at = now(),
  repository = jsonb_set(t.repository, '{push,pullRequestState}', ${STATE})
WHERE t.id = ${TASK_ID} AND ${URL} = ${text('url')}
  AND t.repository #> '{push,pullRequestState}' IS DISTINCT FROM ${STATE}
RETURNING t.id`.rows<{ id: string }>();
