// Sandbox drivers as the service has them, each with a data folder of its own that goes with it.
import { type ChildProcess, fork, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ConfigFile, sandboxLimitsOf } from '../../src/platform/config/config-file.js';
import { DataDir } from '../../src/platform/config/data-dir.js';
import { DiskSpace } from '../../src/platform/disk/disk-space.js';
import { Env, readEnv } from '../../src/platform/config/env.js';
import { BubblewrapSandbox } from '../../src/engine/sandbox/drivers/bubblewrap.sandbox.js';
import { Heartbeat } from '../../src/engine/sandbox/heartbeat.js';
import { findProgram, isRoot } from '../../src/engine/sandbox/host.js';
import { SLOW } from './numbers.js';
import type { LocalSandbox } from '../../src/engine/sandbox/drivers/local-sandbox.js';
import { ControlGroups } from '../../src/engine/sandbox/limits/control-groups.js';
import { NetworkProxy } from '../../src/engine/sandbox/network/network-proxy.js';
import { Metrics } from '../../src/platform/metrics/metrics.js';
import { NamespacesSandbox } from '../../src/engine/sandbox/drivers/namespaces.sandbox.js';
import { NoSandbox } from '../../src/engine/sandbox/drivers/none.sandbox.js';
import type { RunResult } from '../../src/engine/sandbox/run-result.js';
import type {
  RunOptions,
  SandboxLimits,
  SandboxOpenOptions,
  SandboxReport,
  SandboxSecrets,
  SandboxSession,
  TaskSecret,
} from '../../src/engine/sandbox/sandbox.js';
import { type Names, namesOn } from './names.js';
import type { Asked, Said } from './sandbox-host.js';

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
  readonly proxy: NetworkProxy;
  private readonly opened = new Map<SandboxSession, string>();

  constructor(
    driver: DriverName,
    limits: ConfigFile['sandbox'] = {},
    variables: Record<string, string> = {},
    engines: ConfigFile['engines'] = {},
  ) {
    const env = new Env(readEnv({ NODE_ENV: 'test', ...variables }).variables, { sandbox: limits, engines }, new Map());
    this.dataDir = new DataDir(env);
    this.space = new DiskSpace(env, this.dataDir);
    this.proxy = new NetworkProxy(env, new Metrics());
    const heartbeat = Heartbeat.withoutLease(env.variables.LEASE_SECONDS);
    this.sandbox = new DRIVERS[driver](env, this.dataDir, heartbeat, this.space, this.proxy);
  }

  /** With the network that its limits allow. */
  async open(
    taskId: string = randomUUID(),
    network = true,
    secrets?: SandboxSecrets,
    door?: SandboxOpenOptions['door'],
  ): Promise<Opened> {
    const controller = new AbortController();
    const session = await this.sandbox.open({
      taskId,
      network,
      signal: controller.signal,
      ...(secrets && { secrets }),
      door,
    });
    this.opened.set(session, taskId);
    const abort = (reason?: Error) => controller.abort(reason);
    return { session, taskId, abort, workdir: join(this.dataDir.path, 'workdirs', taskId) };
  }

  async close(): Promise<void> {
    for (const session of this.opened.keys()) await session.close();
    for (const taskId of new Set(this.opened.values())) await this.sandbox.remove(taskId);
    await this.sandbox.onApplicationShutdown();
    await this.proxy.onApplicationShutdown();
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

/** Who runs the service: it decides who a command is on the host, and what the kernel counts for whom. */
export type User = 'root' | 'an ordinary user';
export interface Way {
  driver: DriverName;
  user: User;
}

/**
 * The same tests for both drivers, as far as this machine has them; in the whole form (slow.ts) also started by another user: root or an
 * ordinary one.
 */
export function describeWays(tests: (way: Way) => void): void {
  for (const user of SLOW ? USERS : [currentUser()])
    describeUser(user, () => describeDrivers((driver) => tests({ driver, user })));
}

export const USERS: readonly User[] = ['root', 'an ordinary user'];

/** The tests of sandboxes that this user starts, where one can be had here. */
export function describeUser(user: User, tests: () => void): void {
  const reason = whyNot(user);
  if (reason !== null) process.stderr.write(`The tests of sandboxes started by ${user} are left out: ${reason}\n`);
  (reason === null ? describe : describe.skip)(`started by ${user}`, tests);
}

/** One task's sandbox, of any driver. */
export interface TaskSandbox {
  /** As the host names it. */
  workdir: string;
  run: (command: string, options?: RunOptions & { stdin?: string }) => Promise<RunResult>;
  writeFile: (path: string, text: string) => Promise<void>;
  /** Its secrets from then on. */
  change: (secrets: readonly TaskSecret[]) => Promise<void>;
  close: () => Promise<void>;
}

/** The sandboxes of one service. */
export interface Installation {
  /** Its data folder. */
  path: string;
  /** The process that they are started by. */
  pid: number;
  check: () => Promise<SandboxReport>;
  open: (secrets?: readonly TaskSecret[]) => Promise<TaskSandbox>;
  close: () => Promise<void>;
}

/** In this process when its user is the one that is asked for, else in one of its own. */
export function startAs(
  { driver, user }: Way,
  config: ConfigFile['sandbox'] = {},
  names: Names | null = null,
): Promise<Installation> {
  return user === currentUser()
    ? Promise.resolve(inThisProcess(driver, config, names))
    : inAnother(driver, config, names);
}

const currentUser = (): User => (isRoot() ? 'root' : 'an ordinary user');
// `nobody` on every Linux. It owns no file, and has no home.
const NOBODY = { uid: 65_534, gid: 65_534 };
const HOOKS = new URL('typescript-hooks.mjs', import.meta.url);

/** Null when sandboxes can be started by them. */
function whyNot(user: User): string | null {
  if (user === currentUser()) return null;
  if (user === 'root') return 'this is not root.';
  const trial = `require('fs').accessSync(require('os').tmpdir(), 2); import(${JSON.stringify(HOOKS.href)})`;
  const node = spawnSync(process.execPath, ['-e', trial], { ...NOBODY, encoding: 'utf8' });
  if (node.status !== 0)
    return `nobody cannot run these sources (${node.stderr.match(/Error: .*/)?.[0] ?? node.error}).`;
  const namespace = spawnSync('unshare', ['--user', 'true'], { ...NOBODY, encoding: 'utf8' });
  return namespace.status === 0 ? null : `nobody cannot make a user namespace (${namespace.stderr.trim()}).`;
}

/** Secrets of a session, and how they are changed. */
export function changeable(all: readonly TaskSecret[]): {
  given: SandboxSecrets;
  change: (all: readonly TaskSecret[]) => void;
} {
  let tell: (all: readonly TaskSecret[]) => void = () => undefined;
  const listen: SandboxSecrets['listen'] = (changed) => {
    tell = changed;
    return () => undefined;
  };
  return { given: { all, onUse: () => undefined, listen }, change: (next) => tell(next) };
}

function inThisProcess(driver: DriverName, config: ConfigFile['sandbox'], names: Names | null): Installation {
  const bench = new SandboxBench(driver, config);
  if (names !== null) bench.proxy.egress = namesOn(names);
  return {
    path: bench.dataDir.path,
    pid: process.pid,
    check: () => bench.sandbox.check(),
    open: async (secrets = []) => {
      const { given, change } = changeable(secrets);
      const { session, workdir } = await bench.open(undefined, true, secrets.length === 0 ? undefined : given);
      return {
        workdir,
        run: (command, options) => session.run(command, options),
        writeFile: (path, text) => session.writeFile(path, text),
        change: (next) => Promise.resolve(change(next)),
        close: () => session.close(),
      };
    },
    close: () => bench.close(),
  };
}

async function inAnother(
  driver: DriverName,
  config: ConfigFile['sandbox'],
  names: Names | null,
): Promise<Installation> {
  const child = fork(fileURLToPath(new URL('sandbox-host.ts', import.meta.url)), [driver, JSON.stringify(config)], {
    ...NOBODY,
    execArgv: ['--import', HOOKS.href],
  });
  const ask = asking(child);
  if (names !== null) await ask('names', names);
  return {
    path: await ask<string>('path'),
    pid: child.pid ?? 0,
    check: () => ask<SandboxReport>('check'),
    open: async (secrets = []) => {
      const { taskId, workdir } = await ask<{ taskId: string; workdir: string }>('open', secrets);
      return {
        workdir,
        run: (command, options = {}) => ask<RunResult>('run', taskId, command, options),
        writeFile: (path, text) => ask<void>('writeFile', taskId, path, text),
        change: (next) => ask<void>('change', taskId, next),
        close: () => ask<void>('closeTask', taskId),
      };
    },
    close: async () => {
      await ask('close');
      child.disconnect();
    },
  };
}

function asking(child: ChildProcess) {
  const waiting = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>();
  child.on('message', (said: Said) => {
    const { resolve, reject } = waiting.get(said.id) ?? {};
    waiting.delete(said.id);
    if ('error' in said) reject?.(new Error(said.error));
    else resolve?.(said.value as never);
  });
  child.once('exit', (code) => {
    for (const { reject } of waiting.values()) reject(new Error(`the process of the sandboxes ended with ${code}`));
  });
  let id = 0;
  return <T>(call: Asked['call'], ...words: unknown[]) =>
    new Promise<T>((resolve, reject) => {
      waiting.set((id += 1), { resolve, reject });
      child.send({ id, call, words } satisfies Asked);
    });
}

/** A command that prints what there is inside: mounts, rights, devices, sockets, descriptors, files, variables, processes. */
export const SURVEY = `awk '{ print "mount", $5, $6 }' /proc/self/mountinfo | sort; grep -E '^(Cap|NoNewPrivs|Seccomp:|Uid|Gid|Groups|Shd)' /proc/self/status
  tail -n +3 /proc/net/dev | cut -d: -f1; tail -n +2 /proc/net/unix | grep -v '/opt/millwright/network$' | wc -l; ls /proc/self/fd
  find / '(' -path /usr -o -path /proc ')' -prune -o -printf '%p %y %m %U\\n' 2>/dev/null
  env | cut -d= -f1 | sort; cat /proc/[0-9]*/comm`;

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
