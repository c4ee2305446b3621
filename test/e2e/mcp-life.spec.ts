import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Millwright } from '@millwright/sdk';
import { useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { Command } from '../harness/command.js';
import { McpHttpServer } from '../harness/mcp/http-server.js';
import { bootWithServers, programOf, PROGRAMS } from '../harness/mcp/worker.js';
import { byMarkers, ModelServer } from '../harness/model-server.js';
import { useStreams } from '../harness/streams.js';
import { call, createTask, finished, readResults, script, type TaskBody } from '../harness/tasks.js';
import { until } from '../harness/until.js';

const MW = fileURLToPath(new URL('../../packages/cli/bin.js', import.meta.url));
const tool = (name: string) => ({ name, inputSchema: { type: 'object' } });

describe('MCP servers in the life of a task (reference §28)', () => {
  const open = useStreams();
  let model: ModelServer;
  let remote: McpHttpServer;
  let ann: Member;
  const service = useService(async () => {
    model = await ModelServer.start(byMarkers);
    remote = await McpHttpServer.start([]);
    const docs = { ...programOf('program.mjs', 'plain'), readOnly: ['*'] };
    const models = ['scripted', 'another'].map((id) => ({ id, provider: 'openai-compatible' }));
    return bootWithServers(model, { docs, remote: { url: remote.url, readOnly: ['*'] } }, { models });
  });
  beforeAll(async () => {
    ann = await makeMember(service);
  });
  afterAll(async () => {
    await Promise.all([model.stop(), remote.stop()]);
  });

  /** What the server lists from now on; no worker keeps it. */
  const lists = (...names: string[]) => {
    remote.listed = { result: { resultType: 'complete', ttlMs: 0, cacheScope: 'private', tools: names.map(tool) } };
  };
  const make = (mcpServers: string[], ...steps: Parameters<typeof script>) =>
    createTask(ann.client, { content: script(...steps), model: 'scripted', mcpServers });
  const offered = () =>
    (model.requests.at(-1)?.body.tools ?? []).map((one) => one.function.name).filter((name) => name.startsWith('mcp'));
  const say = async (id: string, content: string) => {
    expect((await ann.client.post(`/v1/tasks/${id}/messages`, { content })).status).toBe(202);
    return finished(ann.client, id);
  };
  const change = async (id: string, json: object) =>
    expect((await ann.client.patch(`/v1/tasks/${id}`, json)).status).toBe(200);

  it('keep what is offered until the servers or the model change, which count from the next run', async () => {
    lists('first');
    const { id } = await make(['remote'], { text: 'Done.' });
    await finished(ann.client, id);
    expect(offered()).toEqual(['mcp__remote__first']);

    lists('second');
    remote.answer = (name) => (name === 'first' ? { error: { code: -32602, message: 'It has gone.' } } : null);
    await say(id, script(call('mcp__remote__first', {}), { text: 'Done.' }));
    expect(offered()).toEqual(['mcp__remote__first']);
    expect((await readResults(ann.client, id))[0]).toMatchObject({ status: 'error', error: 'It has gone.' });
    remote.answer = null;

    await change(id, { mcpServers: ['docs'] });
    await say(id, 'Go on.');
    expect(offered()).toContain('mcp__docs__echo');
    await change(id, { mcpServers: ['remote'] });
    await say(id, 'Go on.');
    expect(offered()).toEqual(['mcp__remote__second']);

    lists('third');
    await say(id, 'Go on.');
    expect(offered()).toEqual(['mcp__remote__second']);
    await change(id, { model: 'another' });
    await say(id, 'Go on.');
    expect(offered()).toEqual(['mcp__remote__third']);
  });

  it('are asked for their list once for as long as they say', async () => {
    const before = remote.lists;
    remote.listed = { result: { resultType: 'complete', ttlMs: 60_000, cacheScope: 'private', tools: [tool('one')] } };
    for (let n = 0; n < 3; n++) await finished(ann.client, (await make(['remote'], { text: 'Done.' })).id);
    expect(remote.lists - before).toBe(1);
  });

  it('are left at once by a task that is cancelled amid a call', async () => {
    remote.answer = () => ({ hang: true });
    const { id } = await make(['remote'], call('mcp__remote__one', {}));
    await until('the call', () => remote.open === 1);
    await ann.client.post(`/v1/tasks/${id}/cancel`);
    await until('its end', () => remote.open === 0);
    expect((await finished(ann.client, id)).status).toBe('cancelled');
    remote.answer = null;
  });

  it('as programs cannot change themselves, and have no network', async () => {
    const calls = remote.calls.length;
    const { id } = await make(['docs'], call('mcp__docs__get_walls', { url: remote.url }));
    await finished(ann.client, id);
    const [result] = await readResults(ann.client, id);
    const walls = JSON.parse((result?.output as { text: string }).text) as Record<string, string>;
    expect(walls['written']).toBe('EROFS');
    expect(walls['called']).not.toBe('done');
    expect(readdirSync(PROGRAMS)).not.toContain('x');
    expect(remote.calls).toHaveLength(calls);
  });

  it('are heard while they work', async () => {
    const { id } = await make(['docs'], { firstByteMs: 1_000, ...call('mcp__docs__progress', {}) });
    const path = `/v1/tasks/${id}/events?after=latest&deltas=true&until=final`;
    const stream = await open(service.url + path, ann.key.secret);
    await finished(ann.client, id);
    await until('the end of the stream', () => stream.types.includes('task.completed'));
    expect(stream.types).toContain('tool.progress');
    const heard = stream.frames.map(({ data }) => data).find(({ type }) => type === 'tool.progress');
    expect(heard).toMatchObject({ stream: 'stdout', delta: 'half way\n' });
  });

  it('are named by --mcp of the command, and listed by the SDK', async () => {
    const env = { PATH: process.env['PATH'], MILLWRIGHT_URL: service.url, MILLWRIGHT_API_KEY: ann.key.secret };
    const args = [MW, 'run', 'Go on.', '--detach', '--json', '--mcp', 'remote', '--mcp', 'docs'];
    const command = new Command(spawn(process.execPath, args, { env }));
    command.child.stdin?.end();
    expect(await command.code()).toBe(0);
    const { mcpServers } = JSON.parse(command.out) as TaskBody & { mcpServers: string[] };
    expect(mcpServers).toEqual(['remote', 'docs']);
    const sdk = new Millwright({ apiKey: ann.key.secret, baseUrl: service.url });
    const listed = await sdk.mcpServers.list();
    expect(listed.map(({ name, status }) => [name, status])).toEqual([
      ['docs', 'ready'],
      ['remote', 'ready'],
    ]);
  });
});
