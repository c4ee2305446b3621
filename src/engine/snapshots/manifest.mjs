// A manifest: what the folders of a task held at one moment, and where the bytes lie. Names are bytes, and stand here as the characters U+0000
// to U+00FF, one for each byte. Each entry is three texts: what find(1) says of it (walk.mjs), its path, and where its bytes lie or where it leads.
// The next snapshot compares the first two and takes all three over as they are: of 20,000 entries it parses and writes those that have changed.
import { aboutOf, numberAt } from './walk.mjs';
import { compress, decompress } from './zstd.mjs';

const VERSION = 2;

/** The kinds of entries, as find(1) names them, and `h`: a further name of a file that stands before it. */
export const [FOLDER, FILE, LINK, HARD] = ['d', 'f', 'l', 'h'];

/** Texts of an entry. */
export const TEXTS = 3;

export async function encode({ objects, frames, roots }) {
  const lengths = Object.entries(roots).map(([root, texts]) => [root, texts.length]);
  const head = JSON.stringify({ version: VERSION, objects, frames, lengths });
  return compress(Buffer.from([head, ...Object.values(roots).map((texts) => texts.join('\0'))].join('\0'), 'latin1'));
}

export async function decode(bytes) {
  const texts = (await decompress(bytes)).toString('latin1').split('\0');
  const { version, objects, frames, lengths } = JSON.parse(texts[0]);
  if (version !== VERSION) throw new Error(`A manifest of version ${VERSION} is expected, not ${version}.`);
  let at = 1;
  const roots = Object.fromEntries(lengths.map(([root, length]) => [root, texts.slice(at, (at += length))]));
  return { objects, frames, roots };
}

/** The entries of a root, for those who need them one by one. */
export function entriesOf({ roots }, root) {
  const texts = roots[root] ?? [];
  const named = (path) => (path === '' ? root : `${root}/${path}`);
  const entries = [];
  for (let at = 0; at < texts.length; at += TEXTS) {
    const { kind, mode, size, mtime } = aboutOf(texts[at]);
    const [path, where] = [named(texts[at + 1]), texts[at + 2]];
    if (kind === FILE) {
      const [sha, ...pieces] = where.split(' ');
      entries.push([path, kind, mode, size, mtime, sha, pieces.map(Number)]);
    } else
      entries.push([path, kind, mode, size, mtime, kind === LINK ? where : kind === HARD ? named(where) : null, null]);
  }
  return entries;
}

/** Calls `use` with the number of the frame of each piece of a file. */
export function eachFrame(where, use) {
  // A text of 64 digits, then four numbers for each piece; the frame is the second one.
  for (let [at, count] = [where.indexOf(' '), 0]; at >= 0; [at, count] = [where.indexOf(' ', at + 1), count + 1])
    if (count % 4 === 1) use(numberAt(where, at + 1));
}

/** The bytes of a name, for the system. */
export const bytesOf = (name) => Buffer.from(name, 'latin1');
/** A name as people read it: what is not UTF-8 is U+FFFD. */
export const shown = (name) => bytesOf(name).toString('utf8');
