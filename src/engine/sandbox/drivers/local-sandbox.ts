import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import { enginesIn, sandboxLimitsOf } from '../../../platform/config/config-file.js';
import { findAuthorities } from '../../../platform/config/authorities.js';
import { DataDir } from '../../../platform/config/data-dir.js';
import { Env } from '../../../platform/config/env.js';
import { DiskSpace, UNWATCHED, type WatchedSpace } from '../../../platform/disk/disk-space.js';
import { makeReachable, reachableFolder } from '../../../platform/config/reachable.js';
import type { BoxPlace } from '../launch/box.js';
import type { LaunchCommand } from '../launch/launch.js';
import { Heartbeat } from '../heartbeat.js';
import { isRoot, needProgram, script } from '../host.js';
import { TOGETHER } from '../limits/box-groups.js';
import { ControlGroups } from '../limits/control-groups.js';
import { dropTo, needOpenFiles, prlimit } from '../limits/process-limits.js';
import { type LaunchSpec, ofEachProcess, type Prepared } from './launch-spec.js';
import { entryWords } from './command-words.js';
import { LocalSession } from './local-session.js';
import { needNoDoor, wayOutOf } from './session-way.js';
import { NetworkProxy } from '../network/network-proxy.js';
import { forwarderOf, PROXY_PORT, type WayFiles } from '../network/inside.js';
import { hostsOf, limitsWithin } from '../session-environment.js';
import { Pipes } from '../launch/pipes.js';
import { type Shared, SharedFolders } from '../workdir/shared-folders.js';
import { BOX_SCRIPT, COMMAND_VARIABLES, HOME, OPT_ENV, PIPES, prepareRoot } from './root-folder.js';
import { Sandbox, SandboxError, type SandboxLimits, type SandboxOpenOptions, type SandboxReport } from '../sandbox.js';
import type { Mount } from './programs.js';
import { reportOf } from './trial-report.js';
import { findTools, mountOf, programsOf, type Tool, toolsOf } from './tools.js';
import { FIRST_UID, UserId } from '../workdir/user-ids.js';
import { type TaskFolders, Workdirs } from '../workdir/workdirs.js';

/** The part that all drivers of this host have in common: user, folders, limits, end. Nest builds each driver by this constructor. */
@Injectable()
export abstract class LocalSandbox extends Sandbox {
  readonly limits: SandboxLimits;
  /** False for a trial by the operator command: to divide the group of a login shell moves its processes. */
  dividesGroups = true;
  /** Whether it keeps a command apart from the host; the trial at boot then demands it. */
  protected readonly guards: boolean = true;
  private readonly launchScript = script('launch');
  private readonly initScript = script('init');
  private readonly enterScript = script('enter');
  /** The trial at boot has no lease. */
  private readonly ofTrial: Heartbeat;
  private preparing: Promise<Prepared> | undefined;

  constructor(
    private readonly env: Env,
    private readonly dataDir: DataDir,
    private readonly heartbeat: Heartbeat,
    private readonly space: DiskSpace,
    private readonly proxy: NetworkProxy,
  ) {
    super();
    this.limits = sandboxLimitsOf(env.file);
    this.ofTrial = Heartbeat.withoutLease(env.variables.LEASE_SECONDS);
  }

  /** The program that makes the sandbox, with its arguments, `spec.init` last. */
  protected abstract command(spec: LaunchSpec, prepared: Prepared): string[];
  /** Looks for the driver's own programs; throws {@link SandboxError} when one is missing. Called before the first command. */
  protected abstract prepare(prepared: Prepared): Promise<void>;
  protected abstract report(probed: Map<string, string>): SandboxReport;
  /** Where the folders of a task are found inside. */
  protected inside(_folders: TaskFolders): TaskFolders {
    return { workdir: '/workdir', tmp: '/tmp', home: HOME };
  }
  /** The program of the first process, and the folder of its pipes, as that names them. */
  protected boxFolders(_pipes: string, _prepared: Prepared): { script: string; pipes: string } {
    return { script: BOX_SCRIPT, pipes: PIPES };
  }
  protected environment({ root }: Prepared, _folders: TaskFolders, _shared: Shared): Record<string, string> {
    return { PATH: root.searchPath, HOME, ...COMMAND_VARIABLES };
  }
  /** The folder of a tool as commands name it. */
  protected toolFolder(tool: Tool): string {
    return mountOf(tool).target;
  }
  /** What the driver's program finds on descriptor 6. */
  protected file(_spec: LaunchSpec, _prepared: Prepared): Buffer {
    return Buffer.alloc(0);
  }

