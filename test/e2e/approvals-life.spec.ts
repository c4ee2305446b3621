import { InteractionsService } from '../../src/resources/tasks/interactions/interactions.service.js';
import { answerApproval, ApprovalBench } from '../harness/approvals.js';
import { upload } from '../harness/files.js';
import { holding, holdingTask, untilWaiting } from '../harness/locks.js';
import { finished, readMessages, readResults, script } from '../harness/tasks.js';

const touch = (name: string) => ({ name: 'bash', arguments: { command: `touch ${name}` } });
const EXPIRED = `UPDATE interactions SET expires_at = now() - interval '1 second' WHERE id = $1`;
const APPROVE = { decision: 'approve' };

describe('A task that waits for an approval (reference §5)', () => {
  let bench: ApprovalBench;
  beforeAll(async () => {
    bench = await ApprovalBench.start();
  });
  afterAll(() => bench.close());

  const asked = (...calls: ReturnType<typeof touch>[]) => bench.asked(script({ calls }, { text: 'Done.' }));
  const statuses = async (id: string) => (await readResults(bench.client, id)).map(({ status }) => status);
  const send = (id: string, body: unknown) => bench.client.post(`/v1/tasks/${id}/messages`, body);
  const lastToolText = () =>
    bench.model.requests.at(-1)?.body.messages.findLast(({ role }) => role === 'tool')?.content;
  const stale = [409, 'interaction_not_pending', null];

  it('an approval that expires counts as denied, and the task goes on', async () => {
    const { id, approval } = await asked(touch('a'));
    await bench.expire(approval);
    expect(await finished(bench.client, id)).toMatchObject({ status: 'completed', result: { text: 'Done.' } });
    expect(await readResults(bench.client, id)).toEqual([
      { type: 'tool_result', toolCallId: approval.toolCall?.toolCallId, name: 'bash', status: 'denied' },
    ]);
    expect(lastToolText()).toMatch(/denied.* no answer by \d{4}-\d\d-\d\dT[\d:]+Z$/);
    expect(bench.workdir(id)).toEqual([]);
    expect(await bench.refusal(id, approval, APPROVE)).toEqual(stale);
  });

  it('of several, each expires for itself', async () => {
    const { id, approval } = await asked(touch('a'), touch('b'));
    await bench.expire(approval);
    const next = await bench.approval(id, approval);
    expect(next.toolCall?.input).toEqual({ command: 'touch b' });
    await bench.decide(id, next, APPROVE);
    await finished(bench.client, id);
    expect(await statuses(id)).toEqual(['denied', 'success']);
    expect(bench.workdir(id)).toEqual(['b']);
  });

  it('a message denies the approval and is read next, before what waits behind it is asked', async () => {
    const { id, approval } = await asked(touch('a'), touch('b'));
    const { status, body } = await send(id, { content: script({ text: 'I read it.' }) });
    expect([status, body]).toMatchObject([
      202,
      { message: { status: 'complete' }, task: { status: 'queued', pendingInteraction: null } },
    ]);
    expect(await finished(bench.client, id)).toMatchObject({ status: 'completed', result: { text: 'I read it.' } });
    expect(await statuses(id)).toEqual(['denied', 'denied']);
    expect(lastToolText()).toMatch(/denied.*sent a message instead/);
    expect(bench.workdir(id)).toEqual([]);
    expect(await bench.refusal(id, approval, APPROVE)).toEqual(stale);
    expect((await readMessages(bench.client, id)).map(({ role, status: state }) => [role, state])).toEqual([
      ['user', 'complete'],
      ['assistant', 'complete'],
      ['user', 'complete'],
      ['assistant', 'complete'],
    ]);
  });

  it('a message with attachments denies it too, and the files lie in the workdir', async () => {
    const { id, approval } = await bench.asked('```sh\ntouch a\n```', { model: 'runbook' });
    const { id: uploadId } = await upload(bench.service, bench.member, 'The plan.', { name: 'plan.txt' });
    const content = '```sh\ncat attachments/plan.txt\n```';
    expect((await send(id, { content, attachments: [{ uploadId }] })).status).toBe(202);
    await bench.decide(id, await bench.approval(id, approval), APPROVE);
    expect(await finished(bench.client, id)).toMatchObject({ status: 'completed' });
    const [denied, done] = await readResults(bench.client, id);
    expect(denied).toMatchObject({ status: 'denied' });
    expect(done).toMatchObject({ status: 'success', output: { stdout: 'The plan.' } });
    expect(bench.workdir(id)).toEqual(['attachments']);
  });

  it('cancelled, it waits for nothing, and the call never runs', async () => {
    const { id, approval } = await asked(touch('a'), touch('b'));
    const { body } = await bench.client.request('POST', `/v1/tasks/${id}/cancel`);
    expect(body).toMatchObject({ task: { status: 'cancelled', pendingInteraction: null } });
    expect(await bench.refusal(id, approval, APPROVE)).toEqual(stale);
    const nothing = { status: 'error', error: expect.stringMatching(/^Cancelled.*did nothing\.$/) };
    expect(await readResults(bench.client, id)).toMatchObject([nothing, nothing]);
    // A message sets it going again: the calls of before stay closed.
    await send(id, { content: script({ text: 'Later.' }) });
    expect(await finished(bench.client, id)).toMatchObject({ status: 'completed', result: { text: 'Later.' } });
    expect(bench.workdir(id)).toEqual([]);
  });

  it('deleted, it is gone', async () => {
    const { id, approval } = await asked(touch('a'));
    expect((await bench.client.delete(`/v1/tasks/${id}`)).status).toBe(200);
    expect(await bench.refusal(id, approval, APPROVE)).toEqual([404, 'not_found', null]);
    expect(await bench.service.db.query('SELECT 1 FROM interactions WHERE task_id = $1', [id])).toEqual([]);
  });

  it('a wrong or answered interaction is 409 interaction_not_pending', async () => {
    const { id, approval } = await asked(touch('a'), touch('b'));
    expect(await bench.refusal(id, { ...approval, id: crypto.randomUUID() }, APPROVE)).toEqual(stale);
    await bench.decide(id, approval, { decision: 'deny' });
    const next = await bench.approval(id, approval);
    // The one of before does not decide on this one.
    expect(await bench.refusal(id, approval, APPROVE)).toEqual(stale);
    await bench.decide(id, next, { decision: 'deny' });
    await finished(bench.client, id);
    expect(await bench.refusal(id, next, APPROVE)).toEqual(stale);
    expect(bench.workdir(id)).toEqual([]);
  });

  it('of answers at once one is accepted, and what it says is done', async () => {
    const { id, approval } = await asked(touch('a'));
    const bodies = [APPROVE, { decision: 'deny' }, APPROVE, { decision: 'deny' }];
    const answers = await Promise.all(bodies.map((body) => answerApproval(bench.client, id, approval, body)));
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409, 409, 409]);
    await finished(bench.client, id);
    const approved = bodies[answers.findIndex(({ status }) => status === 202)]?.decision === 'approve';
    expect(await statuses(id)).toEqual([approved ? 'success' : 'denied']);
    expect(bench.workdir(id)).toEqual(approved ? ['a'] : []);
  });

  describe('an answer that races the expiry', () => {
    const expire = () => bench.service.app.get(InteractionsService, { strict: false }).expire();
    const outcome = async (id: string) => {
      await finished(bench.client, id);
      return [await statuses(id), bench.workdir(id)];
    };
    const waits = (words: string) => untilWaiting(bench.service.db, words);
    // Both settle the call last, so the first of them holds the task and waits here.
    const holdingCall = (id: string) => {
      const call = `SELECT 1 FROM tool_invocations v JOIN messages m ON m.id = v.message_id WHERE m.task_id = $1`;
      return holding(bench.service.db, `${call} FOR UPDATE OF v`, [id]);
    };

    it('and comes while the call is being expired is 409, and the call is denied', async () => {
      const { id, approval } = await asked(touch('a'));
      const call = await holdingCall(id);
      await bench.expire(approval);
      const expired = expire();
      // Holds the task, and waits for the call.
      await waits(`SET status = 'expired'`);
      const late = bench.refusal(id, approval, APPROVE);
      await waits('FOR UPDATE OF t');
      await call.release();
      await expired;
      expect(await late).toEqual(stale);
      expect(await outcome(id)).toEqual([['denied'], []]);
    });

    it('and has held the task before its time was over is accepted, and the expiry passes the call by', async () => {
      const { id, approval } = await asked(touch('a'));
      const call = await holdingCall(id);
      const time = await holding(bench.service.db, EXPIRED, [approval.id]);
      const answer = answerApproval(bench.client, id, approval, APPROVE);
      // Holds the task and has found itself in time.
      await waits(`decision = 'approve'`);
      await time.release();
      // The time is over now, and the answer not committed yet.
      await expire();
      await call.release();
      expect((await answer).status).toBe(202);
      expect(await outcome(id)).toEqual([['success'], ['a']]);
    });

    it('and had to wait for the task until its time was over is 409, and the call is denied', async () => {
      const { id, approval } = await asked(touch('a'));
      const task = await holdingTask(bench.service.db, id);
      const late = bench.refusal(id, approval, APPROVE);
      await waits('FOR UPDATE OF t');
      await bench.expire(approval);
      await expire();
      await task.release();
      expect(await late).toEqual(stale);
      expect(await outcome(id)).toEqual([['denied'], []]);
    });
  });

  it('an answer sent again under its key is replayed, and decides once', async () => {
    const { id, approval } = await asked(touch('a'), touch('b'));
    const headers = { 'Idempotency-Key': crypto.randomUUID() };
    const again = (body: object) =>
      bench.client.post(`/v1/tasks/${id}/interaction`, { interactionId: approval.id, ...body }, { headers });
    const first = await again(APPROVE);
    const next = await bench.approval(id, approval);
    const second = await again(APPROVE);
    expect([second.status, second.text, second.headers.get('Idempotent-Replayed')]).toEqual([202, first.text, 'true']);
    expect(await again({ decision: 'deny' })).toMatchObject({
      status: 409,
      body: { error: { code: 'idempotency_key_reused' } },
    });
    expect(await bench.approval(id)).toEqual(next);
    expect(bench.workdir(id)).toEqual(['a']);
  });
});
