// Commands of a parent that go on when it hands out tasks (reference §27.2, §27.3).
import { bootWorker, useService } from '../harness/app.js';
import { makeMember } from '../harness/client.js';
import { byMarkers, ModelServer } from '../harness/model-server.js';
import { newMark, processesWith } from '../harness/processes.js';
import { RepositoryFolder } from '../harness/repositories.js';
import { bash, type ChildTask, delegate, part, SubtaskBench } from '../harness/subtasks.js';
import { call, readResults } from '../harness/tasks.js';

describe('Tasks of tasks beside commands that go on (reference §27.3)', () => {
  const folder = new RepositoryFolder();
  let model: ModelServer;
  let bench: SubtaskBench;
  let repository: { url: string };

  const service = useService(async () => {
    // What the service says of commands stands as a message of the user.
    model = await ModelServer.start(({ messages, ...request }, attempt) => {
      const asked = messages.filter(({ content }) => !JSON.stringify(content).includes('These commands of yours'));
      return byMarkers({ ...request, messages: asked }, attempt);
    });
    return bootWorker({ env: { OPENAI_COMPATIBLE_URL: model.url }, config: { repositoryFiles: [folder.path] } });
  });
  beforeAll(async () => {
    bench = new SubtaskBench(await makeMember(service));
    repository = { url: `file://${folder.make('acme', { 'a.txt': 'a\n' })}` };
  });
  afterAll(async () => {
    await model.stop();
    folder.remove();
  });

  const outputs = async (id: string) => (await readResults(bench.client, id)).map(({ output }) => output);
  const lines = async (id: string) => ((await outputs(id)).at(-1) as { stdout: string }).stdout;
  const COUNT = bash('wc -l < repo/log.txt');

  it.each(['repository', 'copy'] as const)('what they begin with, as %s, stands still: it is what the parent goes on with', async (how) => {
    const mark = newMark();
    const watch = call('bash', {
      command: `sleep ${mark} & while :; do echo x >> repo/log.txt; sleep 0.005; done`,
      background: true,
    });
    const wait = bash('until [ -s repo/log.txt ]; do sleep 0.01; done');
    const { id } = await bench.run([watch, wait, delegate(part('A', [COUNT], { folder: how })), COUNT], { repository });
    const [a] = (await bench.childrenOf(id)) as [ChildTask];
    expect(Number(await lines(a.id))).toBeGreaterThan(0);
    expect(await lines(a.id)).toBe(await lines(id));
    expect(await bench.told(id)).toMatchObject([
      { status: 'completed', changes: { files: 0, additions: 0, deletions: 0 }, patch: null },
    ]);
    expect(await bench.read(id)).toMatchObject({ changes: { files: 1, additions: Number(await lines(id)) } });
    const { body } = await bench.client.get<{ commands: object[] }>(`/v1/tasks/${id}/commands`);
    expect(body.commands).toMatchObject([{ id: 'b1', status: 'stopped' }]);
    expect(processesWith(mark)).toEqual([]);
  }); // prettier-ignore

  it('a call that makes none for its errors leaves them alone, or says that it has stopped them', async () => {
    const server = call('bash', { command: 'exec sleep 1000', background: true });
    const read = call('bash_output', {});
    const { id } = await bench.run([
      server,
      delegate(part('A', [], { model: 'nobody' })),
      read,
      delegate(part('A', [], { files: ['nothing.txt'] })),
      read,
    ]);
    const [, , first, , second] = await readResults(bench.client, id);
    expect([first?.output, second?.output]).toMatchObject([
      [{ id: 'b1', status: 'running' }],
      [{ id: 'b1', status: 'stopped' }],
    ]);
    const errors = (await bench.results(id)).map(({ error }) => error);
    expect(errors.filter((error) => error !== undefined)).toEqual([
      expect.not.stringContaining('b1'),
      expect.stringMatching(/tasks\[0\]\.files: .*nothing\.txt.* b1 was stopped for this call\.$/),
    ]);
  });
});
