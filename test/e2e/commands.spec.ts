import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { type Answer, type ChatRequest, ModelServer, stepOf, userText } from '../harness/model-server.js';
import { newMark, processesGone, processesWith, sleeps } from '../harness/processes.js';
import { RepositoryFolder } from '../harness/repositories.js';
import { useStreams } from '../harness/streams.js';
import { call, createTask, finished, reaches, readMessages, readResults } from '../harness/tasks.js';
import { until } from '../harness/until.js';

const DONE: Answer = { text: 'Done.' };
interface CommandBody {
  id: string;
  status: string;
  exitCode: number | null;
  command: string | null;
  output: string | null;
  toolCallId: string;
}

describe('Commands that go on beyond their calls (reference §27.2)', () => {
  const folder = new RepositoryFolder();
  const source = folder.make('acme', { 'a.txt': 'one\n' });
  let model: ModelServer;
  let owner: Member;
  const service = useService(async () => {
    model = await ModelServer.start();
    return bootWorker({
      env: { OPENAI_COMPATIBLE_URL: model.url },
      config: { repositoryFiles: [folder.path], transparency: { data: true, tool_activity: true } },
    });
  });
  const open = useStreams();
  beforeEach(async () => {
    owner = await makeMember(service, { role: 'owner' });
  });
  afterAll(async () => {
    await model.stop();
    folder.remove();
  });

  type Step = Answer | (() => Promise<Answer>);
  const agent = (...rounds: Step[][]) => {
    model.script = async ({ messages, ...request }: ChatRequest) => {
      // What the service says of commands stands as a message of the user.
      const asked = messages.filter(({ content }) => !JSON.stringify(content).includes('These commands of yours'));
      const round = asked.filter(({ role }) => role === 'user').length - 1;
      const step = rounds[round]?.[stepOf({ ...request, messages: asked })] ?? DONE;
      return typeof step === 'function' ? step() : step;
    };
  };
  const work = async (body: Record<string, unknown> = {}) => {
    const { id } = await createTask(owner.client, { content: 'Do it.', ...body });
    return finished(owner.client, id);
  };
  const listed = async (id: string) => {
    const { body, status } = await owner.client.get<{ commands: CommandBody[] }>(`/v1/tasks/${id}/commands`);
    expect(status).toBe(200);
    return body.commands;
  };
  const outputs = async (id: string) => (await readResults(owner.client, id)).map(({ output }) => output);

  it('one goes on after its call, is read, and is stopped before the turn ends', async () => {
    const mark = newMark();
    agent([
      call('bash', { command: `echo begun; exec sleep ${mark}`, background: true }),
      call('bash_output', { id: 'b1', from: 0 }),
      call('bash_output', {}),
      call('bash', { command: 'cat /tmp/output/b1.log' }),
    ]);
    const task = await work();
    expect(task.status).toBe('completed');
    expect(await outputs(task.id)).toMatchObject([
      { id: 'b1', status: 'running', output: 'begun\n', next: 6 },
      { id: 'b1', status: 'running', output: 'begun\n', next: 6 },
      [{ id: 'b1', status: 'running', exitCode: null }],
      { exitCode: 0, stdout: 'begun\n' },
    ]);
    expect(await listed(task.id)).toMatchObject([
      {
        id: 'b1',
        status: 'stopped',
        exitCode: null,
        output: expect.stringMatching(/^begun\n/) as string,
        command: `echo begun; exec sleep ${mark}`,
      },
    ]);
    expect(processesWith(mark)).toEqual([]);
  });

  it('a server that goes on is reached by the next command, and one that a plain command leaves is not', async () => {
    const serve = (port: number) =>
      `node -e 'require("http").createServer((_, to) => to.end("served")).listen(${port}, "127.0.0.1", () => console.log("up"))'`;
    const ask = (port: number) =>
      `node -e 'fetch("http://127.0.0.1:${port}").then((got) => got.text()).then(console.log, () => console.log("nobody"))'`;
    agent([
      call('bash', { command: serve(8123), background: true, yieldSeconds: 0 }),
      call('bash', { command: `until grep -q up /tmp/output/b1.log; do sleep 0.1; done; ${ask(8123)}` }),
      call('bash', { command: `${serve(8124)} > /tmp/left & until grep -q up /tmp/left; do sleep 0.1; done` }),
      call('bash', { command: ask(8124) }),
      call('bash_stop', { id: 'b1' }),
      call('bash', { command: ask(8123) }),
    ]);
    const task = await work();
    expect(await outputs(task.id)).toMatchObject([
      { id: 'b1', status: 'running' },
      { exitCode: 0, stdout: 'served\n' },
      { exitCode: 0 },
      { exitCode: 0, stdout: 'nobody\n' },
      { id: 'b1', status: 'stopped' },
      { exitCode: 0, stdout: 'nobody\n' },
    ]);
  });

  it('one that ends before it yields is an ordinary result', async () => {
    agent([
      call('bash', { command: 'echo quick >&2; exit 3', yieldSeconds: 20 }),
      call('bash', { command: 'sleep 0.2; echo slow', background: true, yieldSeconds: 20 }),
    ]);
    const task = await work();
    expect(await outputs(task.id)).toMatchObject([
      { exitCode: 3, stderr: 'quick\n' },
      { exitCode: 0, stdout: 'slow\n' },
    ]);
    expect(await listed(task.id)).toEqual([]);
  });

  it('one that reaches its time limit goes on where the call says so, and else does not', async () => {
    const [goes, ends] = [newMark(), newMark()];
    agent([
      call('bash', { command: `sleep ${ends}`, timeoutSeconds: 1 }),
      call('bash', { command: `sleep ${goes}`, timeoutSeconds: 1, onTimeout: 'background' }),
      call('bash_stop', { id: 'b1' }),
    ]);
    const task = await work();
    expect(await outputs(task.id)).toMatchObject([
      { exitCode: 124 },
      { id: 'b1', status: 'running' },
      { id: 'b1', status: 'stopped' },
    ]);
    expect(await listed(task.id)).toMatchObject([{ id: 'b1', status: 'stopped' }]);
  });

  it('one in a terminal is typed to, and ends by a key', async () => {
    agent([
      call('bash', { command: `read -r -p 'name? ' name; echo "hello $name"; exec cat`, terminal: true }),
      call('bash_input', { id: 'b1', text: 'Ann', keys: ['enter'] }),
      call('bash_input', { id: 'b1', keys: ['ctrl-c'] }),
      call('bash_input', { id: 'b1', text: 'too late' }),
      call('bash_input', { id: 'b1', keys: ['hyper-x'] }),
      call('bash_output', { id: 'b7' }),
    ]);
    const task = await work();
    const results = await readResults(owner.client, task.id);
    expect(results).toMatchObject([
      { output: { id: 'b1', status: 'running', output: 'name? ' } },
      { output: { status: 'running', output: expect.stringContaining('hello Ann') as string } },
      { output: { status: 'exited', exitCode: 130 } },
      { error: 'The command b1 does not run any more (exited). Nothing was given.' },
      { error: expect.stringContaining('there is no such key') as string },
      { error: 'There is no command b7 in this run. There are: b1.' },
    ]);
  });

  it('no more than eight go on, and one without a terminal takes input until that ends', async () => {
    const marks = Array.from({ length: 8 }, newMark);
    agent([
      call('bash', { command: 'while read -r line; do echo "<$line>"; done; echo over', background: true, yieldSeconds: 0 }),
      call('bash_input', { id: 'b1', text: 'one\n' }),
      { calls: marks.slice(0, 7).map((mark) => ({ name: 'bash', arguments: { command: `sleep ${mark}`, background: true, yieldSeconds: 0 } })) },
      call('bash', { command: `sleep ${marks[7]}`, background: true }),
      call('bash_input', { id: 'b1', text: 'x'.repeat(70_000) }),
      call('bash_input', { id: 'b1', end: true }),
      call('bash_output', { id: 'b1', from: 0, waitSeconds: 20 }),
      call('bash', { command: `sleep ${marks[7]}`, background: true, yieldSeconds: 0 }),
    ]); // prettier-ignore
    const task = await work();
    const results = await readResults(owner.client, task.id);
    expect(results[1]).toMatchObject({ output: { output: '<one>\n' } });
    expect(results.slice(9)).toMatchObject([
      { error: '8 commands are going on (b1, b2, b3, b4, b5, b6, b7, b8). Stop one of them first.' },
      { error: expect.stringContaining('at most 65536 bytes') as string },
      { output: { id: 'b1' } },
      { output: { status: 'exited', exitCode: 0, output: '<one>\nover\n' } },
      { output: { id: 'b9', status: 'running' } },
    ]);
    for (const mark of marks) expect(processesWith(mark)).toEqual([]);
  });

  it('the end of the turn ends them before its changes are counted: the patch stands still', async () => {
    const counts = 'n=0; while :; do n=$((n + 1)); echo $n >> counted.txt; sleep 0.01; done';
    agent(
      [call('bash', { command: counts, cwd: 'repo', background: true })],
      [call('bash', { command: 'wc -l < repo/counted.txt' })],
    );
    const task = await work({ repository: { url: `file://${source}` } });
    const { changes } = task as unknown as { changes: { files: number; additions: number } };
    expect([task.status, changes.files]).toEqual(['completed', 1]);
    await owner.client.post(`/v1/tasks/${task.id}/messages`, { content: 'Count.' });
    await until('the second turn', async () => (await readResults(owner.client, task.id)).length === 2);
    expect((await outputs(task.id)).at(-1)).toMatchObject({ stdout: `${changes.additions}\n` });
    expect(changes.additions).toBeGreaterThan(0);
    await finished(owner.client, task.id);
  });

  it('a question ends them, and the next run names them with the end of their output', async () => {
    const mark = newMark();
    agent([
      call('bash', { command: `echo hello; exec sleep ${mark}`, background: true }),
      call('ask', { question: 'Go on?' }),
    ]);
    const { id } = await createTask(owner.client, { content: 'Do it.' });
    const { pendingInteraction } = await reaches(owner.client, id, 'awaiting_input');
    expect(processesWith(mark)).toEqual([]);
    expect(await listed(id)).toMatchObject([{ id: 'b1', status: 'stopped' }]);
    await owner.client.post(`/v1/tasks/${id}/interaction`, { interactionId: pendingInteraction?.id, content: 'Yes.' });
    await finished(owner.client, id);
    const asked = model.requests.at(-1)?.body as ChatRequest;
    const told = userText(asked);
    expect(told).toContain('These commands of yours do not run any more');
    expect(told).toContain(`b1 (stopped): "echo hello; exec sleep ${mark}"\n<output>\nhello\n`);
    const parts = (await readMessages(owner.client, id)).flatMap((message) => message.parts);
    expect(parts.filter(({ type }) => type === 'data')).toMatchObject([
      { name: 'commands', data: { commands: [{ commandId: 'b1', status: 'stopped', exitCode: null }] } },
    ]);
    // Told once: the turn after that has no such message more.
    await owner.client.post(`/v1/tasks/${id}/messages`, { content: 'More.' }, { headers: { 'Idempotency-Key': mark } });
    await until('the second turn', () => model.requests.at(-1) !== undefined && JSON.stringify(model.requests.at(-1)?.body).includes('More.')); // prettier-ignore
    await finished(owner.client, id);
    expect(JSON.stringify(model.requests.at(-1)?.body).split('These commands of yours').length).toBe(2);
  });

  it('with approvals of writes none may go on, and no person is asked whether it may', async () => {
    const refused = [
      call('bash', { command: 'sleep 100', background: true }),
      call('bash', { command: 'sleep 100', onTimeout: 'background' }),
      call('bash_input', { id: 'b1', text: 'x' }),
      call('exec_command', { cmd: 'sleep 100', tty: true }),
      call('write_stdin', { session_id: 1, chars: 'x' }),
    ];
    agent([...refused, call('exec_command', { cmd: 'sleep 0.5; echo asked', yield_time_ms: 250 })]);
    const { id } = await createTask(owner.client, { content: 'Do it.', approvals: 'writes' });
    const { pendingInteraction } = await reaches(owner.client, id, 'awaiting_input', 'failed', 'completed');
    expect(pendingInteraction?.question).toContain('echo asked');
    await owner.client.post(`/v1/tasks/${id}/interaction`, {
      interactionId: pendingInteraction?.id,
      decision: 'approve',
    });
    expect(await finished(owner.client, id)).toMatchObject({ status: 'completed' });
    const here = { error: expect.stringContaining('no command goes on in the background here') as string };
    const none = { error: 'No command goes on in this task: each ends with its call.' };
    expect(await readResults(owner.client, id)).toMatchObject([here, here, none, here, none, { output: { stdout: 'asked\n' } }]); // prettier-ignore
  });

  it('a person stops one: 202, then 409; and is shown what it says meanwhile', async () => {
    const mark = newMark();
    let stopped: () => void = () => undefined;
    const until202 = new Promise<void>((resolve) => (stopped = resolve));
    agent([
      call('bash', { command: `echo live; exec sleep ${mark}`, background: true }),
      () => until202.then(() => call('bash_output', { id: 'b1', waitSeconds: 20 })),
    ]);
    const { id } = await createTask(owner.client, { content: 'Do it.' });
    const stream = await open(`${service.url}/v1/tasks/${id}/events?deltas=true&after=0`, owner.key.secret);
    const output = await until('its output', () => stream.frames.find(({ data }) => data.type === 'command.output'));
    expect(output.data).toMatchObject({ commandId: 'b1', offset: 0, delta: 'live\n' });
    const stop = () => owner.client.post<{ command: CommandBody }>(`/v1/tasks/${id}/commands/b1/stop`, {});
    const { status, body } = await stop();
    expect([status, body.command.id]).toEqual([202, 'b1']);
    await until('its end', async () => (await listed(id))[0]?.status === 'stopped');
    await processesGone(mark);
    expect(await stop()).toMatchObject({ status: 409, body: { error: { code: 'command_not_running' } } });
    expect(await owner.client.post(`/v1/tasks/${id}/commands/b2/stop`, {})).toMatchObject({ status: 404 });
    stopped();
    await finished(owner.client, id);
    await until('the events', () => stream.frames.some(({ data }) => data.type === 'task.completed'));
    const [started, ended] = ['command.started', 'command.ended'].map((type) => stream.frames.findIndex(({ data }) => data.type === type)); // prettier-ignore
    expect(started).toBeLessThan(ended ?? -1);
    expect(stream.frames[ended ?? -1]?.data['data']).toEqual({ commandId: 'b1', status: 'stopped', exitCode: null });
    expect((await readResults(owner.client, id)).at(-1)).toMatchObject({ output: { id: 'b1', status: 'stopped' } });
  });

  it('a cancelled task has none that runs', async () => {
    const mark = newMark();
    agent([call('bash', { command: `sleep ${mark}`, background: true }), { hang: true }]);
    const { id } = await createTask(owner.client, { content: 'Do it.' });
    await sleeps(mark);
    await until('it to be listed', async () => (await listed(id)).length === 1);
    await owner.client.post(`/v1/tasks/${id}/cancel`, {});
    expect(await listed(id)).toMatchObject([{ id: 'b1', status: 'stopped' }]);
    await processesGone(mark);
  });
});
