// A repository whose trees no git(1) would make of a folder: its skills stay where skills are (reference §27).
import { execFileSync } from 'node:child_process';
import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { ModelServer } from '../harness/model-server.js';
import { git, RepositoryFolder } from '../harness/repositories.js';
import { skillFile } from '../harness/skills.js';
import { call, finished, readResults, createTask, script } from '../harness/tasks.js';

describe('The skills of a repository with a crafted tree (reference §27)', () => {
  const folder = new RepositoryFolder();
  let model: ModelServer;
  let owner: Member;
  const service = useService(async () => {
    model = await ModelServer.start();
    return bootWorker({ env: { OPENAI_COMPATIBLE_URL: model.url }, config: { repositoryFiles: [folder.path] } });
  });
  beforeEach(async () => {
    owner = await makeMember(service, { role: 'owner' });
  });
  afterAll(async () => {
    await model.stop();
    folder.remove();
  });

  const made = (path: string, kind: string[], input: string) =>
    execFileSync('git', ['-C', path, ...kind], { input, encoding: 'utf8' }).trim();

  /** A repository whose branch has these entries in the folder of a skill, beside its SKILL.md. */
  function crafted(name: string, entries: (blob: string, tree: string) => string[]): string {
    const path = folder.make(name, { 'README.md': 'x' });
    const blob = made(path, ['hash-object', '-w', '--stdin'], 'escaped');
    const tree = made(path, ['mktree'], `100644 blob ${blob}\tescaped.txt\n`);
    const main = made(path, ['hash-object', '-w', '--stdin'], skillFile('review'));
    const skill = made(path, ['mktree'], [`100644 blob ${main}\tSKILL.md`, ...entries(blob, tree), ''].join('\n'));
    const skills = made(path, ['mktree'], `040000 tree ${skill}\treview\n`);
    const agents = made(path, ['mktree'], `040000 tree ${skills}\tskills\n`);
    const root = made(path, ['mktree'], `040000 tree ${agents}\t.agents\n100644 blob ${blob}\tREADME.md\n`);
    const commit = git(path, 'commit-tree', root, '-m', 'Crafted');
    git(path, 'update-ref', 'refs/heads/main', commit);
    return path;
  }

  const run = async (source: string | null) => {
    const content = script(call('bash', { command: 'find /skills -type f | sort' }), { text: 'Done.' });
    const more = source === null ? {} : { repository: { url: `file://${source}` } };
    const { id } = await createTask(owner.client, { content, ...more });
    return finished(owner.client, id);
  };

  it.each<[string, (blob: string, tree: string) => string[]]>([
    ['..', (_, tree) => [`040000 tree ${tree}\t..`]],
    ['.', (_, tree) => [`040000 tree ${tree}\t.`]],
    ['nnn', (blob) => [`100644 blob ${blob}\t${'n'.repeat(300)}`]],
  ])('that has %s in it ends its own task, and no other one', async (name, entries) => {
    const source = crafted(name.replaceAll('.', 'dot'), entries);
    expect(await run(source)).toMatchObject({ status: 'failed', statusReason: { code: 'repository_unavailable' } });
    expect((await run(null)).status).toBe('completed');
  });

  it('that has one name twice is laid in with one of them', async () => {
    const source = crafted('twice', (blob) => [`100644 blob ${blob}\ttwice`, `100644 blob ${blob}\ttwice`]);
    const { id, status } = await run(source);
    expect(status).toBe('completed');
    const [{ output } = {}] = await readResults(owner.client, id);
    expect(output).toMatchObject({ stdout: '/skills/review/SKILL.md\n/skills/review/twice\n' });
  });
});
