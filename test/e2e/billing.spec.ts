import type { UsageWindow } from '../../src/platform/config/plans.js';
import { bootWorker, useService } from '../harness/app.js';
import { createAutomation, readAutomation, type RunBody } from '../harness/automation-requests.js';
import { allow, useToday } from '../harness/billing.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { makeTask } from '../harness/files.js';
import { createTask, finished, reaches, runTask } from '../harness/tasks.js';

const MODELS = [
  { id: 'plain', provider: 'runbook', default: true },
  { id: 'priced', provider: 'runbook', prices: { input: 3, output: 15 } },
];
const ASK = '```ask\nWhich colour?\n```\n';
const WINDOWS = {
  tasks: { window: 'day', unit: 'tasks', allowance: 2 },
  tokens: { window: 'week', unit: 'tokens', allowance: 1_000 },
  cost: { window: 'month', unit: 'cost', allowance: 0.5 },
} satisfies Record<string, UsageWindow>;
const ALL = Object.values(WINDOWS);
const USED_UP = { tasks: 2, tokens: 1_000, costMicros: 500_000 };

interface Summary {
  usage: { window: string; remainingPercent: number; resetsAt: string }[];
  topUp: { balance: string; currency: string };
}

describe('Plans and billing (reference §14)', () => {
  const service = useService(() => bootWorker({ config: { models: MODELS, plans: { paid: { storageBytes: 4096 } } } }));
  let member: Member;
  beforeEach(async () => {
    member = await makeMember(service);
  });

  const summary = async ({ client }: Member = member) => {
    const { status, body } = await client.get<Summary>('/v1/billing/summary');
    expect(status).toBe(200);
    return body;
  };
  const code = (answer: { status: number; body: ErrorBody }) => [answer.status, answer.body.error.code];
  const create = (json: object = {}) => member.client.post<ErrorBody>('/v1/tasks', { content: 'Do it.', ...json });
  const send = (id: string) => member.client.post<ErrorBody>(`/v1/tasks/${id}/messages`, { content: 'And then?' });
  const answer = (id: string, interactionId: string) =>
    member.client.post<ErrorBody>(`/v1/tasks/${id}/interaction`, { interactionId, content: 'Red.' });

  describe('the summary', () => {
    it('shows the plan, the subscription, what is left, the top-up and the stored bytes, and nothing else', async () => {
      expect(await summary()).toEqual({
        plan: { id: 'paid', name: 'Paid' },
        subscription: { status: 'none', cancelAtPeriodEnd: false },
        renewal: { renewsAt: null, endsAt: null },
        usage: [],
        topUp: { balance: '0.00', currency: 'USD' },
        storage: { usedBytes: 0, limitBytes: 4096 },
      });
      const free = await makeMember(service, { plan: 'free' });
      const usage = [{ window: 'month', remainingPercent: 100, resetsAt: expect.any(String) as string }];
      expect(await summary(free)).toMatchObject({ plan: { id: 'free', name: 'Free' }, usage });
    });

    it('is counted from what tasks really used', async () => {
      await allow(service, member, [{ window: 'day', unit: 'tasks', allowance: 3 }]);
      expect((await runTask(member.client, '```bash\ntrue\n```')).status).toBe('completed');
      expect((await summary()).usage).toMatchObject([{ window: 'day', remainingPercent: 66 }]);
    });

    it.each([
      [100, 0, 100],
      [100, 71, 29],
      [3, 1, 66],
      [1_000_000, 1, 99],
      [7, 7, 0],
      [7, 9, 0],
    ])(
      'rounds the remaining percentage down: of %i tokens %i are used, %i %% are left',
      async (allowance, tokens, left) => {
        await allow(service, member, [{ window: 'day', unit: 'tokens', allowance }]);
        await useToday(service, member, { tokens });
        expect((await summary()).usage).toMatchObject([{ remainingPercent: left }]);
      },
    );

    it('has one entry for each window, with the smallest share of its units, anew by the calendar of UTC', async () => {
      await allow(service, member, [...ALL, { window: 'day', unit: 'tokens', allowance: 100 }]);
      await useToday(service, member, { tasks: 1, tokens: 80, costMicros: 123_456 });
      const now = new Date();
      const day = (ahead: number) => Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + ahead);
      const iso = (time: number) => new Date(time).toISOString();
      expect((await summary()).usage).toEqual([
        { window: 'day', remainingPercent: 20, resetsAt: iso(day(1)) },
        { window: 'week', remainingPercent: 92, resetsAt: iso(day(7 - ((now.getUTCDay() + 6) % 7))) },
        { window: 'month', remainingPercent: 75, resetsAt: iso(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1)) },
      ]);
    });

    it('counts the workspace alone', async () => {
      await allow(service, member, ALL);
      await useToday(service, await makeMember(service), USED_UP);
      expect((await summary()).usage.map(({ remainingPercent }) => remainingPercent)).toEqual([100, 100, 100]);
    });

    it.each([
      [12_500_000, '12.50'],
      [12_345_678, '12.345678'],
      [100, '0.0001'],
      [1_000_000_000, '1000.00'],
    ])('writes a balance of %i micro-dollars as %s', async (micros, balance) => {
      await allow(service, member, null, micros);
      expect((await summary()).topUp).toEqual({ balance, currency: 'USD' });
    });
  });

  describe('a window that is used up, without a top-up', () => {
    it.each(Object.keys(WINDOWS) as (keyof typeof WINDOWS)[])(
      'refuses a task, a message and an answer: %s',
      async (unit) => {
        const { id } = await createTask(member.client, { content: ASK });
        const { pendingInteraction } = await reaches(member.client, id, 'awaiting_input');
        const done = await makeTask(service, member);
        await allow(service, member, [WINDOWS[unit]]);
        await useToday(service, member, USED_UP);
        const refused = await create();
        expect(refused.status).toBe(402);
        expect(refused.body.error).toMatchObject({ type: 'payment_required', code: 'usage_exhausted', param: null });
        expect(refused.body.error.message).toMatch(/^The workspace has used up the (2 turns|1000 tokens|0\.50 USD) that it has for a (day|week|month); the next \2 begins at \d{4}-\d\d-\d\dT00:00:00\.000Z\. Try again then/); // prettier-ignore
        expect(code(await send(done))).toEqual([402, 'usage_exhausted']);
        expect(code(await answer(id, pendingInteraction?.id ?? ''))).toEqual([402, 'usage_exhausted']);
        // What comes before its plan, and what needs none of it.
        expect(await member.client.get(`/v1/tasks/${id}`)).toMatchObject({
          body: { task: { status: 'awaiting_input', messageCount: 2 } },
        });
        expect((await member.client.post(`/v1/tasks/${id}/cancel`)).status).toBe(200);
        expect((await member.client.delete(`/v1/tasks/${done}`)).status).toBe(200);
      },
    );

    it('leaves nothing of what it refuses: the same key makes the task once there is room again', async () => {
      await allow(service, member, ALL);
      await useToday(service, member, USED_UP);
      const headers = { 'Idempotency-Key': 'once' };
      const post = () => member.client.post('/v1/tasks', { content: ASK }, { headers });
      expect((await post()).status).toBe(402);
      expect((await member.client.get('/v1/tasks')).body).toMatchObject({ tasks: [] });
      await allow(service, member, []);
      expect((await post()).status).toBe(201);
    });

    it('is told after fields and existence, and before the state', async () => {
      const done = await makeTask(service, member);
      await allow(service, member, ALL);
      await useToday(service, member, USED_UP);
      const none = crypto.randomUUID();
      expect(code(await create({ content: '' }))).toEqual([400, 'invalid_field']);
      expect(code(await create({ projectId: none }))).toEqual([404, 'not_found']);
      expect(code(await send(none))).toEqual([404, 'not_found']);
      expect(code(await answer(none, none))).toEqual([404, 'not_found']);
      const attachments = [{ uploadId: none }];
      for (const path of ['', `/${done}/messages`]) {
        const { status, body } = await member.client.post<ErrorBody>(`/v1/tasks${path}`, { content: 'x', attachments });
        expect([path, status, body.error.param]).toEqual([path, 400, 'attachments[0].uploadId']);
      }
      // It waits for nothing: without the plan this is 409.
      expect(code(await answer(done, none))).toEqual([402, 'usage_exhausted']);
      const { client } = await makeMember(service, { workspace: member.workspace, role: 'viewer' });
      expect(code(await client.post('/v1/tasks', { content: 'x' }))).toEqual([403, 'role_not_allowed']);
    });

    it('opens for a top-up on a model with prices, and on no other', async () => {
      await allow(service, member, [WINDOWS.tokens, WINDOWS.cost], 1);
      await useToday(service, member, USED_UP);
      expect((await create({ model: 'priced' })).status).toBe(201);
      expect(code(await create({ model: 'plain' }))).toEqual([402, 'usage_exhausted']);
    });

    it('fails the run of an automation in words, and loses none of the later ones', async () => {
      const { id } = await createAutomation(member, { content: '```bash\ntrue\n```' });
      const run = () => member.client.post<{ run: RunBody }>(`/v1/automations/${id}/run`);
      await allow(service, member, ALL);
      await useToday(service, member, USED_UP);
      const message = expect.stringContaining('The workspace has used up the') as string;
      expect(await run()).toMatchObject({
        status: 202,
        body: { run: { status: 'failed', reason: { code: 'usage_exhausted', message }, taskId: null } },
      });
      expect(await readAutomation(member.client, id)).toMatchObject({ status: 'active', consecutiveFailures: 0 });
      expect((await member.client.get('/v1/tasks')).body).toMatchObject({ tasks: [] });
      await allow(service, member, []);
      const { run: later } = (await run()).body;
      expect(later.status).toBe('started');
      expect((await finished(member.client, String(later.taskId))).status).toBe('completed');
    });
  });
});
