import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { bootWorker } from '../harness/app.js';
import { makeMember } from '../harness/client.js';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { ModelServer } from '../harness/model-server.js';
import { relayTo } from '../harness/proxy.js';
import { ServiceProcess, temporaryFolder } from '../harness/service.js';
import { createTask, reaches, script } from '../harness/tasks.js';
import { until } from '../harness/until.js';

describe('Connections that are cut without a word', () => {
  const folder = temporaryFolder();
  let db: TestDatabase;
  beforeAll(async () => {
    db = await createDatabase();
  });
  afterAll(async () => {
    await db.drop();
    folder.remove();
  });

  it('stop neither the leases nor the reconciler of a worker', async () => {
    const model = await ModelServer.start();
    const relay = await relayTo(db.url);
    const service = await bootWorker({
      db,
      env: { DATABASE_URL: relay.url, LEASE_SECONDS: '3', OPENAI_COMPATIBLE_URL: model.url },
    });
    const { client } = await makeMember(service);
    const { id } = await createTask(client, { content: script({ text: 'Went on.', firstByteMs: 5000 }) });
    await reaches(client, id, 'running');
    relay.swallow();
    // The answer comes after the lease would have run out.
    // Read from the database itself: the service's own reads hang until their limit.
    const state = async () =>
      (await db.query<{ status: string }>('SELECT status FROM tasks WHERE id = $1', [id]))[0]?.status;
    // Chores of the boot may have left further connections in the pool of its writes: one that is cut is given up after 35 s.
    await until('the task to be completed', async () => (await state()) === 'completed', { within: 150_000 });
    await service.close();
    await relay.close();
    await model.stop();
  });

  it('a client that stops reading does not keep a service from ending', async () => {
    const service = await ServiceProcess.start({
      DATA_DIR: folder.path,
      DATABASE_URL: db.url,
      SECRET_KEY: 'k'.repeat(40),
      SANDBOX: 'none',
    });
    // Half a request: the server waits for the rest of its body.
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    socket.on('error', () => undefined);
    await new Promise((resolve) => socket.once('connect', resolve));
    socket.write('POST /v1/tasks HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{');
    expect(await service.end('SIGTERM')).toBe(0);
    socket.destroy();
  });

  // A kernel that keeps fewer has been told to.
  const kept = Number(readFileSync('/proc/sys/net/core/somaxconn', 'utf8'));
  (kept > 1500 ? it : it.skip)(
    '1,500 clients that come while the process stands still are all connected',
    async () => {
      const service = await ServiceProcess.start({
        DATA_DIR: folder.path,
        DATABASE_URL: db.url,
        SECRET_KEY: 'k'.repeat(40),
        SANDBOX: 'none',
      });
      service.child.kill('SIGSTOP');
      let connected = 0;
      const { port } = new URL(service.url);
      const sockets = Array.from({ length: 1500 }, () => connect(Number(port), '127.0.0.1', () => connected++));
      sockets.forEach((socket) => socket.on('error', () => undefined));
      try {
        await until('all of them to be connected', () => connected === sockets.length, { within: 150_000 });
      } finally {
        sockets.forEach((socket) => socket.destroy());
        service.child.kill('SIGCONT');
        await service.end();
      }
    },
    60_000,
  );
});