  async check(): Promise<SandboxReport> {
    const prepared = await this.ready();
    const taskId = randomUUID();
    const of = { taskId, network: true, heartbeat: this.ofTrial, signal: new AbortController().signal };
    const session = await this.open(of, UNWATCHED);
    try {
      const env = { UNGUARDED: this.guards ? '' : '1', WAY_OUT: this.hosts.length > 0 ? String(PROXY_PORT) : '' };
      // As a service it has six times wallClockSeconds, which may be a second: a machine that boots is slow.
      const probe = session.run(script('probe'), { timeoutSeconds: 30, service: true, network: true, env });
      const { exitCode, stdout, stderr } = await probe.catch(asSandboxError);
      if (exitCode !== 0) throw new SandboxError(`A command in it ended with ${exitCode}: ${stderr.trim()}`);
      const probed = new Map(stdout.split('\n').map((line) => [line.split('=')[0] ?? '', line.split('=')[1] ?? '']));
      return reportOf(
        this.report(probed),
        probed,
        { ...prepared, limits: this.limits, hosts: this.hosts },
        this.dataDir,
      );
    } finally {
      await session.close();
      await prepared.workdirs.remove(taskId);
    }
  }

  override async reserve(taskId: string): Promise<UserId | null> {
    const { workdirs } = await this.ready();
    return workdirs.reserve(taskId);
  }

  async open(options: SandboxOpenOptions, space: WatchedSpace = this.space): Promise<LocalSession> {
    const { taskId, signal, reservation } = options;
    signal.throwIfAborted();
    const prepared = await this.ready();
    if (!this.guards) needNoDoor(options);
    // The caller gives its reservation back itself, for a run may open its session a second time.
    const own = reservation instanceof UserId ? null : await prepared.workdirs.reserve(taskId);
    const user = reservation instanceof UserId ? reservation : own;
    const { folders, shared } = await this.layOut(options, user, prepared).catch((error: unknown) => {
      own?.release();
      throw error;
    });
    const { environment, network = false, boundHosts = [], heartbeat = this.heartbeat } = options;
    const limits = limitsWithin(this.limits, environment?.limits);
    const allowed = hostsOf(this.hosts, environment);
    const hosts = network ? allowed : boundHosts;
    const tools = toolsOf(prepared.tools.tools, environment?.tools);
    const at = { folders, shared, user, limits, tools: tools.map(mountOf), heartbeat };
    const leads = allowed.length > 0 && hosts.length > 0;
    const { certificates } = prepared.authorities;
    const about = { ...options, hosts: allowed, leads, user, authorities: certificates, base: prepared.base };
    // The kernel counts the processes of a user in the whole box: with a group for each command this one is for all of them.
    const all = prepared.resources.groups === null ? 1 : TOGETHER;
    const bounds = { ...limits, processes: all * limits.processes };
    const ofEach = (own?: number) => (own === undefined ? limits.memoryBytes : ofEachProcess(own, prepared));
    const launch = (wayOut: WayFiles | null, place: BoxPlace, own?: number) => {
      const dataBytes = Math.max(limits.memoryBytes, ofEach(own));
      return this.launchCommand({ ...at, ...place, wayOut, dataBytes }, prepared);
    };
    return new LocalSession({
      folders,
      inside: this.inside(folders),
      shared: { ...shared, remove: () => prepared.shared.remove(shared) },
      user,
      hosts,
      leads,
      wayOut: wayOutOf(this.proxy, about),
      secrets: options.secrets,
      release: () => own?.release(),
      limits,
      space,
      empty: async () => {
        await prepared.workdirs.remove(taskId);
        await prepared.workdirs.make(taskId, user);
      },
      resources: { ...prepared.resources, heartbeat },
      shell: prepared.root.shell,
      environment: this.withTools(this.environment(prepared, folders, shared), tools),
      ofSetup: environment !== undefined && this.guards ? `${OPT_ENV.path}/bin` : null,
      variables: environment?.variables ?? {},
      launch,
      words: (command, { memoryBytes: own, ...how }) =>
        entryWords(this.initScript, command, bounds, { ...how, memoryBytes: ofEach(own), session: this.guards }),
      signal,
    });
  }

  override async workdirBytes(taskId: string): Promise<number> {
    return (await this.ready()).workdirs.bytes(taskId);
  }

  override async folders(taskId: string): Promise<Record<string, string>> {
    return { ...(await this.ready()).workdirs.folders(taskId) };
  }

  override async restore(taskId: string, fill: Parameters<Sandbox['restore']>[1]): Promise<void> {
    await (await this.ready()).workdirs.restore(taskId, fill);
  }

  override async taskIds(): Promise<string[]> {
    return (await this.ready()).workdirs.taskIds();
  }

  override async setAside(taskId: string): Promise<() => Promise<void>> {
    return (await this.ready()).workdirs.setAside(taskId);
  }

