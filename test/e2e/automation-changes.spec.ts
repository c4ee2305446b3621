import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import {
  type AutomationBody,
  AUTOMATIONS,
  connectIntegration,
  createAutomation,
  inSeconds,
  readAutomation,
  type RunBody,
} from '../harness/automation-requests.js';
import { useService } from '../harness/app.js';
import { createProject } from '../harness/projects.js';

const LATER = '2031-01-01T12:00:00+02:00';
const ON_PUSH = { cron: null, triggerEvent: 'github.push' };

describe('Automations that are there (reference §12)', () => {
  let ann: Member;

  const service = useService();
  beforeAll(async () => {
    ann = await makeMember(service);
    await connectIntegration(service, ann.workspace.id);
  });

  const change = (id: string, json: object) =>
    ann.client.patch<{ automation: AutomationBody } & ErrorBody>(`${AUTOMATIONS}/${id}`, json);
  const act = (id: string, verb: string, client = ann.client) =>
    client.request<{ automation: AutomationBody } & ErrorBody>('POST', `${AUTOMATIONS}/${id}/${verb}`);
  const complete = (id: string) =>
    service.db.query(`UPDATE automations SET status = 'completed', next_run_at = NULL WHERE id = $1`, [id]);

  describe('changing', () => {
    it('PATCH changes what it is given, null clears what is optional, {} changes nothing', async () => {
      const { id: projectId } = await createProject(ann);
      const made = await createAutomation(ann, { projectId, model: 'runbook', effort: 'low', budget: { maxSteps: 1 }, approvals: 'writes', overlap: 'allow' }); // prettier-ignore
      expect((await change(made.id, {})).body).toEqual({ automation: made });
      const renamed = (await change(made.id, { name: ' B ' })).body.automation;
      expect(renamed).toEqual({ ...made, name: 'B', updatedAt: renamed.updatedAt });
      expect(renamed.updatedAt > made.updatedAt).toBe(true);
      const nothing = { projectId: null, model: null, effort: null, budget: null, approvals: null, overlap: null };
      const cleared = (await change(made.id, nothing)).body.automation;
      expect(cleared).toMatchObject({ ...nothing, name: 'B', approvals: 'none', overlap: 'skip' });
      expect(await readAutomation(ann.client, made.id)).toEqual(cleared);
    });

    it('another trigger clears the old one, and the next times follow', async () => {
      const { id } = await createAutomation(ann, { timezone: 'Europe/Berlin' });
      const once = (await change(id, { runAt: LATER })).body.automation;
      expect(once).toMatchObject({ kind: 'one_time', cron: null, timezone: null, upcomingRunsAt: [once.runAt] });
      const hook = (await change(id, { triggerEvent: 'github.push', filter: 'a' })).body.automation;
      expect(hook).toMatchObject({ kind: 'webhook', runAt: null, filter: 'a', nextRunAt: null });
      const again = (await change(id, { cron: '0 0 * * *' })).body.automation;
      expect(again).toMatchObject({ kind: 'recurring', triggerEvent: null, filter: null, timezone: 'UTC' });
      const zoned = (await change(id, { timezone: 'Asia/Tokyo' })).body.automation;
      expect([zoned.cron, zoned.nextRunAt?.slice(11)]).toEqual(['0 0 * * *', '15:00:00.000Z']);
    });

    it.each<[object, string, string | null]>([
      [{ name: null }, 'invalid_field', 'name'],
      [{ content: null }, 'invalid_field', 'content'],
      [{ cron: null }, 'invalid_field', null],
      [{ cron: null, runAt: null }, 'invalid_field', null],
      [{ cron: '0 0 * * *', runAt: LATER }, 'invalid_field', null],
      [{ kind: 'one_time' }, 'invalid_field', 'kind'],
      [{ filter: 'a' }, 'invalid_field', 'filter'],
      [{ runAt: '2020-01-01T00:00:00Z' }, 'schedule_in_past', 'runAt'],
      [{ cron: '* * * *' }, 'invalid_cron', 'cron'],
      [{ timezone: 'x' }, 'invalid_timezone', 'timezone'],
      [{ triggerEvent: 'gitlab.push' }, 'integration_not_connected', 'triggerEvent'],
      [{ model: 'gpt-0' }, 'model_not_available', 'model'],
      [{ dryRun: true }, 'unknown_field', 'dryRun'],
      [{ status: 'paused' }, 'unknown_field', 'status'],
    ])('is checked as a create: %j is 400, and nothing changes', async (json, code, param) => {
      const made = await createAutomation(ann);
      const { status, body } = await change(made.id, json);
      expect([status, body.error.code, body.error.param]).toEqual([400, code, param]);
      expect(await readAutomation(ann.client, made.id)).toEqual(made);
    });

    it('a new runAt makes a completed one active again, and so does another trigger', async () => {
      const { id } = await createAutomation(ann, { cron: undefined, runAt: LATER });
      for (const json of [{ runAt: inSeconds(86_400) }, { cron: '0 0 * * *' }]) {
        await complete(id);
        expect((await change(id, { name: 'C' })).body.automation).toMatchObject({
          status: 'completed',
          nextRunAt: null,
        });
        const { automation } = (await change(id, json)).body;
        expect([automation.status, automation.nextRunAt === null]).toEqual(['active', false]);
      }
    });

    it('a paused one stays paused, whatever its trigger', async () => {
      const { id } = await createAutomation(ann);
      await act(id, 'pause');
      expect((await change(id, { cron: '0 0 * * *' })).body.automation).toMatchObject({
        status: 'paused',
        nextRunAt: null,
        upcomingRunsAt: [],
      });
    });
  });

  describe('pausing and resuming', () => {
    it('a paused one has a reason and no next time; pausing twice is 200', async () => {
      const made = await createAutomation(ann);
      const first = await act(made.id, 'pause');
      expect([first.status, first.body.automation]).toEqual([
        200,
        expect.objectContaining({ status: 'paused', pausedReason: { code: 'manual', message: 'Paused on request.' }, nextRunAt: null, upcomingRunsAt: [] }),
      ]); // prettier-ignore
      const second = await act(made.id, 'pause');
      expect([second.status, second.body]).toEqual([200, first.body]);
      const resumed = await act(made.id, 'resume');
      const { updatedAt } = resumed.body.automation;
      expect([resumed.status, resumed.body.automation]).toEqual([200, { ...made, updatedAt }]);
      expect((await act(made.id, 'resume')).body).toEqual(resumed.body);
    });

    it('resuming counts from now: what came meanwhile is not made up for', async () => {
      const { id } = await createAutomation(ann, { cron: '* * * * *' });
      await act(id, 'pause');
      await service.db.query(`UPDATE automations SET created_at = now() - interval '1 day' WHERE id = $1`, [id]);
      const { automation } = (await act(id, 'resume')).body;
      expect(Date.parse(automation.nextRunAt ?? '')).toBeGreaterThan(Date.now() - 1_000);
    });

    it('resuming a one-time whose time passed is 400 schedule_in_past', async () => {
      const { id } = await createAutomation(ann, { cron: undefined, runAt: LATER });
      await act(id, 'pause');
      await service.db.query(`UPDATE automations SET run_at = now() - interval '1 second' WHERE id = $1`, [id]);
      const { status, body } = await act(id, 'resume');
      expect([status, body.error.code]).toEqual([400, 'schedule_in_past']);
      expect((await readAutomation(ann.client, id)).status).toBe('paused');
    });

    it('resuming starts the count of failures anew', async () => {
      const { id } = await createAutomation(ann);
      const failures = { code: 'failures', message: 'x' };
      await service.db.query(`UPDATE automations SET status = 'paused', paused_reason = $2, consecutive_failures = 10 WHERE id = $1`, [id, failures]); // prettier-ignore
      expect((await act(id, 'resume')).body.automation).toMatchObject({ status: 'active', consecutiveFailures: 0 });
    });

    it('pausing or resuming a completed one is 409', async () => {
      const { id } = await createAutomation(ann, { cron: undefined, runAt: LATER });
      await complete(id);
      for (const verb of ['pause', 'resume']) {
        const { status, body } = await act(id, verb);
        expect([status, body.error.code]).toEqual([409, 'automation_completed']);
      }
    });

    it('an event whose connection is gone is 400 on resuming; it is bound to a new one', async () => {
      const eve = await makeMember(service);
      await connectIntegration(service, eve.workspace.id);
      const { id } = await createAutomation(eve, ON_PUSH);
      await act(id, 'pause', eve.client);
      await service.db.query('DELETE FROM connections WHERE workspace_id = $1', [eve.workspace.id]);
      expect((await act(id, 'resume', eve.client)).body.error.code).toBe('integration_not_connected');
      await connectIntegration(service, eve.workspace.id);
      expect((await act(id, 'resume', eve.client)).body.automation.status).toBe('active');
    });
  });

  describe('running it by hand', () => {
    it('makes a run and its task at once, in every state, and the automation tells of its last run', async () => {
      const { id } = await createAutomation(ann, { content: 'Sweep.' });
      for (const prepare of [() => Promise.resolve(), () => act(id, 'pause'), () => complete(id)]) {
        await prepare();
        const { status, body } = await ann.client.post<{ run: RunBody }>(`${AUTOMATIONS}/${id}/run`);
        expect([status, body.run]).toEqual([202, {
          id: expect.any(String),
          automationId: id,
          trigger: { type: 'manual', scheduledAt: null, event: null },
          status: 'started',
          reason: null,
          taskId: expect.any(String),
          createdAt: expect.any(String),
        }]); // prettier-ignore
        const { body: read } = await ann.client.get<{ task: object }>(`/v1/tasks/${body.run.taskId}`);
        const source = { type: 'automation', automationId: id, automationRunId: body.run.id };
        expect(read.task).toMatchObject({ source, createdBy: { id: ann.user.id } });
        const { lastRunAt, lastRunStatus, lastTaskId } = await readAutomation(ann.client, id);
        expect([lastRunAt, lastRunStatus, lastTaskId]).toEqual([body.run.createdAt, 'started', body.run.taskId]);
      }
      const { body } = await ann.client.get<{ tasks: unknown[] }>(`/v1/tasks?automationId=${id}`);
      expect(body.tasks).toHaveLength(3);
      for (const other of [crypto.randomUUID(), 'x']) {
        expect((await ann.client.get<{ tasks: unknown[] }>(`/v1/tasks?automationId=${other}`)).body.tasks).toEqual([]);
      }
    });

    it('may carry an Idempotency-Key: sent again it makes no second run', async () => {
      const { id } = await createAutomation(ann);
      const headers = { 'Idempotency-Key': crypto.randomUUID() };
      const run = () => ann.client.request<{ run: RunBody }>('POST', `${AUTOMATIONS}/${id}/run`, { headers });
      const [first, second] = [await run(), await run()];
      expect([second.text, second.headers.get('idempotent-replayed')]).toEqual([first.text, 'true']);
      const { body } = await ann.client.get<{ runs: RunBody[] }>(`${AUTOMATIONS}/${id}/runs`);
      expect(body.runs).toEqual([first.body.run]);
      expect((await ann.client.request('POST', `${AUTOMATIONS}/${id}/run`, { json: { a: 1 } })).status).toBe(400);
    });
  });

  it('deleting takes the runs along, the tasks stay; deleting again is 404', async () => {
    const { id } = await createAutomation(ann);
    const { body } = await ann.client.post<{ run: RunBody }>(`${AUTOMATIONS}/${id}/run`);
    const first = await ann.client.delete(`${AUTOMATIONS}/${id}`);
    expect([first.status, first.body]).toEqual([200, { deleted: true, id }]);
    expect((await ann.client.delete(`${AUTOMATIONS}/${id}`)).status).toBe(404);
    expect((await ann.client.get(`${AUTOMATIONS}/${id}/runs`)).status).toBe(404);
    expect((await ann.client.get(`/v1/tasks/${body.run.taskId}`)).status).toBe(200);
    expect((await ann.client.get<{ tasks: unknown[] }>(`/v1/tasks?automationId=${id}`)).body.tasks).toHaveLength(1);
  });
});
