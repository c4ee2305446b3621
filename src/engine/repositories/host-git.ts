import { spawn } from 'node:child_process';
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { findProgram } from '../sandbox/host.js';
import { giveWay } from '../sandbox/limits/give-way.js';

/** A write beyond the limit of a file is an error that git(1) names, and not the end of a part of it. */
const TELLS_SIZE = `trap '' XFSZ; exec "$@"`;

/** What is kept of what it prints; more than the refs of one name. Of all branches of a host it may be a part. */
export const MAX_OUTPUT = 256 * 1024;

/**
 * It knows nothing of this host: neither its configuration nor its environment. Nothing is started by what a repository holds:
 * hooks, filters, credential helpers and submodules are off, and so are redirects and further protocols. A repository of the operator may
 * be somebody else's (`safe.directory`): upload-pack(1) takes nothing from its configuration that starts a program.
 */
const CONFIGURATION = `[core]
	hooksPath = /dev/null
	attributesFile = /dev/null
	fsmonitor = false
	askPass =
	protectHFS = true
	protectNTFS = true
[credential]
	helper =
[fetch]
	recurseSubmodules = false
	unpackLimit = 1
[gc]
	auto = 0
[maintenance]
	auto = false
[http]
	followRedirects = false
	lowSpeedLimit = 1000
	lowSpeedTime = 60
	proxy =
[protocol]
	version = 2
[push]
	negotiate = true
	gpgSign = false
[safe]
	directory = *
[submodule]
	recurse = false
[uploadpack]
	allowAnySHA1InWant = true
`;

/** Whose commits they are. */
const IDENTITY = { NAME: 'Millwright', EMAIL: 'millwright@localhost' };

/** git(1) has ended with an error. The message is what it said: for the operator. */
export class GitError extends Error {
  override readonly name = 'GitError';
}

export interface GitOptions {
  /** A folder of its own, for its configuration and its repository; nothing in it is from a task. */
  folder: string;
  /** The only protocol that it speaks. */
  protocol: 'https' | 'file';
  /** Settings of this repository, name → value: they may hold a credential, so they stand in no file and in no command line. */
  settings: Record<string, string>;
  /** Bytes that one file may have. */
  fileBytes: number;
  memoryBytes: number;
  seconds: number;
  signal: AbortSignal;
}

interface Streams {
  input?: string;
  inputFile?: string;
  output?: string;
}

/** git(1) on the host, for one bare repository that the service has made itself. It never sees the workdir of a task. */
export class HostGit {
  readonly repository: string;
  private readonly environment: Record<string, string>;

  constructor(private readonly options: GitOptions) {
    const { folder, protocol, settings } = options;
    this.repository = join(folder, 'git');
    const configuration = join(folder, 'config');
    writeFileSync(configuration, CONFIGURATION, { mode: 0o600 });
    const numbered = Object.entries(settings).flatMap(([name, value], index): [string, string][] => [
      [`GIT_CONFIG_KEY_${index}`, name],
      [`GIT_CONFIG_VALUE_${index}`, value],
    ]);
    this.environment = {
      PATH: '/usr/local/bin:/usr/bin:/bin',
      HOME: folder,
      LC_ALL: 'C',
      GIT_ALLOW_PROTOCOL: protocol,
      GIT_CONFIG_GLOBAL: configuration,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_DIR: this.repository,
      GIT_NO_LAZY_FETCH: '1',
      GIT_TERMINAL_PROMPT: '0',
      GIT_AUTHOR_NAME: IDENTITY.NAME,
      GIT_AUTHOR_EMAIL: IDENTITY.EMAIL,
      GIT_COMMITTER_NAME: IDENTITY.NAME,
      GIT_COMMITTER_EMAIL: IDENTITY.EMAIL,
      GIT_CONFIG_COUNT: String(Object.keys(settings).length),
      ...Object.fromEntries(numbered),
    };
  }

  /**
   * Runs it and resolves with what it printed, or with nothing when that goes to a new file. It reads a text, or a file. Rejects
   * with {@link GitError}, and with the reason of the signal.
   */
  async run(args: string[], { input = '', inputFile, output }: Streams = {}): Promise<string> {
    const { signal } = this.options;
    signal.throwIfAborted();
    const given = inputFile === undefined ? null : openSync(inputFile, 'r');
    let file: number | null = null;
    try {
      file = output === undefined ? null : openSync(output, 'wx', 0o600);
      return await this.spawn(args, given ?? input, file);
    } finally {
      for (const opened of [given, file]) if (opened !== null) closeSync(opened);
    }
  }

  private spawn(args: string[], input: string | number, file: number | null): Promise<string> {
    const { signal, folder } = this.options;
    const [program = '', ...more] = this.command(args);
    return new Promise((resolve, reject) => {
      // A session and a group of its own: all that it has started gives way to the service, and ends with it.
      const options = { cwd: folder, env: this.environment, detached: true } as const;
      const given = typeof input === 'number' ? input : 'pipe';
      const child = spawn(program, more, { ...options, stdio: [given, file ?? 'pipe', 'pipe'] });
      if (child.pid !== undefined) giveWay(child.pid);
      const [printed, said] = [collected(child.stdout), collected(child.stderr)];
      const end = () => child.pid !== undefined && killGroup(child.pid);
      signal.addEventListener('abort', end, { once: true });
      child.once('error', (error) => reject(new GitError(error.message)));
      child.once('close', (code, by) => {
        signal.removeEventListener('abort', end);
        if (signal.aborted) reject(signal.reason as Error);
        else if (code === 0) resolve(printed());
        else reject(new GitError(`git ${args[0]} ended with ${by ?? code}: ${said().trim()}`));
      });
      child.stdin?.on('error', () => undefined);
      child.stdin?.end(input);
    });
  }

  /** timeout(1) outlives a worker that is killed, and ends what that has left. */
  private command(args: string[]): string[] {
    const { fileBytes, memoryBytes, seconds } = this.options;
    const limits = [`--fsize=${fileBytes}`, `--data=${memoryBytes}`, '--core=0'];
    return [
      ...[program('timeout'), '--signal=KILL', String(seconds)],
      ...[program('prlimit'), ...limits, '--'],
      ...['/bin/sh', '-c', TELLS_SIZE, 'git', program('git'), ...args],
    ];
  }
}

function program(name: string): string {
  const path = findProgram(name);
  if (path === null) throw new GitError(`The program ${name} is missing on this host.`);
  return path;
}

function collected(stream: Readable | null): () => string {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream?.on('data', (chunk: Buffer) => {
    if (bytes < MAX_OUTPUT) chunks.push(chunk);
    bytes += chunk.length;
  });
  return () => Buffer.concat(chunks).toString().toWellFormed();
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Gone already.
  }
}
