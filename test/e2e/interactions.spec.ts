import { bootWorker, useService } from '../harness/app.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { upload } from '../harness/files.js';
import { holdingTask, untilWaiting } from '../harness/locks.js';
import { ModelServer } from '../harness/model-server.js';
import {
  call,
  createTask,
  finished,
  patience,
  reaches,
  readMessages,
  readResults,
  script,
  type TaskBody,
} from '../harness/tasks.js';
import { slowIt } from '../harness/slow.js';

const OPTIONS = [
  { id: 'up', label: 'Round up', description: 'Never too little.' },
  { id: 'down', label: 'Round down' },
];

describe('Questions (reference §4)', () => {
  let model: ModelServer;
  let member: Member;

  const service = useService(async () => {
    model = await ModelServer.start();
    return bootWorker({ env: { OPENAI_COMPATIBLE_URL: model.url } });
  });
  beforeAll(async () => {
    member = await makeMember(service);
  });
  afterAll(() => model.stop());

  const asked = async (ask: Record<string, unknown>, ...then: Parameters<typeof script>) => {
    const { id } = await createTask(member.client, { content: script(call('ask', ask), ...then, { text: 'Done.' }) });
    const task = await reaches(member.client, id, 'awaiting_input');
    if (task.pendingInteraction === null) throw new Error('A waiting task has a pending interaction.');
    return { id, interaction: task.pendingInteraction };
  };
  const answer = <T>(id: string, body: unknown) => member.client.post<T>(`/v1/tasks/${id}/interaction`, body);
  const refusal = async (id: string, body: unknown) => {
    const { status, body: error } = await answer<ErrorBody>(id, body);
    return [status, error.error.code, error.error.param];
  };

  it('an open question is shown as pendingInteraction and the run ends', async () => {
    const { id, interaction } = await asked({ question: 'Why?' });
    expect(interaction).toEqual({
      id: expect.any(String),
      type: 'question',
      question: 'Why?',
      options: null,
      multiple: false,
      allowText: true,
      toolCall: null,
      createdAt: expect.any(String),
      expiresAt: expect.any(String),
    });
    expect(patience(interaction)).toBe(7 * 86_400);
    const runs = await service.db.query('SELECT status FROM runs WHERE task_id = $1', [id]);
    expect(runs).toEqual([{ status: 'finished' }]);
  });

  slowIt('waits as long as INTERACTION_TTL_SECONDS says', async () => {
    const patient = await bootWorker({ env: { OPENAI_COMPATIBLE_URL: model.url, INTERACTION_TTL_SECONDS: '90' } });
    const { client } = await makeMember(patient);
    const { id } = await createTask(client, { content: script(call('ask', { question: 'Why?' })) });
    const { pendingInteraction } = await reaches(client, id, 'awaiting_input');
    expect(pendingInteraction && patience(pendingInteraction)).toBe(90);
    await patient.close();
  });

  it('answering continues the same task; the answer is the result of the ask call and no message is added', async () => {
    const { id, interaction } = await asked({ question: 'Why?' });
    const { status, body } = await answer<{ task: TaskBody }>(id, {
      interactionId: interaction.id,
      content: 'Because.',
    });
    expect(status).toBe(202);
    expect(body.task).toMatchObject({ id, status: 'queued', pendingInteraction: null });
    expect(await finished(member.client, id)).toMatchObject({
      status: 'completed',
      result: { text: 'Done.' },
      messageCount: 3,
    });
    const messages = await readMessages(member.client, id);
    expect(messages[1]?.parts).toEqual([
      { type: 'tool_call', toolCallId: expect.any(String), name: 'ask', input: { question: 'Why?' } },
      {
        type: 'tool_result',
        toolCallId: expect.any(String),
        name: 'ask',
        status: 'success',
        output: { content: 'Because.', options: [], files: [] },
      },
    ]);
  });

  it('a choice is answered with optionIds', async () => {
    const { id, interaction } = await asked({ question: 'Which way?', options: OPTIONS });
    expect(interaction).toMatchObject({
      type: 'choice',
      options: [OPTIONS[0], { id: 'down', label: 'Round down', description: null }],
      multiple: false,
      allowText: false,
    });
    const wrong: [object, string][] = [
      [{}, 'optionIds'],
      [{ content: 'x' }, 'content'],
      [{ optionIds: ['left'] }, 'optionIds[0]'],
      [{ optionIds: ['up', 'down'] }, 'optionIds'],
      [{ optionIds: [] }, 'optionIds'],
    ];
    for (const [given, param] of wrong) {
      const refused = await refusal(id, { interactionId: interaction.id, ...given });
      expect(refused).toEqual([400, 'invalid_field', param]);
    }
    expect((await answer(id, { interactionId: interaction.id, optionIds: ['down'] })).status).toBe(202);
    await finished(member.client, id);
    const result = (await readMessages(member.client, id))[1]?.parts[1];
    expect(result).toMatchObject({
      status: 'success',
      output: { content: null, options: [{ id: 'down', label: 'Round down' }], files: [] },
    });
  });

  it('a choice takes several options when it is multiple, each once, and a text when allowText', async () => {
    const { id, interaction } = await asked({ question: 'Which?', options: OPTIONS, multiple: true, allowText: true });
    expect(interaction).toMatchObject({ type: 'choice', multiple: true, allowText: true });
    const interactionId = interaction.id;
    expect(await refusal(id, { interactionId })).toEqual([400, 'invalid_field', 'optionIds']);
    expect(await refusal(id, { interactionId, optionIds: ['up', 'up'] })).toEqual([400, 'invalid_field', 'optionIds']);
    expect((await answer(id, { interactionId, optionIds: ['down', 'up'], content: 'Both.' })).status).toBe(202);
    await finished(member.client, id);
    const options = [
      { id: 'down', label: 'Round down' },
      { id: 'up', label: 'Round up' },
    ];
    expect((await readMessages(member.client, id))[1]?.parts[1]).toMatchObject({
      output: { content: 'Both.', options, files: [] },
    });
  });

  it('a choice with allowText is answered with content alone', async () => {
    const { id, interaction } = await asked({ question: 'Which?', options: OPTIONS, allowText: true });
    expect((await answer(id, { interactionId: interaction.id, content: 'Neither.' })).status).toBe(202);
    await finished(member.client, id);
    expect((await readMessages(member.client, id))[1]?.parts[1]).toMatchObject({
      output: { content: 'Neither.', options: [], files: [] },
    });
  });

  it('a question is answered with attachments; they become task files under attachments/', async () => {
    const { id, interaction } = await asked(
      { question: 'Where is it?' },
      call('bash', { command: 'cat attachments/plan.txt' }),
    );
    const { id: uploadId } = await upload(service, member, 'The plan.', { name: 'plan.txt' });
    const json = { interactionId: interaction.id, attachments: [{ uploadId }] };
    expect((await answer(id, json)).status).toBe(202);
    await finished(member.client, id);
    const { body } = await member.client.get<{ files: { id: string; origin: string }[] }>(`/v1/tasks/${id}/files`);
    const [file] = body.files;
    expect(file?.origin).toBe('attachment');
    const messages = await readMessages(member.client, id);
    expect(messages[1]?.parts[1]).toMatchObject({
      output: { content: null, options: [], files: [{ id: file?.id, name: 'plan.txt' }] },
    });
    expect(messages[2]?.parts[1]).toMatchObject({ output: { stdout: 'The plan.' } });
  });

  it('a question takes no optionIds and no fields of another type', async () => {
    const { id, interaction } = await asked({ question: 'Why?' });
    const interactionId = interaction.id;
    expect(await refusal(id, { interactionId, optionIds: ['a'] })).toEqual([400, 'invalid_field', 'optionIds']);
    expect(await refusal(id, { interactionId })).toEqual([400, 'invalid_field', 'content']);
    const other = { decision: 'approve', reason: 'y', remember: 'task' };
    for (const field of ['decision', 'reason', 'remember'] as const) {
      const body = { interactionId, content: 'x', [field]: other[field] };
      expect(await refusal(id, body)).toEqual([400, 'invalid_field', field]);
    }
    expect(await refusal(id, { content: 'x' })).toEqual([400, 'invalid_field', 'interactionId']);
  });

  it('a wrong or answered interaction, or a task that waits for nothing, is 409 interaction_not_pending', async () => {
    const { id, interaction } = await asked({ question: 'Why?' });
    const stale = [409, 'interaction_not_pending', null];
    expect(await refusal(id, { interactionId: crypto.randomUUID(), content: 'x' })).toEqual(stale);
    expect(await refusal(id, { interactionId: 'nonsense', content: 'x' })).toEqual(stale);
    expect((await answer(id, { interactionId: interaction.id, content: 'x' })).status).toBe(202);
    expect(await refusal(id, { interactionId: interaction.id, content: 'y' })).toEqual(stale);
    await finished(member.client, id);
    expect(await refusal(id, { interactionId: interaction.id, content: 'z' })).toEqual(stale);
  });

  it('of two answers at once one is accepted', async () => {
    const { id, interaction } = await asked({ question: 'Why?' });
    const body = { interactionId: interaction.id, content: 'x' };
    const statuses = (await Promise.all([answer(id, body), answer(id, body), answer(id, body)])).map(
      ({ status }) => status,
    );
    expect(statuses.sort()).toEqual([202, 409, 409]);
    await finished(member.client, id);
  });

  it('questions of one step are asked one at a time, and the other calls are carried out first', async () => {
    const calls = [
      { name: 'ask', arguments: { question: 'First?' } },
      { name: 'bash', arguments: { command: 'echo done' } },
      { name: 'ask', arguments: { question: 'Second?' } },
    ];
    const { id } = await createTask(member.client, { content: script({ calls }, { text: 'Done.' }) });
    for (const question of ['First?', 'Second?']) {
      const task = await reaches(member.client, id, 'awaiting_input');
      expect(task.pendingInteraction?.question).toBe(question);
      await answer(id, { interactionId: task.pendingInteraction?.id, content: `Answer to ${question}` });
    }
    await finished(member.client, id);
    const results = (await readMessages(member.client, id))[1]?.parts.filter(({ type }) => type === 'tool_result');
    expect(results?.map((part) => part.status)).toEqual(['success', 'success', 'success']);
  });

  describe('with two questions in one step', () => {
    const askedTwice = async (first: Record<string, unknown>) => {
      const calls = [first, { question: 'Second?' }].map((ask) => ({ name: 'ask', arguments: ask }));
      const { id } = await createTask(member.client, { content: script({ calls }) });
      return { id, first: (await reaches(member.client, id, 'awaiting_input')).pendingInteraction };
    };
    const send = (id: string) =>
      member.client.post(`/v1/tasks/${id}/messages`, { content: script({ text: 'I read it.' }) });
    const READ = { status: 'completed', result: { text: 'I read it.' } };

    it('a message that cancels a choice is read before the next question of the step', async () => {
      const { id } = await askedTwice({ question: 'First?', options: OPTIONS });
      expect((await send(id)).status).toBe(202);
      expect(await reaches(member.client, id, 'completed', 'awaiting_input')).toMatchObject(READ);
      const error = expect.stringMatching(/a message instead/);
      expect(await readResults(member.client, id)).toMatchObject([
        { name: 'ask', status: 'error', error },
        { name: 'ask', status: 'error', error },
      ]);
      const statuses = (await readMessages(member.client, id)).map(({ status }) => status);
      expect(statuses).toEqual(Array(4).fill('complete'));
    });

    it('a message that comes too late to answer is read before the next question of the step', async () => {
      const { id, first } = await askedTwice({ question: 'First?' });
      const task = await holdingTask(service.db, id);
      await service.db.query('UPDATE interactions SET expires_at = now() WHERE id = $1', [first?.id]);
      const sent = send(id);
      await untilWaiting(service.db, 'FOR UPDATE OF t');
      await task.release();
      expect((await sent).status).toBe(202);
      expect(await reaches(member.client, id, 'completed', 'awaiting_input')).toMatchObject(READ);
    });

    it('a message that answers a question answers that one alone: the next one is asked', async () => {
      const { id } = await askedTwice({ question: 'First?' });
      expect((await send(id)).status).toBe(202);
      const { pendingInteraction } = await reaches(member.client, id, 'completed', 'awaiting_input');
      expect(pendingInteraction?.question).toBe('Second?');
      expect((await answer(id, { interactionId: pendingInteraction?.id, content: 'Yes.' })).status).toBe(202);
      expect(await finished(member.client, id)).toMatchObject(READ);
      const results = await readResults(member.client, id);
      expect(results.map(({ status }) => status)).toEqual(['success', 'success']);
    });
  });

  it('a question whose time is over takes no answer, even before any worker has noticed', async () => {
    const { id, interaction } = await asked({ question: 'Anyone?' });
    // As a database that answers a moment before the worker looks: nobody else may take the task's row.
    const task = await holdingTask(service.db, id);
    await service.db.query('UPDATE interactions SET expires_at = now() WHERE id = $1', [interaction.id]);
    const late = refusal(id, { interactionId: interaction.id, content: 'late' });
    await untilWaiting(service.db, 'FOR UPDATE OF t');
    await task.release();
    expect(await late).toEqual([409, 'interaction_not_pending', null]);
    expect(await finished(member.client, id)).toMatchObject({ status: 'completed' });
  });

  it('an expired question gives the agent a tool error and the task goes on', async () => {
    const { id, interaction } = await asked({ question: 'Anyone?' });
    await service.db.query(`UPDATE interactions SET expires_at = now() - interval '1 second' WHERE id = $1`, [
      interaction.id,
    ]);
    expect(await finished(member.client, id)).toMatchObject({ status: 'completed', result: { text: 'Done.' } });
    const result = (await readMessages(member.client, id))[1]?.parts[1];
    expect(result).toMatchObject({ status: 'error', error: expect.stringMatching(/^no answer by \d{4}-\d\d-\d\dT/) });
    expect(await refusal(id, { interactionId: interaction.id, content: 'late' })).toEqual([
      409,
      'interaction_not_pending',
      null,
    ]);
  });
});
