import { bash, useBuilds } from '../harness/build-stand.js';
import { git, RepositoryFolder } from '../harness/repositories.js';
import { createTask, finished, script } from '../harness/tasks.js';

describe('Builds of environments with a repository (reference §25)', () => {
  const repositories = new RepositoryFolder();
  const stand = useBuilds(() => Promise.resolve({ repositoryFiles: [repositories.path] }));
  const { make, work, outputs, builds } = stand;
  afterAll(() => repositories.remove());

  const newRepository = (name: string) => {
    const source = repositories.make(name, {
      'package.json': '{}\n',
      'package-lock.json': 'one\n',
      '.gitignore': 'node_modules/\n',
    });
    return { source, url: `file://${source}` };
  };
  const SETUP = ['mkdir -p node_modules; echo $RANDOM$RANDOM >node_modules/made; echo changed >package.json'];
  const LOOK = bash(
    'cd repo; cat node_modules/made; git status --porcelain; git log --format=%s -1; git branch --show-current; cat package-lock.json',
  );
  const taskOf = async (environment: string, repository: object, ...steps: Parameters<typeof script>) => {
    const body = { content: script(...steps, { text: 'Done.' }), environment, repository };
    const task = await finished(stand.owner.client, (await createTask(stand.owner.client, body)).id);
    expect(task).toMatchObject({ status: 'completed' });
    return task;
  };

  it('a task has what its setup made beside the files, and the files of its own commit', async () => {
    const { source, url } = newRepository('built');
    git(source, 'branch', 'other');
    const slug = await make({ repository: { url }, setup: SETUP });
    const [first = ''] = await outputs(await taskOf(slug, { url }, LOOK));
    const made = /^\d+/.exec(first)?.[0] ?? '';
    expect(first).toBe(`${made}\nThe first\nmain\none\n`);
    repositories.commit(source, 'The second', { 'package-lock.json': 'two\n', 'new.txt': 'new\n' });
    expect(await outputs(await taskOf(slug, { url }, LOOK))).toEqual([`${made}\nThe second\nmain\ntwo\n`]);
    expect(await outputs(await taskOf(slug, { url, ref: 'other' }, LOOK))).toEqual([
      `${made}\nThe first\nother\none\n`,
    ]);
    expect(await builds(slug)).toHaveLength(1);
  });

  it('changes of such a task are those since its own commit', async () => {
    const { source, url } = newRepository('changed');
    const slug = await make({ repository: { url }, setup: SETUP });
    await taskOf(slug, { url });
    repositories.commit(source, 'The second', { 'new.txt': 'new\n' });
    const task = await taskOf(slug, { url }, bash('cd repo; echo more >>new.txt'));
    expect(task).toMatchObject({ changes: { files: 1, additions: 1, deletions: 0 } });
  });

  it('a task of another repository has that one alone', async () => {
    const [one, other] = [newRepository('one'), newRepository('another')];
    const slug = await make({ repository: { url: one.url }, setup: SETUP });
    const task = await taskOf(slug, { url: other.url }, bash('cd repo; ls -A; git status --porcelain'));
    expect(await outputs(task)).toEqual(['.git\n.gitignore\npackage-lock.json\npackage.json\n']);
  });

  it('onLockfile makes it anew when one of these files is another, and not for other files', async () => {
    const { source, url } = newRepository('locked');
    const slug = await make({
      repository: { url },
      setup: SETUP,
      refresh: { onLockfile: ['package-lock.json', 'packages/**/*.lock'] },
    });
    await taskOf(slug, { url });
    repositories.commit(source, 'Another file', { 'a.txt': 'a\n' });
    await taskOf(slug, { url });
    expect(await builds(slug)).toHaveLength(1);
    repositories.commit(source, 'Another lock', { 'package-lock.json': 'two\n' });
    const [output] = await outputs(await taskOf(slug, { url }, LOOK));
    expect(output).toContain('two\n');
    const both = await builds(slug);
    expect(both).toHaveLength(2);
    expect(new Set(both.map(({ key }) => key)).size).toBe(2);
  });

  it('a repository that is away fails the build with its reason', async () => {
    const slug = await make({ repository: { url: `file://${repositories.path}/missing` }, setup: SETUP });
    const task = await work(slug);
    expect(task.statusReason?.code).toBe('environment_failed');
    expect((await builds(slug))[0]?.error).toContain('repository');
  });
});
