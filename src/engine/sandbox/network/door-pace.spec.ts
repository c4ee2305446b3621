import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { temporaryFolder } from '../../../../test/harness/service.js';
import { Door } from './door.mjs';
import { openDoor } from './door-socket.js';

describe('The door of a sandbox (reference §30)', () => {
  it('hands on 200 requests a second of one task at the most', async () => {
    const folder = temporaryFolder();
    const [path, inside] = [join(folder.path, 'door'), join(folder.path, 'inside')];
    let asked = 0;
    const service = createServer((_, response) => {
      asked += 1;
      response.end();
    });
    const ours = await openDoor(path, path, (connection) => void service.emit('connection', connection));
    const door = new Door(path);
    const proxy = createServer((from, to) => void door.hand(from, to));
    await once(proxy.listen(inside), 'listening');
    const agent = new Agent({ keepAlive: true, maxSockets: 20 });
    const ask = async () => {
      const [said] = (await once(request({ socketPath: inside, agent }).end(), 'response')) as [IncomingMessage];
      await text(said);
    };
    const began = performance.now();
    await Promise.all(Array.from({ length: 200 }, ask));
    expect(asked).toBe(200);
    expect(performance.now() - began).toBeGreaterThan(199 * 5);
    agent.destroy();
    proxy.close();
    ours.close();
    folder.remove();
  });
});
