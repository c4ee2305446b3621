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
  text: string;
  resolve: (reading: Reading) => void;
  reject: (error: Error) => void;
}

/**
 * One thread for the whole process, which reads one text at a time. The shortest text that waits is next: the half-second texts of
 * one tenant hold the small ones of others up by one of them, and not by all.
 */
class FenceThread {
  private worker: Worker | undefined;
  private current: Waiting | undefined;
  private waiting: Waiting[] = [];
  private idle: NodeJS.Timeout | undefined;

  read(text: string): Promise<Reading> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ text, resolve, reject });
      if (this.current === undefined) this.next();
    });
  }

  private next(): void {
    clearTimeout(this.idle);
    this.current = this.waiting.reduce<Waiting | undefined>(
      (least, one) => (least === undefined || one.text.length < least.text.length ? one : least),
      undefined,
    );
    if (this.current === undefined) {
      // The process must not wait for a thread that has nothing to do.
      this.worker?.unref();
      this.idle = setTimeout(() => this.end(), IDLE_MS).unref();
      return;
    }
    this.waiting.splice(this.waiting.indexOf(this.current), 1);
    this.worker ??= this.start();
    this.worker.ref();
    this.worker.postMessage(this.current.text);
  }

  private start(): Worker {
    const worker = new Worker(new URL('./fences.worker.mjs', import.meta.url), { execArgv: [], env: {} });
    worker.on('message', (reading: Reading) => {
      this.current?.resolve(reading);
      this.next();
    });
    // Of a defect: this text fails, and the next one gets a new thread.
    worker.on('error', (error) => {
      this.end();
      this.current?.reject(error);
      this.next();
    });
    return worker;
  }

  private end(): void {
    void this.worker?.terminate();
    this.worker = undefined;
  }
}

const thread = new FenceThread();

/** The fences of a text in order. It takes up to a second for 200,000 characters, the longest message. */
export function fencesOf(text: string): Promise<Reading> {
  // A cheap look first: most messages have no fence.
  if (!text.includes('```') && !text.includes('~~~')) return Promise.resolve({ fences: [] });
  return thread.read(text);
}
