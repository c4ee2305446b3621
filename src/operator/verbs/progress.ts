// Progress of long work: one line on standard error that is written again and again, and only on a terminal.

/** How often the line changes, in milliseconds: more would only slow the work down. */
const PACE = 100;
const ERASE = '\r\u001b[2K';

/** What {@link Progress} writes on: standard error. */
type Stream = Pick<NodeJS.WriteStream, 'isTTY' | 'columns' | 'write'>;

/**
 * Says how far a verb has come. Where standard error is no terminal it says nothing, so a log or a pipe holds nothing of it;
 * standard output is the answer's alone.
 *
 * @example
 * ```ts
 * const progress = new Progress();
 * try {
 *   for (const table of tables) progress.say(`${table}: ${rows} rows`);
 * } finally {
 *   progress.end();
 * }
 * ```
 */
export class Progress {
  private shownAt = Number.NEGATIVE_INFINITY;
  private shown = false;

  constructor(private readonly stream: Stream = process.stderr) {}

  /** Shows one line in place of the one before, at most ten times a second. It is truncated to the width of the terminal. */
  say(text: string): void {
    const now = performance.now();
    if (!this.stream.isTTY || now - this.shownAt < PACE) return;
    this.shownAt = now;
    this.shown = true;
    this.stream.write(`${ERASE}${text.slice(0, (this.stream.columns || 80) - 1)}`);
  }

  /** Takes the line away. Called before anything else is printed, also when the work failed. */
  end(): void {
    if (this.shown) this.stream.write(ERASE);
    this.shown = false;
  }
}
