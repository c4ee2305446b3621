import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { answerMcp, type DoorTools } from '../../../src/engine/engines/door-mcp.js';

/** The MCP server of the door on a port of its own, without a door. */
export async function serveMcp(tools: DoorTools): Promise<{ url: URL; asked: unknown[]; stop: () => Promise<void> }> {
  const asked: unknown[] = [];
  const server = createServer((request, response) => {
    const answer = async () => {
      const leaving = new AbortController();
      response.once('close', () => leaving.abort(new Error('The client has left.')));
      if (request.method !== 'POST') return void response.writeHead(405, { allow: 'POST' }).end();
      const body = await json(request);
      asked.push(body);
      const revision = request.headers['mcp-protocol-version'] as string | undefined;
      const { status, body: said } = await answerMcp(tools, { body, revision }, leaving.signal);
      response.writeHead(status, said === null ? {} : { 'content-type': 'application/json' });
      response.end(said === null ? undefined : JSON.stringify(said));
    };
    answer().catch(() => response.destroy());
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  const stop = async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  };
  return { url: new URL(`http://127.0.0.1:${port}/mcp`), asked, stop };
}
