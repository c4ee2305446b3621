import { MembershipsService } from '../../src/access/workspaces/memberships.service.js';
import { SCOPES } from '../../src/platform/http/endpoint.js';
import { bootApp, bootWorker, type TestApp, useService } from '../harness/app.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { HeldModel } from '../harness/held-model.js';
import { McpClient } from '../harness/mcp.js';
import { createProject } from '../harness/projects.js';
import { createTask, reaches, type TaskBody } from '../harness/tasks.js';
import { until } from '../harness/until.js';

interface Task {
  task: TaskBody;
}
const mcpOf = ({ url }: TestApp, { key }: Member) => new McpClient(url, key.secret);
const timed = async <T>(work: Promise<T>): Promise<[T, number]> => {
  const began = performance.now();
  return [await work, performance.now() - began];
};
/** How many wait in this process. */
const waiting = async ({ url }: TestApp, many: number) => {
  const text = await (await fetch(`${url}/metrics`)).text();
  return text.includes(`millwright_event_streams ${many}\n`);
};
/** Far less than the 50 s that are asked for, and more than a busy machine takes. */
const SOON_MS = 20_000;
const waits = (service: TestApp, many: number) => until(`${many} to wait`, () => waiting(service, many));

describe('waitSeconds while a task is worked on (reference §29)', () => {
  let model: HeldModel;
  let member: Member;
  const service = useService(async () => {
    model = await HeldModel.start();
    return bootWorker({ env: { OPENAI_COMPATIBLE_URL: model.server.url } });
  });
  beforeAll(async () => {
    member = await makeMember(service);
  });
  afterAll(() => model.server.stop());

  it('the answer comes with the end of the turn, with the task of that moment', async () => {
    const created = mcpOf(service, member).done<Task>('create_task', { content: 'Begin.', waitSeconds: 50 });
    const asked = await model.asked();
    await waits(service, 1);
    asked.answer({ text: 'Done.' });
    const { task } = await created;
    expect([task.status, task.result?.text]).toEqual(['completed', 'Done.']);
    expect(Date.now() - Date.parse(task.finishedAt ?? '')).toBeLessThan(SOON_MS);
    await waits(service, 0);
    // What has ended is not waited for.
    const [again, ms] = await timed(
      mcpOf(service, member).done<Task>('get_task', { taskId: task.id, waitSeconds: 50 }),
    );
    expect(again.task).toEqual(task);
    expect(ms).toBeLessThan(SOON_MS);
    const sent = mcpOf(service, member).done<Task & { message: object }>('send_message', { taskId: task.id, content: 'On.', waitSeconds: 50 }); // prettier-ignore
    (await model.asked()).answer({ text: 'Again.' });
    expect(await sent).toMatchObject({ message: { role: 'user' }, task: { status: 'completed', result: { text: 'Again.' } } }); // prettier-ignore
  });

  it('a question ends the wait, and its answer waits for the rest of the turn', async () => {
    const { id } = await createTask(member.client, { content: 'Ask.' });
    const asked = await model.asked();
    const read = mcpOf(service, member).done<Task>('get_task', { taskId: id, waitSeconds: 50 });
    await waits(service, 1);
    asked.answer({
      calls: [
        {
          name: 'ask',
          arguments: {
            question: 'Which?',
            options: [
              { id: 'a', label: 'A' },
              { id: 'b', label: 'B' },
            ],
          },
        },
      ],
    });
    const { task } = await read;
    expect([task.status, task.pendingInteraction?.question]).toEqual(['awaiting_input', 'Which?']);
    const answered = mcpOf(service, member).done<Task>('answer_task', { taskId: id, interactionId: task.pendingInteraction?.id, optionIds: ['a'], waitSeconds: 50 }); // prettier-ignore
    (await model.asked()).answer({ text: 'Good.' });
    expect((await answered).task.result?.text).toBe('Good.');
  });
});