  async remove(taskId: string): Promise<void> {
    const { workdirs, shared } = await this.ready();
    await workdirs.remove(taskId);
    await shared.removeAll(taskId);
  }

  /** Every session is closed by then. */
  async onApplicationShutdown(): Promise<void> {
    const prepared = await this.preparing?.catch(() => undefined);
    prepared?.resources.pipes.close();
    prepared?.workdirs.close();
  }

  /** What sessions may reach, where this keeps them from everything else. */
  private get hosts(): readonly string[] {
    return this.guards ? this.proxy.hosts : [];
  }

  private async layOut(
    { taskId, project = [], skills = [], signal }: SandboxOpenOptions,
    user: UserId | null,
    prepared: Prepared,
  ): Promise<{ folders: TaskFolders; shared: Shared }> {
    const folders = await prepared.workdirs.make(taskId, user);
    const shared = await prepared.shared.make(taskId, { project, skills }, user?.uid ?? null, signal);
    return { folders, shared };
  }

  private withTools(environment: Record<string, string>, tools: Tool[]): Record<string, string> {
    const paths = tools.map((tool) => programsOf(tool, this.toolFolder(tool)));
    return { ...environment, PATH: [...paths, environment['PATH']].join(':') };
  }

  private ready(): Promise<Prepared> {
    return (this.preparing ??= this.prepareAll());
  }

  private async prepareAll(): Promise<Prepared> {
    needOpenFiles();
    const uid = isRoot() ? FIRST_UID : null;
    const base = reachableFolder(this.dataDir.path, uid);
    const { caFile, tools: listed, programs = [] } = this.env.file.sandbox ?? {};
    if (base !== this.dataDir.path) {
      makeReachable(base);
      writeFileSync(join(this.dataDir.path, 'sandbox.location'), `${base}\n`, { mode: 0o600 });
    }
    const groups = this.dividesGroups ? ControlGroups.find(this.limits) : null;
    const authorities = findAuthorities(caFile);
    const tools = await findTools(listed, base, uid);
    const names = tools.tools.map(({ name }) => name);
    const prepared: Prepared = {
      base,
      authorities,
      tools,
      root: await prepareRoot(base, uid, authorities, names, { programs, engines: enginesIn(this.env.file) }),
      workdirs: await Workdirs.open(base, uid !== null),
      shared: new SharedFolders(base, uid !== null),
      groups,
      resources: {
        pipes: new Pipes(needProgram('mkfifo', 'coreutils'), base),
        groups: typeof groups === 'string' ? null : groups,
        leaky: !this.guards,
      },
    };
    await this.prepare(prepared);
    return prepared;
  }

  /** The whole command line of a box: small parent → (as root) another user → the driver's program → first process. */
  private launchCommand(at: LaunchContext, prepared: Prepared): LaunchCommand {
    const { firstSilenceSeconds, silenceSeconds } = at.heartbeat;
    const silence = [firstSilenceSeconds, silenceSeconds].map((seconds) => seconds.toFixed(3));
    const shell = [needProgram('bash', 'bash'), '--norc', '--noprofile'];
    const [box, { limits, wayOut, dataBytes }] = [this.boxFolders(at.pipes, prepared), at];
    // It starts the commands, and would be bound by what one of them may have.
    const all = { ...limits, processes: TOGETHER * limits.processes, memoryBytes: dataBytes };
    const bounds = prlimit(all, limits.diskBytes);
    const lead = wayOut === null ? [] : forwarderOf(prepared.root.node);
    const spec: LaunchSpec = { ...at, init: [...bounds, ...shell, box.script, box.pipes, ...lead] };
    const drop = at.user === null ? ['--no-new-privs'] : dropTo(at.user.uid);
    const setpriv = [needProgram('setpriv', 'util-linux'), ...drop, '--pdeathsig=KILL', '--'];
    const launch = [...shell, '-c', this.launchScript, 'launch', ...silence];
    const enter = ['/bin/sh', '-c', this.enterScript, 'enter', at.group ?? ''];
    return {
      argv: [...launch, ...enter, ...setpriv, ...this.command(spec, prepared)],
      file: this.file(spec, prepared),
    };
  }
}

/** A sandbox whose trial command is ended from outside does not work. */
function asSandboxError(error: unknown): never {
  if (error instanceof SandboxError) throw error;
  throw new SandboxError(error instanceof Error ? error.message : String(error), { cause: error });
}

/** What is known of a launch before the driver is asked. */
interface LaunchContext extends BoxPlace {
  folders: TaskFolders;
  shared: Shared;
  user: UserId | null;
  limits: SandboxLimits;
  tools: Mount[];
  wayOut: WayFiles | null;
  /** What each of its processes may have. */
  dataBytes: number;
  heartbeat: Heartbeat;
}
