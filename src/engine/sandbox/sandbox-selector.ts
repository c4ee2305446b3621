import type { Readable } from 'node:stream';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { sandboxLimitsOf } from '../../platform/config/config-file.js';
import { Env } from '../../platform/config/env.js';
import { Safeguards } from '../../platform/config/safeguards.js';
import { textSaysFull } from '../../platform/disk/storage-full.js';
import type { RunningCommand, TerminalSize } from './running-command.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import { PluginRegistry } from '../../platform/plugins/plugin.js';
import { hostsOf, limitsWithin } from './session-environment.js';
import type { RunResult } from './run-result.js';
import type { WriteOptions } from './write-options.js';
import type { NetworkReport } from './network/network-use.js';
import {
  type OpenedFile,
  type RunOptions,
  Sandbox,
  SandboxError,
  type SandboxLimits,
  type SandboxOpenOptions,
  type SandboxReport,
  type SandboxReservation,
  SandboxSession,
} from './sandbox.js';

// In this order: bubblewrap has a filter of system calls without perl too.
export const AUTOMATIC = ['bubblewrap', 'namespaces'];

/** Chooses the sandbox at boot, by `SANDBOX`, where runs are carried out. With no working one the boot ends there. */
@Injectable()
export class SandboxSelector implements OnModuleInit {
  private chosen: { sandbox: Sandbox; report: SandboxReport } | undefined;

  constructor(
    private readonly env: Env,
    private readonly plugins: PluginRegistry,
    private readonly metrics: Metrics,
    private readonly safeguards: Safeguards,
  ) {}

  /** The sandbox of this process; from the end of the boot on, and only where work is done. */
  get current(): Sandbox {
    return this.selected.sandbox;
  }

  reserve(taskId: string): Promise<SandboxReservation | null> {
    return this.current.reserve(taskId);
  }

  /** As {@link Sandbox.open} of the current one, with its commands counted. */
  async open(options: SandboxOpenOptions): Promise<SandboxSession> {
    return new MeteredSession(await this.current.open(options), this.metrics);
  }

  /**
   * What holds for the commands of a task. Without hosts they have no network that is kept apart, and nothing puts values of secrets into their
   * requests.
   */
  factsOf(of: Pick<SandboxOpenOptions, 'network' | 'boundHosts' | 'environment'>): SandboxFacts {
    const { network = false, boundHosts = [], environment } = of;
    const { programs = [], hosts = [] } = this.chosen?.report ?? {};
    const limits = limitsWithin(sandboxLimitsOf(this.env.file), environment?.limits);
    return { limits, programs, hosts: network ? hostsOf(hosts, environment) : boundHosts };
  }

  get report(): SandboxReport {
    return this.selected.report;
  }

  async onModuleInit(): Promise<void> {
    if (!this.env.runsWork) return;
    const wanted = this.env.variables.SANDBOX;
    this.chosen = await this.firstWorking(wanted === 'auto' ? AUTOMATIC : [wanted]);
    const { driver, active, missing } = this.chosen.report;
    const inForce = [`Sandbox ${driver}: ${active.join(' ')}`, limitsInWords(sandboxLimitsOf(this.env.file))];
    this.safeguards.report({ inForce, missing: missing.length > 0 ? [`Sandbox ${driver}: ${missing.join(' ')}`] : [] });
  }

  private get selected() {
    if (this.chosen === undefined) throw new SandboxError('No sandbox has been selected in this process.');
    return this.chosen;
  }

  private async firstWorking(names: string[]) {
    const reasons: string[] = [];
    for (const name of names) {
      const sandbox = this.plugins.chosen(Sandbox, 'SANDBOX', name, ['auto']);
      try {
        return { sandbox, report: await sandbox.check() };
      } catch (error) {
        if (!(error instanceof SandboxError)) throw error;
        reasons.push(`${name}: ${error.message}`);
      }
    }
    throw new SandboxError(`SANDBOX: no sandbox works here.\n${reasons.join('\n')}\n${adviceFor(reasons.join('\n'))}`);
  }
}

/** What a model may know of where its commands run. */
export interface SandboxFacts {
  limits: SandboxLimits;
  /** Names of programs that commands find. */
  programs: string[];
  /** Hosts that commands reach. */
  hosts: readonly string[];
}

/** A session of any driver, with its commands counted. */
class MeteredSession extends SandboxSession {
  constructor(
    private readonly session: SandboxSession,
    private readonly metrics: Metrics,
  ) {
    super();
  }

  async run(command: string, options?: RunOptions): Promise<RunResult> {
    let outcome = 'failed';
    try {
      const result = await this.session.run(command, options);
      outcome = result.killed ?? 'ended';
      return result;
    } finally {
      this.metrics.sandboxStarts.inc({ outcome });
    }
  }

  async start(command: string, options?: RunOptions & { terminal?: TerminalSize }): Promise<RunningCommand> {
    const started = await this.session.start(command, options);
    started.ended.then(
      ({ killed }) => this.metrics.sandboxStarts.inc({ outcome: killed ?? 'ended' }),
      () => this.metrics.sandboxStarts.inc({ outcome: 'failed' }),
    );
    return started;
  }

  override endShared(): Promise<void> {
    return this.session.endShared();
  }

  readFile(path: string): Promise<OpenedFile> {
    return this.session.readFile(path);
  }

  writeFile(path: string, content: string | Buffer | Readable, options?: WriteOptions): Promise<void> {
    return this.session.writeFile(path, content, options);
  }

  appendFile(path: string, content: Buffer): Promise<void> {
    return this.session.appendFile(path, content);
  }

  override get wallClockSeconds(): number | null {
    return this.session.wallClockSeconds;
  }

  override get workdirBytes(): number | null {
    return this.session.workdirBytes;
  }

  override get network(): NetworkReport | null {
    return this.session.network;
  }

  close(): Promise<void> {
    return this.session.close();
  }
}

function limitsInWords({ wallClockSeconds, memoryBytes, processes, diskBytes, outputBytes }: SandboxLimits): string {
  const mib = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MiB`;
  return `Limits of a command: ${wallClockSeconds} s, ${mib(memoryBytes)} of memory, ${processes} processes, ${mib(diskBytes)} of disk, ${mib(outputBytes)} of output, more as far as its workdir has room for it.`;
}

/** What to do about these reasons: on a full disk no program that is installed helps. */
export function adviceFor(reasons: string): string {
  return textSaysFull(reasons) || /nearly full/i.test(reasons) ? DISK_ADVICE : SANDBOX_ADVICE;
}

const DISK_ADVICE = 'What to do: the disk of DATA_DIR is full. Make room on it; a sandbox needs a few kilobytes.';

export const SANDBOX_ADVICE = `What to do: install bubblewrap (apt-get install bubblewrap), and allow user namespaces, by
  sysctl user.max_user_namespaces=15000, and where they exist kernel.unprivileged_userns_clone=1 and
  kernel.apparmor_restrict_unprivileged_userns=0; in a container by --security-opt seccomp=unconfined
  --security-opt apparmor=unconfined --security-opt systempaths=unconfined.
SANDBOX=none runs commands with no protection at all: only where every task is trusted.`;
