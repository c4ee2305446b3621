// What a provider's delivery starts, and how it reaches the agent (reference §12).
import { newId } from '../../src/platform/database/ids.js';
import { bootWorker, useService } from '../harness/app.js';
import { type PlannedAutomation, plan, readAutomation, runs, runsOf } from '../harness/automations.js';
import { makeMember, type Member } from '../harness/client.js';
import { connect, deliver, type Delivery, entries, github } from '../harness/hooks.js';
import { call, finished, readMessages, readResults } from '../harness/tasks.js';
import { type ChatRequest, ModelServer, steps, userText } from '../harness/model-server.js';
import { until } from '../harness/until.js';

const MARK = 'words-of-the-payload-4711';

describe('A delivery of a provider (reference §12)', () => {
  let model: ModelServer;
  let owner: Member;
  let path: string;
  let secret: string;
  let connectionId: string;

  const service = useService(async () => {
    model = await ModelServer.start(steps(call('bash', { command: 'cat event.json' }), { text: 'Done.' }));
    return bootWorker({
      env: { OPENAI_COMPATIBLE_URL: model.url },
      config: { plans: { free: { storageBytes: 1000 } } },
    });
  });
  afterAll(() => model.stop());
  beforeEach(async () => {
    owner = await makeMember(service);
    ({ id: connectionId, path, secret } = await connect(service, owner));
    model.requests.length = 0;
  });

  const on = (given: PlannedAutomation = {}) =>
    plan(service.db, owner, { triggerEvent: 'github.push', connectionId, ...given });
  const send = (delivery: Delivery) => deliver(service, path, delivery);
  const push = (more: object = {}) =>
    github(secret, { body: JSON.stringify({ ref: 'refs/heads/main', mark: MARK, ...more }) });
  /** Waits until the job of the last delivery is done. */
  const handled = () =>
    until('the deliveries to be handled', async () => {
      const left = await service.db.query(`SELECT 1 FROM jobs WHERE queue = 'automation'`);
      return left.length === 0;
    });

  it('starts a task that has it as event.json, and a notice that says so without a word of it', async () => {
    const id = await on({ content: 'Review what was pushed.' });
    const delivery = push();
    expect((await send(delivery)).status).toBe(200);
    const [run] = await runs(service.db, id);
    expect(run).toMatchObject({ triggerType: 'event', status: 'started', reason: null });
    const task = await finished(owner.client, run?.taskId ?? '');
    expect(task).toMatchObject({ status: 'completed', title: 'Review what was pushed.', source: { automationId: id } });
    const [result] = await readResults(owner.client, task.id);
    expect(result?.output).toMatchObject({ stdout: delivery.raw.toString() });
    const [message] = await readMessages(owner.client, task.id);
    expect(message?.parts).toHaveLength(1);
    const text = message?.parts[0]?.text ?? '';
    expect(text).toMatch(
      /^Review what was pushed\.\n\n--- Notice of the service ---\n[^]*event\.json[^]*\n--- End of the notice ---$/,
    );
    expect(text).toContain('github.push');
  });

  it('its words stand neither in the system prompt nor in what the user says', async () => {
    const id = await on();
    await send(push());
    const [run] = await runs(service.db, id);
    await finished(owner.client, run?.taskId ?? '');
    const asked: ChatRequest[] = model.requests.map(({ body }) => body);
    expect(asked).toHaveLength(2);
    for (const request of asked) {
      const said = request.messages.filter(({ role }) => role !== 'tool' && role !== 'assistant');
      expect(JSON.stringify(said)).not.toContain(MARK);
      expect(userText(request)).toContain('Notice of the service');
    }
  });

  it('is a file of the task that clients see too', async () => {
    const id = await on();
    const delivery = push();
    await send(delivery);
    const [run] = await runs(service.db, id);
    const { body } = await owner.client.get<{ files: { id: string; name: string; origin: string; size: number }[] }>(
      `/v1/tasks/${run?.taskId}/files`,
    );
    expect(body.files).toMatchObject([
      { name: 'event.json', origin: 'attachment', size: delivery.raw.length, mediaType: 'application/json' },
    ]);
    expect((await owner.client.get(`/v1/files/${body.files[0]?.id}/content`)).text).toBe(delivery.raw.toString());
  });

  it('twenty of the same at once start one task', async () => {
    const id = await on();
    const delivery = push();
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(delivery)));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
    await runs(service.db, id);
    await handled();
    expect(await runsOf(service.db, id)).toHaveLength(1);
    const tasks = await service.db.query('SELECT 1 FROM tasks WHERE automation_id = $1', [id]);
    expect(tasks).toHaveLength(1);
  });

  it('starts every automation that waits for it, and keeps no payload afterwards', async () => {
    const [exact, any, other] = [
      await on(),
      await on({ triggerEvent: 'github.push' }),
      await on({ triggerEvent: 'github.issues.*' }),
    ];
    await send(push());
    await Promise.all([runs(service.db, exact), runs(service.db, any)]);
    await handled();
    expect(await runsOf(service.db, other)).toEqual([]);
    expect(await entries(service, { id: connectionId })).toMatchObject([{ payload: null }]);
  });

  it('starts a run where the filter is true of it, and no other', async () => {
    const main = await on({ filter: `ref == 'refs/heads/main'` });
    const release = await on({ filter: `starts_with(ref, 'refs/heads/release/')` });
    await send(push());
    await runs(service.db, main);
    await handled();
    expect(await runsOf(service.db, release)).toEqual([]);
  });

  it('that a filter cannot be asked about is a run that was skipped, with the reason; a guarded filter can', async () => {
    const bare = await on({ filter: `contains(missing, 'x')` });
    const guarded = await on({ filter: `missing && contains(missing, 'x')` });
    const either = await on({ filter: `!missing || contains(missing, 'x')` });
    await send(push());
    const [run] = await runs(service.db, bare);
    expect(run).toMatchObject({ status: 'skipped', reason: { code: 'filter_failed' }, taskId: null });
    await runs(service.db, either);
    await handled();
    expect(await runsOf(service.db, guarded)).toEqual([]);
  });

  it('of which the workspace cannot store the file is on record as a failed run', async () => {
    owner = await makeMember(service, { plan: 'free' });
    ({ id: connectionId, path, secret } = await connect(service, owner));
    const id = await on();
    await send(push({ filling: 'x'.repeat(2000) }));
    const [run] = await runs(service.db, id);
    expect(run).toMatchObject({ status: 'failed', reason: { code: 'storage_exhausted' } });
    expect(await service.db.query('SELECT 1 FROM files WHERE workspace_id = $1', [owner.workspace.id])).toEqual([]);
  });

  it('by a connection that is another user’s own fails and pauses the automation', async () => {
    const other = await makeMember(service, { workspace: owner.workspace });
    const own = await connect(service, other, { own: true });
    const id = await on({ connectionId: own.id });
    await deliver(service, own.path, github(own.secret));
    expect(await runs(service.db, id)).toMatchObject([
      { status: 'failed', reason: { code: 'integration_disconnected' } },
    ]);
    expect(await readAutomation(service.db, id)).toMatchObject({
      status: 'paused',
      pausedReason: { code: 'integration_disconnected' },
    });
  });

  it('that is forgotten before its run could start is a failed run, and no task without its file', async () => {
    const id = await on({ overlap: 'queue' });
    await service.db.query(
      `INSERT INTO automation_runs (id, automation_id, trigger_type, event, status) VALUES ($1, $2, 'event', 'github.push', 'waiting')`,
      [newId(), id],
    );
    const job = `INSERT INTO jobs (id, queue, data) VALUES ($1, 'automation', jsonb_build_object('automationId', $2::uuid))`;
    await service.db.query(job, [newId(), id]);
    await handled();
    expect(await runsOf(service.db, id)).toMatchObject([
      { status: 'failed', reason: { code: 'payload_gone' }, taskId: null },
    ]);
  });
});
