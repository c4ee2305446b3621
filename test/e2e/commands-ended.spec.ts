import { chmodSync } from 'node:fs';
import { RunExecutor } from '../../src/work/runs/run-executor.js';
import { answerApproval, approvalOf } from '../harness/approvals.js';
import { bootApp, bootWorker, type TestApp, useService } from '../harness/app.js';
import type { Member } from '../harness/client.js';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { type Asked, bash, HeldModel } from '../harness/held-model.js';
import { PauseBench } from '../harness/pauses.js';
import { newMark, processesGone, sleeps } from '../harness/processes.js';
import { createSecret } from '../harness/secrets.js';
import { temporaryFolder } from '../harness/service.js';
import { call, createTask, finished, reaches, readMessages, readResults } from '../harness/tasks.js';
import { until } from '../harness/until.js';

interface CommandBody {
  id: string;
  status: string;
  output: string;
  outputBytes: number;
}

describe('Commands whose run ends before the turn (reference §27.2)', () => {
  const folder = temporaryFolder();
  let [model, db, worker, owner, bench] = [] as unknown as [HeldModel, TestDatabase, TestApp, Member, PauseBench];
  const given = () => ({
    db,
    env: { OPENAI_COMPATIBLE_URL: model.server.url, DATA_DIR: folder.path },
    config: { sandbox: { network: 'allow' as const, allowHosts: ['api.github.com'] } },
  });
  const service = useService(async () => {
    // The users of the sandboxes pass through it.
    chmodSync(folder.path, 0o711);
    model = await HeldModel.start();
    db = await createDatabase();
    return bootApp(given());
  });
  const startWorker = async () => {
    worker = await bootWorker({ ...given(), env: { ...given().env, ROLE: 'worker' } });
  };
  beforeAll(async () => {
    await startWorker();
    bench = await PauseBench.make(service, model);
    owner = bench.member;
  });
  afterEach(() => {
    expect(model.held).toEqual([]);
  });
  afterAll(async () => {
    await worker.close();
    await model.server.stop();
    await db.drop();
    folder.remove();
  });

  /** A task whose command b1 goes on, and its model, which is asked what comes next. */
  const goingOn = async (more: object = {}) => {
    const mark = newMark();
    const command = `echo hello; exec sleep ${mark}`;
    const { id } = await createTask(owner.client, { content: 'Begin.', ...more });
    (await model.asked()).answer(call('bash', { command, background: true }));
    const asked = await model.asked();
    await sleeps(mark);
    return { id, mark, command, asked };
  };
  const listed = async (id: string) =>
    (await owner.client.get<{ commands: CommandBody[] }>(`/v1/tasks/${id}/commands`)).body.commands;
  const toldTo = ({ said }: Asked) => said.find((one) => one.includes('These commands of yours do not run any more'));
  const begins = (id: string, messages: number) =>
    until('the call to begin', async () => (await readMessages(owner.client, id)).length === messages);
  /** The next run names b1, with how it ended and the end of what it said. */
  const namesIt = async ({ id, command }: { id: string; command: string }) => {
    const next = await model.asked();
    expect(toldTo(next)).toContain(`b1 (stopped): ${JSON.stringify(command)}\n<output>\nhello\n</output>`);
    next.answer({ text: 'Done.' });
    expect(await finished(owner.client, id)).toMatchObject({ status: 'completed' });
  };

  it('a pause ends the wait of a call for one, and the next run names it', async () => {
    const { id, mark, asked, ...b1 } = await goingOn();
    asked.answer(call('bash_output', { id: 'b1', waitSeconds: 120 }));
    await begins(id, 3);
    await bench.pause(id);
    await bench.stopped(id);
    await processesGone(mark);
    expect((await readResults(owner.client, id)).at(-1)).toMatchObject({ output: { id: 'b1', status: 'running' } });
    expect(await listed(id)).toMatchObject([{ id: 'b1', status: 'stopped', output: 'hello\n' }]);
    await bench.resume(id);
    await namesIt({ id, ...b1 });
  });

  it('a call that outlasts the pause leaves none that is said to run', async () => {
    const { id, mark, asked, ...b1 } = await goingOn();
    const other = newMark();
    asked.answer(bash(`sleep ${other}`));
    await sleeps(other);
    await bench.pause(id);
    await bench.stopped(id);
    await processesGone(mark);
    expect(await listed(id)).toMatchObject([{ id: 'b1', status: 'stopped' }]);
    const { status } = await owner.client.post(`/v1/tasks/${id}/commands/b1/stop`, {});
    expect(status).toBe(409);
    await bench.resume(id);
    await namesIt({ id, ...b1 });
  });

  it('a worker that is told to stop hands the run over, and the next run names it', async () => {
    const { id, mark, ...b1 } = await goingOn();
    await worker.app.get(RunExecutor, { strict: false }).beforeApplicationShutdown('SIGTERM');
    await worker.close();
    await processesGone(mark);
    expect(await listed(id)).toMatchObject([{ id: 'b1', status: 'stopped', output: 'hello\n' }]);
    await startWorker();
    await namesIt({ id, ...b1 });
  });

  it('one whose box another command ends is lost, in words', async () => {
    const { id, mark, asked } = await goingOn();
    asked.answer(bash('kill -9 -1'));
    (await model.asked()).answer(call('bash_output', { id: 'b1', waitSeconds: 20 }));
    (await model.asked()).answer({ text: 'Done.' });
    await finished(owner.client, id);
    await processesGone(mark);
    expect((await readResults(owner.client, id)).at(-1)).toMatchObject({
      output: {
        id: 'b1',
        status: 'lost',
        exitCode: null,
        note: expect.stringContaining('may have run partly') as string,
      },
    });
    expect(await listed(id)).toMatchObject([{ id: 'b1', status: 'lost', output: 'hello\n' }]);
  });

  it('one that is lost unseen is named by the next run', async () => {
    const { id, command, asked } = await goingOn();
    asked.answer(bash('kill -9 -1'));
    (await model.asked()).answer({ text: 'Done.' });
    await finished(owner.client, id);
    await bench.send(id, 'More.');
    const next = await model.asked();
    expect(toldTo(next)).toContain(`b1 (lost): ${JSON.stringify(command)}\n<output>\nhello\n</output>`);
    next.answer({ text: 'Done.' });
    await finished(owner.client, id);
  });

  it('a call that waits for tasks ends them, and the run behind it names them', async () => {
    const { id, mark, asked, ...b1 } = await goingOn();
    asked.answer(call('delegate', { tasks: [{ title: 'A part', content: 'A part.', folder: 'empty' }] }));
    const child = await model.asked();
    expect(child.said.at(-1)).toContain('A part.');
    await bench.stopped(id);
    await processesGone(mark);
    expect(await listed(id)).toMatchObject([{ id: 'b1', status: 'stopped', output: 'hello\n' }]);
    child.answer({ text: 'The part is done.' });
    await namesIt({ id, ...b1 });
  });

  it('the approval of a secret ends them, and the run behind it names them', async () => {
    await createSecret(owner.client, { scope: 'user' });
    const { id, mark, asked, ...b1 } = await goingOn({ approvals: 'secrets' });
    asked.answer(call('use_secret', { name: 'TOKEN', reason: 'To read the list.' }));
    const approval = await approvalOf(owner.client, id);
    await processesGone(mark);
    expect(await listed(id)).toMatchObject([{ id: 'b1', status: 'stopped', output: 'hello\n' }]);
    expect((await answerApproval(owner.client, id, approval, { decision: 'approve' })).status).toBe(202);
    await namesIt({ id, ...b1 });
  });

  it('a message that interrupts ends it, and the next run names it with what it had said', async () => {
    const { id, mark, ...b1 } = await goingOn();
    // The message takes the run: of what the command said it leaves what is on record.
    await until('its output', async () => (await listed(id))[0]?.outputBytes === 6);
    await bench.send(id, 'Stop that.', { mode: 'interrupt' });
    expect(await listed(id)).toMatchObject([{ id: 'b1', status: 'stopped', output: 'hello\n', outputBytes: 6 }]);
    await processesGone(mark);
    await namesIt({ id, ...b1 });
  });

  it('what it says while it runs is on record seconds later, and stays when its run is taken', async () => {
    const { id, asked } = await goingOn();
    asked.answer(
      call('bash', { command: 'until [ -e go ]; do sleep 0.1; done; seq 1000; exec sleep 1000', background: true }),
    );
    (await model.asked()).answer(bash('touch go'));
    await model.asked();
    const said = await until('its output', async () => (await listed(id)).find(({ id, outputBytes }) => id === 'b2' && outputBytes > 0)); // prettier-ignore
    expect(said).toMatchObject({ status: 'running', outputBytes: 3893 });
    expect(said.output).toMatch(/^\d*\n[\d\n]+\n999\n1000\n$/);
    expect(said.output).toHaveLength(2048);
    await owner.client.post(`/v1/tasks/${id}/cancel`, {});
    expect((await listed(id))[0]).toEqual({ ...said, status: 'stopped', endedAt: expect.any(String) });
  });

  it('a round of checks ends those that go on, and the agent reads that with what has failed', async () => {
    const { id, command, asked } = await goingOn({ checks: [{ name: 'test', command: 'test -e mended' }] });
    asked.answer({ text: 'Done.' });
    const repair = await model.asked();
    const [failed, ended] = repair.request.messages.slice(-2).map((message) => JSON.stringify(message));
    expect(failed).toContain('## test: it ended with exit code 1');
    expect(ended).toContain('These commands of yours do not run any more');
    expect(toldTo(repair)).toContain(`b1 (stopped): ${JSON.stringify(command)}\n<output>\nhello\n</output>`);
    repair.answer({
      calls: [
        { name: 'bash_output', arguments: { id: 'b1' } },
        { name: 'bash', arguments: { command: 'touch mended' } },
      ],
    });
    (await model.asked()).answer({ text: 'Mended.' });
    expect(await finished(owner.client, id)).toMatchObject({ status: 'completed', checks: { status: 'passed' } });
    // It is told once.
    await bench.send(id, 'More.');
    const next = await model.asked();
    expect(next.said.filter((one) => one.includes('These commands of yours'))).toHaveLength(1);
    next.answer({ text: 'Done.' });
    await finished(owner.client, id);
  });

  describe('in the next run', () => {
    /** A task whose command b1 has failed by itself, and its model, which is asked what comes next. */
    const failed = async () => {
      const { id } = await createTask(owner.client, { content: 'Begin.' });
      const command = 'echo not ok; exit 1';
      (await model.asked()).answer(
        call('bash', { command: `sleep 0.1; ${command}`, background: true, yieldSeconds: 0 }),
      );
      const asked = await model.asked();
      await until('b1 to end', async () => (await listed(id))[0]?.status === 'exited');
      return { id, asked };
    };
    const question = async (id: string, asked: Asked) => {
      asked.answer(call('ask', { question: 'Go on?' }));
      const { pendingInteraction } = await reaches(owner.client, id, 'awaiting_input');
      const answer = { interactionId: pendingInteraction?.id, content: 'Yes.' };
      expect((await owner.client.post(`/v1/tasks/${id}/interaction`, answer)).status).toBe(202);
      return model.asked();
    };

    it('what has ended unseen is named, listed and read by its id, and takes no input', async () => {
      const { id, asked } = await failed();
      const next = await question(id, asked);
      expect(toldTo(next)).toMatch(
        /b1 \(exited, exit code 1\): "sleep 0.1; echo not ok; exit 1"\n<output>\nnot ok\n<\/output>$/,
      );
      next.answer({
        calls: [
          { name: 'bash_output', arguments: {} },
          { name: 'bash_output', arguments: { id: 'b1', waitSeconds: 10 } },
          { name: 'write_stdin', arguments: { session_id: 1 } },
          { name: 'bash_input', arguments: { id: 'b1', text: 'y' } },
        ],
      });
      (await model.asked()).answer({ text: 'Done.' });
      await finished(owner.client, id);
      const b1 = { status: 'exited', exitCode: 1, output: 'not ok\n' };
      expect((await readResults(owner.client, id)).slice(-4)).toMatchObject([
        { output: [{ id: 'b1', status: 'exited', exitCode: 1 }] },
        { output: { id: 'b1', ...b1 } },
        { output: { session_id: 1, ...b1 } },
        { error: 'The command b1 does not run any more (exited).' },
      ]);
    });

    it('what the agent was shown is not named once more', async () => {
      const { id, asked } = await failed();
      asked.answer(call('bash_output', { id: 'b1' }));
      const next = await question(id, await model.asked());
      expect(next.said).toEqual(['Begin.']);
      next.answer({ text: 'Done.' });
      await finished(owner.client, id);
    });

    it('what was lost with its worker is read as lost', async () => {
      const { id, command } = await goingOn();
      await db.query(`UPDATE runs SET lease_until = now() - interval '1 s' WHERE task_id = $1`, [id]);
      const next = await model.asked();
      expect(toldTo(next)).toContain(`b1 (lost): ${JSON.stringify(command)}`);
      next.answer(call('bash_output', { id: 'b1', waitSeconds: 10 }));
      (await model.asked()).answer({ text: 'Done.' });
      await finished(owner.client, id);
      expect((await readResults(owner.client, id)).at(-1)).toMatchObject({
        output: { id: 'b1', status: 'lost', exitCode: null },
      });
    });
  });
});
