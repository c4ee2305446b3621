// The versions of Node and of Millwright: of this command, and of the service that runs.
import { NODE_RANGE, VERSION } from '../../platform/config/version.js';
import { hostOf } from '../../platform/http/listening.js';
import { type Check, fail, type Finding, ok, warn } from './check.js';
import type { Examination } from './examination.js';

const PATIENCE = 5_000;

export const versionsCheck: Check = {
  name: 'versions',
  async run(at) {
    return [ofNode(process.versions.node), ofMillwright(await runningVersion(at))];
  },
};

/** @param version as in `process.versions`. */
export function ofNode(version: string): Finding {
  const [wanted, have] = [numbersOf(NODE_RANGE), numbersOf(version)];
  const differing = wanted.findIndex((number, n) => number !== have[n]);
  const old = differing >= 0 && (have[differing] ?? 0) < (wanted[differing] ?? 0);
  const detail = `Node ${version}; ${NODE_RANGE} is needed.`;
  return old ? fail('versions', detail, 'Install a later Node for this command and for the service.') : ok('versions', detail);
} // prettier-ignore

function numbersOf(version: string): number[] {
  return (/\d+\.\d+\.\d+/.exec(version)?.[0] ?? '').split('.').map(Number);
}

function ofMillwright(running: string | null): Finding {
  const own = `Millwright ${VERSION}`;
  if (running === null) return ok('versions', `${own}. No running service says its own here.`);
  if (running === VERSION) return ok('versions', `${own}, as the running service.`);
  return warn('versions', `${own}; the running service is ${running}.`, 'Use the command of the version that runs, or start the service anew.');
} // prettier-ignore

/** As the figures say it; null where nobody serves them to this machine. */
async function runningVersion(at: Examination): Promise<string | null> {
  const { origin, state } = await at.service;
  if (state !== 'ready') return null;
  const { HOST, METRICS_PORT } = at.env.variables;
  const where = METRICS_PORT === undefined ? origin : `http://${hostOf(HOST)}:${METRICS_PORT}`;
  try {
    const answer = await fetch(`${where}/metrics`, { signal: AbortSignal.timeout(PATIENCE), redirect: 'manual' });
    const text = await answer.text();
    return /^millwright_build_info\{version="([^"]+)"\} 1$/m.exec(text)?.[1] ?? null;
  } catch {
    return null;
  }
}
