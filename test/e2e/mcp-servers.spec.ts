import { bootApp, useService } from '../harness/app.js';
import { AUTOMATIONS, type AutomationBody, DAILY } from '../harness/automation-requests.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';

interface Task {
  task: { id: string; mcpServers: string[] };
}
const SERVERS = '/v1/mcp-servers';
const refusedBy = ({ status, body }: { status: number; body: ErrorBody }) => [
  status,
  body.error.code,
  body.error.param,
];

describe('The servers of a task (reference §28)', () => {
  let ann: Member;
  const service = useService(() =>
    bootApp({
      config: {
        mcpServers: {
          docs: { command: 'node', args: ['/opt/programs/docs.js', '--secret-argument'], default: true },
          github: {
            description: 'Issues of ours',
            url: 'https://mcp.example/secret-path',
            headers: { Authorization: 'secret-header' },
            default: true,
          },
          elsewhere: { command: 'node', workspaces: ['another-workspace'], default: true },
          more: { command: 'node', readOnly: ['get_*'] },
        },
      },
    }),
  );
  beforeEach(async () => {
    ann = await makeMember(service);
  });
  const create = (json: object = {}) => ann.client.post<Task & ErrorBody>('/v1/tasks', { content: 'x', ...json });
  const change = (id: string, json: object) => ann.client.patch<Task & ErrorBody>(`/v1/tasks/${id}`, json);

  it('are those by default that are open to its workspace, those that it names, or none', async () => {
    expect((await create()).body.task.mcpServers).toEqual(['docs', 'github']);
    expect((await create({ mcpServers: ['more', 'docs'] })).body.task.mcpServers).toEqual(['more', 'docs']);
    const { task } = (await create({ mcpServers: [] })).body;
    expect(task.mcpServers).toEqual([]);
    expect((await ann.client.get<Task>(`/v1/tasks/${task.id}`)).body.task.mcpServers).toEqual([]);
  });

  it('are not those that there are not, or that are not open to the workspace', async () => {
    expect(refusedBy(await create({ mcpServers: ['nothing'] }))).toEqual([400, 'invalid_field', 'mcpServers[0]']);
    expect(refusedBy(await create({ mcpServers: ['docs', 'elsewhere'] }))).toEqual([
      400,
      'invalid_field',
      'mcpServers[1]',
    ]);
    for (const wrong of [null, 'docs', [1], ['docs', 'docs'], Array.from({ length: 9 }, (_, n) => `s${n}`)]) {
      expect(refusedBy(await create({ mcpServers: wrong }))).toEqual([400, 'invalid_field', 'mcpServers']);
    }
  });

  it('are changed by a PATCH, which an event tells', async () => {
    const { task } = (await create()).body;
    expect(refusedBy(await change(task.id, { mcpServers: ['nothing'] }))[2]).toBe('mcpServers[0]');
    expect((await change(task.id, { mcpServers: ['more'] })).body.task.mcpServers).toEqual(['more']);
    await change(task.id, { mcpServers: ['more'] });
    const { body } = await ann.client.get<{ events: { type: string; data: { changed?: string[] } }[] }>(
      `/v1/tasks/${task.id}/events`,
    );
    const updates = body.events.filter(({ type }) => type === 'task.updated');
    expect(updates.map(({ data }) => data.changed)).toEqual([['mcpServers']]);
  });

  it('are checked when an automation is written and in a rehearsal, and null is what a task has by default', async () => {
    const make = (json: object) =>
      ann.client.post<{ automation: AutomationBody & { mcpServers: string[] | null } } & ErrorBody>(AUTOMATIONS, {
        ...DAILY,
        ...json,
      });
    expect(refusedBy(await make({ mcpServers: ['docs', 'nothing'] }))).toEqual([400, 'invalid_field', 'mcpServers[1]']);
    const rehearsed = await ann.client.post<ErrorBody>(AUTOMATIONS, { ...DAILY, dryRun: true, mcpServers: ['no'] });
    expect(refusedBy(rehearsed)).toEqual([400, 'invalid_field', 'mcpServers[0]']);
    const { automation } = (await make({ mcpServers: ['more'] })).body;
    expect(automation.mcpServers).toEqual(['more']);
    const path = `${AUTOMATIONS}/${automation.id}`;
    expect(refusedBy(await ann.client.patch<ErrorBody>(path, { mcpServers: ['no'] }))[2]).toBe('mcpServers[0]');
    const run = async () => {
      const { body } = await ann.client.post<{ run: { taskId: string } }>(`${path}/run`);
      return (await ann.client.get<Task>(`/v1/tasks/${body.run.taskId}`)).body.task.mcpServers;
    };
    expect(await run()).toEqual(['more']);
    await ann.client.patch(path, { mcpServers: null });
    expect(await run()).toEqual(['docs', 'github']);
  });

  it('are listed as far as they are open, without address, header, command or argument', async () => {
    const { body } = await ann.client.get<{ mcpServers: { name: string }[] }>(SERVERS);
    expect(body.mcpServers.map(({ name }) => name)).toEqual(['docs', 'github', 'more']);
    expect(body.mcpServers[1]).toEqual({
      ...{ name: 'github', description: 'Issues of ours', kind: 'url', default: true, approval: 'always' },
      ...{ revision: null, tools: null, status: 'unknown', checkedAt: null },
    });
    expect(JSON.stringify(body)).not.toMatch(/secret|mcp\.example|opt/);
  });
});