describe('waitSeconds of a task that nobody works on (reference §29)', () => {
  let member: Member;
  let taskId: string;
  let projectId: string;
  const service = useService();
  beforeEach(async () => {
    member = await makeMember(service);
    projectId = (await createProject(member, { name: 'P', visibility: 'workspace' })).id;
    taskId = (await createTask(member.client, { content: 'x', projectId })).id;
  });
  afterEach(() => waits(service, 0));
  const wait = (who = member, seconds = 50) => mcpOf(service, who).call<Task & ErrorBody>('get_task', { taskId, waitSeconds: seconds }); // prettier-ignore

  it('ends with the time', async () => {
    const [answer, ms] = await timed(wait(member, 1));
    expect(answer.body.result.structuredContent.task.status).toBe('queued');
    expect(ms).toBeGreaterThanOrEqual(990);
    expect(ms).toBeLessThan(SOON_MS);
  });

  it('counts as a stream, charges nothing, and ends when the client leaves', async () => {
    const mcp = mcpOf(service, member);
    const abort = new AbortController();
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'get_task', arguments: { taskId, waitSeconds: 50 } } }; // prettier-ignore
    const left = async () => Number((await mcp.call('get_task', { taskId })).headers.get('x-ratelimit-remaining'));
    const before = await left();
    const headers = { Authorization: `Bearer ${member.key.secret}`, 'Content-Type': 'application/json' };
    const asked = fetch(`${service.url}/mcp`, { method: 'POST', headers, body: JSON.stringify(body), signal: abort.signal }); // prettier-ignore
    asked.catch(() => undefined);
    await waits(service, 1);
    abort.abort();
    await waits(service, 0);
    expect(before - (await left())).toBeLessThanOrEqual(2);
  });

  it('a key that is revoked meanwhile ends it: 401', async () => {
    const asked = wait();
    await waits(service, 1);
    await service.db.query('UPDATE api_keys SET revoked_at = now() WHERE id = $1', [member.key.id]);
    const [{ status, body }, ms] = await timed(asked);
    expect([status, (body as unknown as ErrorBody).error.code]).toEqual([401, 'invalid_credential']);
    expect(ms).toBeLessThan(SOON_MS);
  });

  it('so does the end of a membership, and of the task’s visibility is a result: not found', async () => {
    const gone = await makeMember(service, { workspace: member.workspace });
    const first = wait(gone);
    await waits(service, 1);
    await service.app.get(MembershipsService).remove(gone.workspace.id, gone.user.id);
    const [ended, ms] = await timed(first);
    expect([ended.status, ms < SOON_MS]).toEqual([401, true]);
    const other = await makeMember(service, { workspace: member.workspace });
    const second = wait(other);
    await waits(service, 1);
    expect((await member.client.patch(`/v1/projects/${projectId}`, { visibility: 'private' })).status).toBe(200);
    const [hidden, later] = await timed(second);
    expect([hidden.status, hidden.body.result.isError, hidden.body.result.structuredContent.error.code, later < SOON_MS]).toEqual([200, true, 'not_found', true]); // prettier-ignore
  });

  it('what was created is told of, whatever becomes of the wait', async () => {
    const asked = mcpOf(service, member).call<Task>('create_task', { content: 'kept', waitSeconds: 50 });
    await waits(service, 1);
    await service.db.query('UPDATE api_keys SET revoked_at = now() WHERE id = $1', [member.key.id]);
    const { status, body } = await asked;
    expect([status, body.result.isError, body.result.structuredContent.task.title]).toEqual([200, undefined, 'kept']);
  });

  it('where it cannot wait, it answers at once: without tasks:read, and behind twenty that wait', async () => {
    const scopes = SCOPES.filter((one) => one !== 'tasks:read');
    const blind = await makeMember(service, { workspace: member.workspace, scopes });
    const [made, ms] = await timed(mcpOf(service, blind).done<Task>('create_task', { content: 'x', waitSeconds: 50 }));
    expect([made.task.status, ms < SOON_MS]).toEqual(['queued', true]);
    const abort = new AbortController();
    const headers = { Authorization: `Bearer ${member.key.secret}` };
    const streams = Array.from(
      { length: 20 },
      () =>
      fetch(`${service.url}/v1/tasks/${taskId}/events?after=latest&wait=30`, { headers, signal: abort.signal }).catch(() => undefined), // prettier-ignore
    );
    await waits(service, 20);
    const [full, soon] = await timed(wait());
    expect([full.body.result.structuredContent.task.status, soon < SOON_MS]).toEqual(['queued', true]);
    abort.abort();
    await Promise.all(streams);
  });

  it('holds no turn, transaction or connection: reads of the workspace go on beside as many as may wait', async () => {
    const abort = new AbortController();
    const json = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'get_task', arguments: { taskId, waitSeconds: 50 } } }; // prettier-ignore
    const others = await Promise.all(Array.from({ length: 3 }, () => makeMember(service, { workspace: member.workspace }))); // prettier-ignore
    const held = others.flatMap(({ key }) =>
      Array.from({ length: 20 }, () =>
        fetch(`${service.url}/mcp`, {
          method: 'POST',
          headers: { Authorization: `Bearer ${key.secret}`, 'Content-Type': 'application/json' },
          body: JSON.stringify(json),
          signal: abort.signal,
        }).catch(() => undefined),
      ),
    );
    await waits(service, 60);
    const open = await service.db.query<{ n: number }>(
      `SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'`,
    );
    expect(open[0]?.n).toBe(0);
    for (let n = 0; n < 10; n += 1) {
      const [answer, ms] = await timed(member.client.get(`/v1/tasks/${taskId}`));
      expect([answer.status, ms < SOON_MS]).toEqual([200, true]);
    }
    abort.abort();
    await Promise.all(held);
  });
});

describe('waitSeconds when the process stops (reference §29)', () => {
  it('is answered with what is known', async () => {
    const service = await bootApp();
    const member = await makeMember(service);
    const { id } = await createTask(member.client, { content: 'x' });
    await reaches(member.client, id, 'queued');
    const asked = mcpOf(service, member).call<Task>('get_task', { taskId: id, waitSeconds: 50 });
    await waits(service, 1);
    const [, ms] = await timed(service.close());
    const { status, body } = await asked;
    expect([status, body.result.structuredContent.task.status]).toEqual([200, 'queued']);
    expect(ms).toBeLessThan(SOON_MS);
  });
});
