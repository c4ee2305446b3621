import type { SandboxSession } from '../../sandbox/sandbox.js';

/** Milliseconds from what a command says to the file that has it. */
const TOGETHER_MS = 200;

type Session = Pick<SandboxSession, 'appendFile' | 'writeFile'>;

/** All that a command says, in a file of the sandbox, up to so many bytes. Until it has a file they wait. */
export class CommandLog {
  private waiting: Buffer[] = [];
  private writing: Promise<void> = Promise.resolve();
  private timer: NodeJS.Timeout | null = null;
  private path: string | null = null;
  /** Null: nothing is taken any more. */
  private left: number | null;
  /** Whether it has, or will have, all that came. */
  isWhole = true;

  constructor(
    private readonly session: Session,
    most: number,
  ) {
    this.left = most;
  }

  /** It has a file from now on, which replaces one that is there: of a command whose worker was lost before anybody knew of it. */
  begin(path: string): void {
    const bytes = Buffer.concat(this.waiting.splice(0));
    this.path = path;
    this.write(() => this.session.writeFile(path, bytes, { noLinks: true }));
  }

  add(chunk: Buffer): void {
    if (chunk.length === 0) return;
    if (chunk.length > (this.left ?? 0)) this.isWhole = false;
    if (this.left === null) return;
    const taken = chunk.subarray(0, this.left);
    this.left -= taken.length;
    this.waiting.push(Buffer.from(taken));
    if (this.left <= 0) this.left = null;
    if (this.path !== null) this.timer ??= setTimeout(() => void this.written(), TOGETHER_MS);
  }

  /** Resolves when the file has what has come so far. Never rejects: a log is no reason to end a command. */
  written(): Promise<void> {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    const { path } = this;
    if (path !== null && this.waiting.length > 0) {
      const bytes = Buffer.concat(this.waiting.splice(0));
      this.write(() => this.session.appendFile(path, bytes));
    }
    return this.writing;
  }

  private write(some: () => Promise<void>): void {
    this.writing = this.writing.then(some).catch(() => {
      // There is no room, or something of the agent's lies there.
      this.left = null;
      this.isWhole = false;
    });
  }
}
