// Nothing lost and nothing doubled: what the tables must say of each task when all are over.

/** Each names ids of tasks for which it is not so. `$1`: all tasks that were answered with 202, `$2`: turns of a task. */
const CHECKS = {
  'a task that was taken in is not there': `SELECT id FROM unnest($1::uuid[]) id WHERE NOT EXISTS (SELECT FROM tasks t WHERE t.id = id.id)`,
  'a task is not completed': `SELECT id FROM tasks WHERE id = ANY($1) AND status <> 'completed'`,
  'a task has not exactly its steps': `SELECT id FROM tasks WHERE id = ANY($1) AND (steps <> $2::int + 1 OR tool_calls <> $2::int)`,
  'a task has not exactly one run, which is over': `
    SELECT t.id FROM tasks t LEFT JOIN runs r ON r.task_id = t.id
    WHERE t.id = ANY($1) GROUP BY t.id HAVING count(*) <> 1 OR bool_or(r.status IS DISTINCT FROM 'finished')`,
  // One that another machine took over may say what is gone.
  'a task has not exactly its messages, each at a place of its own': `
    SELECT t.id FROM tasks t LEFT JOIN messages m ON m.task_id = t.id AND m.parts -> 0 ->> 'name' IS DISTINCT FROM 'workdir' WHERE t.id = ANY($1)
    GROUP BY t.id HAVING count(*) <> $2::int + 2 OR count(DISTINCT m.seq) <> count(*) OR count(DISTINCT m.read_seq) <> count(*) OR bool_or(m.status <> 'complete')`,
  'a task has not exactly its calls, each with its result': `
    SELECT t.id FROM tasks t LEFT JOIN messages m ON m.task_id = t.id LEFT JOIN tool_invocations v ON v.message_id = m.id WHERE t.id = ANY($1)
    GROUP BY t.id HAVING count(v.*) <> $2::int OR bool_or(v.state <> 'success')`,
  'a step is not metered exactly once': `
    SELECT t.id FROM tasks t LEFT JOIN usage_ledger u ON u.task_id = t.id WHERE t.id = ANY($1)
    GROUP BY t.id HAVING count(u.*) <> $2::int + 1`,
  'the events of a task have a gap, or two of one number': `
    SELECT t.id FROM tasks t LEFT JOIN task_events e ON e.task_id = t.id WHERE t.id = ANY($1)
    GROUP BY t.id, t.last_event HAVING count(e.*) <> t.last_event OR max(e.seq) <> t.last_event OR min(e.seq) <> 1`,
  'a task has not exactly one snapshot, of its last step': `
    SELECT t.id FROM tasks t LEFT JOIN snapshots s ON s.task_id = t.id WHERE t.id = ANY($1)
    GROUP BY t.id HAVING count(s.*) <> 1 OR max(s.step) <> $2::int + 1`,
};

const RECOVERED = `SELECT task_id AS id FROM runs WHERE task_id = ANY($1) AND (epoch > 1 OR recovery_count > 0)`;

/**
 * Resolves with what is wrong, in sentences, and how many tasks were taken over from a worker that had lost its lease.
 * @param answers what the model answered twice, each as `task step`: right for a task that was taken over, and for no other.
 */
export async function findFaults(db, ids, turns, answers) {
  const faults = [];
  for (const [name, text] of Object.entries(CHECKS)) {
    const { rows } = await db.query(text, text.includes('$2') ? [ids, turns] : [ids]);
    if (rows.length > 0) faults.push(`${name}: ${rows.length}, such as ${rows[0].id}`);
  }
  const { rows } = await db.query(RECOVERED, [ids]);
  const recovered = new Set(rows.map(({ id }) => id));
  const twice = answers.filter((which) => !recovered.has(which.split(' ')[0]));
  if (twice.length > 0)
    faults.push(`a step was asked for twice, without a takeover: ${twice.length}, such as ${twice[0]}`);
  return { faults, recovered: recovered.size };
}
