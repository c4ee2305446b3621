// Clients that send one keyed request after another to a process that is killed under them, and do not give up.
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Sealer } from '../../src/access/audit/sealer.js';
import { AuditVerifier } from '../../src/access/audit/verifier.js';
import { Transactions } from '../../src/platform/database/transactions.js';
import { bootApp, bootWorker, type TestApp } from '../harness/app.js';
import { Client, makeMember, type Member } from '../harness/client.js';
import { type Relay, relayTo } from '../harness/proxy.js';
import { ServiceProcess, temporaryFolder } from '../harness/service.js';
import { createTask, type TaskBody } from '../harness/tasks.js';
import { numbers, SEED } from '../harness/numbers.js';
import { until } from '../harness/until.js';

/** Clients that send one request after another. */
export const CLIENTS = 10;
const SECRET_KEY = 'a secret of the tests, at least 32 bytes long';

/** What a key is for; its effect holds the key. */
interface Write {
  key: string;
  path: string;
  json: object;
}

interface Question {
  id: string;
  taskId: string;
}

export interface Outcome {
  kills: number;
  keys: number;
  /** How many of them were for a task, a message, an answer. */
  created: number;
  sent: number;
  answered: number;
  /** Requests that got no answer; each was sent again. */
  cut: number;
  /** Of those: the repetition was the first to have an effect, or it was answered with what the first had done. */
  performed: number;
  replayed: number;
}

export class KeyedWrites {
  readonly outcome: Outcome = {
    kills: 0,
    keys: 0,
    created: 0,
    sent: 0,
    answered: 0,
    cut: 0,
    performed: 0,
    replayed: 0,
  };
  /** Not answered yet. */
  private questions: Question[] = [];
  /** Ids of what was created. */
  private readonly tasks: string[] = [];
  private readonly folder = temporaryFolder();
  private readonly processes: ServiceProcess[] = [];

  private constructor(
    readonly service: TestApp,
    private readonly slow: Relay,
    private readonly member: Member,
    private readonly main: string | undefined,
  ) {}

