import type { DataDir } from '../../../platform/config/data-dir.js';
import { memoryReport } from '../limits/memory-report.js';
import { networkReport } from '../network/inside.js';
import type { SandboxLimits, SandboxReport } from '../sandbox.js';
import { WATCHED_DISK } from '../workdir/disk-watch.js';
import type { Prepared } from './launch-spec.js';

/**
 * What a driver of this host reports of itself after the trial at boot.
 * @param report the part of the driver. @param probed what the command of the trial has found.
 */
export function reportOf(
  report: SandboxReport,
  probed: Map<string, string>,
  parts: Prepared & { limits: SandboxLimits; hosts: readonly string[] },
  dataDir: DataDir,
): SandboxReport {
  const { base, root, workdirs, groups, authorities, tools, limits, hosts } = parts;
  const memory = memoryReport(groups, limits, probed);
  const programs = ['node', 'npm', 'git', 'rg'].filter((name) => probed.get(name) !== 'yes');
  const absent = programs.filter((name) => name !== 'rg' || root.missing.length === 0);
  const missing = absent.map((name) => `${name} does not run inside.`);
  const active = base === dataDir.path ? [] : ['Workdirs lie outside of DATA_DIR, which is closed to their users.'];
  const { certificates, from } = authorities;
  const trusted = `${certificates.length} ${certificates.length === 1 ? 'authority' : 'authorities'} of ${from}`;
  const network = networkReport(hosts, probed.get('network') === 'yes', trusted);
  const offered = tools.tools.map(({ name, version }) => `${name} ${version}`);
  if (offered.length > 0) active.push(`Environments may ask for ${offered.join(', ')}.`);
  return {
    driver: report.driver,
    programs: probed.get('programs')?.split(' ').filter(Boolean) ?? [],
    hosts,
    tools: tools.tools.map(({ name, version }) => ({ name, version })),
    active: [...report.active, ...active, ...network.active, ...memory.active, WATCHED_DISK],
    missing: [
      ...report.missing,
      ...network.missing,
      ...memory.missing,
      ...root.missing,
      ...tools.missing,
      ...missing,
      ...workdirs.missing,
    ],
  };
}
