import { createHash } from 'node:crypto';
import { createReadStream, readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import type { Waits } from '../agent/waits.js';
import type { ChangeCounts, InputRepository, LaidIn, PushEvent, RepositoryChanges } from '../agent/input-repository.js';
import type { CheckedTurn } from '../checks/check.js';
import { asRead, bytePaths, inWords, printedBytes } from '../checks/byte-paths.js';
import { type Entry, protectedAmong, type Protects } from '../checks/protection.js';
import type { RunResult } from '../sandbox/run-result.js';
import { SandboxError, type SandboxSession } from '../sandbox/sandbox.js';
import type { InputSkill } from '../skills/task-skills.js';
import type { Base } from './clone.js';
import { RepositoryError, TOO_LARGE } from './repository-error.js';
import type { RepositoryOfTask, RepositoryStore } from './repository-store.js';
import { TaskPush } from './task-push.js';

const HAND_IN = readFileSync(new URL('./hand-in.sh', import.meta.url), 'utf8');
const CLEAR = readFileSync(new URL('./clear-changes.sh', import.meta.url), 'utf8');
/** In one command: each one costs a sandbox. */
const FRESH_APPLY = `set -e\n(\n${HAND_IN}\n)\n${readFileSync(new URL('./fresh-apply.sh', import.meta.url), 'utf8')}`;
const FRESH_LAY = readFileSync(new URL('./fresh-lay.sh', import.meta.url), 'utf8');
/** What the scripts of a fresh folder read, inside. */
const INPUT = '/tmp/millwright-check';
/** The folder of a check outlasts no crash: git(1) need not wait for the disk. */
const GONE_SOON = { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'core.fsync', GIT_CONFIG_VALUE_0: 'none' };
const DIFFERENCE = readFileSync(new URL('./difference.sh', import.meta.url), 'utf8');
/** Where the patch lies that a clone begins with. */
const BEGIN_WITH = '/tmp/millwright-changes.patch';
const CHANGES = CLEAR + readFileSync(new URL('./changes.sh', import.meta.url), 'utf8');

/** The repository of one task, for one run. git(1) runs on the host before the agent does, and from then on in the sandbox alone. */
export class TaskRepository implements InputRepository {
  private base: Base | null = null;

  constructor(
    private readonly store: RepositoryStore,
    private readonly about: RepositoryOfTask,
    private readonly maxPatchBytes: number,
    private readonly signal: AbortSignal,
    /** The changes that it begins with; null: none. */
    private readonly beginsWith: (() => Promise<Readable>) | null = null,
  ) {}

  get recorded(): string | null {
    return this.about.commit;
  }
  get commit(): string | null {
    return this.base?.commit ?? null;
  }
  get branch(): string | null {
    return this.about.push?.branch ?? null;
  }

  async clone(stopping: AbortSignal, waits?: Waits): Promise<string> {
    this.base = await this.store.clone(this.about, AbortSignal.any([this.signal, stopping]), waits);
    return this.base.commit;
  }

  skills(): Promise<InputSkill[]> {
    return Promise.resolve(this.store.skills(this.about.taskId));
  }

  async handIn(open: () => Promise<SandboxSession>): Promise<void> {
    const { taskId } = this.about;
    if (this.store.compares(taskId)) await this.clear(await open());
    const history = this.store.history(taskId);
    if (history === null) return;
    const session = await open();
    const { commit, branch } = this.cloned();
    const SOURCE = this.about.url;
    const clone = { COMMIT: commit, BRANCH: branch ?? 'main', DETACHED: branch === null ? 'yes' : '', SOURCE };
    const PATCH = this.beginsWith === null ? '' : await this.layPatch(session, this.beginsWith);
    const result = await this.run(session, HAND_IN, { env: { ...clone, PATCH }, stdin: createReadStream(history) });
    if (result.exitCode !== 0) {
      await session.run('rm -rf .millwright-repo');
      // What cannot be read is fetched anew by the next run.
      await this.store.remove(taskId);
      throw notHandedIn(result);
    }
    await this.store.handedIn(taskId);
  }

  async changes(session: SandboxSession): Promise<RepositoryChanges> {
    const close = () => this.clear(session);
    try {
      await this.store.beginComparison(this.about.taskId);
      return { ...(await this.compared(session)), close };
    } catch (error) {
      await close().catch(() => undefined);
      throw error;
    }
  }

  /** As of {@link InputRepository}. */
  async difference(session: SandboxSession, folder: string, hasPatch: boolean): Promise<ChangeCounts> {
    const env = { COMMIT: this.cloned().commit, FOLDER: folder, THEIRS: hasPatch ? 'yes' : '' };
    const stdin = createReadStream(this.store.files(this.about.taskId));
    const result = await this.run(session, DIFFERENCE, { env, stdin });
    if (result.exitCode === 0) return countsOf(result.stdout);
    throw new RepositoryError('The changes of the task could not be told from those before it.', {
      cause: failureOf(result),
    });
  }

  /** As of {@link InputRepository}. */
  async layFresh(session: SandboxSession, changes: RepositoryChanges | null, isProtected: Protects): Promise<LaidIn> {
    const { commit, branch } = this.cloned();
    const clone = { COMMIT: commit, BRANCH: branch ?? 'main', DETACHED: branch === null ? 'yes' : '', SOURCE: this.about.url }; // prettier-ignore
    const patch = changes === null || changes.counted.files === 0 ? null : hashed((await changes.reopen()).content);
    if (patch !== null) await session.writeFile(`${INPUT}/patch`, patch.content);
    const env = { ...clone, INPUT, ...GONE_SOON };
    const stdin = createReadStream(this.store.files(this.about.taskId));
    const printed = printedBytes();
    await this.succeeds(session, FRESH_APPLY, { env, stdin, ...printed.how }, 'The changes were not laid in.');
    // The files of the commit lie there.
    if (patch === null) return { changed: [], patchSha256: null };
    const changed = await protectedAmong(differing(printed.bytes()), isProtected);
    await session.writeFile(`${INPUT}/protected`, asRead(changed));
    await this.succeeds(session, FRESH_LAY, { env }, 'The changes were not laid in.');
    return { changed: changed.map(inWords), patchSha256: patch.sha256() };
  }

  async *push(changes: RepositoryChanges | null, checked: CheckedTurn): AsyncGenerator<PushEvent, void, unknown> {
    const { push } = this.about;
    if (push === null) return;
    yield* new TaskPush(this.store, this.about, push, this.cloned(), this.signal).events(changes, checked);
  }

  private async layPatch(session: SandboxSession, open: () => Promise<Readable>): Promise<string> {
    const content = await open();
    try {
      await session.writeFile(BEGIN_WITH, content);
    } finally {
      content.destroy();
    }
    return BEGIN_WITH;
  }

  private async compared(session: SandboxSession): Promise<Omit<RepositoryChanges, 'close'>> {
    const env = { COMMIT: this.cloned().commit };
    const stdin = createReadStream(this.store.files(this.about.taskId));
    const result = await this.run(session, CHANGES, { env, stdin });
    if (result.exitCode !== 0) throw new RepositoryError('The changes were not counted.', { cause: failureOf(result) });
    const [folder = '', figures = ''] = result.stdout.split('\n');
    const counted = countsOf(figures);
    const reopen = () => session.readFile(`${folder}/patch`);
    if (counted.files === 0) return { counted, patch: null, reopen };
    const patch = await reopen();
    if (patch.size <= this.maxPatchBytes) return { counted, patch, reopen };
    patch.content.destroy();
    return { counted: { ...counted, patchOmitted: true }, patch: null, reopen };
  }

  /** Where that fails the next run does it. */
  private async clear(session: SandboxSession): Promise<void> {
    const { exitCode } = await session.run(CLEAR);
    if (exitCode === 0) await this.store.endComparison(this.about.taskId);
  }

  /** Rejects with {@link RepositoryError} when the script does not succeed. */
  private async succeeds(
    session: SandboxSession,
    script: string,
    how: Parameters<SandboxSession['run']>[1],
    failure: string,
  ): Promise<void> {
    const result = await this.run(session, script, how);
    if (result.exitCode !== 0) throw new RepositoryError(failure, { cause: failureOf(result) });
  }

  private cloned(): Base {
    if (this.base === null) throw new Error('The repository is not cloned yet.');
    return this.base;
  }

  private async run(
    session: SandboxSession,
    script: string,
    how: Parameters<SandboxSession['run']>[1],
  ): Promise<RunResult> {
    try {
      return await session.run(script, how);
    } catch (error) {
      this.signal.throwIfAborted();
      if (error instanceof SandboxError) throw error;
      throw new RepositoryError('The repository could not be handed in. Send a message to try again.', {
        cause: error,
      });
    }
  }
}

/** From `:100644 120000 DIGEST DIGEST T` and the path behind each. */
function differing(printed: Buffer): Entry[] {
  const all = bytePaths(printed);
  return all.flatMap((path, at) => (at % 2 === 0 ? [] : [{ path, isLink: all[at - 1]?.split(' ')[1] === '120000' }]));
}

/** The same bytes, and their digest when they are read. */
function hashed(bytes: Readable): { content: Readable; sha256: () => string } {
  const hash = createHash('sha256');
  async function* read(): AsyncGenerator<Buffer> {
    for await (const chunk of bytes as AsyncIterable<Buffer>) {
      hash.update(chunk);
      yield chunk;
    }
  }
  return { content: Readable.from(read()), sha256: () => hash.digest('hex') };
}

/** From `2 files changed, 3 insertions(+), 1 deletion(-)`; nothing is printed where nothing differs. */
function countsOf(figures: string): RepositoryChanges['counted'] {
  const figure = (what: RegExp) => Number(what.exec(figures)?.[1] ?? 0);
  return { files: figure(/(\d+) file/), additions: figure(/(\d+) insertion/), deletions: figure(/(\d+) deletion/) };
}

function notHandedIn(result: RunResult): RepositoryError {
  const full =
    result.killed === 'disk' ||
    (/File too large|signal 25|, its limit is/.test(result.stderr) && !result.stderr.includes('nearly full'));
  const message = full
    ? TOO_LARGE
    : 'The repository was read and could not be laid into the workdir. Send a message to try again.';
  return new RepositoryError(message, { cause: failureOf(result) });
}

function failureOf({ exitCode, killed, stderr }: RunResult): Error {
  return new Error(`git in the sandbox ended with ${killed ?? exitCode}: ${stderr.trim()}`);
}
