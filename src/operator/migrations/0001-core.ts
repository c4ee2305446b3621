import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** Workspaces, credentials, tasks, messages, runs, files, idempotency. Forward-only. */
export class Core1763683200001 extends ForwardMigration {
  readonly sql = `
CREATE TABLE workspaces (
  id uuid PRIMARY KEY,
  slug text NOT NULL UNIQUE,
  name text NOT NULL,
  plan text NOT NULL CHECK (plan IN ('free', 'paid')),
  created_at timestamptz(3) NOT NULL DEFAULT now()
);

CREATE TABLE users (
  id uuid PRIMARY KEY,
  email text NOT NULL,
  name text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX users_email ON users (lower(email));

CREATE TABLE memberships (
  workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
  role text NOT NULL CHECK (role IN ('owner', 'admin', 'member', 'viewer')),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, user_id)
);

-- Keys hang on the membership: removing the member ends them for good, and adding it again revives none.
CREATE TABLE api_keys (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL,
  user_id uuid NOT NULL,
  name text NOT NULL,
  prefix text NOT NULL,
  digest bytea NOT NULL UNIQUE,
  scopes text[] NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  FOREIGN KEY (workspace_id, user_id) REFERENCES memberships ON DELETE CASCADE
);
CREATE INDEX api_keys_member ON api_keys (workspace_id, user_id);

-- Bytes are shared by content; a file or upload is a row that points at them.
CREATE TABLE uploads (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
  name text NOT NULL,
  media_type text NOT NULL,
  size bigint NOT NULL,
  sha256 text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  expires_at timestamptz(3) NOT NULL
);
CREATE INDEX uploads_expiry ON uploads (expires_at);
CREATE INDEX uploads_bytes ON uploads (workspace_id, sha256);

CREATE TABLE tasks (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  project_id uuid,
  created_by uuid NOT NULL REFERENCES users,
  title text NOT NULL,
  status text NOT NULL CHECK (status IN ('queued', 'running', 'awaiting_input', 'completed', 'cancelled', 'failed')),
  status_reason jsonb,
  model text NOT NULL,
  effort text,
  budget jsonb,
  metadata jsonb NOT NULL DEFAULT '{}',
  result_text text,
  result_file_ids uuid[],
  input_tokens bigint NOT NULL DEFAULT 0,
  output_tokens bigint NOT NULL DEFAULT 0,
  cached_input_tokens bigint NOT NULL DEFAULT 0,
  reasoning_tokens bigint NOT NULL DEFAULT 0,
  steps int NOT NULL DEFAULT 0,
  tool_calls int NOT NULL DEFAULT 0,
  duration_ms bigint NOT NULL DEFAULT 0,
  -- The running turn's share of the figures above, for the budget.
  turn int NOT NULL DEFAULT 0,
  turn_steps int NOT NULL DEFAULT 0,
  turn_tokens bigint NOT NULL DEFAULT 0,
  turn_duration_ms bigint NOT NULL DEFAULT 0,
  message_count int NOT NULL DEFAULT 0,
  -- One counter gives messages their place in the list (seq) and in the model's reading (read_seq).
  last_seq int NOT NULL DEFAULT 0,
  -- After a cancel or a failure the next turn reads all waiting messages, else only the first.
  read_all boolean NOT NULL DEFAULT false,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  started_at timestamptz(3),
  finished_at timestamptz(3)
);
CREATE INDEX tasks_page ON tasks (workspace_id, created_at DESC, id DESC);
CREATE INDEX tasks_creator_page ON tasks (workspace_id, created_by, created_at DESC, id DESC);

CREATE TABLE runs (
  id uuid PRIMARY KEY,
  task_id uuid NOT NULL REFERENCES tasks ON DELETE CASCADE,
  workspace_id uuid NOT NULL,
  -- 'turn' reads waiting messages when it starts; 'continuation' goes on after an answer.
  kind text NOT NULL CHECK (kind IN ('turn', 'continuation')),
  status text NOT NULL CHECK (status IN ('queued', 'running', 'finished', 'cancelled')),
  epoch int NOT NULL DEFAULT 0,
  lease_until timestamptz,
  recovery_count int NOT NULL DEFAULT 0,
  claimed_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  finished_at timestamptz
);
-- One run that is not over per task: the database's own guard against two workers on one task.
CREATE UNIQUE INDEX runs_one_open ON runs (task_id) WHERE status IN ('queued', 'running');
CREATE INDEX runs_queued ON runs (created_at) WHERE status = 'queued';
CREATE INDEX runs_leases ON runs (lease_until) WHERE status = 'running';

CREATE TABLE messages (
  id uuid PRIMARY KEY,
  task_id uuid NOT NULL REFERENCES tasks ON DELETE CASCADE,
  seq int NOT NULL,
  read_seq int,
  turn int,
  role text NOT NULL CHECK (role IN ('user', 'assistant')),
  status text NOT NULL CHECK (status IN ('queued', 'in_progress', 'complete')),
  created_by uuid REFERENCES users,
  parts jsonb NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  UNIQUE (task_id, seq)
);
CREATE INDEX messages_waiting ON messages (task_id, seq) WHERE status = 'queued';

CREATE TABLE tool_invocations (
  message_id uuid NOT NULL REFERENCES messages ON DELETE CASCADE,
  idx int NOT NULL,
  tool_call_id text NOT NULL,
  name text NOT NULL,
  input jsonb NOT NULL,
  state text NOT NULL CHECK (state IN ('running', 'success', 'error', 'denied')),
  output jsonb,
  error text,
  started_at timestamptz NOT NULL DEFAULT now(),
  finished_at timestamptz,
  PRIMARY KEY (message_id, idx),
  UNIQUE (message_id, tool_call_id)
);

CREATE TABLE interactions (
  id uuid PRIMARY KEY,
  task_id uuid NOT NULL REFERENCES tasks ON DELETE CASCADE,
  message_id uuid NOT NULL REFERENCES messages ON DELETE CASCADE,
  tool_call_id text NOT NULL,
  type text NOT NULL CHECK (type IN ('question', 'choice', 'approval')),
  question text NOT NULL,
  options jsonb,
  multiple boolean NOT NULL DEFAULT false,
  allow_text boolean NOT NULL DEFAULT false,
  status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'answered', 'expired', 'cancelled')),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  expires_at timestamptz(3) NOT NULL
);
CREATE UNIQUE INDEX interactions_one_pending ON interactions (task_id) WHERE status = 'pending';
CREATE INDEX interactions_expiry ON interactions (expires_at) WHERE status = 'pending';

CREATE TABLE files (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  -- Deferred: attachments are claimed first, task, message and run follow in one statement of the same transaction.
  task_id uuid REFERENCES tasks ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
  project_id uuid,
  origin text NOT NULL CHECK (origin IN ('attachment', 'task', 'project')),
  name text NOT NULL,
  -- Where an attachment lies in the workdir.
  path text,
  media_type text NOT NULL,
  size bigint NOT NULL,
  sha256 text NOT NULL,
  turn int,
  created_by uuid REFERENCES users,
  created_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX files_task_page ON files (task_id, created_at DESC, id DESC);
CREATE INDEX files_bytes ON files (workspace_id, sha256);
CREATE UNIQUE INDEX files_attachment_path ON files (task_id, path) WHERE path IS NOT NULL;

CREATE TABLE idempotency_keys (
  workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
  method text NOT NULL,
  path text NOT NULL,
  key text NOT NULL,
  fingerprint bytea NOT NULL,
  status int,
  -- text, not jsonb: a replay is byte for byte.
  body text,
  location text,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, user_id, method, path, key)
);
CREATE INDEX idempotency_keys_expiry ON idempotency_keys (expires_at);
`;
}

// timestamptz(3): what a client sees in milliseconds is exactly what a keyset cursor compares.
