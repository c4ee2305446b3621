import { randomInt } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { bootApp, type TestApp } from '../harness/app.js';
import { Client, makeMember, type Member } from '../harness/client.js';
import { type Relay, relayTo } from '../harness/proxy.js';
import { ServiceProcess, temporaryFolder } from '../harness/service.js';
import type { TaskBody } from '../harness/tasks.js';

/** A kill costs two seconds of booting. MILLWRIGHT_LONG=1: 300 kills; else until 30 requests were cut off. */
const LONG = process.env['MILLWRIGHT_LONG'] === '1';
const SEED = Number(process.env['MILLWRIGHT_SEED'] ?? randomInt(2 ** 31));
/** Clients that send one request after another. */
const CLIENTS = 10;
const SECRET_KEY = 'a secret of the tests, at least 32 bytes long';

/** mulberry32: the same numbers for the same seed. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

describe(`A process killed between claim and answer, seed ${SEED} (reference §8)`, () => {
  const folder = temporaryFolder();
  const processes: ServiceProcess[] = [];
  let service: TestApp;
  let slow: Relay;
  let member: Member;

  beforeAll(async () => {
    service = await bootApp({ env: { ROLE: 'api' } });
    // A request takes about eight answers of the database: a kill hits it before its commit, or after it and unanswered.
    slow = await relayTo(service.db.url, 10);
    member = await makeMember(service);
  });
  afterAll(async () => {
    for (const process of processes) await process.end('SIGKILL');
    await slow.close();
    await service.close();
    folder.remove();
  });

  const start = async () => {
    const env = { ROLE: 'api', LOG_LEVEL: 'fatal', DATA_DIR: folder.path, DATABASE_URL: slow.url, SECRET_KEY };
    const started = await ServiceProcess.spawn({ NODE_ENV: 'test', ...env });
    processes.push(started);
    return started;
  };

  it('a client that retries until it succeeds gets one effect for each key', async () => {
    const random = numbers(SEED);
    const outcome = { kills: 0, keys: 0, cut: 0, performed: 0, replayed: 0 };
    // Both sides of a commit are to be hit; one kill in two hits the far one.
    const bothHit = () => outcome.performed > 0 && outcome.replayed > 0;
    const enough = () => outcome.kills >= (LONG ? 300 : 3) && (bothHit() || outcome.kills >= 30);
    let current = await start();
    let next = await start();
    while (!enough()) {
      await current.ready();
      const { url } = current;
      const clients = Array.from({ length: CLIENTS }, () => sendUntilCut(url, () => `key-${outcome.keys++}`));
      await wait(150 + random() * 300);
      await current.end('SIGKILL');
      outcome.kills++;
      const cut = await Promise.all(clients);
      [current, next] = [next, await start()];
      await current.ready();
      for (const key of cut) {
        const { replayed } = await retry(current.url, key);
        outcome.cut++;
        outcome[replayed ? 'replayed' : 'performed']++;
      }
    }
    const { keys } = outcome;
    const effects = await service.db.query(
      `SELECT count(*)::int AS tasks, count(DISTINCT title)::int AS titles,
         (SELECT count(*)::int FROM messages) AS messages, (SELECT count(*)::int FROM runs) AS runs,
         (SELECT count(*)::int FROM idempotency_keys WHERE status = 201) AS records FROM tasks`,
    );
    expect(effects).toEqual([{ tasks: keys, titles: keys, messages: keys, runs: keys, records: keys }]);
    expect(outcome.cut).toBe(outcome.kills * CLIENTS);
    expect(bothHit()).toBe(true);
  }, 1_800_000);

  /** Resolves with the key of the request that got no answer. */
  async function sendUntilCut(url: string, newKey: () => string): Promise<string> {
    for (;;) {
      const key = newKey();
      if ((await attempt(url, key)) === null) return key;
    }
  }

  async function retry(url: string, key: string): Promise<{ replayed: boolean }> {
    for (;;) {
      const answer = await attempt(url, key);
      if (answer !== null) return answer;
    }
  }

  /** Null when the connection ended without an answer. */
  async function attempt(url: string, key: string): Promise<{ replayed: boolean } | null> {
    try {
      const { status, headers, text } = await new Client(url, member.key.secret).post<{ task: TaskBody }>(
        '/v1/tasks',
        { title: key, content: 'x' },
        { headers: { 'Idempotency-Key': key } },
      );
      if (status !== 201) throw new Error(`${status} ${text}`);
      return { replayed: headers.get('idempotent-replayed') === 'true' };
    } catch (error) {
      // Not `instanceof`: under Jest it is the TypeError of another realm.
      if (/^(fetch failed|terminated)$/.test((error as Error).message)) return null;
      throw error;
    }
  }
});
