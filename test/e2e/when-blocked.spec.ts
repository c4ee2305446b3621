import { jest } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { ModelCatalog } from '../../src/engine/models/model-catalog.js';
import { EngineSettings } from '../../src/engine/agent/engine-settings.js';
import { LazySandbox } from '../../src/engine/agent/lazy-sandbox.js';
import { SandboxError } from '../../src/engine/sandbox/sandbox.js';
import { bootWorker, useService } from '../harness/app.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { readEvents } from '../harness/events.js';
import { type Answer, ModelServer } from '../harness/model-server.js';
import type { Answered, PausedTask } from '../harness/pauses.js';
import { call, createTask, finished, readResults, readTask, type TaskBody } from '../harness/tasks.js';
import { until } from '../harness/until.js';

type Waiting = PausedTask & { whenBlocked: string };

const MINUTE = 60_000;
const WEEK = 7 * 24 * 60 * MINUTE;
const bash = (...commands: string[]): Answer => ({
  calls: commands.flatMap((command) => call('bash', { command }).calls ?? []),
});
const QUOTA = 4 * 1024 * 1024;

/** What each code comes from, and whether the time that it waits for is the provider's. */
const MODEL_FAILURES: [code: string, answer: Answer, waitMs: number][] = [
  ['model_quota', { status: 402 }, MINUTE],
  ['model_credentials', { status: 401 }, MINUTE],
  ['model_overloaded', { status: 429, headers: { 'retry-after': '3600' } }, 60 * MINUTE],
];

