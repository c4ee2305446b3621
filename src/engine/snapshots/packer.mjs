// Puts blobs into objects: small ones together into frames, frames one after the other into objects. A frame is what is compressed at
// once, and what is read at once.
import { createHash, hash } from 'node:crypto';
import { compress } from './zstd.mjs';

const MB = 1024 * 1024;
/** No object is longer. */
export const OBJECT_BYTES = 16 * MB;
/** A longer file is cut into pieces of this length. A piece that cannot be compressed still fits into an object, twice. */
export const PIECE_BYTES = 8 * MB - 64 * 1024;

export const sha256 = (bytes) => hash('sha256', bytes);

export class Packer {
  /** SHA-256 of the objects, and place and length of each frame, as a manifest has them. */
  objects;
  frames;
  #put;
  /** Frames of the object that is being filled, compressed. */
  #object = [];
  #length = 0;
  #at = -1;
  /** New blobs of that object, for the record. */
  #blobs = [];
  #turns = Promise.resolve();
  /** Numbers of the objects, and of the frames by object and place. */
  #stored;
  #known;
  /** Frames that this snapshot needs. */
  #used = [];
  /** Numbers that the last snapshot has given back. */
  #free;

  /**
   * Frames and objects of the last manifest keep their numbers, so that what names them stays as it is. `put` stores an object: the
   * frames in it, and the blobs as `[sha256, place of the frame, its length, place in it, length]`.
   */
  constructor(previous, put) {
    this.#put = put;
    this.objects = previous?.objects ?? [];
    this.frames = previous?.frames ?? [];
    this.#stored = new Map(this.objects.map((object, at) => [object, at]));
    this.#known = new Map(this.frames.map((frame, at) => [frame && `${frame[0]} ${frame[1]}`, at]));
    const free = (list) => list.flatMap((one, at) => (one === null ? [at] : []));
    this.#free = { objects: free(this.objects), frames: free(this.frames) };
  }

  /** The frame of an object that is stored already. */
  frameAt(object, offset, length) {
    const at = this.#stored.get(object) ?? this.#add('objects', object);
    this.#stored.set(object, at);
    const key = `${at} ${offset}`;
    const frame = this.#known.get(key) ?? this.#add('frames', [at, offset, length]);
    this.#known.set(key, frame);
    this.use(frame);
    return frame;
  }

  /** Of the last manifest: this snapshot needs it too. */
  use(frame) {
    this.#used[frame] = true;
  }

  /** The number of a frame that {@link add} gets. */
  next() {
    const frame = this.#add('frames', null);
    this.use(frame);
    return frame;
  }

  /** Compresses blobs that lie together in `bytes`, beside what the caller does then. Resolves when it no longer needs them. */
  add(frame, bytes, blobs) {
    const compressed = compress(bytes);
    this.#turns = this.#turns.then(async () => this.#append(frame, blobs, await compressed));
    // The caller hears of a failure when it waits.
    this.#turns.catch(() => undefined);
    return this.#turns;
  }

  /** Stores what is left, and drops what is no longer needed. */
  async end() {
    await this.#turns;
    this.#store();
    const objects = new Set();
    for (const [at, frame] of this.frames.entries()) {
      if (this.#used[at]) objects.add(frame[0]);
      else this.frames[at] = null;
    }
    this.objects = this.objects.map((object, at) => (objects.has(at) ? object : null));
  }

  #add(list, one) {
    const at = this.#free[list].pop() ?? this[list].length;
    this[list][at] = one;
    return at;
  }

  #append(frame, blobs, bytes) {
    if (this.#length + bytes.length > OBJECT_BYTES) this.#store();
    if (this.#object.length === 0) this.#at = this.#add('objects', null);
    this.frames[frame] = [this.#at, this.#length, bytes.length];
    for (const { sha, start, length } of blobs) this.#blobs.push([sha, this.#length, bytes.length, start, length]);
    this.#object.push(bytes);
    this.#length += bytes.length;
  }

  #store() {
    if (this.#object.length === 0) return;
    const [frames, blobs] = [this.#object, this.#blobs];
    [this.#object, this.#length, this.#blobs] = [[], 0, []];
    const sum = createHash('sha256');
    for (const bytes of frames) sum.update(bytes);
    this.objects[this.#at] = sum.digest('hex');
    this.#put(frames, blobs);
  }
}
