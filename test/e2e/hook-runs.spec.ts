import { newId } from '../../src/platform/database/ids.js';
import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { connect, deliver, github } from '../harness/hooks.js';
import { until } from '../harness/until.js';

interface Run {
  id: string;
  status: string;
  taskId: string | null;
  trigger: { type: string; event: string | null };
}

describe('From a delivery to a task (reference §12, §13)', () => {
  const service = useService(bootWorker);

  const automation = async ({ client }: Member, more: object = {}) => {
    const json = { name: 'On a push', content: 'Look at it.', triggerEvent: 'github.push', ...more };
    const { status, body } = await client.post<{ automation: { id: string } }>('/v1/automations', json);
    expect([status, body]).toEqual([201, expect.anything()]);
    return body.automation.id;
  };
  const runsOf = async ({ client }: Member, id: string) =>
    (await client.get<{ runs: Run[] }>(`/v1/automations/${id}/runs`)).body.runs;

  it('twenty times the same delivery make one run and one task, which the log names', async () => {
    const member = await makeMember(service);
    const { path, secret } = await connect(service, member);
    const id = await automation(member);
    const other = await automation(member, { triggerEvent: 'github.issues.opened' });
    const delivery = github(secret);
    await Promise.all(Array.from({ length: 20 }, () => deliver(service, path, delivery)));
    const run = await until('a run', async () => (await runsOf(member, id))[0]);
    expect(run).toMatchObject({ status: 'started', trigger: { type: 'event', event: 'github.push' } });
    await deliver(service, path, github(secret));
    await until('the second run', async () => (await runsOf(member, id)).length === 2);
    expect((await runsOf(member, id)).filter(({ trigger }) => trigger.type === 'event')).toHaveLength(2);
    expect(await runsOf(member, other)).toEqual([]);
    const { deliveries } = (
      await member.client.get<{ deliveries: { deliveryId: string; verdict: string; runIds: string[] }[] }>(
        '/v1/integrations/github/deliveries',
      )
    ).body;
    const named = deliveries.filter(({ runIds }) => runIds.length > 0);
    expect(named).toHaveLength(2);
    expect(named.at(-1)).toMatchObject({
      deliveryId: delivery.headers['X-GitHub-Delivery'],
      verdict: 'accepted',
      runIds: [run.id],
    });
    const { tasks } = (
      await member.client.get<{ tasks: { id: string; source: object }[] }>(`/v1/tasks?automationId=${id}`)
    ).body;
    expect(tasks).toHaveLength(2);
    expect(tasks.at(-1)).toMatchObject({
      id: run.taskId,
      source: { type: 'automation', automationId: id, automationRunId: run.id },
    });
  });

  it('a payload that no filter wants starts nothing, and its bytes go', async () => {
    const member = await makeMember(service);
    const { id: connectionId, path, secret } = await connect(service, member);
    const id = await automation(member, { filter: "ref == 'refs/heads/never'" });
    expect((await deliver(service, path, github(secret))).text).toBe('{"accepted":true}');
    await until('its bytes to go', async () => {
      const rows = await service.db.query<{ payload: Buffer | null }>(
        'SELECT payload FROM hook_deliveries WHERE connection_id = $1',
        [connectionId],
      );
      return rows.length === 1 && rows[0]?.payload === null;
    });
    expect(await runsOf(member, id)).toEqual([]);
    // Once more, as after a crash before the end of the job was on record.
    const again = `INSERT INTO jobs (id, queue, data) SELECT $2, 'automation', jsonb_build_object('deliveryId', id)
      FROM hook_deliveries WHERE connection_id = $1`;
    await service.db.query(again, [connectionId, newId()]);
    await until('the job to end', async () => (await service.db.query('SELECT 1 FROM jobs')).length === 0);
    expect(await runsOf(member, id)).toEqual([]);
  });
});
