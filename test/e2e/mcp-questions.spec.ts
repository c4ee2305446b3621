import { CreateTaskResultV2Schema, GetTaskResultV2Schema } from '@modelcontextprotocol/ext-tasks/core/v2';
import { bootWorker, useService } from '../harness/app.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { HeldModel } from '../harness/held-model.js';
import { McpClient, type ToolResult } from '../harness/mcp.js';
import { createTask, finished, reaches, type TaskBody } from '../harness/tasks.js';

type Json = Record<string, unknown>;
interface InputRequired {
  resultType: string;
  inputRequests: Record<string, { method: string; params: { message: string; requestedSchema: Json } }>;
}
interface McpTask {
  resultType: string;
  taskId: string;
  status: string;
  ttlMs: null;
  pollIntervalMs: number;
  inputRequests?: InputRequired['inputRequests'];
  result?: ToolResult<{ task: TaskBody }>;
}
const ELICITS = { elicitation: { form: {} } };
const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
const OPTIONS = [
  { id: 'a', label: 'The first' },
  { id: 'b', label: 'The second' },
];
const ask = (more: Json) => ({ calls: [{ name: 'ask', arguments: { question: 'Which?', ...more } }] });

let model: HeldModel;
let member: Member;
let mcp: McpClient;
const service = useService(async () => {
  model = await HeldModel.start();
  return bootWorker({ env: { OPENAI_COMPATIBLE_URL: model.server.url } });
});
beforeAll(async () => {
  member = await makeMember(service);
  mcp = new McpClient(service.url, member.key.secret);
});
afterAll(() => model.server.stop());

/** A task that waits for an answer. */
async function asking(more: Json, body: Json = {}): Promise<{ id: string; interactionId: string }> {
  const { id } = await createTask(member.client, { content: 'Ask.', ...body });
  (await model.asked()).answer('calls' in more ? more : ask(more));
  const { pendingInteraction } = await reaches(member.client, id, 'awaiting_input');
  return { id, interactionId: pendingInteraction?.id ?? '' };
}
const answer = (args: Json, more: Json = {}, capabilities: Json = ELICITS) =>
  mcp.askModern<ToolResult<{ task: TaskBody }> & InputRequired>('tools/call', { name: 'answer_task', arguments: args, ...more }, capabilities); // prettier-ignore

describe('answer_task without an answer (reference §29)', () => {
  it('asks the user of a client that can, and takes what they said', async () => {
    const choices = OPTIONS.map(({ id, label }) => ({ const: id, title: label }));
    const cases: [Json, Json, Json, string][] = [
      [{}, { properties: { answer: { type: 'string' } }, required: ['answer'] }, { answer: 'Mine.' }, 'Mine.'],
      [{ options: OPTIONS }, { properties: { option: { type: 'string', oneOf: choices } }, required: ['option'] }, { option: 'b' }, 'The second'],
      [{ options: OPTIONS, multiple: true, allowText: true }, { properties: { options: { type: 'array', items: { anyOf: choices } }, answer: { type: 'string' } }, required: [] }, { options: ['a', 'b'] }, 'The first'],
      [{ options: OPTIONS, allowText: true }, { properties: { option: { type: 'string', oneOf: choices }, answer: { type: 'string' } }, required: [] }, { answer: 'Neither.' }, 'Neither.'],
    ];
    for (const [question, schema, content, said] of cases) {
      const { id, interactionId } = await asking(question);
      const args = { taskId: id, interactionId };
      const first = (await answer(args)).body.result;
      expect(first.resultType).toBe('input_required');
      const { method, params } = first.inputRequests[interactionId] ?? {};
      expect([method, params?.message, params?.requestedSchema]).toEqual(['elicitation/create', 'Which?', { type: 'object', ...schema }]);
      const inputResponses = { [interactionId]: { action: 'accept', content } };
      const second = await answer(args, { inputResponses });
      expect(second.body.result.structuredContent.task.status).toBe('queued');
      expect(second.headers.get('x-ratelimit-policy')).toBe('task_execution');
      const asked = await model.asked();
      expect(JSON.stringify(asked.request.messages.at(-1))).toContain(said);
      asked.answer({ text: 'Good.' });
      await finished(member.client, id);
      // One answered meanwhile is 409 as ever.
      const late = (await answer(args, { inputResponses })).body.result.structuredContent as unknown as ErrorBody;
      expect(late.error.code).toBe('interaction_not_pending');
    }
  }); // prettier-ignore

  it('who declines denies an approval, and answers nothing else', async () => {
    const write = { calls: [{ name: 'bash', arguments: { command: 'echo x > a' } }] };
    const { id, interactionId } = await asking(write, { approvals: 'writes' });
    const args = { taskId: id, interactionId };
    const { inputRequests } = (await answer(args)).body.result;
    expect(inputRequests[interactionId]?.params.requestedSchema).toEqual({ type: 'object', properties: { decision: { type: 'string', enum: ['approve', 'deny'] }, reason: { type: 'string' } }, required: ['decision'] }); // prettier-ignore
    const said = (action: string) => answer(args, { inputResponses: { [interactionId]: { action } } });
    expect((await said('cancel')).body.result).toMatchObject({ isError: true, resultType: 'complete' });
    expect((await reaches(member.client, id, 'awaiting_input')).pendingInteraction?.id).toBe(interactionId);
    expect((await said('decline')).body.result.structuredContent.task.status).toBe('queued');
    (await model.asked()).answer({ text: 'Well.' });
    await finished(member.client, id);
    const question = await asking({});
    const nothing = await answer({ taskId: question.id, interactionId: question.interactionId }, { inputResponses: { [question.interactionId]: { action: 'decline' } } }); // prettier-ignore
    expect(nothing.body.result.isError).toBe(true);
    expect((await reaches(member.client, question.id, 'awaiting_input')).status).toBe('awaiting_input');
  });

  it('decides with a reason, of what the user has seen alone', async () => {
    const write = { calls: [{ name: 'bash', arguments: { command: 'echo x > a' } }] };
    const { id, interactionId } = await asking(write, { approvals: 'writes' });
    const said = (at: string, content: Json) =>
      answer({ taskId: id, interactionId: at, remember: 'task', reason: 'Of the caller.' }, { inputResponses: { [at]: { action: 'accept', content } } }); // prettier-ignore
    expect((await said(interactionId, { decision: 'approve' })).body.result.isError).toBeUndefined();
    (await model.asked()).answer(write);
    // The form has no word of more than this call.
    const { pendingInteraction } = await reaches(member.client, id, 'awaiting_input');
    await said(pendingInteraction?.id ?? '', { decision: 'deny', reason: 'Not now.' });
    const asked = await model.asked();
    expect(JSON.stringify(asked.request.messages)).toContain('Not now.');
    expect(JSON.stringify(asked.request.messages)).not.toContain('Of the caller.');
    asked.answer({ text: 'Well.' });
    await finished(member.client, id);
  });

  it('without elicitation it is an error that names the three', async () => {
    const { id, interactionId } = await asking({});
    const args = { taskId: id, interactionId };
    for (const result of [(await mcp.call<ErrorBody>('answer_task', args)).body.result, (await answer(args, {}, {})).body.result]) {
      expect(result.isError).toBe(true);
      for (const name of ['content', 'optionIds', 'decision']) expect(result.content[0]?.text).toContain(name);
    }
    const other = await makeMember(service);
    const theirs = await new McpClient(service.url, other.key.secret).askModern<ToolResult<ErrorBody>>('tools/call', { name: 'answer_task', arguments: args }, ELICITS);
    expect(theirs.body.result.structuredContent.error.code).toBe('not_found');
  }); // prettier-ignore
});

