// Finds secrets in what hosts answer, and in what commands print, and puts `[secret NAME]` in their place. It is a net for accidents: who is
// given a value can give it away in a form of its own (docs/decisions/0096).
// Plain JavaScript: the thread of the proxy runs it as it is.
import { Transform } from 'node:stream';
import { URLSearchParams } from 'node:url';

/** What is shorter is not looked for: it would be found in other words. Bytes. */
export const SHORTEST = 8;
/** A piece of a value that is shorter is not taken for one: values have common words in them. Bytes. */
const PIECE = 15;
/** Pieces are known by blocks of a form that begin at multiples of it, so each piece of 22 bytes has one. */
const BLOCK = 8;
const STAR = 0x2a;

/**
 * What a value looks like in texts, as bytes: itself, in other cases, escaped for JSON, HTML and addresses, in hexadecimal, UTF-16 and Base64, where
 * three places to begin give three texts.
 * @param {string} value
 * @returns {Buffer[]}
 */
export function formsOf(value) {
  const bytes = Buffer.from(value);
  const percent = encodeURIComponent(value);
  const all = bytes.toString('hex').replace(/../g, '%$&');
  const hex = bytes.toString('hex');
  const texts = [value, value.toUpperCase(), value.toLowerCase(), JSON.stringify(value).slice(1, -1), html(value)];
  texts.push(
    percent,
    percent.replace(/%../g, (code) => code.toLowerCase()),
    new URLSearchParams([['', value]]).toString().slice(1),
    all,
    all.toUpperCase(),
    hex,
    hex.toUpperCase(),
  );
  for (const before of [0, 1, 2]) {
    for (const text of base64(bytes, before))
      texts.push(text, text.replaceAll('+', '-').replaceAll('/', '_'), encodeURIComponent(text));
  }
  const little = Buffer.from(value, 'utf16le');
  const forms = [...texts.map((text) => Buffer.from(text)), little, Buffer.from(little).swap16()];
  const distinct = new Map(forms.map((form) => [form.toString('latin1'), form]));
  return [...distinct.values()].filter(({ length }) => length >= SHORTEST);
}

