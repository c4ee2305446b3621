// Deliveries of webhooks while senders are killed and endpoints fail (reference §18): every one arrives, whatever happens.
import { bootApp } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { LONG, numbers, SEED } from '../harness/numbers.js';
import { ServiceProcess, temporaryFolder } from '../harness/service.js';
import { until } from '../harness/until.js';
import { createWebhook, HERE, isSignedWith, Receiver } from '../harness/webhooks.js';

const [EVENTS, KILLS] = LONG ? [3_000, 12] : [200, 2];
const LONGEST_MS = LONG ? 900_000 : 180_000;
const WEBHOOKS = 2;
const FAILURES = 0.3;
/** Of the ten attempts of a delivery so many fail at most: all of them would fail for one in 170,000. */
const MOST_FAILURES = 8;
/** As `bootApp` has it. */
const SECRET_KEY = 'a secret of the tests, at least 32 bytes long';

describe('Deliveries of webhooks under kill -9', () => {
  const folder = temporaryFolder();
  const senders: ServiceProcess[] = [];
  let db: TestDatabase;
  let receiver: Receiver;
  let owner: Member;
  const secrets = new Map<string, string>();

  const start = async (): Promise<void> => {
    const env = { DATABASE_URL: db.url, DATA_DIR: folder.path, SECRET_KEY, ROLE: 'worker', ...HERE };
    senders.push(await ServiceProcess.start(env));
  };
  /** As if the waits were over; and the leases of those that were killed, which nobody else can tell from others. */
  const letTimePass = () =>
    db.query(
      `UPDATE webhook_deliveries SET next_attempt_at = now(), lease_until = NULL WHERE status = 'pending' AND (
         (lease_until IS NULL AND next_attempt_at > now()) OR lease_until < now() + interval '25 seconds')`,
    );
  const left = async () => {
    const [row] = await db.query<{ n: number }>(
      `SELECT count(*)::int AS n FROM webhook_deliveries WHERE status = 'pending'`,
    );
    return row?.n ?? 0;
  };

  beforeAll(async () => {
    db = await createDatabase();
    receiver = await Receiver.listen();
    const hooks = await bootApp({ db, env: HERE });
    owner = await makeMember(hooks, { role: 'owner' });
    const next = numbers(SEED);
    const failed = new Map<string, number>();
    for (let n = 0; n < WEBHOOKS; n += 1) {
      secrets.set(`/${n}`, (await createWebhook(owner.client, { url: receiver.url(`/${n}`) })).secret);
      receiver.on(`/${n}`, ({ headers }, response) => {
        const delivery = `${n} ${String(headers['webhook-id'])}`;
        const before = failed.get(delivery) ?? 0;
        if (next() < FAILURES && before < MOST_FAILURES) {
          failed.set(delivery, before + 1);
          response.statusCode = 500;
        }
        response.end();
      });
    }
    await hooks.close();
    await Promise.all([start(), start()]);
  });
  afterAll(async () => {
    await Promise.all(senders.map((sender) => sender.end('SIGKILL')));
    await receiver.close();
    await db.drop();
    folder.remove();
  });

  it(
    'are never lost, and each is signed',
    async () => {
      let written = 0;
      const write = async (count: number) => {
        for (const end = Math.min(EVENTS, written + count); written < end; written += 1) {
          await db.query(
            `INSERT INTO workspace_events (xid, workspace_id, event_id, type, data)
           VALUES (pg_current_xact_id()::text::bigint, $1, gen_random_uuid(), 'automation.paused', '{}')`,
            [owner.workspace.id],
          );
        }
      };
      for (let kill = 0; kill < KILLS; kill += 1) {
        const before = receiver.received.length;
        await write(Math.ceil(EVENTS / KILLS));
        // A webhook that fails has one request at a time, and a killed process may have it for the rest of its lease.
        await until('deliveries to come', async () => (await letTimePass(), receiver.received.length > before));
        await senders.shift()?.end('SIGKILL');
        await start();
        await letTimePass();
      }
      await write(EVENTS);
      await until('nothing to wait', async () => (await letTimePass(), (await left()) === 0), {
        within: LONGEST_MS / 2,
        every: 200,
      });
      const ends = await db.query(`SELECT status, count(*)::int AS n FROM webhook_deliveries GROUP BY status`);
      expect(ends).toEqual([{ status: 'delivered', n: EVENTS * WEBHOOKS }]);
      for (const [path, secret] of secrets) {
        const got = receiver.at(path);
        expect(new Set(got.map(({ event }) => event.id)).size).toBe(EVENTS);
        expect(got.filter((one) => !isSignedWith(secret, one))).toEqual([]);
      }
    },
    LONGEST_MS,
  );
});
