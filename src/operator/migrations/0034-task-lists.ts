import { ForwardMigration } from '../../platform/database/forward-migration.js';
import {
  SEARCH_LABEL,
  SEARCH_MARK,
  SEARCH_WORDS,
  TASK_QUERY,
  TASK_TERMS,
} from '../../resources/tasks/task-terms.function.js';
import { MOVE_UPDATED_SLOT } from '../../resources/tasks/updated-slot.function.js';

/** What lists of tasks filter, search and sort by (reference §2, §4, docs/decisions/0060). */
export class TaskLists1797379200034 extends ForwardMigration {
  readonly sql = [
    COLUMNS,
    MOVE_UPDATED_SLOT,
    BACKFILL,
    SEARCH_WORDS + SEARCH_MARK + SEARCH_LABEL + TASK_TERMS + TASK_QUERY,
    INDEXES,
  ];
}

/** What tasks are found by that are older than this. */
export const BACKFILL = `
UPDATE tasks t SET updated_slot = floor(extract(epoch FROM t.updated_at) / 600), opening = coalesce((
  SELECT left(jsonb_path_query_first(m.parts, '$[*] ? (@.type == "text").text') #>> '{}', 10000)
  FROM messages m WHERE m.task_id = t.id AND m.seq = 1), '');
`;

const COLUMNS = `
ALTER TABLE projects ADD COLUMN tags text[] NOT NULL DEFAULT '{}';

ALTER TABLE tasks
  ADD COLUMN tags text[] NOT NULL DEFAULT '{}',
  ADD COLUMN archived boolean NOT NULL DEFAULT false,
  -- The first 10,000 characters of the first message.
  ADD COLUMN opening text NOT NULL DEFAULT '',
  -- Which ten minutes updated_at lies in, counted from 1970: what the list by updated_at is indexed by. An index on the time itself
  -- would be written at each step of each task.
  ADD COLUMN updated_slot int NOT NULL DEFAULT 0;
`;

const INDEXES = `
CREATE INDEX tasks_terms ON tasks USING gin (task_terms(workspace_id, title, opening, tags, metadata));

-- With archived in them: a workspace that has archived nearly all of its tasks finds the others at once.
DROP INDEX tasks_page;
CREATE INDEX tasks_page ON tasks (workspace_id, archived, created_at DESC, id DESC);
DROP INDEX tasks_project_page;
CREATE INDEX tasks_project_page ON tasks (project_id, archived, created_at DESC, id DESC) WHERE project_id IS NOT NULL;
DROP INDEX tasks_automation_page;
CREATE INDEX tasks_automation_page ON tasks (automation_id, archived, created_at DESC, id DESC) WHERE automation_id IS NOT NULL;
CREATE INDEX tasks_updated ON tasks (workspace_id, archived, updated_slot DESC);
`;