function html(value) {
  const names = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
  return value.replace(/[&<>"']/g, (character) => names[character]);
}

/**
 * Those characters of its Base64 behind so many other bytes that depend on it alone; and, where nothing comes behind it, as that of a user and a password,
 * all to the end. Of one in the middle of other bytes a neighbouring character at each side has 2 or 4 bits, and stays.
 */
function base64(bytes, before) {
  const padded = Buffer.concat([Buffer.alloc(before), bytes])
    .toString('base64')
    .slice(before === 0 ? 0 : before + 1);
  const last = padded.replace(/=+$/, '');
  return (before + bytes.length) % 3 === 0 ? [last] : [last.slice(0, -1), last, padded];
}

/**
 * Looks for all forms of some values at once (Wu and Manber, by three bytes at a time: Base64 has few pairs, and would have them all with 20 values).
 */
export class Finder {
  /** Bytes of the longest form. */
  longest = 0;
  #known = new Set();
  #pieces;
  /** How far one may go on when three bytes stand at the end of a block, by what {@link keyOf} makes of them. */
  #shift = new Uint8Array(65_536).fill(BLOCK - 2);
  /** The blocks by their last three bytes. */
  #blocks = new Map();
  /** The forms by the first byte of each of their blocks: where one of them may begin. */
  #beginnings = new Map();

  /**
   * @param {{ name: string, value: string }[]} secrets
   * @param {{ pieces: boolean }} options whether pieces of values are looked for too, of 22 bytes at the latest.
   */
  constructor(secrets, { pieces }) {
    this.#pieces = pieces;
    this.add(secrets);
  }

  /** Looks for these too, from now on, also in streams that have begun. */
  add(secrets) {
    for (const { name, value } of secrets) {
      if (this.#known.has(value)) continue;
      this.#known.add(value);
      for (const bytes of formsOf(value)) this.#add({ name, bytes });
    }
  }

  #add(form) {
    const { bytes } = form;
    form.least = this.#pieces ? Math.min(PIECE, bytes.length) : bytes.length;
    this.longest = Math.max(this.longest, bytes.length);
    const last = this.#pieces ? bytes.length - BLOCK : 0;
    for (let at = 0; at <= last; at += BLOCK) {
      for (let end = 2; end < BLOCK; end++) {
        const key = keyOf(bytes, at + end);
        this.#shift[key] = Math.min(this.#shift[key], BLOCK - 1 - end);
      }
      put(this.#blocks, keyOf(bytes, at + BLOCK - 1), { form, at });
      put(this.#beginnings, bytes[at], { bytes, at });
    }
  }

  /**
   * Where values are, in the order of the bytes. What overlaps is one.
   * @param {Buffer} data
   * @returns {{ from: number, to: number, name: string }[]}
   */
  find(data) {
    const found = [];
    const shift = this.#shift;
    for (let end = BLOCK - 1; end < data.length;) {
      const key = keyOf(data, end);
      const far = shift[key];
      if (far > 0) {
        end += far;
        continue;
      }
      let next = end + 1;
      for (const { form, at } of this.#blocks.get(key) ?? []) {
        const run = runAround(data, end - BLOCK + 1, form, at);
        if (run === null) continue;
        join(found, { ...run, name: form.name });
        // The next block that says more is not within it. In values of equal bytes each block would be compared with each.
        if (this.#pieces) next = Math.max(next, run.to);
      }
      end = next;
    }
    return found;
  }

  /** How many of the last bytes may be the beginning of a value, or of a piece. */
  open(data) {
    for (let from = Math.max(0, data.length - this.longest + 1); from < data.length; from++) {
      const length = data.length - from;
      for (const { bytes, at } of this.#beginnings.get(data[from]) ?? []) {
        if (at + length < bytes.length && data.compare(bytes, at, at + length, from) === 0) return length;
      }
    }
    return 0;
  }
}

/** Of the three bytes that end there, 16 bits. */
function keyOf(bytes, end) {
  return ((bytes[end - 2] << 10) ^ (bytes[end - 1] << 5) ^ bytes[end]) & 0xffff;
}

function put(map, key, value) {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}

/** The bytes that are those of the form, around a block of it; null when the block is another one, or they are too few. */
function runAround(data, start, { bytes: form, least }, at) {
  if (data.compare(form, at, at + BLOCK, start, start + BLOCK) !== 0) return null;
  let before = 0;
  while (before < at && before < start && data[start - before - 1] === form[at - before - 1]) before++;
  let behind = BLOCK;
  while (at + behind < form.length && start + behind < data.length && data[start + behind] === form[at + behind])
    behind++;
  const length = before + behind;
  return length < least ? null : { from: start - before, to: start + behind };
}

/** They come by their ends, more or less: what overlaps the last ones becomes one with them. */
function join(found, run) {
  let last = found.at(-1);
  while (last !== undefined && last.to >= run.from && last.from <= run.to) {
    run = { from: Math.min(last.from, run.from), to: Math.max(last.to, run.to), name: last.name };
    found.pop();
    last = found.at(-1);
  }
  found.push(run);
}

/**
 * The bytes with `[secret NAME]` in the place of values; the same bytes when there are none.
 * @param {Finder} finder
 * @param {Buffer} data
 * @param {(name: string) => void} [hit] is told of each.
 */
export function masked(finder, data, hit) {
  const found = finder.find(data);
  if (found.length === 0) return data;
  const parts = [];
  let at = 0;
  for (const { from, to, name } of found) {
    hit?.(name);
    parts.push(data.subarray(at, from), Buffer.from(`[secret ${name}]`));
    at = to;
  }
  return Buffer.concat([...parts, data.subarray(at)]);
}

/**
 * Fewer last bytes are not held back, whatever begins with them: most bytes begin some form, and the last one of a message would wait for the next
 * message. They are kept in mind, so that the rest of a value goes when it is one.
 */
const FEW = 4;

/** Masks a stream. It holds back only what may be the beginning of a value, so that an event which is over goes on at once. */
export class Mask extends Transform {
  #finder;
  #hit;
  #keepsLength;
  /** The last bytes, of which the first ones may have gone on already. */
  #last = Buffer.alloc(0);
  #gone = 0;
  /** Of the last bytes, how many are of a value whose place is taken already; -1: none, and the byte before them was not either. */
  #covered = -1;

  /**
   * @param {Finder} finder
   * @param {{ hit?: (name: string) => void, keepsLength?: boolean }} [options] keepsLength: each byte becomes a star, as where lengths stand before texts.
   */
  constructor(finder, { hit, keepsLength = false } = {}) {
    super();
    this.#finder = finder;
    this.#hit = hit;
    this.#keepsLength = keepsLength;
  }

  _transform(chunk, _encoding, done) {
    const data = this.#last.length === 0 ? chunk : Buffer.concat([this.#last, chunk]);
    const begun = data.length - this.#finder.open(data);
    const few = data.length - begun < FEW;
    const shown = this.#shown(data, few ? data.length : begun);
    this.#last = data.subarray(begun);
    this.#gone = few ? this.#last.length : Math.max(0, this.#gone - begun);
    this.#covered = this.#covered >= begun ? this.#covered - begun : -1;
    done(null, shown);
  }

  _flush(done) {
    done(null, this.#shown(this.#last, this.#last.length));
  }

  /** The bytes before `cut` as they are shown, without those that have gone on. */
  #shown(data, cut) {
    const parts = [];
    let at = this.#gone;
    const cover = (to) => {
      const end = Math.min(to, cut);
      if (this.#keepsLength && end > at) parts.push(Buffer.alloc(end - at, STAR));
      at = Math.max(at, end);
    };
    if (this.#covered > 0) cover(this.#covered);
    for (const { from, to, name } of this.#finder.find(data)) {
      if (from >= cut) break;
      // Otherwise it goes on from a value whose place is taken.
      if (from > this.#covered) {
        if (from > at) parts.push(data.subarray(at, from));
        at = Math.max(at, from);
        if (!this.#keepsLength) parts.push(Buffer.from(`[secret ${name}]`));
        this.#hit?.(name);
      }
      this.#covered = Math.max(this.#covered, to);
      cover(to);
    }
    if (at < cut) parts.push(data.subarray(at, cut));
    return parts.length === 1 ? parts[0] : Buffer.concat(parts);
  }
}
