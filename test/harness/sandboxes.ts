// Sandbox drivers as the service has them, each with a data folder of its own that goes with it.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { type ConfigFile, sandboxLimitsOf } from '../../src/platform/config/config-file.js';
import { DataDir } from '../../src/platform/config/data-dir.js';
import { DiskSpace } from '../../src/platform/disk/disk-space.js';
import { Env, readEnv } from '../../src/platform/config/env.js';
import { BubblewrapSandbox } from '../../src/engine/sandbox/drivers/bubblewrap.sandbox.js';
import { Heartbeat } from '../../src/engine/sandbox/heartbeat.js';
import { findProgram } from '../../src/engine/sandbox/host.js';
import type { LocalSandbox } from '../../src/engine/sandbox/drivers/local-sandbox.js';
import { ControlGroups } from '../../src/engine/sandbox/limits/control-groups.js';
import { NamespacesSandbox } from '../../src/engine/sandbox/drivers/namespaces.sandbox.js';
import { NoSandbox } from '../../src/engine/sandbox/drivers/none.sandbox.js';
import type { SandboxLimits, SandboxSession } from '../../src/engine/sandbox/sandbox.js';

export const DRIVERS = { bubblewrap: BubblewrapSandbox, namespaces: NamespacesSandbox, none: NoSandbox };
export type DriverName = keyof typeof DRIVERS;

export interface Opened {
  session: SandboxSession;
  taskId: string;
  /** As the host names it. */
  workdir: string;
  abort: (reason?: Error) => void;
}

export class SandboxBench {
  readonly dataDir: DataDir;
  readonly sandbox: LocalSandbox;
  readonly space: DiskSpace;
  private readonly opened = new Map<SandboxSession, string>();

  constructor(driver: DriverName, limits: ConfigFile['sandbox'] = {}, variables: Record<string, string> = {}) {
    const env = new Env(readEnv({ NODE_ENV: 'test', ...variables }).variables, { sandbox: limits }, new Map());
    this.dataDir = new DataDir(env);
    this.space = new DiskSpace(env, this.dataDir);
    this.sandbox = new DRIVERS[driver](env, this.dataDir, new Heartbeat(env), this.space);
  }

  async open(taskId: string = randomUUID()): Promise<Opened> {
    const controller = new AbortController();
    const session = await this.sandbox.open({ taskId, signal: controller.signal });
    this.opened.set(session, taskId);
    const abort = (reason?: Error) => controller.abort(reason);
    return { session, taskId, abort, workdir: join(this.dataDir.path, 'workdirs', taskId) };
  }

  async close(): Promise<void> {
    for (const session of this.opened.keys()) await session.close();
    for (const taskId of new Set(this.opened.values())) await this.sandbox.remove(taskId);
    await this.sandbox.onApplicationShutdown();
    this.dataDir.remove();
  }
}

/** The same tests for every driver that keeps commands apart; bubblewrap's only where it is installed. */
export function describeDrivers(tests: (driver: DriverName) => void): void {
  const installed = findProgram('bwrap') !== null;
  if (!installed) process.stderr.write('The tests of bubblewrap are left out: bwrap is not installed.\n');
  (installed ? describe : describe.skip)('bubblewrap', () => tests('bubblewrap'));
  describe('namespaces', () => tests('namespaces'));
}

/** For tests that it does not leak. */
export function putIntoEnvironment(name: string, value: string): void {
  process.env[name] = value;
}

/** Tests that need a control group that we may divide; without one they are left out, and it says why. */
export function describeGroups(name: string, tests: (find: (limits: SandboxLimits) => ControlGroups) => void): void {
  const none = missingGroups();
  const find = (limits: SandboxLimits) => {
    const groups = ControlGroups.find(limits);
    if (typeof groups === 'string') throw new Error(groups);
    return groups;
  };
  if (none !== null) process.stderr.write(`${name} are left out: ${none}\n`);
  (none === null ? describe : describe.skip)(name, () => tests(find));
}

/** Why there are no control groups here, null where there are. */
export function missingGroups(): string | null {
  const found = ControlGroups.find(sandboxLimitsOf({}));
  return typeof found === 'string' ? found : null;
}
