// What the tasks of the versions of an agent came to (reference §27.5).
import { AGENTS, changeAgent, createAgent } from '../harness/agents.js';
import { bootWorker, useService } from '../harness/app.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { ModelServer } from '../harness/model-server.js';
import { call, createTask, finished, reaches, script } from '../harness/tasks.js';

interface Stats {
  from: string;
  to: string;
  versions: ({ version: number; failed: Record<string, number>; minutes: { p50: number; p90: number } } & Record<string, unknown>)[]; // prettier-ignore
}

describe('The stats of an agent (reference §27.5)', () => {
  let server: ModelServer;
  let owner: Member;
  const service = useService(async () => {
    server = await ModelServer.start();
    return bootWorker({ env: { OPENAI_COMPATIBLE_URL: server.url } });
  });
  beforeEach(async () => {
    owner = await makeMember(service, { role: 'owner' });
    await createAgent(owner.client);
  });
  afterAll(() => server.stop());

  const stats = async ({ client } = owner, query = '') =>
    (await client.get<Stats>(`${AGENTS}/reviewer/stats${query}`)).body;
  const usage = { input: 100, output: 10, cached: 40, reasoning: 5 };
  const work = async (content: string, more: object = {}) => {
    const { id } = await createTask(owner.client, { content, agent: 'reviewer', ...more });
    return finished(owner.client, id);
  };

  it('count the tasks of each version, how they ended, what they asked and what they used', async () => {
    await work(script({ text: 'Done.', usage }));
    await work(script({ ...call('bash', { command: 'true' }), usage }, { text: 'Done.', usage }), {
      checks: [{ name: 'one', command: 'true' }],
    });
    await work(script({ ...call('bash', { command: 'true' }), usage }), { budget: { maxSteps: 1 } });
    await changeAgent(owner.client, 'reviewer', { instructions: 'Ask first.' });
    const { id } = await createTask(owner.client, { content: script(call('ask', { question: 'Which?' }), { text: 'Done.' }), agent: 'reviewer' }); // prettier-ignore
    await reaches(owner.client, id, 'awaiting_input');
    await owner.client.post(`/v1/tasks/${id}/cancel`);
    await createTask(owner.client, { content: 'Of no agent.' });
    const { from, to, versions } = await stats();
    expect(Date.parse(to) - Date.parse(from)).toBe(30 * 86_400_000);
    const [second, first] = versions;
    expect(first).toMatchObject({
      ...{ version: 1, tasks: 3, completed: 2, cancelled: 0, failed: { budget_exceeded: 1 } },
      ...{ checks: { passed: 1, failed: 0 }, questions: 0, steps: 4 },
      ...{ inputTokens: 400, outputTokens: 40, cachedInputTokens: 160, reasoningTokens: 20, cost: null },
    });
    expect(first?.minutes.p90).toBeGreaterThanOrEqual(first?.minutes.p50 ?? 1);
    expect(second).toMatchObject({ version: 2, tasks: 1, completed: 0, cancelled: 1, failed: {}, questions: 1 });
    expect(versions).toHaveLength(2);
  });

  it('are of the tasks that were made in the period', async () => {
    await work(script({ text: 'Done.' }));
    await service.db.query(`UPDATE tasks SET created_at = '2026-01-02T12:00:00Z' WHERE workspace_id = $1`, [owner.workspace.id]); // prettier-ignore
    expect((await stats()).versions).toEqual([]);
    expect((await stats(owner, '?from=2026-01-01&to=2026-01-02')).versions).toHaveLength(1);
    expect((await stats(owner, '?from=2026-01-03&to=2026-01-04')).versions).toEqual([]);
    for (const query of ['from=2026-01-02&to=2025-12-31', 'from=2020-01-01&to=2026-01-01', 'from=x']) {
      const { status, body } = await owner.client.get<ErrorBody>(`${AGENTS}/reviewer/stats?${query}`);
      expect([query, status, body.error.code]).toEqual([query, 400, 'invalid_query']);
    }
  });

  it('are of the tasks that the caller sees', async () => {
    const member = await makeMember(service, { workspace: owner.workspace });
    await work(script({ text: 'Done.' }));
    expect((await stats()).versions).toHaveLength(1);
    expect((await stats(member)).versions).toEqual([]);
    expect((await member.client.get(`${AGENTS}/none/stats`)).status).toBe(404);
  });
});
