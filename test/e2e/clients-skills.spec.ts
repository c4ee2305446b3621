import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Millwright } from '@millwright/sdk';
import { bootApp, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { Command } from '../harness/command.js';
import { type SkillBody, skillFile, skillZip } from '../harness/skills.js';
import type { TaskBody } from '../harness/tasks.js';
import { filesOf } from '../../src/resources/skills/skill-zip.js';

const MW = fileURLToPath(new URL('../../packages/cli/bin.js', import.meta.url));

describe('Skills from a client (reference §19, §27)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'clients-skills-'));
  let owner: Member;
  const service = useService(bootApp);
  beforeEach(async () => {
    owner = await makeMember(service, { role: 'owner' });
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const line = async (...args: string[]) => {
    const env = { PATH: process.env['PATH'], MILLWRIGHT_URL: service.url, MILLWRIGHT_API_KEY: owner.key.secret };
    const command = new Command(spawn(process.execPath, [MW, ...args], { env }));
    command.child.stdin?.end();
    return { code: await command.code(), out: command.out, err: command.err };
  };
  const mw = (...args: string[]) => line('skill', ...args);
  const make = (name: string, files: Record<string, string>) => {
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(join(folder, name, path, '..'), { recursive: true });
      writeFileSync(join(folder, name, path), content);
    }
    return join(folder, name);
  };

  it('the command pushes a folder, with its programs; the same folder again is no new version', async () => {
    const path = make('notes', {
      'SKILL.md': skillFile('notes', 'How notes are written.'),
      'scripts/run.sh': 'echo ran',
      'é/b.txt': 'deep',
      '.git/config': 'no part of it',
    });
    chmodSync(join(path, 'scripts/run.sh'), 0o755);
    const made = await mw('push', path);
    expect(made).toEqual({ code: 0, err: '', out: 'notes  version 1  How notes are written.\n' });
    expect((await mw('push', `${path}/`)).out).toBe(made.out);
    const zip = join(folder, 'notes.zip');
    expect((await mw('show', 'notes', '--out', zip)).out).toMatch(/^notes {2}version 1 {2}How notes are written\.\n {2}version 1 {2}3 files, \d+ bytes /); // prettier-ignore
    const found: [string, boolean][] = [];
    for await (const { path: name, executable, content } of filesOf(readFileSync(zip))) {
      for await (const _ of content);
      found.push([name, executable]);
    }
    expect(found).toEqual([['SKILL.md', false], ['scripts/run.sh', true], ['é/b.txt', false]]); // prettier-ignore
    make('notes', { 'SKILL.md': skillFile('notes', 'Newer.') });
    expect(JSON.parse((await mw('push', path, '--json')).out)).toMatchObject({ version: 2, description: 'Newer.' });
    expect((await mw('default', 'notes')).out).toBe('notes  version 2  default  Newer.\n');
    expect((await mw('list')).out).toBe('notes  version 2  default  Newer.\n');
    expect((await mw('default', 'notes', '--off')).out).toBe('notes  version 2  Newer.\n');
    const shown = JSON.parse((await mw('show', 'notes@1', '--json')).out) as SkillBody & { versions: object[] };
    expect(shown.versions).toMatchObject([{ version: 1 }]);
    expect((await mw('remove', 'notes')).out).toBe('Removed notes\n');
    expect((await mw('list')).out).toBe('');
  });

  it('says what is wrong with a folder, here or by the service', async () => {
    expect(await mw('push', join(folder, 'none'))).toMatchObject({
      code: 2,
      err: expect.stringContaining('is no folder'),
    });
    expect(await mw('push', make('empty', { 'a.txt': '' }))).toMatchObject({ code: 2, err: expect.stringContaining('There is no SKILL.md') }); // prettier-ignore
    const linked = make('linked', { 'SKILL.md': skillFile('linked') });
    symlinkSync('/etc/passwd', join(linked, 'link'));
    expect(await mw('push', linked)).toMatchObject({ code: 2, err: expect.stringContaining('link is no file') });
    const broken = make('broken', { 'SKILL.md': '---\nname: broken\ndescription: a: b\n---\n' });
    expect(await mw('push', broken)).toMatchObject({ code: 5, err: expect.stringContaining('SKILL.md, line 3: the YAML is not well-formed') }); // prettier-ignore
    expect(await mw('show', 'none')).toMatchObject({ code: 2, err: expect.stringContaining('There is no skill none') });
    expect(await mw('what')).toMatchObject({ code: 2, err: expect.stringContaining('mw skill push|list|show|remove|default') }); // prettier-ignore
  });

  it('a task is run with some, with none, or with those by default', async () => {
    const path = make('notes-2', { 'SKILL.md': skillFile('notes') });
    await mw('push', path);
    await mw('default', 'notes');
    const run = async (...args: string[]) => {
      const { out } = await line('run', 'Look around.', '--detach', '--json', ...args);
      return (JSON.parse(out) as TaskBody & { skills: object[] }).skills;
    };
    const version1 = [{ name: 'notes', version: 1 }];
    expect(await run()).toEqual(version1);
    expect(await run('--skill', '-')).toEqual([]);
    expect(await run('--skill', 'notes@1')).toEqual(version1);
  });

  it('the SDK has all of it', async () => {
    const { skills, tasks } = new Millwright({ baseUrl: service.url, apiKey: owner.key.secret });
    const { id } = await skills.push(new Blob([skillZip('notes')]));
    await skills.push(new Blob([skillZip('notes', 'Newer.')]));
    expect(await skills.update(id, { default: true })).toMatchObject({ default: true, version: 2 });
    expect(await skills.get(id)).toMatchObject({ name: 'notes', description: 'Newer.' });
    const listed = [];
    for await (const { name } of skills.list()) listed.push(name);
    const versions = [];
    for await (const { version } of skills.versions(id)) versions.push(version);
    expect([listed, versions]).toEqual([['notes'], [2, 1]]);
    const content = async (query?: { version: number }) =>
      Buffer.from(await (await skills.content(id, query)).arrayBuffer());
    expect(await content()).toEqual(skillZip('notes', 'Newer.'));
    expect(await content({ version: 1 })).toEqual(skillZip('notes'));
    expect((await tasks.create({ content: 'x', skills: ['notes@1'] })).skills).toEqual([{ name: 'notes', version: 1 }]);
    expect(await skills.delete(id)).toEqual({ deleted: true, id });
  });
});
