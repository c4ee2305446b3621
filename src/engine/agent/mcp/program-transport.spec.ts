import { fileURLToPath } from 'node:url';
import { FolderSandbox } from '../../../../test/harness/folder-sandbox.js';
import { until } from '../../../../test/harness/until.js';
import { McpConnection } from './connection.js';
import type { ListedTool } from './input-mcp.js';

const PROGRAM = fileURLToPath(new URL('../../../../test/harness/mcp/hostile.mjs', import.meta.url));
const tool: ListedTool = { name: 'sound', description: '', inputSchema: {} };

describe('A program that speaks without an end (reference §28)', () => {
  const sandbox = new FolderSandbox();
  const signal = new AbortController().signal;
  afterAll(() => sandbox.remove());

  async function called(args: string[], input: Record<string, unknown> = {}) {
    const told: string[] = [];
    const session = sandbox.open({ taskId: '', signal });
    const connection = new McpConnection(
      {
        ...{ name: 'docs', kind: 'program', command: process.execPath, args: [PROGRAM, ...args], env: {} },
        ...{ network: false, memoryBytes: 512 * 1024 ** 2, description: '', tools: ['*'], readOnly: [] },
        ...{ approval: 'task', default: false, required: false, workspaces: undefined, timeoutSeconds: 60 },
      },
      { values: new Map(), sandbox: () => session, report: (text) => told.push(text), changed: () => undefined },
    );
    const options = { signal, seconds: 20, progress: () => undefined };
    try {
      return { answer: await connection.call(tool, input, options), told };
    } catch (error) {
      return { error: (error as Error).message, told };
    } finally {
      await connection.close();
    }
  }

  it.each<[string, string[], string | RegExp]>([
    ['answers with 100 MB', ['huge'], 'It wrote a line of more than 16 MiB, and was ended.'],
    ['asks and reads no answer', ['flood', 'pings'], 'It reads too little of what it is answered, and was ended.'],
    // It reads, and on a busy machine not as fast as it asks.
    [
      'asks without an end',
      ['flood', 'asks'],
      /It (wrote without an end|reads too little of what it is answered), and was ended\./,
    ],
    ['answers what nobody asked', ['flood', 'answers'], 'It wrote without an end, and was ended.'],
    ['says again and again that its list is another', ['flood', 'lists'], 'It wrote without an end, and was ended.'],
  ])('is ended when it %s', async (_, args, words) => {
    const before = process.memoryUsage().rss;
    const { error, told } = await called(args);
    expect(error).toContain('gave no answer');
    await until('its last words', () => told.length > 0);
    expect(told[0]).toMatch(words);
    if (args[0] === 'flood') expect(told[0]).toContain('last words of a flood');
    // A flood has no end: without a bound memory grows until the time is over. What is read and not collected yet was 205 MiB on a busy machine.
    expect(process.memoryUsage().rss - before).toBeLessThan(512 * 1024 ** 2);
  });

  it('is handed arguments of more than a MiB', async () => {
    const { answer } = await called(['sound'], { text: 'x'.repeat(5 * 1024 ** 2) });
    expect(answer?.raw).toEqual({ content: [{ type: 'text', text: 'said' }] });
  });
});
