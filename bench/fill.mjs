// Many tasks out of one: each copy has all rows that hang on the task, under ids and times of its own. PostgreSQL makes them, by INSERT … SELECT.
const DAYS = 60;
const BATCH = 10_000;

/** Ids of the workspace, of people and of what stays one for all copies. */
const KEPT = ['workspace_id', 'created_by', 'actor_id', 'key_id', 'project_id', 'automation_id'];

// The first half of an id is its time, as in the service: the newest rows lie together in the indexes.
const HELPERS = `
CREATE FUNCTION pg_temp.copied(id uuid, n int, at timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
  SELECT (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || substr(md5(id::text || n), 13))::uuid $$`;

const CHANGED = `CASE WHEN c.n <= $4 / 10 THEN now() - make_interval(secs => c.n * 0.01) ELSE s.updated_at - c.age END`;

/**
 * What is copied: of which rows of the original `$1`, and what is not as it was. \`c\` is the copy: n, age, and at, when its task was
 * created. Tags, words and pairs of metadata are of very different frequency. The newest tenth of the tasks share the time of their last
 * change, as after a change of them all by a program.
 */
const TABLES = {
  tasks: {
    of: 's.id = $1',
    title: `'Task ' || c.n`,
    opening: `'Grind the rye of silo ' || c.n % 1000 || CASE WHEN c.n > $4 - 5 THEN ' as the old millwright did' ELSE ' and sieve it' END`,
    tags: `CASE WHEN c.n % 20 = 0 THEN ARRAY['release'] WHEN c.n % 5000 = 0 THEN ARRAY['spare'] ELSE '{}' END`,
    metadata: `CASE WHEN c.n % 10 = 0 THEN jsonb_build_object('ticket', 'MILL-' || c.n) ELSE '{}' END`,
    updated_at: CHANGED,
    rested_at: CHANGED,
  },
  runs: { of: 's.task_id = $1' },
  messages: { of: 's.task_id = $1' },
  tool_invocations: { of: 's.message_id IN (SELECT id FROM messages WHERE task_id = $1)' },
  task_events: { of: 's.task_id = $1' },
  // Behind the place of the handlers, and no older than the service keeps them.
  workspace_events: { of: `s.task_id = $1 AND c.age < interval '7 days'`, id: 's.id - c.n::bigint * 1000' },
  usage_ledger: { of: 's.task_id = $1' },
  audit_log: {
    of: 's.target_id = $1::uuid::text',
    target_id: 'pg_temp.copied(s.target_id::uuid, c.n, c.at)::text',
    seq: 'c.n + 1000000',
    hash: `sha256(c.n::text::bytea)`,
  },
};

/** Fills the world with so many copies of a finished task of its workspace. Resolves with seconds. */
export async function fill(world, taskId, tasks) {
  const began = performance.now();
  const db = await world.db.connect();
  try {
    // Neither triggers nor foreign keys: what they would do is copied.
    await db.query(`SET session_replication_role = replica; SET synchronous_commit = off; SET jit = off; ${HELPERS}`);
    await db.query(`SELECT make_audit_months(now() - interval '${DAYS + 1} days')`);
    for (const [table, { of, ...changed }] of Object.entries(TABLES)) {
      const columns = await columnsOf(db, table);
      const values = columns.map(({ name, type }) => changed[name] ?? copyOf(name, type));
      const insert = `
        INSERT INTO ${table} (${columns.map(({ name }) => name).join()}) OVERRIDING SYSTEM VALUE
        SELECT ${values.join()} FROM (
          SELECT n, n * interval '${DAYS} days' / $4::int AS age, t.created_at - n * interval '${DAYS} days' / $4::int AS at
          FROM generate_series($2::int, $3::int) n, tasks t WHERE t.id = $1::uuid) c, ${table} s WHERE ${of} ORDER BY c.n`;
      for (let n = 1; n <= tasks; n += BATCH)
        await db.query(insert, [taskId, n, Math.min(n + BATCH - 1, tasks), tasks]);
    }
    await db.query(AFTER);
    await db.query('VACUUM ANALYZE');
  } finally {
    db.release(true);
  }
  return (performance.now() - began) / 1000;
}

function copyOf(name, type) {
  if (type === 'uuid' && !KEPT.includes(name)) return `pg_temp.copied(s.${name}, c.n, c.at)`;
  return type.startsWith('timestamp') ? `s.${name} - c.age` : `s.${name}`;
}

async function columnsOf(db, table) {
  const { rows } = await db.query(
    `SELECT attname AS name, format_type(atttypid, atttypmod) AS type FROM pg_attribute
     WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
    [table],
  );
  return rows;
}

// What triggers and statements keep beside the rows: terms, counters, the ends of the chains.
const AFTER = `
INSERT INTO search_terms SELECT id, task_terms(workspace_id, title, opening, tags, metadata) FROM tasks ON CONFLICT DO NOTHING;
DELETE FROM usage_days;
INSERT INTO usage_days (workspace_id, day, tasks, tokens, cost_micros)
SELECT workspace_id, (at AT TIME ZONE 'UTC')::date, count(*) FILTER (WHERE starts_turn), sum(input_tokens + output_tokens), sum(coalesce(cost_micros, 0))
FROM usage_ledger GROUP BY 1, 2;
UPDATE audit_chains c SET seq = l.seq, hash = l.hash
FROM (SELECT DISTINCT ON (workspace_id) workspace_id, seq, hash FROM audit_log WHERE seq IS NOT NULL ORDER BY workspace_id, seq DESC) l
WHERE l.workspace_id = c.workspace_id`;

/** The queue: the newest tasks wait for their first turn. */
export async function queue(db, runs) {
  await db.query(
    `WITH waiting AS (
       UPDATE tasks t SET status = 'queued', turn = 0, finished_at = NULL
       FROM (SELECT id FROM tasks WHERE status = 'completed' ORDER BY created_at DESC LIMIT $1) n WHERE t.id = n.id RETURNING t.id)
     UPDATE runs r SET status = 'queued', epoch = 0, claimed_at = NULL, finished_at = NULL FROM waiting w WHERE r.task_id = w.id`,
    [runs],
  );
  await db.query('VACUUM ANALYZE tasks, runs');
}

/** Table by table: MiB with the indexes, and bytes a message. */
export async function sizes(db, messages) {
  const { rows } = await db.query(`
    SELECT coalesce(i.inhparent::regclass, c.oid::regclass)::text AS "table", sum(pg_total_relation_size(c.oid))::float8 AS bytes
    FROM pg_class c LEFT JOIN pg_inherits i ON i.inhrelid = c.oid
    WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace GROUP BY 1 ORDER BY 2 DESC LIMIT 10`);
  return rows.map(({ table, bytes }) => ({ table, MiB: bytes / 2 ** 20, 'bytes a message': bytes / messages }));
}
