// The sandbox: where everything that the agent does happens. This file is the seam; the drivers stand beside it.
import type { Duplex, Readable } from 'node:stream';
import type { Heartbeat } from './heartbeat.js';
import type { RunningCommand, TerminalSize } from './running-command.js';
import type { RunResult } from './run-result.js';
import type { WriteOptions } from './write-options.js';
import type { NetworkReport, NetworkUse } from './network/network-use.js';
import type { VaultSecret } from './network/vault.mjs';
import type { SessionEnvironment } from './session-environment.js';
import type { SharedFile, SharedFolder } from './shared-files.js';

/** Limits of one sandbox. Sizes in bytes, times in seconds. Defaults: `sandbox` in the configuration (reference §16). */
export interface SandboxLimits {
  wallClockSeconds: number;
  memoryBytes: number;
  processes: number;
  diskBytes: number;
  /** Of the output of one command that nobody keeps ({@link RunOptions.keepsOutput}). */
  outputBytes: number;
}

/** A secret of a task: `placeholder` stands for the value inside, `bindings` say which requests get it, and where. */
export interface TaskSecret extends VaultSecret {
  /** The variable that has the placeholder. */
  env: string;
}

/** The secrets of a session (reference §24). */
export interface SandboxSecrets {
  all: readonly TaskSecret[];
  /**
   * Told of each request that got a value or was refused one, and of each value that was masked in an answer. @param use `secret` is the name of the
   * secret. It never throws.
   */
  onUse: (use: SecretUse) => void;
  /** Calls back with the secrets from then on, when one has another value, is gone (null), or may be used. What it returns ends that. */
  listen: (changed: (all: readonly TaskSecret[]) => void) => () => void;
}

export interface SecretUse {
  secret: string;
  host: string;
  what: 'used' | 'refused' | 'masked';
}

export interface SandboxOpenOptions {
  /** Names the workdir: one per task, kept until {@link Sandbox.remove}. A UUID. */
  taskId: string;
  /** Shown at `/project/<name>`, read-only, for as long as the session is open. */
  project?: SharedFile[];
  /** Shown at `/skills/<name>/`, as the files of a project. */
  skills?: SharedFolder[];
  /** Whether its commands may have the network that the operator allows; default not. */
  network?: boolean;
  /**
   * Without `network`: the hosts that its secrets are bound to, as they are told, of those that it might reach with one. Its commands reach what the
   * secrets of the moment are bound to among these, and nothing else. Default none: it has no network.
   */
  boundHosts?: readonly string[];
  /** Values for its requests to the network, which nothing inside knows; default none. */
  secrets?: SandboxSecrets | undefined;
  /** Told each second, and at the end, what has come of its network since. It never throws. */
  onNetwork?: ((uses: readonly NetworkUse[]) => void) | undefined;
  /** What holds for its commands in place of what holds for all; default nothing. */
  environment?: SessionEnvironment | undefined;
  /**
   * Takes a connection for each request that a command or program inside sends to `http://127.0.0.1:61080` in origin form (`POST /v1/responses`), for a
   * server of HTTP: the door (reference §30). Those that have a network reach it, also where the session has none. At most 64 at once, each of at most
   * 32 MiB; it is called between `open` and the end of `close`, which ends what is open. Default: nothing is there.
   */
  door?: ((connection: Duplex) => void) | undefined;
  /** What {@link Sandbox.reserve} has given for this run. Without it `open` takes what it needs itself. */
  reservation?: SandboxReservation | null;
  /** By what it lives: its commands end when the leases of their kind are not confirmed. Default: that of runs. */
  heartbeat?: Heartbeat | undefined;
  /** Aborting it kills every process of the session at once; pending calls reject with the signal's reason. */
  signal: AbortSignal;
}

