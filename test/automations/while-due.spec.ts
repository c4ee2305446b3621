// What people do to automations at the moment at which they are due (reference §12): before or after, never half.
import { MembershipsService } from '../../src/access/workspaces/memberships.service.js';
import { bootWorker, useService } from '../harness/app.js';
import { plan, readAutomation, runsOf } from '../harness/automations.js';
import { makeMember, type Member } from '../harness/client.js';
import { createProject } from '../harness/projects.js';
import { until } from '../harness/until.js';

const COUNT = 12;

describe('an automation that is due at this moment', () => {
  const service = useService(bootWorker);
  let owner: Member;
  beforeEach(async () => {
    owner = await makeMember(service);
  });

  /** Some that are due within the next tenth of a second, and what is done to each meanwhile. */
  async function meanwhile(act: (id: string, n: number) => Promise<unknown>, given = {}): Promise<string[]> {
    const ids: string[] = [];
    for (let n = 0; n < COUNT; n++) {
      ids.push(
        await plan(service.db, owner, { cron: '0 0 1 1 *', overlap: 'allow', dueIn: 0.15, content: 'x', ...given }),
      );
    }
    await Promise.all(ids.map(act));
    return ids;
  }
  const nothingDue = () =>
    until('nothing to be due', async () => {
      const due = await service.db.query(
        `SELECT 1 FROM automations WHERE status = 'active' AND next_run_at <= now() + interval '1 minute'`,
      );
      return due.length === 0;
    });
  /** Each run that has started has its task, and each task its run. */
  async function whole(): Promise<void> {
    const halves = await service.db.query(
      `SELECT r.id FROM automation_runs r FULL JOIN tasks t ON t.automation_run_id = r.id AND r.task_id = t.id
       WHERE (r.status = 'started' AND t.id IS NULL) OR (t.automation_run_id IS NOT NULL AND r.id IS NULL)`,
    );
    expect(halves).toEqual([]);
  }

  it('is paused before it fires, or after', async () => {
    const ids = await meanwhile((id) => owner.client.post(`/v1/automations/${id}/pause`));
    await nothingDue();
    for (const id of ids) {
      expect(await readAutomation(service.db, id)).toMatchObject({ status: 'paused', nextRunAt: null });
      expect((await runsOf(service.db, id)).length).toBeLessThanOrEqual(1);
    }
    await whole();
  });

  it('fires once at most when it is paused and resumed', async () => {
    const ids = await meanwhile(async (id) => {
      await owner.client.post(`/v1/automations/${id}/pause`);
      await owner.client.post(`/v1/automations/${id}/resume`);
    });
    await nothingDue();
    for (const id of ids) {
      expect(await readAutomation(service.db, id)).toMatchObject({ status: 'active' });
      expect((await runsOf(service.db, id)).length).toBeLessThanOrEqual(1);
    }
    await whole();
  });

  it('fires by its old time or not at all when its schedule is edited', async () => {
    const ids = await meanwhile((id) => owner.client.patch(`/v1/automations/${id}`, { cron: '0 0 2 1 *' }));
    await nothingDue();
    for (const id of ids) {
      const { nextRunAt } = await readAutomation(service.db, id);
      expect(nextRunAt?.toISOString()).toMatch(/-01-02T00:00:00/);
      expect((await runsOf(service.db, id)).length).toBeLessThanOrEqual(1);
    }
    await whole();
  });

  it('fires in its project or without one when that is deleted', async () => {
    const project = await createProject(owner);
    let gone: Promise<unknown> | undefined;
    const ids = await meanwhile(() => (gone ??= owner.client.delete(`/v1/projects/${project.id}`)), {
      projectId: project.id,
    });
    await nothingDue();
    for (const id of ids) expect(await runsOf(service.db, id)).toMatchObject([{ status: 'started' }]);
    expect(await service.db.query('SELECT 1 FROM tasks WHERE project_id = $1', [project.id])).toEqual([]);
    await whole();
  });

  it('of an owner who is removed fires before, and its task is cancelled, or never', async () => {
    const boss = owner;
    owner = await makeMember(service, { workspace: boss.workspace });
    let gone: Promise<unknown> | undefined;
    const remove = () => service.app.get(MembershipsService).remove(boss.workspace.id, owner.user.id);
    const ids = await meanwhile(() => (gone ??= remove()));
    await nothingDue();
    for (const id of ids) {
      expect(await readAutomation(service.db, id)).toMatchObject({
        status: 'paused',
        pausedReason: { code: 'owner_removed' },
      });
      expect((await runsOf(service.db, id)).length).toBeLessThanOrEqual(1);
    }
    const open = `SELECT 1 FROM tasks WHERE created_by = $1 AND status IN ('queued', 'running')`;
    expect(await service.db.query(open, [owner.user.id])).toEqual([]);
    await whole();
  });
});
