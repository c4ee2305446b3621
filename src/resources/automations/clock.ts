// What the clocks of a time zone show, by the tz data of Node.

/** Milliseconds that the clocks of a time zone are ahead of UTC at an instant, both in milliseconds. */
export type Clock = (instant: number) => number;

/** By the name in lower case, as Intl takes the names: so that no spelling adds one. */
const CLOCKS = new Map<string, Clock>();

/** The clock of an IANA time zone, or undefined when there is no such zone. */
export function clockOf(timezone: string): Clock | undefined {
  const key = timezone.toLowerCase();
  const known = CLOCKS.get(key);
  if (known !== undefined) return known;
  // Node may take offsets such as +05:00 too, which are no zones.
  if (!/^[a-z][\w+/-]{0,63}$/.test(key)) return undefined;
  try {
    const clock = newClock(timezone);
    CLOCKS.set(key, clock);
    return clock;
  } catch {
    return undefined;
  }
}

/** Throws a RangeError for what is no time zone. */
function newClock(timeZone: string): Clock {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  return (instant) => {
    const second = Math.floor(instant / 1000) * 1000;
    const [month = 0, day, year = 0, hour, minute, second_] = (format.format(second).match(/\d+/g) ?? []).map(Number);
    return Date.UTC(year, month - 1, day, hour, minute, second_) - second;
  };
}

/** No zone changes its clocks twice within it. */
const STRIDE = 7 * 86_400_000;

/** The first instant in (after, until] at which the clocks have changed; null when they do not. */
export function clockChange(clock: Clock, after: number, until: number): number | null {
  const before = clock(after);
  let low = after;
  while (low < until) {
    let high = Math.min(low + STRIDE, until);
    if (clock(high) !== before) {
      while (high - low > 1) {
        const middle = Math.floor((low + high) / 2);
        if (clock(middle) === before) low = middle;
        else high = middle;
      }
      return high;
    }
    low = high;
  }
  return null;
}