export interface RunOptions {
  /** Extra environment of the command, for example `ANSWER`, beside what every command has (`COMMAND_VARIABLES`, PATH, HOME). */
  env?: Record<string, string>;
  /** Bytes for standard input; without it standard input is empty. */
  stdin?: Readable | string | Buffer;
  /** Wall-clock limit in seconds, at most that of the session, which is the default. */
  timeoutSeconds?: number;
  /** Directory to run in, inside `/workdir`, `/tmp` or the home; default `/workdir`. */
  cwd?: string;
  /**
   * Whether it enters the box that the shared commands of the session have in common: they see and reach each other's processes, `/dev/shm` and
   * the network of the session. Default: it has a box of its own, which ends with it; nothing that the agent has started is in there.
   */
  shared?: boolean;
  /** Whether it has the network of the session ({@link SandboxOpenOptions.network}); default not. Shared commands have it. */
  network?: boolean;
  /**
   * Whether the programs that a setup has put into `/opt/env/bin` are found before others; default not. The agent may write there: what the service
   * runs by itself finds its own.
   */
  prepared?: boolean;
  /** Bytes of each stream that the result has: of the beginning, and of the end. Default 64 KiB each. */
  keep?: { first: number; last: number };
  /**
   * Receives what comes of each stream, as it comes: 0 is standard output, 1 standard error. No more is read until its promise is
   * resolved; it never rejects.
   */
  onOutput?: (stream: 0 | 1, chunk: Buffer) => Promise<void> | void;
  /**
   * Whether all that has come is kept in the workdir. Then the command goes on beyond the output limit, as long as the workdir
   * has room for it. Default: it is not.
   */
  keepsOutput?: () => boolean;
  /** Whether it lives beyond the call that starts it, as a server does: six times as long, and output beyond the limit is read slowly. Default: not. */
  service?: boolean;
  /**
   * Whether it is a program that the service speaks with (reference §28): as a service, without a clock and a limit of the processor's time, with a box and
   * memory of its own, and no command for those who watch the disk: commands end before it. Default: not.
   */
  program?: { memoryBytes: number };
}

/** A file that is open for reading. The caller reads `content` to its end or destroys it. */
export interface OpenedFile {
  /** Bytes that `content` gives. */
  size: number;
  /** Bytes that lie on disk: fewer for a sparse file. Absent where the sandbox does not know. */
  sizeOnDisk?: number;
  content: Readable;
}

/** A workdir that is open for commands. Nothing of a command outlives its `run`, or the end of what was started, and nothing the session. */
export abstract class SandboxSession {
  /**
   * Runs a shell command inside the sandbox and resolves when all its processes are gone.
   * A command that fails, however, is a result; it rejects only when the sandbox itself could not be started
   * ({@link SandboxError}: nothing was run), when somebody else ended it after that (an ordinary error, whose message is
   * for the model), or when the session's signal was aborted.
   */
  abstract run(command: string, options?: RunOptions): Promise<RunResult>;
  /** Ends what shared commands have in common, and those that run: before others rely on what lies in the workdir. */
  endShared(): Promise<void> {
    return Promise.resolve();
  }
  /**
   * Starts a command beside others. Its input stays open, unless `options.stdin` gives it. `terminal`: its streams are one. Rejects as `run`, and
   * with an error for the model when no terminal can be made.
   */
  abstract start(command: string, options?: RunOptions & { terminal?: TerminalSize }): Promise<RunningCommand>;
  /**
   * Opens a regular file for reading. `path` is relative to `/workdir`, or absolute below it, `/tmp`, the home (also `~`), `/project` or `/skills`.
   * Rejects with {@link SandboxFileError} when it is absent, not a regular file or outside; never follows a link out.
   */
  abstract readFile(path: string): Promise<OpenedFile>;
  /** Writes a file, making its folders; replaces it as a whole. Rejects with {@link SandboxFileError} as `readFile`. */
  abstract writeFile(path: string, content: string | Buffer | Readable, options?: WriteOptions): Promise<void>;
  /** Adds to a file, or makes it, as `writeFile` with `noLinks`. */
  abstract appendFile(path: string, content: Buffer): Promise<void>;
  /** What a command may take at most; null: not known here. */
  get wallClockSeconds(): number | null {
    return null;
  }
  /** What the workdir had, with `/tmp` and home, when it was last measured; null when it was not. */
  get workdirBytes(): number | null {
    return null;
  }
  /** What its commands reach, once one of them could reach anything; null until then. */
  get network(): NetworkReport | null {
    return null;
  }
  /** Kills what is left and gives back what `open` has taken. Idempotent. The workdir stays. */
  abstract close(): Promise<void>;
}

/** What {@link Sandbox.reserve} has set aside. */
export abstract class SandboxReservation {
  /** Gives it back. Idempotent; called after the session is closed. */
  abstract release(): void;
}

