import { checkCron, missedRuns, nextRun, ScheduleError, upcomingRuns } from './schedule.js';

/** Instants without seconds: `2026-03-08 07:00`. */
const at = (text: string) => new Date(`${text.replace(' ', 'T')}:00.000Z`);
const written = (instants: Date[]) => instants.map((one) => one.toISOString().slice(0, 16).replace('T', ' '));

// The instants are worked out by hand, from the rules of the zones as the tz data publish them.
const NEW_YORK = 'America/New_York'; // -5, -4 from 8 March 2026, 07:00Z, to 1 November 2026, 06:00Z
const BERLIN = 'Europe/Berlin'; // +1, +2 from 29 March 2026, 01:00Z, to 25 October 2026, 01:00Z
const LORD_HOWE = 'Australia/Lord_Howe'; // +11, +10:30 from 4 April 2026, 15:00Z, to 3 October 2026, 15:30Z
const APIA = 'Pacific/Apia'; // -10, +14 from 30 December 2011, 10:00Z: the 30th does not exist there
const CASABLANCA = 'Africa/Casablanca'; // +1, 0 from 15 February 2026, 02:00Z, to 22 March 2026, 02:00Z
const UTC = 'UTC';

type Case = [zone: string, cron: string, after: string, expected: string[]];

const FORWARD: Case[] = [
  [NEW_YORK, '30 2 * * *', '2026-03-07 00:00', ['2026-03-07 07:30', '2026-03-08 07:00', '2026-03-09 06:30']],
  [NEW_YORK, '30 1 * * *', '2026-03-07 00:00', ['2026-03-07 06:30', '2026-03-08 06:30', '2026-03-09 05:30']],
  [NEW_YORK, '*/30 * * * *', '2026-03-08 06:00', ['2026-03-08 06:30', '2026-03-08 07:00', '2026-03-08 07:30']],
  [NEW_YORK, '0 * * * *', '2026-03-08 05:30', ['2026-03-08 06:00', '2026-03-08 07:00', '2026-03-08 08:00']],
  [NEW_YORK, '30 * * * *', '2026-03-08 05:45', ['2026-03-08 06:30', '2026-03-08 07:30', '2026-03-08 08:30']],
  [NEW_YORK, '0 */2 * * *', '2026-03-08 04:00', ['2026-03-08 05:00', '2026-03-08 07:00', '2026-03-08 08:00']],
  [NEW_YORK, '0,30 2 * * *', '2026-03-07 12:00', ['2026-03-08 07:00', '2026-03-09 06:00', '2026-03-09 06:30']],
  [NEW_YORK, '* 2 * * *', '2026-03-07 12:00', ['2026-03-08 07:00', '2026-03-09 06:00', '2026-03-09 06:01']],
  [NEW_YORK, '0 2,3 * * *', '2026-03-07 12:00', ['2026-03-08 07:00', '2026-03-09 06:00', '2026-03-09 07:00']],
  [NEW_YORK, '30 2 * * 0', '2026-03-07 12:00', ['2026-03-08 07:00', '2026-03-15 06:30']],
  [BERLIN, '30 2 * * *', '2026-03-28 00:00', ['2026-03-28 01:30', '2026-03-29 01:00', '2026-03-30 00:30']],
  [BERLIN, '30 1 * * *', '2026-03-28 00:00', ['2026-03-28 00:30', '2026-03-29 00:30', '2026-03-29 23:30']],
  [BERLIN, '*/30 * * * *', '2026-03-29 00:00', ['2026-03-29 00:30', '2026-03-29 01:00', '2026-03-29 01:30']],
  [BERLIN, '0 * * * *', '2026-03-28 23:30', ['2026-03-29 00:00', '2026-03-29 01:00', '2026-03-29 02:00']],
  // Half an hour is skipped: from 02:00 to 02:30.
  [LORD_HOWE, '15 2 * * *', '2026-10-02 20:00', ['2026-10-03 15:30', '2026-10-04 15:15']],
  [LORD_HOWE, '30 2 * * *', '2026-10-02 20:00', ['2026-10-03 15:30', '2026-10-04 15:30']],
  [LORD_HOWE, '30 1 * * *', '2026-10-02 20:00', ['2026-10-03 15:00', '2026-10-04 14:30']],
  [LORD_HOWE, '*/30 * * * *', '2026-10-03 14:45', ['2026-10-03 15:00', '2026-10-03 15:30', '2026-10-03 16:00']],
  [LORD_HOWE, '0 * * * *', '2026-10-03 14:00', ['2026-10-03 14:30', '2026-10-03 16:00', '2026-10-03 17:00']],
  // A whole day is skipped, and what was due in it fires once.
  [APIA, '30 2 * * *', '2011-12-29 00:00', ['2011-12-29 12:30', '2011-12-30 10:00', '2011-12-30 12:30']],
  [APIA, '0 8,12,18 * * *', '2011-12-29 23:00', ['2011-12-30 04:00', '2011-12-30 10:00', '2011-12-30 18:00']],
  [APIA, '0 0 30 12 *', '2011-12-01 00:00', ['2011-12-30 10:00', '2012-12-29 10:00']],
  [APIA, '0 * * * *', '2011-12-30 08:30', ['2011-12-30 09:00', '2011-12-30 10:00', '2011-12-30 11:00']],
  [APIA, '*/30 * * * *', '2011-12-30 09:00', ['2011-12-30 09:30', '2011-12-30 10:00', '2011-12-30 10:30']],
  [CASABLANCA, '30 2 * * *', '2026-03-20 12:00', ['2026-03-21 02:30', '2026-03-22 02:00', '2026-03-23 01:30']],
  [CASABLANCA, '30 1 * * *', '2026-03-21 00:00', ['2026-03-21 01:30', '2026-03-22 01:30', '2026-03-23 00:30']],
  [CASABLANCA, '*/30 * * * *', '2026-03-22 01:00', ['2026-03-22 01:30', '2026-03-22 02:00', '2026-03-22 02:30']],
  [UTC, '30 2 * * *', '2026-03-28 12:00', ['2026-03-29 02:30', '2026-03-30 02:30']],
];

