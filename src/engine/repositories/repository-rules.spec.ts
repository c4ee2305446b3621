import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { configFileSchema } from '../../platform/config/config-file.js';
import { DataDir } from '../../platform/config/data-dir.js';
import { Env, readEnv } from '../../platform/config/env.js';
import { hostingOf } from '../../platform/config/repositories.js';
import { withCommit } from './push-record.js';
import { RepositoryRules } from './repository-rules.js';

describe('The credential of a repository (reference §15)', () => {
  const host = { tokenEnv: 'TOKEN', workspaces: ['default'], paths: ['acme/*', 'group/sub/one', 'a.c/*-api'] };
  const repositories = { 'github.com': host, 'git.example:8443': { ...host, paths: ['*/*'] } };
  const variables = readEnv({ NODE_ENV: 'test' }).variables;
  const env = new Env(
    variables,
    configFileSchema().parse({ repositories }),
    new Map(),
    new Map([['TOKEN', 'the-token']]),
  );
  const dataDir = new DataDir(env);
  const rules = new RepositoryRules(env, dataDir);
  afterAll(() => dataDir.remove());
  const token = async (url: string, workspace = 'default') => {
    const source = await rules.source(url);
    const access = await rules.access(null, source.url, workspace);
    return access === null ? null : access.token(null, AbortSignal.timeout(1000));
  };

  it.each([
    'https://github.com/acme/api',
    'https://github.com/acme/api.git',
    'https://github.com/acme/api/',
    'https://GitHub.com:443/acme/api.git',
    'https://github.com/x/../acme/api',
    'https://github.com/group/sub/one',
    'https://github.com/a.c/my-api',
    'https://git.example:8443/any/thing',
  ])('is used for %s', async (url) => {
    expect(await token(url)).toBe('the-token');
    expect(await token(url, 'another')).toBeNull();
  });

  it.each([
    'https://github.com/acme/api/more',
    'https://github.com/acme',
    'https://github.com/acme2/api',
    'https://github.com/x/acme/api',
    'https://github.com/ACME/api',
    'https://github.com/group/sub/two',
    'https://github.com/abc/my-api',
    'https://api.github.com/acme/api',
    'https://github.com.example/acme/api',
    'https://github.com:8443/acme/api',
    'https://git.example/any/thing',
  ])('is not used for %s', async (url) => {
    expect(await token(url)).toBeNull();
  });
});

describe('Where pull requests are opened (reference §15)', () => {
  const entry = { tokenEnv: 'TOKEN' };
  const hosting = (name: string, more: object) => {
    const { repositories = {} } = configFileSchema().parse({ repositories: { [name]: { ...entry, ...more } } });
    const found = Object.values(repositories)[0];
    return found === undefined ? null : hostingOf(name, found);
  };

  it.each([
    ['github.com', {}, 'github', 'https://api.github.com'],
    ['gitlab.com', {}, 'gitlab', 'https://gitlab.com/api/v4'],
    ['git.example', { kind: 'github' }, 'github', 'https://git.example/api/v3'],
    ['git.example:8443', { kind: 'gitlab' }, 'gitlab', 'https://git.example:8443/api/v4'],
    ['git.example', { kind: 'github', api: 'https://api.example/' }, 'github', 'https://api.example'],
  ])('%s %j: %s at %s', (name, more, kind, api) => {
    expect(hosting(name, more)).toEqual({ kind, api });
  });

  it('is not known of other hosts', () => {
    expect(hosting('git.example', {})).toBeNull();
  });

  it.each([
    ['git.example', { api: 'https://api.example' }, 'kind is expected too'],
    ['git.example', { kind: 'gitlab', api: 'https://git.example' }, 'ends in /api/v4'],
    ['git.example', { kind: 'github', api: 'ftp://api.example' }, ''],
    ['git.example', { kind: 'gitea' }, ''],
    ['git.example', { caFile: 'ca.pem' }, 'an absolute path'],
  ])('%s %j is refused at boot', (name, more, message) => {
    expect(() => hosting(name, more)).toThrow(message);
  });
});

