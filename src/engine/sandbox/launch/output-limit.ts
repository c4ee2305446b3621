import type { RunOptions } from '../sandbox.js';
import { type Pace, processPace } from './pace.js';

/** With less room there is none: measuring it takes time. */
const LEAST_ROOM = 1024 ** 2;

export interface OutputLimits {
  outputBytes: number;
  /** So many more are read at the most. What is written over, as progress is, fills no file, and would be read for ever. */
  beyondBytes: number;
  keepsOutput: RunOptions['keepsOutput'];
  /** Bytes that the workdir has room for, where the output is kept. */
  room: () => Promise<number>;
}

/** How far the output of a command may go: up to its limit, and beyond it as long as somebody keeps it and has room. */
export class OutputLimit {
  private bytes = 0;
  /** Bytes that may come until the room is measured again. */
  private allowed = 0;

  constructor(
    private readonly limits: OutputLimits,
    /** Ends the command. */
    private readonly end: () => void,
    private readonly pace: Pace = processPace,
  ) {}

  /**
   * Called when so many bytes have come, of both streams, the last of which have been taken since `began` (`performance.now()`). A promise
   * when more may be read only later; it never rejects.
   */
  reached(bytes: number, began: number): Promise<unknown> | undefined {
    const { outputBytes, beyondBytes, keepsOutput } = this.limits;
    const chunk = bytes - this.bytes;
    this.bytes = bytes;
    if (bytes <= outputBytes) return undefined;
    if (keepsOutput?.() !== true || bytes - outputBytes > beyondBytes) return void this.end();
    const paced = this.pace.taken(began, chunk);
    return bytes > this.allowed ? Promise.all([this.measureRoom(bytes), paced]) : paced;
  }

  private async measureRoom(bytes: number): Promise<void> {
    const room = await this.limits.room().catch(() => 0);
    if (room < LEAST_ROOM) this.end();
    else this.allowed = bytes + room;
  }
}
