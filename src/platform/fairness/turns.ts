// How those who ask for the same thing share a process with all others.

interface Share {
  taken: number;
  /** Those whose turn has not come, the one that waits longest first. */
  readonly waiting: Set<() => void>;
}

/**
 * Gives out turns: of each key so many at once, and the one that waits longest is next. A key is whose turns they are, such as
 * the id of a workspace. A turn is handed on in the next round of the event loop, so that what other keys have to do comes
 * in between, however many of one key wait.
 */
export class Turns {
  private readonly shares = new Map<string, Share>();
  private readonly handed: (() => void)[] = [];

  /**
   * @param atOnce turns of one key; a function is asked whenever a turn may be handed on
   * @param inRound turns that are handed on in one round of the event loop; without a bound when not given
   */
  constructor(
    private readonly atOnce: number | ((key: string) => number),
    private readonly inRound = Infinity,
  ) {}

  /**
   * Resolves when the turn has come, with what ends it; that is called once. Rejects with the reason of `signal` when it is aborted before;
   * a caller with a signal looks at it once more when it has its turn. Rejects after `ms` milliseconds of waiting too.
   */
  async take(key: string, signal?: AbortSignal, ms?: number): Promise<() => void> {
    signal?.throwIfAborted();
    const free = this.takeFree(key);
    if (free !== undefined) return free;
    const share = this.shares.get(key) as Share;
    await this.handedOn(share, signal, ms);
    return () => this.end(key, share);
  }

  /** The same for a turn that is free, without a promise; undefined when who asks has to wait. */
  takeFree(key: string): (() => void) | undefined {
    const share = this.shares.get(key) ?? { taken: 0, waiting: new Set() };
    // After a bound has risen some wait beside a free turn, until the next one ends.
    if (share.taken >= this.mostOf(key) || share.waiting.size > 0) return undefined;
    share.taken++;
    this.shares.set(key, share);
    return () => this.end(key, share);
  }

  private end(key: string, share: Share): void {
    share.taken--;
    const most = this.mostOf(key);
    for (const next of share.waiting) {
      if (share.taken >= most) return;
      share.taken++;
      next();
    }
    if (share.taken === 0) this.shares.delete(key);
  }

  private mostOf(key: string): number {
    return typeof this.atOnce === 'number' ? this.atOnce : this.atOnce(key);
  }

  private handedOn({ waiting }: Share, signal?: AbortSignal, ms?: number): Promise<void> {
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
