import { setTimeout as later } from 'node:timers/promises';
import type { RunOptions } from '../sandbox.js';

/** With less room there is none: measuring it takes time. */
const LEAST_ROOM = 1024 ** 2;
/** What taking output costs is multiplied by this: the thread, which also serves others, spends a fifth of its time on it. */
const SHARE = 5;
/** Bytes in a millisecond of what is not measured: reading a chunk, and handing it to the disk. */
const UNSEEN = 1024 ** 2;
/** A timer is no finer. What is not waited for now is waited for with the next chunk. */
const LEAST_MS = 1;

export interface OutputLimits {
  outputBytes: number;
  /** So many more are read at the most. What is written over, as progress is, fills no file, and would be read for ever. */
  beyondBytes: number;
  keepsOutput: RunOptions['keepsOutput'];
  /** Bytes that the workdir has room for, where the output is kept. */
  room: () => Promise<number>;
}

/** The clock, for tests. */
interface Clock {
  now: () => number;
  sleep: (ms: number) => Promise<void>;
}

const clock: Clock = { now: () => performance.now(), sleep: (ms) => later(ms, undefined, { ref: false }) };

/**
 * How fast output beyond the limit is read. What a chunk costs depends on what is in it, by a factor of hundreds, so the time counts and
 * not the bytes. It is one for all commands of the process, and who was quiet has saved nothing for later.
 */
export class Pace {
  /** When there may be more, by the clock. */
  private next = 0;

  constructor(private readonly clock: Clock) {}

  /** Called when a chunk has been taken, since `began`. A promise when the next one has to wait for it; it never rejects. */
  taken(began: number, bytes: number): Promise<void> | undefined {
    const now = this.clock.now();
    this.next = Math.max(began, this.next) + SHARE * (now - began + bytes / UNSEEN);
    const wait = this.next - now;
    return wait < LEAST_MS ? undefined : this.clock.sleep(wait);
  }
}

const processPace = new Pace(clock);

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