const BACK: Case[] = [
  [NEW_YORK, '30 1 * * *', '2026-10-31 00:00', ['2026-10-31 05:30', '2026-11-01 05:30', '2026-11-02 06:30']],
  [NEW_YORK, '30 1 * * *', '2026-11-01 05:30', ['2026-11-02 06:30']],
  [NEW_YORK, '30 1 * * *', '2026-11-01 06:10', ['2026-11-02 06:30']],
  [NEW_YORK, '30 2 * * *', '2026-10-31 00:00', ['2026-10-31 06:30', '2026-11-01 07:30', '2026-11-02 07:30']],
  [NEW_YORK, '0 2 * * *', '2026-10-31 12:00', ['2026-11-01 07:00', '2026-11-02 07:00']],
  [
    NEW_YORK,
    '*/30 * * * *',
    '2026-11-01 05:00',
    ['2026-11-01 05:30', '2026-11-01 06:00', '2026-11-01 06:30', '2026-11-01 07:00'],
  ],
  [NEW_YORK, '0 * * * *', '2026-11-01 04:30', ['2026-11-01 05:00', '2026-11-01 06:00', '2026-11-01 07:00']],
  [NEW_YORK, '15,45 1 * * *', '2026-11-01 04:00', ['2026-11-01 05:15', '2026-11-01 05:45', '2026-11-02 06:15']],
  [NEW_YORK, '30 1-2 * * *', '2026-11-01 04:00', ['2026-11-01 05:30', '2026-11-01 07:30', '2026-11-02 06:30']],
  [NEW_YORK, '0 1-23/2 * * *', '2026-11-01 04:00', ['2026-11-01 05:00', '2026-11-01 06:00', '2026-11-01 08:00']],
  [BERLIN, '30 2 * * *', '2026-10-24 00:00', ['2026-10-24 00:30', '2026-10-25 00:30', '2026-10-26 01:30']],
  [BERLIN, '30 1 * * *', '2026-10-24 00:00', ['2026-10-24 23:30', '2026-10-26 00:30']],
  [BERLIN, '*/30 * * * *', '2026-10-25 00:00', ['2026-10-25 00:30', '2026-10-25 01:00', '2026-10-25 01:30']],
  [BERLIN, '0 * * * *', '2026-10-24 23:30', ['2026-10-25 00:00', '2026-10-25 01:00', '2026-10-25 02:00']],
  // Half an hour comes twice: from 01:30 to 02:00.
  [LORD_HOWE, '45 1 * * *', '2026-04-03 20:00', ['2026-04-04 14:45', '2026-04-05 15:15']],
  [LORD_HOWE, '30 1 * * *', '2026-04-03 20:00', ['2026-04-04 14:30', '2026-04-05 15:00']],
  [LORD_HOWE, '30 2 * * *', '2026-04-03 20:00', ['2026-04-04 16:00', '2026-04-05 16:00']],
  [LORD_HOWE, '*/30 * * * *', '2026-04-04 14:00', ['2026-04-04 14:30', '2026-04-04 15:00', '2026-04-04 15:30']],
  [LORD_HOWE, '45 * * * *', '2026-04-04 14:00', ['2026-04-04 14:45', '2026-04-04 15:15', '2026-04-04 16:15']],
  [CASABLANCA, '30 2 * * *', '2026-02-14 00:00', ['2026-02-14 01:30', '2026-02-15 01:30', '2026-02-16 02:30']],
  [CASABLANCA, '*/30 * * * *', '2026-02-15 01:00', ['2026-02-15 01:30', '2026-02-15 02:00', '2026-02-15 02:30']],
  [UTC, '30 1 * * *', '2026-10-31 12:00', ['2026-11-01 01:30', '2026-11-02 01:30']],
];

