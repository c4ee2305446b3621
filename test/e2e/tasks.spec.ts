import { bootWorker, useService } from '../harness/app.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { ModelServer } from '../harness/model-server.js';
import {
  call,
  createTask,
  finished,
  readMessages,
  readTask,
  runTask,
  script,
  type TaskBody,
} from '../harness/tasks.js';

const NOTHING_USED = {
  ...{ inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 },
  ...{ steps: 0, toolCalls: 0, durationMs: 0, cost: null },
};

describe('Tasks (reference §4)', () => {
  let model: ModelServer;
  let member: Member;

  const service = useService(async () => {
    model = await ModelServer.start();
    return bootWorker({ env: { OPENAI_COMPATIBLE_URL: model.url, OPENAI_COMPATIBLE_MODEL: 'acme/scripted' } });
  });
  beforeAll(async () => {
    member = await makeMember(service);
  });
  afterAll(() => model.stop());

  const refused = async (body: unknown) => {
    const answer = await member.client.post<ErrorBody>('/v1/tasks', body);
    return [answer.status, answer.body.error.code, answer.body.error.param];
  };
  const taskCount = async () => (await service.db.query<{ n: number }>('SELECT count(*)::int AS n FROM tasks'))[0]?.n;

  it('creating one answers 201 with the whole record, queued, and its Location', async () => {
    const answer = await member.client.post<{ task: TaskBody }>('/v1/tasks', {
      content: '# Fix the *build*\nIt is red.',
      effort: undefined,
      budget: { maxSteps: 5 },
      metadata: { ticket: 'A-1' },
    });
    expect(answer.status).toBe(201);
    const { task } = answer.body;
    expect(answer.headers.get('location')).toBe(`/v1/tasks/${task.id}`);
    expect(task).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
      title: 'Fix the build',
      status: 'queued',
      statusReason: null,
      resumesAt: null,
      waitingFor: null,
      projectId: null,
      pendingInteraction: null,
      model: 'scripted',
      effort: null,
      ...{ environment: null, agent: null, web: true, skills: [], mcpServers: [] },
      approvals: 'none',
      whenBlocked: 'fail',
      budget: { maxSteps: 5, maxTokens: null, maxDurationSeconds: null, maxCost: null },
      source: { type: 'api', automationId: null, automationRunId: null },
      result: null,
      usage: NOTHING_USED,
      outputSchema: null,
      repository: null,
      changes: null,
      network: null,
      checks: { status: 'none', passed: 0, failed: 0, repairs: 0 },
      pullRequest: null,
      metadata: { ticket: 'A-1' },
      tags: [],
      archived: false,
      createdBy: { id: member.user.id, name: expect.any(String) },
      messageCount: 1,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updatedAt: expect.any(String),
      startedAt: null,
      finishedAt: null,
      forkedFrom: null,
      parentTaskId: null,
      children: { tasks: 0, usage: NOTHING_USED },
    });
    await finished(member.client, task.id);
  });

  it('a task runs through model and tools to completed, with its result and figures', async () => {
    const usage = { input: 100, output: 7, cached: 40, reasoning: 3 };
    const task = await runTask(
      member.client,
      script(
        { text: 'I look.', ...call('bash', { command: 'echo hello > a.txt && cat a.txt' }), usage },
        { ...call('read', { path: 'a.txt' }), usage },
        { text: 'All is well.', usage },
      ),
    );
    expect(task).toMatchObject({
      status: 'completed',
      statusReason: null,
      result: { text: 'All is well.', fileIds: [], output: null },
    });
    expect(task.usage).toMatchObject({
      inputTokens: 300,
      outputTokens: 21,
      cachedInputTokens: 120,
      reasoningTokens: 9,
      steps: 3,
      toolCalls: 2,
    });
    expect(task.usage['durationMs']).toBeGreaterThan(0);
    expect(task.messageCount).toBe(4);
    expect(Date.parse(task.finishedAt ?? '')).toBeGreaterThanOrEqual(Date.parse(task.startedAt ?? ''));
  });

  it('tool_result stands directly after its tool_call, in parallel calls too, one message a step', async () => {
    const calls = ['one', 'two', 'three'].map((word) => ({ name: 'bash', arguments: { command: `echo ${word}` } }));
    const { id } = await runTask(member.client, script({ text: 'Three at once.', calls }, { text: 'Done.' }));
    const [user, step, last, ...rest] = await readMessages(member.client, id);
    expect(rest).toEqual([]);
    expect(user).toMatchObject({ role: 'user', status: 'complete', createdBy: { id: member.user.id } });
    expect(last).toMatchObject({
      role: 'assistant',
      status: 'complete',
      createdBy: null,
      parts: [{ type: 'text', text: 'Done.' }],
    });
    expect(step?.parts.map(({ type }) => type)).toEqual(['text', ...calls.flatMap(() => ['tool_call', 'tool_result'])]);
    const results = step?.parts.filter(({ type }) => type === 'tool_result') ?? [];
    expect(results.map((part) => (part.output as { stdout: string }).stdout)).toEqual(['one\n', 'two\n', 'three\n']);
    for (const [index, part] of (step?.parts ?? []).entries()) {
      if (part.type !== 'tool_result') continue;
      expect(step?.parts[index - 1]).toMatchObject({ type: 'tool_call', toolCallId: part.toolCallId, name: 'bash' });
    }
  });

  it('bash answers success whatever the exit code; a tool that cannot do it answers error', async () => {
    const { id } = await runTask(
      member.client,
      script(call('bash', { command: 'echo no >&2; exit 3' }), call('read', { path: 'absent.txt' }), { text: 'Done.' }),
    );
    const results = (await readMessages(member.client, id)).flatMap(({ parts }) =>
      parts.filter(({ type }) => type === 'tool_result'),
    );
    expect(results[0]).toEqual({
      type: 'tool_result',
      toolCallId: expect.any(String),
      name: 'bash',
      status: 'success',
      output: { exitCode: 3, stdout: '', stderr: 'no\n', truncated: false },
    });
    expect(results[1]).toEqual({
      type: 'tool_result',
      toolCallId: expect.any(String),
      name: 'read',
      status: 'error',
      error: expect.stringContaining('absent.txt'),
    });
  });

  it.each<[unknown, number, string, string | null]>([
    [{}, 400, 'invalid_field', 'content'],
    [{ content: '  \n\t' }, 400, 'invalid_field', 'content'],
    [{ content: 7 }, 400, 'invalid_field', 'content'],
    [{ content: null }, 400, 'invalid_field', 'content'],
    [{ content: 'x'.repeat(200_001) }, 400, 'invalid_field', 'content'],
    [{ content: 'x', colour: 'red' }, 400, 'unknown_field', 'colour'],
    [{ content: 'x', approvals: 'always' }, 400, 'invalid_field', 'approvals'],
    [{ content: 'x', approvals: null }, 400, 'invalid_field', 'approvals'],
    [
      { content: 'x', repository: { url: 'http://example.test/r.git' } },
      400,
      'repository_not_allowed',
      'repository.url',
    ],
    [{ content: 'x', projectId: crypto.randomUUID() }, 404, 'not_found', 'projectId'],
    [{ content: 'x', budget: { maxCost: '1.00' } }, 400, 'invalid_field', 'budget.maxCost'],
    [{ content: 'x', budget: { maxSteps: 0 } }, 400, 'invalid_field', 'budget.maxSteps'],
    [{ content: 'x', budget: { maxTokens: '5' } }, 400, 'invalid_field', 'budget.maxTokens'],
    [{ content: 'x', budget: [] }, 400, 'invalid_field', 'budget'],
    [{ content: 'x', title: '' }, 400, 'invalid_field', 'title'],
    [{ content: 'x', title: 'x'.repeat(201) }, 400, 'invalid_field', 'title'],
    [{ content: 'x', effort: 'huge' }, 400, 'invalid_field', 'effort'],
    [{ content: 'x', model: 'nobody' }, 400, 'model_not_available', 'model'],
    [{ content: 'x', metadata: { a: 1 } }, 400, 'invalid_field', 'metadata'],
    [
      { content: 'x', metadata: Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`k${i}`, ''])) },
      400,
      'invalid_field',
      'metadata',
    ],
    [{ content: 'x', attachments: [] }, 400, 'invalid_field', 'attachments'],
    [{ attachments: [[]] }, 400, 'invalid_field', 'attachments'],
    [{ attachments: [[{ uploadId: 'x' }]] }, 400, 'invalid_field', 'attachments'],
    [{ attachments: ['a'] }, 400, 'invalid_field', 'attachments[0]'],
    [{ attachments: [{ uploadId: 5 }] }, 400, 'invalid_field', 'attachments[0].uploadId'],
    [{ attachments: [{ uploadId: 'x', name: 'y' }] }, 400, 'unknown_field', 'attachments[0].name'],
    [{ attachments: [{ uploadId: crypto.randomUUID() }] }, 400, 'invalid_upload', 'attachments[0].uploadId'],
  ])('the body %j is refused and leaves nothing half-made', async (body, status, code, param) => {
    const before = await taskCount();
    expect(await refused(body)).toEqual([status, code, param]);
    expect(await taskCount()).toBe(before);
  });

  it('lengths count characters: in metadata too an emoji is one', async () => {
    const metadata = { ['😀'.repeat(64)]: '😀'.repeat(512) };
    const task = await createTask(member.client, { content: 'x', title: '😀'.repeat(200), metadata });
    expect(task).toMatchObject({ title: '😀'.repeat(200), metadata });
    for (const wrong of [{ ['😀'.repeat(65)]: '' }, { a: '😀'.repeat(513) }, { a: 'x'.repeat(513) }, { '': 'x' }]) {
      expect(await refused({ content: 'x', metadata: wrong })).toEqual([400, 'invalid_field', 'metadata']);
    }
    await finished(member.client, task.id);
  });

  it('an unknown, malformed or foreign id is the same 404', async () => {
    const other = await makeMember(service);
    const { id } = await createTask(member.client, { content: 'Mine.' });
    const answers = await Promise.all(
      [`/v1/tasks/${crypto.randomUUID()}`, '/v1/tasks/not-an-id', `/v1/tasks/${id}`].map((path) =>
        other.client.get<ErrorBody>(path),
      ),
    );
    const bodies = answers.map(({ status, body }) => ({ status, error: { ...body.error, requestId: '' } }));
    expect(bodies[0]).toMatchObject({ status: 404, error: { type: 'not_found', code: 'not_found' } });
    expect(bodies[1]).toEqual(bodies[0]);
    expect(bodies[2]).toEqual(bodies[0]);
    await finished(member.client, id);
  });

  it('without a project a task is seen by its creator, and by owners and admins of the workspace', async () => {
    const { id } = await createTask(member.client, { content: 'Whose?' });
    const statuses = [];
    for (const role of ['member', 'viewer', 'admin', 'owner'] as const) {
      const other = await makeMember(service, { workspace: member.workspace, role });
      statuses.push((await other.client.get(`/v1/tasks/${id}`)).status);
    }
    expect(statuses).toEqual([404, 404, 200, 200]);
    await finished(member.client, id);
  });

  it('the list is newest first, filtered by status and project, and its pages hold everything once', async () => {
    const lister = await makeMember(service);
    const ids: string[] = [];
    for (let n = 0; n < 7; n++) ids.unshift((await runTask(lister.client, `Task ${n}`)).id);
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const query: string = cursor === null ? '?limit=3' : `?limit=3&cursor=${cursor}`;
      const answer = await lister.client.get<{ tasks: TaskBody[]; nextCursor: string | null }>(`/v1/tasks${query}`);
      expect(answer.status).toBe(200);
      seen.push(...answer.body.tasks.map(({ id }) => id));
      cursor = answer.body.nextCursor;
    } while (cursor !== null);
    expect(seen).toEqual(ids);
    const count = async (query: string) =>
      (await lister.client.get<{ tasks: TaskBody[] }>(`/v1/tasks?${query}`)).body.tasks.length;
    expect(await count('status=completed')).toBe(7);
    expect(await count('status=failed')).toBe(0);
    expect(await count(`projectId=${crypto.randomUUID()}`)).toBe(0);
    expect(await count('projectId=nonsense')).toBe(0);
  });

  it.each(['limit=0', 'limit=101', 'limit=x', 'limit=1&limit=2', 'status=done', 'colour=red', 'limit='])(
    'the query %s is 400 invalid_query',
    async (query) => {
      const answer = await member.client.get<ErrorBody>(`/v1/tasks?${query}`);
      expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_query']);
    },
  );

  it('a cursor works only where it came from', async () => {
    await runTask(member.client, 'One');
    await runTask(member.client, 'Two');
    const { body } = await member.client.get<{ nextCursor: string }>('/v1/tasks?limit=1');
    const other = await makeMember(service);
    const attempts = [
      member.client.get<ErrorBody>(`/v1/tasks?limit=1&status=completed&cursor=${body.nextCursor}`),
      other.client.get<ErrorBody>(`/v1/tasks?limit=1&cursor=${body.nextCursor}`),
      member.client.get<ErrorBody>(`/v1/tasks?cursor=${body.nextCursor}x`),
      member.client.get<ErrorBody>('/v1/tasks?cursor='),
    ];
    for (const { status, body: error } of await Promise.all(attempts)) {
      expect([status, error.error.code]).toEqual([400, 'invalid_cursor']);
    }
    expect((await member.client.get(`/v1/tasks?limit=1&cursor=${body.nextCursor}`)).status).toBe(200);
  });

  it('a budget ends the turn as failed, budget_exceeded', async () => {
    const endless = script({ ...call('bash', { command: 'date +%N' }), times: 50 });
    const task = await runTask(member.client, endless, { budget: { maxSteps: 2 } });
    expect(task).toMatchObject({ status: 'failed', statusReason: { code: 'budget_exceeded' } });
    expect(task.usage['steps']).toBe(2);
    expect(await readTask(member.client, task.id)).toEqual(task);
  });
});
