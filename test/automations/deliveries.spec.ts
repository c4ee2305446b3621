// Every provider, many deliveries, each sent many times at once: one task each (reference §13).
import { bootWorker, useService } from '../harness/app.js';
import { plan } from '../harness/automations.js';
import { makeMember } from '../harness/client.js';
import { HOOK_FIXTURES, type HookFixture, signHook } from '../harness/hook-signing.js';
import { connect, deliver } from '../harness/hooks.js';
import { until } from '../harness/until.js';

const LONG = process.env['MILLWRIGHT_LONG'] !== undefined;
const DELIVERIES = LONG ? 500 : 10;
const COPIES = 20;
const LIMIT_MS = LONG ? 1_800_000 : 60_000;

const ONE_OF_EACH = [
  ...new Map(HOOK_FIXTURES.filter(({ event }) => event !== null).map((one) => [one.slug, one])).values(),
];

/** The same event, as another delivery. */
function another(fixture: HookFixture): HookFixture {
  const fresh = crypto.randomUUID();
  const text = JSON.stringify(fixture);
  const renamed = fixture.deliveryId === null ? text : text.replaceAll(fixture.deliveryId, fresh);
  const made = JSON.parse(renamed) as HookFixture;
  return { ...made, body: { ...made.body, thisOne: fresh } };
}

describe('duplicates', () => {
  const service = useService(() => bootWorker({ config: { plans: { paid: { runningTasks: 1000 } } } }));

  it.each(ONE_OF_EACH.map((fixture) => [fixture.slug, fixture] as const))(
    `of ${DELIVERIES} deliveries of %s, each sent ${COPIES} times at once, make one task each`,
    async (slug, fixture) => {
      const owner = await makeMember(service);
      const { id, path, secret } = await connect(service, owner, { slug });
      const triggerEvent = `${slug}.${fixture.event}`;
      const automation = await plan(service.db, owner, { triggerEvent, connectionId: id, content: 'Nothing to do.' });
      for (let n = 0; n < DELIVERIES; n++) {
        const { headers, body } = await signHook(another(fixture), secret);
        const copies = Array.from({ length: COPIES }, () => deliver(service, path, { headers, raw: body }));
        const answers = await Promise.all(copies);
        expect(answers.filter(({ text }) => text === '{"accepted":true}')).toHaveLength(1);
        expect(answers.filter(({ text }) => text === '{"duplicate":true}')).toHaveLength(COPIES - 1);
      }
      const made = () => service.db.query('SELECT 1 FROM automation_runs WHERE automation_id = $1', [automation]);
      await until('all runs', async () => (await made()).length >= DELIVERIES, { within: LIMIT_MS });
      await until('no job to be left', async () => (await service.db.query('SELECT 1 FROM jobs')).length === 0, {
        within: LIMIT_MS,
      });
      expect(await made()).toHaveLength(DELIVERIES);
      const tasks = await service.db.query('SELECT 1 FROM tasks WHERE automation_id = $1', [automation]);
      expect(tasks).toHaveLength(DELIVERIES);
    },
    LIMIT_MS,
  );
});
