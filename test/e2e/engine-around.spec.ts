// What goes on around a turn of an agent program: files, repository, changes, checks (reference §30).
import { useService } from '../harness/app.js';
import { listChecks } from '../harness/checked.js';
import { makeMember, type Member } from '../harness/client.js';
import { type FakeAnswer, FakeModel } from '../harness/engines/fake-model.js';
import { bootWithEngines, engineOf, shell } from '../harness/engines/worker.js';
import { upload } from '../harness/files.js';
import { RepositoryFolder } from '../harness/repositories.js';
import { createTask, finishedLater, readResults, script, type TaskBody } from '../harness/tasks.js';

describe('Around a turn of an agent program (reference §30)', () => {
  const repositories = new RepositoryFolder();
  let model: FakeModel;
  let ann: Member;
  const service = useService(async () => {
    model = await FakeModel.start();
    const config = { repositoryFiles: [repositories.path] };
    return bootWithEngines(model, { program: engineOf() }, { config });
  });
  beforeAll(async () => (ann = await makeMember(service)));
  afterAll(async () => {
    await model.stop();
    repositories.remove();
  });

  const work = async (content: string, more: Record<string, unknown> = {}) => {
    const { id } = await createTask(ann.client, { content, model: 'program', ...more });
    return finishedLater(ann.client, id);
  };

  it('files lie in the workdir, the surroundings begin the first prompt, and what differs is counted', async () => {
    const url = `file://${repositories.make('made', { 'a.txt': 'one\n', 'AGENTS.md': 'Keep it short.\n' })}`;
    const { id: uploadId } = await upload(service, ann, 'bytes\n', { name: 'one.txt' });
    const steps = script({ calls: [shell('pwd; cat ../attachments/one.txt; echo two >> a.txt')] }, { text: 'Done.' });
    const task = await work(steps, { repository: { url }, attachments: [{ uploadId }] });
    expect(task).toMatchObject({ status: 'completed', changes: { files: 1, additions: 1, deletions: 0 } });
    expect(await readResults(ann.client, task.id)).toMatchObject([{ output: '/workdir/repo\nbytes\n' }]);
    const told = model.requests[0]?.messages.find(({ role }) => role === 'user')?.text ?? '';
    expect(told).toMatch(/^<surroundings>/);
    expect(told).toContain('Keep it short.');
    expect(told).toContain('attachments/one.txt');
  });

  it('checks that fail are its next prompt, and hold when it has mended them', async () => {
    const rounds: FakeAnswer[] = [{ text: 'Done at once.' }, { calls: [shell('echo yes > done.txt')] }];
    model.script = ({ messages }) => {
      const prompts = messages.filter(({ role }) => role === 'user').length;
      const isAnswered = messages.at(-1)?.role === 'tool';
      return isAnswered ? { text: 'Mended.' } : (rounds[prompts - 1] ?? { text: 'Done.' });
    };
    const task: TaskBody & { checks?: object } = await work('Do it.', {
      checks: [{ name: 'done', command: 'cat done.txt' }],
    });
    expect(task).toMatchObject({ status: 'completed', result: { text: 'Mended.' } });
    expect(task.checks).toEqual({ status: 'passed', passed: 1, failed: 0, repairs: 1 });
    const checks = await listChecks(ann.client, task.id);
    expect(checks.map(({ status }) => status).sort()).toEqual(['failed', 'passed']);
  });
});
