import { fileURLToPath } from 'node:url';
import { bootWorker, useService } from '../harness/app.js';
import { makeMember } from '../harness/client.js';
import { createTask, finished } from '../harness/tasks.js';

const PACKAGES = fileURLToPath(new URL('../../node_modules', import.meta.url));
const server = (name: string, ...args: string[]) => ({
  command: 'node',
  args: [`/opt/programs/node_modules/@modelcontextprotocol/server-${name}/dist/index.js`, ...args],
});
const tool = (name: string, input: object) => `\`\`\`tool name=${name}\n${JSON.stringify(input)}\n\`\`\``;

describe('The servers that the protocol brings (reference §28)', () => {
  const service = useService(() =>
    bootWorker({
      config: {
        sandbox: { programs: [PACKAGES] },
        mcpServers: {
          everything: { ...server('everything', 'stdio'), required: true },
          files: { ...server('filesystem', '/workdir'), required: true },
          memory: { ...server('memory'), env: { MEMORY_FILE_PATH: '/workdir/memory.json' }, required: true },
        },
      },
    }),
  );

  it('work in the sandbox of a task', async () => {
    const { client } = await makeMember(service);
    const entity = { name: 'mill', entityType: 'building', observations: ['It has a wheel.'] };
    const content = [
      tool('mcp__everything__echo', { message: 'hello' }),
      tool('mcp__files__write_file', { path: '/workdir/a.txt', content: 'written by a server' }),
      '```sh\ngrep -q "by a server" a.txt\n```',
      tool('mcp__memory__create_entities', { entities: [entity] }),
      tool('mcp__memory__search_nodes', { query: 'wheel' }),
    ].join('\n\n');
    const mcpServers = ['everything', 'files', 'memory'];
    const send = async () => finished(client, (await createTask(client, { content, model: 'runbook', mcpServers })).id);
    let task = await send();
    // Three programs of Node begin at once, and each has 10 s to answer: a busy machine may need another turn.
    for (let again = 0; again < 3 && task.statusReason?.code === 'mcp_unavailable'; again++) task = await send();
    expect(task).toMatchObject({ status: 'completed', statusReason: null, usage: { toolCalls: 5 } });
    expect(task.result?.text).toContain('It has a wheel.');
  });
});
