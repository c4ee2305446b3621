import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { fileURLToPath } from 'node:url';
import { isRoot } from '../host.js';

const HARNESS = fileURLToPath(new URL('../../../../test/harness/', import.meta.url));
/** What a runtime of containers may have mounted below `/usr`: a folder that everybody may write to, one in it with white space in its name, a file. */
const MOUNTS = `
cd /usr/local/games
mount -t tmpfs -o mode=1777 none .
cd /usr/local/games
echo of the host >file
mkdir 'white space'
mount -t tmpfs -o mode=1777,noexec,noatime none 'white space'
touch one && mount --bind /etc/hostname one
cd /
`;
const TRIES = `
cd /usr/local/games && [ "$(cat file)" = 'of the host' ] || exit 2
for path in new 'white space/new' one; do ! echo x >"$path" || exit 3; done
[ "$(grep -c ' /usr/local/games[^ ]* ro,nosuid,nodev,' /proc/self/mountinfo)" = 3 ] || exit 4
`;

(isRoot() ? describe : describe.skip)('With mounts below /usr the driver namespaces (reference §15)', () => {
  it('starts, and what is mounted there is seen and cannot be written to', async () => {
    const worker = ['--import', join(HARNESS, 'typescript-hooks.mjs'), join(HARNESS, 'sandbox-worker.ts')];
    const script = `set -e; ${MOUNTS} exec "$@"`;
    const command = [process.execPath, ...worker, 'namespaces', '60', TRIES];
    const { stdout } = await promisify(execFile)('unshare', ['--mount', 'sh', '-c', script, 'sh', ...command]);
    expect(stdout.split('\n')[1]).toBe('exit code 0');
  });
});
