import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { Logger } from '@nestjs/common';
import { describeDrivers, type DriverName, SandboxBench } from '../../../test/harness/sandboxes.js';
import { resolverOf, WebHosts } from '../../../test/harness/web-hosts.js';
import { hostsWithin } from '../../platform/config/network.js';
import { Egress } from '../../platform/egress/egress.js';
import type { SandboxSession } from './sandbox.js';
import { boundAmong, hostsOf, limitsWithin, type SessionEnvironment } from './session-environment.js';

const NOTHING: SessionEnvironment = { variables: {}, hosts: [], limits: {}, tools: {} };
const MIB = 2 ** 20;

/** A folder of the operator with two versions of a tool, one of them without `bin`. */
class ToolFolders {
  readonly path = mkdtempSync(join(tmpdir(), 'millwright-tools-'));
  constructor() {
    chmodSync(this.path, 0o755);
    this.program('widget-1/bin', 'one');
    this.program('widget-2', 'two');
    // Programs of the system are found behind it.
    writeFileSync(join(this.path, 'widget-1/bin/ls'), '#!/bin/sh\necho another ls\n', { mode: 0o755 });
  }
  get listed() {
    const at = (name: string) => join(this.path, name);
    return { widget: { '1': at('widget-1'), '2': at('widget-2'), '3': at('gone') } };
  }
  private program(folder: string, says: string): void {
    mkdirSync(join(this.path, folder), { recursive: true, mode: 0o755 });
    writeFileSync(join(this.path, folder, 'widget'), `#!/bin/sh\necho ${says}\n`, { mode: 0o755 });
  }
}

function environment(driver: DriverName): void {
  const tools = new ToolFolders();
  let hosts: WebHosts;
  let bench: SandboxBench;
  const opened: SandboxSession[] = [];

  beforeAll(async () => {
    hosts = await WebHosts.start();
    const allowHosts = [`allowed.test:${hosts.http}`, `other.test:${hosts.http}`];
    bench = new SandboxBench(driver, { network: 'allow', allowHosts, tools: tools.listed, wallClockSeconds: 30 });
    const names = { 'allowed.test': ['127.0.0.1'], 'other.test': ['127.0.0.1'], 'third.test': ['127.0.0.1'] };
    bench.proxy.egress = new Egress(['127.0.0.0/8'], resolverOf(names).resolver);
  });
  afterAll(async () => {
    for (const session of opened) await session.close();
    await bench.close();
    await hosts.stop();
    rmSync(tools.path, { recursive: true });
  });

  const open = async (given: Partial<SessionEnvironment>) => {
    const about = { taskId: randomUUID(), network: true, signal: new AbortController().signal };
    const session = await bench.sandbox.open({ ...about, environment: { ...NOTHING, ...given } });
    opened.push(session);
    return session;
  };
  const run = async (session: SandboxSession, command: string, env = {}) => {
    const { stdout, killed, exitCode } = await session.run(command, { network: true, env });
    return { out: stdout.trim(), killed, exitCode };
  };
  const ask = (host: string) => `curl -s -m 20 -o /dev/null -w '%{http_code} ' http://${host}:${hosts.http}/`;

  it('its variables are in every command, behind those of the sandbox and of the command itself', async () => {
    const session = await open({ variables: { COLOUR: 'blue & "green"', SIZE: '3', HOME: '/elsewhere' } });
    expect((await run(session, 'echo "$COLOUR $SIZE"')).out).toBe('blue & "green" 3');
    expect((await run(session, 'echo "$SIZE $HOME"', { SIZE: '4' })).out).toMatch(/^4 (?!\/elsewhere)/);
    const plain = await session.run('echo "$COLOUR"');
    expect(plain.stdout).toBe('blue & "green"\n');
  });

  it('its hosts are in the place of the operator’s, and never more than those', async () => {
    const session = await open({ hosts: [`other.test:${hosts.http}`, `third.test:${hosts.http}`] });
    const { out } = await run(session, ['other.test', 'allowed.test', 'third.test'].map(ask).join('; '));
    expect(out).toBe('200 403 403');
    const said = await run(session, `curl -s -m 20 http://third.test:${hosts.http}/`);
    expect(said.out).toBe(`third.test:${hosts.http} is not among the hosts that may be reached from here: other.test:${hosts.http}.`); // prettier-ignore
    expect(session.network?.hosts).toEqual([`other.test:${hosts.http}`]);
  });

  it('without hosts its commands have no network', async () => {
    const session = await open({});
    expect((await run(session, 'env | grep -ci proxy; stat -c %F /opt/millwright/network')).out).toBe(
      '0\nregular empty file',
    );
    expect(session.network).toBe(null);
  });

  it('its limits are lower than the operator’s, never higher', async () => {
    const short = await open({ limits: { wallClockSeconds: 1 } });
    expect(short.wallClockSeconds).toBe(1);
    expect((await run(short, 'sleep 20')).killed).toBe('timeout');
    const session = await open({ limits: { diskBytes: 8 * MIB, memoryBytes: 256 * MIB } });
    const { out } = await run(session, 'head -c 16777216 /dev/zero > large; stat -c %s large');
    expect(Number(out)).toBeLessThanOrEqual(8 * MIB);
    expect((await run(session, 'ulimit -d')).out).toBe(String((256 * MIB) / 1024));
    expect((await run(session, 'df -B1 --output=size /dev/shm | tail -1')).out).toBe(String((256 * MIB) / 4));
    const high = await open({ limits: { wallClockSeconds: 600 } });
    expect(high.wallClockSeconds).toBe(30);
  });

  it('a tool of a version is found before other programs, and cannot be written', async () => {
    const one = await open({ tools: { widget: '1' } });
    expect((await run(one, 'widget; ls; command -v widget')).out).toBe('one\nanother ls\n/opt/tools/widget/bin/widget');
    expect((await run(one, 'echo x >> /opt/tools/widget/bin/widget')).exitCode).not.toBe(0);
    const two = await open({ tools: { widget: '2' } });
    expect((await run(two, 'widget; command -v widget')).out).toBe('two\n/opt/tools/widget/widget');
    for (const none of [await open({}), await open({ tools: { widget: '9', other: '1' } })]) {
      expect((await run(none, 'command -v widget; ls /opt/tools/widget')).out).toBe('');
    }
  });

  it('the report says which tools there are, and which folder of the list is none', async () => {
    const { active, missing, tools: offered } = await bench.sandbox.check();
    expect(active).toContain('Environments may ask for widget 1, widget 2.');
    expect(missing.join('\n')).toContain(`widget 3 is not there for environments: ${tools.path}/gone is no folder`);
    expect(offered).toEqual([
      { name: 'widget', version: '1' },
      { name: 'widget', version: '2' },
    ]);
  });
}