describe('A task that waits for what blocks it (reference §5)', () => {
  let server: ModelServer;
  let member: Member;
  /** What the models answer, one after the other; the last one again and again. */
  let answers: Answer[] = [];

  const service = useService(async () => {
    server = await ModelServer.start(() => (answers.length > 1 ? answers.shift() : answers[0]) ?? {});
    const models = ['main', ...MODEL_FAILURES.map(([code]) => code)].map((id) => ({
      id,
      provider: 'openai-compatible',
      baseUrl: server.url,
    }));
    return bootWorker({
      config: { models, plans: { free: { storageBytes: QUOTA }, paid: { runningTasks: 100, storageBytes: QUOTA } } },
    });
  });
  beforeAll(() => {
    service.app.get(EngineSettings, { strict: false }).attempts = 1;
  });
  beforeEach(async () => {
    member = await makeMember(service);
    answers = [{ text: 'Done.' }];
  });
  afterEach(() => void jest.restoreAllMocks());
  afterAll(() => server.stop());

  const create = (more: object = {}) =>
    createTask(member.client, { content: 'Begin.', model: 'main', whenBlocked: 'wait', ...more });
  const read = async (id: string) => (await readTask(member.client, id)) as Waiting;
  const blocked = (id: string, times = 1) =>
    until('the task to wait', async () => {
      const [row] = await service.db.query<{ n: number }>(
        `SELECT (blocked ->> 'times')::int AS n FROM tasks WHERE id = $1 AND paused`,
        [id],
      );
      return row?.n === times ? read(id) : null;
    });
  const resume = async (id: string) =>
    expect((await member.client.post<Answered>(`/v1/tasks/${id}/resume`)).status).toBe(200);
  /** Milliseconds from the last change of the task to its resume. */
  const waitOf = ({ resumesAt, updatedAt }: TaskBody & { resumesAt: string | null; updatedAt?: string }) =>
    Date.parse(resumesAt ?? '') - Date.parse(updatedAt ?? '');
  const windows = (given: object[]) =>
    service.db.query('UPDATE workspaces SET usage_windows = $2 WHERE id = $1', [member.workspace.id, JSON.stringify(given)]); // prettier-ignore

  it.each(MODEL_FAILURES)(
    '%s: queued with that code until the time that is said, and then it goes on',
    async (code, answer, waitMs) => {
      answers = [{ ...bash('echo one >> log; cat log'), usage: { input: 1, output: 1 } }, answer];
      const { id } = await create({ model: code });
      const task = await blocked(id);
      expect(task).toMatchObject({ status: 'queued', statusReason: { code }, finishedAt: null, waitingFor: null });
      expect(waitOf(task)).toBe(waitMs);
      answers = [{ text: 'Done.' }];
      await service.db.query('UPDATE tasks SET resumes_at = now() WHERE id = $1', [id]);
      // It is not asked for a while when it refused the key or the account.
      service.app.get(ModelCatalog, { strict: false }).health.succeeded(code);
      expect(await finished(member.client, id)).toMatchObject({
        status: 'completed',
        usage: { steps: 2 },
        resumesAt: null,
      });
      expect(await readResults(member.client, id)).toMatchObject([{ output: { stdout: 'one\n' } }]);
    },
  );

  it('usage_exhausted: until the reset of the window', async () => {
    await windows([{ window: 'day', unit: 'tokens', allowance: 10 }]);
    answers = [{ ...bash('echo one >> log; cat log'), usage: { input: 10, output: 10 } }, { text: 'Done.' }];
    const { id } = await create();
    const task = await blocked(id);
    const midnight = new Date(new Date().setUTCHours(24, 0, 0, 0)).toISOString();
    expect(task).toMatchObject({ status: 'queued', statusReason: { code: 'usage_exhausted' }, resumesAt: midnight });
    await windows([]);
    await service.db.query('UPDATE tasks SET resumes_at = now() WHERE id = $1', [id]);
    expect(await finished(member.client, id)).toMatchObject({
      status: 'completed',
      usage: { steps: 2 },
      resumesAt: null,
    });
    expect(await readResults(member.client, id)).toMatchObject([{ output: { stdout: 'one\n' } }]);
  });

  it('storage_exhausted at a call: the call begins when there is room, and the model is not asked for it again', async () => {
    const { workspace } = member;
    const fill = (bytes: number) => service.db.query('UPDATE storage_usage SET stored_bytes = $2 WHERE workspace_id = $1', [workspace.id, bytes]); // prettier-ignore
    await fill(QUOTA + 1);
    answers = [bash('echo one >> log', 'cat log'), { text: 'Done.' }];
    const { id } = await create();
    expect(await blocked(id)).toMatchObject({ statusReason: { code: 'storage_exhausted' }, usage: { steps: 1 } });
    expect(await readResults(member.client, id)).toEqual([]);
    await resume(id);
    await blocked(id, 2);
    await fill(0);
    await resume(id);
    expect(await finished(member.client, id)).toMatchObject({ status: 'completed', usage: { steps: 2 } });
    expect(await readResults(member.client, id)).toMatchObject([
      { status: 'success' },
      { output: { stdout: 'one\n' } },
    ]);
  });

  it('sandbox_unavailable at a call of a task that asks first: the approved call begins later, without a second question', async () => {
    answers = [bash('echo ran'), { text: 'Done.' }];
    const get = jest.spyOn(LazySandbox.prototype, 'get').mockRejectedValue(new SandboxError('None.'));
    const { id } = await create({ approvals: 'writes' });
    const asked = await until('the question', async () => (await read(id)).pendingInteraction);
    const answer = { interactionId: asked.id, decision: 'approve' };
    await member.client.post(`/v1/tasks/${id}/interaction`, answer, { headers: { 'Idempotency-Key': randomUUID() } });
    expect(await blocked(id)).toMatchObject({ statusReason: { code: 'sandbox_unavailable' } });
    get.mockRestore();
    await resume(id);
    expect(await finished(member.client, id)).toMatchObject({ status: 'completed', usage: { steps: 2 } });
    expect(await readResults(member.client, id)).toMatchObject([{ status: 'success', output: { stdout: 'ran\n' } }]);
  });

  it('waits 1, 2, 5, 15, 30 and 60 minutes while it comes no further, and begins anew when it has', async () => {
    answers = [{ status: 402 }];
    const { id } = await create();
    const waits: number[] = [];
    for (let times = 1; times <= 7; times++) {
      waits.push(waitOf(await blocked(id, times)) / MINUTE);
      await resume(id);
    }
    expect(waits).toEqual([1, 2, 5, 15, 30, 60, 60]);
    await blocked(id, 8);
    await service.db.query(`UPDATE tasks SET steps = steps + 1 WHERE id = $1`, [id]);
    await resume(id);
    expect(waitOf(await blocked(id)) / MINUTE).toBe(1);
    await member.client.post(`/v1/tasks/${id}/cancel`);
  });

  it('waits at most 7 days for one thing, and fails then with its code', async () => {
    answers = [{ status: 402 }];
    const { id } = await create();
    await blocked(id);
    const ago = (ms: number) =>
      service.db.query(`UPDATE tasks SET blocked = blocked || jsonb_build_object('since', $2::timestamptz) WHERE id = $1`, [id, new Date(Date.now() - ms)]); // prettier-ignore
    await ago(WEEK - 30_000);
    await resume(id);
    const last = await blocked(id, 2);
    expect(waitOf(last)).toBeLessThan(30_000);
    await ago(WEEK);
    await resume(id);
    expect(await finished(member.client, id)).toMatchObject({
      status: 'failed',
      statusReason: { code: 'model_quota' },
      resumesAt: null,
    });
  });

  it('tells of it by task.queued with the code, and takes messages and a pause meanwhile', async () => {
    answers = [{ status: 402 }];
    const { id } = await create();
    await blocked(id);
    await member.client.post(`/v1/tasks/${id}/messages`, { content: 'And this.' });
    expect((await member.client.post<Answered>(`/v1/tasks/${id}/pause`)).body.task).toMatchObject({
      statusReason: { code: 'paused' },
      resumesAt: null,
    });
    answers = [{ text: 'Done.' }];
    await service.db.query(`UPDATE tasks SET model = 'main' WHERE id = $1`, [id]);
    const codes = (await readEvents(service.db, id)).flatMap((event) => {
      const { data } = event as { data?: { statusReason?: { code: string } | null } };
      return event.type === 'task.queued' ? [data?.statusReason?.code] : [];
    });
    expect(codes).toEqual(['model_quota', 'paused']);
    await member.client.post(`/v1/tasks/${id}/cancel`);
  });

  it('is what a task does that says so: the default is fail, PATCH changes it, and other failures are final', async () => {
    answers = [{ status: 402 }];
    const failing = await createTask(member.client, { content: 'Begin.', model: 'model_quota' });
    expect(failing).toMatchObject({ whenBlocked: 'fail' });
    expect(await finished(member.client, failing.id)).toMatchObject({
      status: 'failed',
      statusReason: { code: 'model_quota' },
    });
    const changed = await member.client.patch<{ task: Waiting }>(`/v1/tasks/${failing.id}`, { whenBlocked: 'wait' });
    expect(changed.body.task).toMatchObject({ whenBlocked: 'wait' });
    await member.client.post(`/v1/tasks/${failing.id}/messages`, { content: 'Again.' });
    await blocked(failing.id);
    await member.client.post(`/v1/tasks/${failing.id}/cancel`);
    const wrong = await member.client.patch<ErrorBody>(`/v1/tasks/${failing.id}`, { whenBlocked: 'hope' });
    expect([wrong.status, wrong.body.error.param]).toEqual([400, 'whenBlocked']);
    answers = [{ status: 400 }];
    const { id } = await create({ model: 'model_overloaded' });
    expect(await finished(member.client, id)).toMatchObject({
      status: 'failed',
      statusReason: { code: 'model_error' },
    });
  });
});
