// Clients that send one keyed request after another to a process that is killed under them, and do not give up.
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { bootApp, type TestApp } from '../harness/app.js';
import { Client, makeMember, type Member } from '../harness/client.js';
import { ROOMY } from '../harness/limits.js';
import { type Relay, relayTo } from '../harness/proxy.js';
import { ServiceProcess, temporaryFolder } from '../harness/service.js';
import type { TaskBody } from '../harness/tasks.js';
import { numbers, SEED } from '../harness/numbers.js';

/** Clients that send one request after another. */
export const CLIENTS = 10;
const SECRET_KEY = 'a secret of the tests, at least 32 bytes long';

export interface Outcome {
  kills: number;
  keys: number;
  /** Requests that got no answer; each was sent again. */
  cut: number;
  /** Of those: the repetition was the first to have an effect, or it was answered with what the first had done. */
  performed: number;
  replayed: number;
}

export class KeyedWrites {
  readonly outcome: Outcome = { kills: 0, keys: 0, cut: 0, performed: 0, replayed: 0 };
  private readonly folder = temporaryFolder();
  private readonly processes: ServiceProcess[] = [];

  private constructor(
    readonly service: TestApp,
    private readonly slow: Relay,
    private readonly member: Member,
    private readonly main: string | undefined,
  ) {}

  /** @param dist another build of the service than the present one. */
  static async start(dist?: string): Promise<KeyedWrites> {
    const service = await bootApp({ env: { ROLE: 'api' }, config: ROOMY });
    // A request takes about eight answers of the database: a kill hits it before its commit, or after it and unanswered.
    const slow = await relayTo(service.db.url, 10);
    const main = dist === undefined ? undefined : join(dist, 'main.js');
    return new KeyedWrites(service, slow, await makeMember(service), main);
  }

  /** Kills until it is enough. */
  async run(enough: (outcome: Outcome) => boolean | Promise<boolean>): Promise<Outcome> {
    const random = numbers(SEED);
    const { outcome } = this;
    let current = await this.spawn();
    let next = await this.spawn();
    while (!(await enough(outcome))) {
      await current.ready();
      const { url } = current;
      const clients = Array.from({ length: CLIENTS }, () => this.sendUntilCut(url));
      await wait(150 + random() * 300);
      await current.end('SIGKILL');
      outcome.kills++;
      const cut = await Promise.all(clients);
      [current, next] = [next, await this.spawn()];
      await current.ready();
      for (const key of cut) {
        const { replayed } = await this.retry(current.url, key);
        outcome.cut++;
        outcome[replayed ? 'replayed' : 'performed']++;
      }
    }
    return outcome;
  }

  /** What is on record of all keys. */
  async effects(): Promise<Record<string, number>> {
    const [counted] = await this.service.db.query<Record<string, number>>(
      `SELECT count(*)::int AS tasks, count(DISTINCT title)::int AS titles,
         (SELECT count(*)::int FROM messages) AS messages, (SELECT count(*)::int FROM runs) AS runs,
         (SELECT count(*)::int FROM idempotency_keys WHERE status = 201) AS records FROM tasks`,
    );
    return counted ?? {};
  }

  async close(): Promise<void> {
    for (const process of this.processes) await process.end('SIGKILL');
    await this.slow.close();
    await this.service.close();
    this.folder.remove();
  }

  private async spawn(): Promise<ServiceProcess> {
    const env = {
      ROLE: 'api',
      LOG_LEVEL: 'fatal',
      DATA_DIR: this.folder.path,
      DATABASE_URL: this.slow.url,
      SECRET_KEY,
    };
    const started = await ServiceProcess.spawn({ NODE_ENV: 'test', ...env }, this.main);
    this.processes.push(started);
    return started;
  }

  /** Resolves with the key of the request that got no answer. */
  private async sendUntilCut(url: string): Promise<string> {
    for (;;) {
      const key = `key-${this.outcome.keys++}`;
      if ((await this.attempt(url, key)) === null) return key;
    }
  }

  private async retry(url: string, key: string): Promise<{ replayed: boolean }> {
    for (;;) {
      const answer = await this.attempt(url, key);
      if (answer !== null) return answer;
    }
  }

  /** Null when the connection ended without an answer. */
  private async attempt(url: string, key: string): Promise<{ replayed: boolean } | null> {
    try {
      const { status, headers, text } = await new Client(url, this.member.key.secret).post<{ task: TaskBody }>(
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
}
