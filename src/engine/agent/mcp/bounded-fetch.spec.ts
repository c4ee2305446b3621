import { createServer } from 'node:http';
import { listening, stopServer } from '../../../../test/harness/mcp/listen.js';
import { boundedFetch, hiding } from './bounded-fetch.js';

const SENT = { Authorization: 'Bearer token-of-"the"-operator', 'X-Key': 'key-of-the-operator', 'X-Way': 'short' };

const answered = async (type: string, ...chunks: string[]) => {
  const server = createServer((_, res) => {
    res.writeHead(200, { 'content-type': type });
    const next = () => {
      const chunk = chunks.shift();
      if (chunk === undefined) res.end();
      else res.write(chunk, () => setImmediate(next));
    };
    next();
  });
  const url = await listening(server);
  try {
    return await (await boundedFetch(url, {}, hiding(SENT))).text();
  } finally {
    await stopServer(server);
  }
};
const NULLS = '{"jsonrpc":"2.0","id":1,"error":null,"result":{"a":null}}';
const CLEAN = '{"jsonrpc":"2.0","id":1,"result":{"a":null}}';

describe('An answer of a server by HTTP (reference §28)', () => {
  it('has no null in its frame', async () => {
    expect(await answered('application/json; charset=utf-8', NULLS)).toBe(CLEAN);
    expect(await answered('application/json', `[${NULLS},${NULLS}]`)).toBe(`[${CLEAN},${CLEAN}]`);
    expect(await answered('application/json', '{"result": null')).toBe('{"result": null');
    const deep = `{"error":null,"result":${'['.repeat(50_000)}${']'.repeat(50_000)}}`;
    expect(await answered('application/json', deep)).toBe(deep);
  });

  it('has none in its events either, however they are sent', async () => {
    const type = 'text/event-stream';
    expect(await answered(type, `id: 7\nda`, `ta: ${NULLS.slice(0, 30)}`, `${NULLS.slice(30)}\n`, '\n')).toBe(
      `data: ${CLEAN}\nid: 7\n\n`,
    );
    expect(await answered(type, `data: ${NULLS}\r\n\r\n`)).toContain(`data: ${CLEAN}\n`);
    expect(await answered(type, 'data: {"error":\ndata: null}\n\n')).toBe('data: {}\n\n');
    const others = ': comment\n\nevent: message\nid: 1\ndata: {"a":1}\r\n\r\ndata:\n\ndata: unended';
    expect(await answered(type, others)).toBe(others);
  });

  it('has no value of a header that the server was sent, however it says it back', async () => {
    const said = { text: `short: ${Object.values(SENT).join(', ')}, and in part: the-operator` };
    const hidden = { text: 'short: Bearer [hidden], [hidden], short, and in part: the-operator' };
    expect(JSON.parse(await answered('application/json', JSON.stringify(said)))).toEqual(hidden);
    const event = `data: ${JSON.stringify(said)}\n\n`;
    const told = await answered('text/event-stream', event.slice(0, 40), event.slice(40));
    expect(told).toBe(`data: ${JSON.stringify(hidden)}\n\n`);
  });

  it('has 16 MiB at most', async () => {
    const large = Array.from({ length: 17 }, () => 'x'.repeat(1024 ** 2));
    await expect(answered('application/json', ...large)).rejects.toThrow('more than 16 MiB');
    await expect(answered('text/event-stream', 'data: ', ...large)).rejects.toThrow('more than 16 MiB');
    await expect(answered('text/plain', ...large)).rejects.toThrow('more than 16 MiB');
  });
});
