// The fenced code blocks of a Markdown text, read in a thread beside the event loop (docs/decisions/0024).
import { Worker } from 'node:worker_threads';

export interface Fence {
  /** What stands behind the opening fence, without the white space around it. */
  info: string;
  content: string;
  /** Of the opening fence, from 1. */
  line: number;
}

/** `quotesAt`: the line of the quote at which the thread gave the text up, because it has too many in a row. */
export type Reading = { fences: Fence[] } | { quotesAt: number };

/** A thread costs 40 ms to start and 10 MB, so that it stays for the next text, but not for ever. Milliseconds. */
const IDLE_MS = 5_000;

interface Waiting {
  resolve: (reading: Reading) => void;
  reject: (error: Error) => void;
}

/** One thread for the whole process. It answers in the order in which it was asked. */
class FenceThread {
  private worker: Worker | undefined;
  private waiting: Waiting[] = [];
  private idle: NodeJS.Timeout | undefined;

  read(text: string): Promise<Reading> {
    clearTimeout(this.idle);
    const worker = (this.worker ??= this.start());
    // The process must not wait for a thread that nobody waits for, nor end before one that somebody does.
    worker.ref();
    return new Promise((resolve, reject) => {
      this.waiting.push({ resolve, reject });
      worker.postMessage(text);
    });
  }

  private start(): Worker {
    const worker = new Worker(new URL('./fences.worker.mjs', import.meta.url), { execArgv: [], env: {} });
    worker.on('message', (reading: Reading) => {
      this.waiting.shift()?.resolve(reading);
      if (this.waiting.length > 0) return;
      worker.unref();
      this.idle = setTimeout(() => this.end(worker), IDLE_MS).unref();
    });
    // Of a defect: its texts fail, and the next one gets a new thread.
    worker.on('error', (error) => {
      const waiting = this.waiting.splice(0);
      this.end(worker);
      for (const { reject } of waiting) reject(error);
    });
    return worker;
  }

  private end(worker: Worker): void {
    this.worker = undefined;
    void worker.terminate();
  }
}

const thread = new FenceThread();

/** The fences of a text in order. It takes up to a second for 200,000 characters, the longest message. */
export function fencesOf(text: string): Promise<Reading> {
  // A cheap look first: most messages have no fence.
  if (!text.includes('```') && !text.includes('~~~')) return Promise.resolve({ fences: [] });
  return thread.read(text);
}
