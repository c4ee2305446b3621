import { clockOf } from '../../resources/automations/clock.js';
import type { Quiet } from '../../resources/personal-notices/notice-settings.entity.js';

const [MINUTE, DAY] = [60_000, 86_400_000];

/** The end of the quiet hours that `now` lies in; null when it lies in none. */
export function endOfQuiet({ from, to, timezone }: Quiet, now: Date): Date | null {
  const clock = clockOf(timezone);
  // Of a zone that another release of Node knew nothing is held back.
  if (clock === undefined) return null;
  const instant = now.getTime();
  const local = instant + clock(instant);
  const midnight = Math.floor(local / DAY) * DAY;
  const [begin, end, at] = [minutesOf(from) * MINUTE, minutesOf(to) * MINUTE, local - midnight];
  const quiet = begin < end ? at >= begin && at < end : at >= begin || at < end;
  if (!quiet) return null;
  const shown = midnight + end + (at < end ? 0 : DAY);
  // The clocks may be changed before then. A time that they leave out is an hour off, in quiet hours again or just after them.
  const guess = shown - clock(instant);
  return new Date(shown - clock(guess));
}

function minutesOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 60 + minutes;
}
