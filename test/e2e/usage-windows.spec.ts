import { randomUUID } from 'node:crypto';
import { configFileSchema } from '../../src/platform/config/config-file.js';
import type { Query } from '../../src/platform/database/sql.js';
import { EXHAUSTED, usageRulesOf, WINDOWS } from '../../src/resources/billing/usage.sql.js';
import { createDatabase, type TestDatabase } from '../harness/database.js';

describe('Windows of usage (reference §14)', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await createDatabase();
  });
  afterAll(() => db.drop());

  const DAY = 86_400_000;
  const windows = [
    { window: 'day', unit: 'tokens', allowance: 100 },
    { window: 'week', unit: 'tasks', allowance: 5 },
    { window: 'month', unit: 'cost', allowance: 0.5 },
  ] as const;
  const RULES = usageRulesOf(
    configFileSchema().parse({
      plans: { paid: { windows } },
      models: [
        { id: 'priced', provider: 'runbook', prices: { input: 1, output: 1 } },
        { id: 'free', provider: 'runbook' },
      ],
    }),
  );

  /** A workspace that used this much on days that lie so far back: `[daysAgo, tasks, tokens, costMicros]`. */
  const workspace = async (days: [number, number, number, number][], own: object[] | null = null, topUp = 0) => {
    const id = randomUUID();
    await db.query(
      `INSERT INTO workspaces (id, slug, name, plan, usage_windows, top_up_micros) VALUES ($1::uuid, $1::text, 'W', 'paid', $2, $3)`,
      [id, own === null ? null : JSON.stringify(own), topUp],
    );
    for (const [ago, ...figures] of days) {
      const day = new Date(Date.now() - ago * DAY).toISOString().slice(0, 10);
      await db.query(
        'INSERT INTO usage_days (workspace_id, day, tasks, tokens, cost_micros) VALUES ($1, $2, $3, $4, $5)',
        [id, day, ...figures],
      );
    }
    return id;
  };
  const run = async <Row extends object>({ text, values }: Query<Row>) => (await db.query<Row>(text, values))[0];
  const state = (workspaceId: string) => run(WINDOWS({ workspaceId, rules: RULES }));
  const exhausted = async (workspaceId: string, model = 'free') =>
    (await run(EXHAUSTED({ workspaceId, model, rules: RULES })))?.exhausted;

  /** In the last days of a month its week ends later. */
  const lastToReset = (now = new Date()): 'week' | 'month' => {
    const monday = now.getUTCDate() + 7 - ((now.getUTCDay() + 6) % 7);
    const week = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), monday);
    return week > Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1) ? 'week' : 'month';
  };

  it('are the calendar of UTC', async () => {
    const days = Array.from({ length: 40 }, (_, ago) => [ago, 1, 10, 1000] as [number, number, number, number]);
    const found = await state(await workspace(days));
    const now = new Date();
    const sinceMonday = (now.getUTCDay() + 6) % 7;
    expect(found?.windows).toMatchObject([
      { window: 'day', unit: 'tokens', used: 10, allowance: 100 },
      { window: 'week', unit: 'tasks', used: sinceMonday + 1, allowance: 5 },
      { window: 'month', unit: 'cost', used: now.getUTCDate() * 1000, allowance: 500_000 },
    ]);
    const midnight = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate());
    expect(found?.windows.map(({ resetsAt }) => Date.parse(resetsAt))).toEqual([
      midnight + DAY,
      midnight + (7 - sinceMonday) * DAY,
      Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1),
    ]);
  });
  it('are those of the workspace itself, and of its plan those of further windows and units', async () => {
    const own = [{ window: 'week', unit: 'tasks', allowance: 7 }, { window: 'month', unit: 'tasks', allowance: 8 }]; // prettier-ignore
    const { windows = [] } = (await state(await workspace([[0, 9, 0, 0]], own))) ?? {};
    const told = windows.map(({ window, unit, allowance }) => `${window} ${unit} ${allowance}`).sort();
    expect(told).toEqual(['day tokens 100', 'month cost 500000', 'month tasks 8', 'week tasks 7']);
  });

  it.each([
    [[0, 5, 99, 499_999], 'week'],
    [[0, 4, 100, 499_999], 'day'],
    [[0, 4, 99, 500_000], 'month'],
    [[0, 5, 100, 500_000], 'the last of all'],
    [[0, 4, 99, 499_999], undefined],
  ] as [[number, number, number, number], string | undefined][])(
    'are used up at their allowance; of several the one that begins anew the last is told: %j',
    async (today, window) => {
      const wanted = window === 'the last of all' ? lastToReset() : window;
      expect((await exhausted(await workspace([today])))?.window).toBe(wanted);
    },
  );

  it('are opened by a top-up, for a model with prices alone', async () => {
    const id = await workspace([[0, 5, 100, 500_000]], null, 1);
    expect(await exhausted(id, 'priced')).toBeNull();
    expect(await exhausted(id, 'free')).toMatchObject({ window: lastToReset() });
  });
});
