// The occurrences of cron expressions, worked out minute by minute from what the clocks of a zone show: no code of the service, and no
// library of its. Slow, and simple enough to believe.

const MINUTE = 60_000;
/** A clock goes forward or back by less. */
const LONGEST_CHANGE = 180;

interface Wall {
  minute: number;
  hour: number;
  day: number;
  month: number;
  weekday: number;
  /** Of this clock, counted as if it were UTC: a change of the clock is a jump in it. */
  number: number;
}

const formats = new Map<string, Intl.DateTimeFormat>();

function shownAt(zone: string, instant: number): number {
  let format = formats.get(zone);
  if (format === undefined) {
    const fields = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const;
    format = new Intl.DateTimeFormat('en-US', { timeZone: zone, hourCycle: 'h23', ...fields });
    formats.set(zone, format);
  }
  const parts = Object.fromEntries(format.formatToParts(instant).map(({ type, value }) => [type, Number(value)]));
  const { year = 0, month = 0, day = 0, hour = 0, minute = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute) / MINUTE;
}

function wallOf(number: number): Wall {
  const date = new Date(number * MINUTE);
  return {
    minute: date.getUTCMinutes(),
    hour: date.getUTCHours(),
    day: date.getUTCDate(),
    month: date.getUTCMonth() + 1,
    weekday: date.getUTCDay(),
    number,
  };
}

function fieldHolds(field: string, value: number, first: number, last: number): boolean {
  return field.split(',').some((item) => {
    const [range = '*', step = '1'] = item.split('/');
    const [from = '', to = item.includes('/') ? String(last) : from] = range === '*' ? [String(first), String(last)] : range.split('-'); // prettier-ignore
    return value >= Number(from) && value <= Number(to) && (value - Number(from)) % Number(step) === 0;
  });
}

function holds(cron: string, wall: Wall): boolean {
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = cron.split(' ');
  if (!fieldHolds(minute, wall.minute, 0, 59) || !fieldHolds(hour, wall.hour, 0, 23)) return false;
  if (!fieldHolds(month, wall.month, 1, 12)) return false;
  const onDay = fieldHolds(day, wall.day, 1, 31);
  const onWeekday = fieldHolds(weekday, wall.weekday, 0, 6);
  // POSIX: when both are given, one is enough.
  if (day !== '*' && weekday !== '*') return onDay || onWeekday;
  return onDay && onWeekday;
}

/** The clock of a zone over a time, minute by minute, read once for all expressions. */
export class ZoneMinutes {
  private readonly shown: number[];

  constructor(
    zone: string,
    private readonly from: number,
    until: number,
  ) {
    const count = (until - from) / MINUTE + LONGEST_CHANGE + 1;
    this.shown = Array.from({ length: count }, (_, at) => shownAt(zone, from + (at - LONGEST_CHANGE) * MINUTE));
  }

  /** The instants after `from`, until `until`, at which an expression fires (reference §12), in milliseconds. */
  occurrences(cron: string): number[] {
    const hour = cron.split(' ')[1] ?? '';
    const found: number[] = [];
    for (let at = LONGEST_CHANGE + 1; at < this.shown.length; at++) {
      const now = this.shown[at] ?? 0;
      const before = this.shown[at - 1] ?? 0;
      // What the clock has never shown comes at the first instant after it; an hour of * has lost nothing.
      const skipped = Array.from({ length: Math.max(0, now - before - 1) }, (_, n) => before + 1 + n);
      const fromGap = hour !== '*' && skipped.some((number) => holds(cron, wallOf(number)));
      // What it shows for the second time has fired, unless the hour field goes on by real time.
      const again = this.shown.slice(at - LONGEST_CHANGE, at).includes(now);
      const regular = holds(cron, wallOf(now)) && (!again || /[*/]/.test(hour));
      if (fromGap || regular) found.push(this.from + (at - LONGEST_CHANGE) * MINUTE);
    }
    return found;
  }
}

/** The instants of a year at which the clock of a zone changes, in milliseconds. */
export function clockChanges(zone: string, year: number): number[] {
  const changes: number[] = [];
  const ahead = (instant: number) => shownAt(zone, instant) - instant / MINUTE;
  const half = 30 * MINUTE;
  for (let instant = Date.UTC(year, 0, 1); instant < Date.UTC(year + 1, 0, 1); instant += half) {
    if (ahead(instant) !== ahead(instant - half)) changes.push(instant);
  }
  return changes;
}