const DATES: Case[] = [
  [UTC, '0 0 31 * *', '2026-01-01 00:00', ['2026-01-31 00:00', '2026-03-31 00:00', '2026-05-31 00:00']],
  [UTC, '0 0 28-31 2 *', '2026-01-01 00:00', ['2026-02-28 00:00', '2027-02-28 00:00', '2028-02-28 00:00', '2028-02-29 00:00']],
  [UTC, '0 12 29 2 *', '2026-01-01 00:00', ['2028-02-29 12:00', '2032-02-29 12:00']],
  [NEW_YORK, '59 23 31 12 *', '2026-06-01 00:00', ['2027-01-01 04:59', '2028-01-01 04:59']],
  // Both days given: either. 5 January 2026 is a Monday.
  [UTC, '0 0 3 * 1', '2026-01-01 00:00', ['2026-01-03 00:00', '2026-01-05 00:00', '2026-01-12 00:00']],
  [UTC, '0 9 * JAN-FEB mon-fri', '2026-01-02 12:00', ['2026-01-05 09:00', '2026-01-06 09:00']],
  [UTC, '0 0 * * 7', '2026-01-01 00:00', ['2026-01-04 00:00', '2026-01-11 00:00']],
  [UTC, '  */20   *	* * * ', '2026-01-01 00:00', ['2026-01-01 00:20', '2026-01-01 00:40', '2026-01-01 01:00']],
]; // prettier-ignore

