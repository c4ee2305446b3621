import { t } from '../../texts/index.ts';
import type { Cron, CronField } from './cron.ts';

const w = t.cron;
const time = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', timeZone: 'UTC' });
const clock = (hour: number, minute: number) => time.format(Date.UTC(2026, 0, 1, hour, minute));

/** At most so many times of a day are listed. */
const MOST_TIMES = 4;

/** What an expression says, as a sentence without its full stop. */
export function inWords(cron: Cron): string {
  const { words, daily } = timesOf(cron);
  const days = daysOf(cron);
  const months = cron.months.any || isAll(cron.months, 12) ? [] : [w.inMonths(cron.months.values.map(w.month))];
  if (days !== null) return w.join([words, days, ...months]);
  return w.join([words, ...(daily ? [w.everyDay] : []), ...months]);
}

/** `daily`: these are times of a day, so the text has to say on which days. */
function timesOf({ minutes, hours }: Cron): { words: string; daily: boolean } {
  const everyHour = hours.any || isAll(hours, 24);
  const often = oftenOf(minutes);
  if (everyHour) return { words: often ?? hourly(minutes), daily: false };
  const { values } = hours;
  const [first = 0] = values;
  const last = values.at(-1) ?? first;
  if (often !== null) {
    if (isSpan(hours)) return { words: w.between(often, clock(first, 0), clock(last, 59)), daily: true };
    return { words: `${often} ${w.ofHours('', values.map((hour) => clock(hour, 0))).trim()}`, daily: true }; // prettier-ignore
  }
  const times = values.flatMap((hour) => minutes.values.map((minute) => clock(hour, minute)));
  const [minute = 0] = minutes.values;
  if (hours.step !== null && minutes.values.length === 1) {
    return minute === 0
      ? { words: w.everyHours(hours.step), daily: false }
      : { words: w.pastEvery(w.atMinutes([minute]), hours.step), daily: false };
  }
  if (times.length <= MOST_TIMES) return { words: w.atTimes(times), daily: true };
  if (minutes.values.length === 1 && isSpan(hours)) {
    return { words: w.between(w.everyHour, clock(first, minute), clock(last, minute)), daily: true };
  }
  return { words: w.ofHours(w.atMinutes(minutes.values), values.map((hour) => clock(hour, 0))), daily: true }; // prettier-ignore
}

/** Every so many minutes; null for other schedules. */
function oftenOf(minutes: CronField): string | null {
  if (minutes.any || isAll(minutes, 60)) return w.everyMinute;
  // Of 60 / n the last wait is as long as the others.
  if (minutes.step !== null && 60 % minutes.step === 0 && minutes.values.length > 1)
    return w.everyMinutes(minutes.step);
  return null;
}

function hourly({ values }: CronField): string {
  return values.length === 1 && values[0] === 0 ? w.everyHour : w.ofEveryHour(w.atMinutes(values));
}

/** Null for every day. */
function daysOf({ days, weekdays }: Cron): string | null {
  const monthly = days.any || isAll(days, 31) ? null : dayOf(days);
  // The week begins on Monday.
  const values = weekdays.values.map((value) => value || 7).sort((a, b) => a - b);
  const weekly = weekdays.any || isAll(weekdays, 7) ? null : weekdaysOf(values);
  // Both given: either, so that one of all days is all of them.
  if (!days.any && !weekdays.any && (monthly === null || weekly === null)) return null;
  if (monthly !== null && weekly !== null) return w.either(monthly, weekly);
  return monthly ?? (weekly === null ? null : isSpan({ values }) && values.length > 2 ? weekly : w.on(weekly));
}

function dayOf({ values, step }: CronField): string {
  const [first = 1] = values;
  if (step !== null) return w.everyNthDay(step);
  if (isSpan({ values }) && values.length > 2) return w.daySpan(first, values.at(-1) ?? first);
  return w.dayOfMonth(values);
}

function weekdaysOf(values: number[]): string {
  const names = values.map(w.weekday);
  const [first = ''] = names;
  if (values.join() === '1,2,3,4,5') return w.workdays;
  if (values.join() === '6,7') return w.weekend;
  return isSpan({ values }) && values.length > 2 ? w.span(first, names.at(-1) ?? first) : w.and(names);
}

const isAll = ({ values }: CronField, size: number) => values.length === size;
const isSpan = ({ values }: Pick<CronField, 'values'>) =>
  values.length > 1 && values.every((value, at) => at === 0 || value === (values[at - 1] ?? 0) + 1);
