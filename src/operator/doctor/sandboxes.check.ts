// The sandboxes that SANDBOX may choose: each is tried as at boot, and then runs `true`.
import { randomUUID } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BubblewrapSandbox } from '../../engine/sandbox/drivers/bubblewrap.sandbox.js';
import { LocalSandbox } from '../../engine/sandbox/drivers/local-sandbox.js';
import { NamespacesSandbox } from '../../engine/sandbox/drivers/namespaces.sandbox.js';
import { NoSandbox } from '../../engine/sandbox/drivers/none.sandbox.js';
import { Heartbeat } from '../../engine/sandbox/heartbeat.js';
import { NetworkProxy } from '../../engine/sandbox/network/network-proxy.js';
import { isLeftOver, isRoot, ownName } from '../../engine/sandbox/host.js';
import { Sandbox, type SandboxReport } from '../../engine/sandbox/sandbox.js';
import { adviceFor, AUTOMATIC } from '../../engine/sandbox/sandbox-selector.js';
import { DataDir } from '../../platform/config/data-dir.js';
import { Env } from '../../platform/config/env.js';
import { removeReachable } from '../../platform/config/reachable.js';
import { DiskSpace } from '../../platform/disk/disk-space.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import { type Check, fail, type Finding, ok, warn } from './check.js';
import type { Examination } from './examination.js';
import { notBrought, withPlugins } from './plugins.js';
import { inMs, reasonOf } from './words.js';

/** What a trial makes lies in a folder of this name, in DATA_DIR. It goes with the trial, or before the next one. */
const FOLDER = 'doctor.';

export const BUILT_IN = { bubblewrap: BubblewrapSandbox, namespaces: NamespacesSandbox, none: NoSandbox } as const;

type Tried = { name: string; took: number; report: SandboxReport } | { name: string; reason: string };

export const sandboxesCheck: Check = {
  name: 'sandbox',
  limitMs: 90_000,
  async run(at, signal) {
    const { ROLE, SANDBOX } = at.env.variables;
    if (!at.env.runsWork) return [ok('sandbox', `None is needed: ROLE=${ROLE} runs no task.`)];
    if (SANDBOX !== 'auto' && !(SANDBOX in BUILT_IN)) return ofExtension(at, SANDBOX, signal);
    const folder = trialFolder(at.dataDir?.path ?? null);
    try {
      const tried: Tried[] = [];
      // One after the other: the times are to say something.
      for (const name of SANDBOX === 'auto' ? AUTOMATIC : [SANDBOX]) {
        tried.push(await trial(name, builtIn(name, at.env, folder), signal));
      }
      return judge(tried, (await at.service).ready === null);
    } finally {
      remove(folder);
    }
  },
};

/** A driver that works in a folder of the trial. */
export function builtIn(name: string, { variables, file, modelKeys }: Env, folder: string): LocalSandbox {
  const env = new Env({ ...variables, DATA_DIR: folder }, file, modelKeys);
  const dataDir = new DataDir(env);
  const Driver = BUILT_IN[name as keyof typeof BUILT_IN];
  const proxy = new NetworkProxy(env, new Metrics());
  const heartbeat = Heartbeat.withoutLease(variables.LEASE_SECONDS);
  const sandbox = new Driver(env, dataDir, heartbeat, new DiskSpace(env, dataDir), proxy);
  sandbox.dividesGroups = false;
  return sandbox;
}

async function ofExtension(at: Examination, name: string, signal: AbortSignal): Promise<Finding[]> {
  return withPlugins(at, Sandbox, async (found) => {
    const sandbox = found.get(name);
    if (sandbox !== undefined) return judge([await trial(name, sandbox, signal)], (await at.service).ready === null);
    return [notBrought('sandbox', name)];
  });
}

async function trial(name: string, sandbox: Sandbox, signal: AbortSignal): Promise<Tried> {
  try {
    const report = await sandbox.check();
    const took = await timeOfTrue(sandbox, signal);
    return { name, took, report };
  } catch (error) {
    return { name, reason: reasonOf(error) };
  } finally {
    if (sandbox instanceof LocalSandbox) await sandbox.onApplicationShutdown();
  }
}

/** Milliseconds from the opened session to the end of `true`. */
async function timeOfTrue(sandbox: Sandbox, signal: AbortSignal): Promise<number> {
  const taskId = randomUUID();
  const session = await sandbox.open({ taskId, signal });
  try {
    const began = performance.now();
    const { exitCode, stderr } = await session.run('true');
    if (exitCode !== 0) throw new Error(`'true' ended with ${exitCode}: ${stderr.trim()}`);
    return performance.now() - began;
  } finally {
    await session.close();
    await sandbox.remove(taskId);
  }
}

/** @param alone no service runs here that says what is in force. */
function judge(tried: Tried[], alone: boolean): Finding[] {
  const chosen = tried.find((one) => 'report' in one);
  const lines = tried.map((one) => {
    const name = `sandbox ${one.name}`;
    if ('report' in one) return ok(name, `It was tried as at boot, and ran 'true' in ${inMs(one.took)}.`);
    const detail = `It does not work here: ${one.reason}`;
    return chosen === undefined ? fail(name, detail, adviceFor(one.reason)) : warn(name, detail, `It is not needed: ${chosen.name} works.`);
  });
  if (!alone || chosen === undefined) return lines;
  const { active, missing } = chosen.report;
  const advice = 'docs/operating.md, "Walls", says what that means.';
  return [...lines, ...active.map((one) => ok('in force', one)), ...missing.map((one) => warn('missing', one, advice))];
} // prettier-ignore

/** On the file system on which the service works, if this user may write there. */
export function trialFolder(dataDir: string | null): string {
  const folder = inDataDir(dataDir) ?? mkdtempSync(join(tmpdir(), 'millwright-doctor-'));
  // The users of sandboxes pass through it.
  if (isRoot()) chmodSync(folder, 0o711);
  return folder;
}

function inDataDir(dataDir: string | null): string | null {
  if (dataDir === null) return null;
  try {
    for (const name of readdirSync(dataDir)) {
      if (name.startsWith(FOLDER) && isLeftOver(name.slice(FOLDER.length))) remove(join(dataDir, name));
    }
    const folder = join(dataDir, FOLDER + ownName());
    mkdirSync(folder, { mode: 0o700 });
    return folder;
  } catch {
    return null;
  }
}

export function remove(folder: string): void {
  removeReachable(folder);
  rmSync(folder, { recursive: true, force: true });
}
