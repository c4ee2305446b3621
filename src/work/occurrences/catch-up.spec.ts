import { catchUp, MAX_RECORDED } from './catch-up.js';

const HOUR = 3600;
const at = (time: string) => new Date(time);
const hourly = { dueAt: at('2026-03-01T10:00:00Z'), cron: '0 * * * *', timezone: 'UTC' };

describe('a schedule that is due', () => {
  it('fires its occurrence and is due again at the next one', () => {
    expect(catchUp(hourly, at('2026-03-01T10:00:00.250Z'), HOUR)).toEqual({
      fires: hourly.dueAt,
      missed: [],
      more: false,
      next: at('2026-03-01T11:00:00Z'),
    });
  });

  it('fires the latest of the missed occurrences when that is within the window, and the others are skipped', () => {
    expect(catchUp(hourly, at('2026-03-01T12:30:00Z'), HOUR)).toEqual({
      fires: at('2026-03-01T12:00:00Z'),
      missed: [hourly.dueAt, at('2026-03-01T11:00:00Z')],
      more: false,
      next: at('2026-03-01T13:00:00Z'),
    });
  });

  it('fires none when the latest is older than the window', () => {
    const daily = { ...hourly, cron: '0 10 * * *' };
    expect(catchUp(daily, at('2026-03-01T11:00:00Z'), HOUR).fires).toEqual(daily.dueAt);
    expect(catchUp(daily, at('2026-03-01T11:00:00.001Z'), HOUR)).toEqual({
      fires: null,
      missed: [daily.dueAt],
      more: false,
      next: at('2026-03-02T10:00:00Z'),
    });
  });

  it('records the first and the newest hundred of a year of one each minute', () => {
    const minutely = { ...hourly, cron: '* * * * *' };
    const now = at('2027-03-01T10:00:30Z');
    const { fires, missed, more, next } = catchUp(minutely, now, HOUR);
    expect(fires).toEqual(at('2027-03-01T10:00:00Z'));
    expect(missed).toHaveLength(MAX_RECORDED);
    expect(missed[0]).toEqual(minutely.dueAt);
    expect(missed[1]).toEqual(at('2027-03-01T08:21:00Z'));
    expect(missed.at(-1)).toEqual(at('2027-03-01T09:59:00Z'));
    expect(more).toBe(true);
    expect(next).toEqual(at('2027-03-01T10:01:00Z'));
  });

  it('finds the few occurrences of a long time', () => {
    const yearly = { dueAt: at('2020-02-29T00:00:00Z'), cron: '0 0 29 2 *', timezone: 'UTC' };
    const { missed, more, next } = catchUp(yearly, at('2029-01-01T00:00:00Z'), HOUR);
    expect(missed).toEqual([yearly.dueAt, at('2024-02-29T00:00:00Z'), at('2028-02-29T00:00:00Z')]);
    expect(more).toBe(false);
    expect(next).toEqual(at('2032-02-29T00:00:00Z'));
  });

  it('fires a single time however late', () => {
    const once = { dueAt: at('2020-01-01T00:00:00Z'), cron: null, timezone: null };
    expect(catchUp(once, at('2026-03-01T00:00:00Z'), HOUR)).toEqual({
      fires: once.dueAt,
      missed: [],
      more: false,
      next: null,
    });
  });
});