  /**
   * @param questions how many there are to answer; then clients go on without.
   * @param dist another build of the service than the present one.
   */
  static async start(questions: number, dist?: string): Promise<KeyedWrites> {
    const service = await bootApp();
    // A request takes about eight answers of the database: a kill hits it before its commit, or after it and unanswered.
    const slow = await relayTo(service.db.url, 10);
    const main = dist === undefined ? undefined : join(dist, 'main.js');
    const writes = new KeyedWrites(service, slow, await makeMember(service), main);
    await writes.ask(questions);
    return writes;
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
      const clients = Array.from({ length: CLIENTS }, (_, place) => this.sendUntilCut(url, place));
      // The first requests of a process take the longest; all of them would be cut before they have done anything.
      const begun = outcome.keys;
      await until('a client to be answered', () => outcome.keys > begun, { within: 150_000, every: 5 });
      await wait(random() * 300);
      await current.end('SIGKILL');
      outcome.kills++;
      const cut = await Promise.all(clients);
      [current, next] = [next, await this.spawn()];
      await current.ready();
      for (const write of cut) {
        const { replayed } = await this.retry(current.url, write);
        outcome.cut++;
        outcome[replayed ? 'replayed' : 'performed']++;
      }
    }
    return outcome;
  }

  /** What is on record of all keys: their effects, of which each has one of its own, and what comes with them. */
  async effects(): Promise<Record<string, number>> {
    const [counted] = await this.service.db.query<Record<string, number>>(
      `WITH created AS (SELECT id, title AS key FROM tasks WHERE title LIKE 'key-%'),
         said AS (SELECT jsonb_path_query(parts, '$[*] ? (@.type == "text").text') #>> '{}' AS key FROM messages WHERE role = 'user'),
         sent AS (SELECT key FROM said WHERE key LIKE 'key-%'),
         answered AS (SELECT v.output->>'content' AS key FROM tool_invocations v WHERE v.output->>'content' LIKE 'key-%'),
         effects AS (SELECT key FROM created UNION ALL SELECT key FROM sent UNION ALL SELECT key FROM answered)
       SELECT (SELECT count(*)::int FROM created) AS created, (SELECT count(*)::int FROM sent) AS sent,
         (SELECT count(*)::int FROM answered) AS answered, (SELECT count(DISTINCT key)::int FROM effects) AS keys,
         (SELECT count(*)::int FROM messages WHERE task_id IN (SELECT id FROM created)) AS messages,
         (SELECT count(*)::int FROM runs WHERE task_id IN (SELECT id FROM created) OR kind = 'continuation') AS runs,
         (SELECT count(*)::int FROM idempotency_keys WHERE key LIKE 'key-%' AND status IN (201, 202)) AS records`,
    );
    return counted ?? {};
  }

  /**
   * What the audit log has of all keys: a row for each act. `strays` are rows without their act, and acts without a row. The chain
   * is whole.
   */
  async audited(): Promise<Record<string, number>> {
    const { app, db } = this.service;
    await until('all rows to be sealed', async () => (await app.get(Sealer).seal()) === 0);
    const chains = await new AuditVerifier(app.get(Transactions)).verify();
    const [counted] = await db.query<Record<string, number>>(
      `WITH acts AS (SELECT action, target_id FROM audit_log WHERE outcome = 'done' AND actor_id IS NOT NULL),
         created AS (SELECT id::text AS id FROM tasks),
         named AS (SELECT target_id AS id FROM acts WHERE action = 'task.create')
       SELECT (SELECT count(*)::int FROM acts JOIN tasks t ON t.id::text = target_id
               WHERE action = 'task.create' AND title LIKE 'key-%') AS created,
         (SELECT count(*)::int FROM acts WHERE action = 'message.create') AS sent,
         (SELECT count(*)::int FROM acts WHERE action = 'task.answer') AS answered,
         (SELECT count(*)::int FROM ((TABLE created EXCEPT ALL TABLE named) UNION ALL (TABLE named EXCEPT ALL TABLE created)) s)
           AS strays`,
    );
    return { ...counted, broken: chains.filter(({ broken }) => broken !== null).length };
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

  /** Tasks that wait for an answer: asked by a worker that is gone afterwards, so that nothing else changes what is on record. */
  private async ask(count: number): Promise<void> {
    const { db } = this.service;
    const worker = await bootWorker({ db, env: { ROLE: 'worker' } });
    const content = 'Which?\n\n```ask\nWhich one?\n```\n';
    for (let n = 0; n < count; n++) await createTask(this.member.client, { title: 'asks', content });
    await until(
      'the questions to be asked',
      async () => {
        const sql = `SELECT id, task_id AS "taskId" FROM interactions WHERE status = 'pending'`;
        this.questions = await db.query<Question>(sql);
        return this.questions.length === count;
      },
      { within: 600_000, every: 100 },
    );
    await worker.close();
  }

  /** Creates, sends, answers, in turn; resolves with the request that got no answer. */
  private async sendUntilCut(url: string, first: number): Promise<Write> {
    for (let n = first; ; n++) {
      const write = this.next(n);
      if ((await this.attempt(url, write)) === null) return write;
    }
  }

  private next(n: number): Write {
    const { outcome } = this;
    const key = `key-${outcome.keys++}`;
    const question = n % 3 === 2 ? this.questions.pop() : undefined;
    if (question !== undefined) {
      outcome.answered++;
      const json = { interactionId: question.id, content: key };
      return { key, path: `/v1/tasks/${question.taskId}/interaction`, json };
    }
    const taskId = this.tasks[n % this.tasks.length];
    if (n % 3 === 1 && taskId !== undefined) {
      outcome.sent++;
      return { key, path: `/v1/tasks/${taskId}/messages`, json: { content: key } };
    }
    outcome.created++;
    return { key, path: '/v1/tasks', json: { title: key, content: 'x' } };
  }

  private async retry(url: string, write: Write): Promise<{ replayed: boolean }> {
    for (;;) {
      const answer = await this.attempt(url, write);
      if (answer !== null) return answer;
    }
  }

  /** Null when the connection ended without an answer. */
  private async attempt(url: string, { key, path, json }: Write): Promise<{ replayed: boolean } | null> {
    try {
      const client = new Client(url, this.member.key.secret);
      const headers = { 'Idempotency-Key': key };
      const answer = await client.post<{ task: TaskBody }>(path, json, { headers });
      if (answer.status !== 201 && answer.status !== 202) throw new Error(`${answer.status} ${answer.text}`);
      if (answer.status === 201) this.tasks.push(answer.body.task.id);
      return { replayed: answer.headers.get('idempotent-replayed') === 'true' };
    } catch (error) {
      // Not `instanceof`: under Jest it is the TypeError of another realm.
      if (/^(fetch failed|terminated)$/.test((error as Error).message)) return null;
      throw error;
    }
  }
}
