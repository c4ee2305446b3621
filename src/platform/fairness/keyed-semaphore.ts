interface Entry {
  taken: number;
  /** The one that waits longest first. */
  readonly waiting: Set<() => void>;
}

/**
 * A semaphore for each key, such as the id of a workspace. At most `atOnce` permits of one key are taken at a time, and the caller that waits
 * longest gets the next one. The semaphore hands a permit on in the next round of the event loop, so the work of other keys comes in
 * between, however many callers of one key wait.
 */
export class KeyedSemaphore {
  private readonly entries = new Map<string, Entry>();
  private readonly handed: (() => void)[] = [];

  /**
   * @param atOnce permits of one key, at least one; a function is called each time a permit may be taken or handed on
   * @param inRound permits that are handed on in one round of the event loop; without a bound when not given
   */
  constructor(
    private readonly atOnce: number | ((key: string) => number),
    private readonly inRound = Infinity,
  ) {}

  /**
   * Resolves with a function that releases the permit; it is called once. Rejects with the reason of `signal` when that is aborted first, and
   * with an error after `ms` milliseconds of waiting. A caller with a signal checks it again after this call.
   */
  async acquire(key: string, signal?: AbortSignal, ms?: number): Promise<() => void> {
    signal?.throwIfAborted();
    const free = this.tryAcquire(key);
    if (free !== undefined) return free;
    const entry = this.entries.get(key) as Entry;
    await this.handedOn(entry, signal, ms);
    return () => this.release(key, entry);
  }

  /** Takes a permit at once when one is free; undefined when the caller has to wait. */
  tryAcquire(key: string): (() => void) | undefined {
    const entry = this.entries.get(key) ?? { taken: 0, waiting: new Set() };
    // When a bound rises, callers may wait although a permit is free. The next release lets them go on.
    if (entry.taken >= this.mostOf(key) || entry.waiting.size > 0) return undefined;
    entry.taken++;
    this.entries.set(key, entry);
    return () => this.release(key, entry);
  }

  private release(key: string, entry: Entry): void {
    entry.taken--;
    const most = this.mostOf(key);
    for (const next of entry.waiting) {
      if (entry.taken >= most) return;
      entry.taken++;
      next();
    }
    if (entry.taken === 0) this.entries.delete(key);
  }

  private mostOf(key: string): number {
    return typeof this.atOnce === 'number' ? this.atOnce : this.atOnce(key);
  }

  private handedOn({ waiting }: Entry, signal?: AbortSignal, ms?: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        waiting.delete(begin);
        reject((signal?.reason as Error | undefined) ?? new Error(`No turn came within ${ms} ms.`));
      };
      // Not AbortSignal.timeout: it costs 8 µs, and on a busy service most requests wait.
      const timer = ms === undefined ? undefined : setTimeout(leave, ms);
      const begin = () => {
        waiting.delete(begin);
        clearTimeout(timer);
        signal?.removeEventListener('abort', leave);
        this.nextRound(resolve);
      };
      waiting.add(begin);
      signal?.addEventListener('abort', leave, { once: true });
    });
  }

  private nextRound(begin: () => void): void {
    if (this.handed.push(begin) === 1) setImmediate(this.round);
  }

  private readonly round = (): void => {
    const now = this.handed.splice(0, this.inRound);
    if (this.handed.length > 0) setImmediate(this.round);
    for (const begin of now) begin();
  };
}
