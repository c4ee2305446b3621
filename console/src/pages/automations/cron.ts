// Five-field cron as the service takes it (reference §12): what the fields say, and when it comes next in a time zone. The service
// decides; this shows what it will decide while one still types. It imports nothing, so that it is compared with the service's own.

/** One field: the values that it allows, in order. */
export interface CronField {
  values: number[];
  /** It is `*`. */
  any: boolean;
  /** Of `*` with a step alone: the step. */
  step: number | null;
}

export interface Cron {
  minutes: CronField;
  hours: CronField;
  days: CronField;
  months: CronField;
  /** Sunday is 0. */
  weekdays: CronField;
  /** The hour goes on by real time where clocks change: it is `*`, or has steps. */
  realHours: 'every' | 'steps' | 'no';
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const MINUTE = 60_000;
const DAY = 1440;
/** 29 February comes after eight years at the latest. */
const LONGEST = 9 * 366;

/** Null for what is no expression that the service takes. */
export function parseCron(text: string): Cron | null {
  const fields = text
    .trim()
    .toLowerCase()
    .split(/[ \t]+/);
  if (fields.length !== 5 || text.length > 500) return null;
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = fields;
  const minutes = fieldOf(minute, 0, 59);
  const hours = fieldOf(hour, 0, 23);
  const days = fieldOf(day, 1, 31);
  const months = fieldOf(named(month, MONTHS, 1), 1, 12);
  const weekdays = fieldOf(named(weekday.replaceAll('-sun', '-7'), DAYS, 0), 0, 7);
  if (minutes === null || hours === null || days === null || months === null || weekdays === null) return null;
  const realHours = /^\*(\/0?1)?$/.test(hour) ? 'every' : /[*/]/.test(hour) ? 'steps' : 'no';
  return { minutes, hours, days, months, weekdays: sundays(weekdays), realHours };
}

const named = (field: string, names: string[], first: number) =>
  field.replace(/[a-z]+/g, (name) => (names.includes(name) ? String(names.indexOf(name) + first) : name));

/** Sunday is 0 and 7. */
function sundays(field: CronField): CronField {
  const values = [...new Set(field.values.map((value) => value % 7))].sort((a, b) => a - b);
  return { ...field, values };
}

const ITEM = /^(?:(\*)|(\d{1,2})(?:-(\d{1,2}))?)(?:\/(\d{1,2}))?$/;

function fieldOf(text: string, first: number, last: number): CronField | null {
  const values = new Set<number>();
  // 0 and 7 are one day.
  const size = Math.min(last - first + 1, last === 7 ? 7 : 60);
  for (const item of text.split(',')) {
    const [, star, from, to, step] = ITEM.exec(item) ?? [];
    if (star === undefined && from === undefined) return null;
    // A step of one number is none.
    if (star === undefined && to === undefined && step !== undefined) return null;
    const by = step === undefined ? 1 : Number(step);
    const low = star === undefined ? Number(from) : first;
    const high = star === undefined ? Number(to ?? from) : first + size - 1;
    if (by < 1 || by > size || low < first || high > last || low > high) return null;
    for (let value = low; value <= high; value += by) values.add(value);
  }
  const [, stepOfAll] = /^\*\/(\d+)$/.exec(text) ?? [];
  const step = stepOfAll === undefined ? null : Number(stepOfAll);
  return { values: [...values].sort((a, b) => a - b), any: text === '*', step };
}

/** The first `count` occurrences after an instant in a time zone, in milliseconds; none when there is no such zone. */
export function nextTimes(cron: Cron, timezone: string, after: number, count: number): number[] {
  const clock = clockOf(timezone);
  const times: number[] = [];
  if (clock === null) return times;
  let from = after;
  let ahead = clock(from);
  /** What the clock shows at `from`. */
  let shown = from + ahead;
  while (times.length < count) {
    const next = nextShown(cron, shown);
    if (next === null) break;
    const change = clockChange(clock, from, next - ahead);
    if (change === null) {
      [from, shown] = [next - ahead, next];
      // A fixed local time that comes twice fires the first time alone.
      if (cron.realHours !== 'no' || !shownBefore(clock, from)) times.push(from);
      continue;
    }
    [from, ahead] = [change, clock(change)];
    shown = change + ahead;
    // What falls into the hour that is skipped fires once, at the first instant after it.
    if (next < shown && cron.realHours !== 'every') times.push(change);
    // The instant of the change itself may be an occurrence.
    else shown -= 1;
  }
  return times;
}

/** The first time after another one at which it fires on a clock that never changes; null when it never does. */
function nextShown(cron: Cron, after: number): number | null {
  const minute = Math.floor(after / MINUTE) + 1;
  const today = Math.floor(minute / DAY);
  for (let day = today; day < today + LONGEST; day++) {
    if (!comesOn(cron, new Date(day * DAY * MINUTE))) continue;
    for (const hour of cron.hours.values) {
      for (const one of cron.minutes.values) {
        const at = day * DAY + hour * 60 + one;
        if (at >= minute) return at * MINUTE;
      }
    }
  }
  return null;
}

function comesOn({ days, months, weekdays }: Cron, date: Date): boolean {
  if (!months.values.includes(date.getUTCMonth() + 1)) return false;
  const day = days.values.includes(date.getUTCDate());
  const weekday = weekdays.values.includes(date.getUTCDay());
  // Both given: either.
  return days.any || weekdays.any ? day && weekday : day || weekday;
}

/** Milliseconds that the clocks of a zone are ahead of UTC at an instant. */
type Clock = (instant: number) => number;

function clockOf(timeZone: string): Clock | null {
  if (!/^[a-z][\w+/-]{0,63}$/i.test(timeZone)) return null;
  const number = 'numeric';
  const fields = { year: number, month: number, day: number, hour: number, minute: number, second: number } as const;
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-US', { timeZone, hourCycle: 'h23', ...fields });
  } catch {
    return null;
  }
  return (instant) => {
    const whole = Math.floor(instant / 1000) * 1000;
    const [month = 0, day, year = 0, hour, minute, second] = (format.format(whole).match(/\d+/g) ?? []).map(Number);
    return Date.UTC(year, month - 1, day, hour, minute, second) - whole;
  };
}

/** No zone changes its clocks twice within it. */
const STRIDE = 7 * DAY * MINUTE;

/** The first instant in (after, until] at which the clocks have changed; null when they do not. */
function clockChange(clock: Clock, after: number, until: number): number | null {
  const before = clock(after);
  for (let low = after; low < until;) {
    let high = Math.min(low + STRIDE, until);
    if (clock(high) === before) {
      low = high;
      continue;
    }
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (clock(middle) === before) low = middle;
      else high = middle;
    }
    return high;
  }
  return null;
}

/** Whether the clock has shown the time of this instant before, because it was set back since. */
function shownBefore(clock: Clock, instant: number): boolean {
  const back = clock(instant - DAY * MINUTE) - clock(instant);
  return back > 0 && clock(instant - back) - clock(instant) === back;
}
