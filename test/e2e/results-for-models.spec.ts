import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { type Answer, type ChatRequest, ModelServer, stepOf } from '../harness/model-server.js';
import { call, createTask, finished, readMessages, readResults, runTask } from '../harness/tasks.js';

// Reference §15, docs/decisions/0047.
describe('What a model reads of results', () => {
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

  const asked = (marker: string): ChatRequest[] =>
    model.requests.flatMap(({ body }) => (JSON.stringify(body.messages).includes(marker) ? [body] : []));
  const resultsRead = (request: ChatRequest | undefined) =>
    request?.messages.filter(({ role }) => role === 'tool').map(({ content }) => content) ?? [];

  it('is text, the same in every later request; the API shows the record as it was', async () => {
    const calls: Answer[] = [
      call('bash', {
        command: "printf '\\033[31mone\\033[0m\\n'; echo two >&2; echo three; exit 3",
      }),
      call('write', { path: 'a.txt', content: 'a "quoted" line\n' }),
      call('read', { path: 'a.txt' }),
      call('read', { path: 'none' }),
    ];
    model.script = (request) => calls[stepOf(request)] ?? { text: 'Done.' };
    const task = await runTask(member.client, 'READ IT');
    expect(task.status).toBe('completed');
    const first = resultsRead(asked('READ IT').at(-1));
    expect(first).toEqual([
      // Both streams are read at once here; their order is the subject of arrival.spec.ts.
      expect.stringMatching(/^exit 3, \d+\.\d s\n(?=[^]*two)(two\n)?one\n(two\n)?three(\ntwo)?$/),
      'bytes: 16\npath: a.txt',
      '     1\ta "quoted" line',
      expect.stringMatching(/^none does not exist/),
    ]);
    const [shown] = await readResults(member.client, task.id);
    expect(shown).toEqual({
      type: 'tool_result',
      toolCallId: shown?.toolCallId,
      name: 'bash',
      status: 'success',
      output: { exitCode: 3, stdout: '\x1b[31mone\x1b[0m\nthree\n', stderr: 'two\n', truncated: false },
    });
    // The next turn begins with what the database gives back.
    calls.length = 0;
    await member.client.post(
      `/v1/tasks/${task.id}/messages`,
      { content: 'And now?' },
      { headers: { 'Idempotency-Key': task.id } },
    );
    await finished(member.client, task.id);
    const next = asked('And now?').at(-1);
    expect(resultsRead(next)).toEqual(first);
    expect(next?.messages.length).toBeGreaterThan(10);
  });

  it('is a part of a long one, and names the file that has the whole', async () => {
    const calls = [
      call('bash', { command: 'ln -s /workdir /tmp/output; seq 40000; echo end >&2' }),
      call('bash', { command: 'ls; rm /tmp/output; printf "\\033[32m"; seq 40000 | tee seen; echo end >&2' }),
      call('bash', { command: '(cat seen; echo end) | cmp - /tmp/output/2.txt && ls /tmp/output' }),
    ];
    model.script = (request) => calls[stepOf(request)] ?? { text: 'Done.' };
    const task = await runTask(member.client, 'MUCH OUTPUT');
    const first = resultsRead(asked('MUCH OUTPUT').at(-1));
    expect(first).toEqual([
      // A link of the agent's is not followed.
      expect.stringMatching(/\n\[… \d+ bytes left out …\]\n[^]*\nend$/),
      expect.stringMatching(
        /^exit 0.*\n1\n2\n[^]*\n\[… \d{3},\d{3} bytes left out; the whole is in \/tmp\/output\/2\.txt\]\n[^]*\nend$/,
      ),
      expect.stringMatching(/^exit 0.*\n2\.txt$/),
    ]);
    // The next turn begins with what the database gives back.
    calls.length = 0;
    await member.client.post(
      `/v1/tasks/${task.id}/messages`,
      { content: 'Go on.' },
      { headers: { 'Idempotency-Key': task.id } },
    );
    await finished(member.client, task.id);
    expect(resultsRead(asked('MUCH OUTPUT').at(-1))).toEqual(first);
    expect(JSON.stringify(await readMessages(member.client, task.id, '?limit=100'))).not.toContain('the whole is in');
  });

  it.each<[string, (step: number) => Answer, number]>([
    ['alternate', (step) => call('bash', { command: step % 2 === 0 ? 'ls' : 'pwd' }), 12],
    ['count', (step) => call('bash', { command: `echo ${step}` }), 32],
    ['fail', () => call('bash', { command: 'echo x >> log; exit 1' }), 6],
  ])('calls that only %s end the turn, after hints that the API does not show', async (what, script, steps) => {
    model.script = (request) => script(stepOf(request));
    const task = await runTask(member.client, `GO ROUND: ${what}`);
    expect(task).toMatchObject({
      status: 'failed',
      statusReason: { code: 'no_progress', retryable: true },
      usage: { steps },
    });
    expect(resultsRead(asked(`GO ROUND: ${what}`).at(-1)).join('\n')).toMatch(
      /\[\w[^\]]+ After \d+ (times|steps) the task fails/,
    );
    expect(JSON.stringify(await readMessages(member.client, task.id, '?limit=100'))).not.toContain('the task fails');
    // A further message begins anew.
    model.script = () => ({ text: 'I see.' });
    await member.client.post(
      `/v1/tasks/${task.id}/messages`,
      { content: 'Stop that.' },
      { headers: { 'Idempotency-Key': task.id } },
    );
    expect(await finished(member.client, task.id)).toMatchObject({ status: 'completed', result: { text: 'I see.' } });
  });

  it('the same tests are run as often as they bring another result', async () => {
    model.script = (request) =>
      stepOf(request) < 9 ? call('bash', { command: 'echo x >> log; cat log' }) : { text: 'Done.' };
    const task = await runTask(member.client, 'RUN THEM');
    expect(task.status).toBe('completed');
    expect(await readResults(member.client, task.id)).toHaveLength(9);
  });
});

describe('A runbook', () => {
  const service = useService(() => bootWorker());

  it('may have the same block as often as it likes', async () => {
    const { client } = await makeMember(service);
    const block = '```bash may-fail\nfalse\n```\n\n';
    const { id } = await createTask(client, { content: block.repeat(9) });
    expect(await finished(client, id)).toMatchObject({ status: 'completed', usage: { toolCalls: 9 } });
  });
});
