import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { secretCheck } from '../../src/operator/doctor/secret.check.js';
import type { ValuesUnderKey } from '../../src/operator/secret-key/sealed-values.js';
import { LOCKS } from '../../src/platform/database/locks.js';
import { bootApp, bootWorker, type TestApp } from '../harness/app.js';
import { Browser, loggedIn, works } from '../harness/browser.js';
import { Client, makeMember, type Member } from '../harness/client.js';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { findings, line } from '../harness/doctor.js';
import { connect, deliver, github } from '../harness/hooks.js';
import { postKey, works as keyWorks } from '../harness/keys.js';
import { holding } from '../harness/locks.js';
import { emptyDatabase } from '../harness/new-database.js';
import { readNotices, setNotices, subscribe } from '../harness/notices.js';
import { Operator } from '../harness/operator.js';
import { PushService, receives, type TestBrowser } from '../harness/push-service.js';
import { temporaryFolder } from '../harness/service.js';
import { createTask } from '../harness/tasks.js';
import { until } from '../harness/until.js';
import { createWebhook, HERE, isSignedWith, Receiver } from '../harness/webhooks.js';

const FIRST = 'the first secret of the tests, at least 32 bytes';
const SECOND = 'the second secret of the tests, at least 32 bytes';
const THIRD = 'the third secret of the tests, at least 32 bytes';
/** Values that the tests make: of connections, repository connections, webhooks, the hook of notices and a browser, and the key that signs proofs. */
const VALUES = 6;

type Secrets = Record<'SECRET_KEY', string> & Partial<Record<'SECRET_KEY_PREVIOUS', string>>;
const [BEFORE, SWAPPED, BOTH, AFTER]: Secrets[] = [
  { SECRET_KEY: FIRST },
  { SECRET_KEY: FIRST, SECRET_KEY_PREVIOUS: SECOND },
  { SECRET_KEY: SECOND, SECRET_KEY_PREVIOUS: FIRST },
  { SECRET_KEY: SECOND },
] as const;

