import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DataDir } from '../../src/platform/config/data-dir.js';
import type { ClaimedRun } from '../../src/work/runs/claimed-run.js';
import { RunRecorder } from '../../src/work/runs/run-recorder.js';
import { bootApp, bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { type Asked, bash, HeldModel } from '../harness/held-model.js';
import { upload } from '../harness/files.js';
import { type Holder, holding, holdingTask, untilWaiting } from '../harness/locks.js';
import { stepOf } from '../harness/model-server.js';
import { newMark, processesWith } from '../harness/processes.js';
import { createTask, finished, type MessageBody, reaches, readMessages, type TaskBody } from '../harness/tasks.js';
import { until } from '../harness/until.js';

interface Sent {
  message: MessageBody;
  task: TaskBody;
}

describe('A message that steers (reference §5)', () => {
  let model: HeldModel;
  let member: Member;

  const service = useService(async () => {
    model = await HeldModel.start();
    // A lease that does not run out, nor is renewed, while a test looks.
    return bootWorker({ env: { OPENAI_COMPATIBLE_URL: model.server.url, LEASE_SECONDS: '600' } });
  });
  beforeAll(async () => {
    member = await makeMember(service);
  });
  afterEach(() => {
    expect(model.held).toEqual([]);
  });
  afterAll(() => model.server.stop());

  const asked = () => model.asked();
  const send = async (id: string, content: string, mode?: string, more = {}, client = member.client) => {
    const answer = await client.post<Sent>(`/v1/tasks/${id}/messages`, { content, mode, ...more });
    expect(answer.status).toBe(202);
    return answer.body;
  };
  const turns = (id: string) =>
    service.db.query<{ text: string; turn: number; read_seq: number }>(
      `SELECT jsonb_path_query_first(parts, '$[*] ? (@.type == "text").text') #>> '{}' AS text, turn, read_seq
       FROM messages WHERE task_id = $1 ORDER BY read_seq`,
      [id],
    );

  it('is read before the next model call of the running turn', async () => {
    const { id } = await createTask(member.client, { content: 'Begin.' });
    const first = await asked();
    const sent = await send(id, 'Rather this.', 'steer');
    expect([sent.message.status, sent.task.status]).toEqual(['queued', 'running']);
    first.answer(bash('true'));
    const second = await asked();
    expect(second.said).toEqual(['Begin.', 'Rather this.']);
    expect(stepOf(second.request)).toBe(0);
    const [, message] = await readMessages(member.client, id);
    expect(message).toMatchObject({ id: sent.message.id, status: 'complete' });
    second.answer({ text: 'Done so.' });
    expect(await finished(member.client, id)).toMatchObject({
      status: 'completed',
      result: { text: 'Done so.' },
      usage: { steps: 2 },
      messageCount: 4,
    });
    const rows = await turns(id);
    expect(rows.map(({ turn }) => turn)).toEqual([1, 1, 1, 1]);
    expect(new Set(rows.map(({ read_seq }) => read_seq)).size).toBe(4);
  });

  it('several sent while the calls of a step are carried out are read in their order, and no other message with them', async () => {
    const { id } = await createTask(member.client, { content: 'Begin.' });
    const go = `go-${newMark()}`;
    (await asked()).answer(bash(`until [ -e ${go} ]; do sleep 0.05; done`, 'echo second'));
    await until('the command to run', () => processesWith(`-e ${go}`).length > 0);
    await send(id, 'One.', 'steer');
    await send(id, 'Waits.');
    await send(id, 'Two.', 'steer');
    writeFileSync(join(service.app.get(DataDir).path, 'workdirs', id, go), '');
    const second = await asked();
    expect(second.said).toEqual(['Begin.', 'One.', 'Two.']);
    second.answer({ text: 'Done.' });
    const next = await asked();
    expect(next.said).toEqual(['Begin.', 'One.', 'Two.', 'Waits.']);
    next.answer({ text: 'Waited.' });
    await finished(member.client, id);
    expect((await turns(id)).map(({ turn }) => turn)).toEqual([1, 1, 1, 1, 1, 2, 2]);
  });

  it('brings its attachments into a sandbox that is open already', async () => {
    const { id } = await createTask(member.client, { content: 'Begin.' });
    (await asked()).answer(bash('echo open'));
    const second = await asked();
    await send(id, 'Look at this.', 'steer', {
      attachments: [{ uploadId: (await upload(service, member, 'late words', { name: 'late.txt' })).id }],
    });
    second.answer(bash('ls attachments'));
    const third = await asked();
    expect(third.said.at(-1)).toContain('attachments/late.txt');
    third.answer(bash('cat attachments/late.txt'));
    const fourth = await asked();
    expect(JSON.stringify(fourth.request.messages.at(-1))).toContain('late words');
    fourth.answer({ text: 'Read.' });
    await finished(member.client, id);
  });

  it('whose attachment cannot be looked up when the database drops the connection is read in the next claim', async () => {
    const { id } = await createTask(member.client, { content: 'Begin.' });
    (await asked()).answer(bash('echo open'));
    const second = await asked();
    await send(id, 'Look at this.', 'steer', {
      attachments: [{ uploadId: (await upload(service, member, 'late words', { name: 'late.txt' })).id }],
    });
    const holder = await holding(service.db, 'LOCK TABLE files IN ACCESS EXCLUSIVE MODE');
    second.answer(bash('true'));
    await untilWaiting(service.db, 'SELECT sha256 FROM files');
    await service.db.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE 'SELECT sha256 FROM files%'`,
    );
    await holder.release();
    const third = await asked();
    expect(third.said.at(-1)).toContain('attachments/late.txt');
    expect(JSON.stringify(third.request.messages)).toContain('may have run partly');
    third.answer(bash('cat attachments/late.txt'));
    const fourth = await asked();
    expect(JSON.stringify(fourth.request.messages.at(-1))).toContain('late words');
    fourth.answer({ text: 'Read.' });
    expect(await finished(member.client, id)).toMatchObject({ status: 'completed', result: { text: 'Read.' } });
  });

  it('that arrives during the final answer lets the turn go on', async () => {
    const { id } = await createTask(member.client, { content: 'Begin.', budget: { maxSteps: 5 } });
    const first = await asked();
    await send(id, 'One more.', 'steer');
    first.answer({ text: 'Final?' });
    const second = await asked();
    expect(second.said).toEqual(['Begin.', 'One more.']);
    second.answer({ text: 'Final.' });
    expect(await finished(member.client, id)).toMatchObject({ status: 'completed', result: { text: 'Final.' } });
    expect((await turns(id)).map(({ turn }) => turn)).toEqual([1, 1, 1, 1]);
  });

  it('that is committed after the last answer is recorded and before the end lets the turn go on', async () => {
    const { id } = await createTask(member.client, { content: 'Begin.' });
    const first = await asked();
    // Holds the task at the moment between the two writes: the answer's own message is there, the end waits for the lock.
    const client = await holdingTask(service.db, id);
    first.answer({ text: 'Final?' });
    await untilWaiting(service.db, 'INSERT INTO messages');
    // The snapshot of that write is taken: what is committed now is not in it.
    await commitLate(client, id, 'steer');
    const second = await asked();
    expect(second.said).toEqual(['Begin.', 'Late.']);
    second.answer({ text: 'Final.' });
    expect(await finished(member.client, id)).toMatchObject({
      status: 'completed',
      usage: { steps: 2 },
      messageCount: 4,
    });
    const rows = await turns(id);
    expect(rows.map(({ turn, text }) => [turn, text])).toEqual([
      [1, 'Begin.'],
      [1, 'Final?'],
      [1, 'Late.'],
      [1, 'Final.'],
    ]);
  });

  it.each([
    ['steer', 1],
    ['queue', 2],
  ])('with mode %s, committed while the end of the turn waits for it, is read in turn %i', async (mode, turn) => {
    const { id } = await createTask(member.client, { content: 'Begin.' });
    const first = await asked();
    const [run] = await service.db.query<ClaimedRun>(
      `SELECT id AS "runId", task_id AS "taskId", workspace_id AS "workspaceId", epoch FROM runs WHERE task_id = $1`,
      [id],
    );
    if (run === undefined) throw new Error('The task has no run.');
    const client = await holdingTask(service.db, id);
    // Said here and not by the model: nothing can come between the record of an answer and the end that follows it.
    const end = service.app
      .get(RunRecorder)
      .finish(run, { type: 'completed', text: 'Final?' }, new AbortController().signal);
    await untilWaiting(service.db, 'waiting_message_steers');
    await commitLate(client, id, mode);
    await end;
    const second = await asked();
    expect(second.said).toEqual(['Begin.', 'Late.']);
    first.answer({ text: 'From the grave.' });
    second.answer({ text: 'Final.' });
    expect(await finished(member.client, id)).toMatchObject({ status: 'completed', result: { text: 'Final.' } });
    expect((await turns(id)).at(-1)).toMatchObject({ text: 'Final.', turn });
  });

  it('is read by the worker that takes the turn over when the first one is lost', async () => {
    const { id } = await createTask(member.client, { content: 'Begin.' });
    const lost = await asked();
    await send(id, 'Rather this.', 'steer');
    await service.db.query(`UPDATE runs SET lease_until = now() - interval '1 second' WHERE task_id = $1`, [id]);
    const second = await asked();
    lost.answer({ text: 'From the grave.' });
    expect(second.said).toEqual(['Begin.', 'Rather this.']);
    second.answer({ text: 'Done so.' });
    expect(await finished(member.client, id)).toMatchObject({ result: { text: 'Done so.' }, messageCount: 3 });
    expect((await turns(id)).map(({ turn }) => turn)).toEqual([1, 1, 1]);
  });

  it('that the turn left unread is read with the next message, like any other', async () => {
    const { id } = await createTask(member.client, { content: 'Begin.' });
    const first = await asked();
    await send(id, 'Too late.', 'steer');
    expect((await member.client.post(`/v1/tasks/${id}/cancel`)).status).toBe(200);
    first.answer({ text: 'never' });
    await send(id, 'Again.');
    const next = await asked();
    expect(next.said).toEqual(['Begin.', 'Too late.', 'Again.']);
    next.answer({ text: 'Done.' });
    await finished(member.client, id);
  });

  describe('outside of running all three are the same', () => {
    const MODES = ['queue', 'steer', 'interrupt'];
    const CHOICE = { question: 'Which?', options: ['a', 'b'].map((option) => ({ id: option, label: option })) };
    const STATES: Record<string, (id: string, first: Asked) => Promise<unknown> | void> = {
      completed: (_id, { answer }) => answer({ text: 'Done.' }),
      failed: (_id, { answer }) => answer({ status: 400 }),
      cancelled: async (id, { answer }) => {
        await member.client.post(`/v1/tasks/${id}/cancel`);
        answer({ text: 'never' });
      },
      'a question is pending': (_id, { answer }) =>
        answer({ calls: [{ name: 'ask', arguments: { question: 'Why?' } }] }),
      'a choice is pending': (_id, { answer }) => answer({ calls: [{ name: 'ask', arguments: CHOICE }] }),
      'an approval is pending': (_id, { answer }) => answer(bash('touch never')),
    };

    it.each(Object.keys(STATES).flatMap((state) => MODES.map((mode) => [state, mode])))(
      '%s, mode %s: queued, and the message read next',
      async (state = '', mode = '') => {
        const { id } = await createTask(member.client, { content: 'Begin.', approvals: 'writes' });
        await STATES[state]?.(id, await asked());
        const waits = state.endsWith('pending');
        await reaches(member.client, id, waits ? 'awaiting_input' : state);
        const { task } = await send(id, 'Go on.', mode);
        expect(task).toMatchObject({ status: 'queued', pendingInteraction: null });
        const next = await asked();
        expect(next.said).toEqual(['Begin.', 'Go on.']);
        next.answer({ text: 'Gone on.' });
        expect(await finished(member.client, id)).toMatchObject({ status: 'completed', result: { text: 'Gone on.' } });
        expect((await turns(id)).at(-1)).toMatchObject({ text: 'Gone on.', turn: waits ? 1 : 2 });
      },
    );

    it.each(MODES)('queued, mode %s: it waits its turn', async (mode) => {
      const env = { OPENAI_COMPATIBLE_URL: model.server.url };
      const api = await bootApp({ env });
      const { client } = await makeMember(api);
      const { id } = await createTask(client, { content: 'Begin.' });
      const { task, message } = await send(id, 'Next.', mode, {}, client);
      expect([task.status, message.status]).toEqual(['queued', 'queued']);
      const worker = await bootWorker({ db: api.db, env: { ...env, ROLE: 'worker' } });
      for (const said of [['Begin.'], ['Begin.', 'Next.']]) {
        const next = await asked();
        expect(next.said).toEqual(said);
        next.answer({ text: 'Done.' });
      }
      expect(await finished(client, id)).toMatchObject({ status: 'completed', messageCount: 4 });
      await worker.close();
      await api.close();
    });
  });

  /** Sends a message on a connection that holds the task, without the service, and lets the task go. */
  async function commitLate(client: Holder, id: string, mode: string): Promise<void> {
    await client.query(
      `INSERT INTO messages (id, task_id, seq, role, status, created_by, parts, mode)
       SELECT gen_random_uuid(), id, last_seq + 1, 'user', 'queued', created_by, '[{"type":"text","text":"Late."}]', $2
       FROM tasks WHERE id = $1`,
      [id, mode],
    );
    await client.query('UPDATE tasks SET last_seq = last_seq + 1, message_count = message_count + 1 WHERE id = $1', [
      id,
    ]);
    await client.release();
  }
});
