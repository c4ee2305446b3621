import { UsersService } from '../../src/access/workspaces/users.service.js';
import { newId } from '../../src/platform/database/ids.js';
import { useService } from '../harness/app.js';
import { createAutomation } from '../harness/automation-requests.js';
import { recordStep, type Step } from '../harness/billing.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { createProject } from '../harness/projects.js';

interface UsageRow {
  key: string | null;
  name: string | null;
  tasks: number;
  steps: number;
  inputTokens: number;
  outputTokens: number;
  cachedInputTokens: number;
  reasoningTokens: number;
  cost: { amount: string; currency: string } | null;
}

const DAY = 86_400_000;

describe('GET /v1/billing/usage (reference §14)', () => {
  const service = useService();
  let owner: Member;
  let ann: Member;
  beforeEach(async () => {
    owner = await makeMember(service, { role: 'owner' });
    ann = await makeMember(service, { workspace: owner.workspace });
  });

  const step = (member: Member, given: Step = {}) => recordStep(service, member, given);
  const read = async ({ client }: Member, query = '') => {
    const { status, body, text } = await client.get<{ usage: UsageRow[] }>(`/v1/billing/usage${query}`);
    if (status !== 200) throw new Error(`${status}: ${text}`);
    return body.usage;
  };
  const brief = (rows: UsageRow[]) => rows.map(({ key, name, steps }) => [key, name, steps]);
  const name = async ({ user }: Member) => (await service.app.get(UsersService).get(user.email)).name;

  it('adds up steps, turns, tokens by kind and cost, by day in UTC', async () => {
    const taskId = newId();
    const at = new Date('2026-03-01T00:00:00.000Z');
    await step(ann, { taskId, at, input: 100, output: 20, cached: 60, reasoning: 5, costMicros: 12_300 });
    await step(ann, { taskId, at: new Date('2026-03-01T23:59:59.999Z'), startsTurn: false, costMicros: 1 });
    await step(owner, { at: new Date('2026-03-02T00:00:00.000Z') });
    const figures = { inputTokens: 110, outputTokens: 25, cachedInputTokens: 60, reasoningTokens: 5 };
    const cost = { amount: '0.012301', currency: 'USD' };
    const first = { key: '2026-03-01', name: '2026-03-01', tasks: 1, steps: 2, ...figures, cost };
    const none = { inputTokens: 10, outputTokens: 5, cachedInputTokens: 0, reasoningTokens: 0, cost: null };
    const second = { key: '2026-03-02', name: '2026-03-02', tasks: 1, steps: 1, ...none };
    for (const query of ['?', '?groupBy=day&']) {
      expect(await read(ann, `${query}from=2026-03-01&to=2026-03-02`)).toEqual([first, second]);
    }
  });

  it('takes days and times, the end not included and a day whole; without them the last 30 days', async () => {
    const noon = new Date('2026-03-01T12:00:00.000Z');
    await step(ann, { at: noon });
    const found = async (query: string) => (await read(ann, query)).length;
    expect(await found('?from=2026-03-01&to=2026-03-01')).toBe(1);
    expect(await found('?from=2026-03-01T12:00:00.000Z&to=2026-03-01T12:00:00.001Z')).toBe(1);
    expect(await found('?from=2026-03-01T00:00:00Z&to=2026-03-01T12:00:00Z')).toBe(0);
    expect(await found('?from=2026-03-01T14:00:00%2B02:00&to=2026-03-02')).toBe(1);
    expect(await found('?to=2026-03-30')).toBe(1);
    expect(await found('?to=2026-03-31')).toBe(0);
    expect(await found('')).toBe(0);
    await step(ann, { at: new Date(Date.now() - 30 * DAY + 60_000) });
    await step(ann, { at: new Date(Date.now() - 30 * DAY - 60_000) });
    expect((await read(ann)).map(({ steps }) => steps)).toEqual([1]);
  });

  it.each([
    ['groupBy=week', 'groupBy must be one of day, model, project, automation, user', 'groupBy'],
    ['groupBy=day&groupBy=model', 'The query parameter "groupBy" is given more than once', 'groupBy'],
    ['from=yesterday', 'from must be a date such as 2026-11-01', 'from'],
    ['to=2026-02-30', 'to must be a date such as 2026-11-01', 'to'],
    ['from=2026-03-01T12:00:00&to=2026-03-02', 'from must be a date', 'from'],
    ['from=2025-01-01&to=2026-01-02', 'from and to must be at most 366 days apart', 'from'],
    ['from=2026-03-02T00:00:00Z&to=2026-03-01T00:00:00Z', 'from must not lie after to', 'from'],
    ['from=9999-01-01', 'from must not lie after to, which is now', 'from'],
    ['limit=5', 'limit', 'limit'],
  ])('%s is 400', async (query, message, param) => {
    const { status, body } = await ann.client.get<ErrorBody>(`/v1/billing/usage?${query}`);
    expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_query', param]);
    expect(body.error.message).toContain(message);
  });

  it.each(['from=2024-01-01&to=2024-12-31', 'from=9999-01-01&to=9999-12-31', 'to=0001-01-01'])(
    'at most 366 days of any year are taken: %s',
    async (query) => {
      expect(await read(ann, `?${query}`)).toEqual([]);
    },
  );

  it('begins with the largest: by cost, then by tokens, then by steps; at most 1,000 rows', async () => {
    await step(ann, { model: 'tokens', input: 5_000 });
    await step(ann, { model: 'dear', costMicros: 2 });
    await step(ann, { model: 'steps', input: 5, output: 0 });
    await step(ann, { model: 'steps', input: 5, output: 5 });
    await step(ann, { model: 'cheap', costMicros: 1 });
    await step(ann, { model: 'small' });
    const keys = (await read(ann, '?groupBy=model')).map(({ key }) => key);
    expect(keys).toEqual(['dear', 'cheap', 'tokens', 'steps', 'small']);
    await service.db.query(
      `INSERT INTO usage_ledger SELECT workspace_id, at, gen_random_uuid(), task_id, project_id, automation_id, created_by, 'm' || n,
         starts_turn, input_tokens, output_tokens, cached_input_tokens, reasoning_tokens, cost_micros
       FROM usage_ledger, generate_series(1, 1100) n WHERE model = 'cheap' AND workspace_id = $1`,
      [ann.workspace.id],
    );
    const many = await read(ann, '?groupBy=model');
    expect([many.length, many[0]?.key]).toEqual([1_000, 'dear']);
  });

  it('by model: named as GET /v1/models names it, null for one that is not offered any more', async () => {
    await step(ann, { model: 'runbook', input: 20 });
    await step(owner, { model: 'gone' });
    for (const member of [owner, ann]) {
      const rows = await read(member, '?groupBy=model');
      expect(brief(rows)).toEqual([['runbook', 'Runbook', 1], ['gone', null, 1]]); // prettier-ignore
    }
  });

  it('by project: what has none is one row with the key null; a deleted one keeps its key', async () => {
    const project = await createProject(owner, { name: 'Mill' });
    const other = await createProject(owner, { name: 'Gone' });
    await step(owner, { projectId: project.id, input: 30 });
    await step(owner, { projectId: other.id, input: 20 });
    await step(owner);
    expect((await owner.client.delete(`/v1/projects/${other.id}`)).status).toBe(200);
    const rows = await read(owner, '?groupBy=project');
    expect(brief(rows)).toEqual([[project.id, 'Mill', 1], [other.id, null, 1], [null, null, 1]]); // prettier-ignore
  });

  it('by automation: what the API made is one row with the key null; a deleted one keeps its key', async () => {
    const kept = await createAutomation(owner, { name: 'Sweep' });
    const gone = await createAutomation(owner);
    await step(owner, { automationId: kept.id, input: 30 });
    await step(owner, { automationId: gone.id, input: 20 });
    await step(owner);
    expect((await owner.client.delete(`/v1/automations/${gone.id}`)).status).toBe(200);
    const rows = await read(owner, '?groupBy=automation');
    expect(brief(rows)).toEqual([[kept.id, 'Sweep', 1], [gone.id, null, 1], [null, null, 1]]); // prettier-ignore
  });

  it('by user: a person who left is still named, a deleted account is not', async () => {
    const ben = await makeMember(service, { workspace: owner.workspace });
    await step(ann, { input: 30 });
    await step(ben, { input: 20 });
    await service.app.get(UsersService).delete(ben.user.id);
    expect(brief(await read(owner, '?groupBy=user'))).toEqual([[ann.user.id, await name(ann), 1], [ben.user.id, null, 1]]); // prettier-ignore
  });

  describe('what a member does not see of tasks is one row with the key null', () => {
    let hidden: string;
    let shared: string;
    let left: string;
    beforeEach(async () => {
      hidden = (await createProject(owner, { name: 'Hidden' })).id;
      shared = (await createProject(owner, { name: 'Shared', visibility: 'workspace' })).id;
      left = (await createProject(owner, { name: 'Left', visibility: 'workspace' })).id;
      await step(owner, { projectId: hidden, input: 100_000 });
      await step(owner, { projectId: shared, input: 40_000 });
      await step(owner, { input: 10_000 });
      await step(ann, { input: 5_000 });
      await step(ann, { projectId: hidden, input: 3_000 });
      await step(ann, { projectId: left, input: 1_000 });
      expect((await owner.client.delete(`/v1/projects/${left}`)).status).toBe(200);
    });

    it('by project', async () => {
      const rows = await read(ann, '?groupBy=project');
      expect(brief(rows)).toEqual([[null, null, 4], [shared, 'Shared', 1], [left, null, 1]]); // prettier-ignore
      expect(brief(await read(owner, '?groupBy=project'))).toEqual([[hidden, 'Hidden', 2], [shared, 'Shared', 1], [null, null, 2], [left, null, 1]]); // prettier-ignore
    });

    it('by user', async () => {
      const rows = await read(ann, '?groupBy=user');
      expect(brief(rows)).toEqual([[null, null, 3], [owner.user.id, await name(owner), 1], [ann.user.id, await name(ann), 2]]); // prettier-ignore
    });

    it('by automation', async () => {
      const [own, others] = [await createAutomation(ann, { name: 'Mine' }), await createAutomation(owner)];
      await step(ann, { automationId: own.id, input: 200_000 });
      await step(owner, { automationId: others.id, projectId: hidden, input: 7 });
      expect(brief(await read(ann, '?groupBy=automation'))).toEqual([[own.id, 'Mine', 1], [null, null, 7]]); // prettier-ignore
    });

    it('by automation, without the name of one that it does not see', async () => {
      const others = await createAutomation(owner, { name: 'Layoffs', projectId: hidden });
      await step(owner, { automationId: others.id, projectId: shared, input: 200_000 });
      expect(brief(await read(ann, '?groupBy=automation'))).toEqual([[others.id, null, 1], [null, null, 6]]); // prettier-ignore
      expect(brief(await read(owner, '?groupBy=automation'))).toEqual([[others.id, 'Layoffs', 1], [null, null, 6]]); // prettier-ignore
    });

    it('by day and by model everybody sees all of it, and the sums of every grouping are the same', async () => {
      const sum = (rows: UsageRow[]) => rows.reduce((all, { inputTokens }) => all + inputTokens, 0);
      const groupings = ['day', 'model', 'project', 'automation', 'user'];
      for (const member of [owner, ann]) {
        const all = await Promise.all(groupings.map((groupBy) => read(member, `?groupBy=${groupBy}`)));
        expect(all.map(sum)).toEqual(groupings.map(() => 159_000));
      }
    });
  });

  it('is of the workspace alone, and needs billing:read', async () => {
    await step(await makeMember(service));
    expect(await read(owner)).toEqual([]);
    const { client } = await makeMember(service, { workspace: owner.workspace, scopes: ['tasks:read'] });
    for (const path of ['summary', 'usage']) {
      const { status, body } = await client.get<ErrorBody>(`/v1/billing/${path}`);
      expect([status, body.error.code]).toEqual([403, 'missing_scope']);
    }
  });
});
