import { bootWorker, useService } from '../harness/app.js';
import { makeMember } from '../harness/client.js';
import { ModelServer } from '../harness/model-server.js';
import { git, RepositoryFolder } from '../harness/repositories.js';
import { bash, type ChildTask, delegate, part, SubtaskBench, type Told } from '../harness/subtasks.js';
import { call, readResults, script } from '../harness/tasks.js';

describe('The folders of tasks of tasks (reference §27)', () => {
  const folder = new RepositoryFolder();
  let model: ModelServer;
  let bench: SubtaskBench;
  let repository: { url: string };

  const service = useService(async () => {
    model = await ModelServer.start();
    return bootWorker({
      env: { OPENAI_COMPATIBLE_URL: model.url },
      config: {
        models: [
          { id: 'default', provider: 'openai-compatible' },
          { id: 'runbook', provider: 'runbook' },
        ],
        repositoryFiles: [folder.path],
        plans: { paid: { runningTasks: 100 } },
      },
    });
  });
  beforeAll(async () => {
    bench = new SubtaskBench(await makeMember(service));
    const source = folder.make('acme', {
      'a.txt': 'one\ntwo\nthree\n',
      'b.txt': 'b\n',
      'bin.dat': Buffer.from([0, 1, 2, 255]),
    });
    git(source, 'tag', 'v1');
    repository = { url: `file://${source}` };
  });
  afterAll(async () => {
    await model.stop();
    folder.remove();
  });

  const write = (path: string, content: string) => call('write', { path, content });
  /** What the last command printed. */
  const printed = async (id: string) => {
    const results = await readResults(bench.client, id);
    const outputs = results.flatMap(({ output }) => ((output as { stdout?: string } | null)?.stdout ?? []) as string[]);
    return outputs.at(-1);
  };
  const errorOf = async (...tasks: object[]) => {
    const { id } = await bench.run([delegate(...tasks)]);
    expect(await bench.childrenOf(id)).toEqual([]);
    return (await bench.results(id))[0]?.error;
  };

  it('repository is a clone of the commit of the parent with its present changes, and the patch has what the child changed since', async () => {
    const mine = bash(
      `cd repo && printf 'ONE\\ntwo\\nthree\\n' > a.txt && printf '\\000\\377' > bin.dat && echo new > new.txt && git rm -q b.txt`,
    );
    const theirs = bash(
      `cd repo && ls && cat a.txt && printf 'ONE\\ntwo\\nTHREE\\n' > a.txt && echo newer > new.txt && echo c > c.txt`,
    );
    const look = bash(
      'cd repo && git apply ../../tmp/tasks/1/changes.patch && cat a.txt new.txt c.txt; ls; ls /tmp/tasks/1',
    );
    const child = part('A', [theirs], { folder: 'repository' });
    const { id } = await bench.run([mine, delegate(child), look], { repository });
    const [told] = await bench.told(id);
    expect(told).toMatchObject({
      status: 'completed',
      changes: { files: 3, additions: 3, deletions: 2 },
      patch: '/tmp/tasks/1/changes.patch',
      files: [],
    });
    const [a] = (await bench.childrenOf(id)) as [ChildTask];
    expect(await printed(a.id)).toBe('a.txt\nbin.dat\nnew.txt\nONE\ntwo\nthree\n');
    expect(await printed(id)).toBe('ONE\ntwo\nTHREE\nnewer\nc\na.txt\nbin.dat\nc.txt\nnew.txt\nchanges.patch\n');
  });

  it('a child that changes nothing has no patch, whatever its parent had changed', async () => {
    const child = part('A', [bash('cat repo/a.txt')], { folder: 'repository' });
    const { id } = await bench.run([bash('echo x > repo/a.txt'), delegate(child)], { repository });
    expect(await bench.told(id)).toMatchObject([{ changes: { files: 0, additions: 0, deletions: 0 }, patch: null }]);
    const clean = await bench.run([delegate(part('B', [], { folder: 'repository' }))], { repository });
    expect(await bench.told(clean.id)).toMatchObject([
      { changes: { files: 0, additions: 0, deletions: 0 }, patch: null },
    ]);
  });

  it('pushes nothing: a child has no branch of its own', async () => {
    const child = part('A', [], { folder: 'repository' });
    const { id } = await bench.run([delegate(child)], { repository: { ...repository, ref: 'v1' } });
    const [a] = await bench.childrenOf(id);
    expect(a).toMatchObject({ repository: { url: repository.url, ref: 'v1', push: null } });
  });

  it('copy has all of the folders as they are now', async () => {
    const mine = bash('mkdir d && echo 1 > d/x && echo 2 > ~/y && echo 3 > /tmp/z && ln -s d/x l');
    const child = part('A', [bash('cat l ~/y /tmp/z && echo 4 > d/x')], { folder: 'copy' });
    const { id } = await bench.run([mine, delegate(child, { ...child, title: 'B' }), bash('cat d/x')]);
    const [a, b] = (await bench.childrenOf(id)) as [ChildTask, ChildTask];
    expect([await printed(a.id), await printed(b.id)]).toEqual(['1\n2\n3\n', '1\n2\n3\n']);
    expect(await printed(id)).toBe('1\n');
  });

  it('copy of a repository brings back what the child changed since', async () => {
    const child = part('A', [bash('echo more >> repo/a.txt')], { folder: 'copy' });
    const steps = [bash('echo mine > repo/mine.txt'), delegate(child), bash('cd repo && git apply /tmp/tasks/1/changes.patch && tail -1 a.txt')]; // prettier-ignore
    const { id } = await bench.run(steps, { repository });
    expect(await bench.told(id)).toMatchObject([{ changes: { files: 1, additions: 1, deletions: 0 } }]);
    expect(await printed(id)).toBe('more\n');
  });

  it('empty has nothing but the files that are named, as attachments', async () => {
    const content = '```sh\nfind . -type f | sort; cat attachments/*\n```';
    const child = { title: 'A', content, model: 'runbook', folder: 'empty', files: ['d/x.txt', 'x.txt', '~/h.txt'] };
    const mine = bash('mkdir d && echo 1 > d/x.txt && echo 2 > x.txt && echo 3 > ~/h.txt && echo 4 > secret.txt');
    const { id } = await bench.run([mine, delegate(child)]);
    const [a] = (await bench.childrenOf(id)) as [ChildTask];
    expect(await printed(a.id)).toBe('./attachments/h.txt\n./attachments/x (2).txt\n./attachments/x.txt\n3\n2\n1\n');
    const { body } = await bench.client.get<{ files: { name: string; origin: string }[] }>(`/v1/tasks/${a.id}/files`);
    expect(body.files.map(({ name, origin }) => `${origin} ${name}`).sort()).toEqual(['attachment h.txt', 'attachment x (2).txt', 'attachment x.txt']); // prettier-ignore
  });

  it('files that a child publishes lie in the folder of its number, which counts on over calls', async () => {
    const publish = (title: string) => part(title, [write('r.md', `# ${title}`), call('publish', { path: 'r.md' })]);
    const steps = [
      delegate(publish('A'), publish('B')),
      delegate(publish('C')),
      bash('cd /tmp/tasks && cat 1/r.md 2/r.md 3/r.md'),
    ];
    const { id } = await bench.run(steps);
    const results = await bench.results(id);
    expect(results.map(({ tasks }) => tasks.map(({ files }: Told) => files))).toEqual([
      [['/tmp/tasks/1/r.md'], ['/tmp/tasks/2/r.md']],
      [['/tmp/tasks/3/r.md']],
    ]);
    expect(await printed(id)).toBe('# A# B# C');
  });

  it('a text longer than its share of the window is cut, and the whole is a file', async () => {
    const long = `${'a'.repeat(40_000)}END`;
    const child = { title: 'A', content: script({ text: long }), folder: 'empty' };
    const { id } = await bench.run([delegate(child, { ...child, title: 'B' }), bash('wc -c < /tmp/tasks/1/answer.md')]);
    const told = await bench.told(id);
    expect(told.map(({ wholeText }) => wholeText)).toEqual(['/tmp/tasks/1/answer.md', '/tmp/tasks/2/answer.md']);
    const [text = ''] = told.map((one) => one.text);
    expect([text?.length ?? 0, text?.endsWith('END')]).toEqual([expect.any(Number), true]);
    expect(text?.length).toBeLessThan(20_000);
    expect((await printed(id))?.trim()).toBe('40003');
  });

  it('an agent, a model or a path that there is not is an error of the call, and nothing is made', async () => {
    expect(await errorOf(part('A', [], { agent: 'reviewer' }))).toMatch(
      /^tasks\[0\]\.agent: There is no agent "reviewer"/,
    );
    expect(await errorOf(part('A'), part('B', [], { model: 'none' }))).toMatch(
      /^tasks\[1\]: The model "none" is not available/,
    );
    expect(await errorOf(part('A'), part('B', [], { files: ['no.txt'] }))).toMatch(/^tasks\[1\].files: .*no\.txt/);
    expect(await errorOf(part('A', [], { files: ['/etc/passwd'] }))).toMatch(/^tasks\[0\].files: /);
    expect(await errorOf(part('A', [], { folder: 'repository' }))).toBe(
      'The task has no repository: the folder is to be `copy` or `empty`.',
    );
    expect(await errorOf({ title: 'A', content: 'x', folder: 'there' })).toContain('folder');
  });

  it('at most eight a call, and 32 a turn', async () => {
    const many = (count: number) => Array.from({ length: count }, (_, n) => part(`T${n}`));
    expect(await errorOf(...many(9))).toMatch(/8/);
    const four = [1, 2, 3, 4].map(() => delegate(...many(8)));
    const { id } = await bench.run([...four, delegate(part('More'))]);
    expect(await bench.read(id)).toMatchObject({ children: { tasks: 32 } });
    expect((await bench.results(id)).at(-1)?.error).toBe(
      'A turn makes at most 32 tasks; this one has made 32, and 1 more are too many.',
    );
    // The next turn counts anew.
    await bench.send(id, script(delegate(part('More')), { text: 'Done.' }));
    expect(await bench.ended(id)).toMatchObject({ children: { tasks: 33 } });
  });

  it('a child of a child has no delegate', async () => {
    const deep = part('C', [delegate(part('D'))]);
    const { id } = await bench.run([delegate(part('B', [delegate(deep)]))]);
    expect(await bench.read(id)).toMatchObject({ status: 'completed', children: { tasks: 2 } });
    const [b] = (await bench.childrenOf(id)) as [ChildTask];
    const [c] = (await bench.childrenOf(b.id)) as [ChildTask];
    expect((await bench.results(c.id))[0]?.error).toBe(
      'This task is two levels below another, and hands out none: do the work yourself.',
    );
    const offers = (request: { tools?: { function: { name: string } }[] }) =>
      (request.tools ?? []).some(({ function: tool }) => tool.name === 'delegate');
    const asked = model.requests.filter((request) => JSON.stringify(request.body.messages).includes('C is done.'));
    expect(asked.some((request) => !offers(request.body as never))).toBe(true);
  });
});
