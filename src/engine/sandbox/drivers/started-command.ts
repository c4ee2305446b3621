import { PassThrough } from 'node:stream';
import type { Command } from '../launch/command.js';
import type { RunningCommand } from '../running-command.js';
import type { RunResult } from '../run-result.js';

/** Bytes of input that may wait to be read by the command. */
const WAITING = 1024 ** 2;

/** A command that a session has started, from before it has entered a box. */
export class StartedCommand implements RunningCommand {
  /** What the command reads. */
  readonly input = new PassThrough();
  ended: Promise<RunResult> = new Promise(() => undefined);
  private command: Command | null = null;
  private killed = false;

  endsWith(ended: Promise<RunResult>): void {
    this.ended = ended;
    ended.catch(() => undefined).finally(() => this.input.destroy());
  }

  /** It is in a box: a second time when the first one did not let it begin. */
  entered(command: Command): void {
    this.command = command;
    if (this.killed) command.kill('ended');
  }

  write(bytes: string | Buffer): boolean {
    const { writable, writableLength, readableLength } = this.input;
    if (!writable || writableLength + readableLength + Buffer.byteLength(bytes) > WAITING) return false;
    this.input.write(bytes);
    return true;
  }

  end(): void {
    this.input.end();
  }

  stop(signal?: 'SIGINT' | 'SIGTERM'): void {
    if (signal !== undefined) return this.command?.signal(signal);
    this.killed = true;
    this.command?.kill('ended');
  }
}
