// Paths between commands, each with a NUL behind it. A name is bytes and need not be UTF-8: here a byte is a character.

/** Those that a command has printed. */
export function bytePaths(printed: Buffer): string[] {
  return printed.toString('latin1').split('\0').filter((path) => path !== ''); // prettier-ignore
}

/** One of them, as people read it. */
export const inWords = (path: string): string => Buffer.from(path, 'latin1').toString();
/** A path as one of them. */
export const inBytes = (path: string): string => Buffer.from(path).toString('latin1');
/** What a command reads of them. @param before goes before each. */
export const asRead = (paths: readonly string[], before = ''): Buffer =>
  Buffer.from(paths.map((path) => `${before}${path}\0`).join(''), 'latin1');
