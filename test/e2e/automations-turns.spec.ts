// Many automations of one workspace that are due, and one of another (docs/decisions/0037).
import { bootWorker, useService } from '../harness/app.js';
import { plan, runs } from '../harness/automations.js';
import { makeMember } from '../harness/client.js';

const MANY = 40;

describe('Automations of several workspaces that are due', () => {
  const service = useService(bootWorker);

  it('fire by turns: the one of a workspace does not wait for all of another', async () => {
    const [busy, other] = [await makeMember(service), await makeMember(service)];
    const given = { cron: '0 0 1 1 *', dueIn: null };
    for (let n = 0; n < MANY; n++) await plan(service.db, busy, given);
    const one = await plan(service.db, other, given);
    await service.db.query(
      `UPDATE automations SET next_run_at = date_trunc('minute', now()) - CASE id WHEN $1 THEN interval '0' ELSE interval '1 minute' END`,
      [one],
    );
    const [run] = await runs(service.db, one);
    const [before] = await service.db.query<{ n: number }>(
      'SELECT count(*)::int AS n FROM automation_runs WHERE created_at < (SELECT created_at FROM automation_runs WHERE id = $1)',
      [run?.id],
    );
    expect(before?.n).toBeLessThan(MANY / 2);
  });
});
