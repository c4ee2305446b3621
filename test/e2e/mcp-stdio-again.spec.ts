// What `mw mcp` sends again, by the rules of reference §19.
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { Command } from '../harness/command.js';

const MW = fileURLToPath(new URL('../../packages/cli/bin.js', import.meta.url));

interface Sent {
  id: number;
  method: string;
  params: object;
}
/** The first answer to each message; null: the connection is lost. All later ones are good. */
type First = { status: number; retryable: boolean; headers?: Record<string, string> } | null;

/** How often each message arrived, and how its answer was given on: true for a result. */
async function sent(first: First, messages: Omit<Sent, 'id'>[]): Promise<[times: number, ok: boolean][]> {
  const seen = new Map<number, number>();
  const server = createServer((req, res) => {
    let text = '';
    req.on('data', (chunk) => (text += String(chunk)));
    req.on('end', () => {
      const { id } = JSON.parse(text) as Sent;
      seen.set(id, (seen.get(id) ?? 0) + 1);
      res.setHeader('content-type', 'application/json');
      if (seen.get(id) !== 1) return void res.end(JSON.stringify({ jsonrpc: '2.0', id, result: {} }));
      if (first === null) return void req.socket.destroy();
      const { status, retryable, headers = {} } = first;
      const error = { type: 'internal_error', message: 'Not now.', requestId: 'r', code: 'unavailable', param: null, retryable }; // prettier-ignore
      res.writeHead(status, headers).end(JSON.stringify({ error }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: '/nonexistent',
    MILLWRIGHT_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    MILLWRIGHT_API_KEY: 'a-key',
  };
  const command = new Command(spawn(process.execPath, [MW, 'mcp'], { env }));
  try {
    const lines = messages.map((one, id) => JSON.stringify({ jsonrpc: '2.0', id, ...one }));
    command.child.stdin?.end(lines.map((line) => `${line}\n`).join(''));
    expect(await command.code()).toBe(0);
  } finally {
    command.child.kill('SIGKILL');
    server.close();
  }
  const said = command.out.split('\n').filter(Boolean).map((line) => JSON.parse(line) as { id: number; error?: object }); // prettier-ignore
  return messages.map((_one, id) => [seen.get(id) ?? 0, said.find((one) => one.id === id)?.error === undefined]);
}

const call = (name: string, args: object = {}) => ({ method: 'tools/call', params: { name, arguments: args } });
const READS = [
  call('list_models'),
  call('read_file', { fileId: 'x' }),
  call('cancel_task', { taskId: 'x' }),
  call('send_message', { taskId: 'x', content: 'x', idempotencyKey: 'k' }),
  { method: 'tools/list', params: {} },
  { method: 'resources/read', params: { uri: 'millwright://files/x' } },
  { method: 'tasks/get', params: { taskId: 'x.1' } },
  { method: 'tasks/cancel', params: { taskId: 'x.1' } },
];
const ONCE = [
  call('create_task', { content: 'x' }),
  call('run_automation', { automationId: 'x' }),
  call('upload_file', { name: 'a', text: 'a' }),
  call('answer_task', { taskId: 'x', interactionId: 'y', content: 'z' }),
  { method: 'tasks/update', params: { taskId: 'x.1', inputResponses: {} } },
];
const times = (n: number, ok: boolean, of: object[]) => of.map(() => [n, ok]);

describe('mw mcp sends again (reference §19, §29)', () => {
  it.each<[string, First]>([
    ['when the connection is lost', null],
    ['after a 500 that passes', { status: 500, retryable: true }],
  ])('%s: what reads, cancels or has a key, and nothing else', async (_when, first) => {
    expect(await sent(first, [...READS, ...ONCE])).toEqual([...times(2, true, READS), ...times(1, false, ONCE)]);
  });

  it.each<[string, First]>([
    ['429', { status: 429, retryable: true, headers: { 'retry-after': '1' } }],
    ['503', { status: 503, retryable: true, headers: { 'retry-after': '1' } }],
  ])('after %s everything, because nothing was done, and not before the time that it says', async (_when, first) => {
    const began = performance.now();
    const all = [...READS, ...ONCE];
    expect(await sent(first, all)).toEqual(times(2, true, all));
    expect(performance.now() - began).toBeGreaterThanOrEqual(1000);
  });

  it.each<[string, First]>([
    ['a 503 that does not pass', { status: 503, retryable: false }],
    ['a 500 that does not pass', { status: 500, retryable: false }],
    ['a 401', { status: 401, retryable: false }],
    ['a 400', { status: 400, retryable: false }],
  ])('after %s nothing', async (_when, first) => {
    const all = [...READS, ...ONCE];
    expect(await sent(first, all)).toEqual(times(1, false, all));
  });
});
