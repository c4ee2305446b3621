import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync } from 'node:fs';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { newMark, processesGone, sleeps } from '../../../../test/harness/processes.js';
import { temporaryFolder } from '../../../../test/harness/service.js';
import { script } from '../host.js';

// A worker may die in the milliseconds in which a sandbox is being made. The first process inside is bound to the death of
// the one that makes it a moment after its own beginning: here it never is, so the moment lasts.
describe('a sandbox whose worker dies while it is being made', () => {
  it('is ended with the first process inside, in a session of its own and not bound to anybody', async () => {
    const mark = newMark();
    const maker = ['bash', '-c', `setsid sh -c "exec sleep ${mark}" & wait`];
    const small = spawn('bash', ['-c', script('launch'), 'launch', '60', '60', ...maker], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe', 'pipe', 'ignore'],
      detached: true,
    });
    await sleeps(mark);
    small.stdio[3]?.destroy();
    await once(small, 'exit');
    await processesGone(mark);
  });

  it('does not hold a box: nobody hears that it stands', async () => {
    const folder = temporaryFolder();
    const pipe = join(folder.path, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
    const writer = openSync(pipe, 'w');
    closeSync(reader);
    // The first process of a namespace is not ended by a SIGPIPE.
    const deaf = `trap '' PIPE; exec bash -c "$0" box "$1"`;
    const first = spawn('bash', ['-c', deaf, script('box'), folder.path], {
      stdio: ['ignore', 'ignore', 'ignore', 'ignore', 'ignore', writer, 'ignore', 'pipe'],
    });
    const told: string[] = [];
    const control = first.stdio[7 as 3] as Duplex;
    control.on('error', () => undefined).on('data', (chunk) => told.push(String(chunk)));
    control.write('0123456789abcdef n\n');
    closeSync(writer);
    expect(await once(first, 'exit')).toEqual([126, null]);
    expect(told).toEqual([]);
    folder.remove();
  });
});
