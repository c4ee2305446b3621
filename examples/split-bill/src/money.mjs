const AMOUNT = /^(\d{1,12})(?:\.(\d{2}))?$/;

/** "12.30" → 1230. Text all the way: 0.1 + 0.2 must not happen to money. */
export function parseCents(text) {
  const match = AMOUNT.exec(text.trim());
  if (match === null) throw new RangeError(`'${text}' is not an amount such as 12 or 12.30`);
  return Number(match[1]) * 100 + Number(match[2] ?? 0);
}

/** 1230 → "12.30" */
export function formatCents(cents) {
  return `${Math.trunc(cents / 100)}.${String(cents % 100).padStart(2, '0')}`;
}
