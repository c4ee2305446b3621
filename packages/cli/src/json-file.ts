// JSON that a line names: a file, or standard input.
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { UsageError } from './line.js';

/** The object in a file, `-` for standard input, without the fields that are the service's to say. Without a file an empty one. */
export async function objectIn(file: string | undefined, without: readonly string[]): Promise<Record<string, unknown>> {
  if (file === undefined) return {};
  const json = file === '-' ? await text(process.stdin) : fileContent('--file', file);
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw new UsageError(`${file === '-' ? 'Standard input' : file} is no JSON.`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new UsageError('--file takes an object of JSON.');
  }
  return Object.fromEntries(Object.entries(value).filter(([name]) => !without.includes(name)));
}

/** The text of a file that an option names. */
export function fileContent(option: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    const why = { ENOENT: 'there is no such file', EISDIR: 'it is a folder', EACCES: 'you may not read it' }[code] ?? message; // prettier-ignore
    throw new UsageError(`${option} ${file}: ${why}.`);
  }
}