describe('The extension io.modelcontextprotocol/tasks (reference §29)', () => {
  // Each of them is one that the official schemas take.
  const create = async (args: Json, capabilities: Json = TASKS) => {
    const { result } = (await mcp.askModern<McpTask>('tools/call', { name: 'create_task', arguments: args }, capabilities)).body; // prettier-ignore
    if (result.resultType === 'task') CreateTaskResultV2Schema.parse(result);
    return result;
  };
  const get = async (taskId: string) => {
    const { result } = (await mcp.askModern<McpTask>('tasks/get', { taskId }, TASKS)).body;
    GetTaskResultV2Schema.parse(result);
    return result;
  };

  it('create_task answers a task, which stands for the first turn until its end', async () => {
    const made = await create({ content: 'Begin.' });
    expect(made).toMatchObject({ resultType: 'task', status: 'working', ttlMs: null, pollIntervalMs: 2000 });
    expect(made.taskId).toMatch(/^[\w-]{36}\.1$/);
    const asked = await model.asked();
    expect(await get(made.taskId)).toMatchObject({ taskId: made.taskId, status: 'working', resultType: 'complete' });
    asked.answer(ask({ options: OPTIONS }));
    const id = made.taskId.slice(0, 36);
    const { pendingInteraction } = await reaches(member.client, id, 'awaiting_input');
    const waiting = await get(made.taskId);
    expect([waiting.status, Object.keys(waiting.inputRequests ?? {})]).toEqual(['input_required', [pendingInteraction?.id]]); // prettier-ignore
    const inputResponses = { [pendingInteraction?.id ?? '']: { action: 'accept', content: { option: 'b' } } };
    const updated = await mcp.askModern('tasks/update', { taskId: made.taskId, inputResponses }, TASKS);
    expect([updated.body.error, updated.headers.get('x-ratelimit-policy')]).toEqual([undefined, 'task_execution']);
    (await model.asked()).answer({ text: 'The first end.' });
    await finished(member.client, id);
    const done = await get(made.taskId);
    expect(done.status).toBe('completed');
    expect(done.result).toMatchObject({ resultType: 'complete', structuredContent: { task: { id, status: 'completed', result: { text: 'The first end.' } } } }); // prettier-ignore
    // A later turn does not change it: while it waits, while it runs, and when it has failed.
    const later = () => get(made.taskId).then(({ status, result }) => [status, result?.structuredContent.task.result?.text]); // prettier-ignore
    await member.client.post(`/v1/tasks/${id}/messages`, { content: 'More.' });
    expect(await later()).toEqual(['completed', 'The first end.']);
    const again = await model.asked();
    expect(await later()).toEqual(['completed', 'The first end.']);
    await mcp.askModern('tasks/cancel', { taskId: made.taskId }, TASKS);
    expect((await reaches(member.client, id, 'running')).status).toBe('running');
    again.answer({ text: 'The second end.' });
    await finished(member.client, id);
    expect(await later()).toEqual(['completed', 'The first end.']);
    expect((await get(`${id}.2`)).result?.structuredContent.task.result?.text).toBe('The second end.');
  });

  it('a turn that a message has waited for, or cut short, is completed as it stands', async () => {
    const made = await create({ content: 'Begin.' });
    const id = made.taskId.slice(0, 36);
    const asked = await model.asked();
    await member.client.post(`/v1/tasks/${id}/messages`, { content: 'More.' });
    asked.answer({ text: 'Half.' });
    const second = await model.asked();
    const half = await get(made.taskId);
    expect([half.status, half.result?.structuredContent.task.result?.text]).toEqual(['completed', 'Half.']);
    second.answer({ text: 'All.' });
    await finished(member.client, id);
    expect((await get(made.taskId)).result?.structuredContent.task.result?.text).toBe('Half.');
  });

  it('a turn keeps its own end, also behind one that was cut short', async () => {
    const made = await create({ content: 'Begin.', budget: { maxSteps: 1 } });
    const id = made.taskId.slice(0, 36);
    await model.asked();
    const more = (content: string) => member.client.post(`/v1/tasks/${id}/messages`, { content, mode: 'interrupt' });
    expect((await more('Instead.')).status).toBe(202);
    const cut = await model.asked();
    cut.answer({ calls: [{ name: 'bash', arguments: { command: 'true' } }] });
    expect((await finished(member.client, id)).status).toBe('failed');
    const second = async () => {
      const { status, result } = await get(`${id}.2`);
      return [status, result?.isError, result?.structuredContent.task.status];
    };
    expect(await second()).toEqual(['completed', true, 'failed']);
    await member.client.patch(`/v1/tasks/${id}`, { budget: { maxSteps: 5 } });
    await more('Once more.');
    const third = await model.asked();
    expect(await second()).toEqual(['completed', true, 'failed']);
    third.answer({ text: 'The third end.' });
    await finished(member.client, id);
    expect(await second()).toEqual(['completed', true, 'failed']);
    expect((await get(`${id}.3`)).result?.structuredContent.task.result?.text).toBe('The third end.');
    expect((await get(made.taskId)).status).toBe('completed');
  });

  it('it is cancelled by tasks/cancel, and a failed one is completed with an error', async () => {
    const made = await create({ content: 'Begin.' });
    const held = await model.asked();
    const cancelled = await mcp.askModern('tasks/cancel', { taskId: made.taskId }, TASKS);
    expect([cancelled.body.error, cancelled.headers.get('x-ratelimit-policy')]).toEqual([undefined, 'resource_write']);
    expect((await get(made.taskId)).status).toBe('cancelled');
    held.answer({ text: 'Late.' });
    const failing = await create({ content: 'Begin.', budget: { maxSteps: 1 } });
    (await model.asked()).answer({ calls: [{ name: 'bash', arguments: { command: 'true' } }] });
    const failed = await finished(member.client, failing.taskId.slice(0, 36));
    expect(failed.status).toBe('failed');
    const shown = await get(failing.taskId);
    expect([shown.status, shown.result?.isError]).toEqual(['completed', true]);
  });

  it('without the declaration tasks/* is -32021, and create_task answers its result', async () => {
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      const { status, body } = await mcp.askModern(method, { taskId: 'x.1' });
      expect([status, body.error.code, body.error.data]).toEqual([400, -32021, { requiredCapabilities: TASKS }]);
    }
    const plain = await create({ content: 'Begin.' }, {});
    expect(plain.resultType).toBe('complete');
    const waited = await create({ content: 'Begin.', waitSeconds: 0 });
    expect(waited.resultType).toBe('complete');
    for (const held of [await model.asked(), await model.asked()]) held.answer({ text: 'Done.' });
  });

  it('an unknown task is -32602, also one of another workspace', async () => {
    const { id } = await createTask(member.client, { content: 'x' });
    const other = await makeMember(service);
    const theirs = new McpClient(service.url, other.key.secret);
    for (const taskId of [`${id}.1`, 'nonsense', 'nonsense.1', `${crypto.randomUUID()}.1`]) {
      for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
        expect((await theirs.askModern(method, { taskId }, TASKS)).body.error.code).toBe(-32602);
      }
    }
    expect((await mcp.askModern('tasks/get', { taskId: `${id}.7` }, TASKS)).body.error.code).toBe(-32602);
    (await model.asked()).answer({ text: 'Done.' });
  });
});
