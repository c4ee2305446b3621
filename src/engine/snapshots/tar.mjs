// Entries of an archive as GNU tar reads them: names are bytes (headers L and K), times have nanoseconds and sparse files a map (pax headers).
import { FILE } from './manifest.mjs';

const BLOCK = 512;
const TYPES = { d: '5', f: '0', l: '2', h: '1' };
const ZEROS = Buffer.alloc(BLOCK);
/** A time that a plain header has. */
const WHOLE_SECONDS = /^[0-9]{1,9}\.0+$/;
const NONE = Buffer.alloc(0);

const filled = (length) => (BLOCK - (length % BLOCK)) % BLOCK;

/** Where the headers of an entry are put together, each time in the same memory: there may be a million entries. */
let room = Buffer.alloc(16 * 1024);
let used = 0;

/** The headers of an entry; its bytes and {@link filling} follow. They are valid until the next call. */
export function header({ name, kind, mode, mtime, owner, size, pieces, link }) {
  const map = kind === FILE && isSparse(size, pieces) ? mapOf(size, pieces) : NONE;
  const length = kind !== FILE ? 0 : map === NONE ? size : map.length + filled(map.length) + held(pieces);
  const attributes = length >= 8 ** 11 ? [['size', length]] : [];
  if (!WHOLE_SECONDS.test(mtime)) attributes.push(['mtime', mtime]);
  if (map !== NONE) attributes.push(['GNU.sparse.major', 1], ['GNU.sparse.minor', 0], ['GNU.sparse.realsize', size]);
  const pax = Buffer.from(attributes.map(attribute).join(''), 'latin1');
  used = 0;
  if (link.length > 99) long('K', link);
  if (name.length > 99) long('L', name);
  if (pax.length > 0) {
    block({ type: 'x', name: PAX, size: pax.length });
    whole(pax);
  }
  block({ type: TYPES[kind], name, mode, owner, mtime: Math.max(0, Math.floor(Number(mtime))), size: length, link });
  whole(map);
  return room.subarray(0, used);
}

const PAX = Buffer.from('x');
const LONG = Buffer.from('././@LongLink');

/** What follows the bytes of a file, up to a whole block. */
export const filling = (pieces) => ZEROS.subarray(0, filled(held(pieces)));

function held(pieces) {
  let sum = 0;
  for (let at = 3; at < pieces.length; at += 4) sum += pieces[at];
  return sum;
}

const isSparse = (size, pieces) => held(pieces) < size;

/** The last part is empty and stands at the end: the file may end with a hole. */
function mapOf(size, pieces) {
  const lines = [pieces.length / 4 + 1];
  for (let at = 0; at < pieces.length; at += 4) lines.push(pieces[at], pieces[at + 3]);
  return Buffer.from(`${[...lines, size, 0].join('\n')}\n`);
}

/** `length key=value`: the length counts its own digits. */
function attribute([key, value]) {
  const rest = ` ${key}=${value}\n`;
  let length = rest.length + 1;
  while (`${length}${rest}`.length !== length) length += 1;
  return `${length}${rest}`;
}

function long(type, name) {
  block({ type, name: LONG, size: name.length + 1 });
  whole(Buffer.concat([name, ZEROS.subarray(0, 1)]));
}

/** The next bytes of the room, zeros. */
function take(length) {
  if (used + length > room.length) room = Buffer.concat([room, Buffer.alloc(used + length)]);
  const at = used;
  used += length;
  room.fill(0, at, used);
  return at;
}

function whole(bytes) {
  if (bytes.length > 0) bytes.copy(room, take(bytes.length + filled(bytes.length)));
}

const octal = (value, length) => `${value.toString(8).padStart(length - 1, '0')}\0`;

function block({ type, name, mode = 0o644, owner = 0, mtime = 0, size, link = NONE }) {
  const at = take(BLOCK);
  name.copy(room, at, 0, 100);
  const numbers = `${octal(mode, 8)}${octal(owner, 8).repeat(2)}${octal(size < 8 ** 11 ? size : 0, 12)}${octal(mtime % 8 ** 11, 12)}`;
  room.write(`${numbers}${' '.repeat(8)}${type}`, at + 100, 'latin1');
  link.copy(room, at + 157, 0, 100);
  // The mark of POSIX: by that of GNU itself tar does not look at the map of a sparse file.
  room.write('ustar\x0000', at + 257, 'latin1');
  let sum = 0;
  for (let byte = at; byte < at + BLOCK; byte++) sum += room[byte];
  room.write(`${sum.toString(8).padStart(6, '0')}\0 `, at + 148, 'latin1');
}
