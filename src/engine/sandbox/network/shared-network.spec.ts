import type { Worker } from 'node:worker_threads';
import { Logger } from '@nestjs/common';
import { describeDrivers, type DriverName, SandboxBench } from '../../../../test/harness/sandboxes.js';
import type { SandboxSession } from '../sandbox.js';
import { PROXY_PORT } from './inside.js';

const ASK = `exec 3<>/dev/tcp/127.0.0.1/${PROXY_PORT} && printf 'CONNECT other.test:443 HTTP/1.1\\r\\n\\r\\n' >&3 && cat <&3`;
const ANSWER = 'other.test:443 is not among the hosts';

function network(driver: DriverName): void {
  let bench: SandboxBench;
  let session: SandboxSession;
  beforeAll(() => {
    Logger.overrideLogger(['fatal']);
    bench = new SandboxBench(driver, { network: 'allow', allowHosts: ['allowed.test'] });
  });
  beforeEach(async () => ({ session } = await bench.open()));
  afterEach(() => session.close());
  afterAll(() => bench.close());
  const shared = (command: string) => session.run(command, { shared: true });

  it('is there for all of them, and for no command that does not ask for it and runs by itself', async () => {
    const results = await Promise.all([1, 2, 3].map(() => shared(ASK)));
    for (const { stdout } of results) expect(stdout).toContain(ANSWER);
    expect((await session.run(ASK)).stderr).toContain('refused');
    expect(session.network?.refused).toMatchObject([{ host: 'other.test' }]);
  });

  it('is there again for the next one when somebody inside has ended what leads to it', async () => {
    expect((await shared(ASK)).stdout).toContain(ANSWER);
    await shared('pkill -9 node; while pgrep node; do :; done');
    expect((await shared(ASK)).stdout).toContain(ANSWER);
  });

  it('is led to by nothing that a command can open for debugging, and go on in', async () => {
    const node = `$(pgrep -f '^/[^ ]*node .*forwarder.mjs')`;
    const attack = `for i in {1..20}; do kill -USR1 ${node} || exit 1; sleep 0.1; done; grep -h ' 0A ' /proc/net/tcp /proc/net/tcp6 | wc -l`;
    expect(await shared(attack)).toMatchObject({ stdout: '1\n', exitCode: 0 });
    expect((await shared(ASK)).stdout).toContain(ANSWER);
    // A connection in the place of a standard stream would never be closed.
    const streams = `exec 3<>/dev/tcp/127.0.0.1/${PROXY_PORT}; sleep 0.3; for i in 0 1 2; do readlink /proc/${node}/fd/$i; done`;
    expect((await shared(streams)).stdout).toBe('/dev/null\n'.repeat(3));
  });

  it('is there again in a new box when the proxy is lost, and that is told', async () => {
    await shared('echo kept > /dev/shm/a');
    await (Reflect.get(bench.proxy, 'thread') as Worker).terminate();
    const next = await shared(`${ASK}; ls /dev/shm`);
    expect(next.stdout).toContain(ANSWER);
    expect(next.stderr).toMatch(/^\[What earlier commands had left running is gone/);
    expect(next.stdout).not.toContain('a\n');
  });
}

describe('The network of shared commands', () => describeDrivers(network));
