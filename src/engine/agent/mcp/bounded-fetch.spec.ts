import { createServer } from 'node:http';
import { listening, stopServer } from '../../../../test/harness/mcp/listen.js';
import { boundedFetch } from './bounded-fetch.js';

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
    return await (await boundedFetch(url)).text();
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

  it('has 16 MiB at most', async () => {
    const large = Array.from({ length: 17 }, () => 'x'.repeat(1024 ** 2));
    await expect(answered('application/json', ...large)).rejects.toThrow('more than 16 MiB');
    await expect(answered('text/event-stream', 'data: ', ...large)).rejects.toThrow('more than 16 MiB');
    await expect(answered('text/plain', ...large)).rejects.toThrow('more than 16 MiB');
  });
});
