const FORM = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/;

/** An ISO 8601 time with `Z` or an offset; null for anything else, and for days that do not exist. */
export function instantOf(text: string): Date | null {
  const [, day] = FORM.exec(text) ?? [];
  if (day === undefined) return null;
  const instant = new Date(text);
  // Date takes 30 February for 2 March.
  const midnight = new Date(`${day}T00:00:00Z`);
  const exists = !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(day);
  return exists && !Number.isNaN(instant.getTime()) && instant.getTime() < LATEST ? instant : null;
}

/** Whether a text has the form of a date, such as `2026-12-01`. */
export const isDate = (text: string): boolean => /^\d{4}-\d\d-\d\d$/.test(text);

/** As {@link instantOf}, and for a date its beginning in UTC. */
export function momentOf(text: string): Date | null {
  return instantOf(isDate(text) ? `${text}T00:00:00Z` : text);
}

/** Years have four digits. */
const LATEST = Date.UTC(10_000, 0);
