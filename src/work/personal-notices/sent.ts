/** What became of one attempt. */
export interface Sent {
  /**
   * - `sent`: the other side has taken it.
   * - `again`: it certainly has not, and may take it later.
   * - `failed`: it has refused it, or nobody knows whether it has taken it. A second attempt could bring a second notice.
   * - `gone`: there is no such browser any more.
   */
  outcome: 'sent' | 'again' | 'failed' | 'gone';
  /** For the log of the service: names nothing of the notice. */
  why: string;
  /** Seconds that the other side has asked for. */
  retryAfter: number | null;
}

export const sent: Sent = { outcome: 'sent', why: '', retryAfter: null };
export const notSent = (outcome: 'again' | 'failed' | 'gone', why: string, retryAfter: number | null = null): Sent => ({
  outcome,
  why,
  retryAfter,
});
