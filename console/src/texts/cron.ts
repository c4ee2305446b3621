const english = (type: 'conjunction' | 'disjunction') => new Intl.ListFormat('en', { type });
const and = (words: string[]) => english('conjunction').format(words);
const ordinals = new Intl.PluralRules('en', { type: 'ordinal' });
const ENDINGS: Record<string, string> = { one: 'st', two: 'nd', few: 'rd', other: 'th' };
const nth = (n: number) => `${n}${ENDINGS[ordinals.select(n)]}`;

const monthName = new Intl.DateTimeFormat('en', { month: 'long', timeZone: 'UTC' });
const dayName = new Intl.DateTimeFormat('en', { weekday: 'long', timeZone: 'UTC' });

/** A schedule in words. */
export const cron = {
  /** January is 1. */
  month: (n: number) => monthName.format(Date.UTC(2026, n - 1)),
  /** Sunday is 0, and 7; 4 January 2026 is one. */
  weekday: (n: number) => dayName.format(Date.UTC(2026, 0, 4 + n)),
  and,
  everyMinute: 'every minute',
  everyMinutes: (n: number) => `every ${n} minutes`,
  everyHour: 'every hour',
  everyHours: (n: number) => `every ${n} hours from midnight`,
  atTimes: (times: string[]) => `at ${and(times)}`,
  atMinutes: (minutes: number[]) => `at ${minutes.length === 1 ? 'minute' : 'the minutes'} ${and(minutes.map(String))}`,
  ofEveryHour: (minutes: string) => `${minutes} of every hour`,
  ofHours: (minutes: string, hours: string[]) =>
    `${minutes} of the ${hours.length === 1 ? 'hour' : 'hours'} ${and(hours)}`,
  pastEvery: (minutes: string, n: number) => `${minutes} of every ${nth(n)} hour from midnight`,
  between: (what: string, from: string, to: string) => `${what} from ${from} to ${to}`,
  everyDay: 'every day',
  workdays: 'Monday to Friday',
  weekend: 'Saturday and Sunday',
  span: (from: string, to: string) => `${from} to ${to}`,
  on: (what: string) => `on ${what}`,
  either: (days: string, weekdays: string) => `${days}, and also on ${weekdays}`,
  dayOfMonth: (days: number[]) => `on the ${and(days.map(nth))} of the month`,
  daySpan: (from: number, to: number) => `from the ${nth(from)} to the ${nth(to)} of the month`,
  everyNthDay: (n: number) => `on every ${nth(n)} day of the month from the 1st`,
  inMonths: (months: string[]) => `in ${and(months)}`,
  join: (parts: string[]) => {
    const text = parts.join(', ');
    return text.charAt(0).toUpperCase() + text.slice(1);
  },
};
