import { readFileSync } from 'node:fs';
import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { type Answer, ModelServer, steps } from '../harness/model-server.js';
import { newMark, processesGone, processesWith } from '../harness/processes.js';
import { call, createTask, finished, reaches, readResults } from '../harness/tasks.js';

/** Of the output of a command, so that a flood is soon beyond it. */
const OUTPUT_BYTES = 3 * 1024 ** 2;

interface Said {
  id: string;
  status: string;
  output: string;
  next: number;
  stdout: string;
}
interface CommandBody {
  status: string;
  exitCode: number | null;
  output: string;
  outputBytes: number;
}

describe('Commands that go on and do not want to end (reference §27.2)', () => {
  let model: ModelServer;
  let owner: Member;
  const service = useService(async () => {
    model = await ModelServer.start();
    return bootWorker({
      env: { OPENAI_COMPATIBLE_URL: model.url },
      config: { transparency: { data: true, tool_activity: true }, sandbox: { outputBytes: OUTPUT_BYTES } },
    });
  });
  beforeEach(async () => {
    owner = await makeMember(service, { role: 'owner' });
  });
  afterAll(() => model.stop());

  const background = (command: string, more: object = {}) => call('bash', { command, background: true, ...more });
  /** When all that it is to leave runs; a word of it, because the shell that was told of a mark has it in its own line. */
  const up = (id = 'b1') => call('bash', { command: `until grep -q up /tmp/output/${id}.log; do sleep 0.1; done` });
  const STOP = call('bash_stop', { id: 'b1' });
  const work = async (...answers: Answer[]) => {
    model.script = steps(...answers);
    const { id } = await createTask(owner.client, { content: 'Do it.' });
    const task = await finished(owner.client, id);
    expect([task.status, task.statusReason]).toEqual(['completed', null]);
    const results = (await readResults(owner.client, id)).map(({ output }) => output as Said);
    const { body } = await owner.client.get<{ commands: CommandBody[] }>(`/v1/tasks/${id}/commands`);
    return { results, commands: body.commands };
  };

  const CHILDREN: [string, (mark: string) => string][] = [
    ['ignores every signal that it can', (m) => `trap '' TERM INT HUP QUIT USR1 PIPE TSTP; echo up; while :; do sleep ${m}; done`],
    ['forks twice into a session of its own', (m) => `(setsid sh -c 'trap "" TERM HUP INT; (sleep ${m} &) ; sleep ${m}' &) ; echo up; sleep ${m}`],
    ['has closed its streams', (m) => `echo up; exec <&- >&- 2>&-; trap '' TERM; while :; do sleep ${m}; done`],
    ['floods its output', (m) => `trap '' TERM; echo up; sleep ${m} & while :; do echo ${'flood'.repeat(20)}; done`],
    ['is stopped and has stopped its children', (m) => `sleep ${m} & kill -STOP $!; echo up; kill -STOP $$`],
  ]; // prettier-ignore

  it.each(CHILDREN)('one that %s is ended by bash_stop, with all that it has started', async (_, command) => {
    const [mark, other] = [newMark(), newMark()];
    const { results, commands } = await work(
      background(command(mark), { yieldSeconds: 2 }),
      up(),
      background(`echo up; exec sleep ${other}`),
      STOP,
      call('bash', { command: `ps -eo args | grep -c '^sleep ${mark}'; ps -eo args | grep -c '^sleep ${other}'` }),
    );
    expect(results[0]).toMatchObject({ id: 'b1', status: 'running' });
    expect(results[3]).toMatchObject({ id: 'b1', status: 'stopped' });
    // And no other.
    expect(results[4]?.stdout).toBe('0\n1\n');
    expect(commands.map(({ status }) => status)).toEqual(['stopped', 'stopped']);
    expect([...processesWith(mark), ...processesWith(other)]).toEqual([]);
  });

  it.each(CHILDREN)('one that %s ends with the run that waits for a person, before the person is asked', async (_, command) => {
    const mark = newMark();
    model.script = steps(background(command(mark), { yieldSeconds: 2 }), up(), call('ask', { question: 'Go on?' }));
    const { id } = await createTask(owner.client, { content: 'Do it.' });
    await reaches(owner.client, id, 'awaiting_input');
    expect(processesWith(mark)).toEqual([]);
    const { body } = await owner.client.get<{ commands: CommandBody[] }>(`/v1/tasks/${id}/commands`);
    expect(body.commands).toMatchObject([{ status: 'stopped', exitCode: null }]);
    await owner.client.post(`/v1/tasks/${id}/cancel`, {});
  }); // prettier-ignore

  it('one whose first process leaves others behind has ended, and they with it', async () => {
    const mark = newMark();
    const { results, commands } = await work(
      background(`setsid nohup sleep ${mark} >/dev/null 2>&1 & echo left; exit 3`, { yieldSeconds: 0 }),
      call('bash_output', { id: 'b1', waitSeconds: 20, from: 0 }),
      call('bash', { command: `ps -eo args | grep -c '^sleep ${mark}'` }),
    );
    expect(results[1]).toMatchObject({ status: 'exited', exitCode: 3, output: 'left\n' });
    expect(results[2]?.stdout).toBe('0\n');
    expect(commands).toMatchObject([{ status: 'exited', exitCode: 3 }]);
    await processesGone(mark);
  });

  it('a flood is read to its limit into the file, its beginning and end are shown, and other commands run beside it', async () => {
    const before = memory();
    const line = 'x'.repeat(99);
    const { results, commands } = await work(
      background(`i=0; while :; do i=$((i + 1)); printf '%07d ${line}\\n' $i; done`),
      call('bash', { command: 'until [ "$(stat -c %s /tmp/output/b1.log)" -ge ' + OUTPUT_BYTES + ' ]; do sleep 0.1; done; echo beside' }),
      call('bash_output', { id: 'b1', from: 0 }),
      STOP,
      call('bash', { command: `stat -c %s /tmp/output/b1.log; awk '$1 + 0 != NR { print "not " NR ": " $0; exit }' /tmp/output/b1.log` }),
    ); // prettier-ignore
    expect(results[1]).toMatchObject({ exitCode: 0, stdout: 'beside\n' });
    const { output = '', next = 0 } = results[2] ?? {};
    expect(output).toMatch(/^0000001 x+\n0000002 [\s\S]*\n\[… \d+ bytes left out …\]\n[\s\S]*x/);
    expect(output.length).toBeLessThan(32 * 1024);
    expect(next).toBeGreaterThan(OUTPUT_BYTES);
    expect(results[3]).toMatchObject({ status: 'stopped' });
    // Every line, the last one as far as the limit.
    expect(results[4]?.stdout).toBe(`${OUTPUT_BYTES}\n`);
    expect(commands[0]?.outputBytes).toBeGreaterThan(OUTPUT_BYTES);
    expect(Buffer.byteLength(commands[0]?.output ?? '')).toBeLessThanOrEqual(16 * 1024);
    expect(memory() - before).toBeLessThan(150);
  }); // prettier-ignore
});

/** Resident memory of this process, in which the service is, MiB. */
function memory(): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) / 1024;
}
