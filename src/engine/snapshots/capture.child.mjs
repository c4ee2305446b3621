// Makes the manifest of folders, and the objects that nobody has yet (docs/decisions/0091). A program of its own, because a folder may be large and
// hostile: what it costs in memory and time is not the service's, and it ends with the service. It is told the folders and what they were at the last
// snapshot (R). When they have changed it asks for the manifest of that (N; answer P, which may be empty) and which blobs are stored (Q; answer K),
// and gives objects (O, with their blobs before them in B) and the manifest (M). It ends with the sum (D), and may be told the next folders then.
import { spawnSync } from 'node:child_process';
import { closeSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { Batch } from './batch.mjs';
import { Before } from './before.mjs';
import { expect, next, send } from './blocking-wire.mjs';
import { decode, eachFrame, encode, FILE, HARD, LINK, TEXTS } from './manifest.mjs';
import { OBJECT_BYTES, Packer, PIECE_BYTES, sha256 } from './packer.mjs';
import { FolderReader, readInto, stated } from './reader.mjs';
import { aboutOf, changedAt, FORMAT, numberAt, ONE_NAME, parse, unseen, unsettled } from './walk.mjs';

/** A change that came so short before the walk, in seconds, may be followed by one with the same time: kernels count in ticks of up to 10 ms. */
const TICK = 0.02;

/** Of all that find(1) says of the folders: some 500,000 files. Bytes. */
const WALK_BYTES = 64 * 1024 * 1024;
/** Memory of a program that may go on, in bytes: a new one has 50 MB, most of which it shares with the service. */
const SMALL_BYTES = 128 * 1024 * 1024;

class Capture {
  bytes = 0;
  files = 0;
  /** Whether a change from now on is seen by its times. */
  settled = true;
  #reader;
  #walkedAt;
  #packer;
  #batch;
  #use = (frame) => this.#packer.use(frame);
  /** Of the root that is being read: its name, its entries, those of the last manifest, and of files that have several names the first one. */
  #root = '';
  #texts = [];
  #before;
  #names = new Map();
  /** Files that were read: their entries, and the place of the last text there, which is made when their blobs have places; SHA-256, pieces. */
  #read = [];

  constructor(roots, walkedAt, previous) {
    this.#reader = new FolderReader(roots);
    this.#walkedAt = walkedAt;
    this.#packer = new Packer(previous, (bytes, blobs) => {
      send('B', JSON.stringify(blobs));
      send('O', ...bytes);
    });
    this.#batch = new Batch(this.#packer, (asked) => {
      send('Q', JSON.stringify(asked));
      return JSON.parse(expect('K').toString());
    });
  }

  /** The manifest of roots, from what find(1) said of each and the last manifest. */
  async all(found, previous) {
    const roots = {};
    for (const root of Object.keys(found)) {
      roots[root] = this.#texts = [];
      [this.#root, this.#before, this.#names] = [root, new Before(previous?.roots[root] ?? []), new Map()];
      await this.#entries(found[root]);
    }
    this.#reader.close();
    await this.#batch.flush();
    await this.#packer.end();
    for (const { texts, at, sha, pieces } of this.#read) texts[at] = [sha, ...pieces].join(' ');
    const { objects, frames } = this.#packer;
    return { objects, frames, roots };
  }

  async #entries(found) {
    for (let at = 0; at < found.length; at += TEXTS) {
      const [about, path, link] = [found[at], found[at + 1], found[at + 2]];
      if (about[0] !== FILE) {
        this.#settle(about);
        this.#texts.push(about, path, about[0] === LINK ? link : '');
      } else if (!this.#kept(about, path)) await this.#open(about, path);
    }
  }

  #settle(about) {
    const settled = changedAt(about) < this.#walkedAt - TICK;
    this.settled &&= settled;
    return settled;
  }

  /** Takes over what the last manifest has of a file, when it is as it was; or it is a further name. */
  #kept(about, path) {
    const first = about.startsWith(ONE_NAME) ? undefined : this.#names.get(aboutOf(about).stamp);
    if (first !== undefined) {
      this.#texts.push(`${HARD}${about.slice(1)}`, path, first);
      this.files += 1;
      return true;
    }
    const where = this.#before.unchanged(about, path);
    if (where === null) return false;
    eachFrame(where, this.#use);
    this.#push(about, path, where);
    return true;
  }

  /** `found`: what find(1) said, where `about` is something else. */
  #push(about, path, where, found = about) {
    if (!found.startsWith(ONE_NAME)) this.#names.set(aboutOf(found).stamp, path);
    this.files += 1;
    this.bytes += numberAt(about, about.indexOf(' ', 2) + 1);
    this.#texts.push(about, path, where);
  }

  async #open(about, path) {
    const file = this.#reader.open(`${this.#root}/${path}`);
    if (file === null) return;
    try {
      const found = aboutOf(about);
      const pieces = [];
      const { size, sha } = await (found.sparse ? this.#sparse(file, pieces) : this.#whole(file, found.size, pieces));
      // Looked at after the reading, once: what has become something else or has changed meanwhile is seen all the same.
      const after = stated(file);
      if (after === null) return;
      const calm = after.stamp === found.stamp && after.size === found.size && size === found.size;
      this.settled &&= calm;
      this.#read.push({ texts: this.#texts, at: this.#texts.length + 2, sha, pieces });
      const known = !calm ? unseen({ ...after, size }) : this.#settle(about) ? about : unsettled(about);
      this.#push(known, path, '', about);
    } finally {
      closeSync(file);
    }
  }

  /** Reads so many bytes, or what is there of them. */
  async #whole(file, length, pieces) {
    if (length <= PIECE_BYTES) return this.#piece(file, 0, length, pieces);
    const hash = createHash('sha256');
    let size = 0;
    while (size < length) {
      const piece = await this.#piece(file, size, Math.min(PIECE_BYTES, length - size), pieces);
      // It has become shorter.
      if (piece.size === 0) break;
      hash.update(piece.bytes);
      size += piece.size;
    }
    return { size, sha: hash.digest('hex') };
  }

  async #piece(file, position, length, pieces) {
    if (this.#batch.isFull(length)) await this.#batch.flush();
    const room = this.#batch.room(length);
    const size = readInto(room, file, position);
    const bytes = room.subarray(0, size);
    const sha = sha256(bytes);
    if (size > 0) this.#batch.add(pieces, position, size, sha);
    return { size, sha, bytes };
  }

  /** The SHA-256 is that of size, places and bytes: the zeros of a terabyte take an hour. */
  async #sparse(file, pieces) {
    const { parts } = await import('./sparse.mjs');
    const size = stated(file)?.size ?? 0;
    const hash = createHash('sha256').update(`sparse ${size}\n`);
    if (size > 0)
      for await (const { position, bytes } of parts(file, PIECE_BYTES)) {
        // It has grown.
        if (position + bytes.length > size) break;
        hash.update(`${position} ${bytes.length}\n`).update(bytes);
        if (this.#batch.isFull(bytes.length)) await this.#batch.flush();
        bytes.copy(this.#batch.room(bytes.length));
        this.#batch.add(pieces, position, bytes.length, sha256(bytes));
      }
    return { size, sha: hash.digest('hex') };
  }
}

