import { readFileSync } from 'node:fs';

/** The description of a tool: the text file of its name in this folder. */
export function toolText(name: string): string {
  return readFileSync(new URL(`./${name}.txt`, import.meta.url), 'utf8').trim();
}

/** A word for `sh` that means exactly this text. */
export function shellQuote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A path as an argument: never taken for an option. */
export function shellPath(path: string): string {
  return shellQuote(path.startsWith('-') ? `./${path}` : path);
}

/** Text for a shell or a path: a NUL would end it early. */
export function noNul(text: string): boolean {
  return !text.includes('\0');
}

/** First and last part of a text; what is between is counted. */
export function cutMiddle(text: string, max: number): { text: string; cut: boolean } {
  if (text.length <= max) return { text, cut: false };
  const half = Math.floor(max / 2);
  const left = text.length - 2 * half;
  return { text: `${text.slice(0, half)}\n[… ${left} characters left out …]\n${text.slice(-half)}`, cut: true };
}
