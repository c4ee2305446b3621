import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { type Answer, ModelServer, stepOf } from '../harness/model-server.js';
import { newMark, processesWith } from '../harness/processes.js';
import { call, createTask, finished, readResults } from '../harness/tasks.js';

describe('Commands of a model that writes patches (reference §27.2)', () => {
  let model: ModelServer;
  let owner: Member;
  const service = useService(async () => {
    model = await ModelServer.start();
    const env = { OPENAI_COMPATIBLE_URL: model.url, OPENAI_COMPATIBLE_MODEL: 'gpt-5.5' };
    return bootWorker({ env, config: { transparency: { data: true, tool_activity: true }, titles: false } });
  });
  beforeEach(async () => {
    owner = await makeMember(service, { role: 'owner' });
  });
  afterAll(() => model.stop());

  const exec = (cmd: string, more = {}) => call('exec_command', { cmd, yield_time_ms: 500, ...more });
  const write = (session_id: number, more = {}) => call('write_stdin', { session_id, ...more });
  /** Answers what the calls of a task have come to, one call a step. */
  const results = async (...steps: Answer[]) => {
    model.script = (request) => steps[stepOf(request)] ?? { text: 'Done.' };
    const { id } = await createTask(owner.client, { content: 'Do it.' });
    expect(await finished(owner.client, id)).toMatchObject({ status: 'completed' });
    return { id, all: await readResults(owner.client, id) };
  };

  it('exec_command and write_stdin are offered in place of bash and its fellows, with the fields that Codex has', async () => {
    await results();
    const { tools = [] } = model.requests.at(-1)?.body ?? {};
    const fields = (name: string) => {
      const { parameters } = tools.find((tool) => tool.function.name === name)?.function ?? {};
      return Object.keys((parameters as { properties?: object } | undefined)?.properties ?? {}).sort();
    };
    expect(tools.map((tool) => tool.function.name).filter((name) => /bash|exec|stdin/.test(name))).toEqual([
      'exec_command',
      'write_stdin',
    ]);
    expect(fields('exec_command')).toEqual(['cmd', 'max_output_tokens', 'tty', 'workdir', 'yield_time_ms']);
    expect(fields('write_stdin')).toEqual(['chars', 'max_output_tokens', 'session_id', 'yield_time_ms']);
  });

  it('a command that ends in time is an ordinary result, in the folder that it names, without input', async () => {
    const { id, all } = await results(
      exec('mkdir -p sub', { yield_time_ms: 10_000 }),
      exec('pwd; cat; echo no >&2; exit 3', { workdir: 'sub', yield_time_ms: 10_000 }),
    );
    expect(all[1]).toMatchObject({ output: { exitCode: 3, stdout: '/workdir/sub\n', stderr: 'no\n' } });
    const { body } = await owner.client.get(`/v1/tasks/${id}/commands`);
    expect(body).toMatchObject({ commands: [] });
  });

  it('one that takes longer goes on as a session: it is read, reached by later commands, and interrupted', async () => {
    const serve = `require("http").createServer((_, to) => to.end("served")).listen(8125, "127.0.0.1", () => console.log("up"))`;
    const ask = `fetch("http://127.0.0.1:8125").then((got) => got.text()).then(console.log, () => console.log("nobody"))`;
    const { id, all } = await results(
      exec(`node -e '${serve}'`, { yield_time_ms: 250 }),
      exec(`until grep -q up /tmp/output/b1.log; do sleep 0.1; done; node -e '${ask}'`, { yield_time_ms: 30_000 }),
      write(1, { yield_time_ms: 300 }),
      write(1, { chars: '\u0003', yield_time_ms: 10_000 }),
      exec(`node -e '${ask}'`, { yield_time_ms: 30_000 }),
    );
    expect(all).toMatchObject([
      { output: { session_id: 1, status: 'running' } },
      { output: { exitCode: 0, stdout: 'served\n' } },
      { output: { session_id: 1, status: 'running' } },
      { output: { session_id: 1, status: 'exited', exitCode: 130 } },
      { output: { stdout: 'nobody\n' } },
    ]);
    // What it said was shown once.
    const said = [all[0], all[2], all[3]].map((one) => (one?.output as { output: string }).output);
    expect(said.join('')).toBe('up\n');
    const { body } = await owner.client.get(`/v1/tasks/${id}/commands`);
    expect(body).toMatchObject({ commands: [{ id: 'b1', status: 'exited', exitCode: 130 }] });
  });

  it('one in a terminal is typed to with write_stdin, which waits for the answer, and without chars for the end', async () => {
    const { all } = await results(
      exec('read -r -p "name? " name; echo "hello $name"; sleep 1; echo over', { tty: true, yield_time_ms: 1_000 }),
      write(1, { chars: 'Ann\n', yield_time_ms: 20_000 }),
      write(1, { yield_time_ms: 20_000 }),
    );
    expect(all).toMatchObject([
      { output: { session_id: 1, status: 'running', output: 'name? ' } },
      { output: { session_id: 1, status: 'running', output: expect.stringContaining('hello Ann') as string } },
      { output: { session_id: 1, status: 'exited', exitCode: 0, output: 'over\n' } },
    ]);
  });

  it('they end with the turn, also those that heed no signal', async () => {
    const mark = newMark();
    const { id, all } = await results(exec(`trap '' INT TERM; echo on; while :; do sleep ${mark}; done`));
    expect(all).toMatchObject([{ output: { session_id: 1, status: 'running', output: 'on\n' } }]);
    expect(processesWith(mark)).toEqual([]);
    const { body } = await owner.client.get(`/v1/tasks/${id}/commands`);
    expect(body).toMatchObject({ commands: [{ id: 'b1', status: 'stopped', exitCode: null, output: 'on\n' }] });
  });
});
