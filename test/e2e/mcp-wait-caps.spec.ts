// How many may wait at /mcp: those that are over the caps of streams are answered at once.
import { bootApp, type TestApp, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { McpClient } from '../harness/mcp.js';
import { createProject } from '../harness/projects.js';
import { createTask, type TaskBody } from '../harness/tasks.js';
import { until } from '../harness/until.js';

interface Task {
  task: TaskBody;
}

/** Calls that wait until they are ended, of each of these callers so many. */
async function wait(
  service: TestApp,
  callers: Member[],
  each: number,
  taskId: string,
): Promise<() => Promise<unknown>> {
  const abort = new AbortController();
  const params = { name: 'get_task', arguments: { taskId, waitSeconds: 50 } };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  const calls = callers.flatMap(({ key }) =>
    Array.from({ length: each }, () => {
      const headers = { Authorization: `Bearer ${key.secret}`, 'Content-Type': 'application/json' };
      return fetch(`${service.url}/mcp`, { method: 'POST', headers, body, signal: abort.signal }).catch(
        () => undefined,
      );
    }),
  );
  await waiting(service, calls.length);
  return async () => {
    abort.abort();
    await Promise.all(calls);
    await waiting(service, 0);
  };
}

const waiting = ({ url }: TestApp, many: number) =>
  until(
    `${many} to wait`,
    async () => (await (await fetch(`${url}/metrics`)).text()).includes(`millwright_event_streams ${many}\n`),
    { within: 60_000 },
  );

/** The task as a call says that may wait for 50 s; fails when it has waited for long. */
async function answered(service: TestApp, { key }: Member, name: string, args: object): Promise<TaskBody> {
  const began = performance.now();
  const { task } = await new McpClient(service.url, key.secret).done<Task>(name, { ...args, waitSeconds: 50 });
  expect(performance.now() - began).toBeLessThan(20_000);
  return task;
}

const membersOf = (service: TestApp, { workspace }: Member, many: number) =>
  Promise.all(Array.from({ length: many }, () => makeMember(service, { workspace })));

describe('A call that cannot wait is answered at once with what is known (reference §29, §17)', () => {
  const service = useService();

  it('behind two hundred of its workspace: what reads and what creates; another workspace waits', async () => {
    const member = await makeMember(service);
    const others = await membersOf(service, member, 10);
    const { id: projectId } = await createProject(member, { name: 'P', visibility: 'workspace' });
    const { id } = await createTask(member.client, { content: 'x', projectId });
    const end = await wait(service, others, 20, id);
    expect(await answered(service, member, 'get_task', { taskId: id })).toMatchObject({ id, status: 'queued' });
    expect((await answered(service, member, 'create_task', { content: 'y' })).status).toBe('queued');
    const stranger = await makeMember(service);
    const theirs = await createTask(stranger.client, { content: 'z' });
    const call = new McpClient(service.url, stranger.key.secret).call('get_task', {
      taskId: theirs.id,
      waitSeconds: 1,
    });
    await waiting(service, 201);
    expect((await call).body.result.isError).toBeUndefined();
    await end();
  });
});

describe('A call that cannot wait, because the process has as many streams as it may (reference §29, §16)', () => {
  const service = useService(() => bootApp({ env: { MAX_STREAMS: '2' } }));

  it('is answered at once with what is known, in every workspace', async () => {
    const member = await makeMember(service);
    const { id } = await createTask(member.client, { content: 'x' });
    const end = await wait(service, [member], 2, id);
    expect((await answered(service, member, 'get_task', { taskId: id })).status).toBe('queued');
    expect((await answered(service, await makeMember(service), 'create_task', { content: 'y' })).status).toBe('queued');
    await end();
    // There is room again.
    const call = new McpClient(service.url, member.key.secret).call('get_task', { taskId: id, waitSeconds: 1 });
    await waiting(service, 1);
    await call;
  });
});
