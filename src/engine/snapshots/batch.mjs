// The bytes that were read, one after the other in one room of memory, until it is known which of them are stored already. The others are moved
// together there, and compressed where they lie: nothing is allocated for a file.
const MB = 1024 * 1024;
/** Small blobs are put together until they have so many bytes: a frame of 1 MB compresses as well as a larger one. */
const FRAME_BYTES = MB;
/** Of two rooms one is read into, while the frames of the other are compressed. A piece of a file fits in. */
const ROOM_BYTES = 16 * MB;
/** Blobs that one question is about. */
const MOST = 4_000;

/** They stay for the next folder, since one is read at a time: to map them anew took 2 of 5 ms of a small one. */
const rooms = [];

export class Batch {
  #at = 0;
  #filled = 0;
  #blobs = [];
  #packer;
  #ask;
  /** Where the blobs of this snapshot lie: frame, place in it, length. */
  #placed = new Map();

  /** `ask` says of SHA-256 which are stored: `[sha256, object, place of the frame, its length, place in it, length]`. */
  constructor(packer, ask) {
    this.#packer = packer;
    this.#ask = ask;
  }

  /** Whether {@link flush} comes before so many bytes. */
  isFull(length) {
    return this.#filled + length > ROOM_BYTES || this.#blobs.length === MOST;
  }

  /** Where the next bytes are to be put. */
  room(length) {
    const room = (rooms[this.#at] ??= { bytes: Buffer.allocUnsafeSlow(ROOM_BYTES), busy: null });
    return room.bytes.subarray(this.#filled, this.#filled + length);
  }

  /** Takes the bytes in the room, which lie at that position of a file: place, frame, place in it and length are added to its `pieces`. */
  add(pieces, position, length, sha) {
    this.#blobs.push({ pieces, at: pieces.length, sha, start: this.#filled, length });
    pieces.push(position, -1, 0, 0);
    this.#filled += length;
  }

  /** Asks which are stored, and hands the others to the packer. */
  async flush() {
    if (this.#blobs.length === 0) return;
    const blobs = this.#blobs;
    const asked = [...new Set(blobs.map(({ sha }) => sha))].filter((sha) => !this.#placed.has(sha));
    if (asked.length > 0)
      for (const [sha, object, offset, length, start, size] of this.#ask(asked))
        this.#placed.set(sha, [this.#packer.frameAt(object, offset, length), start, size]);
    const { bytes } = rooms[this.#at];
    let frame = { number: -1, from: 0, to: 0, blobs: [] };
    let last = null;
    const close = () => {
      if (frame.blobs.length > 0)
        last = this.#packer.add(frame.number, bytes.subarray(frame.from, frame.to), frame.blobs);
      frame = { number: -1, from: frame.to, to: frame.to, blobs: [] };
    };
    for (const { pieces, at, sha, start, length } of blobs) {
      if (!this.#placed.has(sha)) {
        if (frame.blobs.length === 0) frame.number = this.#packer.next();
        if (start !== frame.to) bytes.copyWithin(frame.to, start, start + length);
        frame.blobs.push({ sha, start: frame.to - frame.from, length });
        this.#placed.set(sha, [frame.number, frame.to - frame.from, length]);
        frame.to += length;
        if (frame.to - frame.from >= FRAME_BYTES) close();
      }
      [pieces[at + 1], pieces[at + 2], pieces[at + 3]] = this.#placed.get(sha);
    }
    close();
    [this.#blobs, this.#filled] = [[], 0];
    rooms[this.#at].busy = last;
    this.#at = 1 - this.#at;
    await rooms[this.#at]?.busy;
  }
}