// In this order: each test goes on where the one before has ended.
describe('A new SECRET_KEY (reference §16)', () => {
  const room = temporaryFolder();
  const DATA_DIR = join(room.path, 'data');
  let db: TestDatabase;
  let receiver: Receiver;
  let push: PushService;
  let owner: Member;
  let session: Browser;
  let browser: TestBrowser;
  let hook: { path: string; secret: string };
  let signedWith: string;
  let cursor: string;
  let publicKey: string;
  let processes: TestApp[] = [];

  const boot = (secrets: Secrets) => bootWorker({ db, env: { ...HERE, DATA_DIR, ...secrets } });
  const operator = (secrets: Secrets) => new Operator({ db }, { DATA_DIR, ...secrets });
  const status = async (secrets: Secrets) => {
    return (await operator(secrets).json<{ values: ValuesUnderKey[] }>('secret-key', 'status')).values;
  };
  const sumOf = async (secrets: Secrets, secret: ValuesUnderKey['secret']) => {
    return (await status(secrets)).reduce((sum, one) => sum + (one.secret === secret ? one.values : 0), 0);
  };
  const rotate = (secrets: Secrets) => operator(secrets).json<{ rotate: object }>('secret-key', 'rotate');
  const mark = async () => (await db.query<{ secret_mark: string }>('SELECT secret_mark FROM installation'))[0];
  const acts = () => db.query(`SELECT target_type FROM audit_log WHERE action = 'secret-key.rotate'`);
  const waitsForLock = async () => {
    const found = await db.query(`
      SELECT 1 FROM pg_locks l JOIN pg_database d ON d.oid = l.database
      WHERE d.datname = current_database() AND l.locktype = 'advisory' AND l.objid = ${LOCKS.secretKey} AND NOT l.granted`);
    return found.length === 1;
  };
  const look = async (secrets: Secrets) => line(await findings([secretCheck], { env: { DATABASE_URL: db.url, DATA_DIR, ...secrets } }), 'secret'); // prettier-ignore
  const close = async () => {
    for (const one of processes.splice(0)) await one.close();
  };

  /** That all which was made under the first secret is as it was. */
  async function goesOn(service: TestApp): Promise<void> {
    const client = new Client(service.url, owner.key.secret);
    expect(await keyWorks(client)).toBe(200);
    expect(await works(Object.assign(new Browser(service.url), { cookie: session.cookie }))).toBe(true);
    expect((await client.get(`/v1/tasks?limit=1&cursor=${cursor}`)).status).toBe(200);
    expect((await deliver(service, hook.path, github(hook.secret))).status).toBe(200);
    const notices = await readNotices(client);
    expect([notices.hookUrl, notices.push.publicKey]).toEqual([receiver.url('/notices'), publicKey]);
    const got = { webhook: receiver.at('/webhook').length, hook: receiver.at('/notices').length };
    const pushed = browser.received.length;
    for (const channel of ['hook', 'push']) await client.post('/v1/notices/test', { channel });
    await createTask(client, { content: 'x' });
    const sent = (await receiver.gets('/webhook', got.webhook + 1)).at(-1);
    expect(sent !== undefined && isSignedWith(signedWith, sent)).toBe(true);
    await receiver.gets('/notices', got.hook + 1);
    await receives(browser, pushed + 1);
  }

  beforeAll(async () => {
    [db, receiver, push] = [await createDatabase(), await Receiver.listen(), await PushService.listen()];
    const service = await boot(BEFORE);
    processes = [service];
    owner = await makeMember(service, { role: 'owner' });
    const { client } = owner;
    session = await loggedIn(service, owner);
    hook = await connect(service, owner);
    ({ secret: signedWith } = await createWebhook(client, { url: receiver.url('/webhook'), types: ['task.created'] }));
    const made = await client.post('/v1/repository-connections', { host: 'github.com', token: 'canary-token' });
    expect(made.status).toBe(201);
    await setNotices(client, { finished: ['hook', 'push'], hookUrl: receiver.url('/notices') });
    ({ publicKey } = (await readNotices(client)).push);
    await subscribe(client, (browser = push.browser(publicKey)));
    for (let n = 0; n < 2; n += 1) await createTask(client, { content: 'x' });
    cursor = String((await client.get('/v1/tasks?limit=1')).body['nextCursor']);
    await goesOn(service);
  });
  afterAll(async () => {
    await close();
    await receiver.close();
    await push.close();
    await db.drop();
    room.remove();
  });

  it('is none yet: nothing names a key, and rotate says what it needs', async () => {
    expect((await status(BEFORE)).map(({ secret, values }) => [secret, values])).toEqual(new Array(VALUES).fill(['current', 1])); // prettier-ignore
    await expect(operator(BEFORE).run('secret-key', 'rotate')).rejects.toThrow('SECRET_KEY_PREVIOUS');
    await expect(operator({ SECRET_KEY: SECOND }).run('secret-key', 'rotate')).rejects.toThrow(/^SECRET_KEY: /);
    expect((await look(BEFORE)).status).toBe('ok');
  });

  it('is told to processes one after the other: with either one first, both secrets read what the other has written', async () => {
    await close();
    processes = [await boot(SWAPPED), await boot(BOTH)];
    const [, later] = processes;
    const client = new Client(later?.url ?? '', owner.key.secret);
    await setNotices(client, { finished: ['hook', 'push'], hookUrl: receiver.url('/notices') });
    for (const service of processes) await goesOn(service);
    expect([await sumOf(BOTH, 'previous'), await sumOf(BOTH, 'current')]).toEqual([VALUES - 1, 1]);
    expect(await look(BOTH)).toMatchObject({ status: 'warn', detail: expect.stringContaining('5 of 6 secrets') });
  });

  it('doctor tells who has the former one alone what is missing; its backup, and an adoption, are refused', async () => {
    expect(await look(BEFORE)).toMatchObject({
      status: 'fail',
      detail: expect.stringMatching(/^1 secret in notice_settings\.hook_url can be read neither/),
      advice: expect.stringContaining('SECRET_KEY_PREVIOUS'),
    });
    await expect(operator(BEFORE).run('backup', join(room.path, 'refused'))).rejects.toThrow('SECRET_KEY is being changed'); // prettier-ignore
    await expect(operator(BOTH).run('adopt', '--secret')).rejects.toThrow(`call 'secret-key rotate'`);
  });

  it('kill -9 of rotate leaves what is done done: all goes on, and a backup of that moment needs both', async () => {
    const former = await mark();
    const held = await holding(db, 'SELECT 1 FROM push_subscriptions FOR UPDATE');
    const { child, result } = operator(BOTH).start('secret-key', 'rotate');
    try {
      await until('all but one to be under the new key', async () => (await sumOf(BOTH, 'previous')) === 1, { within: 150_000 }); // prettier-ignore
    } finally {
      child.kill('SIGKILL');
      await result;
    }
    await held.release();
    expect([await sumOf(BOTH, 'current'), await mark(), await acts()]).toEqual([VALUES - 1, former, []]);
    for (const service of processes) await goesOn(service);

    const backup = join(room.path, 'backup');
    const rotation = await holding(db, `SELECT pg_advisory_xact_lock(${LOCKS.secretKey})`);
    const backingUp = operator(BOTH).run('backup', backup);
    await until('it to wait', waitsForLock).finally(() => rotation.release());
    await backingUp;
    const copy = await emptyDatabase();
    try {
      const there = join(room.path, 'copy');
      const restore = (secrets: Secrets) => new Operator({ db: copy }, { DATA_DIR: there, ...secrets }).run('restore', backup); // prettier-ignore
      await expect(restore(AFTER)).rejects.toThrow('set SECRET_KEY_PREVIOUS');
      await expect(restore({ ...AFTER, SECRET_KEY_PREVIOUS: THIRD })).rejects.toThrow('set SECRET_KEY_PREVIOUS');
      await restore(BOTH);
      const { rotate: done } = await new Operator({ db: copy }, { DATA_DIR: there, ...BOTH }).json<{ rotate: object }>('secret-key', 'rotate'); // prettier-ignore
      expect(done).toEqual({ rotated: true, sealed: 1, unreadable: 0 });
      const restored = await bootApp({ db: copy, env: { DATA_DIR: there, ...AFTER } });
      expect(await keyWorks(new Client(restored.url, owner.key.secret))).toBe(200);
      await restored.close();
    } finally {
      await copy.drop();
    }
  });

  it('rotate goes on where it was killed, while processes run, and is one act of the log', async () => {
    // As a backup that is under way: its secret must not change meanwhile.
    const held = await holding(db, `SELECT pg_advisory_xact_lock_shared(${LOCKS.secretKey})`);
    const rotating = rotate(BOTH);
    await until('it to wait', waitsForLock).finally(() => held.release());
    expect((await rotating).rotate).toEqual({ rotated: true, sealed: 1, unreadable: 0 });
    expect((await acts()).length).toBe(1);
    for (const service of processes) await goesOn(service);
    // Called again it finds nothing to do, but for what a process with the two in the former order has written since.
    await setNotices(new Client(processes[0]?.url ?? '', owner.key.secret), { finished: ['hook', 'push'], hookUrl: receiver.url('/notices') }); // prettier-ignore
    expect((await rotate(BOTH)).rotate).toEqual({ rotated: false, sealed: 1, unreadable: 0 });
    expect((await rotate(BOTH)).rotate).toEqual({ rotated: false, sealed: 0, unreadable: 0 });
    expect((await acts()).length).toBe(1);
  });

  it('doctor says when nothing needs the former one any more', async () => {
    expect(await look(BOTH)).toMatchObject({ status: 'warn', detail: expect.stringContaining('nothing needs the former one'), advice: expect.stringContaining('Remove SECRET_KEY_PREVIOUS') }); // prettier-ignore
    expect(await look(AFTER)).toMatchObject({ status: 'ok', advice: null });
    expect(await look(BEFORE)).toMatchObject({ status: 'fail', detail: expect.stringContaining('not the one of this database') }); // prettier-ignore
  });

  it('with the new one alone everything is read, and each key, log-in and cursor is valid; with the former one alone nothing starts', async () => {
    await close();
    const service = await boot(AFTER);
    processes = [service];
    await goesOn(service);
    const values = await status(AFTER);
    expect(new Set(values.map(({ secret }) => secret))).toEqual(new Set(['current']));
    await expect(boot(BEFORE)).rejects.toThrow(/^SECRET_KEY: the secret of the installation .* SECRET_KEY_PREVIOUS/);
    await expect(operator(BEFORE).run('workspace', 'list')).rejects.toThrow(/^SECRET_KEY: /);
  });

  it('keys that were made since are valid after the next change, too', async () => {
    const { secret } = (await postKey(new Client(processes[0]?.url ?? '', owner.key.secret))).body;
    await close();
    const next = { SECRET_KEY: THIRD, SECRET_KEY_PREVIOUS: SECOND };
    expect((await rotate(next)).rotate).toMatchObject({ rotated: true, unreadable: 0 });
    const service = await boot({ SECRET_KEY: THIRD });
    processes = [service];
    await goesOn(service);
    expect(await keyWorks(new Client(service.url, secret))).toBe(200);
    for (const one of [FIRST, SECOND]) await expect(boot({ SECRET_KEY: one })).rejects.toThrow(/^SECRET_KEY: /);
  });

  it('what neither secret opens stays as it is, is counted, and stands in nobody’s way', async () => {
    await db.query(`UPDATE repository_connections SET secret = '\\x00'`);
    const next = { SECRET_KEY: FIRST, SECRET_KEY_PREVIOUS: THIRD };
    expect((await rotate(next)).rotate).toMatchObject({ rotated: true, unreadable: 1 });
    expect(await sumOf({ SECRET_KEY: FIRST }, 'unknown')).toBe(1);
    const words = await operator(next).run('secret-key', 'rotate');
    expect(words).toContain('1 values open under neither secret');
    for (const one of [FIRST, SECOND, THIRD]) expect(words).not.toContain(one);
    expect(readFileSync(join(room.path, 'backup', 'manifest.json'), 'utf8')).not.toContain(FIRST);
  });

  it('needs a database with marks', async () => {
    const fresh = await createDatabase();
    const rotating = new Operator({ db: fresh }, { DATA_DIR: join(room.path, 'none'), ...BOTH }).run('secret-key', 'rotate'); // prettier-ignore
    await expect(rotating)
      .rejects.toThrow('has no marks yet')
      .finally(() => fresh.drop());
  });
});
