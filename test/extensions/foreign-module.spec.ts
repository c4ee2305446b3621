import { bootWorker, useService } from '../harness/app.js';
import { Client, type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { answerApproval, approvalOf } from '../harness/approvals.js';
import { createTask, finished, runTask } from '../harness/tasks.js';
import { FOREIGN } from './foreign-module.js';

describe('A foreign module', () => {
  let member: Member;

  const service = useService(() => bootWorker({ extensions: [FOREIGN] }));
  beforeAll(async () => {
    member = await makeMember(service);
  });

  it('brings a model and a tool: both are used by a task', async () => {
    const task = await runTask(member.client, 'four words of text', { model: 'counter' });
    const result = JSON.stringify({ status: 'success', output: { words: 4 } });
    expect(task).toMatchObject({
      status: 'completed',
      result: { text: `Counted: ${result}` },
      usage: { toolCalls: 2 },
    });
  });

  it('tells its tool the task, the workspace and who made the task', async () => {
    const { client, workspace, user } = member;
    const task = await runTask(client, 'For whom?', { model: 'counter' });
    const output = { taskId: task.id, workspaceId: workspace.id, userId: user.id };
    expect(task.result?.text).toBe(`Counted: ${JSON.stringify({ status: 'success', output })}`);
  });

  it('asks before its tool in a task with approvals, because the tool does not say that it changes nothing', async () => {
    const { client } = member;
    const { id } = await createTask(client, { content: 'three more words', model: 'counter', approvals: 'writes' });
    const write = await approvalOf(client, id);
    expect(write.toolCall?.name).toBe('write');
    await answerApproval(client, id, write, { decision: 'approve' });
    const count = await approvalOf(client, id, write);
    expect(count).toMatchObject({
      question: 'May the agent use the tool count_words?\n\n{"path":"told.txt"}',
      toolCall: { name: 'count_words', input: { path: 'told.txt' } },
    });
    await answerApproval(client, id, count, { decision: 'deny', reason: 'Count yourself.' });
    const denied = JSON.stringify({ status: 'denied', reason: 'Count yourself.' });
    expect(await finished(client, id)).toMatchObject({ status: 'completed', result: { text: `Counted: ${denied}` } });
  });

  it('brings routes, and the pipeline comes for free', async () => {
    expect((await member.client.get('/v1/notes')).body).toEqual({ workspace: member.workspace.slug });
    expect((await new Client(service.url).get('/v1/notes')).status).toBe(401);
    expect((await member.client.post('/v1/notes', { text: 'x' })).body).toMatchObject({ note: { text: 'x' } });
    const answer = await member.client.post<ErrorBody>('/v1/notes', { text: 'x', more: 1 });
    expect([answer.status, answer.body.error.code]).toEqual([400, 'unknown_field']);
  });
});
