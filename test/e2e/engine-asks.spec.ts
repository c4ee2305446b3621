// Whoever is asked before a program goes on, and what it is told of it (reference §30).
import { answerApproval, approvalOf } from '../harness/approvals.js';
import { useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { byScript, type FakeCall, FakeModel, type FakeRequest } from '../harness/engines/fake-model.js';
import { bootWithEngines, engineOf, shell } from '../harness/engines/worker.js';
import { createTask, finishedLater, reaches, readMessages, readResults, readTask, script } from '../harness/tasks.js';

const asAnswered = { text: 'As was answered.' };

describe('A program whose task asks (reference §30)', () => {
  let model: FakeModel;
  let ann: Member;
  const service = useService(async () => {
    model = await FakeModel.start();
    const engines = { program: engineOf(), tools: engineOf({ MCP: '1' }, { wire: 'openai-responses' }) };
    return bootWithEngines(model, engines);
  });
  beforeAll(async () => (ann = await makeMember(service)));
  beforeEach(() => {
    model.requests.length = 0;
    model.script = byScript;
  });
  afterAll(() => model.stop());

  const begin = (content: string, more: Record<string, unknown> = {}) => {
    return createTask(ann.client, { content, model: 'program', approvals: 'writes', ...more });
  };
  const last = (): FakeRequest | undefined => model.requests.at(-1);
  /** Until a person has said something of it. */
  const callsUntil = (said: string, call: FakeCall) => {
    const heard = ({ messages }: FakeRequest) =>
      messages.some(({ role, text }) => role === 'user' && text.includes(said));
    model.script = (request) => (heard(request) ? asAnswered : { calls: [call] });
  };
  const outputs = async (id: string) => {
    return (await readResults(ann.client, id)).map(({ status, output, error }) => [status, output ?? error]);
  };

  it('is given no call before a person has approved it, then exactly this one, once', async () => {
    const steps = script({ text: 'I write.', calls: [shell('echo ran >> log; cat log')] }, { text: 'Done.' });
    const { id } = await begin(steps);
    const approval = await approvalOf(ann.client, id);
    expect(approval.question).toContain('echo ran >> log');
    expect(approval.toolCall).toMatchObject({ name: 'shell' });
    expect(await outputs(id)).toEqual([]);
    await answerApproval(ann.client, id, approval, { decision: 'approve' });
    expect(await finishedLater(ann.client, id)).toMatchObject({ status: 'completed', usage: { steps: 2 } });
    expect(await outputs(id)).toEqual([['success', 'ran\n']]);
    // The step was given from the record: the model was not asked for it again.
    expect(model.requests).toHaveLength(2);
    expect(last()?.messages.flatMap(({ calls }) => calls)).toHaveLength(1);
  });

  it('is told that a call was denied, and why', async () => {
    callsUntil('Not on a Friday.', shell('touch denied'));
    const { id } = await begin('Touch it.');
    const approval = await approvalOf(ann.client, id);
    await answerApproval(ann.client, id, approval, { decision: 'deny', reason: 'Not on a Friday.' });
    expect((await finishedLater(ann.client, id)).status).toBe('completed');
    expect(await readResults(ann.client, id)).toMatchObject([{ status: 'denied' }]);
  });

  it('is given the calls of a step one by one, those that only read and those that need no more asking at once', async () => {
    const { id } = await begin(
      script(
        {
          calls: [
            { name: 'look', arguments: { path: 'none' } },
            shell('echo one >> log'),
            shell('echo two >> log'),
            shell('cat log'),
          ],
        },
        asAnswered,
      ),
    );
    const first = await approvalOf(ann.client, id);
    expect(first.question).toContain('echo one');
    expect(await outputs(id)).toMatchObject([['error', expect.stringContaining('none')]]);
    await answerApproval(ann.client, id, first, { decision: 'approve' });
    const second = await approvalOf(ann.client, id, first);
    expect(second.question).toContain('echo two');
    await answerApproval(ann.client, id, second, { decision: 'approve', remember: 'task' });
    expect((await finishedLater(ann.client, id)).status).toBe('completed');
    const [, ...results] = await outputs(id);
    expect(results).toEqual([
      ['success', ''],
      ['success', ''],
      ['success', 'one\ntwo\n'],
    ]);
    const answers = (await readMessages(ann.client, id)).filter(({ role }) => role === 'assistant');
    expect(answers).toHaveLength(2);
  });

  it('asks a person by `ask`, and is told the answer', async () => {
    const question = { name: 'mcp__millwright__ask', arguments: { question: 'Which colour?' } };
    callsUntil('Green.', question);
    const { id } = await begin('Paint it.', { model: 'tools', approvals: 'none' });
    const { pendingInteraction } = await reaches(ann.client, id, 'awaiting_input');
    expect(pendingInteraction).toMatchObject({ type: 'question', question: 'Which colour?' });
    await ann.client.post(`/v1/tasks/${id}/interaction`, { interactionId: pendingInteraction?.id, content: 'Green.' });
    expect(await finishedLater(ann.client, id)).toMatchObject({
      status: 'completed',
      result: { text: asAnswered.text },
    });
    expect(model.requests).toHaveLength(2);
  });

  it('has tools of the service at its door, for calls that its model has made, and for no others', async () => {
    const publish = { name: 'mcp__millwright__publish', arguments: { path: 'a.txt' } };
    const rogue = `curl -s --noproxy '*' -d '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"publish","arguments":{"path":"b.txt"}}}' http://127.0.0.1:61080/mcp`;
    const { id } = await begin(
      script(
        { calls: [shell(`echo a > a.txt; echo b > b.txt; ${rogue}`)] },
        { calls: [publish] },
        { text: 'Published.' },
      ),
      { model: 'tools', approvals: 'none' },
    );
    expect(await finishedLater(ann.client, id)).toMatchObject({ status: 'completed', statusReason: null });
    const [first, second] = await readResults(ann.client, id);
    expect(first?.output).toContain('Your model has not made this call');
    expect(second).toMatchObject({ status: 'success' });
    const task = await readTask(ann.client, id);
    expect(task.result?.fileIds).toHaveLength(1);
    const offered = last()?.tools.filter((name) => name.startsWith('mcp__millwright__')) ?? [];
    const names = ['ask', 'delegate', 'publish', 'todo'];
    expect(offered.sort()).toEqual(names.map((name) => `mcp__millwright__${name}`));
  });
});
