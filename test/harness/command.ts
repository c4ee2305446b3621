import type { ChildProcess } from 'node:child_process';

/** A command that runs, and all that it writes. */
export class Command {
  out = '';
  err = '';
  private readonly ended: Promise<number | null>;
  constructor(readonly child: ChildProcess) {
    child.stdout?.on('data', (chunk) => (this.out += String(chunk)));
    child.stderr?.on('data', (chunk) => (this.err += String(chunk)));
    this.ended = new Promise((resolve) => child.once('close', resolve));
  }

  /** Null when a signal has ended it. */
  code(): Promise<number | null> {
    return this.ended;
  }
}
