import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WorkspacesService } from '../../src/access/workspaces/workspaces.service.js';
import { bootApp, useService } from '../harness/app.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';

describe('What a task may ask to be pushed (reference §15)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'push-checks-'));
  let member: Member;
  let other: Member;

  const service = useService(() => {
    const entry = { tokenEnv: 'TOKEN', workspaces: ['pushers'] };
    const repositories = {
      'git.example': { ...entry, paths: ['acme/*'], push: ['millwright/*'], kind: 'github' },
      'unknown.example': { ...entry, paths: ['*/*'], push: ['*'] },
    };
    writeFileSync(join(folder, 'config.json'), JSON.stringify({ repositories, repositoryFiles: [folder] }));
    return bootApp({ env: { CONFIG_FILE: join(folder, 'config.json'), TOKEN: 'the-token' } });
  });
  beforeAll(async () => {
    const workspace = await service.app
      .get(WorkspacesService)
      .create({ name: 'Pushers', slug: 'pushers', plan: 'paid' });
    member = await makeMember(service, { workspace });
    other = await makeMember(service);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('is a branch that the operator allows for the repository and the workspace', async () => {
    const push = { branch: 'millwright/x', pullRequest: { title: ' A title ', base: 'next', draft: true } };
    const answer = await member.client.post<{ task: object }>('/v1/tasks', {
      content: 'Work.',
      repository: { url: 'https://git.example/acme/api', push },
    });
    expect([answer.status, answer.body.task]).toMatchObject([
      201,
      { repository: { push: { branch: 'millwright/x', url: null } }, pullRequest: null },
    ]);
    expect(answer.body.task).toHaveProperty('repository.push', { branch: 'millwright/x', url: null });
  });

  it.each([
    ['pushers', '', { branch: 'main' }, 'repository.push'],
    ['pushers', '', { branch: 'millwright/a/b' }, 'repository.push'],
    ['pushers', '/evil/api', { branch: 'millwright/x' }, 'repository.push'],
    ['pushers', 'https://github.com/acme/api', { branch: 'millwright/x' }, 'repository.push'],
    ['pushers', 'file:', { branch: 'millwright/x' }, 'repository.push'],
    ['pushers', 'https://unknown.example/a/b', { branch: 'x', pullRequest: {} }, 'repository.push.pullRequest'],
    ['another', '', { branch: 'millwright/x' }, 'repository.push'],
  ])('workspace %s, %s: %j is not allowed', async (who, at, push, param) => {
    const url =
      at === 'file:'
        ? `file://${folder}/acme`
        : at.startsWith('https')
          ? at
          : `https://git.example/${at === '' ? 'acme/api' : at.slice(1)}`;
    const { client } = who === 'pushers' ? member : other;
    const answer = await client.post<ErrorBody>('/v1/tasks', { content: 'Work.', repository: { url, push } });
    expect([answer.status, answer.body.error.code, answer.body.error.param]).toEqual([
      400,
      'repository_not_allowed',
      param,
    ]);
  });

  it.each([
    [{}, 'branch'],
    [{ branch: 'HEAD' }, 'branch'],
    [{ branch: '-x' }, 'branch'],
    [{ branch: 'millwright/..' }, 'branch'],
    [{ branch: 'millwright/x.lock' }, 'branch'],
    [{ branch: 'millwright/x y' }, 'branch'],
    [{ branch: 'millwright/x:main' }, 'branch'],
    [{ branch: '+millwright/x' }, ''],
    [{ branch: 'millwright/x', force: true }, 'force'],
    [{ branch: 'millwright/x', pullRequest: { title: '' } }, 'pullRequest.title'],
    [{ branch: 'millwright/x', pullRequest: { base: 'a..b' } }, 'pullRequest.base'],
    [{ branch: 'millwright/x', pullRequest: { draft: 'yes' } }, 'pullRequest.draft'],
    [{ branch: 'millwright/x', pullRequest: null }, 'pullRequest'],
    [null, ''],
    ['millwright/x', ''],
  ])('push %j is refused with 400', async (push, param) => {
    const answer = await member.client.post<ErrorBody>('/v1/tasks', {
      content: 'Work.',
      repository: { url: 'https://git.example/acme/api', push },
    });
    const named = ['repository.push', ...(param === '' ? [] : [param])].join('.');
    expect([answer.status, answer.body.error.param]).toEqual([400, named]);
  });

  it('the branch is one that git-check-ref-format(1) takes', () => {
    for (const name of ['HEAD', '-x', 'a..b', 'x.lock', 'x y', 'x:y', 'a/.b', '@{', 'a//b']) {
      expect(() => execFileSync('git', ['check-ref-format', '--branch', name], { stdio: 'ignore' })).toThrow();
    }
  });
});
