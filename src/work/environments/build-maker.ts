import { Injectable } from '@nestjs/common';
import { TaskRepository } from '../../engine/repositories/task-repository.js';
import { RepositoryStore } from '../../engine/repositories/repository-store.js';
import type { Heartbeat } from '../../engine/sandbox/heartbeat.js';
import type { RunResult } from '../../engine/sandbox/run-result.js';
import type { SandboxOpenOptions, SandboxSession } from '../../engine/sandbox/sandbox.js';
import { OPT_ENV } from '../../engine/sandbox/drivers/root-folder.js';
import { SandboxSelector } from '../../engine/sandbox/sandbox-selector.js';
import { type Definition, folderOf, sessionOf } from '../../resources/environments/definition.js';
import type { BuildLog } from './build-log.js';
import type { BuildToMake } from './builds.sql.js';

/** A build that did not succeed, by what its environment says: it is not tried again by itself. The message is for people. */
export class BuildError extends Error {}

/** The longest time for all commands of a build together. Seconds. */
const LONGEST_SECONDS = 30 * 60;

/** Says in the clone of which repository it is: a task lays its own commit over it (hand-in.sh). */
const MARK = `if [ -d repo/.git ] && [ ! -L repo ]; then printf '%s' "$SOURCE" >repo/.git/millwright-build; fi`;

/** What a setup finds at `/opt/env` is in its home, so that the build has it. */
const MAKE_OPT_ENV = `mkdir -p ~/${OPT_ENV.inHome}`;

/** What a session of a build or of a trial has of the job that it is opened for. */
type SessionWays = Pick<SandboxOpenOptions, 'secrets' | 'signal'> & { heartbeat: Heartbeat };

/** Makes the folders of a build: those of a task whose id is the build's. */
@Injectable()
export class BuildMaker {
  constructor(
    private readonly sandboxes: SandboxSelector,
    private readonly repositories: RepositoryStore,
  ) {}

  /**
   * Clones the repository, and runs the commands of `setup` in it, one after the other, until one fails. The folders stay. Rejects with
   * {@link BuildError}, with `RepositoryError`, with `SandboxError`, and with the reason of the signal.
   * @param commit to begin at; null: as the environment names it.
   */
  async make(build: BuildToMake, commit: string | null, ways: SessionWays, log: BuildLog): Promise<void> {
    const { signal } = ways;
    const within = AbortSignal.timeout(LONGEST_SECONDS * 1000);
    const session = await this.open(build, { ...ways, signal: AbortSignal.any([signal, within]) });
    try {
      await this.bringIn(build, commit, session, log, signal);
      await session.run(MAKE_OPT_ENV);
      for (const command of build.definition.setup) await this.step(build, command, session, log);
      const source = build.definition.repository?.url;
      if (source !== undefined) await session.run(MARK, { env: { SOURCE: source } });
    } catch (error) {
      signal.throwIfAborted();
      if (!within.aborted) throw error;
      throw new BuildError(`The setup took longer than ${LONGEST_SECONDS / 60} minutes.`, { cause: error });
    } finally {
      await session.close();
    }
  }

  /** Removes what lies here of a build, or of an attempt at one. */
  async remove(buildId: string): Promise<void> {
    await this.sandboxes.current.remove(buildId);
    await this.repositories.remove(buildId);
  }

  /** A session with the network and the secrets of an environment. @param taskId by which its folders are named. */
  open({ id: taskId, definition }: { id: string; definition: Definition }, ways: SessionWays): Promise<SandboxSession> {
    return this.sandboxes.open({ taskId, network: true, environment: sessionOf(definition), ...ways });
  }

  private async bringIn(
    { id, workspace, definition }: BuildToMake,
    commit: string | null,
    session: SandboxSession,
    log: BuildLog,
    signal: AbortSignal,
  ): Promise<void> {
    if (definition.repository === null) return;
    const { url, ref } = definition.repository;
    log.say(`The repository at ${url} is cloned.`);
    const about = { taskId: id, title: '', workspace, url, ref, commit, push: null };
    const repository = new TaskRepository(this.repositories, about, 0, signal);
    await repository.clone(signal);
    await repository.handIn(() => Promise.resolve(session));
  }

  private async step(
    { definition }: BuildToMake,
    command: string,
    session: SandboxSession,
    log: BuildLog,
  ): Promise<void> {
    log.say(`$ ${command}`);
    const result = await session.run(command, {
      network: true,
      prepared: true,
      cwd: folderOf(definition),
      onOutput: log.add,
      // Of all that it writes the log has the end: it may write more than a command of a task whose output nobody keeps.
      keepsOutput: () => true,
    });
    if (result.exitCode === 0) return;
    // What the sandbox adds for itself is in no stream.
    if (result.killed !== null) log.say(result.stderr.trimEnd().split('\n').at(-1) ?? '');
    throw new BuildError(`${inWords(result)}: ${inShort(command)}`);
  }
}

function inWords({ exitCode, killed }: RunResult): string {
  switch (killed) {
    case null:
      return `A command of setup ended with ${exitCode}`;
    case 'timeout':
      return 'A command of setup took too long';
    case 'memory':
      return 'A command of setup needed more memory than there is';
    case 'disk':
      return 'A command of setup needed more disk than there is';
    case 'output':
      return 'A command of setup wrote too much';
  }
}

function inShort(command: string): string {
  const [line = ''] = command.split('\n');
  return line.length > 200 || line !== command ? `${line.slice(0, 200)}…` : line;
}
