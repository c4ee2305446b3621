// What is printed for people.

/** Text of somebody else, without the characters that steer a terminal. */
export const plain = (text: string): string => text.replace(/[^\P{Cc}\n\t]/gu, '');

/** One line of a value. */
export function short(value: unknown, characters = 100): string {
  const line = plain(typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).replace(/\s+/g, ' ');
  return line.length > characters ? `${line.slice(0, characters)}…` : line;
}

/** Less than what stands around it, where that can be seen (https://no-color.org). */
export function faint(text: string): string {
  return process.stderr.isTTY && !process.env['NO_COLOR'] ? `\x1b[2m${text}\x1b[22m` : text;
}
