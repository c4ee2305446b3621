import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../../../test/harness/service.js';
import { isRoot } from '../host.js';
import { reachableCopy } from './programs.js';

const UID = 64_001;

// Only as root a sandbox has another user than the service.
(isRoot() ? describe : describe.skip)('A program that the user of a sandbox of root cannot reach', () => {
  const folder = temporaryFolder();
  afterAll(() => folder.remove());
  const program = (name: string) => {
    const closed = join(folder.path, `closed-${name}`);
    mkdirSync(closed, { mode: 0o700 });
    const path = join(closed, name);
    writeFileSync(path, '#!/bin/sh\necho "I am $(basename "$0")"\n', { mode: 0o755 });
    return path;
  };

  it('is mirrored under its own name, so that a command finds it by the folder that it lies in', async () => {
    chmodSync(folder.path, 0o755);
    const source = program('tool');
    const copy = await reachableCopy(source, folder.path, UID);
    expect(copy).not.toBe(source);
    const asUser = ['--reuid', String(UID), '--regid', String(UID), '--clear-groups', '--'];
    const said = execFileSync('setpriv', [...asUser, 'sh', '-c', 'tool'], {
      env: { PATH: `${join(copy, '..')}:/usr/bin:/bin` },
      encoding: 'utf8',
    });
    expect(said).toBe('I am tool\n');
  });

  it('is mirrored once, whole folders too', async () => {
    const source = program('once');
    const copy = await reachableCopy(source, folder.path, UID);
    const { ino } = statSync(copy);
    expect(await reachableCopy(source, folder.path, UID)).toBe(copy);
    expect(statSync(copy).ino).toBe(ino);
    const whole = await reachableCopy(join(source, '..'), folder.path, UID);
    expect(statSync(join(whole, 'once')).mode & 0o005).toBe(0o005);
  });
});
