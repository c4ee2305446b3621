import { useService } from '../harness/app.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import {
  type AutomationBody,
  AUTOMATIONS,
  connectIntegration,
  createAutomation,
  DAILY,
  readAutomation,
} from '../harness/automation-requests.js';
import { createProject } from '../harness/projects.js';
import { slowIt } from '../harness/slow.js';
import { readTask } from '../harness/tasks.js';

const LATER = '2031-01-01T12:00:00+02:00';
const ON_PUSH = { cron: null, triggerEvent: 'github.push' };

describe('Automations (reference §12)', () => {
  let ann: Member;

  const service = useService();
  beforeAll(async () => {
    ann = await makeMember(service);
    await connectIntegration(service, ann.workspace.id);
  });

  const send = (json: object, client = ann.client) => client.post<ErrorBody>(AUTOMATIONS, { ...DAILY, ...json });

  describe('creating', () => {
    it('a minimal request carries name, content and a trigger: everything else has its default', async () => {
      const { status, body, headers } = await ann.client.post<{ automation: AutomationBody }>(AUTOMATIONS, DAILY);
      expect(status).toBe(201);
      const { automation } = body;
      expect(automation).toEqual({
        id: expect.stringMatching(/^[0-9a-f-]{14}7/),
        ...DAILY,
        kind: 'recurring',
        status: 'active',
        pausedReason: null,
        projectId: null,
        model: null,
        effort: null,
        environment: null,
        agent: null,
        checks: null,
        maxRepairs: null,
        secrets: null,
        approvals: 'none',
        whenBlocked: 'fail',
        web: null,
        skills: null,
        mcpServers: null,
        budget: null,
        repository: null,
        timezone: 'UTC',
        runAt: null,
        triggerEvent: null,
        filter: null,
        overlap: 'skip',
        nextRunAt: expect.stringMatching(/T09:30:00\.000Z$/),
        upcomingRunsAt: Array<unknown>(5).fill(expect.stringMatching(/T09:30:00\.000Z$/)),
        lastRunAt: null,
        lastRunStatus: null,
        lastTaskId: null,
        consecutiveFailures: 0,
        owner: { id: ann.user.id, name: expect.any(String) },
        createdAt: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
        updatedAt: automation.createdAt,
      });
      expect(automation.upcomingRunsAt[0]).toBe(automation.nextRunAt);
      expect(headers.get('location')).toBe(`/v1/automations/${automation.id}`);
      expect(await readAutomation(ann.client, automation.id)).toEqual(automation);
    });

    it('the trigger says the kind: cron, runAt or triggerEvent', async () => {
      const once = await createAutomation(ann, { cron: undefined, runAt: LATER });
      const instant = '2031-01-01T10:00:00.000Z';
      expect(once).toMatchObject({ kind: 'one_time', runAt: instant, nextRunAt: instant, upcomingRunsAt: [instant], cron: null, timezone: null, overlap: 'skip' }); // prettier-ignore
      const hook = await createAutomation(ann, { ...ON_PUSH, filter: "ref == 'refs/heads/main'" });
      expect(hook).toMatchObject({ kind: 'webhook', triggerEvent: 'github.push', nextRunAt: null, upcomingRunsAt: [], overlap: 'allow' }); // prettier-ignore
      expect(await createAutomation(ann, { kind: 'recurring', timezone: 'Europe/Berlin' })).toMatchObject({
        kind: 'recurring',
        timezone: 'Europe/Berlin',
      });
      const all = await createAutomation(ann, {
        triggerEvent: 'github.pull_request.*',
        cron: undefined,
        kind: 'webhook',
      });
      expect(all.triggerEvent).toBe('github.pull_request.*');
    });

    it('takes what tasks take: project, model, effort, approvals, what to do when blocked, and a budget', async () => {
      const { id: projectId } = await createProject(ann);
      const given = {
        projectId,
        model: 'runbook',
        effort: 'low',
        approvals: 'writes',
        whenBlocked: 'wait',
        overlap: 'queue',
      };
      const made = await createAutomation(ann, { ...given, budget: { maxSteps: 5 } });
      const run = await ann.client.post<{ run: { taskId: string } }>(`/v1/automations/${made.id}/run`);
      expect((await readTask(ann.client, run.body.run.taskId)) as object).toMatchObject({ whenBlocked: 'wait' });
      const budget = { maxSteps: 5, maxTokens: null, maxDurationSeconds: null, maxCost: null };
      expect(made).toMatchObject({ ...given, budget });
    });

    it.each<[string, object, string, string | null]>([
      ['without a name', { name: undefined }, 'invalid_field', 'name'],
      ['with a name of two lines', { name: 'a\nb' }, 'invalid_field', 'name'],
      ['with a name of 201 characters', { name: 'x'.repeat(201) }, 'invalid_field', 'name'],
      ['without content', { content: undefined }, 'invalid_field', 'content'],
      ['with content of null', { content: null }, 'invalid_field', 'content'],
      ['with blank content', { content: ' \n' }, 'invalid_field', 'content'],
      ['with content of 200,001 characters', { content: 'x'.repeat(200_001) }, 'invalid_field', 'content'],
      ['without a trigger', { cron: undefined }, 'invalid_field', null],
      ['with triggers of null', { cron: null, runAt: null, triggerEvent: null }, 'invalid_field', null],
      ['with two triggers', { runAt: LATER }, 'invalid_field', null],
      ['with three', { runAt: LATER, triggerEvent: 'github.push' }, 'invalid_field', null],
      ['with another kind than its trigger', { kind: 'webhook' }, 'invalid_field', 'kind'],
      ['with an unknown kind', { kind: 'daily' }, 'invalid_field', 'kind'],
      ['with a filter beside cron', { filter: 'a' }, 'invalid_field', 'filter'],
      ['with a time zone beside runAt', { cron: null, runAt: LATER, timezone: 'UTC' }, 'invalid_field', 'timezone'],
      ['with six fields', { cron: '0 0 * * * *' }, 'invalid_cron', 'cron'],
      ['with a nickname', { cron: '@daily' }, 'invalid_cron', 'cron'],
      ['with a date that does not exist', { cron: '0 0 30 2 *' }, 'invalid_cron', 'cron'],
      ['with an empty expression', { cron: '' }, 'invalid_cron', 'cron'],
      ['with a number as cron', { cron: 5 }, 'invalid_field', 'cron'],
      ['with a list as cron', { cron: ['* * * * *'] }, 'invalid_field', 'cron'],
      ['with cron of 501 characters', { cron: '0,'.repeat(250) + '0' }, 'invalid_field', 'cron'],
      ['with an unknown time zone', { timezone: 'Mars/Olympus' }, 'invalid_timezone', 'timezone'],
      ['with an offset as time zone', { timezone: '+01:00' }, 'invalid_timezone', 'timezone'],
      ['with a past runAt', { cron: null, runAt: '2020-01-01T00:00:00Z' }, 'schedule_in_past', 'runAt'],
      ['with runAt without an offset', { cron: null, runAt: '2031-01-01T00:00:00' }, 'invalid_field', 'runAt'],
      ['with a day that does not exist', { cron: null, runAt: '2031-02-30T00:00:00Z' }, 'invalid_field', 'runAt'],
      ['with a day as runAt', { cron: null, runAt: '2031-02-03' }, 'invalid_field', 'runAt'],
      ['with a number as runAt', { cron: null, runAt: 1_900_000_000 }, 'invalid_field', 'runAt'],
      ['with an unknown event', { cron: null, triggerEvent: 'github.nothing' }, 'unknown_trigger_event', 'triggerEvent'],
      ['with an event of several lines', { cron: null, triggerEvent: 'svn\n.push' }, 'unknown_trigger_event', 'triggerEvent'],
      ['with an unknown integration', { cron: null, triggerEvent: 'svn.push' }, 'unknown_trigger_event', 'triggerEvent'],
      ['with no event', { cron: null, triggerEvent: '' }, 'unknown_trigger_event', 'triggerEvent'],
      ['with an event of nothing connected', { cron: null, triggerEvent: 'gitlab.push' }, 'integration_not_connected', 'triggerEvent'],
      ['with a filter that does not compile', { ...ON_PUSH, filter: 'a ==' }, 'invalid_filter', 'filter'],
      ['with an empty filter', { ...ON_PUSH, filter: '' }, 'invalid_filter', 'filter'],
      ['with a filter of 1,001 characters', { ...ON_PUSH, filter: 'a'.repeat(1001) }, 'invalid_field', 'filter'],
      ['with another overlap', { overlap: 'none' }, 'invalid_field', 'overlap'],
      ['with an unknown model', { model: 'gpt-0' }, 'model_not_available', 'model'],
      ['with a model of several lines', { model: 'gpt\n\n0' }, 'model_not_available', 'model'],
      ['with an unknown effort', { effort: 'huge' }, 'invalid_field', 'effort'],
      ['with other approvals', { approvals: 'all' }, 'invalid_field', 'approvals'],
      ['with a budget of 0 steps', { budget: { maxSteps: 0 } }, 'invalid_field', 'budget.maxSteps'],
      ['with a list as budget', { budget: [] }, 'invalid_field', 'budget'],
      ['with a number as project', { projectId: 5 }, 'invalid_field', 'projectId'],
      ['with a payload and no dry run', { samplePayload: {} }, 'invalid_field', 'samplePayload'],
      ['with text as dryRun', { dryRun: 'yes' }, 'invalid_field', 'dryRun'],
      ['with an unknown field', { owner: 'me' }, 'unknown_field', 'owner'],
    ])('%s is 400, and nothing is made', async (_what, json, code, param) => {
      const count = () => service.db.query('SELECT count(*)::int FROM automations');
      const before = await count();
      const { status, body } = await send(json);
      expect([status, body.error.code, body.error.param]).toEqual([400, code, param]);
      expect(await count()).toEqual(before);
    }); // prettier-ignore

    it('an unknown project, and one that the caller does not see, are 404 with its param', async () => {
      const stranger = await makeMember(service);
      const { id } = await createProject(stranger);
      for (const projectId of [id, crypto.randomUUID(), 'x']) {
        const { status, body } = await send({ projectId });
        expect([status, body.error.code, body.error.param]).toEqual([404, 'not_found', 'projectId']);
      }
    });

    it('may carry an Idempotency-Key: sent again it makes no second one, and another body is 409', async () => {
      const headers = { 'Idempotency-Key': crypto.randomUUID() };
      const post = (json: object) => ann.client.request<{ automation: AutomationBody } & ErrorBody>('POST', AUTOMATIONS, { json, headers }); // prettier-ignore
      const first = await post(DAILY);
      expect((await ann.client.delete(`${AUTOMATIONS}/${first.body.automation.id}`)).status).toBe(200);
      const second = await post(DAILY);
      expect([second.status, second.text]).toEqual([201, first.text]);
      expect(second.headers.get('idempotent-replayed')).toBe('true');
      expect((await post({ ...DAILY, name: 'B' })).body.error.code).toBe('idempotency_key_reused');
      expect((await ann.client.request('POST', AUTOMATIONS, { json: DAILY })).status).toBe(201);
    });
  });

  describe('a dry run', () => {
    const rehearse = (json: object) =>
      ann.client.post<ErrorBody & { automation: AutomationBody; upcomingRunsAt: string[]; wouldRun: boolean | null }>(
        AUTOMATIONS,
        { ...DAILY, dryRun: true, ...json },
      );

    it('checks all and makes nothing: 200, the automation without an id, its next times', async () => {
      const lone = await makeMember(service);
      const json = { ...DAILY, dryRun: true, timezone: 'Europe/Berlin' };
      const { status, body, headers } = await lone.client.post<{ automation: AutomationBody; upcomingRunsAt: string[] }>(AUTOMATIONS, json); // prettier-ignore
      expect([status, headers.get('location')]).toEqual([200, null]);
      expect(body).toEqual({
        automation: body.automation,
        upcomingRunsAt: body.automation.upcomingRunsAt,
        wouldRun: null,
      });
      expect(body.automation).toMatchObject({ id: null, status: 'active', timezone: 'Europe/Berlin', owner: { id: lone.user.id } }); // prettier-ignore
      expect(body.upcomingRunsAt).toHaveLength(5);
      expect((await lone.client.get(AUTOMATIONS)).body).toEqual({ automations: [], nextCursor: null });
    });

    it('ignores an Idempotency-Key: the same key makes another one afterwards', async () => {
      const headers = { 'Idempotency-Key': crypto.randomUUID() };
      const post = (json: object) => ann.client.request('POST', AUTOMATIONS, { json, headers });
      for (const _time of [1, 2]) {
        const dry = await post({ ...DAILY, dryRun: true });
        expect([dry.status, dry.headers.get('idempotent-replayed')]).toEqual([200, null]);
      }
      expect((await post(DAILY)).status).toBe(201);
    });

    it.each<[string, object, boolean | null]>([
      ['without a payload it is not known', { ...ON_PUSH, filter: 'a' }, null],
      ['without a filter every payload starts one', { ...ON_PUSH, samplePayload: {} }, true],
      ['a filter that is true of the payload', { ...ON_PUSH, filter: "ref == 'main'", samplePayload: { ref: 'main' } }, true],
      ['one that is false', { ...ON_PUSH, filter: "ref == 'main'", samplePayload: { ref: 'dev' } }, false],
      ['a list as payload', { ...ON_PUSH, filter: '[0].toString', samplePayload: [{ toString: 1 }] }, true],
    ])('says whether the sample payload would start a run: %s', async (_what, json, expected) => {
      const { status, body } = await rehearse(json);
      expect([status, body.wouldRun]).toEqual([200, expected]);
    }); // prettier-ignore

    slowIt('holds no connection while its filter is asked, which takes its time', async () => {
      // Takes the list once for each of its elements, six levels deep: it is ended after 100 ms.
      const filter = Array.from({ length: 6 }).reduce<string>((inner) => `map(&(${inner}), $.n)`, '@');
      const json = { ...ON_PUSH, filter, samplePayload: { n: Array.from({ length: 100 }, (_, n) => n) } };
      const asked = Array.from({ length: 12 }, () => rehearse(json));
      let over = false;
      const answers = Promise.all(asked).finally(() => (over = true));
      let most = 0;
      while (!over) {
        const [row] = await service.db.query<{ n: number }>(
          `SELECT count(*)::int AS n FROM pg_stat_activity
           WHERE datname = current_database() AND state = 'idle in transaction' AND clock_timestamp() - state_change > interval '50 ms'`,
        );
        most = Math.max(most, row?.n ?? 0);
      }
      for (const { status, body } of await answers) expect([status, body.error.param]).toEqual([400, 'filter']);
      // Of ten. A busy machine can keep a short transaction for so long too.
      expect(most).toBeLessThan(5);
    });

    it.each<[object, string, string]>([
      [{ cron: '@daily' }, 'invalid_cron', 'cron'],
      [{ samplePayload: {} }, 'invalid_field', 'samplePayload'],
      // Fields come before what exists.
      [{ samplePayload: {}, projectId: '01a2047b-2baf-772d-b7a8-6b80d6175e36' }, 'invalid_field', 'samplePayload'],
      [{ ...ON_PUSH, samplePayload: 'x' }, 'invalid_field', 'samplePayload'],
      [{ ...ON_PUSH, samplePayload: null }, 'invalid_field', 'samplePayload'],
      [{ cron: null, triggerEvent: 'gitlab.push' }, 'integration_not_connected', 'triggerEvent'],
    ])('refuses as a create does: %j', async (json, code, param) => {
      const { status, body } = await rehearse(json);
      expect([status, body.error.code, body.error.param]).toEqual([400, code, param]);
    });
  });
});
