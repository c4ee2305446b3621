import { spawn } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { needProgram } from '../host.js';
import { SandboxBusyError, SandboxError, SandboxReservation } from '../sandbox.js';

/** First of the user ids that sandboxes run under when the service is root; none of them has an account. */
export const FIRST_UID = 64_001;
const LAST_UID = 64_999;
const ALL = Array.from({ length: LAST_UID - FIRST_UID + 1 }, (_, index) => FIRST_UID + index);

/** A folder of the host, because a user id means the same to all installations on it. Only root writes in `/run`. */
const HOST_FOLDERS = ['/run/millwright-users'];
const HOLDER = 'holder.';
const MUTEX = 'sweep.lock';
/** A sweep that another process does not end within so many seconds is left out: that process may be stopped. */
const MUTEX_SECONDS = 5;
/** What flock(1) exits with when somebody else has the lock. */
const TAKEN = 75;

/** The user id of one session, and of its group. */
export class UserId extends SandboxReservation {
  private released = false;

  constructor(
    readonly uid: number,
    private readonly free: () => void,
  ) {
    super();
  }

  release(): void {
    // Only once: the same claim may be another session's by now.
    if (!this.released) this.free();
    this.released = true;
  }
}

/**
 * The user ids of a host and who has them: one session each, over all processes of the service. Only root can claim one,
 * because the claims lie in a folder of root's.
 *
 * A process locks one file, its holder, for as long as it lives (flock(2)); the kernel frees the lock however the process
 * ends. A claim is a symbolic link from the user id to the holder: symlink(2) makes it or finds it taken, in 50 µs. A lock
 * for each session would need a flock(1) each, since Node has none: 5 ms and 0.7 ms of CPU. The claims of a dead process
 * are swept away when the next one boots, and when a claim is in the way.
 */
export class UserIds {
  private readonly holder = HOLDER + randomBytes(8).toString('hex');
  /** Those that this process has claimed. */
  private readonly live = new Set<number>();
  private sweeping: Promise<void> | undefined;
  private restoring: Promise<void> | undefined;
  /** Open, and with that locked, until this process ends. */
  private lock: number | undefined;

  /** @param folder Belongs to root alone. */
  constructor(private readonly folder: string) {}

  /** One sentence when other installations on this host do not see the claims; for everybody, so without the folder. */
  get missing(): string[] {
    if (HOST_FOLDERS.includes(this.folder)) return [];
    const folders = HOST_FOLDERS.join(' and ');
    return [
      `${folders} cannot be used, so the user ids of sandboxes are claimed for this installation alone: another one on this host may use the same ones.`,
    ];
  }

  /** Makes the holder of this process and sweeps. Call it once, before the first claim. Rejects with {@link SandboxError}. */
  async open(): Promise<void> {
    try {
      await this.makeHolder();
      await this.sweep();
    } catch (error) {
      throw this.unusable(error);
    }
  }

  /**
   * Claims a user id: `preferred`, if it is one of ours and free, else any. Rejects with {@link SandboxBusyError} when every
   * one is claimed by a living process, and with {@link SandboxError} when the folder of the claims cannot be used.
   */
  async claim(preferred: number | null): Promise<UserId> {
    try {
      if (!existsSync(join(this.folder, this.holder))) await this.restore();
      return await this.claimFree(preferred);
    } catch (error) {
      throw this.unusable(error);
    }
  }

  private async claimFree(preferred: number | null): Promise<UserId> {
    const accounts = accountIds();
    const usable = ALL.filter((uid) => !accounts.has(uid));
    if (preferred !== null && usable.includes(preferred)) {
      const user = this.tryClaim(preferred) ?? (await this.sweep(), this.tryClaim(preferred));
      if (user !== null) return user;
    }
    const user = this.tryClaimAny(usable) ?? (await this.sweep(), this.tryClaimAny(usable));
    if (user !== null) return user;
    throw new SandboxBusyError(`No user id from ${FIRST_UID} to ${LAST_UID} is free for a sandbox.`);
  }

  private unusable(error: unknown): SandboxError {
    if (error instanceof SandboxError) return error;
    const reason = error instanceof Error ? error.message : String(error);
    return new SandboxError(`User ids cannot be claimed in ${this.folder}: ${reason}`, { cause: error });
  }

  private async makeHolder(): Promise<void> {
    // Locked before it has its name: nobody finds one that seems to be dead.
    const draft = `draft.${this.holder}`;
    const lock = this.openFile(draft);
    try {
      await locked(lock, '--nonblock');
      renameSync(join(this.folder, draft), join(this.folder, this.holder));
    } catch (error) {
      closeSync(lock);
      throw error;
    }
    if (this.lock !== undefined) closeSync(this.lock);
    this.lock = lock;
  }

  /**
   * Makes the holder and the claims of the living sessions again, after somebody has removed the folder or its files: a sweep
   * would take the user ids of this process for free.
   */
  private restore(): Promise<void> {
    return (this.restoring ??= this.restoreNow().finally(() => (this.restoring = undefined)));
  }

