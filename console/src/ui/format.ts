// Not by way of all texts: they are written with what stands here.
import { common } from '../texts/common.ts';

// Dates, numbers and sizes, by the language of the browser.
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'narrow' });
const date = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
const ahead = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });
const day = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' });
const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const compact = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 });
const plain = new Intl.NumberFormat();
const utcDay = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', timeZone: 'UTC' });
/** Of small amounts as many places as say something. */
const dollars = (places: number) =>
  new Intl.NumberFormat(undefined, {
    style: 'currency',
    currency: 'USD',
    currencyDisplay: 'narrowSymbol',
    maximumFractionDigits: places,
  });
const cents = dollars(2);
const parts = dollars(4);

export const fullTime = (iso: string) => full.format(new Date(iso));
export const clockTime = (iso: string) => clock.format(new Date(iso));
export const dayOf = (iso: string | Date) => day.format(new Date(iso));
/** Of a day of UTC, such as `2026-11-23`. */
export const dayOfUtc = (date: string) => utcDay.format(new Date(`${date}T00:00:00Z`));
export const money = (amount: number) => (amount === 0 || amount >= 1 ? cents : parts).format(amount);
export const count = (n: number) => (n >= 10_000 ? compact.format(n) : plain.format(n));

export function ago(iso: string, now = Date.now()): string {
  const seconds = Math.round((new Date(iso).getTime() - now) / 1000);
  const size = Math.abs(seconds);
  if (size < 45) return seconds > 0 ? common.soon : common.now;
  if (size < 3600) return relative.format(Math.round(seconds / 60), 'minute');
  if (size < 86_400) return relative.format(Math.round(seconds / 3600), 'hour');
  if (size < 7 * 86_400) return relative.format(Math.round(seconds / 86_400), 'day');
  return day.format(new Date(iso));
}

/** Of what is to come: so many days are said further ahead than of what was. */
export function until(iso: string, now = Date.now()): string {
  const days = Math.round((new Date(iso).getTime() - now) / 86_400_000);
  if (days > 90) return date.format(new Date(iso));
  return days < 7 ? ago(iso, now) : ahead.format(days, 'day');
}

export function duration(ms: number): string {
  if (ms < 1000) return `${ms} ms`;
  const s = ms / 1000;
  if (s < 60) return `${s < 10 ? s.toFixed(1) : Math.round(s)} s`;
  const m = Math.floor(s / 60);
  if (m < 60) return Math.floor(s % 60) === 0 ? `${m} min` : `${m} min ${Math.floor(s % 60)} s`;
  return m % 60 === 0 ? `${m / 60} h` : `${Math.floor(m / 60)} h ${m % 60} min`;
}

export function bytes(n: number): string {
  if (n < 1000) return `${n} B`;
  for (const unit of ['kB', 'MB', 'GB']) {
    n /= 1000;
    if (n < 1000) return `${n < 10 ? n.toFixed(1) : Math.round(n)} ${unit}`;
  }
  return `${Math.round(n)} TB`;
}

export const plural = (n: number, one: string, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;

/** As a field of date and time has it, by the clock of this browser: `2026-12-01T09:00`. */
export function localOf(at: Date): string {
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** The instant that such a field says; empty when it says none. */
export function instantOf(local: string): string {
  const at = new Date(local);
  return Number.isNaN(at.getTime()) ? '' : at.toISOString();
}
