// Makes folders again from a manifest (P) and its objects, which it asks for (G; answer O), below the folders that it is told (R). tar(1) writes
// them: it sets times to the nanosecond, which Node cannot, and needs a third of the time.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, send } from './blocking-wire.mjs';
import { bytesOf, decode, entriesOf, FILE, FOLDER, HARD, LINK } from './manifest.mjs';
import { filling, header } from './tar.mjs';
import { decompress } from './zstd.mjs';

/** Bytes that are given to tar at once: most files are small. */
const ROOM_BYTES = 512 * 1024;
/** Objects and frames that are kept: files that lie together are asked for together. */
const KEPT = { objects: 3, frames: 8 };

const NONE = Buffer.alloc(0);

class Kept {
  #all = new Map();

  constructor(most, make) {
    this.most = most;
    this.make = make;
  }

  get(key) {
    const found = this.#all.get(key) ?? this.make(key);
    this.#all.delete(key);
    this.#all.set(key, found);
    if (this.#all.size > this.most) this.#all.delete(this.#all.keys().next().value);
    return found;
  }
}

/** What tar(1) reads: one room is filled while it reads the other. */
class Archive {
  #stream;
  #rooms = [0, 1].map(() => ({ bytes: Buffer.allocUnsafeSlow(ROOM_BYTES), read: Promise.resolve() }));
  #filled = 0;

  constructor(stream) {
    this.#stream = stream;
  }

  /** The bytes are copied. Null, or resolves when there is room for more. */
  write(bytes) {
    const copied = bytes.copy(this.#rooms[0].bytes, this.#filled);
    this.#filled += copied;
    return this.#filled < ROOM_BYTES ? null : this.#turn(bytes.subarray(copied));
  }

  async #turn(left) {
    await this.flush();
    await this.write(left);
  }

  async flush() {
    const [room, other] = this.#rooms;
    // An error is told by the end of tar(1).
    room.read = new Promise((resolve) => this.#stream.write(room.bytes.subarray(0, this.#filled), resolve));
    [this.#rooms, this.#filled] = [[other, room], 0];
    await other.read;
  }
}

const { roots, owner } = JSON.parse(expect('R').toString());
const manifest = await decode(expect('P'));

const objects = new Kept(KEPT.objects, (at) => {
  send('G', manifest.objects[at]);
  return expect('O');
});
/** Promises of frames. */
const frames = new Kept(KEPT.frames, (at) => {
  const [object, offset, length] = manifest.frames[at];
  return decompress(objects.get(object).subarray(offset, offset + length));
});

for (const [root, folder] of Object.entries(roots)) {
  const entries = entriesOf(manifest, root);
  if (entries.length > 0) await restore(root, folder, entries);
}
send('D');

async function restore(root, folder, entries) {
  const owning = owner === null ? ['--no-same-owner'] : ['--same-owner', '--numeric-owner'];
  const how = [
    '--extract',
    '--file=-',
    '--preserve-permissions',
    '--delay-directory-restore',
    '--warning=none',
    `--record-size=${ROOM_BYTES}`,
    ...owning,
  ];
  const tar = spawn('tar', [...how, '--directory=/proc/self/cwd'], {
    cwd: folder,
    env: { LC_ALL: 'C', PATH: '/usr/bin:/bin' },
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  let said = '';
  tar.stderr.on('data', (text) => (said += said.length < 2_000 ? text : ''));
  tar.stdin.on('error', () => undefined);
  const ended = once(tar, 'close');
  const archive = new Archive(tar.stdin);
  const named = (path) => bytesOf(path === root ? '.' : path.slice(root.length + 1));
  let [last, frame] = [-1, null];
  for (const entry of inOrder(entries)) {
    const [path, kind, mode, bytes, mtime, target, pieces] = entry;
    const link = kind === HARD ? named(target) : kind === LINK ? bytesOf(target) : NONE;
    const about = { name: named(path), kind, mode, mtime, owner: owner ?? 0, size: bytes, pieces, link };
    // Most is only copied: a promise for each would cost more.
    let full = archive.write(header(about));
    if (full !== null) await full;
    if (kind !== FILE) continue;
    for (let at = 0; at < pieces.length; at += 4) {
      if (pieces[at + 1] !== last) [last, frame] = [pieces[at + 1], await frames.get(pieces[at + 1])];
      full = archive.write(frame.subarray(pieces[at + 2], pieces[at + 2] + pieces[at + 3]));
      if (full !== null) await full;
    }
    full = archive.write(filling(pieces));
    if (full !== null) await full;
  }
  await archive.write(Buffer.alloc(1024));
  await archive.flush();
  tar.stdin.end();
  const [code] = await ended;
  if (code !== 0) throw new Error(`tar(1) ended with ${code}: ${said}`);
}

/** Folders, then files in the order in which their bytes lie in the objects, then what needs them. */
function inOrder(entries) {
  const of = (kinds) => entries.filter(([, kind]) => kinds.includes(kind));
  const place = ([, , , , , , pieces]) => {
    if (pieces.length === 0) return [-1, -1, -1];
    const [object, offset] = manifest.frames[pieces[1]];
    return [object, offset, pieces[2]];
  };
  const files = of([FILE]).map((entry) => ({ entry, at: place(entry) }));
  files.sort(({ at: a }, { at: b }) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]);
  return [...of([FOLDER]), ...files.map(({ entry }) => entry), ...of([HARD, LINK])];
}
