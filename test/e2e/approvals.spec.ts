import { WorkspacesService } from '../../src/access/workspaces/workspaces.service.js';
import { ApprovalBench } from '../harness/approvals.js';
import type { ErrorBody } from '../harness/client.js';
import {
  call,
  createTask,
  finished,
  patience,
  readMessages,
  readResults,
  readTask,
  runTask,
  script,
} from '../harness/tasks.js';

const block = (info: string, text: string) => `\`\`\`${info}\n${text}\n\`\`\``;
const touch = (name: string) => ({ name: 'bash', arguments: { command: `touch ${name}` } });

describe('Approvals (reference §4)', () => {
  let bench: ApprovalBench;
  beforeAll(async () => {
    bench = await ApprovalBench.start();
  });
  afterAll(() => bench.close());

  const runbook = (...blocks: string[]) => bench.asked(blocks.join('\n\n'), { model: 'runbook' });

  it('with `writes` a command is asked about before it runs, with the call as the message shows it', async () => {
    const { id, approval } = await runbook(block('sh', 'echo here > here.txt'));
    const [, { parts } = { parts: [] }] = await readMessages(bench.client, id);
    const shown = parts.find(({ type }) => type === 'tool_call');
    expect(shown).toMatchObject({ name: 'bash', input: { command: 'echo here > here.txt\n' } });
    const { type: _type, ...toolCall } = shown ?? {};
    expect(approval).toEqual({
      id: expect.any(String),
      type: 'approval',
      question: 'May the agent run this command (bash)?\n\necho here > here.txt\n',
      options: null,
      multiple: false,
      allowText: false,
      toolCall,
      createdAt: expect.any(String),
      expiresAt: expect.any(String),
    });
    expect(patience(approval)).toBe(7 * 86_400);
    expect(await readTask(bench.client, id)).toMatchObject({ approvals: 'writes', status: 'awaiting_input' });
    expect(await readResults(bench.client, id)).toEqual([]);
    expect(bench.workdir(id)).toEqual([]);
    const runs = await bench.service.db.query('SELECT status FROM runs WHERE task_id = $1', [id]);
    expect(runs).toEqual([{ status: 'finished' }]);
  });

  it('approved, the same task goes on and carries the call out, once', async () => {
    const { id, approval } = await runbook(block('sh', 'echo ran >> log; cat log'));
    expect(await bench.decide(id, approval, { decision: 'approve' })).toMatchObject({
      id,
      status: 'queued',
      pendingInteraction: null,
    });
    expect(await finished(bench.client, id)).toMatchObject({ status: 'completed', usage: { toolCalls: 1 } });
    expect(await readResults(bench.client, id)).toMatchObject([{ status: 'success', output: { stdout: 'ran\n' } }]);
    const calls = await bench.service.db.query(
      'SELECT v.stage, v.state FROM tool_invocations v JOIN messages m ON m.id = v.message_id WHERE m.task_id = $1',
      [id],
    );
    expect(calls).toEqual([{ stage: 'begun', state: 'success' }]);
  });

  it('an approval is for one call: the next one is asked about again', async () => {
    const { id, approval } = await runbook(block('sh', 'touch a'), block('file path=b', 'B'));
    await bench.decide(id, approval, { decision: 'approve' });
    const second = await bench.approval(id, approval);
    expect(second.id).not.toBe(approval.id);
    expect(second).toMatchObject({ toolCall: { name: 'write', input: { path: 'b' } } });
    expect(second.question).toContain('write the file b');
    expect(bench.workdir(id)).toEqual(['a']);
    await bench.decide(id, second, { decision: 'approve' });
    expect(await finished(bench.client, id)).toMatchObject({ status: 'completed' });
    expect(bench.workdir(id)).toEqual(['a', 'b']);
  });

  it('denied, the call has a result with neither output nor error, and nothing was run', async () => {
    const { id, approval } = await bench.asked(script({ calls: [touch('a')] }, { text: 'I see.' }));
    await bench.decide(id, approval, { decision: 'deny', reason: 'Not on a Friday.' });
    expect(await finished(bench.client, id)).toMatchObject({ status: 'completed', result: { text: 'I see.' } });
    const { toolCall } = approval;
    expect(await readResults(bench.client, id)).toEqual([
      { type: 'tool_result', toolCallId: toolCall?.toolCallId, name: 'bash', status: 'denied' },
    ]);
    expect((await readMessages(bench.client, id)).map(({ status }) => status)).toEqual(Array(3).fill('complete'));
    expect(bench.workdir(id)).toEqual([]);
    const told = bench.model.requests.at(-1)?.body.messages.at(-1);
    expect(told).toMatchObject({ role: 'tool', content: expect.stringMatching(/denied.*Not on a Friday\.$/) });
  });

  it('a runbook whose block is denied ends as failed, as for any block that fails', async () => {
    const { id, approval } = await runbook(block('sh', 'touch a'), block('sh', 'touch b'));
    await bench.decide(id, approval, { decision: 'deny', reason: 'No.' });
    expect(await finished(bench.client, id)).toMatchObject({
      status: 'failed',
      statusReason: { code: 'runbook_block_failed', message: expect.stringContaining('it was denied: No.') },
    });
    expect(bench.workdir(id)).toEqual([]);
  });

  it('one at a time: further approvals of the same step wait their turn, in the order of the calls', async () => {
    const calls = [touch('a'), { name: 'todo', arguments: { items: [] } }, touch('b'), touch('c')];
    const { id, approval } = await bench.asked(script({ calls }, { text: 'Done.' }));
    const commandOf = ({ toolCall }: typeof approval) => (toolCall?.input as { command: string }).command;
    expect(commandOf(approval)).toBe('touch a');
    await bench.decide(id, approval, { decision: 'deny' });
    const second = await bench.approval(id, approval);
    expect(commandOf(second)).toBe('touch b');
    expect(bench.workdir(id)).toEqual([]);
    await bench.decide(id, second, { decision: 'approve' });
    const third = await bench.approval(id, second);
    expect(commandOf(third)).toBe('touch c');
    expect(bench.workdir(id)).toEqual(['b']);
    await bench.decide(id, third, { decision: 'deny' });
    expect(await finished(bench.client, id)).toMatchObject({ status: 'completed', usage: { steps: 2, toolCalls: 4 } });
    const results = await readResults(bench.client, id);
    expect(results.map(({ status }) => status)).toEqual(['denied', 'success', 'success', 'denied']);
    expect(bench.workdir(id)).toEqual(['b']);
  });

  it('`remember: "task"` with approve asks no more for that tool in this task, the calls that wait included', async () => {
    const write = { name: 'write', arguments: { path: 'c', content: '' } };
    const calls = [touch('a'), touch('b'), write];
    const { id, approval } = await bench.asked(script({ calls }, call('bash', { command: 'ls' }), { text: 'Done.' }));
    await bench.decide(id, approval, { decision: 'approve', remember: 'task' });
    const other = await bench.approval(id, approval);
    expect(other.toolCall?.name).toBe('write');
    expect(bench.workdir(id)).toEqual(['a', 'b']);
    await bench.decide(id, other, { decision: 'deny' });
    expect(await finished(bench.client, id)).toMatchObject({ status: 'completed' });
    const results = await readResults(bench.client, id);
    expect(results.map(({ status }) => status)).toEqual(['success', 'success', 'denied', 'success']);
    // A later turn of the same task.
    const again = { content: script(call('bash', { command: 'touch d' }), { text: 'Again.' }) };
    await bench.client.post(`/v1/tasks/${id}/messages`, again);
    expect(await finished(bench.client, id)).toMatchObject({ result: { text: 'Again.' } });
    expect(bench.workdir(id)).toEqual(['a', 'b', 'd']);
    // And not in another task.
    await bench.asked(script({ calls: [touch('a')] }));
  });

  it('what only reads, plans or publishes is not asked about', async () => {
    const calls = ['read', 'glob', 'grep', 'todo', 'publish'].map((name) => ({ name, arguments: ARGUMENTS[name] }));
    const content = script({ calls }, { text: 'Done.' });
    expect(await runTask(bench.client, content, { approvals: 'writes' })).toMatchObject({ result: { text: 'Done.' } });
  });

  it('without approvals, the default, nothing is asked', async () => {
    const { id } = await createTask(bench.client, { content: script({ calls: [touch('a')] }), approvals: 'none' });
    expect(await finished(bench.client, id)).toMatchObject({ status: 'completed', approvals: 'none' });
    expect(bench.workdir(id)).toEqual(['a']);
  });

  it('an approval needs decision; fields of another type, and remember with deny, are 400', async () => {
    const { id, approval } = await runbook(block('sh', 'touch a'));
    const cases: [Record<string, unknown>, string][] = [
      [{}, 'decision'],
      [{ reason: 'Because.' }, 'decision'],
      [{ decision: 'maybe' }, 'decision'],
      [{ decision: null }, 'decision'],
      [{ content: 'Yes.' }, 'content'],
      [{ decision: 'approve', content: 'Yes.' }, 'content'],
      [{ decision: 'approve', optionIds: ['approve'] }, 'optionIds'],
      [{ decision: 'approve', attachments: [{ uploadId: 'x' }] }, 'attachments'],
      [{ decision: 'deny', remember: 'task' }, 'remember'],
      [{ decision: 'approve', remember: 'workspace' }, 'remember'],
      [{ decision: 'approve', remember: true }, 'remember'],
      [{ decision: 'deny', reason: ' ' }, 'reason'],
      [{ decision: 'deny', reason: 'x'.repeat(4_001) }, 'reason'],
    ];
    for (const [body, param] of cases) {
      expect([body, await bench.refusal(id, approval, body)]).toEqual([body, [400, 'invalid_field', param]]);
    }
    expect(await bench.approval(id)).toEqual(approval);
    await bench.decide(id, approval, { decision: 'approve', reason: 'Harmless.' });
    expect(await finished(bench.client, id)).toMatchObject({ status: 'completed' });
  });

  it('where the transparency policy hides tool activity, the person who decides sees the name of the tool', async () => {
    const { app } = bench.service;
    const workspaces = app.get(WorkspacesService, { strict: false });
    await workspaces.expose(bench.member.workspace.id, ['text']);
    const { id, approval } = await runbook(block('sh', 'touch a'));
    expect(approval).toMatchObject({
      question: 'May the agent use the tool bash?',
      toolCall: { name: 'bash', input: null },
    });
    await bench.decide(id, approval, { decision: 'deny', reason: 'Secretly.' });
    await finished(bench.client, id);
    expect(await readResults(bench.client, id)).toEqual([]);
    await workspaces.expose(bench.member.workspace.id, null);
    expect(await readResults(bench.client, id)).toMatchObject([{ status: 'denied' }]);
  });

  it('PATCH does not change approvals', async () => {
    const { id } = await createTask(bench.client, { content: 'x', approvals: 'writes' });
    const json = { approvals: 'none' };
    const { status, body } = await bench.client.patch<ErrorBody>(`/v1/tasks/${id}`, json);
    expect([status, body.error.code, body.error.param]).toEqual([400, 'unknown_field', 'approvals']);
    expect(await readTask(bench.client, id)).toMatchObject({ approvals: 'writes' });
  });
});

const ARGUMENTS: Record<string, unknown> = {
  read: { path: '.' },
  glob: { pattern: '*' },
  grep: { pattern: 'x' },
  todo: { items: [] },
  publish: { path: 'absent.txt' },
};