describe('a schedule', () => {
  test.each(FORWARD)('where clocks go forward: %s, %s, after %s', (zone, cron, after, expected) => {
    expect(written(upcomingRuns(cron, zone, at(after), expected.length))).toEqual(expected);
  });

  test.each(BACK)('where clocks go back: %s, %s, after %s', (zone, cron, after, expected) => {
    expect(written(upcomingRuns(cron, zone, at(after), expected.length))).toEqual(expected);
  });

  test.each(DATES)('on dates: %s, %s, after %s', (zone, cron, after, expected) => {
    expect(written(upcomingRuns(cron, zone, at(after), expected.length))).toEqual(expected);
  });

  test.each([...FORWARD, ...BACK])('is the same from any instant: %s, %s', (zone, cron, after, expected) => {
    for (const [n, instant] of expected.entries()) {
      const before = n === 0 ? at(after).getTime() : at(expected[n - 1] ?? '').getTime();
      const due = at(instant).getTime();
      for (const from of [before, before + 1, Math.floor((before + due) / 2), due - 1]) {
        expect(written([nextRun(cron, zone, new Date(from)) ?? new Date(0)])).toEqual([instant]);
      }
    }
  });

  test('lists what was missed: after the first instant, up to the last, the oldest first, and no more than asked for', () => {
    const missed = (from: string, until: string, max: number) =>
      written(missedRuns('0 * * * *', UTC, at(from), at(until), max));
    expect(missed('2026-01-01 00:00', '2026-01-01 02:00', 10)).toEqual(['2026-01-01 01:00', '2026-01-01 02:00']);
    expect(missed('2026-01-01 00:00', '2026-01-01 09:00', 1)).toEqual(['2026-01-01 01:00']);
    expect(missed('2026-01-01 00:30', '2026-01-01 00:59', 10)).toEqual([]);
    expect(missed('2026-01-01 00:00', '2026-01-01 09:00', 0)).toEqual([]);
  });
});

describe('an expression', () => {
  const NOW = at('2026-01-01 00:00');
  const refusal = (cron: string, timezone = UTC) => {
    try {
      checkCron(cron, timezone, NOW);
      return 'taken';
    } catch (error) {
      return error instanceof ScheduleError ? error.code : error;
    }
  };

  test.each([
    '* * * * *',
    '0 9 * * 1-5',
    '*/15 8-18/2 1,15 JAN,jul Mon',
    '0 0 29 2 *',
    '0 0 31 2 1',
    '5,10-20/5,*/7 * * * *',
    Array.from({ length: 60 }, (_, n) => n).join(',') + ' * * * *',
  ])('is taken: %s', (cron) => {
    expect(refusal(cron)).toBe('taken');
  });

  test.each([
    '', ' ', '* * * *', '* * * * * *', '0 0 * * * 2026', '@daily', '@every 5m', '@reboot',
    '60 * * * *', '* 24 * * *', '* * 0 * *', '* * 32 * *', '* * * 0 *', '* * * 13 *', '* * * * 8', '-1 * * * *',
    '0 0 L * *', '0 0 15W * *', '0 0 LW * *', '0 0 * * 5L', '0 0 * * 1#2', '0 0 ? * *', 'H * * * *', '0 0 * * +1',
    '5-1 * * * *', '1/5 * * * *', '*/0 * * * *', '*/99 * * * *', '1,,2 * * * *', ',1 * * * *', '1- * * * *', '*- * * * *',
    '1.5 * * * *', '0x1 * * * *', 'JAN * * * *', '* * * MON *', '* * * * JAN', '* * * * monday', '001 * * * *', '٣ * * * *',
    '*\n* * * *', '０ * * * *', '* * * * *; rm', `${'0,'.repeat(250)}0 * * * *`,
    // Dates that do not exist.
    '0 0 30 2 *', '0 0 31 2,4,6,9,11 *',
  ])('is refused: %j', (cron) => {
    expect(refusal(cron)).toBe('invalid_cron');
  }); // prettier-ignore

  test('says in a sentence which field is wrong', () => {
    expect(() => { checkCron('0 25 * * *', UTC, NOW); }).toThrow('cron: the hour takes *, numbers (0 to 23), ranges, lists and steps such as */15 alone.'); // prettier-ignore
    expect(() => { checkCron('0 0 30 2 *', UTC, NOW); }).toThrow('cron: "0 0 30 2 *" does not come in the next five years; a date that exists is expected.'); // prettier-ignore
  });

  test.each(['Europe/Berlin', 'europe/berlin', 'UTC', 'US/Eastern', 'Etc/GMT+5'])('is taken in the zone %s', (zone) => {
    expect(refusal('0 9 * * *', zone)).toBe('taken');
  });

  test.each(['', 'Mars/Olympus', '+01:00', 'GMT+1', 'Europe/Berlin ', 'Etc/Unknown', 'x'.repeat(1000), '../UTC'])(
    'is refused in the zone %j',
    (zone) => {
      expect(refusal('0 9 * * *', zone)).toBe('invalid_timezone');
    },
  );
});
