import { readFileSync } from 'node:fs';

/** The description of a tool: the text file of its name in this folder. */
export function toolText(name: string): string {
  return readFileSync(new URL(`./${name}.txt`, import.meta.url), 'utf8').trim();
}

/** A word for `sh` that means exactly this text. */
export function shellQuote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A path as an argument: never taken for an option, and with the home for `~`. */
export function shellPath(path: string): string {
  if (path === '~' || path.startsWith('~/')) return `"$HOME"${shellQuote(path.slice(1))}`;
  return shellQuote(path.startsWith('-') ? `./${path}` : path);
}

/** Text for a shell or a path: a NUL would end it early. */
export function noNul(text: string): boolean {
  return !text.includes('\0');
}

/** The nearest whole number from `least` to `most`: a model that asks for more gets what there is. */
export function within(least: number, most: number): (value: number) => number {
  return (value) => Math.min(most, Math.max(least, Math.trunc(value)));
}

/** What models call the `path` of a file. */
export const FILE_PATH = ['file_path', 'file', 'filename', 'target_file'];
/** And that of a folder. */
export const FOLDER_PATH = ['directory', 'dir', 'folder'];

/** First and last part of a text; what is between is counted. */
export function truncateMiddle(text: string, max: number): { text: string; truncated: boolean } {
  if (text.length <= max) return { text, truncated: false };
  const half = Math.floor(max / 2);
  const left = text.length - 2 * half;
  // A character of two halves may be split. PostgreSQL stores no half, so the model would read something else later.
  const [first, last] = [text.slice(0, half).toWellFormed(), text.slice(-half).toWellFormed()];
  return { text: `${first}\n[… ${left} characters left out …]\n${last}`, truncated: true };
}
