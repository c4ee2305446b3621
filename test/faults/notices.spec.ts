// Notices to people while those who send them are killed (reference §21): none twice, none of what one may not see, and hardly one is lost.
import { bootApp, type TestApp } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { MailServer, textOf } from '../harness/mail-server.js';
import { readNotices, setNotices, subscribe } from '../harness/notices.js';
import { LONG } from '../harness/numbers.js';
import { PushService, type TestBrowser } from '../harness/push-service.js';
import { ServiceProcess, temporaryFolder } from '../harness/service.js';
import { until } from '../harness/until.js';
import { HERE, Receiver } from '../harness/webhooks.js';

const [EVENTS, KILLS] = LONG ? [2_000, 12] : [200, 3];
const LONGEST_MS = LONG ? 900_000 : 240_000;
const CHANNELS = ['push', 'email', 'hook'] as const;
/** Of so many tasks one is in a project that its creator does not see. */
const HIDDEN = 10;
/** What one process sends at once (NOTICES of shares.ts, for one workspace). */
const AT_ONCE = 8;
/** As `bootApp` has it. */
const SECRET_KEY = 'a secret of the tests, at least 32 bytes long';

describe('Notices to people under kill -9', () => {
  const folder = temporaryFolder();
  const senders: ServiceProcess[] = [];
  let [db, api]: [TestDatabase, TestApp] = [undefined as never, undefined as never];
  let [push, mail, hook]: [PushService, MailServer, Receiver] = [
    undefined as never,
    undefined as never,
    undefined as never,
  ];
  let [member, browser]: [Member, TestBrowser] = [undefined as never, undefined as never];
  let hiddenProject: string;
  const [seen, hidden] = [new Set<string>(), new Set<string>()];

  const start = async (): Promise<void> => {
    const smtp = { SMTP_URL: mail.url(), SMTP_FROM: 'mill@example.test' };
    const env = { DATABASE_URL: db.url, DATA_DIR: folder.path, SECRET_KEY, ROLE: 'worker', ...HERE, ...smtp };
    senders.push(await ServiceProcess.start(env));
  };
  /** The task of each notice that has come, by channel. */
  const come = (): Record<(typeof CHANNELS)[number], string[]> => ({
    push: browser.received.map(({ notice }) => String(notice.taskId)),
    email: mail.mails.map((one) => /tasks\/([0-9a-f-]+)/.exec(textOf(one))?.[1] ?? ''),
    hook: hook.received.map(({ body }) => (JSON.parse(body) as { taskId: string }).taskId),
  });
  const total = () => browser.received.length + mail.mails.length + hook.received.length;
  const counts = async () =>
    Object.fromEntries(
      (
        await db.query<{ status: string; n: number }>(
          `SELECT status, count(*)::int AS n FROM personal_notices GROUP BY 1`,
        )
      ).map(({ status, n }) => [status, n]),
    ) as Record<string, number>;
  /** A task that is completed: the trigger writes the event. */
  const complete = async (n: number): Promise<void> => {
    const invisible = n % HIDDEN === 0;
    const [row] = await db.query<{ id: string }>(
      `INSERT INTO tasks (id, workspace_id, project_id, created_by, title, status, model)
       VALUES (gen_random_uuid(), $1, $2, $3, $4, 'running', 'm') RETURNING id`,
      [member.workspace.id, invisible ? hiddenProject : null, member.user.id, `Task ${n}`],
    );
    const id = row?.id ?? '';
    (invisible ? hidden : seen).add(id);
    await db.query(`UPDATE tasks SET status = 'completed', finished_at = now() WHERE id = $1`, [id]);
  };

  beforeAll(async () => {
    db = await createDatabase();
    [push, mail, hook] = await Promise.all([PushService.listen(), MailServer.listen(), Receiver.listen()]);
    api = await bootApp({ db, env: { ...HERE, SMTP_URL: mail.url(), SMTP_FROM: 'mill@example.test' } });
    member = await makeMember(api, { role: 'member' });
    const owner = await makeMember(api, { workspace: member.workspace, role: 'owner' });
    const made = await owner.client.post<{ project: { id: string } }>('/v1/projects', { name: 'Hidden' });
    hiddenProject = made.body.project.id;
    browser = push.browser((await readNotices(member.client)).push.publicKey);
    await subscribe(member.client, browser);
    await setNotices(member.client, { finished: CHANNELS, hookUrl: hook.url('/hook') });
    // Long enough that a kill meets some under way.
    hook.on('/hook', (_received, response) => void setTimeout(() => response.end(), 30));
    await Promise.all([start(), start()]);
  });
  afterAll(async () => {
    await Promise.all(senders.map((sender) => sender.end('SIGKILL')));
    await Promise.all([push.close(), mail.close(), hook.close(), api.close()]);
    await db.drop();
    folder.remove();
  });

  it(
    'come at most once by each channel, none of what is not seen, and all but those under way at a kill',
    async () => {
      for (let kill = 0, written = 0; kill < KILLS; kill += 1) {
        const before = total();
        for (const end = Math.ceil(((kill + 1) * EVENTS) / KILLS); written < end; written += 1) await complete(written);
        await until('notices to come', () => total() > before, { within: 150_000 });
        await senders.shift()?.end('SIGKILL');
        await start();
      }
      // What a killed process was sending stays so until a chore says that it is lost.
      await until(
        'nothing to wait',
        async () => {
          const found = await counts();
          const ended = Object.entries(found).reduce((sum, [status, n]) => sum + (status === 'pending' ? 0 : n), 0);
          return ended === EVENTS * CHANNELS.length && (found['sending'] ?? 0) <= KILLS * AT_ONCE;
        },
        { within: LONGEST_MS / 2, every: 200 },
      );
      // Those that others send at this moment.
      await until('what is under way to end', async () => {
        const now = await counts();
        return (now['sending'] ?? 0) + (now['sent'] ?? 0) === seen.size * CHANNELS.length;
      });
      const arrived = come();
      for (const channel of CHANNELS) {
        const ids = arrived[channel];
        expect([channel, ids.length - new Set(ids).size]).toEqual([channel, 0]);
        expect([channel, ids.filter((id) => !seen.has(id))]).toEqual([channel, []]);
      }
      expect((await counts())['dropped']).toBe(hidden.size * CHANNELS.length);
      const lost = CHANNELS.reduce((sum, channel) => sum + seen.size - arrived[channel].length, 0);
      process.stdout.write(
        `${EVENTS} events, ${KILLS} kills: ${total()} notices came, ${lost} of ${seen.size * CHANNELS.length} were lost (at most ${KILLS * AT_ONCE} under way), ${(await counts())['sending'] ?? 0} end as 'lost'\n`,
      );
      expect(lost).toBeLessThanOrEqual(KILLS * AT_ONCE);
    },
    LONGEST_MS,
  );
});
