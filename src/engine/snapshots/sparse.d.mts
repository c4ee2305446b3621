/** Yields the parts of an open file that lie on the disk: place in the file and bytes, at most `most` at a time. Parts are joined until no more than `mostParts` are left. */
export function parts(
  descriptor: number,
  most: number,
  mostParts?: number,
): AsyncGenerator<{ position: number; bytes: Buffer }, void>;
