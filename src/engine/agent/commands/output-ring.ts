/** Bytes that are kept of the beginning, and of the end. */
const HALF = 512 * 1024;

export interface Reading {
  /** The bytes, decoded; what was left out is named in it. */
  text: string;
  /** Where the next reading begins. */
  next: number;
}

/** What a command has said, both streams as they came, in bounded memory: the beginning and the end. Offsets are bytes of all that came. */
export class OutputRing {
  private first: Buffer[] = [];
  private firstBytes = 0;
  private last: Buffer[] = [];
  private lastBytes = 0;
  bytes = 0;

  add(chunk: Buffer): void {
    this.bytes += chunk.length;
    const head = chunk.subarray(0, HALF - this.firstBytes);
    if (head.length > 0) {
      this.first.push(Buffer.from(head));
      this.firstBytes += head.length;
    }
    if (head.length === chunk.length) return;
    // A copy: a slice would keep the whole buffer.
    this.last.push(Buffer.from(chunk.subarray(head.length)));
    this.lastBytes += chunk.length - head.length;
    if (this.lastBytes > 2 * HALF || this.last.length > 256) this.trim();
  }

  /**
   * What came from an offset on; of more than `most` bytes the last ones. @param where the rest is, for the words about what is left out.
   * @param goesOn whether more comes: then a character at the end whose rest is still to come is left to the next reading.
   */
  read(from: number, most: number, where: string, goesOn: boolean): Reading {
    this.trim();
    const begin = Math.min(Math.max(0, from), this.bytes);
    const held = this.bytes - this.lastBytes;
    const head = begin < this.firstBytes ? Buffer.concat(this.first).subarray(begin) : Buffer.alloc(0);
    const tail = Buffer.concat(this.last).subarray(Math.max(0, begin - held));
    const all = Buffer.concat([head, tail]);
    const open = goesOn ? unfinished(all) : 0;
    const kept = all.subarray(0, all.length - open);
    const next = this.bytes - open;
    const gap = Math.max(0, held - Math.max(begin, this.firstBytes));
    if (kept.length <= most && gap === 0) return { text: kept.toString(), next };
    // What was not kept is between the two, and so is what is left out.
    const before = gap > 0 ? head : kept;
    const shown = kept.length <= most ? head : before.subarray(0, Math.floor(most / 3));
    const end = kept.subarray(Math.max(shown.length, kept.length - (most - shown.length)));
    const left = next - begin - shown.length - end.length;
    return { text: `${shown.toString()}\n[… ${left} bytes left out${where} …]\n${end.toString()}`, next };
  }

  /** The last bytes, at most so many. */
  end(most: number): Buffer {
    this.trim();
    const all = this.lastBytes >= most ? this.last : [...this.first, ...this.last];
    return Buffer.concat(all).subarray(-most);
  }

  /** Keeps the last bytes only, at most so many: no more will come. */
  shrink(most: number): void {
    // A copy, as above.
    this.last = [Buffer.from(this.end(most))];
    this.lastBytes = this.last[0]?.length ?? 0;
    this.first = [];
    this.firstBytes = 0;
  }

  /** Bytes in memory. */
  get held(): number {
    return this.firstBytes + this.lastBytes;
  }

  private trim(): void {
    if (this.last.length <= 1 && this.lastBytes <= HALF) return;
    const joined = Buffer.concat(this.last);
    const kept = Buffer.from(joined.subarray(Math.max(0, joined.length - HALF)));
    this.last = [kept];
    this.lastBytes = kept.length;
  }
}

/** Bytes at the end that are the beginning of a character. */
function unfinished(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
}
