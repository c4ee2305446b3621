import { UsageSums } from '../../src/resources/billing/usage-sums.js';
import { useService } from '../harness/app.js';
import { createAutomation } from '../harness/automation-requests.js';
import { recordStep, type Step } from '../harness/billing.js';
import { makeMember, type Member } from '../harness/client.js';
import { holding, untilWaiting } from '../harness/locks.js';
import { createProject } from '../harness/projects.js';
import { imbalances } from '../faults/accounts.js';

const DAY = 86_400_000;

describe('Use of days that are over, added up (reference §14)', () => {
  const service = useService();
  let owner: Member;
  let ann: Member;
  beforeEach(async () => {
    owner = await makeMember(service, { role: 'owner' });
    ann = await makeMember(service, { workspace: owner.workspace });
  });

  const close = () => service.app.get(UsageSums, { strict: false }).close();
  /** The first milliseconds of a day, so many days ago. */
  const daysAgo = (days: number, ms = 0) => new Date(Math.floor(Date.now() / DAY) * DAY - days * DAY + ms);
  const read = async ({ client }: Member, query: string) => {
    const { status, text } = await client.get(`/v1/billing/usage?${query}`);
    if (status !== 200) throw new Error(`${status}: ${text}`);
    return JSON.parse(text) as unknown;
  };
  /** Where a sum of the workspace is not that of its ledger. */
  const differences = async () =>
    (await imbalances(service.db)).filter(({ of, id }) => of === 'a sum and the ledger' && id === owner.workspace.id);
  const closedUntil = () =>
    service.db.query('SELECT until::text FROM usage_closed WHERE workspace_id = $1', [owner.workspace.id]);

  /** Steps of 75 days: at the edges of days and within, with and without project, automation and prices, of two people. */
  async function recordMany(): Promise<void> {
    const [project, hidden] = [
      await createProject(owner, { name: 'Shown', visibility: 'workspace' }),
      await createProject(owner, { name: 'Hidden' }),
    ];
    const automation = await createAutomation(owner);
    const places = [{}, { projectId: project.id }, { projectId: hidden.id }, { automationId: automation.id }];
    for (let n = 0; n < 60; n++) {
      const at = daysAgo((n * 7) % 75, [0, DAY / 2 + n, DAY - 1][n % 3]);
      if (at.getTime() > Date.now()) continue;
      const prices = n % 5 === 0 ? { costMicros: n } : {};
      const step: Step = { at, model: `m${n % 2}`, startsTurn: n % 4 === 0, input: n, cached: n % 3, reasoning: n % 2 };
      await recordStep(service, n % 3 === 0 ? ann : owner, { ...step, ...places[n % 4], ...prices });
    }
  }

  it('reports say the same before and after, for each grouping, period and reader', async () => {
    await recordMany();
    const iso = (date: Date) => date.toISOString();
    const periods = [
      `&from=${iso(daysAgo(30))}`,
      `&from=${iso(daysAgo(75))}`,
      `&from=${iso(daysAgo(20, 1))}&to=${iso(daysAgo(3, DAY - 1))}`,
      `&from=${iso(daysAgo(14))}&to=${iso(daysAgo(7))}`,
      `&from=${iso(daysAgo(14, DAY / 2))}&to=${iso(daysAgo(14, DAY / 2 + 5_000))}`,
      `&from=${iso(daysAgo(14))}&to=${iso(daysAgo(14))}`,
    ];
    const groupings = ['day', 'model', 'project', 'automation', 'user'];
    const queries = groupings.flatMap((groupBy) => periods.map((period) => `groupBy=${groupBy}${period}`));
    const all = async () => {
      const answers: unknown[] = [];
      for (const who of [owner, ann]) for (const query of queries) answers.push([query, await read(who, query)]);
      return answers;
    };
    const before = await all();
    expect(await closedUntil()).toEqual([]);
    await close();
    expect(await closedUntil()).toHaveLength(1);
    expect(await differences()).toEqual([]);
    expect(await all()).toEqual(before);
    // They are read, not the entries.
    await service.db.query('UPDATE usage_sums SET steps = steps + 1000 WHERE workspace_id = $1', [owner.workspace.id]);
    expect(await read(owner, 'groupBy=user')).not.toEqual(before);
    expect(await differences()).not.toEqual([]);
  });

  it('an entry that comes to a day that is added up is in its sums', async () => {
    await recordStep(service, ann, { at: daysAgo(5), costMicros: 7 });
    await close();
    for (const step of [{ at: daysAgo(5) }, { at: daysAgo(5), costMicros: 2, startsTurn: false }, { at: daysAgo(40), costMicros: 1 }]) {
      await recordStep(service, ann, step);
      expect(await differences()).toEqual([]);
    }
    const { usage } = (await read(ann, `from=${daysAgo(5).toISOString()}&to=${daysAgo(4).toISOString()}`)) as { usage: unknown[] };
    expect(usage).toMatchObject([{ tasks: 2, steps: 3, cost: { amount: '0.000009' } }]);
    await close();
    expect(await differences()).toEqual([]);
  }); // prettier-ignore

  it('an entry that is written while its day is added up is counted once', async () => {
    await recordStep(service, ann, { at: daysAgo(5) });
    const entry = `INSERT INTO usage_ledger SELECT workspace_id, at, gen_random_uuid(), task_id, project_id, automation_id, created_by, model,
      starts_turn, input_tokens, output_tokens, cached_input_tokens, reasoning_tokens, cost_micros FROM usage_ledger
      WHERE workspace_id = '${owner.workspace.id}'`;
    const writer = await holding(service.db, entry);
    const closing = close();
    await untilWaiting(service.db, 'pg_advisory_xact_lock');
    await writer.release();
    await closing;
    expect(await differences()).toEqual([]);
    const [sum] = await service.db.query('SELECT steps::int FROM usage_sums WHERE workspace_id = $1', [owner.workspace.id]);
    expect(sum).toEqual({ steps: 2 });
  }); // prettier-ignore

  it('today is not added up', async () => {
    await recordStep(service, ann, { at: new Date() });
    await close();
    const sums = await service.db.query('SELECT 1 FROM usage_sums WHERE workspace_id = $1', [owner.workspace.id]);
    expect(sums).toEqual([]);
  });

  it('the sums go with the workspace', async () => {
    const rows = await service.db.query<{ name: string }>(
      `SELECT conrelid::regclass::text AS name FROM pg_constraint
       WHERE confrelid = 'workspaces'::regclass AND confdeltype = 'c' AND conrelid::regclass::text LIKE 'usage_%' ORDER BY 1`,
    );
    expect(rows.map(({ name }) => name)).toEqual(['usage_closed', 'usage_days', 'usage_sums']);
  });
});
