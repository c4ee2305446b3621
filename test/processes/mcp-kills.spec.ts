import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '../harness/client.js';
import { McpHttpServer } from '../harness/mcp/http-server.js';
import { ModelServer } from '../harness/model-server.js';
import { Operator } from '../harness/operator.js';
import { newMark, processesGone, processesWith } from '../harness/processes.js';
import { ServiceProcess, temporaryFolder } from '../harness/service.js';
import { call, createTask, readResults, readTask, script } from '../harness/tasks.js';
import { until } from '../harness/until.js';

const PROGRAMS = fileURLToPath(new URL('../harness/mcp', import.meta.url));
const SENT = 'This call had been sent and may have been carried out. It was not sent again: find out before you go on.';

describe('A worker that is killed amid calls of MCP servers (reference §28)', () => {
  const folder = temporaryFolder();
  const mark = newMark();
  let [model, remote, service] = [] as unknown as [ModelServer, McpHttpServer, ServiceProcess];
  let secret = '';
  let env: Record<string, string>;
  beforeAll(async () => {
    model = await ModelServer.start();
    const tool = (name: string) => ({ name, inputSchema: { type: 'object' } });
    remote = await McpHttpServer.start([tool('get_page'), tool('create')]);
    const docs = { command: 'node', args: ['/opt/programs/mcp/program.mjs', 'plain', '', mark], timeoutSeconds: 600 };
    const about = { url: remote.url, readOnly: ['get_*'], approval: 'task', timeoutSeconds: 600 };
    const path = join(folder.path, 'millwright.json');
    const config = { titles: false, sandbox: { programs: [PROGRAMS] }, mcpServers: { docs, remote: about } };
    writeFileSync(path, JSON.stringify(config));
    env = { DATA_DIR: folder.path, OPENAI_COMPATIBLE_URL: model.url, CONFIG_FILE: path };
    service = await ServiceProcess.start(env);
    const operator = new Operator({ db: { url: '' } }, { DATA_DIR: folder.path, SECRET_KEY: '' });
    const who = ['--workspace', 'default', '--user', 'owner@localhost'];
    ({ secret } = (await operator.json<{ key: { secret: string } }>('key', 'create', ...who)).key);
  });
  afterAll(async () => {
    await service?.end('SIGKILL');
    await Promise.all([model.stop(), remote.stop()]);
    folder.remove();
  });

  const client = () => new Client(service.url, secret);
  const killed = async (before: () => void = () => undefined) => {
    await service.end('SIGKILL');
    before();
    service = await ServiceProcess.start(env);
  };
  const ended = async (id: string) => {
    await until('the task to end', async () => (await readTask(client(), id)).finishedAt !== null, { within: 90_000 });
    expect((await readTask(client(), id)).status).toBe('completed');
    return readResults(client(), id);
  };

  it('is followed by one that repeats a call that only reads, and never another', async () => {
    remote.answer = () => ({ hang: true });
    const steps = [call('mcp__remote__get_page', {}), call('mcp__remote__create', {}), { text: 'Done.' }];
    const { id } = await createTask(client(), { content: script(...steps), mcpServers: ['remote'] });
    const called = () => remote.calls.map(({ name }) => name);
    await until('the first call', () => called().length === 1, { within: 150_000 });
    await killed(() => (remote.answer = (name) => (name === 'create' ? { hang: true } : null)));
    await until('the second call', () => called().includes('create'), { within: 150_000 });
    await killed(() => (remote.answer = null));
    const results = await ended(id);
    expect(results[0]).toMatchObject({ status: 'success', output: { text: 'called get_page' } });
    expect(results[1]).toMatchObject({ status: 'error', error: SENT });
    expect(called()).toEqual(['get_page', 'get_page', 'create']);
  });

  it('leaves no program behind, and what that was told is told so', async () => {
    const steps = [call('mcp__docs__wait', {}), call('read', { path: 'waits.txt' }), { text: 'Done.' }];
    const { id } = await createTask(client(), { content: script(...steps), mcpServers: ['docs'] });
    const reached = () => processesWith(mark).some((pid) => existsSync(`/proc/${pid}/root/workdir/waits.txt`));
    await until('the call to reach the program', reached, { within: 150_000 });
    await service.end('SIGKILL');
    await processesGone(mark);
    service = await ServiceProcess.start(env);
    const results = await ended(id);
    expect(results[0]).toMatchObject({ status: 'error', error: SENT });
    expect(JSON.stringify(results[1]?.output).match(/wait\b/g)).toHaveLength(1);
  });
});
