import { setTimeout as later } from 'node:timers/promises';
import type { RunOptions } from '../sandbox.js';

/** Bytes in a millisecond of what comes beyond the limit: each MiB takes 2 ms of the thread that also serves others. */
const PACE = 32 * 1024;
/** With less room there is none: each look at it takes its time. */
const LEAST_ROOM = 1024 ** 2;

export interface OutputLimits {
  outputBytes: number;
  keepsOutput: RunOptions['keepsOutput'];
  /** Bytes that the workdir has room for, where the output is kept. */
  room: () => Promise<number>;
}

/** How far the output of a command may go: up to its limit, and beyond it as long as somebody keeps it and has room. */
export class OutputLimit {
  /** When the output went over its limit, by `performance.now()`. */
  private over: number | undefined;
  /** Bytes that may come until there is another look at the room. */
  private allowed = 0;

  constructor(
    private readonly limits: OutputLimits,
    /** Ends the command. */
    private readonly end: () => void,
  ) {}

  /** Called when so many bytes have come, of both streams. A promise when more may be read only later; it never rejects. */
  reached(bytes: number): Promise<void> | undefined {
    const { outputBytes, keepsOutput } = this.limits;
    if (bytes <= outputBytes) return undefined;
    if (keepsOutput?.() !== true) return void this.end();
    if (bytes > this.allowed) return this.look(bytes);
    const now = performance.now();
    this.over ??= now;
    const wait = (bytes - outputBytes) / PACE - (now - this.over);
    return wait > 0 ? later(wait) : undefined;
  }

  private async look(bytes: number): Promise<void> {
    const room = await this.limits.room().catch(() => 0);
    if (room < LEAST_ROOM) this.end();
    else this.allowed = bytes + room;
  }
}
