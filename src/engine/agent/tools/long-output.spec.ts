import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describeDrivers, type DriverName, SandboxBench } from '../../../../test/harness/sandboxes.js';
import { Env, readEnv } from '../../../platform/config/env.js';
import { resultText } from '../../models/result-text.js';
import type { SandboxSession } from '../../sandbox/sandbox.js';
import type { ToolContext, ToolOutcome } from '../agent-tool.js';
import { BesideResults } from '../beside-results.js';
import { BashTool } from './bash.js';
import { ReadTool } from './read.js';

const MIB = 1024 * 1024;
const FILE = '/tmp/output/1.txt';
const env = new Env(readEnv({}).variables, {}, new Map());

/** The tool of the agent in the session of a driver, and what a model reads of its result. */
function agentIn(session: SandboxSession) {
  const sandbox = () => Promise.resolve(session);
  const { keepWhole } = new BesideResults([], { sandbox: { get: sandbox }, context: { compacted: () => [] } });
  const context: ToolContext = {
    ...{ taskId: '', workspaceId: '', userId: '', toolCallId: '', signal: new AbortController().signal, sandbox },
    keepWhole,
  };
  const bash = async (command: string) => {
    return told(await new BashTool(env).execute({ command, timeoutSeconds: 60 }, context));
  };
  const read = async (offset: number) => told(await new ReadTool().execute({ path: FILE, offset, limit: 1 }, context));
  return { bash, read };
} // prettier-ignore

function told(outcome: ToolOutcome): string {
  if (outcome.status === 'question' || outcome.status === 'tasks') throw new Error('no result');
  return resultText(outcome);
}

function bytesIn(folder: string): number {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return files.reduce((sum, name) => sum + (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0), 0);
}

