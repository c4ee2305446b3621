import { ForwardMigration } from '../../platform/database/forward-migration.js';
import { CHILD_ENDED } from '../../resources/tasks/children/child-ended.function.js';
import { WAKE_PARENT } from '../../resources/tasks/children/wake-parent.function.js';

/** Tasks that an agent hands to tasks of its own, with their share of its budget (reference §27, docs/decisions/0103). */
export class TasksOfTasks1798247000085 extends ForwardMigration {
  readonly sql = [SQL, WAKE_PARENT + CHILD_ENDED];
}

const SQL = `
ALTER TABLE tasks ADD COLUMN parent_task_id uuid REFERENCES tasks, ADD COLUMN child_of jsonb,
  ADD COLUMN children integer NOT NULL DEFAULT 0, ADD COLUMN waiting_since timestamptz(3),
  ADD COLUMN turn_reserved_steps integer NOT NULL DEFAULT 0, ADD COLUMN turn_reserved_tokens bigint NOT NULL DEFAULT 0,
  ADD COLUMN turn_reserved_cost_micros bigint NOT NULL DEFAULT 0;
CREATE INDEX tasks_parent_page ON tasks (parent_task_id, created_at DESC, id DESC) WHERE parent_task_id IS NOT NULL;
CREATE INDEX tasks_waiting ON tasks (id) WHERE waiting_since IS NOT NULL;

CREATE TABLE task_children (
  message_id uuid NOT NULL REFERENCES messages ON DELETE CASCADE,
  tool_call_id text NOT NULL,
  idx integer NOT NULL,
  parent_id uuid NOT NULL REFERENCES tasks ON DELETE CASCADE,
  turn integer NOT NULL,
  number integer NOT NULL,
  task_id uuid NOT NULL,
  title text NOT NULL,
  base_sha256 text,
  reserved_steps integer,
  reserved_tokens bigint,
  reserved_cost_micros bigint,
  used_steps integer,
  used_tokens bigint,
  used_cost_micros bigint,
  settled_at timestamptz(3),
  released boolean NOT NULL DEFAULT false,
  PRIMARY KEY (message_id, tool_call_id, idx)
);
CREATE UNIQUE INDEX task_children_task ON task_children (task_id);
CREATE INDEX task_children_parent ON task_children (parent_id, turn);
`;
