// Where a sparse file has bytes. Node knows no lseek(2), and reading a hole of a terabyte takes minutes, so tar(1) is asked: it writes a map of the file
// and the bytes alone (GNU tar manual, "PAX Format, Version 1.0").
import { spawn } from 'node:child_process';

const BLOCK = 512;
/** Each part of a file has its place in the manifest. Of a file of more parts than these the narrowest holes are read as zeros. */
const MOST_PARTS = 100_000;

/** Yields the parts of an open file that lie on the disk: place in the file and bytes, at most `most` at a time. Parts are joined until no more than `mostParts` are left. */
export async function* parts(descriptor, most, mostParts = MOST_PARTS) {
  const format = ['--format=pax', '--sparse', '--sparse-version=1.0', '--hole-detection=seek'];
  // The handle of the file is given on, so it is this file whatever its name is by now.
  const from = ['--absolute-names', '--dereference', '--', '/proc/self/fd/3'];
  const child = spawn('tar', ['--create', '--file=-', ...format, ...from], {
    env: { LC_ALL: 'C', PATH: '/usr/bin:/bin' },
    stdio: ['ignore', 'pipe', 'ignore', descriptor],
  });
  const failed = new Promise((_, reject) => child.on('error', reject));
  failed.catch(() => undefined);
  const stream = new Stream(child.stdout);
  try {
    const head = await Promise.race([stream.header(), failed]);
    const map = head.sparse ? await stream.map() : Float64Array.of(0, head.size);
    let first = 0;
    for (const behind of joined(map, mostParts)) {
      yield* stream.bytes(map.subarray(2 * first, 2 * behind), most);
      first = behind;
    }
  } finally {
    child.kill('SIGKILL');
  }
}

/** Yields behind which part the next ones stand apart: behind all, and before the widest holes. */
function* joined(map, mostParts) {
  const count = map.length / 2;
  const hole = (at) => map[2 * at] - map[2 * at - 2] - map[2 * at - 1];
  const holes = Float64Array.from({ length: Math.max(0, count - 1) }, (_, at) => hole(at + 1)).sort();
  const narrowest = holes.at(-mostParts + 1) ?? 0;
  // Of equal ones, as many as there is room for.
  let equal = mostParts - 1 - holes.reduce((sum, one) => sum + (one > narrowest), 0);
  for (let at = 1; at < count; at++) if (hole(at) > narrowest || (hole(at) === narrowest && equal-- > 0)) yield at;
  yield count;
}

class Stream {
  #input;
  #left = Buffer.alloc(0);

  constructor(input) {
    this.#input = input[Symbol.asyncIterator]();
  }

  /** Of the file: the headers of its attributes come before its own. */
  async header() {
    let sparse = false;
    for (;;) {
      const block = await this.#take(BLOCK);
      const size = parseInt(block.toString('latin1', 124, 136), 8);
      const type = String.fromCharCode(block[156]);
      if (type !== 'x') return { size, sparse };
      const attributes = await this.#take(Math.ceil(size / BLOCK) * BLOCK);
      sparse ||= attributes.includes('GNU.sparse.major=1');
    }
  }

  /** Lines of numbers: how many parts there are, then place and length of each. Filled up to a whole block. */
  async map() {
    let [numbers, filled, rest] = [null, 0, ''];
    while (numbers === null || filled < numbers.length) {
      const lines = (rest + (await this.#take(BLOCK)).toString('latin1').replaceAll('\0', '')).split('\n');
      rest = lines.pop();
      if (numbers === null && lines.length > 0) numbers = new Float64Array(2 * Number(lines.shift()));
      for (const line of lines) numbers[filled++] = Number(line);
    }
    // The last one has no bytes where the file ends with a hole.
    return numbers.at(-1) === 0 ? numbers.subarray(0, -2) : numbers;
  }

  /** Those of some parts, and of the holes between them. */
  async *bytes(map, most) {
    const end = map.at(-2) + map.at(-1);
    let [at, done] = [0, 0];
    for (let position = map[0]; position < end;) {
      const bytes = Buffer.alloc(Math.min(most, end - position));
      const to = position + bytes.length;
      while (at < map.length && map[at] + done < to) {
        const [place, left] = [map[at] + done, map[at + 1] - done];
        const taken = await this.#take(Math.min(left, to - place));
        taken.copy(bytes, place - position);
        [at, done] = taken.length < left ? [at, done + taken.length] : [at + 2, 0];
      }
      yield { position, bytes };
      position = to;
    }
  }

  async #take(length) {
    const chunks = [this.#left];
    let size = this.#left.length;
    while (size < length) {
      const { done, value } = await this.#input.next();
      if (done) throw new Error('tar(1) has ended too early.');
      chunks.push(value);
      size += value.length;
    }
    const all = chunks.length === 1 ? this.#left : Buffer.concat(chunks);
    this.#left = all.subarray(length);
    return all.subarray(0, length);
  }
}