describe('The hosts of secrets, of those that may be reached (reference §24)', () => {
  const place = { header: 'Authorization', form: 'bearer', user: null } as const;
  const to = (host: string, port = 443, value: string | null = 'a-value') => ({
    value,
    bindings: [{ host, port, methods: null, paths: null, place }],
  });

  it.each([
    ['a name that is listed', ['a.test'], [to('a.test')], ['a.test:443']],
    ['a name below one with a star', ['*.a.test'], [to('b.a.test')], ['b.a.test:443']],
    ['a star as it is listed', ['*.a.test'], [to('*.a.test')], ['*.a.test:443']],
    ['names that a star stands for', ['b.a.test', 'a.test', 'c.b.a.test'], [to('*.a.test')], ['b.a.test:443']],
    ['the port of the binding', ['a.test', 'b.test:8443'], [to('a.test', 8443), to('b.test', 8443)], ['b.test:8443']],
    ['an address', ['[fd00::1]:8443'], [to('[fd00::1]', 8443)], ['[fd00::1]:8443']],
    ['each once', ['a.test'], [to('a.test'), to('a.test')], ['a.test:443']],
    ['no other', ['b.test', '*.c.test'], [to('a.test'), to('*.d.test')], []],
    ['none of a secret without a value', ['a.test'], [to('a.test', 443, null)], []],
  ])('are %s', (_, allowed, secrets, hosts) => {
    expect(boundAmong(allowed, secrets)).toEqual(hosts);
  });
});

describe('What of an environment holds in a session (reference §25)', () => {
  beforeAll(() => {
    Logger.overrideLogger(false);
  });
  describeDrivers(environment);

  it('with SANDBOX=none has its variables and tools, and no network that is kept apart', async () => {
    const tools = new ToolFolders();
    const bench = new SandboxBench('none', { tools: tools.listed });
    try {
      const about = { taskId: randomUUID(), network: true, signal: new AbortController().signal };
      const own = { ...NOTHING, variables: { COLOUR: 'blue' }, tools: { widget: '1' } };
      const session = await bench.sandbox.open({ ...about, environment: own });
      const { stdout } = await session.run('echo $COLOUR; widget; echo ${https_proxy:-none}', { network: true });
      expect(stdout).toBe('blue\none\nnone\n');
      await session.close();
      await bench.sandbox.remove(about.taskId);
    } finally {
      await bench.close();
      rmSync(tools.path, { recursive: true });
    }
  });

  it.each([
    ['one that is listed', ['a.example'], ['a.example']],
    ['one below a listed one', ['b.wild.example', '*.b.wild.example'], ['b.wild.example', '*.b.wild.example']],
    ['one with a port of a listed one', ['a.example:443'], ['a.example:443']],
    ['none that is not listed, or that is wider', ['c.example', '*.example', '*.a.example'], []],
    ['none of which a port is missing', ['c.example:8080', 'd.example'], []],
  ])('of hosts leaves %s', (_what, asked, left) => {
    const allowed = ['a.example', '*.wild.example', 'd.example:443'];
    expect(hostsWithin(allowed, asked)).toEqual(left);
    expect(hostsOf(allowed, { hosts: asked })).toEqual(left);
    expect(hostsOf(allowed, undefined)).toEqual(allowed);
  });

  it('of limits leaves the lower one', () => {
    const allowed = { wallClockSeconds: 10, memoryBytes: 20, diskBytes: 30, processes: 40, outputBytes: 50 };
    expect(limitsWithin(allowed, { wallClockSeconds: 5, memoryBytes: 99 })).toEqual({
      ...allowed,
      wallClockSeconds: 5,
    });
    expect(limitsWithin(allowed)).toEqual(allowed);
  });
});