  private async restoreNow(): Promise<void> {
    const mutex = this.openFile(MUTEX);
    try {
      if (!(await locked(mutex, '--timeout', String(MUTEX_SECONDS)))) {
        throw new SandboxBusyError(`Another process does not end its sweep of ${this.folder}.`);
      }
      await this.makeHolder();
      for (const uid of this.live) this.link(uid);
    } finally {
      closeSync(mutex);
    }
  }

  /** For the end of the process: no claim is left by then. */
  close(): void {
    if (this.lock === undefined) return;
    rmSync(join(this.folder, this.holder), { force: true });
    closeSync(this.lock);
    this.lock = undefined;
  }

  private tryClaimAny(usable: number[]): UserId | null {
    const claimed = new Set(readdirSync(this.folder));
    const free = usable.filter((uid) => !claimed.has(String(uid)));
    // Begins at a random one: else processes that claim at the same moment would all try the same.
    const start = randomInt(Math.max(1, free.length));
    for (const uid of [...free.slice(start), ...free.slice(0, start)]) {
      const user = this.tryClaim(uid);
      if (user !== null) return user;
    }
    return null;
  }

  private tryClaim(uid: number): UserId | null {
    // An id of this process may have no claim for a moment.
    if (this.live.has(uid) || !this.link(uid)) return null;
    this.live.add(uid);
    return new UserId(uid, () => this.free(uid));
  }

  /** Whether the claim of this user id was made; it was not when there is one. */
  private link(uid: number): boolean {
    try {
      symlinkSync(this.holder, join(this.folder, String(uid)));
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      return false;
    }
  }

  private free(uid: number): void {
    this.live.delete(uid);
    const claim = join(this.folder, String(uid));
    // Another process may have claimed it after somebody had removed our claim.
    if (linkTarget(claim) === this.holder) rmSync(claim, { force: true });
  }

  private sweep(): Promise<void> {
    return (this.sweeping ??= this.sweepNow().finally(() => (this.sweeping = undefined)));
  }

  /** Removes the claims of processes that have ended. Under a lock, or it could remove what a second sweep has freed already. */
  private async sweepNow(): Promise<void> {
    const mutex = this.openFile(MUTEX);
    try {
      if (!(await locked(mutex, '--timeout', String(MUTEX_SECONDS)))) return;
      const dead = new Set<string>();
      for (const name of readdirSync(this.folder)) {
        if (name.startsWith(HOLDER) && name !== this.holder && (await this.isDead(name))) dead.add(name);
      }
      this.forget(dead);
    } finally {
      closeSync(mutex);
    }
  }

  private async isDead(holder: string): Promise<boolean> {
    const file = this.openFile(holder);
    try {
      return await locked(file, '--nonblock');
    } finally {
      closeSync(file);
    }
  }

  private forget(dead: Set<string>): void {
    for (const name of readdirSync(this.folder).filter((one) => /^\d+$/.test(one))) {
      const claim = join(this.folder, name);
      const holder = linkTarget(claim);
      if (holder === null) continue;
      if (dead.has(holder) || !existsSync(join(this.folder, holder))) rmSync(claim, { force: true });
    }
    for (const holder of dead) rmSync(join(this.folder, holder), { force: true });
  }

  private openFile(name: string): number {
    const { O_CREAT, O_NOFOLLOW, O_RDWR } = constants;
    return openSync(join(this.folder, name), O_CREAT | O_NOFOLLOW | O_RDWR, 0o600);
  }
}

/** The folder for the claims: one for the host, or one in `base` where that cannot be made. Only root may write there. */
export function claimsFolder(base: string, ofHost = HOST_FOLDERS): string {
  for (const folder of [...ofHost, join(base, 'users')]) {
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      accessSync(folder, constants.W_OK);
    } catch {
      continue;
    }
    const { uid, mode } = lstatSync(folder);
    if (uid === 0 && (mode & 0o022) === 0) return folder;
  }
  throw new SandboxError(`No folder for the claims of user ids: ${[...ofHost, base].join(' and ')} cannot be used.`);
}

/** Whether the lock of an open file is ours now, and held until all that have the descriptor have closed it. */
async function locked(descriptor: number, ...options: string[]): Promise<boolean> {
  const flock = needProgram('flock', 'util-linux');
  // Node cannot lock a file. A child that inherits the open file can: the lock belongs to that, not to the process.
  const child = spawn(flock, [...options, '--conflict-exit-code', String(TAKEN), '3'], {
    env: {},
    stdio: ['ignore', 'ignore', 'ignore', descriptor],
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code === 0 || code === TAKEN) return code === 0;
  throw new SandboxError(`flock ended with ${String(code)}: the claims of user ids need a file system with locks.`);
}

/** Null when somebody has removed the link meanwhile. */
function linkTarget(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return null;
  }
}

function accountIds(): Set<number> {
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
  return new Set(lines.map((line) => Number(line.split(':')[2])));
}
