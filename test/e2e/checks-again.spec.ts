import { createHash } from 'node:crypto';
import { bootWorker, useService } from '../harness/app.js';
import { listChecks } from '../harness/checked.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { HeldModel } from '../harness/held-model.js';
import type { Answer, Script } from '../harness/model-server.js';
import { useStreams } from '../harness/streams.js';
import { createTask, finished, reaches, readMessages, readTask } from '../harness/tasks.js';
import { until } from '../harness/until.js';

const DONE: Answer = { text: 'Done.' };
const passing = { name: 'one', command: 'true' };
const failing = { name: 'one', command: 'false' };

describe('Checks of a final task (reference §26)', () => {
  let model: HeldModel;
  /** Answers when a test says so. */
  let held: Script;
  let owner: Member;
  const open = useStreams();
  const service = useService(async () => {
    model = await HeldModel.start();
    held = model.server.script;
    return bootWorker({ env: { OPENAI_COMPATIBLE_URL: model.server.url }, config: { transparency: { data: true }, titles: false } }); // prettier-ignore
  });
  beforeEach(async () => {
    model.server.requests.length = 0;
    model.server.script = () => DONE;
    owner = await makeMember(service, { role: 'owner' });
  });
  afterAll(() => model.server.stop());

  const work = async (body: object) => finished(owner.client, (await createTask(owner.client, { content: 'Do it.', ...body })).id); // prettier-ignore
  const again = (id: string, headers: Record<string, string> = {}, client = owner.client) =>
    client.post<{ task: { id: string; status: string } } & ErrorBody>(`/v1/tasks/${id}/checks`, undefined, { headers });

  it('run again in its last turn, without a model, and decide how that has ended', async () => {
    const { id } = await work({ checks: [failing, { name: 'two', command: 'false' }], maxRepairs: 0 });
    await owner.client.patch(`/v1/tasks/${id}`, { checks: [passing], maxRepairs: 2 });
    const answer = await again(id);
    expect([answer.status, answer.body.task]).toMatchObject([
      202,
      { id, status: 'queued', checks: { status: 'pending' } },
    ]);
    expect(await finished(owner.client, id)).toMatchObject({
      status: 'completed',
      result: { text: 'Done.' },
      checks: { status: 'passed', passed: 1, failed: 0, repairs: 0 },
    });
    expect((await listChecks(owner.client, id)).map(({ turn, round, status }) => [turn, round, status])).toEqual([[1, 0, 'failed'], [1, 0, 'passed'], [1, 0, 'failed']]); // prettier-ignore
    const proof = await owner.client.get<{ payload: string }>(`/v1/tasks/${id}/proof`);
    expect(JSON.parse(Buffer.from(proof.body.payload, 'base64').toString())).toMatchObject({ predicate: { result: 'PASSED', passedTests: ['one'], failedTests: [] } }); // prettier-ignore
    await owner.client.patch(`/v1/tasks/${id}`, { checks: [failing] });
    await again(id);
    expect(await finished(owner.client, id)).toMatchObject({ status: 'failed', statusReason: { code: 'checks_failed' } }); // prettier-ignore
    expect([model.server.requests.length, (await readMessages(owner.client, id)).length]).toEqual([1, 2]);
  });

  it('run once for each Idempotency-Key', async () => {
    const { id } = await work({ checks: [passing] });
    const key = { 'Idempotency-Key': id };
    const answers = [await again(id, key), await again(id, key)];
    expect(answers.map(({ status }) => status)).toEqual([202, 202]);
    await finished(owner.client, id);
    expect(await listChecks(owner.client, id)).toHaveLength(2);
  });

  it('leave what waits to be read to the agent', async () => {
    model.server.script = held;
    const { id } = await createTask(owner.client, { content: 'Do it.', checks: [failing], maxRepairs: 0 });
    const asked = await model.asked();
    await owner.client.post(`/v1/tasks/${id}/messages`, { content: 'This, too.', mode: 'steer' });
    asked.answer({ status: 400, body: '{"error": {"message": "No."}}' });
    await finished(owner.client, id);
    await again(id);
    await until('the checks to fail', async () => (await finished(owner.client, id)).statusReason?.code === 'checks_failed'); // prettier-ignore
    const messages = await readMessages(owner.client, id);
    expect(messages.at(-1)).toMatchObject({ status: 'queued', parts: [{ text: 'This, too.' }] });
    expect(model.server.requests).toHaveLength(1);
  });

  it('that pass leave what waits to be read to the agent, too', async () => {
    model.server.script = held;
    const { id } = await createTask(owner.client, { content: 'Do it.', checks: [passing] });
    await model.asked();
    await owner.client.post(`/v1/tasks/${id}/messages`, { content: 'This, too.' });
    await owner.client.post(`/v1/tasks/${id}/cancel`);
    await finished(owner.client, id);
    await again(id);
    await until('the end', async () => (await finished(owner.client, id)).status === 'completed');
    expect((await readMessages(owner.client, id)).at(-1)).toMatchObject({ status: 'queued' });
    expect(model.server.requests).toHaveLength(1);
  });

  it('fail when a PATCH takes them away under way', async () => {
    const { id } = await work({ checks: [{ name: 'slow', command: 'sleep 3' }] });
    await again(id);
    await reaches(owner.client, id, 'running');
    await owner.client.patch(`/v1/tasks/${id}`, { checks: [] });
    const { status, statusReason } = await finished(owner.client, id);
    const told = await listChecks(owner.client, id);
    // They may have begun by then; what they said counts.
    expect([status, statusReason?.code ?? null, told.length]).toEqual(
      told.length === 1 ? ['failed', 'checks_unavailable', 1] : ['completed', null, 2],
    );
  });

  it('of a task that was cancelled amid them are pending, and so are those of a fork', async () => {
    const { id: made } = await work({ checks: [passing] });
    const fork = await owner.client.post<{ task: object }>(`/v1/tasks/${made}/fork`, {}, { headers: { 'Idempotency-Key': made } }); // prettier-ignore
    expect(fork.body.task).toMatchObject({ status: 'completed', checks: { status: 'pending', passed: 0 } });
    const { id } = await createTask(owner.client, { content: 'Do it.', checks: [{ name: 'long', command: 'sleep 60', protect: ['a'] }], budget: { maxDurationSeconds: 60 } }); // prettier-ignore
    await again(made);
    await finished(owner.client, made);
    await owner.client.post(`/v1/tasks/${id}/cancel`);
    expect(await readTask(owner.client, id)).toMatchObject({ status: 'cancelled', checks: { status: 'pending' } });
  });

  it('are refused while it is not final, where there are none, and to others', async () => {
    const { id: without } = await work({});
    const refused = async (id: string, client?: Member['client']) => {
      const { status, body } = await again(id, {}, client);
      return [status, body.error.code];
    };
    expect(await refused(without)).toEqual([409, 'no_checks']);
    model.server.script = held;
    const { id } = await createTask(owner.client, { content: 'Do it.', checks: [passing] });
    const asked = await model.asked();
    expect(await refused(id)).toEqual([409, 'task_not_final']);
    asked.answer(DONE);
    await finished(owner.client, id);
    expect(await refused(id, (await makeMember(service, { role: 'owner' })).client)).toEqual([404, 'not_found']);
    const reader = await makeMember(service, { workspace: owner.workspace, role: 'owner', scopes: ['tasks:read'] });
    expect(await refused(id, reader.client)).toEqual([403, 'missing_scope']);
    expect(await readTask(owner.client, id)).toMatchObject({ status: 'completed' });
  });

  it('that write more than 64 KiB have all of it as a file', async () => {
    const command = 'seq 1 30000; echo last >&2; exit 3';
    const { id } = await work({ checks: [{ name: 'long', command }], maxRepairs: 0 });
    const { body } = await owner.client.get<{ files: { id: string; name: string; size: number }[] }>(`/v1/tasks/${id}/files`); // prettier-ignore
    for (const [phase, name] of [
      ['before', 'check-long-before.log'],
      ['after', 'check-long.log'],
    ] as const) {
      // prettier-ignore
      const [check] = await listChecks(owner.client, id, phase);
      const file = body.files.find((one) => one.name === name);
      expect([check?.outputFileId, check?.outputBytes]).toEqual([file?.id, file?.size]);
      const { text } = await owner.client.get(`/v1/files/${file?.id}/content`);
      expect(text).toMatch(/^1\n2\n[^]*29999\n30000\n/);
      const [row] = await service.db.query<{ hash: string }>('SELECT output_sha256 AS hash FROM task_checks WHERE id = $1', [check?.id]); // prettier-ignore
      expect(createHash('sha256').update(text).digest('hex')).toBe(row?.hash);
    }
    await service.db.query(`UPDATE workspaces SET transparency = '{text}' WHERE id = $1`, [owner.workspace.id]);
    expect(await listChecks(owner.client, id)).toMatchObject([{ outputFileId: null }]);
  });

  it('are heard while they run, by who follows the task with deltas', async () => {
    const { id } = await work({ checks: [{ name: 'slow', command: 'echo one; sleep 1; echo two >&2; sleep 1' }] });
    const stream = await open(`${service.url}/v1/tasks/${id}/events?after=latest&deltas=true&until=final`, owner.key.secret); // prettier-ignore
    await stream.frame('stream.ready');
    await again(id);
    await until('the end of the check', () => stream.types.includes('check.completed'));
    const heard = stream.frames.map(({ data }) => data).filter(({ type }) => type === 'tool.progress');
    const about = { check: 'slow', phase: 'after', round: 0, offset: 0 };
    expect(heard).toMatchObject([{ ...about, stream: 'stdout', delta: 'one\n' }, { ...about, stream: 'stderr', delta: 'two\n' }]); // prettier-ignore
    expect(stream.types.lastIndexOf('tool.progress')).toBeLessThan(stream.types.indexOf('check.completed'));
  });
});
