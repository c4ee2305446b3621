import { bootWorker, useService } from '../harness/app.js';
import { listChecks } from '../harness/checked.js';
import { makeMember, type Member } from '../harness/client.js';
import { createEnvironment } from '../harness/environments.js';
import { upload } from '../harness/files.js';
import { bash, HeldModel } from '../harness/held-model.js';
import type { Answer, Script } from '../harness/model-server.js';
import { RepositoryFolder } from '../harness/repositories.js';
import { createTask, finished } from '../harness/tasks.js';
import { until } from '../harness/until.js';

const DONE: Answer = { text: 'Done.' };

interface Statement {
  predicate: {
    result: string;
    passedTests: string[];
    failedTests: string[];
    millwright: { checks: { name: string; phase: string; round: number; status: string }[] };
  };
}

describe('Checks on the original (reference §26)', () => {
  const repositories = new RepositoryFolder();
  let model: HeldModel;
  /** Answers when a test says so. */
  let held: Script;
  let owner: Member;
  const service = useService(async () => {
    model = await HeldModel.start();
    held = model.server.script;
    return bootWorker({
      env: { OPENAI_COMPATIBLE_URL: model.server.url },
      config: { repositoryFiles: [repositories.path], transparency: { data: true }, titles: false },
    });
  });
  beforeEach(async () => {
    model.server.requests.length = 0;
    owner = await makeMember(service, { role: 'owner' });
  });
  afterAll(async () => {
    await model.server.stop();
    repositories.remove();
  });

  const begin = (body: object, member = owner) => createTask(member.client, { content: 'Do it.', ...body });
  const work = async (body: object, member = owner) => {
    model.server.script = () => DONE;
    return finished(member.client, (await begin(body, member)).id);
  };
  const before = (id: string, member = owner) => listChecks(member.client, id, 'before');

  it('run once, beside the first model call; the proof has what they said', async () => {
    const url = `file://${repositories.make('broken', { 'test.sh': 'grep -q good src\n', src: 'bad\n' })}`;
    model.server.script = held;
    const { id } = await begin({ repository: { url }, checks: [{ name: 'test', command: 'sh test.sh; cat src; grep -q good src' }] }); // prettier-ignore
    const asked = await model.asked();
    await until('the result', async () => (await before(id)).length === 1);
    expect(await before(id)).toMatchObject([{ turn: 1, round: 0, name: 'test', status: 'failed', exitCode: 1, output: 'bad\n', protectedChanged: [] }]); // prettier-ignore
    asked.answer(bash('cd repo && echo good >src'));
    (await model.asked()).answer(DONE);
    expect((await finished(owner.client, id)).status).toBe('completed');
    expect(await listChecks(owner.client, id)).toMatchObject([{ status: 'passed', output: 'good\n' }]);
    const { body } = await owner.client.get<{ payload: string }>(`/v1/tasks/${id}/proof`);
    const { predicate } = JSON.parse(Buffer.from(body.payload, 'base64').toString()) as Statement;
    expect(predicate).toMatchObject({ result: 'PASSED', passedTests: ['test'], failedTests: [] });
    expect(predicate.millwright.checks).toMatchObject([
      { name: 'test', phase: 'before', round: 0, status: 'failed' },
      { name: 'test', phase: 'after', round: 0, status: 'passed' },
    ]);
    model.server.script = () => DONE;
    await owner.client.post(`/v1/tasks/${id}/messages`, { content: 'And more.' });
    await finished(owner.client, id);
    expect(await before(id)).toHaveLength(1);
    expect((await listChecks(owner.client, id)).map(({ turn }) => turn)).toEqual([1, 2]);
  });

  it('of one commit and command do not run again in other tasks', async () => {
    const url = `file://${repositories.make('twice', { a: 'one\n' })}`;
    const checks = [{ name: 'dice', command: 'head -c 16 /dev/urandom | base64' }];
    const found = async (body: object, member?: Member) => {
      const { id } = await work({ repository: { url }, checks, ...body }, member);
      const [check] = await before(id, member);
      return [check?.output, check?.durationMs];
    };
    const first = await found({});
    expect(await found({ checks: [{ ...checks[0], name: 'other', required: false }] })).toEqual(first);
    expect(await found({ checks: [{ ...checks[0], command: `${checks[0]?.command} ` }] })).not.toEqual(first);
    expect(await found({}, await makeMember(service, { role: 'owner' }))).not.toEqual(first);
  });

  it('that the time of a turn has cut short say nothing to other tasks', async () => {
    const repository = { url: `file://${repositories.make('cut', { a: 'one\n' })}` };
    // A slow machine has to come to the check within the time of the turn.
    const body = { repository, checks: [{ name: 'slow', command: 'sleep 14' }] };
    const { id } = await work({ ...body, budget: { maxDurationSeconds: 12 } });
    expect(await before(id)).toMatchObject([{ status: 'timed_out' }]);
    expect(await before((await work(body)).id)).toMatchObject([{ status: 'passed' }]);
  });

  it('without a repository see the attachments as they were stored, and nothing else', async () => {
    const { id: uploadId } = await upload(service, owner, 'stored\n', { name: 'a.txt' });
    model.server.script = held;
    const { id } = await begin({
      attachments: [{ uploadId }],
      checks: [{ name: 'seen', command: 'find . -type f -exec grep -H . {} +' }],
    });
    (await model.asked()).answer(bash('echo own >own.txt; echo changed >attachments/a.txt'));
    (await model.asked()).answer(DONE);
    await finished(owner.client, id);
    expect(await before(id)).toMatchObject([{ output: './attachments/a.txt:stored\n' }]);
    const [after] = await listChecks(owner.client, id);
    expect(after?.output?.trim().split('\n').sort()).toEqual(['./attachments/a.txt:changed', './own.txt:own']);
  });

  it('find what the build of their environment has made, also when that was ready when the task began', async () => {
    await createEnvironment(owner.client, { slug: 'node', setup: ['echo made >~/made.txt'] });
    for (const name of ['first', 'second']) {
      const { id } = await work({ environment: 'node', checks: [{ name, command: 'cat ~/made.txt' }] });
      expect(await before(id)).toMatchObject([{ name, status: 'passed', output: 'made\n' }]);
    }
  });

  it('of a check that a PATCH has brought run in the next turn', async () => {
    const { id } = await work({ checks: [{ name: 'one', command: 'true' }] });
    await owner.client.patch(`/v1/tasks/${id}`, { checks: [{ name: 'one', command: 'true' }, { name: 'two', command: 'true' }] }); // prettier-ignore
    await owner.client.post(`/v1/tasks/${id}/messages`, { content: 'And more.' });
    await finished(owner.client, id);
    expect((await before(id)).map(({ turn, name }) => [turn, name])).toEqual([[1, 'one'], [2, 'two']]); // prettier-ignore
  });

  it('are given up when the turn fails', async () => {
    model.server.script = () => ({ status: 400, body: '{"error": {"message": "No."}}' });
    const { id } = await begin({ checks: [{ name: 'long', command: 'sleep 600' }] });
    expect((await finished(owner.client, id)).statusReason).toMatchObject({ code: 'model_error' });
    expect(await before(id)).toEqual([]);
  });

  it('run two at once, as all checks do', async () => {
    const checks = ['a', 'b', 'c', 'd'].map((name) => ({ name, command: 'sleep 0.3' }));
    const { id } = await work({ checks });
    const { body } = await owner.client.get<{ events: { type: string; data: { phase: string } }[] }>(`/v1/tasks/${id}/events?after=0`); // prettier-ignore
    for (const phase of ['before', 'after']) {
      const told = body.events.filter(({ type, data }) => type.startsWith('check.') && data.phase === phase);
      let running = 0;
      const counts = told.map(({ type }) => (running += type === 'check.started' ? 1 : -1));
      expect(counts.slice(0, 2)).toEqual([1, 2]);
      expect([counts.length, Math.max(...counts), counts.at(-1)]).toEqual([8, 2, 0]);
    }
  });
});
