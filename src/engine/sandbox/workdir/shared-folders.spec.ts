import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describeDrivers, type DriverName, SandboxBench } from '../../../../test/harness/sandboxes.js';
import { SandboxError, SandboxFileError } from '../sandbox.js';
import type { SharedFile, SharedFolder } from '../shared-files.js';

const file = (name: string, content: string): SharedFile => ({ name, open: () => Promise.resolve(Readable.from([content])) }); // prettier-ignore
const gone: SharedFile = {
  name: 'gone',
  open: () => Promise.reject(Object.assign(new Error('no such file'), { code: 'ENOENT' })),
};
const folder = (name: string, files: Record<string, string>, programs: string[] = []): SharedFolder => ({
  name,
  // eslint-disable-next-line @typescript-eslint/require-await -- nothing is read of anywhere
  async *files() {
    for (const [path, content] of Object.entries(files))
      yield { path, executable: programs.includes(path), content: Readable.from([Buffer.from(content)]) };
  },
});
const signal = () => new AbortController().signal;
const folders = ({ dataDir }: SandboxBench, taskId: string) => {
  const path = join(dataDir.path, 'projects', taskId);
  return existsSync(path) ? readdirSync(path) : [];
};

function projectFiles(driver: DriverName): void {
  let bench: SandboxBench;
  beforeAll(() => (bench = new SandboxBench(driver)));
  afterAll(() => bench.close());

  const open = (taskId: string, project: SharedFile[]) => bench.sandbox.open({ taskId, project, signal: signal() });

  it('shows the files at /project, by their names, and lets nobody write there', async () => {
    const taskId = randomUUID();
    const names = ['a.txt', 'Über "x" (2).md', "-rf 'y'\n.sh"];
    const session = await open(taskId, [...names.map((name) => file(name, `in ${name}`)), gone]);
    const listed = await session.run(`cd /project && for f in *; do printf '%s|' "$f"; cat -- "$f"; echo; done`);
    expect(listed.stdout.split('\n').filter((line) => line.includes('|')).length).toBe(3);
    for (const name of names) expect(listed.stdout).toContain(`${name}|in ${name}`);
    expect((await session.run(`grep -c ' /project [^ ]* ro,' /proc/mounts`)).stdout).toBe('1\n');
    for (const command of [
      'echo x > /project/new',
      'echo x >> /project/a.txt',
      'rm -f /project/a.txt',
      'chmod u+w /project/a.txt',
      'chmod 777 /project',
      'mv /project /tmp/p',
    ]) {
      expect((await session.run(command)).exitCode).not.toBe(0);
    }
    expect((await session.run('cat /project/a.txt; ls /project | wc -l')).stdout).toContain('in a.txt');
    await session.close();
    expect(folders(bench, taskId)).toEqual([]);
    // `mv` has left a copy of the folder that its owner cannot write to: only the sandbox removes it, for an ordinary user.
    await bench.sandbox.remove(taskId);
    const left = join(bench.dataDir.path, 'workdirs');
    expect(readdirSync(left).filter((name) => name.startsWith(taskId))).toEqual([]);
  });

  it('shows skills at /skills with their sub-folders and programs, beside the project or alone, and lets nobody write there', async () => {
    const taskId = randomUUID();
    const skills = [folder('a', { 'SKILL.md': 'in a', 'deep/er/run.sh': '#!/bin/sh\necho ran' }, ['deep/er/run.sh']), folder('gone', {})]; // prettier-ignore
    for (const project of [[], [file('a.txt', 'x')]]) {
      const session = await bench.sandbox.open({ taskId, project, skills, signal: signal() });
      const found = await session.run(
        'cat /skills/a/SKILL.md; /skills/a/deep/er/run.sh; ls /skills; ls /project | wc -l',
      );
      expect(found).toMatchObject({ exitCode: 0, stdout: `in aran\na\ngone\n${project.length}\n` });
      expect((await session.run(`grep -c ' /skills [^ ]* ro,' /proc/mounts`)).stdout).toBe('1\n');
      for (const command of [
        'echo x > /skills/new',
        'echo x > /skills/a/new',
        'echo x >> /skills/a/SKILL.md',
        'rm -rf /skills/a/deep',
        'chmod -R 777 /skills',
        'mv /skills/a /skills/b',
      ]) {
        expect([command, (await session.run(command)).exitCode === 0]).toEqual([command, false]);
      }
      expect(await text((await session.readFile('/skills/a/deep/er/run.sh')).content)).toContain('echo ran');
      for (const path of ['/skills/b', '/skills/a', '/skills/../etc/passwd', '/skillset/a']) {
        await expect(session.readFile(path)).rejects.toThrow(SandboxFileError);
      }
      await expect(session.writeFile('/skills/a/SKILL.md', 'x')).rejects.toThrow(SandboxFileError);
      await session.close();
      expect(folders(bench, taskId)).toEqual([]);
    }
  });

  it('is empty without files, and keeps the workdir as it was', async () => {
    const session = await open(randomUUID(), []);
    expect((await session.run('ls -A /project; ls -A; pwd')).stdout).toBe('/workdir\n');
    await session.close();
  });
}

