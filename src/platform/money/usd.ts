// US dollars as text outside, whole micro-dollars inside: nothing is ever rounded by a binary fraction.

const MICROS = 6;

/**
 * Micro-dollars of a decimal number of US dollars: "0.0123" is 12300. Exact for at most 9 digits before the point and 6 after
 * it, which the caller has checked.
 */
export function microsOf(usd: string): number {
  const [whole = '', fraction = ''] = usd.split('.');
  return Number(whole + fraction.padEnd(MICROS, '0'));
}

/** A decimal number of US dollars with two to six decimals: 12300 is "0.0123", 12500000 is "12.50". */
export function usd(micros: number): string {
  const digits = String(micros).padStart(MICROS + 1, '0');
  const fraction = digits.slice(-MICROS).replace(/0{1,4}$/, '');
  return `${digits.slice(0, -MICROS)}.${fraction}`;
}

/** Whether a number of a configuration, as it was written, has at most six decimals. */
export function hasMicros(amount: number): boolean {
  // The shortest text that reads as the same number is what a person wrote, up to 15 digits.
  return /^\d+(\.\d{1,6})?$/.test(String(amount));
}
