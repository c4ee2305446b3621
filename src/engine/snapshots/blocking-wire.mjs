// The other end of wire.mjs, in the programs: they have nobody else to serve, so they wait in the call itself. A record is read where it
// stays, at once, and the modules that Node's streams need are not loaded.
import { readSync, writeSync } from 'node:fs';

const [INPUT, OUTPUT] = [0, 1];
const HEAD = 5;

/** `bodies` follow each other as one. */
export function send(type, ...bodies) {
  const all = bodies.map((body) => (typeof body === 'string' ? Buffer.from(body) : body));
  const head = Buffer.alloc(HEAD);
  head.writeUInt8(type.charCodeAt(0));
  head.writeUInt32LE(
    all.reduce((sum, { length }) => sum + length, 0),
    1,
  );
  for (const bytes of [head, ...all])
    for (let at = 0; at < bytes.length;) at += writeSync(OUTPUT, bytes, at, bytes.length - at);
}

/** The body of the next record, which has this type. */
export function expect(type) {
  const record = next();
  if (record?.type !== type) throw new Error(`A record ${type} is expected, not ${record?.type ?? 'the end'}.`);
  return record.body;
}

/** The next record; null at the end. */
export function next() {
  const head = take(HEAD);
  const body = head === null ? null : take(head.readUInt32LE(1));
  return body === null ? null : { type: String.fromCharCode(head[0]), body };
}

/** Null at the end. */
function take(length) {
  const bytes = Buffer.allocUnsafeSlow(length);
  for (let at = 0; at < length;) {
    const read = readSync(INPUT, bytes, at, length - at, null);
    if (read === 0) return null;
    at += read;
  }
  return bytes;
}
