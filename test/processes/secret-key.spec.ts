import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EmbeddedPostgres } from '../../src/platform/database/embedded/embedded-postgres.js';
import { Client } from '../harness/client.js';
import { Lines, query } from '../harness/embedded.js';
import { holding } from '../harness/locks.js';
import { works } from '../harness/keys.js';
import { Operator } from '../harness/operator.js';
import { ServiceProcess, temporaryFolder } from '../harness/service.js';
import { until } from '../harness/until.js';
import { askFor, becomes, createWebhook, HERE, isSignedWith, Receiver } from '../harness/webhooks.js';

/** Of the form that says by which key bytes are sealed. */
const NAMED = `encode(substr(secret, 1, 4), 'escape') = 'mws1'`;

// In this order: each test goes on where the one before has ended.
describe('A new secret in place of the generated one (reference §16)', () => {
  const folder = temporaryFolder();
  const env = { DATA_DIR: folder.path, REDIS_URL: '', ...HERE };
  const operator = new Operator({ db: { url: '' } }, { DATA_DIR: folder.path, SECRET_KEY: '' });
  const [current, previous] = ['secret.key', 'secret.key.previous'].map((name) => join(folder.path, name)) as [string, string]; // prettier-ignore
  const read = (path: string) => readFileSync(path, 'utf8');
  let service: ServiceProcess;
  let receiver: Receiver;
  let key: string;
  let first: string;
  const hooks: { id: string; secret: string; path: string }[] = [];

  const client = () => new Client(service.url, key);
  const url = async () => (await EmbeddedPostgres.joinOrStart({ dataDir: folder.path, logger: new Lines() })).url;
  const count = async (condition: string) => {
    const [row] = await query<{ n: number }>(await url(), `SELECT count(*)::int AS n FROM webhooks WHERE ${condition}`);
    return row?.n;
  };
  async function makeHook(): Promise<void> {
    const path = `/${hooks.length}`;
    const { webhook, secret } = await createWebhook(client(), { url: receiver.url(path) });
    hooks.push({ id: webhook.id, secret, path });
  }
  /** The key is valid, and each webhook is told, signed with the secret that it was given. */
  async function goesOn(): Promise<void> {
    expect(await works(client())).toBe(200);
    for (const { id, secret, path } of hooks) {
      const before = receiver.at(path).length;
      await becomes(client(), await askFor(client(), `${id}/test`), { status: 'delivered' });
      const [sent] = (await receiver.gets(path, before + 1)).slice(-1);
      expect(sent !== undefined && isSignedWith(secret, sent)).toBe(true);
    }
  }

  beforeAll(async () => {
    receiver = await Receiver.listen();
    service = await ServiceProcess.start(env);
    const who = ['--workspace', 'default', '--user', 'owner@localhost'];
    key = (await operator.json<{ key: { secret: string } }>('key', 'create', ...who)).key.secret;
    first = read(current);
    for (let n = 0; n < 3; n += 1) await makeHook();
  });
  afterAll(async () => {
    await service.end();
    await receiver.close();
    folder.remove();
  });

  it('kill -9 of rotate leaves both files; the service that runs reads what is under either, and seals with the new one', async () => {
    const held = await holding({ url: await url() }, `SELECT 1 FROM webhooks WHERE id = $1 FOR UPDATE`, [hooks[0]?.id]);
    const { child, result } = operator.start('secret-key', 'rotate');
    // It waits for what began before the secret was replaced: this transaction is of those.
    await until('the secret to be replaced', () => existsSync(previous) && read(current) !== first, {
      within: 150_000,
    });
    expect(await count(NAMED)).toBe(0);
    child.kill('SIGKILL');
    await result;
    await held.release();
    expect([read(previous), statSync(current).mode & 0o777, statSync(previous).mode & 0o777]).toEqual([first, 0o600, 0o600]); // prettier-ignore
    await makeHook();
    expect(await count(NAMED)).toBe(1);
    await goesOn();
  });

  it('called again it goes on with the same secret, and leaves the new file alone', async () => {
    const second = read(current);
    const { rotate } = await operator.json<{ rotate: object }>('secret-key', 'rotate');
    expect(rotate).toEqual({ rotated: true, sealed: 4, unreadable: 0 });
    expect([existsSync(previous), read(current), await count(NAMED)]).toEqual([false, second, 4]);
    await makeHook();
    await goesOn();
  });

  it('the next start needs nothing of the former one, and the former one alone starts nothing', async () => {
    await service.end();
    const second = read(current);
    writeFileSync(current, first);
    const refused = await ServiceProcess.spawn(env);
    await until('it to end', () => refused.ended, { within: 150_000 }).finally(() => refused.end('SIGKILL'));
    expect([refused.child.exitCode, refused.log]).toEqual([1, expect.stringMatching(/^SECRET_KEY: the secret of the installation/m)]); // prettier-ignore
    writeFileSync(current, second);
    service = await ServiceProcess.start(env);
    await goesOn();
  });

  it('a further change makes a further secret', async () => {
    const second = read(current);
    expect(await operator.run('secret-key', 'rotate')).toContain('The new secret is the one of the installation');
    expect([read(current) === second, existsSync(previous)]).toEqual([false, false]);
    await goesOn();
  });
});
