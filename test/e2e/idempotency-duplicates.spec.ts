import { forgetAnswersOfTask } from '../../src/access/idempotency/stored-answers.js';
import { KeyPurge } from '../../src/access/idempotency/key-purge.js';
import { ChoreRunner } from '../../src/platform/chores/chore-runner.js';
import { LOCKS } from '../../src/platform/database/locks.js';
import { sql, uuid } from '../../src/platform/database/sql.js';
import { Transactions } from '../../src/platform/database/transactions.js';
import pg from 'pg';
import { bootApp, useService } from '../harness/app.js';
import { type Answer, Client, type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { holding, untilWaiting } from '../harness/locks.js';
import { createTask, type TaskBody } from '../harness/tasks.js';
import { makeNotes, NotesModule } from './notes.module.js';
import { slowIt } from '../harness/slow.js';

/** The issue names 200 keys: MILLWRIGHT_LONG=1. */
const KEYS = process.env['MILLWRIGHT_LONG'] === '1' ? 200 : 40;
const TIMES = 50;
const LOCK_TASK = sql`SELECT 1 FROM tasks WHERE id = ${uuid('id')} FOR UPDATE`.rows();
const DELETE_TASK = sql`DELETE FROM tasks WHERE id = ${uuid('id')}`.rows();

/** Holds the transaction of one note until the test lets it go, also beyond the time that requests wait for locks. */
const HOLD_NOTE = `
CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql SET lock_timeout = 0 AS
  $$ BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NEW; END $$;
CREATE TRIGGER hold BEFORE INSERT ON notes FOR EACH ROW WHEN (NEW.text = 'held') EXECUTE FUNCTION hold()`;

type Reply = Answer<ErrorBody & { task: TaskBody }>;

describe('Duplicates (reference §8)', () => {
  let member: Member;

  // No worker: what is counted is what the requests did.
  const service = useService(() => bootApp({ imports: [NotesModule] }));
  const twin = useService(() => bootApp({ imports: [NotesModule], db: service.db }));
  beforeAll(async () => {
    await makeNotes(service.db);
    member = await makeMember(service);
  });

  const post = (key: string, json: unknown, url = service.url, path = '/v1/notes') =>
    new Client(url, member.key.secret).post<Reply['body']>(path, json, { headers: { 'Idempotency-Key': key } });
  const records = async (where: string, parameters: unknown[] = []) =>
    (
      await service.db.query<{ n: number }>(
        `SELECT count(*)::int AS n FROM idempotency_keys WHERE ${where}`,
        parameters,
      )
    )[0]?.n;

  it(`${TIMES} at once for each of ${KEYS} keys, on two processes: one effect each, the rest replays or 409`, async () => {
    const counts = { first: 0, replayed: 0, refused: 0 };
    for (let n = 0; n < KEYS; n++) {
      const title = `duplicate ${n}`;
      const answers = await Promise.all(
        Array.from({ length: TIMES }, (_, i) =>
          post(title.replace(' ', '-'), { title, content: 'x' }, [service, twin][i % 2]?.url, '/v1/tasks'),
        ),
      );
      const made = answers.filter(
        ({ status, headers }) => status === 201 && headers.get('idempotent-replayed') === null,
      );
      expect(made).toHaveLength(1);
      const first = made[0] as Reply;
      for (const answer of answers) {
        if (answer === first) counts.first++;
        else if (answer.status === 409) {
          expect(answer.body.error).toMatchObject({ code: 'idempotency_in_progress', retryable: true });
          expect(answer.headers.get('retry-after')).toBe('1');
          counts.refused++;
        } else {
          const { status, text, headers } = answer;
          expect([status, text, headers.get('location')]).toEqual([201, first.text, first.headers.get('location')]);
          counts.replayed++;
        }
      }
    }
    const effects = await service.db.query(
      `SELECT count(*)::int AS tasks, count(DISTINCT title)::int AS titles,
         (SELECT count(*)::int FROM messages) AS messages, (SELECT count(*)::int FROM runs) AS runs FROM tasks`,
    );
    expect(effects).toEqual([{ tasks: KEYS, titles: KEYS, messages: KEYS, runs: KEYS }]);
    expect(counts).toMatchObject({ first: KEYS });
    // All of them could be refused for ever otherwise.
    expect(counts.replayed).toBeGreaterThan(counts.refused);
  }, 300_000);

  slowIt('a flood of duplicates of one slow request keeps nobody else out', async () => {
    await service.db.query(HOLD_NOTE);
    const holder = await holding(service.db, 'SELECT pg_advisory_xact_lock(1)');
    const first = post('flood', { text: 'held' });
    try {
      await untilWaiting(service.db, 'INSERT INTO notes');
      // So many that, if each held a connection for its two seconds of waiting, others would get none within their five.
      const flood = Array.from({ length: 120 }, (_, i) => post('flood', { text: 'held' }, [service, twin][i % 2]?.url));
      for (let i = 0; i < 20; i++) {
        const url = [service, twin][i % 2]?.url;
        expect((await post(`other-${i}`, { text: `other ${i}` }, url)).status).toBe(201);
      }
      expect(new Set((await Promise.all(flood)).map(({ status }) => status))).toEqual(new Set([409]));
    } finally {
      await holder.release();
    }
    expect((await first).status).toBe(201);
  });

  it('records whose time is over are deleted in batches, by one process at a time, and no others', async () => {
    const purge = () =>
      service.app.get(ChoreRunner).run(service.app.get(KeyPurge, { strict: false }), 'purge') as Promise<number | null>;
    await post('kept', { text: 'kept' });
    await service.db.query(
      `INSERT INTO idempotency_keys (workspace_id, user_id, method, path, key, fingerprint, expires_at)
       SELECT $1, $2, 'POST', '/v1/notes', 'old ' || n, '', now() - interval '1 second' FROM generate_series(1, 1200) n`,
      [member.workspace.id, member.user.id],
    );
    const other = new pg.Client({ connectionString: service.db.url });
    await other.connect();
    await other.query('SELECT pg_advisory_lock($1)', [LOCKS.expiredKeys]);
    expect(await purge()).toBeNull();
    expect(await records(`expires_at <= now()`)).toBe(1200);
    await other.end();
    await service.db.query('SELECT 1');
    let purged: number | null = null;
    // The server needs a moment to end the other connection's lock.
    for (let i = 0; i < 100 && purged === null; i++) purged = await purge();
    expect(purged).toBe(1200);
    expect(await records(`key = 'kept'`)).toBe(1);
    expect(await records(`expires_at <= now()`)).toBe(0);
  });

  it('what is stored of a deleted task holds no word of it; its creation is still replayed and makes nothing', async () => {
    const create = { title: 'Secret plan', content: 'x' };
    const made = await post('secret', create, service.url, '/v1/tasks');
    const { id } = made.body.task;
    const bystander = await createTask(member.client, { content: 'bystander' });
    const say = (task: string) => post('say', { content: 'Secret word' }, service.url, `/v1/tasks/${task}/messages`);
    expect([(await say(id)).status, (await say(bystander.id)).status]).toEqual([202, 202]);
    await service.app.get(Transactions).open(async (tx) => {
      await tx.run(LOCK_TASK({ id }));
      await forgetAnswersOfTask(tx, member.workspace.id, id);
      await tx.run(DELETE_TASK({ id }));
    });
    expect(await records(`body LIKE '%Secret%'`)).toBe(1);
    expect((await say(id)).status).toBe(404);
    expect((await say(bystander.id)).headers.get('idempotent-replayed')).toBe('true');
    const again = await post('secret', create, service.url, '/v1/tasks');
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.text).toBe(made.text.replace('Secret plan', ''));
    expect(await service.db.query('SELECT 1 FROM tasks WHERE id = $1', [id])).toEqual([]);
  });
});
