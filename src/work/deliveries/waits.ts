/** Seconds before the attempts after the first one (reference §18). */
const WAITS = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400];
const LONGEST = 86_400;
/** By so much a wait is lengthened or shortened, so that what failed together does not come back together. */
const SPREAD = 0.2;

/**
 * Seconds until the next attempt, after `failed` failed ones; null when there is none.
 * @param retryAfter what the endpoint has asked for, in seconds: it lengthens a wait, up to a day.
 */
export function waitAfter(failed: number, retryAfter: number | null, chance = Math.random()): number | null {
  const wait = WAITS[failed - 1];
  if (wait === undefined) return null;
  const spread = wait * (1 - SPREAD + 2 * SPREAD * chance);
  return Math.max(spread, Math.min(retryAfter ?? 0, LONGEST));
}

/** The seconds of a `Retry-After` (RFC 9110, section 10.2.3): a number of them, or a date. Null for anything else. */
export function secondsOf(header: string | undefined, now = Date.now()): number | null {
  if (header === undefined) return null;
  const text = header.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text);
  const at = /^[A-Z][a-z]{2}, /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? null : Math.max(0, (at - now) / 1000);
}