export interface SandboxReport {
  driver: string;
  /** What is in force here, one sentence each, for the boot log and the README. */
  active: string[];
  /** What this driver cannot do on this machine, one sentence each. */
  missing: string[];
  /** Names of programs that a model may want to know of, as far as commands find them. Absent: not looked for. */
  programs?: string[];
  /** Hosts that a session with a network reaches, as the operator wrote them (reference §16). Absent: none. */
  hosts?: readonly string[];
  /** Tools of the operator that are inside when an environment asks for them: by name and version. Absent: none. */
  tools?: readonly { name: string; version: string }[];
}

/**
 * A way to run commands apart from the host. Contract (reference §15): no network but what the operator allows, none of the service's environment,
 * no inherited descriptor, nothing of the host but a read-only system; limits of time, memory, processes, disk and
 * output; the whole process tree ends with the command, with the session, and with the worker, however that ends.
 *
 * `check` is called once at boot. `reserve` is called once per run, at its start, `open` at most once per run, when a tool
 * first wants it, `workdirBytes` at the end of a run that had calls, `folders` at the end of each, `restore` at the start of one whose task has a snapshot, `remove` when a task is deleted; `taskIds`
 * every ten minutes, and `setAside` for those of them that live on another machine.
 */
export abstract class Sandbox {
  /** Tries the driver for real. Rejects with {@link SandboxError} whose message says why not and what to do. */
  abstract check(): Promise<SandboxReport>;
  /**
   * Sets aside what a session of the task needs and what can run short, before the run does anything. Rejects with
   * {@link SandboxBusyError} when it has run short: the run goes back to the queue. Null: nothing can run short here.
   */
  reserve(_taskId: string): Promise<SandboxReservation | null> {
    return Promise.resolve(null);
  }
  abstract open(options: SandboxOpenOptions): Promise<SandboxSession>;
  /** Measures a task's workdir, with its `/tmp` and home. 0 when there is none; null: not known here. */
  workdirBytes(_taskId: string): Promise<number | null> {
    return Promise.resolve(null);
  }
  /**
   * The folders of a task on this host, whether they are there or not: `workdir`, `tmp` and `home`. Snapshots are made of them where no command
   * runs. Null: they lie elsewhere, and the task has no snapshots.
   */
  folders(_taskId: string): Promise<Record<string, string> | null> {
    return Promise.resolve(null);
  }
  /**
   * Makes the folders of a task again that has none on this host; `fill` writes into empty ones what they hold, owned by
   * the given user (null: that of the process). They are there when all of it is written, and not before. Does nothing when there are some, and
   * where folders lie elsewhere. Rejects with {@link SandboxBusyError} as `reserve`, and with what `fill` throws.
   */
  restore(
    _taskId: string,
    _fill: (folders: Record<string, string>, owner: number | null) => Promise<void>,
  ): Promise<void> {
    return Promise.resolve();
  }
  /** The tasks that have folders on this host, or halves of them. */
  taskIds(): Promise<string[]> {
    return Promise.resolve([]);
  }
  /**
   * Takes the folders of a task out of the way, so that `restore` finds none. That is quick; what it resolves with deletes them, and so does
   * `remove` when it was not called.
   */
  setAside(taskId: string): Promise<() => Promise<void>> {
    return Promise.resolve(() => this.remove(taskId));
  }
  /** Removes a task's workdir, with its `/tmp` and home. Succeeds when there is none. */
  abstract remove(taskId: string): Promise<void>;
}

/** The sandbox itself does not work: an operator's problem, not the command's. */
export class SandboxError extends Error {
  override readonly name: string = 'SandboxError';
}

/** The sandbox works, and cannot open another session at the moment. */
export class SandboxBusyError extends SandboxError {
  override readonly name = 'SandboxBusyError';
  /** @param usual there are as many as the operator wants: nobody is warned. */
  constructor(
    message: string,
    readonly usual = false,
  ) {
    super(message);
  }
}

/** A file of the workdir cannot be read or written as asked. The message is for the model. */
export class SandboxFileError extends Error {
  override readonly name = 'SandboxFileError';
  constructor(
    readonly code: 'not_found' | 'not_a_file' | 'outside' | 'too_large' | 'failed',
    message: string,
  ) {
    super(message);
  }
}
