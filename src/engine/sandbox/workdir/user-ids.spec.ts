import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../../../test/harness/service.js';
import { until } from '../../../../test/harness/until.js';
import { isRoot } from '../host.js';
import { SandboxBusyError, SandboxError } from '../sandbox.js';
import { claimsFolder, FIRST_UID, UserIds } from './user-ids.js';

const ALL = Array.from({ length: 999 }, (_, index) => FIRST_UID + index);

// Only as root a sandbox has another user than the service.
(isRoot() ? describe : describe.skip)('User ids of sandboxes, which only root gives out', () => {
  let base: ReturnType<typeof temporaryFolder>;
  let folder: string;
  const opened: UserIds[] = [];
  const others: ChildProcess[] = [];
  beforeEach(() => {
    base = temporaryFolder();
    mkdirSync((folder = join(base.path, 'users')), { mode: 0o700 });
  });
  afterEach(() => {
    opened.splice(0).forEach((ids) => ids.close());
    others.splice(0).forEach((other) => other.kill('SIGKILL'));
    base.remove();
  });

  const open = async () => {
    const ids = new UserIds(folder);
    opened.push(ids);
    await ids.open();
    return ids;
  };
  const claims = () => readdirSync(folder).filter((name) => /^\d+$/.test(name));
  const holders = () => readdirSync(folder).filter((name) => name.startsWith('holder.'));
  /** Another process of the service that has claimed these; it lives until it is killed. */
  const other = async (...uids: number[]) => {
    const holder = `holder.other${others.length}`;
    const child = spawn('flock', ['--no-fork', join(folder, holder), 'sleep', '1000']);
    others.push(child);
    const held = () => execFileSync('sh', ['-c', `flock -n '${join(folder, holder)}' true || echo held`]).toString();
    await until('the other process to hold its lock', () => held() === 'held\n');
    for (const uid of uids) symlinkSync(holder, join(folder, String(uid)));
    return child;
  };

  it('are one session’s each, the one that is preferred if it is free, and free again afterwards', async () => {
    const [ids, beside] = [await open(), await open()];
    const first = await ids.claim(64_500);
    expect(first.uid).toBe(64_500);
    const second = await beside.claim(64_500);
    expect(second.uid).not.toBe(64_500);
    expect(claims().map(Number).sort()).toEqual([64_500, second.uid].sort());
    first.release();
    expect((await beside.claim(64_500)).uid).toBe(64_500);
    // It is somebody else's by now.
    first.release();
    expect(claims()).toContain('64500');
  });

  it('are never those of an account, nor of anything but a sandbox', async () => {
    const ids = await open();
    for (const preferred of [0, 1000, 65_000]) expect(ALL).toContain((await ids.claim(preferred)).uid);
    expect(ALL).toContain((await ids.claim(null)).uid);
  });

  it('are refused as busy when living processes have all of them', async () => {
    await other(...ALL);
    const ids = await open();
    await expect(ids.claim(64_007)).rejects.toBeInstanceOf(SandboxBusyError);
    rmSync(join(folder, '64123'));
    expect((await ids.claim(64_007)).uid).toBe(64_123);
  });

  it('of a process that was killed are free again, at the next boot and when one is wanted', async () => {
    const before = await other(64_001, 64_002);
    const ids = await open();
    const killed = await other(...ALL.filter((uid) => uid > 64_002));
    for (const child of [before, killed]) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    expect((await ids.claim(64_007)).uid).toBe(64_007);
    expect(claims()).toEqual(['64007']);
    expect(holders()).toEqual([readlinkSync(join(folder, '64007'))]);
    const last = await other(64_001);
    last.kill('SIGKILL');
    await once(last, 'exit');
    await open();
    expect(claims()).toEqual(['64007']);
  });

  it('whose holder is gone are free again', async () => {
    const ids = await open();
    for (const uid of ALL) symlinkSync('holder.gone', join(folder, String(uid)));
    expect(ALL).toContain((await ids.claim(null)).uid);
  });

  it('stay those of living sessions when the folder was removed and made again', async () => {
    const ids = await open();
    const user = await ids.claim(64_500);
    rmSync(folder, { recursive: true });
    mkdirSync(folder, { mode: 0o700 });
    const further = await Promise.all([ids.claim(64_500), ids.claim(64_500)]);
    // The sweep at the boot of another process finds them claimed by a living one.
    const beside = await open();
    expect(claims().map(Number).sort()).toEqual([64_500, ...further.map(({ uid }) => uid)].sort());
    expect((await beside.claim(64_500)).uid).not.toBe(64_500);
    user.release();
    expect((await beside.claim(64_500)).uid).toBe(64_500);
  });

  it('that another process has claimed since are not given back for it', async () => {
    const ids = await open();
    const user = await ids.claim(64_500);
    rmSync(join(folder, '64500'));
    await other(64_500);
    user.release();
    expect(claims()).toEqual(['64500']);
  });

  it('are refused as a broken sandbox when the folder cannot be used', async () => {
    const ids = await open();
    rmSync(folder, { recursive: true });
    const refused = await ids.claim(64_500).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(SandboxError);
    expect(refused).not.toBeInstanceOf(SandboxBusyError);
    await expect(new UserIds(folder).open()).rejects.toThrow(/^User ids cannot be claimed in .*ENOENT/);
  });

  it('can be claimed by root alone', () => {
    const asOther = (command: string) =>
      execFileSync('setpriv', ['--reuid', '64001', '--regid', '64001', '--clear-groups', 'sh', '-c', command], {
        stdio: 'pipe',
      });
    const shared = claimsFolder(base.path);
    for (const path of [shared, folder]) {
      expect(() => asOther(`ln -s x '${path}/64999'`)).toThrow('Permission denied');
      expect(() => asOther(`ls '${path}'`)).toThrow('Permission denied');
    }
  });

  it('are claimed in the data folder when root cannot make a folder of the host, never in an open one', () => {
    expect(claimsFolder(base.path)).toBe('/run/millwright-users');
    writeFileSync(join(base.path, 'file'), '');
    expect(() => claimsFolder(join(base.path, 'file'), [])).toThrow('No folder for the claims');
    mkdirSync(join(base.path, 'open'), { mode: 0o700 });
    execFileSync('install', ['-d', '-m', '777', join(base.path, 'open/users')]);
    expect(() => claimsFolder(join(base.path, 'open'), [])).toThrow('No folder for the claims');
    expect(claimsFolder(base.path, [])).toBe(join(base.path, 'users'));
    // The boot says so, and /health/ready says it to everybody: without the path.
    const [missing] = new UserIds(join(base.path, 'users')).missing;
    expect(missing).toContain('claimed for this installation alone: another one');
    expect(missing).not.toContain(base.path);
    expect(new UserIds(claimsFolder(base.path)).missing).toEqual([]);
  });
});
