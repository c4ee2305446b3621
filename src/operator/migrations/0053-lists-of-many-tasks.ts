import { ForwardMigration } from '../../platform/database/forward-migration.js';
import { REST_TASK } from '../../resources/tasks/rest-task.function.js';
import { FIND_TASKS, KEEP_SEARCH_TERMS } from '../../resources/tasks/task-terms.function.js';

/** What lists of very many tasks are found, filtered and sorted by (docs/decisions/0089). */
export class ListsOfManyTasks1798244100053 extends ForwardMigration {
  readonly sql = [COLUMNS, BACKFILL, KEEP_SEARCH_TERMS + FIND_TASKS + REST_TASK, INDEXES];
}

const COLUMNS = `
CREATE TABLE search_terms (
  task_id uuid PRIMARY KEY REFERENCES tasks ON DELETE CASCADE,
  terms tsvector NOT NULL
);

ALTER TABLE tasks
  -- updated_at as it is while no worker has the task. An index on updated_at itself would be written at each step of each task.
  ADD COLUMN rested_at timestamptz(3) NOT NULL DEFAULT now(),
  -- The status, of a task that has ended.
  ADD COLUMN ended_as text;
`;

const BACKFILL = `
INSERT INTO search_terms SELECT id, task_terms(workspace_id, title, opening, tags, metadata) FROM tasks;
UPDATE tasks SET rested_at = updated_at, ended_as = CASE WHEN status IN ('completed', 'cancelled', 'failed') THEN status END;
`;

// The column updated_slot stays for the processes of the version before, which may run beside new ones for a while. They find without the
// two indexes what they found with them.
const INDEXES = `
CREATE INDEX search_terms_found ON search_terms USING gin (terms);
DROP INDEX tasks_terms;
DROP INDEX tasks_updated;
CREATE INDEX tasks_rested ON tasks (workspace_id, archived, rested_at DESC, id DESC);
CREATE INDEX tasks_ended ON tasks (workspace_id, ended_as, archived, created_at DESC, id DESC) WHERE ended_as IS NOT NULL;
`;
