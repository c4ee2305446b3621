// While something of one workspace is locked, its requests stand still; those of other workspaces must not.
import { connect, type Socket } from 'node:net';
import { bootApp, useService } from '../harness/app.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { type Holder, holding, waiting } from '../harness/locks.js';
import { postKey } from '../harness/keys.js';
import { createProject } from '../harness/projects.js';
import { until } from '../harness/until.js';
import { slowIt } from '../harness/slow.js';

/** More than all connections of requests. */
const MANY = 30;
const WRITES = 5;
const READS = 10;

describe('Requests of one workspace take turns in a process (docs/operating.md, Walls)', () => {
  let greedy: Member;
  let other: Member;
  let project: { id: string };
  let holder: Holder | undefined;

  const service = useService(() => bootApp());
  beforeAll(async () => {
    [greedy, other] = [await makeMember(service), await makeMember(service)];
    project = await createProject(greedy, { name: 'Locked' });
  });
  afterEach(async () => {
    await holder?.release();
    holder = undefined;
  });

  const path = () => `/v1/projects/${project.id}`;
  const lock = async () => {
    holder = await holding(service.db, 'SELECT 1 FROM projects WHERE id = $1 FOR UPDATE', [project.id]);
  };
  const release = async () => {
    await holder?.release();
    holder = undefined;
  };
  const rename = (n: number) => greedy.client.patch(path(), { name: `Name ${n}` });
  const many = <T>(make: (n: number) => T): T[] => Array.from({ length: MANY }, (_, n) => make(n));
  const stand = (count: number) =>
    until(`${count} to stand still`, async () => (await waiting(service.db)).length === count);

  it('five writes are under way; another workspace writes meanwhile, and the rest comes when they are over', async () => {
    await lock();
    const renamed = many(rename);
    await stand(WRITES);
    expect(await createProject(other, { name: 'Free' })).toMatchObject({ name: 'Free' });
    expect(await waiting(service.db)).toHaveLength(WRITES);
    await release();
    expect((await Promise.all(renamed)).map(({ status }) => status)).toEqual(many(() => 200));
  });

  it('its own reads do not wait for its writes', async () => {
    await lock();
    const renamed = many(rename);
    await stand(WRITES);
    expect((await greedy.client.get(path())).status).toBe(200);
    await release();
    await Promise.all(renamed);
  });

  it('a client that closes gives no turn back before its request is over, and one that waits is not served', async () => {
    await service.db.query(`CREATE TABLE written (name text);
      CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO written VALUES (NEW.name); RETURN NEW; END';
      CREATE TRIGGER note AFTER UPDATE ON projects FOR EACH ROW EXECUTE FUNCTION note()`);
    await lock();
    const arrived: Socket[] = [];
    const note = (socket: Socket) => arrived.push(socket);
    const server = service.app.getHttpServer().on('connection', note);
    const sockets = many((n) => begun(n));
    await until('all of them to have arrived', () => arrived.length >= MANY);
    server.off('connection', note);
    await stand(WRITES);
    sockets.forEach((socket) => socket.destroy());
    await until('the service to have seen them go', () => arrived.every(({ destroyed }) => destroyed));
    const last = rename(1000);
    await createProject(other, { name: 'Free' });
    expect(await waiting(service.db)).toHaveLength(WRITES);
    await release();
    expect((await last).status).toBe(200);
    const names = await service.db.query<{ name: string }>('SELECT name FROM written');
    const begunNames = names.filter(({ name }) => name.startsWith('Begun'));
    // Those that were under way, unless the lock outlasted them, and the last one.
    expect(begunNames.length).toBeLessThanOrEqual(WRITES);
    // PostgreSQL does not give a row in the order of those who wait for it.
    expect(names).toContainEqual({ name: 'Name 1000' });
  });

  slowIt('one whose turn does not come in ten seconds is 503, and tells when to come again', async () => {
    await lock();
    const answers = await Promise.all(many((n) => greedy.client.patch<ErrorBody>(path(), { name: `Name ${n}` })));
    const last = answers.filter(({ body }) => body.error.message.includes('of this workspace'));
    expect(last.length).toBeGreaterThan(0);
    for (const { status, body, headers } of last)
      expect([status, body.error.code, headers.get('retry-after')]).toEqual([503, 'unavailable', '1']);
    await release();
    expect((await rename(1)).status).toBe(200);
  });

  it('reads that stand still leave connections to the reads of others', async () => {
    holder = await holding(service.db, 'LOCK TABLE automations IN ACCESS EXCLUSIVE MODE');
    const lists: Promise<{ status: number }>[] = [];
    // One after the other: statements of one moment would travel on one connection.
    for (let n = 0; n < MANY; n++) {
      lists.push(greedy.client.get('/v1/automations'));
      await until('it to stand still', async () => (await waiting(service.db)).length >= Math.min(n + 1, READS));
      expect((await other.client.get('/v1/projects')).status).toBe(200);
    }
    expect(await waiting(service.db)).toHaveLength(READS);
    await release();
    expect((await Promise.all(lists)).map(({ status }) => status)).toEqual(many(() => 200));
  });

  it('changes of one’s own keys are writes, though no scope says so', async () => {
    holder = await holding(service.db, 'SELECT 1 FROM memberships WHERE user_id = $1 FOR NO KEY UPDATE', [greedy.user.id]);
    const made = many(() => postKey(greedy.client));
    await stand(WRITES);
    expect((await greedy.client.get(path())).status).toBe(200);
    await release();
    expect((await Promise.all(made)).map(({ status }) => status)).toEqual(many(() => 201));
  }); // prettier-ignore

  /** A request that is sent, and whose answer nobody reads. */
  function begun(n: number): Socket {
    const { hostname, port, host } = new URL(service.url);
    const body = JSON.stringify({ name: `Begun ${n}` });
    const lines = [
      `PATCH ${path()} HTTP/1.1`,
      `Host: ${host}`,
      `Authorization: Bearer ${greedy.key.secret}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
    ];
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined).write(`${lines.join('\r\n')}\r\n\r\n${body}`);
    return socket;
  }
});
