import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import { sandboxLimitsOf } from '../../../platform/config/config-file.js';
import { findAuthorities } from '../../../platform/config/authorities.js';
import { DataDir } from '../../../platform/config/data-dir.js';
import { Env } from '../../../platform/config/env.js';
import { DiskSpace, UNWATCHED, type WatchedSpace } from '../../../platform/disk/disk-space.js';
import { makeReachable, reachableFolder } from '../../../platform/config/reachable.js';
import type { LaunchCommand, LaunchOptions, LaunchResources } from '../launch/command.js';
import { Heartbeat } from '../heartbeat.js';
import { isRoot, needProgram, script } from '../host.js';
import { ControlGroups } from '../limits/control-groups.js';
import { dropTo, needOpenFiles, prlimit } from '../limits/process-limits.js';
import type { LaunchSpec, Prepared } from './launch-spec.js';
import { LocalSession } from './local-session.js';
import { NetworkProxy } from '../network/network-proxy.js';
import { PROXY_PORT, withForwarder } from '../network/inside.js';
import { hostsOf, limitsWithin } from '../session-environment.js';
import { Pipes } from '../launch/pipes.js';
import { ProjectFolders } from '../workdir/project-folders.js';
import { COMMAND_VARIABLES, HOME, OPT_ENV, prepareRoot } from './root-folder.js';
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
  private readonly forwardScript = script('forward');
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
  protected sweep(): LaunchResources['sweep'] {
    return undefined;
  }
  protected environment({ root }: Prepared, _folders: TaskFolders, _project: string | null): Record<string, string> {
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
    const { workdirs } = prepared;
    const taskId = randomUUID();
    const session = await this.open({ taskId, network: true, signal: new AbortController().signal }, UNWATCHED);
    try {
      const env = { UNGUARDED: this.guards ? '' : '1', WAY_OUT: this.hosts.length > 0 ? String(PROXY_PORT) : '' };
      const probe = session.run(script('probe'), { timeoutSeconds: 30, network: true, env });
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
      await workdirs.remove(taskId);
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
    // The caller gives its reservation back itself, for a run may open its session a second time.
    const own = reservation instanceof UserId ? null : await prepared.workdirs.reserve(taskId);
    const user = reservation instanceof UserId ? reservation : own;
    const { folders, project } = await this.layOut(options, user, prepared).catch((error: unknown) => {
      own?.release();
      throw error;
    });
    const { environment, network = false, boundHosts = [] } = options;
    const limits = limitsWithin(this.limits, environment?.limits);
    const allowed = hostsOf(this.hosts, environment);
    const hosts = network ? allowed : boundHosts;
    const tools = toolsOf(prepared.tools.tools, environment?.tools);
    const at = { folders, project, user, limits, tools: tools.map(mountOf) };
    const leaves = allowed.length > 0 && hosts.length > 0;
    const { onNetwork: onUse = () => undefined } = options;
    const way = {
      taskId,
      user,
      hosts: allowed,
      bound: !network,
      onUse,
      authorities: prepared.authorities.certificates,
    };
    const launch = (command: string[], how: LaunchOptions) => this.launchCommand(command, { ...how, ...at }, prepared);
    return new LocalSession({
      folders,
      inside: this.inside(folders),
      project: project === null ? null : { path: project, remove: () => prepared.projects.remove(project) },
      user,
      hosts,
      wayOut: leaves ? (secrets, onRefusal) => this.proxy.open(prepared.base, { ...way, secrets, onRefusal }) : null,
      secrets: options.secrets,
      release: () => own?.release(),
      limits,
      space,
      empty: async () => {
        await prepared.workdirs.remove(taskId);
        await prepared.workdirs.make(taskId, user);
      },
      resources: prepared.resources,
      shell: prepared.root.shell,
      environment: this.withTools(this.environment(prepared, folders, project), tools),
      ofSetup: environment !== undefined && this.guards ? `${OPT_ENV.path}/bin` : null,
      variables: environment?.variables ?? {},
      launch,
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
    const { workdirs, projects } = await this.ready();
    await workdirs.remove(taskId);
    await projects.removeAll(taskId);
  }

  /** Nest calls it at the end; every session is closed by then. */
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
    { taskId, project: files = [], signal }: SandboxOpenOptions,
    user: UserId | null,
    { workdirs, projects }: Prepared,
  ): Promise<{ folders: TaskFolders; project: string | null }> {
    const folders = await workdirs.make(taskId, user);
    const project = files.length === 0 ? null : await projects.make(taskId, files, user?.uid ?? null, signal);
    return { folders, project };
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
    if (base !== this.dataDir.path) {
      makeReachable(base);
      writeFileSync(join(this.dataDir.path, 'sandbox.location'), `${base}\n`, { mode: 0o600 });
    }
    const sweep = this.sweep();
    const groups = this.dividesGroups ? ControlGroups.find(this.limits) : null;
    const authorities = findAuthorities(this.env.file.sandbox?.caFile);
    const tools = await findTools(this.env.file.sandbox?.tools, base, uid);
    const prepared: Prepared = {
      base,
      authorities,
      tools,
      root: await prepareRoot(
        base,
        uid,
        authorities,
        tools.tools.map(({ name }) => name),
      ),
      workdirs: await Workdirs.open(base, uid !== null),
      projects: new ProjectFolders(base, uid !== null),
      groups,
      resources: {
        pipes: new Pipes(needProgram('mkfifo', 'coreutils')),
        heartbeat: this.heartbeat,
        groups: typeof groups === 'string' ? null : groups,
        ...(sweep && { sweep }),
      },
    };
    await this.prepare(prepared);
    return prepared;
  }

  /** The whole command line: small parent → (as root) another user → the driver's program → first process → command. */
  private launchCommand(command: string[], at: LaunchContext, prepared: Prepared): LaunchCommand {
    const { firstSilenceSeconds, silenceSeconds } = prepared.resources.heartbeat;
    const silence = [firstSilenceSeconds, silenceSeconds].map((seconds) => seconds.toFixed(3));
    const shell = needProgram('bash', 'bash');
    const inside = at.wayOut === null ? command : withForwarder(this.forwardScript, prepared.root.node, command);
    const init = ['/bin/sh', '-c', this.initScript, 'init', at.cwd, ...inside];
    const { folders, project, wayOut, limits, tools } = at;
    const spec: LaunchSpec = {
      folders,
      project,
      wayOut,
      limits,
      tools,
      init: [...prlimit(limits, at.fileBytes), ...init],
    };
    const drop = at.user === null ? ['--no-new-privs'] : dropTo(at.user.uid);
    const setpriv = [needProgram('setpriv', 'util-linux'), ...drop, '--pdeathsig=KILL', '--'];
    // On a socket as standard input bash takes itself for a remote login, and reads the `.bashrc` of the user who starts it.
    const launch = [shell, '--norc', '--noprofile', '-c', this.launchScript, 'launch', ...silence];
    const enter = ['/bin/sh', '-c', this.enterScript, 'enter', at.group?.path ?? ''];
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
interface LaunchContext extends LaunchOptions {
  folders: TaskFolders;
  project: string | null;
  user: UserId | null;
  limits: SandboxLimits;
  tools: Mount[];
}