/** What find(1) says of the folders; null when that is too much. */
function walk(folders) {
  const { stdout, status, signal, error } = spawnSync('find', ['-P', ...folders, '-xdev', '-printf', FORMAT], {
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: WALK_BYTES,
  });
  if (error?.code === 'ENOBUFS') return null;
  if (error !== undefined) throw error;
  // 1: something went away, and the rest is there. A program that was killed has said a part.
  if (status === null || status > 1) throw new Error(`find(1) has ended with ${signal ?? status}.`);
  return stdout;
}

/** Null when the folders have too many files. */
async function take({ roots, walk: walkBefore }) {
  const walkedAt = Date.now() / 1000;
  const listing = walk(Object.values(roots));
  if (listing === null) return null;
  const now = sha256(listing);
  if (now === walkBefore) return { walk: now, made: null };
  send('N');
  const before = expect('P');
  // One that cannot be read is as none: all is read anew.
  const previous = before.length === 0 ? null : await decode(before).catch(() => null);
  const capture = new Capture(roots, walkedAt, previous);
  const manifest = await capture.all(parse(listing, Object.keys(roots)), previous);
  const stored = await encode(manifest);
  if (stored.length > OBJECT_BYTES) return null;
  send('M', stored);
  const { files, bytes, settled } = capture;
  return {
    walk: settled ? now : null,
    made: { files, bytes, objects: manifest.objects.filter((one) => one !== null) },
  };
}

for (let record = next(); record !== null; record = next()) {
  const taken = await take(JSON.parse(record.body.toString()));
  send('D', JSON.stringify({ taken, small: process.memoryUsage.rss() < SMALL_BYTES }));
}
