import { randomUUID } from 'node:crypto';
import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { makeCommand } from '../harness/commands.js';
import { type Answer, ModelServer, stepOf } from '../harness/model-server.js';
import { newMark, processesGone, processesWith, sleeps } from '../harness/processes.js';
import { call, createTask, finished, readResults } from '../harness/tasks.js';
import { until } from '../harness/until.js';

/** No less: the service tries its sandbox in that time when it boots. */
const WALL_CLOCK = 3;

describe('The limits of commands that go on (reference §27.2)', () => {
  let model: ModelServer;
  let owner: Member;
  const service = useService(async () => {
    model = await ModelServer.start();
    return bootWorker({
      env: { OPENAI_COMPATIBLE_URL: model.url },
      config: {
        sandbox: { wallClockSeconds: WALL_CLOCK, outputBytes: 100_000 },
        transparency: { data: true, tool_activity: true },
        titles: false,
      },
    });
  });
  beforeEach(async () => {
    owner = await makeMember(service, { role: 'owner' });
  });
  afterAll(() => model.stop());

  const behind = (command: string, more = {}) => call('bash', { command, background: true, yieldSeconds: 0, ...more });
  const script = (...steps: Answer[]) => {
    model.script = (request) => steps[stepOf(request)] ?? { text: 'Done.' };
  };
  const results = async (...steps: Answer[]) => {
    script(...steps);
    const { id } = await createTask(owner.client, { content: 'Do it.' });
    expect(await finished(owner.client, id)).toMatchObject({ status: 'completed' });
    return await readResults(owner.client, id);
  };
  const listed = async (id: string) => {
    const { body } = await owner.client.get<{ commands: Record<string, unknown>[] }>(`/v1/tasks/${id}/commands`);
    return body.commands;
  };

  it('each lives six times wallClockSeconds at most, and less where its call says so', async () => {
    const begun = performance.now();
    const all = await results(
      behind('sleep 100'),
      behind('sleep 100', { timeoutSeconds: 2 }),
      call('bash_output', { id: 'b2', waitSeconds: 60 }),
      call('bash_output', { id: 'b1', waitSeconds: 60 }),
    );
    const over = { status: 'exited', exitCode: 124, note: expect.stringMatching(/^It was ended: its time was over/) as string }; // prettier-ignore
    expect(all.slice(2)).toMatchObject([{ output: { id: 'b2', ...over } }, { output: { id: 'b1', ...over } }]);
    expect(performance.now() - begun).toBeGreaterThan(6 * WALL_CLOCK * 1000 - 100);
  });

  it('the time of the turn ends them', async () => {
    const mark = newMark();
    script(behind(`sleep ${mark}`), call('bash_output', { id: 'b1', waitSeconds: 60 }), { hang: true });
    const { id } = await createTask(owner.client, { content: 'Do it.', budget: { maxDurationSeconds: 3 } });
    expect(await finished(owner.client, id)).toMatchObject({
      status: 'failed',
      statusReason: { code: 'budget_exceeded' },
    });
    expect(processesWith(mark)).toEqual([]);
    expect(await listed(id)).toMatchObject([{ id: 'b1', status: 'exited', exitCode: 124 }]);
  });

  it('input that has ended, and a command that takes none, are errors', async () => {
    const all = await results(
      behind('cat; exec sleep 100'),
      call('bash_input', { id: 'b1', text: 'one\n', end: true }),
      call('bash_input', { id: 'b1', text: 'two\n' }),
      call('bash', { command: 'sleep 100', yieldSeconds: 0 }),
      call('bash_input', { id: 'b2', text: 'one\n' }),
    );
    expect(all.slice(1)).toMatchObject([
      { output: { id: 'b1', status: 'running', output: 'one\n' } },
      { error: expect.stringMatching(/^The command b1 takes no input: its input has ended/) as string },
      { output: { id: 'b2', status: 'running' } },
      { error: expect.stringMatching(/^The command b2 takes no input/) as string },
    ]);
  });

  it('the log has what it says up to outputBytes, and what comes after that is read all the same', async () => {
    const all = await results(
      behind(`head -c 150000 /dev/zero | tr '\\0' x; echo; echo after; exec sleep 100`),
      call('bash_output', { id: 'b1', waitSeconds: 2 }),
      call('bash', { command: 'wc -c < /tmp/output/b1.log' }),
    );
    expect(all.slice(1)).toMatchObject([
      { output: { status: 'running', next: 150_007, output: expect.stringMatching(/^x+\n\[… \d+ bytes left out …\]\nx+\nafter\n$/) as string } },
      { output: { stdout: '100000\n' } },
    ]); // prettier-ignore
  });

  it('the log of one has nothing of another of its number, as a copied folder may have it, and follows no link', async () => {
    const all = await results(
      call('bash', {
        command: 'mkdir -p /tmp/output; echo old >/tmp/output/b1.log; ln -s /workdir/mine /tmp/output/b2.log',
      }),
      behind('echo first; exec sleep 100'),
      behind('echo second; exec sleep 100'),
      call('bash_output', { id: 'b2', waitSeconds: 1 }),
      call('bash', { command: 'cat /tmp/output/b1.log /tmp/output/b2.log; ls /workdir' }),
    );
    expect(all.at(-1)).toMatchObject({ output: { stdout: 'first\nsecond\n' } });
  });

  it('where the workspace shows no tool activity, one is stopped all the same, without a word of what it is', async () => {
    const mark = newMark();
    script(behind(`echo secret; exec sleep ${mark}`), { hang: true });
    const { id } = await createTask(owner.client, { content: 'Do it.' });
    await sleeps(mark);
    await service.db.query(`UPDATE workspaces SET transparency = '{text}' WHERE id = $1`, [owner.workspace.id]);
    await until('it to be listed', async () => (await listed(id)).length === 1);
    const { status, body } = await owner.client.post(`/v1/tasks/${id}/commands/b1/stop`, {});
    expect([status, body]).toMatchObject([202, { command: { id: 'b1', command: null, output: null } }]);
    await until('its end', async () => (await listed(id))[0]?.['status'] === 'stopped');
    await processesGone(mark);
    expect(await listed(id)).toMatchObject([{ command: null, output: null, outputBytes: 7 }]);
    await owner.client.post(`/v1/tasks/${id}/cancel`, {});
  });

  it('of many that ended unseen twenty are told a turn, and none is passed over', async () => {
    const told = (): string[] => {
      const asked = JSON.stringify(model.requests.at(-1)?.body.messages);
      return [...asked.matchAll(/b(\d+) \(exited, exit code 7\)/g)].map(([, number]) => number ?? '');
    };
    script();
    const { id } = await createTask(owner.client, { content: 'Do it.' });
    await finished(owner.client, id);
    for (let n = 0; n < 25; n++) await makeCommand(service, id);
    await service.db.query(`UPDATE task_commands SET status = 'exited', exit_code = 7, ended_at = now() WHERE task_id = $1`, [id]); // prettier-ignore
    const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => String(from + n));
    for (const expected of [numbers(6, 25), [...numbers(6, 25), ...numbers(1, 5)]]) {
      const before = model.requests.length;
      await owner.client.post(`/v1/tasks/${id}/messages`, { content: 'More.' }, { headers: { 'Idempotency-Key': randomUUID() } }); // prettier-ignore
      await until('the model to be asked', () => model.requests.length > before);
      await finished(owner.client, id);
      expect(told()).toEqual(expected);
    }
  });
});
