/**
 * How many characters a value from JSON has as text, about, and how deep it is nested. It does not recurse, and stops as soon as it is over one of both.
 */
export function weightOf(value: unknown, most: { bytes: number; depth: number }): { bytes: number; depth: number } {
  const open: { inside: unknown[]; at: number }[] = [{ inside: [value], at: 0 }];
  let [bytes, depth] = [0, 0];
  for (let last = open.at(-1); last !== undefined; last = open.at(-1)) {
    if (last.at === last.inside.length) {
      open.pop();
      continue;
    }
    const next = last.inside[last.at++];
    bytes += 1;
    if (typeof next === 'string') bytes += next.length + 2;
    else if (typeof next !== 'object' || next === null) bytes += 1;
    else {
      bytes += 1;
      depth = Math.max(depth, open.length);
      if (Array.isArray(next)) open.push({ inside: next as unknown[], at: 0 });
      else {
        const keys = Object.keys(next);
        for (const key of keys) bytes += key.length + 3;
        open.push({ inside: Object.values(next), at: 0 });
      }
    }
    if (bytes > most.bytes || depth > most.depth) break;
  }
  return { bytes, depth };
}
