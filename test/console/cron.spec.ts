import { array, assert, constantFrom, integer, oneof, property, tuple } from 'fast-check';
import { nextTimes, parseCron } from '../../console/src/pages/automations/cron.js';
import { checkCron, ScheduleError, upcomingRuns } from '../../src/resources/automations/schedule.js';

const ZONES = [
  'UTC',
  'America/New_York',
  'Europe/Berlin',
  'Australia/Lord_Howe',
  'Africa/Casablanca',
  'Asia/Kathmandu',
];
const YEAR = Date.UTC(2026, 0);
const NOW = new Date('2026-03-01T12:00:00Z');

const shown = (cron: string, zone: string, after: Date, count = 5) => {
  const parsed = parseCron(cron);
  return parsed && nextTimes(parsed, zone, after.getTime(), count).map((time) => new Date(time).toISOString());
};
const served = (cron: string, zone: string, after: Date, count = 5) =>
  upcomingRuns(cron, zone, after, count).map((time) => time.toISOString());

/** Whether the service takes it; what never comes is well-formed. */
function isTaken(cron: string): boolean {
  try {
    checkCron(cron, 'UTC', NOW);
    return true;
  } catch (error) {
    if (!(error instanceof ScheduleError)) throw error;
    return error.message.includes('does not come');
  }
}

function field(low: number, high: number) {
  const number = integer({ min: low, max: high });
  const range = tuple(number, number).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`);
  const step = integer({ min: 1, max: high });
  const item = oneof(
    number.map(String),
    range,
    tuple(range, step).map(([all, by]) => `${all}/${by}`),
    step.map((by) => `*/${by}`),
  );
  return oneof({ weight: 3, arbitrary: constantFrom('*') }, array(item, { minLength: 1, maxLength: 3 }).map((all) => all.join(','))); // prettier-ignore
}

const expression = tuple(field(0, 59), field(0, 23), field(1, 31), field(1, 12), field(0, 7)).map((all) => all.join(' ')); // prettier-ignore

describe('cron in the page', () => {
  it('comes when the service lets it come, in every zone, also where clocks change', () => {
    const instant = integer({ min: 0, max: 366 * 1440 }).map((minutes) => new Date(YEAR + minutes * 60_000));
    assert(
      property(expression, constantFrom(...ZONES), instant, (cron, zone, after) => {
        expect(shown(cron, zone, after, 3)).toEqual(served(cron, zone, after, 3));
      }),
      { numRuns: 300, seed: 1 },
    );
  });

  it.each([
    ['America/New_York', '30 2 * * *', '2026-03-07T00:00:00Z'],
    ['America/New_York', '0 */2 * * *', '2026-03-08T04:00:00Z'],
    ['America/New_York', '15,45 1 * * *', '2026-11-01T04:00:00Z'],
    ['America/New_York', '*/30 * * * *', '2026-11-01T05:00:00Z'],
    ['Europe/Berlin', '0 * * * *', '2026-10-24T23:30:00Z'],
    ['Australia/Lord_Howe', '15 2 * * *', '2026-10-02T20:00:00Z'],
    ['Australia/Lord_Howe', '45 1 * * *', '2026-04-03T20:00:00Z'],
    ['Pacific/Apia', '0 8,12,18 * * *', '2011-12-29T23:00:00Z'],
    ['UTC', '0 12 29 2 *', '2026-01-01T00:00:00Z'],
    ['UTC', '0 0 3 * 1', '2026-01-01T00:00:00Z'],
    ['UTC', '0 9 * JAN-FEB mon-fri', '2026-01-02T12:00:00Z'],
    ['UTC', '0 0 * * fri-sun', '2026-01-02T12:00:00Z'],
    ['UTC', '0 0 30 2 *', '2026-01-01T00:00:00Z'],
  ])('comes in %s by "%s" when the service lets it come', (zone, cron, after) => {
    expect(shown(cron, zone, new Date(after))).toEqual(served(cron, zone, new Date(after)));
  });

  it.each([
    '* * * *', '* * * * * *', '60 * * * *', '* 24 * * *', '* * 0 * *', '* * 32 * *', '* * * 13 *', '* * * * 8', '5/10 * * * *',
    '9-3 * * * *', '*/0 * * * *', '*/61 * * * *', '* * * * fri-mon', '@daily', '', 'x * * * *', '* * L * *', '* * * * 1#2',
    '1,,2 * * * *', '-1 * * * *', '* * * foo *', '0 0 * * 5-0', '0 0 * * 0-0', '0 0 * * sun-sun', '0 0 * jan,dec 7', '  0   9 * * 1 ',
    '0-59/60 * * * *', '*,5 * * * *', '0 0 */31 * *', '0 0 */32 * *', '0 0 * * */7', '0 0 * * */8', '0 0 * * 1-7/2', '00 009 * * *',
  ])('takes %j if the service does', (cron) => {
    expect(parseCron(cron) !== null).toBe(isTaken(cron));
  }); // prettier-ignore

  it('knows no zone that the service does not know', () => {
    const always = parseCron('* * * * *');
    for (const zone of ['', 'Mars/Olympus', '+01:00', '../UTC'])
      expect(always && nextTimes(always, zone, 0, 1)).toEqual([]);
  });
});
