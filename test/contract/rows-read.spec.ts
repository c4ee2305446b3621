import pg from 'pg';
import { LIST } from '../../src/access/audit/chain.sql.js';
import type { Actor } from '../../src/access/auth/auth-context.js';
import { newId } from '../../src/platform/database/ids.js';
import type { Query } from '../../src/platform/database/sql.js';
import { BEHIND, NEXT } from '../../src/platform/events/event-handlers.sql.js';
import { UsageSums } from '../../src/resources/billing/usage-sums.js';
import { REPORTS } from '../../src/resources/billing/usage-report.sql.js';
import { usageRulesOf } from '../../src/resources/billing/usage.sql.js';
import { StorageQuota } from '../../src/resources/files/storage-quota.js';
import { listTasks, type TaskFilters, type TaskPage } from '../../src/resources/tasks/task-list.sql.js';
import { TURN_OF } from '../../src/resources/tasks/task-fork.sql.js';
import { GET } from '../../src/resources/tasks/task.sql.js';
import { CLAIM, EXPIRED, QUEUED } from '../../src/work/runs/run-claims.sql.js';
import { LOAD } from '../../src/work/runs/run-loader.sql.js';
import { useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';

const TASKS = 6_000;
const PAGE = 51;
const CAPS = { freeCap: 4, paidCap: 20 };
const NONE: TaskFilters = {
  statuses: null,
  projectId: null,
  automationId: null,
  parentTaskId: null,
  top: true,
  words: null,
  tag: null,
  metadata: null,
  createdAfter: null,
  createdBefore: null,
  archived: false,
};

// Counted, not timed: how many rows a statement reads does not change with the machine. Beside a table of thousands a hot statement reads what
// its answer needs; one that reads the table has lost its index, or the planner has been led astray.
describe('The rows that a hot statement reads', () => {
  const service = useService();
  let member: Member;
  let auth: Actor;
  let client: pg.Client;
  let ids: string[];

  beforeAll(async () => {
    member = await makeMember(service, { role: 'owner' });
    auth = { workspaceId: member.workspace.id, userId: member.user.id, seesEverything: true } as Actor;
    ids = Array.from({ length: TASKS }, newId);
    await fill();
    await service.app.get(UsageSums, { strict: false }).close();
    await service.db.query('VACUUM ANALYZE');
    client = new pg.Client({ connectionString: service.db.url });
    // The database goes before its connection.
    client.on('error', () => undefined);
    await client.connect();
    // Of both kinds of plans: some pools keep one for all values.
    await client.query('SET jit = off');
  });
  afterAll(() => client.end());

  /** Finished tasks of sixty days, but the newest fifty, which wait; of each an event, two snapshots, an entry of the ledger and one of the audit log. */
  async function fill(): Promise<void> {
    const { workspace, user } = member;
    const all = `unnest($3::uuid[]) WITH ORDINALITY AS i (id, n)`;
    const at = `now() - (${TASKS} - n) * interval '60 days' / ${TASKS}`;
    await service.db.query(`SELECT make_audit_months(now() - interval '61 days')`);
    await service.db.query(
      `INSERT INTO tasks (id, workspace_id, created_by, title, status, model, tags, metadata, created_at, updated_at)
       SELECT id, $1, $2, 'Grind rye of silo ' || n % 100 || CASE WHEN n <= 3 THEN ' heirloom' ELSE '' END,
         CASE WHEN n > ${TASKS - 50} THEN 'queued' ELSE 'completed' END, 'runbook', CASE WHEN n % 20 = 0 THEN ARRAY['release'] ELSE '{}' END,
         jsonb_build_object('ticket', n::text), ${at}, now() FROM ${all}`,
      [workspace.id, user.id, ids],
    );
    await service.db.query(
      `INSERT INTO runs (id, task_id, workspace_id, kind, status, created_at)
       SELECT id, id, $1, 'turn', CASE WHEN n > ${TASKS - 50} THEN 'queued' ELSE 'finished' END, ${at} FROM ${all} WHERE $2::uuid IS NOT NULL`,
      [workspace.id, user.id, ids],
    );
    await service.db.query(
      `INSERT INTO usage_ledger (workspace_id, at, message_id, task_id, created_by, model, starts_turn, input_tokens, output_tokens,
         cached_input_tokens, reasoning_tokens)
       SELECT $1, ${at}, id, id, $2, 'runbook', true, 10, 5, 0, 0 FROM ${all}`,
      [workspace.id, user.id, ids],
    );
    await service.db.query(
      `INSERT INTO snapshots (id, workspace_id, task_id, turn, step, files, bytes, manifest)
       SELECT gen_random_uuid(), $1, id, turn, turn, 1, 1, id FROM ${all}, generate_series(1, 2) turn WHERE $2::uuid IS NOT NULL`,
      [workspace.id, user.id, ids],
    );
    await service.db.query(
      `INSERT INTO audit_log (workspace_id, at, id, xid, actor_id, action, outcome)
       SELECT $1, ${at}, id, 1, CASE WHEN n > 2 THEN $2::uuid END, CASE WHEN n = 1 THEN 'task.rare' ELSE 'task.create' END, 'done' FROM ${all}`,
      [workspace.id, user.id, ids],
    );
  } // prettier-ignore

  /** Rows of tables, by scans of any kind, those in functions included; with the plan as it was kept, or made for the values. */
  async function rowsReadBy(query: Query<unknown>, plans: 'custom' | 'generic'): Promise<number> {
    await client.query(`SET plan_cache_mode = force_${plans}_plan`);
    await client.query('BEGIN');
    try {
      const before = await rowsRead();
      await client.query(query);
      return (await rowsRead()) - before;
    } finally {
      await client.query('ROLLBACK');
    }
  }

  /** So far: the figures of a transaction begin with what has not been passed on of those before it. */
  async function rowsRead(): Promise<number> {
    const { rows } = await client.query<{ read: number }>(
      'SELECT sum(seq_tup_read + idx_tup_fetch)::int AS read FROM pg_stat_xact_user_tables',
    );
    return rows[0]?.read ?? 0;
  }

  const list = (filters: Partial<TaskFilters>, page: Partial<TaskPage> = {}) =>
    listTasks(auth, { ...NONE, ...filters }, { sort: 'createdAt', after: null, limit: PAGE, showsText: true, ...page });
  const audit = { since: null, until: null, beforeAt: null, beforeId: null, limit: PAGE };
  const period = () => ({ from: new Date(Date.now() - 30 * 86_400_000), to: new Date() });
  const workspaceId = () => member.workspace.id;
  const storage = () => service.app.get(StorageQuota, { strict: false });

  /** Each with the most rows that it may read: some for each row of a page, or what the comment says. */
  const HOT: [name: string, query: () => Query<unknown>, most: number, plans?: 'custom' | 'generic'][] = [
    ['a task', () => GET({ auth, id: ids[0] ?? '' }), 10],
    ['the newest tasks', () => list({}), 4 * PAGE],
    ['tasks after thousands', () => list({}, { after: { at: new Date().toISOString(), id: ids[100] ?? '' } }), 4 * PAGE],
    ['tasks of both states', () => list({ archived: null }), 4 * PAGE],
    ['tasks by the last change, which is one for all', () => list({}, { sort: 'updatedAt' }), 5 * PAGE],
    ['tasks that wait', () => list({ statuses: ['queued'] }), 6 * PAGE],
    ['tasks that run', () => list({ statuses: ['running'] }), PAGE],
    ['tasks of a status that none has', () => list({ statuses: ['failed'] }), PAGE],
    ['tasks of statuses that none has', () => list({ statuses: ['failed', 'cancelled', 'awaiting_input'] }), PAGE],
    // The newest three hundred are asked; then each that is found is read.
    ['tasks with a word of the oldest', () => list({ words: 'heirloom' }), 700, 'custom'],
    ['tasks with a word of none', () => list({ words: 'windmill' }), 700, 'custom'],
    ['tasks with a word of all', () => list({ words: 'rye' }), 1_000, 'custom'],
    ['tasks with a pair of metadata', () => list({ metadata: { ticket: '7' } }), 700, 'custom'],
    ['tasks with a tag of every twentieth', () => list({ tag: 'release' }), 1_600, 'custom'],
    ['the audit log', () => LIST.all({ workspaceId: workspaceId(), ...audit }), 4 * PAGE],
    // The first month may have so few rows that to read it whole costs as little as to ask its index.
    ['what was done of a rare action', () => LIST.ofAction({ workspaceId: workspaceId(), ...audit, action: 'task.rare' }), 400],
    ['what was done of no action', () => LIST.ofAction({ workspaceId: workspaceId(), ...audit, action: 'none' }), 400],
    ['what a rare actor did', () => LIST.ofActor({ workspaceId: workspaceId(), ...audit, actor: newId() }), 400],
    // The sums of thirty days, and the ledger of at most two: it has a hundred entries a day.
    ['the use of thirty days by model', () => REPORTS.model({ auth, ...period(), limit: 1_000 }), 500],
    ['the use of thirty days by project', () => REPORTS.project({ auth, ...period(), limit: 1_000 }), 500],
    ['what a run begins with', () => LOAD({ taskId: ids[0] ?? '', limits: storage().limits, rules: usageRulesOf({}), web: true }), 10],
    ['the turn that is forked', () => TURN_OF({ sourceId: ids[0] ?? '', wanted: null, traceless: [] }), 10],
    // Each workspace that waits is visited once, and no more of its runs than may start.
    ['the queue', () => QUEUED({ limit: 8, open: 4, claiming: [], leaseSeconds: 30, machineId: newId(), ...CAPS }), 60],
    ['a claim', () => CLAIM({ runId: ids.at(-1) ?? '', leaseSeconds: 30, machineId: newId(), rules: usageRulesOf({}), ...CAPS }), 60],
    ['leases that have run out', () => EXPIRED(), 10],
    ['whether handlers are behind', () => BEHIND({ names: ['Nobody.reads'] }), 20],
    ['the next events of a handler', () => NEXT({ name: 'Nobody.reads', types: ['task.created'], limit: PAGE }), 700],
  ];

  it.each(HOT)('%s: no more than its answer needs', async (...[, query, most, plans]) => {
    for (const kind of plans === undefined ? (['custom', 'generic'] as const) : [plans]) {
      const read = await rowsReadBy(query(), kind);
      expect(`${kind} plan: ${read > most ? `${read} rows, of at most ${most}` : 'in bounds'}`).toBe(`${kind} plan: in bounds`);
    }
  });
}); // prettier-ignore
