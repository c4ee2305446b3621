// A thread beside the event loop, for work that would block it too long (docs/decisions/0024).
import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';

/** A thread costs 40 ms to start and 10 MB, so that it stays for the next question, but not for ever. Milliseconds. */
const IDLE_MS = 5_000;

/** What the thread posts when the time of a question begins to count. */
const BEGUN = 'begun';
/** Posted instead of that to limit the processor time of the thread, which the system knows by this number. Milliseconds. */
interface Working {
  working: number | null;
  workMs: number;
}
/** The most time for one unit of processor time: on a busy machine others have the processor meanwhile. */
const LONGEST_WAIT = 50;

/** The thread was ended because a question took longer than it may. */
export class ThreadTimeoutError extends Error {
  override readonly name = 'ThreadTimeoutError';
}

interface Waiting<Question, Answer> {
  question: Question;
  owner: string;
  weight: number;
  limitMs: number | undefined;
  resolve: (answer: Answer) => void;
  reject: (error: Error) => void;
}

export interface Asking {
  weight: number;
  /** Whose question it is: a workspace. */
  owner?: string;
  /** Milliseconds. */
  limitMs?: number;
}

/**
 * One thread, which answers one question at a time; the first question starts it. The owner that was served the longest
 * ago comes first, with its smallest question: of the long questions of one tenant, others wait for one at most.
 *
 * The file is plain JavaScript, because Node starts a thread from a file that it can run as it is. It answers each message with one
 * message, in order. What it throws is a defect: the question fails, and the next one gets a new thread.
 */
export class SideThread<Question, Answer> {
  private worker: Worker | undefined;
  private current: Waiting<Question, Answer> | undefined;
  private waiting: Waiting<Question, Answer>[] = [];
  /** By owner, the number of the last question of theirs, since nothing waited. */
  private readonly served = new Map<string, number>();
  private count = 0;
  private idle: NodeJS.Timeout | undefined;
  private limit: NodeJS.Timeout | undefined;
  private ended: Promise<unknown> = Promise.resolve();

  /**
   * @param stackMb the stack of the thread, in MB; Node's own is 4.
   * @param memoryMb what lives in it, in MB: a question that needs more ends it, and fails with `ERR_WORKER_OUT_OF_MEMORY`. Absent: as Node has it.
   */
  constructor(
    private readonly file: URL,
    private readonly stackMb = 4,
    private readonly memoryMb?: number,
  ) {}

  /**
   * With `limitMs` the thread posts `'begun'` before the part that is limited: what comes before it, such as the start of the thread, does
   * not count. After that time the thread is ended, and {@link ThreadTimeoutError} thrown. It ends after the step that it is at: what
   * the question may hold bounds the longest one. A thread may also post {@link Working}, for each part of its work anew: it is ended
   * when it has worked for so long since, however long others had the processor meanwhile.
   */
  ask(question: Question, { weight, owner = '', limitMs }: Asking): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ question, owner, weight, limitMs, resolve, reject });
      if (this.current === undefined) this.next();
    });
  }

  /** Ends the thread. What was not answered fails with `reason`. */
  stop(reason: Error): void {
    this.end();
    const left = this.current === undefined ? this.waiting : [this.current, ...this.waiting];
    this.current = undefined;
    this.waiting = [];
    for (const { reject } of left) reject(reason);
  }

  private next(): void {
    clearTimeout(this.idle);
    this.current = this.waiting.reduce<Waiting<Question, Answer> | undefined>(
      (first, one) => (first === undefined || this.isBefore(one, first) ? one : first),
      undefined,
    );
    if (this.current === undefined) {
      this.served.clear();
      // The process must not wait for a thread that has nothing to do.
      this.worker?.unref();
      this.idle = setTimeout(() => this.end(), IDLE_MS).unref();
      return;
    }
    this.waiting.splice(this.waiting.indexOf(this.current), 1);
    this.served.set(this.current.owner, ++this.count);
    void this.put(this.current);
  }

  private isBefore(one: Waiting<Question, Answer>, other: Waiting<Question, Answer>): boolean {
    const later = (this.served.get(one.owner) ?? 0) - (this.served.get(other.owner) ?? 0);
    return later === 0 ? one.weight < other.weight : later < 0;
  }

  private async put(one: Waiting<Question, Answer>): Promise<void> {
    // A thread ends after its current step. Two threads at once would need the memory twice.
    await this.ended;
    if (this.current !== one) return;
    this.worker ??= this.start();
    this.worker.ref();
    this.worker.postMessage(one.question);
  }

  private start(): Worker {
    const memory = this.memoryMb === undefined ? {} : { maxOldGenerationSizeMb: this.memoryMb };
    const resourceLimits = { stackSizeMb: this.stackMb, ...memory };
    const worker = new Worker(this.file, { execArgv: [], env: {}, resourceLimits });
    // A thread that was ended may have posted something before: it answers nothing that was asked since.
    worker.on('message', (message: Answer | Working | typeof BEGUN) => {
      if (this.worker !== worker) return;
      if (message === BEGUN) this.watch();
      else if (isWorking(message)) this.watchWork(message);
      else this.settle(({ resolve }) => resolve(message));
    });
    worker.on('error', (error: Error) => {
      if (this.worker === worker) this.fail(error);
    });
    return worker;
  }

  private watch(): void {
    const watched = this.current;
    if (watched?.limitMs === undefined) return;
    this.limit = setTimeout(() => {
      // An answer that came while the event loop was busy stands behind the timer: it is taken first.
      setImmediate(() => {
        if (this.current === watched) this.fail(new ThreadTimeoutError(`Ended after ${watched.limitMs} ms.`));
      });
    }, watched.limitMs);
  }

  private watchWork({ working, workMs }: Working): void {
    clearTimeout(this.limit);
    const watched = this.current;
    const before = workedMs(working);
    const until = performance.now() + workMs * LONGEST_WAIT;
    const check = () => {
      const now = workedMs(working);
      const left = before === null || now === null ? Infinity : workMs - (now - before);
      const wait = Math.min(Math.max(left, 5), until - performance.now());
      if (left > 0 && wait > 0) this.limit = setTimeout(check, wait);
      else {
        const limit = (this.limit = setTimeout(() => undefined, workMs));
        setImmediate(() => {
          if (this.current !== watched || this.limit !== limit) return;
          this.fail(new ThreadTimeoutError(`Ended after ${workMs} ms of work.`));
        });
      }
    };
    this.limit = setTimeout(check, workMs);
  }

  private fail(error: Error): void {
    this.end();
    this.settle(({ reject }) => reject(error));
  }

  private settle(how: (one: Waiting<Question, Answer>) => void): void {
    clearTimeout(this.limit);
    if (this.current !== undefined) how(this.current);
    this.next();
  }

  private end(): void {
    clearTimeout(this.idle);
    clearTimeout(this.limit);
    if (this.worker !== undefined) this.ended = this.worker.terminate();
    this.worker = undefined;
  }
}

function isWorking(message: unknown): message is Working {
  return typeof message === 'object' && message !== null && 'working' in message && 'workMs' in message;
}

/** For how long a thread of this process has had a processor, by proc_pid_schedstat(5). Null where the system does not tell. */
function workedMs(thread: number | null): number | null {
  if (thread === null) return null;
  try {
    return Number(readFileSync(`/proc/self/task/${thread}/schedstat`, 'utf8').split(' ', 1)[0]) / 1e6;
  } catch {
    return null;
  }
}