function goingOn(driver: DriverName): void {
  let bench: SandboxBench;
  const start = (limits: { diskBytes: number; outputBytes: number }, variables = {}) =>
    (bench = new SandboxBench(driver, limits, variables));
  const kept = (workdir: string) => join(`${workdir}.beside`, FILE);
  afterEach(() => bench.close());

  it('goes on: its ends are shown, the whole lies in a file, which the agent can read and which goes with the task', async () => {
    const { session, workdir, taskId } = await start({ diskBytes: 48 * MIB, outputBytes: MIB }).open();
    const { bash, read } = agentIn(session);
    const text = await bash('seq 1000000; echo end');
    expect(text).toMatch(/^exit 0, [^]*\n1\n2\n[^]*bytes left out; the whole is in \/tmp\/output\/1\.txt\][^]*\n1000000\nend$/);
    const whole = Array.from({ length: 1_000_000 }, (_, n) => `${n + 1}\n`).join('');
    expect(readFileSync(kept(workdir), 'utf8') === `${whole}end\n`).toBe(true);
    expect(await read(700_000)).toMatch(/^ *700000\t700000\n/);
    await session.close();
    await bench.sandbox.remove(taskId);
    expect(readdirSync(join(bench.dataDir.path, 'workdirs'))).toEqual([]);
  }); // prettier-ignore

  it('goes on with both streams, whose lines lie in the file in the order in which they came', async () => {
    const { session, workdir } = await start({ diskBytes: 48 * MIB, outputBytes: 64 * 1024 }).open();
    const rounds = 'for i in $(seq 8); do seq 3000; sleep 0.1; seq -f e%g 3000 >&2; sleep 0.1; done';
    expect(await agentIn(session).bash(rounds)).toMatch(/^exit 0/);
    const lines = readFileSync(kept(workdir), 'utf8').split('\n').slice(0, -1);
    const numbers = Array.from({ length: 3000 }, (_, n) => n + 1);
    const round = [...numbers.map(String), ...numbers.map((n) => `e${n}`)];
    expect(lines.join() === Array.from({ length: 8 }, () => round.join()).join()).toBe(true);
  });

  it('without end is ended at the quota, which it does not exceed; what came is kept, and what to do is said', async () => {
    const { session, workdir } = await start({ diskBytes: 16 * MIB, outputBytes: MIB }).open();
    const { bash, read } = agentIn(session);
    const text = await bash('echo first; exec yes flood');
    expect(text).toMatch(/^exit 137, [^]*\nfirst\nflood\n/);
    expect(text).toMatch(/the whole is in \/tmp\/output\/1\.txt\][^]*no room for its output any more\.[^]*read what you need of it and delete it\. Run the command again with less output: [^]*head, tail or grep\.\]$/);
    const { length } = readFileSync(kept(workdir));
    expect(length).toBeGreaterThan(13 * MIB);
    expect(length).toBeLessThan(15 * MIB);
    expect(await read(1)).toContain('first');
    // What is left is for the next one.
    expect(await bash(`head -c ${MIB} /dev/zero > more; ls`)).toMatch(/^exit 0, [^]*\nmore$/);
    expect(await bash(`rm ${FILE}; yes flood | head -c ${8 * MIB}`)).toMatch(/^exit 0/);
  }); // prettier-ignore

  it('without end that fills no file, because it is written over, is ended when as much of it was read', async () => {
    const { session } = await start({ diskBytes: 16 * MIB, outputBytes: MIB }).open();
    const text = await agentIn(session).bash("tr '\\0' '\\r' < /dev/zero");
    expect(text).toMatch(/^exit 137, [^]*no room for its output any more/);
  });

  it('is ended where no file takes it', async () => {
    const { session } = await start({ diskBytes: 16 * MIB, outputBytes: MIB }).open();
    const { bash } = agentIn(session);
    await bash('mkdir -p /tmp; : > /tmp/output');
    const text = await bash('yes flood');
    expect(text).toMatch(/^exit 137, [^]*bytes left out …\][^]*no room for its output any more/);
  });

  it('is ended when it deletes that file', async () => {
    const { session, workdir } = await start({ diskBytes: 256 * MIB, outputBytes: MIB }).open();
    const text = await agentIn(session).bash('while sleep 0.1; do rm -f /tmp/output/.*.tmp; done & exec yes flood');
    expect(text).toMatch(/^exit 137, [^]*no room for its output any more/);
    expect(Number(/ (\d+) bytes left out …\]/.exec(text)?.[1])).toBeLessThan(100 * MIB);
    expect(readdirSync(join(`${workdir}.beside`, '/tmp/output'))).toEqual([]);
  });

  it('counts in the workdir also when it has deleted that file and prints nothing more', async () => {
    const { session } = await start({ diskBytes: 48 * MIB, outputBytes: MIB }).open();
    const fill = `sleep 1; rm /tmp/output/.*.tmp; head -c ${35 * MIB} /dev/zero > more; sleep 5; ls`;
    const text = await agentIn(session).bash(`yes flood | head -c ${20 * MIB}; ${fill}`);
    expect(text).toMatch(/^exit 137, [^]*the workdir with \/tmp and ~ was full/);
    // What it has deleted does not count any more when it has ended.
    expect(await agentIn(session).bash('echo fits > fits; ls')).toMatch(/^exit 0, [^]*\nfits\nmore$/);
  });

  it('is ended before the disk of the service is full', async () => {
    const { session, workdir } = await start({ diskBytes: 48 * MIB, outputBytes: MIB }).open();
    const tmp = join(`${workdir}.beside`, 'tmp');
    Object.defineProperty(bench.space, 'room', { get: () => 6 * MIB - bytesIn(tmp) });
    expect(await agentIn(session).bash('yes flood')).toMatch(/^exit 137, [^]*no room for its output/);
    expect(bytesIn(tmp)).toBeGreaterThan(4 * MIB);
    expect(bytesIn(tmp)).toBeLessThan(7 * MIB);
  });
}

describe('A command that prints more than the limit', () => {
  describeDrivers(goingOn);
});
