// When a cron expression fires in a time zone (reference §12). Pure: the caller says what time it is.
import { Cron } from 'croner';
import { type Clock, clockChange, clockOf } from './clock.js';

/** An expression or a time zone that is not taken; the message is a sentence for the client. */
export class ScheduleError extends Error {
  override readonly name = 'ScheduleError';
  constructor(
    readonly code: 'invalid_cron' | 'invalid_timezone',
    message: string,
  ) {
    super(message);
  }
}

export const MAX_CRON = 500;

const NUMBER = String.raw`(?:\*|\d{1,2}(?:-\d{1,2})?)(?:/\d{1,2})?`;
const MONTHS = 'jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec';
const DAYS = 'sun|mon|tue|wed|thu|fri|sat';
const named = (names: string) => String.raw`(?:\*|(?:\d{1,2}|${names})(?:-(?:\d{1,2}|${names}))?)(?:/\d{1,2})?`;
const list = (item: string) => new RegExp(`^${item}(?:,${item})*$`, 'i');
const FIELDS = [
  ['minute', list(NUMBER), '0 to 59'],
  ['hour', list(NUMBER), '0 to 23'],
  ['day of the month', list(NUMBER), '1 to 31'],
  ['month', list(named(MONTHS)), '1 to 12 or JAN to DEC'],
  ['day of the week', list(named(DAYS)), '0 to 7 or SUN to SAT'],
] as const;

const FORM = 'five fields are expected: minute, hour, day of the month, month, day of the week, such as "30 9 * * 1-5"';
const FIVE_YEARS = 5 * 366 * 86_400_000;

/**
 * Throws {@link ScheduleError} for an expression that is not taken: five fields of numbers, ranges, lists, steps and names, with at
 * least one occurrence in five years from `now`.
 * @param timezone an IANA name.
 */
export function checkCron(cron: string, timezone: string, now: Date): void {
  checkTimezone(timezone);
  checkForm(cron);
  const first = nextRun(cron, timezone, now);
  if (first !== null && first.getTime() - now.getTime() <= FIVE_YEARS) return;
  throw invalid(`cron: "${cron}" does not come in the next five years; a date that exists is expected.`);
}

function checkTimezone(timezone: string): void {
  if (clockOf(timezone) !== undefined) return;
  const message = 'timezone: there is no such time zone; an IANA name is expected, such as "Europe/Berlin".';
  throw new ScheduleError('invalid_timezone', message);
}

function checkForm(cron: string): void {
  const fields = fieldsOf(cron);
  if (cron.length > MAX_CRON || fields.length !== FIELDS.length) throw invalid(`cron: ${FORM}.`);
  for (const [at, [name, form, range]] of FIELDS.entries()) {
    if (!form.test(fields[at] ?? '')) throw refused(name, range);
  }
  try {
    wallOf(cron);
  } catch {
    const [name, , range] = FIELDS.find((_field, at) => !stands(fields[at] ?? '', at)) ?? FIELDS[0];
    throw refused(name, range);
  }
}

/** Whether one field stands with all others `*`. */
function stands(field: string, at: number): boolean {
  try {
    wallOf(FIELDS.map((_field, n) => (n === at ? field : '*')).join(' '));
    return true;
  } catch {
    return false;
  }
}

function refused(name: string, range: string): ScheduleError {
  return invalid(`cron: the ${name} takes *, numbers (${range}), ranges, lists and steps such as */15 alone.`);
}

const invalid = (message: string) => new ScheduleError('invalid_cron', message);

const fieldsOf = (cron: string) => cron.trim().split(/[ \t]+/);

/** The expression on a clock that never changes. Without a function croner sets no timer. */
const wallOf = (cron: string) => new Cron(cron, { timezone: 'UTC', mode: '5-part', paused: true });

/** The first occurrence after an instant; null when there is none. The expression and the zone have been checked. */
export function nextRun(cron: string, timezone: string, after: Date): Date | null {
  return upcomingRuns(cron, timezone, after, 1)[0] ?? null;
}

/** The first `count` occurrences after an instant, oldest first. */
export function upcomingRuns(cron: string, timezone: string, after: Date, count: number): Date[] {
  return [...take(occurrences(cron, timezone, after.getTime()), count)].map((instant) => new Date(instant));
}

/** The occurrences in (after, until], oldest first, at most `max`. */
export function missedRuns(cron: string, timezone: string, after: Date, until: Date, max: number): Date[] {
  const missed: Date[] = [];
  for (const instant of take(occurrences(cron, timezone, after.getTime()), max)) {
    if (instant > until.getTime()) break;
    missed.push(new Date(instant));
  }
  return missed;
}

function* take<T>(all: Iterable<T>, count: number): Generator<T> {
  let left = count;
  if (left <= 0) return;
  for (const one of all) {
    yield one;
    if (--left === 0) return;
  }
}

/**
 * The instants after `after` at which it fires. croner says what comes next on a clock that never changes; what the changes of
 * the zone's clock do is decided here: croner 11.0.1 leaves out "0,30 2" on a day without that hour, and fires "15,45 1" four
 * times on a day that has it twice.
 *
 * Where clocks go forward, what falls into the hour that is skipped fires once, at the first instant after it; an hour field of `*`
 * goes on by real time. Where they go back, a local time fires the first time alone, unless the hour field is `*` or has steps.
 */
function* occurrences(cron: string, timezone: string, after: number): Generator<number> {
  const clock = clockOf(timezone);
  if (clock === undefined) throw new RangeError(`There is no time zone ${timezone}.`);
  const wall = wallOf(cron);
  const hour = fieldsOf(cron)[1] ?? '*';
  const everyHour = /^\*(\/0?1)?$/.test(hour);
  const repeats = /[*/]/.test(hour);
  let from = after;
  let ahead = clock(from);
  /** What the clock shows at `from`. */
  let shown = from + ahead;
  for (;;) {
    const next = wall.nextRun(new Date(shown))?.getTime();
    if (next === undefined) return;
    const change = clockChange(clock, from, next - ahead);
    if (change === null) {
      [from, shown] = [next - ahead, next];
      if (repeats || !shownBefore(clock, from)) yield from;
      continue;
    }
    [from, ahead] = [change, clock(change)];
    shown = change + ahead;
    if (next < shown && !everyHour) yield change;
    // The instant of the change itself may be an occurrence.
    else shown -= 1;
  }
}

/** Whether the clock has shown the time of this instant before, because it was set back since. */
function shownBefore(clock: Clock, instant: number): boolean {
  const back = clock(instant - 86_400_000) - clock(instant);
  return back > 0 && clock(instant - back) - clock(instant) === back;
}
