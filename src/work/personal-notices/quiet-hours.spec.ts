import { endOfQuiet } from './quiet-hours.js';

const NIGHT = { from: '22:00', to: '07:00', timezone: 'Europe/Berlin' };
const ends = (quiet: typeof NIGHT, now: string) => endOfQuiet(quiet, new Date(now))?.toISOString() ?? null;

describe('Quiet hours (reference §21)', () => {
  it.each([
    // Berlin is two hours ahead of UTC in summer.
    ['2026-07-01T19:59:59Z', null],
    ['2026-07-01T20:00:00Z', '2026-07-02T05:00:00.000Z'],
    ['2026-07-01T23:30:00Z', '2026-07-02T05:00:00.000Z'],
    ['2026-07-02T04:59:59Z', '2026-07-02T05:00:00.000Z'],
    ['2026-07-02T05:00:00Z', null],
  ])('over midnight: at %s they end at %s', (now, end) => {
    expect(ends(NIGHT, now)).toBe(end);
  });

  it('within a day', () => {
    const noon = { from: '12:00', to: '13:30', timezone: 'Asia/Kolkata' };
    expect(ends(noon, '2026-03-01T06:29:59Z')).toBeNull();
    expect(ends(noon, '2026-03-01T06:30:00Z')).toBe('2026-03-01T08:00:00.000Z');
    expect(ends(noon, '2026-03-01T08:00:00Z')).toBeNull();
  });

  it('end by the clocks of the morning when these are changed in the night', () => {
    // Forward on 29 March, back on 25 October 2026.
    expect(ends(NIGHT, '2026-03-28T22:00:00Z')).toBe('2026-03-29T05:00:00.000Z');
    expect(ends(NIGHT, '2026-10-24T22:00:00Z')).toBe('2026-10-25T06:00:00.000Z');
  });

  it('that end at a time which the clocks leave out are over within the hour', () => {
    const end = endOfQuiet({ ...NIGHT, to: '02:30' }, new Date('2026-03-28T22:00:00Z'));
    expect(Math.abs((end?.getTime() ?? 0) - Date.parse('2026-03-29T01:00:00Z'))).toBeLessThanOrEqual(3_600_000);
  });

  it('of a zone that is not known there are none', () => {
    expect(ends({ ...NIGHT, timezone: 'Mars/Olympus' }, '2026-07-01T23:30:00Z')).toBeNull();
  });
});