/** The same for every driver, and without one. */
function reading(driver: DriverName): void {
  let bench: SandboxBench;
  beforeAll(() => (bench = new SandboxBench(driver)));
  afterAll(() => bench.close());

  it('readFile takes paths below /project and leads nowhere else; writeFile never writes there', async () => {
    const session = await bench.sandbox.open({
      taskId: randomUUID(),
      project: [file('a.txt', 'shared')],
      signal: signal(),
    });
    expect(await text((await session.readFile('/project/a.txt')).content)).toBe('shared');
    for (const path of ['/project/b.txt', '/project', '/project/../etc/passwd', '/projects/a.txt']) {
      await expect(session.readFile(path)).rejects.toThrow(SandboxFileError);
    }
    await expect(session.writeFile('/project/a.txt', 'x')).rejects.toThrow(SandboxFileError);
    expect(await text((await session.readFile('/project/a.txt')).content)).toBe('shared');
    await session.close();
  });

  it('what a killed worker has left goes with the next session, or with the task', async () => {
    const taskId = randomUUID();
    const first = await bench.sandbox.open({ taskId, project: [file('a', 'left')], signal: signal() });
    expect(folders(bench, taskId)).toHaveLength(1);
    const second = await bench.sandbox.open({ taskId, project: [file('a', 'new')], signal: signal() });
    expect(folders(bench, taskId)).toHaveLength(1);
    expect(await text((await second.readFile('/project/a')).content)).toBe('new');
    await bench.sandbox.remove(taskId);
    expect(folders(bench, taskId)).toEqual([]);
    await second.close();
    await first.close();
  });

  it('a file of a skill that would come out of it ends the opening, and is written nowhere', async () => {
    const taskId = randomUUID();
    async function* files() {
      yield await Promise.resolve({ path: '../../../out.txt', executable: false, content: Readable.from(['x']) });
    }
    const skills = [{ name: 'review', files }];
    const opening = bench.sandbox.open({ taskId, project: [], skills, signal: signal() });
    await expect(opening).rejects.toThrow('a file of the skill review lies outside of it');
    expect(folders(bench, taskId)).toEqual([]);
    expect(existsSync(join(bench.dataDir.path, 'projects', 'out.txt'))).toBe(false);
  });

  it('a file that cannot be read ends the opening, and leaves nothing', async () => {
    const taskId = randomUUID();
    const broken: SharedFile = { name: 'b', open: () => Promise.reject(new Error('the disk is on fire')) };
    const opening = bench.sandbox.open({ taskId, project: [file('a', 'x'), broken], signal: signal() });
    await expect(opening).rejects.toThrow(SandboxError);
    expect(folders(bench, taskId)).toEqual([]);
    const controller = new AbortController();
    const slow: SharedFile = { name: 'c', open: () => Promise.resolve(new Readable({ read: () => undefined })) };
    const aborted = bench.sandbox.open({ taskId, project: [slow], signal: controller.signal });
    controller.abort(new Error('stop it'));
    await expect(aborted).rejects.toThrow('stop it');
    expect(folders(bench, taskId)).toEqual([]);
  });
}

describe('Files of a project in the sandbox (reference §7)', () => {
  describeDrivers((driver) => {
    projectFiles(driver);
    reading(driver);
  });
  describe('none', () => reading('none'));

  it('without a sandbox commands find skills by $SKILLS_DIR, and nobody writes there', async () => {
    const bench = new SandboxBench('none');
    const skills = [folder('a', { 'b/run.sh': '#!/bin/sh\necho ran' }, ['b/run.sh'])];
    const session = await bench.sandbox.open({ taskId: randomUUID(), skills, signal: signal() });
    const { stdout } = await session.run('"$SKILLS_DIR/a/b/run.sh"; echo x > "$SKILLS_DIR/new"; ls "$SKILLS_DIR"');
    expect(stdout).toBe('ran\na\n');
    expect(await text((await session.readFile('/skills/a/b/run.sh')).content)).toContain('echo ran');
    await session.close();
    await bench.close();
  });

  it('without a sandbox commands find the folder by $PROJECT_DIR', async () => {
    const bench = new SandboxBench('none');
    const project = [file('a.txt', 'shared')];
    const session = await bench.sandbox.open({ taskId: randomUUID(), project, signal: signal() });
    const { stdout } = await session.run(
      'cat "$PROJECT_DIR/a.txt"; echo x > "$PROJECT_DIR/a.txt"; echo; cat "$PROJECT_DIR"/*',
    );
    expect(stdout).toBe('shared\nshared');
    await session.close();
    await bench.close();
  });
});