describe('A repository of this host (reference §15)', () => {
  const at = realpathSync(mkdtempSync(join(tmpdir(), 'repository-rules-')));
  const allowed = join(at, 'allowed');
  const dataDir = join(allowed, 'data');
  const outside = join(at, 'outside');
  const make = (path: string, ...how: string[]) => {
    mkdirSync(dirname(path), { recursive: true });
    execFileSync('git', ['init', '--quiet', ...how, path]);
    return path;
  };
  const link = (target: string, path: string) => {
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(target, path);
  };
  let rules: RepositoryRules;
  beforeAll(() => {
    make(outside);
    make(join(allowed, 'plain'));
    make(join(allowed, 'bare.git'), '--bare');
    link(join(allowed, 'plain'), join(allowed, 'alias'));
    link(join(outside, '.git'), join(allowed, 'one/.git'));
    link(join(outside, '.git'), join(allowed, 'two.git'));
    link(join(outside, '.git'), join(allowed, 'three.git/.git'));
    make(join(allowed, 'four'));
    link(join(outside, '.git'), join(allowed, 'four/.git/.git'));
    make(join(allowed, 'file'), `--separate-git-dir=${join(allowed, 'separate')}`);
    writeFileSync(join(allowed, 'named.git'), `gitdir: ${outside}/.git\n`);
    link(outside, join(allowed, 'elsewhere'));
    make(join(dataDir, 'workdirs/1/repo'));
    make(join(at, 'place/workdirs/2/repo'));
    writeFileSync(join(dataDir, 'sandbox.location'), `${at}/place\n`);
    make(join(at, 'mounted/3/repo'));
    link(join(at, 'mounted'), join(dataDir, 'files'));
    const env = new Env(
      readEnv({ NODE_ENV: 'test', DATA_DIR: dataDir }).variables,
      configFileSchema().parse({ repositoryFiles: [allowed, join(at, 'place'), join(at, 'mounted')] }),
      new Map(),
    );
    rules = new RepositoryRules(env, new DataDir(env));
  });
  afterAll(() => rmSync(at, { recursive: true }));

  const place = async (path: string) => {
    const source = await rules.source(`file://${path}`);
    return source.type === 'file' ? source.path : null;
  };

  it.each(['plain', 'bare.git', 'bare', 'alias', 'missing', 'missing/below'])('may be %s', async (name) => {
    expect(await place(join(allowed, name))).toBe(join(allowed, name === 'alias' ? 'plain' : name));
  });

  it.each([
    ['whose .git is a link that leads out', 'one'],
    ['to which git adds .git, a link that leads out', 'two'],
    ['to which git adds .git/.git, a link that leads out', 'three'],
    ['in whose .git git looks for another .git', 'four/.git'],
    ['whose .git names another folder', 'file'],
    ['that is a file', 'named.git'],
    ['to which git adds .git, a file', 'named'],
    ['that is not there, behind a link that leads out', 'elsewhere/missing'],
    ['in DATA_DIR', 'data/workdirs/1/repo'],
    ['that is DATA_DIR', 'data'],
    ['to which git adds .git, in the workdirs beside DATA_DIR', '../place/workdirs/2/repo'],
    ['in a folder of DATA_DIR that is a link', '../mounted/3/repo'],
  ])('is refused %s', async (_why, name) => {
    await expect(place(join(allowed, name))).rejects.toMatchObject({ code: 'repository_not_allowed' });
  });

  it.each(['-git.example', '+git.example', '*', '*.example', 'git.example.', 'a,b.example', '_a.example'])(
    'is refused when its host is written as %s, which curl may read as something else',
    async (host) => {
      await expect(rules.source(`https://${host}/acme/api`)).rejects.toMatchObject({ code: 'repository_not_allowed' });
    },
  );

  it.each(['git.example', '1.example', 'a-b_c.example', 'bücher.example', '[2606:4700::1111]'])(
    'may lie on %s',
    async (host) => {
      expect(await rules.source(`https://${host}/acme/api`)).toMatchObject({ type: 'https' });
    },
  );
});

it('the commits of a branch that are known again: the last ten, and its tip however many behind it were refused', () => {
  let commits: string[] = [];
  for (let n = 0; n < 12; n++) commits = withCommit(commits, `new ${n}`, null);
  expect(commits.slice(-2)).toEqual(['new 10', 'new 11']);
  commits = ['tip'];
  for (let n = 0; n < 30; n++) commits = withCommit(commits, `refused ${n}`, 'tip');
  expect([commits.length, commits[0], commits.at(-1)]).toEqual([10, 'tip', 'refused 29']);
});
